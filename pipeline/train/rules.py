"""The rules of docs/training.md: which tasks may be trained on, their split, and preference pairs.

A stratum here is a panel and family of the ranked families; all other families make one stratum
together, since they are supplemental.
"""

from __future__ import annotations

import hashlib
import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from schemas.taskset import PORTFOLIOS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from schemas.taskset import Family, Task
    from schemas.training import Split, TrainingTrack

__all__ = ["Development", "completion", "development_tasks", "preference_pairs"]

_WHOLE_BPS = 10_000


class Development(NamedTuple):
    """A task that may be trained on."""

    task: Task
    track: TrainingTrack
    split: Split


class PreferencePair(NamedTuple):
    """Two portfolios of a task, the better first, and their scores in basis points."""

    chosen: str
    rejected: str
    chosen_bps: int
    rejected_bps: int


def development_tasks(
    tasks: Iterable[Task],
    core: Collection[str],
    ranked: Sequence[Family],
    salt: str,
    validation_bps: int,
) -> list[Development]:
    """Tasks beside the core with their split.

    Every stratum is ordered by the hash of its anchors, so tasks of one anchor stand together;
    the first `validation_bps` of it, rounded half to even, validate. Where strata of different
    sizes would put one anchor on both sides, its tasks all validate.

    Parameters
    ----------
    tasks
        All frozen tasks.
    core
        Ids of the core's tasks; these and all tasks with one of their anchors are left out.
    ranked
        Families whose tasks are primary.
    salt, validation_bps
        As in `TrainParameters`.
    """
    known = list(tasks)
    closed = {task.anchor for task in known if task.task_id in core}
    strata: dict[tuple[str, ...], list[Task]] = {}
    for task in known:
        if task.task_id not in core and task.anchor not in closed:
            primary = task.family in ranked
            stratum = (task.panel, task.family.value) if primary else ()
            strata.setdefault(stratum, []).append(task)
    validation: set[str] = set()
    for members in strata.values():
        ordered = sorted(members, key=lambda task: (_place(salt, task.anchor), task.task_id))
        share = round(Fraction(len(ordered) * validation_bps, _WHOLE_BPS))
        validation |= {task.anchor for task in ordered[:share]}
    return [
        Development(
            task,
            "primary" if stratum else "supplemental",
            "validation" if task.anchor in validation else "train",
        )
        for stratum, members in strata.items()
        for task in members
    ]


def preference_pairs(scores_bps: Sequence[int], minimum_gap_bps: int) -> list[PreferencePair]:
    """Up to four pairs of portfolios, from the widest gap to the narrowest that still counts.

    All pairs with at least the minimum gap are ordered by gap, then by the better one's score,
    highest first, then by name; taken are the first, those at one and two thirds, and the last.

    Parameters
    ----------
    scores_bps
        Scores in the order of `PORTFOLIOS`.
    minimum_gap_bps
        Smallest difference.
    """
    ranked = sorted(zip(PORTFOLIOS, scores_bps, strict=True), key=lambda item: (-item[1], item[0]))
    pairs = [
        PreferencePair(chosen, rejected, high, low)
        for (chosen, high), (rejected, low) in itertools.combinations(ranked, 2)
        if high - low >= minimum_gap_bps
    ]
    pairs.sort(key=lambda p: (p.rejected_bps - p.chosen_bps, -p.chosen_bps, p.chosen, p.rejected))
    count = len(pairs)
    places = dict.fromkeys((0, count // 3, 2 * count // 3, count - 1)) if count else ()
    return [pairs[place] for place in places]


def completion(portfolio: str) -> str:
    """The answer's last line for a portfolio such as `ACF`."""
    return f"FINAL_SELECTION: {','.join(portfolio)}"


def _place(salt: str, anchor: str) -> str:
    return hashlib.sha256(f"{salt}|{anchor}".encode()).hexdigest()
