"""What clusters, draws and tasks allow: where a table could only say no, its reason instead.

A limit is a value that a view can word, and words itself in one line.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

from pipeline.inference.bands import MIN_FAMILY_TASKS
from pipeline.inference.exact import ALPHA
from pipeline.inference.streams import MAX_ENUMERATED_CLUSTERS

if TYPE_CHECKING:
    from pipeline.inference.bands import Band

__all__ = [
    "Limit",
    "band_limit",
    "band_possible",
    "chance_limit",
    "pair_limit",
    "smallest_pair_p",
]

Kind = Literal["clusters", "signs", "guessers", "family_tasks", "variation"]


class Limit(NamedTuple):
    """Something that cannot be told, and what it would take.

    Attributes
    ----------
    kind
        What is too little: clusters, sign rows, guessers, tasks of a family, or variation of some
        route's scores.
    found, needed
        How much there is, and how much would do; None where nothing can be promised.
    smallest_p
        The smallest (adjusted) p that is possible, where that is the reason.
    line
        The limit in one sentence.
    """

    kind: Kind
    found: int
    needed: int | None
    smallest_p: Fraction | None
    line: str


def smallest_pair_p(clusters: int, sign_draws: int) -> Fraction:
    """Smallest p that a pair of routes can have.

    With all signs enumerated, a row and its opposite give the same distance, so it is 2 / 2^C.
    """
    if clusters <= MAX_ENUMERATED_CLUSTERS:
        return Fraction(2, 2**clusters)
    return Fraction(1, sign_draws + 1)


def pair_limit(clusters: int, sign_draws: int) -> Limit | None:
    """Why no pair of routes can be resolved; None where one can."""
    smallest = smallest_pair_p(clusters, sign_draws)
    if smallest < ALPHA:
        return None
    if clusters <= MAX_ENUMERATED_CLUSTERS:
        needed = 1 + math.floor(math.log2(1 / ALPHA)) + 1
        line = (
            f"{_count(clusters, 'cluster')} {_verb(clusters, 'allow')} no p below {smallest}: "
            f"nothing can be told apart; {needed} or more would do"
        )
        return Limit("clusters", clusters, needed, smallest, line)
    needed = math.floor(1 / ALPHA)
    line = (
        f"{_count(sign_draws, 'sign row')} {_verb(sign_draws, 'allow')} no p below {smallest}: "
        f"nothing can be told apart; {needed:,} or more would do"
    )
    return Limit("signs", sign_draws, needed, smallest, line)


def chance_limit(routes: int, guessers: int) -> Limit | None:
    """Why no single route can be told from guessing after Holm; None where one can."""
    smallest = min(Fraction(1), Fraction(routes, guessers + 1))
    if smallest < ALPHA:
        return None
    needed = math.floor(routes / ALPHA)
    line = (
        f"{_count(guessers, 'guesser')} {_verb(guessers, 'allow')} no adjusted p below {smallest} "
        f"for one of {_count(routes, 'route')}: chance is not tested; {needed:,} or more would do"
    )
    return Limit("guessers", guessers, needed, smallest, line)


def band_possible(smallest_family: int, clusters: int) -> bool:
    """Whether a band may be printed, whatever the scores are."""
    return smallest_family >= MIN_FAMILY_TASKS and clusters > 1


def band_limit(band: Band, smallest_family: int, tasks: int, clusters: int) -> Limit | None:
    """Why there is no band for all routes at once; None where there is one.

    Parameters
    ----------
    smallest_family, tasks
        Tasks of the smallest family, and of all.
    """
    if band.ends_nanobps is not None:
        return None
    if not band_possible(smallest_family, clusters):
        line = (
            f"no band for all routes at once: {_count(smallest_family, 'task')} in the smallest "
            f"family, {_count(clusters, 'cluster')}; it takes {MIN_FAMILY_TASKS} or more tasks in "
            "each family"
        )
        return Limit("family_tasks", smallest_family, MIN_FAMILY_TASKS, None, line)
    needed = _tasks_for_variation(band, tasks)
    would = "no number of tasks can be named" if needed is None else f"about {needed:,} would do"
    line = (
        "no band for all routes at once: some route's scores hardly vary, and in "
        f"{band.unbounded:,} of {band.replicates:,} resamples not at all; "
        f"{_count(tasks, 'task')}, {would}"
    )
    return Limit("variation", tasks, needed, None, line)


def _tasks_for_variation(band: Band, tasks: int) -> int | None:
    """Tasks of the same kind with which unbounded resamples would be 5% at most.

    A resample misses every task on which the route's score moves with a probability that falls by
    the same factor for each further copy of the tasks.
    """
    if band.unbounded == band.replicates:
        return None
    copies = math.log(ALPHA) / math.log(band.unbounded / band.replicates)
    return max(2, math.ceil(copies)) * tasks


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _verb(number: int, verb: str) -> str:
    return f"{verb}s" if number == 1 else verb
