"""Step-down tests of all pairs at once: the largest of the permutation t over pairs.

A pair's statistic is T(e) = abs(S(e)) / r, where S(e) is its flipped sum and r the root of its sum
of squared cluster differences, which no flip changes. One row of signs serves all pairs, so the
largest T of a row knows how the pairs move together, and the smallest p does not grow with their
number (Westfall and Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1; Romano and
Wolf, JASA 100, 2005).

Pairs stand by their observed T, falling. A row of signs counts for place k if the largest T of the
places from k on reaches the observed T of k. Walking up from the last place, the largest T of a
row changes a few times only, and each change decides a run of places. So rows are compared in the
precision of the sums, with room for its rounding; what may be a change is decided by one division
in float64, and no pair is looked at of which no row of a job reaches its own observed sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.errors import InputError
from pipeline.inference.exact import EXACT_FLOAT64, product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pipeline.inference.exact import Real
    from pipeline.inference.flips import FlipCounts
    from pipeline.inference.matrix import IntArray

__all__ = ["PairOrder", "job_runs", "order_pairs", "step_down"]

# Below it, different sums over one root are different in float64.
_MAX_SUM = 2**50
_LIMB_BITS = 17
# Far above the rounding of a float32 product, far below what would let many rows through.
_ROOM = 1 - 2.0**-20
# Elements of a tile of pairs, which a second-level cache holds.
_TILE = 2**15


class PairOrder(NamedTuple):
    """Pairs that take part, by their observed T, falling; ties keep the order of pairs.

    Attributes
    ----------
    pairs
        Place of each among all P pairs, shape (K,); a pair without any difference is absent.
    left, right
        Rows of each, shape (K,).
    roots, observed
        Roots of the sums of squares and observed T, shape (K,).
    among
        Number of all pairs, P.
    """

    pairs: IntArray
    left: IntArray
    right: IntArray
    roots: NDArray[np.float64]
    observed: NDArray[np.float64]
    among: int


def order_pairs(clusters: IntArray, left: IntArray, right: IntArray) -> PairOrder:
    """The order in which pairs are stepped through.

    Parameters
    ----------
    clusters
        Weighted sums of the clusters of each row, shape (C, rows).
    left, right
        Rows of each pair, shape (P,).

    Raises
    ------
    InputError
        A sum could reach 2^50, from where quotients would no longer tell sums apart.
    """
    largest = int(np.abs(clusters).sum(axis=0).max())
    if largest >= _MAX_SUM:
        raise InputError(
            "weighted sums below 2^50",
            f"a sum of {largest}",
            "step-down tests",
            "Use family sizes with a smaller common multiple, or fewer tasks.",
        )
    totals = clusters.sum(axis=0)
    roots = np.sqrt(_squares(clusters, left, right))
    pairs = np.flatnonzero(roots)
    gaps = np.abs(totals[left] - totals[right])[pairs].astype(np.float64)
    order = np.argsort(-(gaps / roots[pairs]), kind="stable")
    pairs, observed = pairs[order], (gaps / roots[pairs])[order]
    return PairOrder(pairs, left[pairs], right[pairs], roots[pairs], observed, left.size)


def _squares(clusters: IntArray, left: IntArray, right: IntArray) -> NDArray[np.float64]:
    """Sums of squared differences of pairs of columns, to the nearest float64."""
    rows = np.ascontiguousarray(clusters.T)
    bound = 4 * max(sum(int(value) ** 2 for value in row.tolist()) for row in rows)
    if bound < EXACT_FLOAT64:
        real = rows.astype(np.float64)
        gram = product(real, np.ascontiguousarray(real.T))
        own = np.diagonal(gram)
        found: NDArray[np.float64] = (own[left] + own[right] - 2 * gram[left, right]).astype(
            np.float64
        )
        return found
    whole = _whole_products(rows)
    own = np.diagonal(whole)
    return np.array(
        [float(own[i] + own[j] - 2 * whole[i, j]) for i, j in zip(left, right, strict=True)]
    )


def _whole_products(rows: IntArray) -> NDArray[np.object_]:
    """Products of all pairs of rows as whole numbers of any size, from exact limb products."""
    count = -(-int(np.abs(rows).max()).bit_length() // _LIMB_BITS)
    signs = np.sign(rows)
    limbs = [
        (signs * ((np.abs(rows) >> (_LIMB_BITS * place)) & (2**_LIMB_BITS - 1))).astype(np.float64)
        for place in range(count)
    ]
    total = np.zeros((len(rows), len(rows)), dtype=object)
    for i, high in enumerate(limbs):
        for j, low in enumerate(limbs):
            part = product(high, np.ascontiguousarray(low.T)).astype(np.int64).astype(object)
            total += part << (_LIMB_BITS * (i + j))
    return total


def job_runs(flipped: Real, order: PairOrder, extreme: IntArray) -> IntArray:
    """How many rows of signs begin, less those that ended, to count at each place.

    Parameters
    ----------
    flipped
        Flipped sums of rows (at least those that `order` names), shape (rows, draws).
    order
        The K places.
    extreme
        For all P pairs, in how many of these draws the flipped sum reaches the observed one.

    Returns
    -------
    IntArray
        Shape (K + 1,); cumulative sums count the draws of each place.
    """
    places = np.flatnonzero(extreme[order.pairs])[::-1]
    begun = np.zeros(len(order.pairs) + 1, dtype=np.int64)
    if places.size:
        _walk(flipped, order, places, begun)
    return begun


class _Rise(NamedTuple):
    """What may be a new largest T: its draws and places, and the distances there, shape (n,)."""

    draws: IntArray
    places: IntArray
    gaps: Real


def _walk(flipped: Real, order: PairOrder, places: IntArray, begun: IntArray) -> None:
    """Walk up through `places`, noting the runs of places that count."""
    bar = np.full(flipped.shape[1], -1, dtype=flipped.dtype)
    inverse = (1 / order.roots).astype(flipped.dtype)[:, None]
    most = max(1, _TILE // flipped.shape[1])
    gaps, others = np.empty((2, most, flipped.shape[1]), dtype=flipped.dtype)
    rises = []
    first, height = 0, 1
    while first < len(places):
        tile = places[first : first + height]
        gap, other = gaps[: len(tile)], others[: len(tile)]
        flipped.take(order.left[tile], axis=0, out=gap, mode="clip")
        flipped.take(order.right[tile], axis=0, out=other, mode="clip")
        np.subtract(gap, other, out=gap)
        np.abs(gap, out=gap)
        np.multiply(gap, inverse[tile], out=other)
        peak = other.max(axis=0)
        rising = np.flatnonzero(peak > bar)
        if rising.size:
            row, column = np.nonzero(other[:, rising] > bar[rising])
            draws = rising[column]
            rises.append(_Rise(draws, tile[row], gap[row, draws]))
            np.maximum(bar, peak * flipped.dtype.type(_ROOM), out=bar)
        first += height
        # As many places as were seen: about one of them rises in a draw.
        height = min(2 * height, most)
    _note(_Rise(*(np.concatenate(parts) for parts in zip(*rises, strict=True))), order, begun)


def _note(rises: _Rise, order: PairOrder, begun: IntArray) -> None:
    """Note the runs of places that begin where the largest T of a draw rises."""
    exact = rises.gaps.astype(np.float64) / order.roots[rises.places]
    # The first place whose observed T is reached: the larger T, the smaller.
    start = np.searchsorted(-order.observed, -exact, side="left")
    by_draw = np.argsort(rises.draws, kind="stable")
    draws, places, start = rises.draws[by_draw], rises.places[by_draw], start[by_draw]
    # One running maximum for all draws: what an earlier draw reached lies below a draw's floor.
    last = len(order.pairs)
    floor = draws * (last + 1)
    reached = np.maximum.accumulate(floor + last - start)
    before = np.maximum(np.concatenate([[0], reached[:-1]]), floor)
    begin, end = last - (reached - floor), np.minimum(places + 1, last - (before - floor))
    counts = begin < end
    np.add.at(begun, begin[counts], 1)
    np.subtract.at(begun, end[counts], 1)


def step_down(flips: FlipCounts, order: PairOrder) -> IntArray:
    """Numerators of the adjusted p values of all P pairs, over the flips' `p_denominator`.

    A pair that takes no part has p = 1.

    Parameters
    ----------
    flips
        Counts of all pages, with the runs of `order`.
    """
    found = np.full(order.among, flips.p_denominator, dtype=np.int64)
    counts = np.cumsum(flips.runs)[:-1] + (0 if flips.exact else 1)
    found[order.pairs] = np.maximum.accumulate(counts)
    return found
