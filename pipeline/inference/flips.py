"""Two-sided cluster sign-flip tests of many contrasts at once.

Under the null hypothesis the sign of every cluster's difference is a fair coin (Fisher, The Design
of Experiments, 1935, section 21; docs/statistics.md). A contrast's flipped sum is the
difference of two rows' flipped sums, so the draws meet the rows in one matrix product and the
contrasts only in subtractions. With integer family weights all sums are whole numbers: a tie with
the observed difference is a tie, and counts as extreme.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import matmul_dtype, product
from pipeline.inference.fans import fan_slices
from pipeline.inference.matrix import MAX_SCORE_BPS
from pipeline.inference.streams import MAX_ENUMERATED_CLUSTERS, enumerate_signs
from pipeline.inference.workers import run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.exact import FamilyWeights, Real
    from pipeline.inference.fans import Fan
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.streams import DrawStream, Page, Role
    from pipeline.progress import Progress

__all__ = ["FlipCounts", "flip_counts"]

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
    """

    extreme: IntArray
    draws: int
    exact: bool

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
    done = 0
    jobs = (partial(_page_counts, page, sums, fans, block) for page in pages)
    for counts in run_jobs(jobs, threads):
        extreme += counts.extreme
        done += counts.draws
        if progress is not None:
            progress(done, total)
    return FlipCounts(extreme, total, exact)


def _weighted_sums(matrix: ScoreMatrix, weights: FamilyWeights) -> _Sums:
    dtype = matmul_dtype(weights.denominator * MAX_SCORE_BPS)
    clusters = np.einsum("cfr,f->cr", matrix.cluster_family_sums(), weights.per_family)
    return _Sums(clusters.astype(dtype), clusters.sum(axis=0).astype(dtype))


def _page_counts(page: Page, sums: _Sums, fans: Sequence[Fan], block: int) -> FlipCounts:
    bits = page.draw()
    flipped = np.empty((len(sums.totals), page.rows), dtype=sums.totals.dtype)
    for first in range(0, page.rows, block):
        part = bits[first : first + block].astype(sums.totals.dtype)
        # A sign is 2 * bit - 1; doubling the sum instead spares a pass over all signs.
        flipped[:, first : first + len(part)] = 2 * product(part, sums.clusters).T
    flipped -= sums.totals[:, None]
    extreme = np.empty(sum(fan.stop - fan.start for fan in fans), dtype=np.int64)
    for fan, place in zip(fans, fan_slices(fans), strict=True):
        extreme[place] = _fan_counts(flipped, sums.totals, fan)
    return FlipCounts(extreme, page.rows, exact=False)


def _fan_counts(flipped: Real, totals: Real, fan: Fan) -> IntArray:
    """Extreme counts of one fan, shape (spokes,)."""
    counts = np.empty(fan.stop - fan.start, dtype=np.int64)
    observed = np.abs(totals[fan.start : fan.stop] - totals[fan.hub])
    for first in range(fan.start, fan.stop, _TILE):
        stop = min(first + _TILE, fan.stop)
        gap = flipped[first:stop] - flipped[fan.hub]
        np.abs(gap, out=gap)
        part = slice(first - fan.start, stop - fan.start)
        extreme = gap >= observed[part, None]
        counts[part] = np.add.reduce(extreme, axis=1, dtype=np.int32)
    return counts
