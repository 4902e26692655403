"""Showing: how anything is shown, on a terminal, in a document, on a page, in a paper.

::

    view -> terminal               a terminal, a pipe
      |---> documents, latex       Markdown, CSV; papers
      `---> drawing <- fonts       charts as SVG and PNG
    numbers    one rule each for how a number is shown

>>> from pipeline.showing.numbers import score
>>> score(8_455_000_000, 2)
'84.55'
"""
