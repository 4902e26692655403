"""Parse: raw text to a selection or a named reason (docs/parsing.md).

::

    artifacts/execute, artifacts/freeze/tasks
      -> stage -> pipeline.answer (reply to text) -> reader (text to selection)
      -> artifacts/parse/selections, answers, usage

>>> from pipeline.parse import read_selection
>>> from schemas.taskset import CONTRACTS
>>> contract = CONTRACTS["selection-set-v3"]
>>> names = ["tea", "fig", "plum", "miso", "corn", "basil", "lime", "egg"]
>>> read_selection("FINAL_SELECTION: fig, H, c", names, contract).reason.value
'unknown_item'
>>> read_selection("FINAL_SELECTION: h, A, c", names, contract).selection
'ACH'
"""

from pipeline.parse.reader import Reading, read_selection

__all__ = ["Reading", "read_selection"]
