"""The freeze stage: tasks, the identity of their set, and what their maps look like."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from pipeline.errors import InputError
from pipeline.freeze.compile import compile_tasks
from pipeline.freeze.design import design_document
from pipeline.freeze.diagnostics import diagnostics
from pipeline.freeze.eligible import check_excluded
from pipeline.identity import canonical_bytes, digest
from pipeline.progress import silent
from pipeline.tables import make_table
from pipeline.workspace import StageSummary
from schemas.parameters import FreezeParameters
from schemas.release import Direction, Ingredient, PublishedTask, Release
from schemas.taskset import CONTRACTS, Diagnostic, Family, Task, TaskSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.progress import Progress
    from pipeline.tables import Table
    from pipeline.workspace import Workspace

__all__ = ["build", "run"]


def run(workspace: Workspace, progress: Progress = silent) -> StageSummary:
    """Freeze the tasks of a release and fix the identity of their set.

    Raises
    ------
    InputError
        Tasks cannot be compiled, or a published task belongs to no family that is known.
    TableError
        The release's tables are missing or damaged.
    """
    tables = build(workspace, progress)
    tasks, taskset, _ = tables
    headline = f"{tasks.header.rows} tasks, 56 scores each; task set {taskset.digests[0][:16]}…"
    return StageSummary("freeze", headline, workspace.write("freeze", *tables))


def build(workspace: Workspace, progress: Progress = silent) -> tuple[Table[Any], ...]:
    """The stage's tables, in memory: tasks, task set, diagnostics. Raises as `run` does."""
    parameters = workspace.parameters.freeze
    ingredients = workspace.read("release", Ingredient)
    directions = workspace.read("release", Direction)
    release = workspace.read("release", Release, ingredients, directions)
    inputs = {"release": release.root}
    if isinstance(parameters, FreezeParameters):
        check_excluded(ingredients.rows(), parameters.excluded_anchors)
        rows = compile_tasks(ingredients.rows(), directions.rows(), parameters, progress)
        inputs |= {"ingredients": ingredients.root, "directions": directions.root}
        design: dict[str, Any] = design_document(parameters)
    else:
        published = workspace.read("release", PublishedTask)
        rows = tuple(_as_task(row) for row in published.rows())
        _check_families(rows, parameters.families)
        rows = tuple(row for row in rows if row.family in parameters.families)
        inputs |= {"published": published.root}
        design = {
            "families": [family.value for family in parameters.families],
            "source": "published",
        }
    tasks = make_table(Task, rows, inputs)
    taskset = _task_set(workspace, release, tasks, design)
    shown = make_table(Diagnostic, diagnostics(tasks.rows()), {"tasks": tasks.root})
    return (tasks, taskset, shown)


def _task_set(
    workspace: Workspace, release: Table[Release], tasks: Table[Task], design: dict[str, Any]
) -> Table[TaskSet]:
    contract = CONTRACTS[workspace.parameters.parse.contract].model_dump(mode="json")
    row = TaskSet(
        release_digest=release.digests[0],
        design_digest=digest("design", design),
        parser_contract_digest=digest("parser-contract", contract),
        task_digests=tuple(tasks.digests),
        design=canonical_bytes(design).decode("utf-8"),
        parser_contract=json.dumps(contract, sort_keys=True, separators=(",", ":")),
        published=release.rows()[0].provenance,
    )
    return make_table(TaskSet, [row], {"release": release.root, "tasks": tasks.root})


def _check_families(tasks: Sequence[Task], families: Sequence[Family]) -> None:
    """Refuse a family without a published task.

    Raises
    ------
    InputError
        Names it, and how many tasks every family has.
    """
    counts = Counter(task.family.value for task in tasks)
    empty = next((family for family in families if not counts[family.value]), None)
    if empty is not None:
        held = ", ".join(f"{count:,} of {name}" for name, count in sorted(counts.items()))
        raise InputError(
            "a published task of every family", f"none of {empty} ({held or 'no task at all'})",
            "params.yaml: freeze.families", "Leave out the families that the release lacks.",
        )  # fmt: skip


def _as_task(row: PublishedTask) -> Task:
    """A published task under our identity.

    Raises
    ------
    InputError
        Its family is unknown.
    """
    known = [family.value for family in Family]
    if row.family not in known:
        raise InputError(
            f"a family of {', '.join(known)}", row.family, row.task_id, "Check the published set."
        )
    return Task.model_validate(row.model_dump(exclude={"document"}), strict=False)
