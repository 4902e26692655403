"""The second level: tasks only in one, and the same decisions with other scores."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from pipeline.inference.panels import rank_correlation_nano
from schemas.taskset import LABELS, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.compare.rescore import RescoredMap
    from schemas.taskset import Task

__all__ = ["TaskChanges", "compare_tasks"]


class DecisionChange(NamedTuple):
    """The same anchor and eight candidates with another map.

    Attributes
    ----------
    before, after
        Task ids.
    flipped
        Whether another portfolio is the optimum.
    correlation_ppb
        Rank correlation of the 56 scores; none where a map is all one score.
    shift_bps
        Mean absolute change of the 56 scores, rounded half to even.
    feasibility
        Portfolios that became feasible or stopped being so.
    """

    before: str
    after: str
    flipped: bool
    correlation_ppb: int | None
    shift_bps: int
    feasibility: int


class TaskChanges(NamedTuple):
    """All changes from one set of tasks to another.

    Attributes
    ----------
    roots
        Roots (hex) of both tables of tasks.
    removed, added
        Ids of decisions that are only in the first, only in the second.
    same
        Number of decisions in both.
    changed
        Those of them with another map, largest shift first.
    touched
        Tasks of the first whose anchor or candidates went, changed or moved.
    """

    roots: tuple[str, str]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    same: int
    changed: tuple[DecisionChange, ...]
    touched: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing differs."""
        return self.roots[0] == self.roots[1]


class _Decision(NamedTuple):
    """What a task asks, without its labels and its number."""

    panel: str
    family: str
    variant: str | None
    region: str | None
    anchor: str
    choices: frozenset[str]


def compare_tasks(
    before: Sequence[Task],
    after: Sequence[Task],
    roots: tuple[str, str],
    feasible: tuple[Sequence[RescoredMap | None], Sequence[RescoredMap | None]],
    touched: frozenset[str],
) -> TaskChanges:
    """Changes from one set of tasks to another.

    Parameters
    ----------
    before, after
        Tasks.
    roots
        Roots (hex) of their tables.
    feasible
        The first set's decisions under both releases, in its order.
    touched
        Ingredients of the first release that went, changed or moved.
    """
    ours, theirs = ({_decision(task): task for task in side} for side in (before, after))
    flags = dict(zip((task.task_id for task in before), zip(*feasible, strict=True), strict=True))
    changes = [
        _change(task, theirs[key], *flags[task.task_id])
        for key, task in ours.items()
        if key in theirs and _by_names(task) != _by_names(theirs[key])
    ]
    return TaskChanges(
        roots,
        tuple(task.task_id for key, task in ours.items() if key not in theirs),
        tuple(task.task_id for key, task in theirs.items() if key not in ours),
        len(ours.keys() & theirs.keys()),
        tuple(sorted(changes, key=lambda change: (-change.shift_bps, change.before))),
        tuple(t.task_id for t in before if touched.intersection((t.anchor, *t.choices))),
    )


def _change(
    before: Task, after: Task, one: RescoredMap | None, other: RescoredMap | None
) -> DecisionChange:
    ours, theirs = _by_names(before), _by_names(after)
    keys = list(ours)
    first, second = [ours[key] for key in keys], [theirs[key] for key in keys]
    shift = Fraction(sum(abs(a - b) for a, b in zip(first, second, strict=True)), len(keys))
    flags = one.feasible if one else (), other.feasible if other else ()
    changed = sum(a != b for a, b in zip(*flags, strict=False))
    return DecisionChange(
        before.task_id, after.task_id, _optimum(before) != _optimum(after),
        rank_correlation_nano(first, second), round(shift), changed,
    )  # fmt: skip


def _decision(task: Task) -> _Decision:
    return _Decision(task.panel, task.family.value, task.variant, task.region, task.anchor,
                     frozenset(task.choices))  # fmt: skip


def _by_names(task: Task) -> dict[frozenset[str], int]:
    """A task's map by the names of the portfolios' members."""
    names = dict(zip(LABELS, task.choices, strict=True))
    return {
        frozenset(names[label] for label in portfolio): score
        for portfolio, score in score_map(task).items()
    }


def _optimum(task: Task) -> frozenset[str]:
    names = dict(zip(LABELS, task.choices, strict=True))
    return frozenset(names[label] for label in task.optimum)
