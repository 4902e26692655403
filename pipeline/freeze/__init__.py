"""The stage *freeze*: compiles tasks from a release and scores all 56 portfolios of each."""

from pipeline.freeze.compile import compile_tasks
from pipeline.freeze.design import design_document
from pipeline.freeze.diagnostics import diagnostics

__all__ = ["compile_tasks", "design_document", "diagnostics"]
