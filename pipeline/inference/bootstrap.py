"""The paired cluster bootstrap: one set of resampled clusters for all models and for chance.

A replicate draws as many clusters as there are, with replacement. A family's resampled mean is
sum(count * score) / sum(count) over its tasks, and families weigh the same.

See docs/statistics.md, and Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6
and 13.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from pipeline.inference.exact import (
    LEVEL,
    LOWER,
    NANO,
    UPPER,
    order_statistics,
    quantile,
    sample_sd,
    to_nano,
    to_units,
)
from pipeline.inference.familysums import FamilySums
from pipeline.inference.results import Interval
from pipeline.inference.workers import run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.exact import Real
    from pipeline.inference.familysums import FamilyDraw
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.streams import Page, Role
    from pipeline.inference.workers import Drawing

__all__ = [
    "EachBlock",
    "Spread",
    "rank_intervals",
    "resampled_scores",
    "score_spread",
]

_T_UNIT = 10**12


class EachBlock(Protocol):
    """Called with every block of counts, its family sums and the replicates that they are."""

    def __call__(self, counts: Real, drawn: tuple[FamilyDraw, ...], replicates: slice) -> None:
        """Take what is wanted; blocks come from several threads, in any order."""


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


def resampled_scores(
    matrix: ScoreMatrix, drawing: Drawing, role: Role, also: EachBlock | None = None
) -> IntArray:
    """Scores of all models, and of chance as the last row, in every replicate.

    Parameters
    ----------
    matrix
        M models on T tasks.
    drawing, role
        Source of the draws; their number is that of the replicates B.
    also
        Called with every block.

    Returns
    -------
    IntArray
        Shape (M+1, B), in 10^-9 basis points.

    Raises
    ------
    InputError
        Sums would not be exact, or some family hardly ever appears in a replicate.
    """
    families = FamilySums(matrix)
    scores = np.empty((matrix.models + 1, drawing.draws), dtype=np.int64)
    pages = drawing.stream.bootstrap(matrix.cluster_family_sizes(), drawing.draws, role)
    done = 0
    jobs = (partial(_fill, page, families, scores, drawing.block, also) for page in pages)
    for rows in run_jobs(jobs, drawing.threads):
        done += rows
        drawing.progress(done, drawing.draws)
    return scores


def _fill(
    page: Page,
    families: FamilySums,
    scores: IntArray,
    block: int,
    also: EachBlock | None,
) -> int:
    """Write one page's scores into its columns; returns the number of its replicates."""
    counts = page.draw()
    for first in range(0, page.rows, block):
        part = counts[first : first + block]
        place = slice(page.start + first, page.start + first + len(part))
        drawn = families.draw(part)
        scores[:, place] = _scores(drawn).T
        if also is not None:
            also(part, drawn, place)
    return page.rows


def _scores(drawn: Sequence[FamilyDraw]) -> IntArray:
    """Scores of (block, rows) in 10^-9 basis points; families are added in their order."""
    total = np.divide(drawn[0].sums, drawn[0].sizes, dtype=np.float64)
    for family in drawn[1:]:
        total += np.divide(family.sums, family.sizes, dtype=np.float64)
    total /= len(drawn)
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
    centres = [to_nano(score) for score in scores_bps]
    for row, centre in zip(resampled, centres, strict=True):
        deviations = row - centre
        error = sample_sd(deviations)
        if error > 0:
            np.maximum(largest, np.abs(deviations) / error, out=largest)
        errors.append(error)
        pointwise.append(Interval(round(quantile(row, LOWER)), round(quantile(row, UPPER))))
    critical = quantile(to_units(largest, _T_UNIT), LEVEL) / _T_UNIT
    halves = [round(critical * error) for error in errors]
    bands = [Interval(c - half, c + half) for c, half in zip(centres, halves, strict=True)]
    return Spread(tuple(errors), tuple(pointwise), tuple(bands), to_nano(critical))


def rank_intervals(resampled: IntArray, drawing: Drawing) -> tuple[Interval, ...]:
    """Central 95% of each model's rank over replicates, rounded outwards.

    Models that tie in a replicate rank there in the order of the rows where the stream asks for it.
    Else each of them holds all the places that they share: the first counts for its lower end, the
    last for its upper end, so that no order of rows has a say.

    Parameters
    ----------
    resampled
        Scores, shape (M, B).
    drawing
        How they were drawn.
    """
    models, draws = resampled.shape
    held = np.zeros((2, models, models), dtype=np.int64)
    block = drawing.block
    parts = (resampled[:, first : first + block] for first in range(0, draws, block))
    done = 0
    jobs = (partial(_rank_counts, part, drawing.stream.tied_in_order) for part in parts)
    for counts in run_jobs(jobs, drawing.threads):
        held += counts
        done += int(counts[0, 0].sum())
        drawing.progress(done, draws)
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
