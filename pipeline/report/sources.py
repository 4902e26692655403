"""All tables behind the page and the papers' tables, read and verified once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.answer import answer_text
from pipeline.errors import TableError
from pipeline.report.views import Results, read_results
from schemas import results as rows
from schemas.taskset import Diagnostic, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.workspace import Workspace
    from schemas.execution import Response
    from schemas.parameters import Parameters

__all__ = ["Sources", "read_sources"]


class Sources(NamedTuple):
    """What the page is made from.

    Attributes
    ----------
    parameters
        Titles, labels, and which routes are ranked.
    results
        The leaderboard's tables.
    contrasts, panels, diagnostics
        Rows of those tables, in key order.
    tasks
        Frozen tasks by digest (hex), in key order.
    core
        Ids of the common core's tasks.
    selections
        Every cell, by route and then in task order.
    texts
        What came back, as text, by response digest (hex); reasoning is part of it.
    """

    parameters: Parameters
    results: Results
    contrasts: tuple[rows.Contrast, ...]
    panels: tuple[rows.PanelScore, ...]
    diagnostics: tuple[Diagnostic, ...]
    tasks: Mapping[str, Task]
    core: frozenset[str]
    selections: Mapping[str, tuple[rows.Selection, ...]]
    texts: Mapping[str, str]


def read_sources(workspace: Workspace) -> Sources:
    """Read every table. Raises `TableError` where one is missing, damaged, or of another run."""
    tasks = workspace.read("freeze", Task)
    core = workspace.read("score", rows.CoreTask)
    selections = workspace.read("parse", rows.Selection, tasks)
    by_route: dict[str, list[rows.Selection]] = {slug: [] for slug in workspace.parameters.routes}
    for row in selections.rows():
        by_route.setdefault(row.slug, []).append(row)
    return Sources(
        workspace.parameters,
        read_results(workspace),
        tuple(workspace.read("statistics", rows.Contrast, core).rows()),
        tuple(workspace.read("statistics", rows.PanelScore, core).rows()),
        tuple(workspace.read("freeze", Diagnostic, tasks).rows()),
        dict(zip(tasks.digests, tasks.rows(), strict=True)),
        frozenset(row.task_id for row in core.rows()),
        {slug: tuple(found) for slug, found in by_route.items()},
        _texts(workspace, by_route),
    )


def _texts(workspace: Workspace, selections: Mapping[str, list[rows.Selection]]) -> dict[str, str]:
    """What came back for every cell of the plan; a sealed table may hold other answers too."""
    found: dict[str, str] = {}
    for slug, cells in selections.items():
        wanted = {cell.response_digest for cell in cells if cell.response_digest}
        table = workspace.read_answers(slug)
        for digest, response in zip(table.digests, table.rows(), strict=True):
            if digest in wanted:
                found[digest] = _text(response)
        missing = sorted(wanted - found.keys())
        if missing:
            raise TableError(
                "the answers that were read",
                f"no response {missing[0]}",
                f"artifacts/execute/{slug}.parquet",
                "Tables of two runs are mixed: run `dvc repro`.",
            )
    return found


def _text(response: Response) -> str:
    """The text of an answer with its reasoning; where there is none, the bytes as they came."""
    text = answer_text(response.raw, response.form, "verbatim")
    return response.raw.decode("utf-8", "backslashreplace") if text is None else text
