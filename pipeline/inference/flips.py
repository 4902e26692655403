"""Two-sided cluster sign-flip tests of many contrasts at once.

Under the null hypothesis the sign of every cluster's difference is a fair coin (Fisher, The Design
of Experiments, 1935, section 21; docs/statistics.md). A contrast's flipped sum is the
difference of two rows' flipped sums, so the draws meet the rows in one matrix product and the
contrasts only in subtractions. With integer family weights all sums are whole numbers: a tie with
the observed difference is a tie, and counts as extreme.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import matmul_dtype, product
from pipeline.inference.fans import fan_slices
from pipeline.inference.stepdown import job_runs
from pipeline.inference.streams import MAX_ENUMERATED_CLUSTERS, enumerate_signs
from pipeline.inference.workers import run_jobs
from schemas.taskset import BEST_BPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pipeline.inference.exact import FamilyWeights, Real
    from pipeline.inference.fans import Fan
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.stepdown import PairOrder
    from pipeline.inference.streams import Page, Role
    from pipeline.inference.workers import Drawing

__all__ = ["FlipCounts", "cluster_sums", "flip_counts"]

# Rows compared with a hub at once: what a processor's second-level cache holds with the draws of
# a job. Longer rows make better use of a processor than more of them.
_TILE = 8
_JOB_PAGES = 4


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
        Sum of `job_runs`, shape (K + 1,); without an order of pairs K = 0.
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
    """Weighted sums of rows, less what all have in common: per cluster, (C, rows), and in all."""

    clusters: Real
    totals: Real


def flip_counts(
    matrix: ScoreMatrix,
    weights: FamilyWeights,
    fans: Sequence[Fan],
    drawing: Drawing,
    role: Role,
    *,
    order: PairOrder | None = None,
) -> FlipCounts:
    """Extreme counts of the contrasts of `fans`, in their order.

    Parameters
    ----------
    matrix, weights
        Scores, and the integer weights of their families.
    fans
        Contrasts among the rows of `ScoreMatrix.rows_bps`.
    drawing, role
        Source and number R of the sign rows when there are more than 16 clusters; up to there all
        are enumerated.
    order
        Pairs to step through; they are the last contrasts of `fans`.
    """
    exact = matrix.clusters <= MAX_ENUMERATED_CLUSTERS
    total = 2**matrix.clusters if exact else drawing.draws
    pages = (
        enumerate_signs(matrix.clusters)
        if exact
        else drawing.stream.signs(matrix.clusters, total, role)
    )
    sums = _weighted_sums(matrix, weights)
    extreme = np.zeros(sum(fan.stop - fan.start for fan in fans), dtype=np.int64)
    runs = np.zeros(1 if order is None else len(order.pairs) + 1, dtype=np.int64)
    done = 0
    jobs = (partial(_counts, part, sums, fans, drawing.block, order) for part in _jobs(pages))
    for counts in run_jobs(jobs, drawing.threads):
        extreme += counts.extreme
        done += counts.draws
        runs += counts.runs
        drawing.progress(done, total)
    return FlipCounts(extreme, total, exact, runs)


def cluster_sums(matrix: ScoreMatrix, weights: FamilyWeights) -> IntArray:
    """Weighted sum of every row over each cluster's tasks, shape (C, M+1)."""
    sums: IntArray = np.einsum("cfr,f->cr", matrix.cluster_family_sums(), weights.per_family)
    return sums


def _weighted_sums(matrix: ScoreMatrix, weights: FamilyWeights) -> _Sums:
    dtype = matmul_dtype(weights.denominator * BEST_BPS)
    clusters = cluster_sums(matrix, weights)
    # What all rows have in common moves no difference, but would hide which are out of reach.
    clusters -= clusters.sum(axis=1, keepdims=True) // clusters.shape[1]
    return _Sums(clusters.astype(dtype), clusters.sum(axis=0).astype(dtype))


def _jobs(pages: Iterator[Page]) -> Iterator[tuple[Page, ...]]:
    """Some pages in a row, until there are none."""
    return iter(lambda: tuple(itertools.islice(pages, _JOB_PAGES)), ())


def _counts(
    pages: Sequence[Page], sums: _Sums, fans: Sequence[Fan], block: int, order: PairOrder | None
) -> FlipCounts:
    draws = sum(page.rows for page in pages)
    flipped = np.empty((len(sums.totals), draws), dtype=sums.totals.dtype)
    for page in pages:
        bits = page.draw()
        for first in range(0, page.rows, block):
            part = bits[first : first + block].astype(sums.totals.dtype)
            place = page.start - pages[0].start + first
            # A sign is 2 * bit - 1; doubling the sum instead spares a pass over all signs.
            flipped[:, place : place + len(part)] = 2 * product(part, sums.clusters).T
    flipped -= sums.totals[:, None]
    extreme = _extreme(flipped, sums.totals, fans)
    runs = np.zeros(1, dtype=np.int64)
    if order is not None:
        runs = job_runs(flipped, order, extreme[extreme.size - order.among :])
    return FlipCounts(extreme, draws, exact=False, runs=runs)


def _extreme(flipped: Real, totals: Real, fans: Sequence[Fan]) -> IntArray:
    """Extreme counts of all fans in some draws; a tile of spokes meets all hubs while it is hot."""
    counts = np.zeros(sum(fan.stop - fan.start for fan in fans), dtype=np.int64)
    gaps = np.empty((_TILE, flipped.shape[1]), dtype=flipped.dtype)
    reached = np.empty(gaps.shape, dtype=np.bool_)
    possible = _possible(flipped, totals, fans)
    places = fan_slices(fans)
    for first in range(0, len(flipped), _TILE):
        for fan, place, within in zip(fans, places, possible, strict=True):
            start, stop = max(first, fan.start), min(first + _TILE, fan.stop)
            near = start + np.flatnonzero(within[start - fan.start : max(stop - fan.start, 0)])
            if start >= stop or not near.size:
                continue
            gap, true = gaps[: near.size], reached[: near.size]
            spokes = flipped[start:stop] if near.size == stop - start else flipped[near]
            np.subtract(spokes, flipped[fan.hub], out=gap)
            np.abs(gap, out=gap)
            np.greater_equal(gap, np.abs(totals[near] - totals[fan.hub])[:, None], out=true)
            counts[place.start + near - fan.start] = [np.count_nonzero(row) for row in true]
    return counts


def _possible(flipped: Real, totals: Real, fans: Sequence[Fan]) -> list[NDArray[np.bool_]]:
    """For each fan, whether the ranges of a spoke's and the hub's sums let any draw be extreme."""
    low, high = flipped.min(axis=1), flipped.max(axis=1)
    found = []
    for fan in fans:
        spokes = slice(fan.start, fan.stop)
        reach = np.maximum(high[spokes] - low[fan.hub], high[fan.hub] - low[spokes])
        found.append(reach >= np.abs(totals[spokes] - totals[fan.hub]))
    return found
