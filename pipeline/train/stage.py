"""The train stage: development tasks and their sft, dpo and grpo rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pipeline.tables import make_table
from pipeline.train.rules import completion, development_tasks, preference_pairs
from pipeline.workspace import StageSummary
from schemas.results import CoreTask
from schemas.taskset import BEST_BPS, Task
from schemas.training import DevelopmentTask, DpoRow, GrpoRow, SftRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.tables import Table
    from pipeline.train.rules import Development
    from pipeline.workspace import Workspace

__all__ = ["build", "run"]


def run(workspace: Workspace) -> StageSummary:
    """Write what may be trained on. Tables are empty where every anchor is in the core.

    Raises
    ------
    TableError
        An input is missing or damaged.
    """
    tables = build(workspace)
    rows = tables[0].rows()
    splits = Counter(row.split for row in rows if row.track == "primary")
    supplemental = sum(row.track != "primary" for row in rows)
    headline = (
        f"{splits['train']} tasks to train on and {splits['validation']} to validate, "
        f"{supplemental} supplemental; no anchor of the core"
    )
    return StageSummary("train", headline, workspace.write("train", *tables))


def build(workspace: Workspace) -> tuple[Table[Any], ...]:
    """The stage's tables, in memory: development, sft, dpo, grpo. Raises as `run` does."""
    parameters = workspace.parameters.train
    tasks = workspace.read("freeze", Task)
    core = workspace.read("score", CoreTask, tasks)
    rows = tasks.rows()
    digests = {row.task_id: digest for row, digest in zip(rows, tasks.digests, strict=True)}
    found = development_tasks(
        rows,
        {entry.task_id for entry in core.rows()},
        workspace.parameters.score.families,
        parameters.salt,
        parameters.validation_bps,
    )
    primary = [entry for entry in found if entry.track == "primary"]
    inputs = {"tasks": tasks.root, "core": core.root}
    listed = [
        DevelopmentTask(
            task_id=entry.task.task_id,
            task_digest=digests[entry.task.task_id],
            panel=entry.task.panel,
            family=entry.task.family,
            anchor=entry.task.anchor,
            track=entry.track,
            split=entry.split,
        )
        for entry in found
    ]
    development = make_table(DevelopmentTask, listed, inputs)
    inputs = {"tasks": tasks.root, "development": development.root}
    return (
        development,
        make_table(SftRow, map(_sft, primary), inputs),
        make_table(DpoRow, _dpo(primary, parameters.minimum_gap_bps), inputs),
        make_table(GrpoRow, map(_grpo, primary), inputs),
    )


def _sft(entry: Development) -> SftRow:
    task = entry.task
    return SftRow(
        task_id=task.task_id,
        family=task.family,
        anchor=task.anchor,
        split=entry.split,
        prompt=task.prompt,
        completion=completion(task.optimum),
        margin_bps=task.margin_bps,
        reward_bps=BEST_BPS,
    )


def _dpo(entries: Sequence[Development], minimum_gap_bps: int) -> Iterator[DpoRow]:
    for entry in entries:
        task = entry.task
        pairs = preference_pairs(task.scores_bps, minimum_gap_bps)
        for number, pair in enumerate(pairs, start=1):
            yield DpoRow(
                task_id=task.task_id,
                pair=number,
                family=task.family,
                anchor=task.anchor,
                split=entry.split,
                prompt=task.prompt,
                chosen=completion(pair.chosen),
                rejected=completion(pair.rejected),
                chosen_bps=pair.chosen_bps,
                rejected_bps=pair.rejected_bps,
                gap_bps=pair.chosen_bps - pair.rejected_bps,
            )


def _grpo(entry: Development) -> GrpoRow:
    task = entry.task
    return GrpoRow(
        task_id=task.task_id,
        family=task.family,
        anchor=task.anchor,
        split=entry.split,
        prompt=task.prompt,
        choices=task.choices,
        scores_bps=task.scores_bps,
    )
