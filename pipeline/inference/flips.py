"""Two-sided cluster sign-flip tests of many contrasts at once.

Under the null hypothesis the sign of every cluster's difference is a fair coin (Fisher, The Design
of Experiments, 1935, section 21; portfolio spec, section 5). A contrast's flipped sum is the
difference of two rows' flipped sums, so the draws meet the rows in one matrix product and the
contrasts only in subtractions. With integer family weights all sums are whole numbers: a tie with
the observed difference is a tie, and counts as extreme.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import count_true, matmul_dtype, product
from pipeline.inference.fans import fan_slices
from pipeline.inference.matrix import MAX_SCORE_BPS
from pipeline.inference.stepdown import page_runs
from pipeline.inference.streams import MAX_ENUMERATED_CLUSTERS, enumerate_signs
from pipeline.inference.workers import run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pipeline.inference.exact import FamilyWeights, Real
    from pipeline.inference.fans import Fan
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.stepdown import PairOrder
    from pipeline.inference.streams import DrawStream, Page, Role
    from pipeline.progress import Progress

__all__ = ["FlipCounts", "cluster_sums", "flip_counts"]

# Rows compared with a hub at once: what fits a processor's second-level cache with SIGN_PAGE draws.
_TILE = 32


class FlipCounts(NamedTuple):
    """How often flipped differences were at least as large as the observed ones.

    Attributes
    ----------
    extreme
        Counts k, shape (P,).
    draws
        Sign rows R that were seen.
    exact
        All 2^C sign rows were seen once, so p = k / R; otherwise p = (1 + k) / (1 + R)
        (Phipson and Smyth, Statistical Applications in Genetics 9(1), 2010).
    runs
        Sum of `page_runs`, shape (K + 1,); without an order of pairs K = 0.
    """

    extreme: IntArray
    draws: int
    exact: bool
    runs: IntArray

    @property
    def p_numerators(self) -> IntArray:
        """Numerators of the p values, shape (P,)."""
        return self.extreme if self.exact else self.extreme + 1

    @property
    def p_denominator(self) -> int:
        """Common denominator of the p values."""
        return self.draws if self.exact else self.draws + 1


class _Sums(NamedTuple):
    """Weighted sums of rows: per cluster, shape (C, rows), and in all, shape (rows,)."""

    clusters: Real
    totals: Real


def flip_counts(
    matrix: ScoreMatrix,
    weights: FamilyWeights,
    fans: Sequence[Fan],
    stream: DrawStream,
    role: Role,
    *,
    draws: int,
    block: int,
    order: PairOrder | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> FlipCounts:
    """Extreme counts of the contrasts of `fans`, in their order.

    Parameters
    ----------
    matrix, weights
        Scores, and the integer weights of their families.
    fans
        Contrasts among the rows of `ScoreMatrix.rows_bps`.
    stream, role
        Source of the signs when there are more than 16 clusters; up to there all are enumerated.
    draws
        Number of sign rows R.
    block
        Sign rows expanded to floating point at once, per thread.
    order
        Pairs to step through; they are the last contrasts of `fans`.
    progress
        Called with sign rows done and their number.
    """
    exact = matrix.clusters <= MAX_ENUMERATED_CLUSTERS
    total = 2**matrix.clusters if exact else draws
    pages = (
        enumerate_signs(matrix.clusters) if exact else stream.signs(matrix.clusters, draws, role)
    )
    sums = _weighted_sums(matrix, weights)
    extreme = np.zeros(sum(fan.stop - fan.start for fan in fans), dtype=np.int64)
    runs = np.zeros(1 if order is None else len(order.pairs) + 1, dtype=np.int64)
    done = 0
    jobs = (partial(_page_counts, page, sums, fans, block, order) for page in pages)
    for counts in run_jobs(jobs, threads):
        extreme += counts.extreme
        done += counts.draws
        runs += counts.runs
        if progress is not None:
            progress(done, total)
    return FlipCounts(extreme, total, exact, runs)


def cluster_sums(matrix: ScoreMatrix, weights: FamilyWeights) -> IntArray:
    """Weighted sum of every row over each cluster's tasks, shape (C, M+1)."""
    sums: IntArray = np.einsum("cfr,f->cr", matrix.cluster_family_sums(), weights.per_family)
    return sums


def _weighted_sums(matrix: ScoreMatrix, weights: FamilyWeights) -> _Sums:
    dtype = matmul_dtype(weights.denominator * MAX_SCORE_BPS)
    clusters = cluster_sums(matrix, weights)
    return _Sums(clusters.astype(dtype), clusters.sum(axis=0).astype(dtype))


def _page_counts(
    page: Page, sums: _Sums, fans: Sequence[Fan], block: int, order: PairOrder | None
) -> FlipCounts:
    bits = page.draw()
    flipped = np.empty((len(sums.totals), page.rows), dtype=sums.totals.dtype)
    for first in range(0, page.rows, block):
        part = bits[first : first + block].astype(sums.totals.dtype)
        # A sign is 2 * bit - 1; doubling the sum instead spares a pass over all signs.
        flipped[:, first : first + len(part)] = 2 * product(part, sums.clusters).T
    flipped -= sums.totals[:, None]
    extreme = np.empty(sum(fan.stop - fan.start for fan in fans), dtype=np.int64)
    tile = _Tile(flipped.dtype, page.rows)
    for fan, place in zip(fans, fan_slices(fans), strict=True):
        extreme[place] = tile.counts(flipped, sums.totals, fan)
    runs = np.zeros(1, dtype=np.int64)
    if order is not None:
        runs = page_runs(flipped, order, extreme[extreme.size - order.among :])
    return FlipCounts(extreme, page.rows, exact=False, runs=runs)


class _Tile:
    """Room for some rows' distances from a hub, used again and again; one per page."""

    def __init__(self, dtype: DTypeLike, draws: int) -> None:
        self._gaps = np.empty((_TILE, draws), dtype=dtype)
        self._reached = np.empty((_TILE, draws), dtype=np.bool_)

    def counts(self, flipped: Real, totals: Real, fan: Fan) -> IntArray:
        """Extreme counts of one fan, shape (spokes,)."""
        counts = np.empty(fan.stop - fan.start, dtype=np.int64)
        observed = np.abs(totals[fan.start : fan.stop] - totals[fan.hub])
        for first in range(fan.start, fan.stop, _TILE):
            stop = min(first + _TILE, fan.stop)
            part = slice(first - fan.start, stop - fan.start)
            gap, reached = self._gaps[: stop - first], self._reached[: stop - first]
            np.subtract(flipped[first:stop], flipped[fan.hub], out=gap)
            np.abs(gap, out=gap)
            np.greater_equal(gap, observed[part, None], out=reached)
            counts[part] = count_true(reached)
        return counts
