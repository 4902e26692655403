"""The portfolio track's stages: the one list of them.

::

    release → freeze → execute → parse → score → statistics → report
                                            └──→ train
"""

from __future__ import annotations

from pipeline.asking.track import Track
from pipeline.stages import Stage

__all__ = ["PORTFOLIO"]

_STATISTICS = (
    "Standing", "Reference", "Contrast", "Chance", "PanelScore", "PanelAgreement", "Inference",
)  # fmt: skip

PORTFOLIO = Track(
    name="portfolio",
    folder="",
    source="tasks",
    source_stage="freeze",
    stages=(
        Stage(
            word="release",
            sections=("release",),
            shapes="release",
            rows=("Ingredient", "Direction", "Release"),
            published=("PublishedTask", "PlannedTask"),
        ),
        Stage(
            word="freeze",
            sections=("freeze", "parse.contract"),
            shapes="taskset",
            rows=("Task", "TaskSet", "Diagnostic"),
        ),
        Stage(word="execute", sections=("routes.${key}",), asks=True),
        Stage(
            word="parse",
            sections=("routes", "parse"),
            shapes="results",
            rows=("Selection", "Answer", "Usage"),
        ),
        Stage(
            word="score",
            sections=("routes", "score"),
            shapes="results",
            rows=("Score", "CoreTask", "Coverage"),
        ),
        Stage(
            word="statistics",
            sections=("routes", "score.families", "statistics"),
            shapes="results",
            rows=_STATISTICS,
        ),
        Stage(
            word="train",
            sections=("score.families", "train"),
            shapes="training",
            rows=("DevelopmentTask", "SftRow", "DpoRow", "GrpoRow"),
        ),
        # the report names the contracts that read the answers
        Stage(word="report", sections=("routes", "parse", "report")),
    ),
)
