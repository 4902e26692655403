"""What the maps of a panel and family look like before any model is asked (docs/tasks.md)."""

from __future__ import annotations

from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING

from schemas.taskset import PORTFOLIOS, Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.taskset import Family, Task

__all__ = ["diagnostics"]


def diagnostics(tasks: Sequence[Task]) -> tuple[Diagnostic, ...]:
    """Summarise each panel and family, in the order in which they first appear.

    Means are taken of exact fractions and rounded half to even once. Mean chance is the mean of all
    scores, not of the rounded chances. The worst feasible portfolio of a map scores zero, so a map
    has one feasible portfolio more than it has positive scores.

    Parameters
    ----------
    tasks
        Tasks of any number of panels and families.
    """
    groups: dict[tuple[str, Family], list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.panel, task.family), []).append(task)
    return tuple(_diagnostic(panel, family, group) for (panel, family), group in groups.items())


def _diagnostic(panel: str, family: Family, tasks: Sequence[Task]) -> Diagnostic:
    cells = len(tasks) * len(PORTFOLIOS)
    feasible = sum(1 + sum(score > 0 for score in task.scores_bps) for task in tasks)
    distinct = sum(len(set(task.scores_bps)) for task in tasks)
    return Diagnostic(
        panel=panel,
        family=family,
        tasks=len(tasks),
        categories=len({task.category for task in tasks}),
        mean_chance_millibps=round(Fraction(1000 * sum(sum(t.scores_bps) for t in tasks), cells)),
        median_margin_millibps=round(1000 * median(Fraction(t.margin_bps) for t in tasks)),
        mean_distinct_milli=round(Fraction(1000 * distinct, len(tasks))),
        feasible_ppm=round(Fraction(1_000_000 * feasible, cells)),
    )
