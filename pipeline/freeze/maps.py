"""Utilities and scores of all 56 portfolios, for all rows of a family at once (docs/tasks.md).

Every sum has three terms or fewer and is written out, so that it has one order and one result.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.taskset import BEST_BPS, LABELS, PORTFOLIOS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.freeze.families import Weights

__all__ = [
    "MEMBERS",
    "MINIMUM_FEASIBLE",
    "MINIMUM_RANGE_PPB",
    "ROUNDING",
    "ScoreMaps",
    "score_maps",
    "summary",
    "utilities",
    "with_labels",
]

"""Score of the optimum, in basis points."""

MINIMUM_FEASIBLE = 4
"""A scoreable row has at least so many feasible portfolios."""

MINIMUM_RANGE_PPB = 1_000
"""A scoreable row's feasible utilities differ by at least so many billionths."""

ROUNDING = "half_even"
"""How scores and means become integers."""

MEMBERS = np.array(list(itertools.combinations(range(len(LABELS)), 3)), dtype=np.int64)
"""int64 (56, 3): the positions of each portfolio's members, in the order of `PORTFOLIOS`."""

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]


class ScoreMaps(NamedTuple):
    """Scores of n rows.

    Attributes
    ----------
    scores_bps
        int64 (n, 56): 0 to 10,000; all zero in rows without a usable range.
    scoreable
        bool (n,): enough feasible portfolios, enough range, exactly one optimum.
    """

    scores_bps: _Ints
    scoreable: _Bools


class Summary(NamedTuple):
    """What a score map says of itself.

    Attributes
    ----------
    optimum
        The portfolio with 10,000.
    chance_bps
        Mean of the 56 scores, rounded half to even.
    margin_bps
        Best less second best.
    """

    optimum: str
    chance_bps: int
    margin_bps: int


def utilities(fits: _Floats, mutual: _Floats, weights: Weights) -> _Floats:
    """Weighted mean fit and mean mutual cosine of every portfolio.

    Parameters
    ----------
    fits
        float64 (n, 8).
    mutual
        float64 (n, 8, 8): cosines between candidates.
    weights
        The family's weights.

    Returns
    -------
    float64 (n, 56), in the order of `PORTFOLIOS`
    """
    i, j, k = MEMBERS.T
    fit = (fits[:, i] + fits[:, j] + fits[:, k]) / 3
    coherence = (mutual[:, i, j] + mutual[:, i, k] + mutual[:, j, k]) / 3
    weighted = weights.fit_milli / 1000 * fit
    return np.asarray(weighted + weights.coherence_milli / 1000 * coherence, dtype=np.float64)


def score_maps(utility: _Floats, feasible: _Bools) -> ScoreMaps:
    """Basis points between the worst and the best feasible portfolio; 0 if infeasible.

    Parameters
    ----------
    utility
        float64 (n, 56).
    feasible
        bool (n, 56).
    """
    low = np.where(feasible, utility, np.inf).min(axis=1)
    high = np.where(feasible, utility, -np.inf).max(axis=1)
    usable = (feasible.sum(axis=1) >= MINIMUM_FEASIBLE) & (high - low >= MINIMUM_RANGE_PPB / 1e9)
    start = np.where(usable, low, 0.0)[:, None]
    width = np.where(usable, high - low, 1.0)[:, None]
    exact = BEST_BPS * (utility - start) / width
    shown = feasible & usable[:, None]
    scores = np.rint(np.where(shown, exact, 0.0)).astype(np.int64)
    return ScoreMaps(scores, usable & ((scores == BEST_BPS).sum(axis=1) == 1))


def with_labels(scores_bps: _Ints, positions: Sequence[int]) -> tuple[int, ...]:
    """A map over candidates as the map over labels.

    Parameters
    ----------
    scores_bps
        int64 (56,): scores by candidate positions.
    positions
        The candidate position behind each of the labels A to H.
    """
    i, j, k = np.array(positions)[MEMBERS].T
    return tuple(scores_bps[_PLACES[i, j, k]].tolist())


def summary(scores_bps: Sequence[int]) -> Summary:
    """Optimum, chance and margin of a map with one optimum, in the order of `PORTFOLIOS`."""
    ordered = sorted(scores_bps, reverse=True)
    chance, rest = divmod(sum(scores_bps), len(PORTFOLIOS))
    half = len(PORTFOLIOS) // 2
    chance += rest > half or (rest == half and chance % 2 == 1)
    return Summary(PORTFOLIOS[scores_bps.index(ordered[0])], chance, ordered[0] - ordered[1])


def _places() -> _Ints:
    """Place of three candidate positions, in any order, among the portfolios; int64 (8, 8, 8)."""
    places = np.full((len(LABELS),) * 3, -1, dtype=np.int64)
    for order in itertools.permutations(range(3)):
        places[tuple(MEMBERS[:, order].T)] = np.arange(len(MEMBERS))
    return places


_PLACES = _places()
