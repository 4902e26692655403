"""The stage *freeze*: compiles tasks from a release and scores all 56 portfolios of each.

::

    artifacts/release -> stage -> compile -> eligible -> geometry      who takes part, cosines
                           |         |-> families -> candidates        eight for every anchor
                           |         |-> maps -> selection             56 scores, strata, labels
                           |         `-> prompts                       what a model reads
                           `-> design, diagnostics -> artifacts/freeze
    the rules: docs/tasks.md

>>> from schemas.taskset import PORTFOLIOS
>>> len(PORTFOLIOS), PORTFOLIOS[0]
(56, 'ABC')
"""

from pipeline.freeze.compile import compile_tasks
from pipeline.freeze.design import design_document
from pipeline.freeze.diagnostics import diagnostics

__all__ = ["compile_tasks", "design_document", "diagnostics"]
