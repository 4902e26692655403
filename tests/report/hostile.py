"""A run whose labels and answers try everything: HTML, scripts, LaTeX, formulas, Unicode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemas.taskset import Task
from tests.mini import mini_workspace, replay_route, run_stages

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["ANSWERS", "LABELS", "TITLE", "hostile_workspace"]

TITLE = "</title><script>window.hit=1</script> {{ 7*7 }}"
LABELS = {
    "dice": '=HYPERLINK("x")|<script>window.hit=1</script>*b*\u202e\x1b[31m`\\n&amp;\'',
    "first": '"><img src=x onerror=window.hit=1>',
    "tex": r"\input{/etc/passwd} $x^2$ 50% _a_ #1 & ~",
    "wide": "模型 🍜\u200d\u200b محمد",
    "long": "W" * 200,
}
ANSWERS = (
    "</script><script>window.hit=1</script><!-- \u2028\u2029 &lt;",
    "<img src=x onerror=window.hit=1>\nFINAL_SELECTION: A, B, C",
    "\u202eevil\u200b\x00\x1b[31m \ue000\ue001\ue002 🍜\nFINAL_SELECTION: C, D, E",
    "x" * 999_900 + "\nFINAL_SELECTION: F, G, H",
    None,
    "",
)


def hostile_workspace(root: Path) -> Workspace:
    """The mini run with hostile labels, and one unranked route that answers with `ANSWERS`."""
    workspace = mini_workspace(root)
    run_stages(workspace, "release", "freeze")
    names = [task.task_id for task in workspace.read("freeze", Task).rows()]
    lines = dict(zip(names, ({"answer": answer} for answer in ANSWERS), strict=False))
    replayed = replay_route(workspace, "answers.jsonl", lines) | {"ranked": False}
    silent = {name: {"answer": "no"} for name in names}
    nothing = replay_route(workspace, "silent.jsonl", silent) | {"ranked": False}

    def change(parameters: dict[str, Any]) -> None:
        parameters["report"]["title"] = TITLE
        routes = parameters["routes"]
        for seed, slug in enumerate(LABELS):
            routes.setdefault(
                slug, {"adapter": "policy", "policy": "uniform", "seed": seed, "ranked": True}
            )
            routes[slug]["label"] = LABELS[slug]
        routes["replayed"] = replayed | {"label": "<b>answers</b>"}
        routes["silent"] = nothing

    workspace = mini_workspace(root, change)
    run_stages(workspace, "execute", "parse", "score", "statistics", "report")
    return workspace
