"""Contrasts of models with each other and with chance: what is observed, and what tests add."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import NANO, product, to_units
from pipeline.inference.fans import fan_rows, fan_slices
from pipeline.inference.multiplicity import holm, resolved
from pipeline.inference.results import Contrasts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pipeline.inference.exact import FamilyWeights
    from pipeline.inference.fans import Fan
    from pipeline.inference.flips import FlipCounts
    from pipeline.inference.matrix import IntArray, ScoreMatrix

__all__ = ["build_contrasts", "effect_sizes", "outcomes"]


class EffectSizes(NamedTuple):
    """Cohen's dz times 10^9 where `defined`, else 0; shape (P,) each."""

    dz_nano: IntArray
    defined: NDArray[np.bool_]


class Outcomes(NamedTuple):
    """Tasks on which left scores higher, the same and lower; shape (P,) each."""

    wins: IntArray
    ties: IntArray
    losses: IntArray


def build_contrasts(
    matrix: ScoreMatrix,
    weights: FamilyWeights,
    fans: Sequence[Fan],
    intervals: IntArray,
    flips: FlipCounts,
) -> Contrasts:
    """One Holm family of contrasts.

    Parameters
    ----------
    matrix, weights
        Scores, and the integer weights of their families.
    fans
        The contrasts, P in all.
    intervals
        Percentile intervals in 10^-9 basis points, shape (2, P).
    flips
        Extreme counts of the same contrasts.
    """
    rows = fan_rows(fans)
    scores = matrix.rows_bps
    totals = scores @ weights.per_family[matrix.family]
    sizes = effect_sizes(scores, rows.left, rows.right)
    counts = outcomes(scores, fans)
    adjusted = holm(flips.p_numerators, flips.p_denominator)
    return Contrasts(
        left=rows.left,
        right=rows.right,
        difference_numerators=totals[rows.left] - totals[rows.right],
        difference_denominator=weights.denominator,
        lower_nanobps=intervals[0],
        upper_nanobps=intervals[1],
        dz_nano=sizes.dz_nano,
        dz_defined=sizes.defined,
        wins=counts.wins,
        ties=counts.ties,
        losses=counts.losses,
        extreme=flips.extreme,
        p_numerators=flips.p_numerators,
        holm_numerators=adjusted,
        p_denominator=flips.p_denominator,
        resolved=resolved(adjusted, flips.p_denominator),
        draws=flips.draws,
        exact=flips.exact,
    )


def effect_sizes(scores: IntArray, left: IntArray, right: IntArray) -> EffectSizes:
    """Cohen's dz of the task differences of pairs of rows.

    dz = mean / sd = S1 * sqrt((T - 1) / (T * (T*S2 - S1^2))), where S1 and S2 are the sums of the
    differences and of their squares: whole numbers, then a few correctly rounded operations
    (Cohen, Statistical Power Analysis, 2nd ed., 1988, section 2.3.5).

    Parameters
    ----------
    scores
        Basis points, shape (rows, T).
    left, right
        Rows of each pair, shape (P,).
    """
    tasks = scores.shape[1]
    # A ScoreMatrix is small enough for sums of squares to be exact in float64.
    real = scores.astype(np.float64)
    gram = product(real, real.T).astype(np.int64)
    squares = np.diagonal(gram)
    sums = scores.sum(axis=1)
    first = sums[left] - sums[right]
    second = squares[left] + squares[right] - 2 * gram[left, right]
    spread = tasks * second - first * first
    defined = spread > 0
    safe = np.where(defined, spread, 1).astype(np.float64)
    size = first.astype(np.float64) * np.sqrt(float(tasks - 1) / (float(tasks) * safe))
    return EffectSizes(np.where(defined, to_units(size, NANO), 0), defined)


def outcomes(scores: IntArray, fans: Sequence[Fan]) -> Outcomes:
    """Wins, ties and losses over tasks, for the contrasts of `fans` among rows of `scores`."""
    tasks = scores.shape[1]
    total = sum(fan.stop - fan.start for fan in fans)
    hub_higher, spoke_higher = np.empty((2, total), dtype=np.int64)
    left_is_hub = np.empty(total, dtype=np.bool_)
    narrow = scores.astype(np.int16)
    for fan, part in zip(fans, fan_slices(fans), strict=True):
        spokes = narrow[fan.start : fan.stop]
        hub_higher[part] = np.count_nonzero(narrow[fan.hub] > spokes, axis=1)
        spoke_higher[part] = np.count_nonzero(narrow[fan.hub] < spokes, axis=1)
        left_is_hub[part] = fan.hub_is_left
    return Outcomes(
        wins=np.where(left_is_hub, hub_higher, spoke_higher),
        ties=tasks - hub_higher - spoke_higher,
        losses=np.where(left_is_hub, spoke_higher, hub_higher),
    )
