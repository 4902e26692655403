"""All tables behind the page and the papers' tables, read and verified once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError, TableError
from pipeline.report.leaderboard import Results, read_results
from schemas import results as rows
from schemas.taskset import Diagnostic, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.workspace import Workspace
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
    """Read every table.

    Raises
    ------
    TableError
        A table is missing, damaged, or of another run.
    InputError
        A route of `params.yaml` was not run yet.
    """
    results = read_results(workspace)
    tasks = workspace.read("freeze", Task)
    core = workspace.read("score", rows.CoreTask)
    selections = workspace.read("parse", rows.Selection, tasks)
    answers = workspace.read("parse", rows.Answer, tasks)
    by_route: dict[str, list[rows.Selection]] = {slug: [] for slug in workspace.parameters.routes}
    texts = {answer.response_digest: answer.text for answer in answers.rows()}
    for row in selections.rows():
        by_route.setdefault(row.slug, []).append(row)
        if row.response_digest is not None and row.response_digest not in texts:
            raise TableError(
                f"an answer for response {row.response_digest}",
                "none",
                "artifacts/parse/answers.parquet",
                "Tables of two runs are mixed: run `dvc repro`.",
            )
    unread = [slug for slug, cells in by_route.items() if not cells]
    if unread:
        raise InputError(
            "cells of every route of params.yaml",
            f"none of {unread[0]}",
            "artifacts/parse/selections.parquet",
            "Run `dvc repro`.",
        )
    return Sources(
        workspace.parameters,
        results,
        tuple(workspace.read("statistics", rows.Contrast, core).rows()),
        tuple(workspace.read("statistics", rows.PanelScore, core).rows()),
        tuple(workspace.read("freeze", Diagnostic, tasks).rows()),
        dict(zip(tasks.digests, tasks.rows(), strict=True)),
        frozenset(row.task_id for row in core.rows()),
        {slug: tuple(found) for slug, found in by_route.items()},
        texts,
    )
