"""The score stage: scores of parsed cells, explicit denominators, and the common core."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pipeline.errors import InputError
from pipeline.score.core import CoreEntry, Stratum, check_plan, choose_core
from pipeline.tables import make_table
from pipeline.workspace import StageSummary
from schemas.parameters import RuleCore
from schemas.release import PlannedTask
from schemas.results import CellStatus, CoreTask, Coverage, Reason, Score, Selection
from schemas.taskset import Task, score_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipeline.score.core import CoreChoice
    from pipeline.tables import Table
    from pipeline.workspace import Workspace

__all__ = ["build", "run"]


def run(workspace: Workspace) -> StageSummary:
    """Score every parsed cell and choose the core.

    Raises
    ------
    InputError
        A cell belongs to no frozen task, or the core cannot be filled.
    InputError
        Fewer than two routes are ranked.
    TableError
        An input is missing or damaged.
    """
    tables = build(workspace)
    scores, core, _ = tables
    columns = (core.data.column("panel").to_pylist(), core.data.column("family").to_pylist())
    strata = len(set(zip(*columns, strict=True)))
    headline = (
        f"{scores.header.rows} scores; common core of {core.header.rows} tasks in {strata} strata"
    )
    return StageSummary("score", headline, workspace.write("score", *tables))


def build(workspace: Workspace) -> tuple[Table[Any], ...]:
    """The stage's tables, in memory: scores, core, coverage. Raises as `run` does."""
    ranked = workspace.ranked_routes()
    tasks = workspace.read("freeze", Task)
    selections = workspace.read("parse", Selection, tasks)
    by_id = {task.task_id: task for task in tasks.rows()}
    task_digests = dict(zip(by_id, tasks.digests, strict=True))
    cells = selections.rows()
    inputs = {"tasks": tasks.root, "selections": selections.root}
    scores = make_table(Score, score_rows(cells, selections.digests, by_id), inputs)
    choice, plan_root = _core(workspace, _valid_tasks(cells, ranked), by_id)
    core = make_table(
        CoreTask,
        [
            CoreTask(
                panel=entry.stratum.panel,
                family=by_id[entry.task_id].family,
                position=entry.position,
                task_id=entry.task_id,
                task_digest=task_digests[entry.task_id],
            )
            for entry in choice.entries
        ],
        inputs | plan_root,
    )
    coverage = make_table(
        Coverage, coverage_rows(cells, by_id, choice), inputs | {"core": core.root}
    )
    return (scores, core, coverage)


def score_rows(
    cells: Sequence[Selection], digests: Sequence[str], tasks: Mapping[str, Task]
) -> list[Score]:
    """Scores of the parsed cells by look-up (docs/core.md).

    Raises
    ------
    InputError
        A cell belongs to no frozen task.
    """
    rows = []
    for cell, cell_digest in zip(cells, digests, strict=True):
        if cell.task_id not in tasks:
            raise InputError(
                "cells of frozen tasks",
                cell.task_id,
                f"selections of {cell.slug}",
                "Run parse again.",
            )
        if cell.selection is not None:
            rows.append(
                Score(
                    slug=cell.slug,
                    task_id=cell.task_id,
                    task_digest=cell.task_digest,
                    selection_digest=cell_digest,
                    score_bps=score_of(tasks[cell.task_id], cell.selection),
                )
            )
    return rows


def coverage_rows(
    cells: Iterable[Selection], tasks: Mapping[str, Task], choice: CoreChoice
) -> list[Coverage]:
    """Denominators of every route, panel and family."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for cell in cells:
        task = tasks[cell.task_id]
        count = counts.setdefault((cell.slug, task.panel, task.family.value), Counter())
        count["expected"] += 1
        count["completed"] += cell.status in (CellStatus.PARSED, CellStatus.UNPARSEABLE)
        count["alternative_parsed"] += cell.alternative_selection is not None
        count[cell.reason.value if cell.reason else cell.status.value] += 1
    core = Counter(entry.stratum for entry in choice.entries)
    fields = ("expected", "completed", "parsed", "missing", "failed", "alternative_parsed")
    return [
        Coverage.model_validate(
            {
                "slug": slug,
                "panel": panel,
                "family": family,
                "core": core[Stratum(panel, family)],
                **{name: count[name] for name in (*fields, *Reason)},
            },
            strict=False,
        )
        for (slug, panel, family), count in counts.items()
    ]


def _core(
    workspace: Workspace, valid: Mapping[str, frozenset[str]], tasks: Mapping[str, Task]
) -> tuple[CoreChoice, dict[str, str]]:
    """The core by rule or by plan, and the plan's root where one was used."""
    parameters = workspace.parameters
    strata: dict[Stratum, list[str]] = {}
    for task in tasks.values():
        if task.family in parameters.score.families:
            strata.setdefault(Stratum(task.panel, task.family.value), []).append(task.task_id)
    core = parameters.score.core
    if isinstance(core, RuleCore):
        return choose_core(strata, valid, core.context, core.size), {}
    plan: Table[PlannedTask] = workspace.read("release", PlannedTask)
    planned = [CoreEntry(Stratum(p.panel, p.family), p.position, p.task_id) for p in plan.rows()]
    return check_plan(planned, strata, valid), {"plan": plan.root}


def _valid_tasks(cells: Iterable[Selection], ranked: Sequence[str]) -> dict[str, frozenset[str]]:
    """Task ids with a parsed cell, by ranked route: all that the core's rule may see."""
    found: dict[str, set[str]] = {slug: set() for slug in ranked}
    for cell in cells:
        if cell.slug in found and cell.status is CellStatus.PARSED:
            found[cell.slug].add(cell.task_id)
    return {slug: frozenset(ids) for slug, ids in found.items()}
