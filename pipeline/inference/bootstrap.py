"""The paired cluster bootstrap: one set of resampled clusters for all models and for chance.

A replicate draws as many clusters as there are, with replacement. A family's resampled mean is
sum(count * score) / sum(count) over its tasks, and families weigh the same.

See docs/statistics.md, and Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6
and 13.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import (
    LOWER,
    NANO,
    UPPER,
    matmul_dtype,
    order_statistics,
    product,
    quantile,
    round_fraction,
    sample_sd,
    to_units,
)
from pipeline.inference.matrix import MAX_SCORE_BPS
from pipeline.inference.results import Interval
from pipeline.inference.workers import run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.exact import Real
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.streams import DrawStream, Page, Role
    from pipeline.progress import Progress

__all__ = [
    "Spread",
    "rank_intervals",
    "resampled_scores",
    "score_spread",
]

_MAX_T = Fraction(19, 20)
_T_UNIT = 10**12


class Spread(NamedTuple):
    """Uncertainty of scores, per model.

    Attributes
    ----------
    se_nanobps
        Standard errors (ddof 1).
    pointwise_nanobps
        2.5 and 97.5 percentiles.
    simultaneous_nanobps
        Score ± critical value * SE, not clipped to 0..100.
    critical_nano
        95th percentile of the largest |resampled - score| / SE over models, times 10^9. A model
        whose resampled scores never vary takes no part in the maximum.
    """

    se_nanobps: tuple[int, ...]
    pointwise_nanobps: tuple[Interval, ...]
    simultaneous_nanobps: tuple[Interval, ...]
    critical_nano: int


class _Design(NamedTuple):
    """What a page of counts is multiplied with, shape (C, F * (rows + 1)).

    For each family the sums of all rows over a cluster's tasks, then the number of these tasks.
    """

    table: Real
    families: int


def resampled_scores(
    matrix: ScoreMatrix,
    stream: DrawStream,
    role: Role,
    *,
    draws: int,
    block: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> IntArray:
    """Scores of all models, and of chance as the last row, in every replicate.

    Parameters
    ----------
    matrix
        M models on T tasks.
    stream, role
        Source of the draws.
    draws
        Number of replicates B.
    block
        Replicates whose family sums are held at once, per thread.
    threads
        See `run_jobs`.
    progress
        Called with replicates done and B.

    Returns
    -------
    IntArray
        Shape (M+1, B), in 10^-9 basis points.

    Raises
    ------
    StatisticsError
        Sums would not be exact, or some family hardly ever appears in a replicate.
    """
    sizes = matrix.cluster_family_sizes()
    dtype = matmul_dtype(matrix.clusters * int(sizes.max()) * MAX_SCORE_BPS)
    table = np.concatenate([matrix.cluster_family_sums(), sizes[:, :, None]], axis=2)
    design = _Design(table.reshape(matrix.clusters, -1).astype(dtype), matrix.families)
    scores = np.empty((matrix.models + 1, draws), dtype=np.int64)
    pages = stream.bootstrap(sizes, draws, role)
    done = 0
    for rows in run_jobs((partial(_fill, page, design, scores, block) for page in pages), threads):
        done += rows
        if progress is not None:
            progress(done, draws)
    return scores


def _fill(page: Page, design: _Design, scores: IntArray, block: int) -> int:
    """Write one page's scores into its columns; returns the number of its replicates."""
    counts = page.draw()
    for first in range(0, page.rows, block):
        part = counts[first : first + block].astype(design.table.dtype, copy=False)
        place = page.start + first
        scores[:, place : place + len(part)] = _scores(part, design).T
    return page.rows


def _scores(counts: Real, design: _Design) -> IntArray:
    """Scores of (block, rows) in 10^-9 basis points; families are added in their order."""
    found = product(counts, design.table).reshape(len(counts), design.families, -1)
    sums, sizes = found[..., :-1], found[..., -1:]
    total = np.divide(sums[:, 0], sizes[:, 0], dtype=np.float64)
    for family in range(1, design.families):
        total += np.divide(sums[:, family], sizes[:, family], dtype=np.float64)
    total /= design.families
    return to_units(total, NANO)


