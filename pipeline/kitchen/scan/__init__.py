"""The allergen scanner: what a text names, flag by flag (docs/kitchen-scan.md).

::

    lexicon.csv, classes.csv, modifiers.csv -> inflection -> lexicon
    text -> finder -> modifiers -> scanner -> views    terms; what changes them; verdicts

>>> from pipeline.kitchen.scan import scan
>>> scan("sourdough bread", "gluten").value, scan("gluten-free bread", "gluten").value
('flag', 'clear')
"""

from pipeline.kitchen.scan.scanner import (
    NONE_FOUND,
    Answer,
    Scan,
    Span,
    scan,
    scan_all,
    to_document,
)

__all__ = ["NONE_FOUND", "Answer", "Scan", "Span", "scan", "scan_all", "to_document"]
