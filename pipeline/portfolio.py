"""The portfolio track's stages: the one list of them.

::

    release → freeze → execute → parse → score → statistics → report
                                            └──→ train
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.asking.track import Track
from pipeline.stages import Stage

if TYPE_CHECKING:
    from schemas.parameters import Parameters

__all__ = ["PORTFOLIO"]

_TASKS = frozenset({"tasks"})


def _made_from(parameters: Parameters) -> dict[str, frozenset[str]]:
    """Names of the tables that each table says it was made from; those of routes' answers apart."""
    compiled = parameters.freeze.source == "compiled"
    planned = parameters.score.core.source == "plan"
    answers = _TASKS | {f"responses/{slug}" for slug in parameters.routes}
    cells = _TASKS | {"selections"}
    scores = _TASKS | {"core", "scores"}
    sources = {"release", "ingredients", "directions"} if compiled else {"release", "published"}
    drawn = ("leaderboard", "references", "contrasts", "chance", "panels", "agreement")
    return {
        **dict.fromkeys(("ingredients", "directions", "published", "plan"), frozenset()),
        "release": frozenset({"ingredients", "directions"}),
        "tasks": frozenset(sources),
        "taskset": _TASKS | {"release"},
        "diagnostics": _TASKS,
        "selections": answers,
        "answers": answers,
        "usage": _TASKS | {f"attempts/{slug}" for slug in parameters.routes},
        "scores": cells,
        "core": cells | {"plan"} if planned else cells,
        "coverage": cells | {"core"},
        **dict.fromkeys(drawn, scores),
        "inference": scores | {"taskset"},
        "development": _TASKS | {"core"},
        **dict.fromkeys(("sft", "dpo", "grpo"), _TASKS | {"development"}),
    }


_STATISTICS = (
    "Standing", "Reference", "Contrast", "Chance", "PanelScore", "PanelAgreement", "Inference",
)  # fmt: skip

PORTFOLIO = Track(
    name="portfolio",
    folder="",
    source="tasks",
    source_stage="freeze",
    made_from=_made_from,
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
        # the report names the release and the contracts that read the answers
        Stage(word="report", sections=("release", "routes", "parse", "report")),
    ),
)