def score_spread(resampled: IntArray, scores_bps: Sequence[Fraction]) -> Spread:
    """Standard errors, intervals and the simultaneous band of M models.

    Parameters
    ----------
    resampled
        Shape (M, B), in 10^-9 basis points.
    scores_bps
        The models' scores, exact.
    """
    errors, pointwise = [], []
    largest = np.zeros(resampled.shape[1], dtype=np.float64)
    centres = [round_fraction(score) for score in scores_bps]
    for row, centre in zip(resampled, centres, strict=True):
        deviations = row - centre
        error = sample_sd(deviations)
        if error > 0:
            np.maximum(largest, np.abs(deviations) / error, out=largest)
        errors.append(error)
        pointwise.append(Interval(round(quantile(row, LOWER)), round(quantile(row, UPPER))))
    critical = quantile(to_units(largest, _T_UNIT), _MAX_T) / _T_UNIT
    halves = [round(critical * error) for error in errors]
    bands = [Interval(c - half, c + half) for c, half in zip(centres, halves, strict=True)]
    return Spread(tuple(errors), tuple(pointwise), tuple(bands), round_fraction(critical))


def rank_intervals(
    resampled: IntArray,
    *,
    block: int,
    tied_in_order: bool,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Interval, ...]:
    """Central 95% of each model's rank over replicates, rounded outwards.

    Parameters
    ----------
    resampled
        Scores, shape (M, B).
    block
        Replicates ranked at once, per thread.
    tied_in_order
        Whether models that tie in a replicate rank there in the order of the rows. Else each of
        them holds all the places that they share: the first counts for its lower end, the last for
        its upper end, so that no order of rows has a say.
    """
    models, draws = resampled.shape
    held = np.zeros((2, models, models), dtype=np.int64)
    parts = (resampled[:, first : first + block] for first in range(0, draws, block))
    done = 0
    jobs = (partial(_rank_counts, part, tied_in_order) for part in parts)
    for counts in run_jobs(jobs, threads):
        held += counts
        done += int(counts[0, 0].sum())
        if progress is not None:
            progress(done, draws)
    first, last = np.cumsum(held, axis=2)
    return tuple(_rank_interval(*ends, draws) for ends in zip(first, last, strict=True))


def _rank_counts(scores: IntArray, tied_in_order: bool) -> IntArray:
    """How often each model held each place as its first, and as its last; shape (2, M, M).

    Scores have the shape (M, block).
    """
    models = scores.shape[0]
    falling = np.ascontiguousarray(-scores.T)
    order = np.argsort(falling, axis=1, kind="stable")
    places = np.arange(models)
    ends = [places, places]
    ordered = np.take_along_axis(falling, order, axis=1)
    differs = ordered[:, 1:] != ordered[:, :-1]
    if not tied_in_order and not differs.all():
        edge = np.ones((len(order), 1), dtype=np.bool_)
        opens, closes = np.hstack([edge, differs]), np.hstack([differs, edge])
        last = np.where(closes, places, models)[:, ::-1]
        ends = [
            np.maximum.accumulate(np.where(opens, places, 0), axis=1),
            np.minimum.accumulate(last, axis=1)[:, ::-1],
        ]
    counts = [np.bincount((order * models + end).ravel(), minlength=models**2) for end in ends]
    return np.stack(counts).reshape(2, models, models).astype(np.int64)


def _rank_interval(first: IntArray, last: IntArray, draws: int) -> Interval:
    """Interval from the cumulative counts of one model's first and last places."""
    places = [order_statistics(draws, level) for level in (LOWER, UPPER)]
    ends = [
        tuple(int(np.searchsorted(below, at, side="right")) + 1 for at in (p.low, p.high))
        for below, p in zip((first, last), places, strict=True)
    ]
    exact = [
        low + Fraction((high - low) * p.weight, p.scale)
        for (low, high), p in zip(ends, places, strict=True)
    ]
    return Interval(exact[0].__floor__(), exact[1].__ceil__())
