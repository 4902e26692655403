"""Percentile intervals of many contrasts from one bootstrap of the rows that they compare.

A contrast's bootstrap is the difference of two rows' bootstraps. Only a few order statistics near
both ends of the differences are wanted. So rows are also held in whole steps of a common width that
fit 16 bits. Differences of steps, a quarter of the size, are counted up to a guess from means and
variances; the count corrects the guess; and only the few replicates around it are subtracted in
full. What is found is checked against what was left aside, and a wrong guess costs a further step
or a full selection. No guess changes a result.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import LOWER, UPPER, interpolate, order_statistics, product
from pipeline.inference.fans import fan_slices
from pipeline.inference.workers import run_jobs
from pipeline.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pipeline.inference.exact import OrderStatistics
    from pipeline.inference.fans import Fan
    from pipeline.inference.matrix import IntArray
    from pipeline.progress import Progress

__all__ = ["contrast_intervals"]

_SAMPLE = 8192
# A difference of two such numbers, less any other, fits 16 bits.
_MAX_STEPS = 2**13 - 1
# Place and density of the 97.5% point of the standard normal distribution.
_NORMAL_END = 1.96
_NORMAL_DENSITY = 0.0584
# Replicates wanted at each side of a guess, and guesses before all replicates are taken.
_ROOM = 160
_GUESSES = 4
# Differences selected from at once where all replicates are taken.
_BLOCK = 2**16


class _Levels(NamedTuple):
    lower: OrderStatistics
    upper: OrderStatistics


class _Rows(NamedTuple):
    """Resampled scores, exact and in whole steps of one width from a centre of each row.

    Attributes
    ----------
    exact, steps
        Shape (rows, B); the latter in 16 bits, rounded down.
    centres, width
        Centre of each row, and width of a step, in 10^-9 basis points.
    means, covariances
        Of the steps in the first replicates, shapes (rows,) and (rows, rows).
    """

    exact: IntArray
    steps: NDArray[np.int16]
    centres: list[int]
    width: int
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]


class _Guess(NamedTuple):
    """Where the order statistics of a fan's contrasts may stand, in steps, shape (spokes,).

    `density` is the number of replicates a step near both.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    density: NDArray[np.float64]


def contrast_intervals(
    resampled: IntArray,
    fans: Sequence[Fan],
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> IntArray:
    """Percentile intervals (95%) of the contrasts of `fans`, in their order.

    Parameters
    ----------
    resampled
        Scores of all rows that fans name, shape (rows, B), in 10^-9 basis points.
    fans
        Contrasts; P in all.
    threads
        See `run_jobs`.
    progress
        Called with contrasts done and P.

    Returns
    -------
    IntArray
        Shape (2, P): lower and upper ends in 10^-9 basis points.
    """
    draws = resampled.shape[1]
    levels = _Levels(order_statistics(draws, LOWER), order_statistics(draws, UPPER))
    slices = fan_slices(fans)
    total = slices[-1].stop if slices else 0
    ends = np.empty((2, total), dtype=np.int64)
    jobs: Iterator[partial[IntArray]]
    if draws <= _SAMPLE:
        jobs = (partial(_whole_ends, resampled, fan, levels) for fan in fans)
    else:
        rows = _in_steps(resampled)
        jobs = (partial(_fan_ends, rows, fan, levels) for fan in fans)
    for part, found in zip(slices, run_jobs(jobs, threads), strict=True):
        ends[:, part] = found
        progress(part.stop, total)
    return ends


def _in_steps(resampled: IntArray) -> _Rows:
    centres = resampled[:, 0].copy()
    farthest = max(
        max(int(row.max()) - centre, centre - int(row.min()))
        for row, centre in zip(resampled, centres.tolist(), strict=True)
    )
    width = farthest // _MAX_STEPS + 1
    steps = np.empty(resampled.shape, dtype=np.int16)
    for row, centre, out in zip(resampled, centres, steps, strict=True):
        out[:] = (row - centre) // width
    sample = steps[:, :_SAMPLE].astype(np.float32)
    means = sample.mean(axis=1, dtype=np.float64)
    sample -= means[:, None].astype(np.float32)
    covariances = product(sample, np.ascontiguousarray(sample.T)) / sample.shape[1]
    return _Rows(resampled, steps, centres.tolist(), width, means, covariances.astype(np.float64))


def _guess(rows: _Rows, fan: Fan) -> _Guess:
    spokes = slice(fan.start, fan.stop)
    own = np.diagonal(rows.covariances)
    variance = own[spokes] + own[fan.hub] - 2 * rows.covariances[fan.hub, spokes]
    spread = np.sqrt(np.maximum(variance, 1))
    middle = rows.means[fan.hub] - rows.means[spokes]
    if not fan.hub_is_left:
        middle = -middle
    ends = _NORMAL_END * spread
    density = _NORMAL_DENSITY * rows.steps.shape[1] / spread
    return _Guess(middle - ends, middle + ends, density)


def _whole_ends(resampled: IntArray, fan: Fan, levels: _Levels) -> IntArray:
    """What `_fan_ends` gives, from all replicates: with few of them, guesses cost more."""
    places = [levels.lower.low, levels.lower.high, levels.upper.low, levels.upper.high]
    found = np.empty((4, fan.stop - fan.start), dtype=np.int64)
    height = max(1, _BLOCK // resampled.shape[1])
    for first in range(fan.start, fan.stop, height):
        gaps = resampled[first : min(first + height, fan.stop)] - resampled[fan.hub]
        if fan.hub_is_left:
            np.negative(gaps, out=gaps)
        gaps.partition(sorted(set(places)), axis=1)
        found[:, first - fan.start : first - fan.start + len(gaps)] = gaps[:, places].T
    return _interpolated(found, levels)


def _fan_ends(rows: _Rows, fan: Fan, levels: _Levels) -> IntArray:
    """Both ends of each contrast of one fan, shape (2, spokes)."""
    found = np.empty((4, fan.stop - fan.start), dtype=np.int64)
    guess = _guess(rows, fan)
    draws = rows.steps.shape[1]
    gap, ahead = np.empty((2, draws), dtype=np.int16)
    room = _Room(gap, ahead, np.empty(draws, dtype=np.bool_))
    # What the last guess missed by, in replicates: contrasts of one hub are skewed alike.
    missed = [0.0, 0.0]
    for column, spoke in enumerate(range(fan.start, fan.stop)):
        left, right = (fan.hub, spoke) if fan.hub_is_left else (spoke, fan.hub)
        contrast = _Contrast.of(rows, left, right, float(guess.density[column]), room)
        for side, (places, ends) in enumerate(zip(levels, guess[:2], strict=True)):
            end = float(ends[column])
            values = contrast.at(places, end + missed[side] / contrast.density)
            found[2 * side : 2 * side + 2, column] = values.low, values.high
            missed[side] = (contrast.in_steps(values.low) - end) * contrast.density
    return _interpolated(found, levels)


def _interpolated(found: IntArray, levels: _Levels) -> IntArray:
    """Both ends, shape (2, P), from the order statistics at both, shape (4, P)."""
    return np.stack(
        [
            interpolate(found[0], found[1], levels.lower),
            interpolate(found[2], found[3], levels.upper),
        ]
    )


class _Room(NamedTuple):
    """Room for what is looked at replicate by replicate, shape (B,) each; used again and again."""

    gap: NDArray[np.int16]
    ahead: NDArray[np.int16]
    true: NDArray[np.bool_]


class _Values(NamedTuple):
    """Two order statistics."""

    low: int
    high: int


class _Contrast(NamedTuple):
    """Left minus right.

    Attributes
    ----------
    left, right
        Exact scores, shape (B,).
    offset, width
        Difference of the centres, and the width of a step.
    density
        Replicates a step in the tails.
    room
        Holds the differences of steps.
    """

    left: IntArray
    right: IntArray
    offset: int
    width: int
    density: float
    room: _Room

    @classmethod
    def of(cls, rows: _Rows, left: int, right: int, density: float, room: _Room) -> _Contrast:
        """The contrast of two rows."""
        np.subtract(rows.steps[left], rows.steps[right], out=room.gap)
        offset = rows.centres[left] - rows.centres[right]
        return cls(rows.exact[left], rows.exact[right], offset, rows.width, density, room)

    def at(self, places: OrderStatistics, guess: float) -> _Values:
        """The two order statistics that are named, from replicates near a guess.

        A difference of d steps has a value within a width of d widths. So values from `start` to
        `stop` widths on are in the order of all values once those aside are counted.
        """
        gap, ahead, true = self.room
        span = 2 * min(max(2, math.ceil(_ROOM / self.density)), _MAX_STEPS)
        for _ in range(_GUESSES):
            start = min(max(round(guess) - span // 2, -2 * _MAX_STEPS), 2 * _MAX_STEPS)
            below = int(np.count_nonzero(np.less(gap, np.int16(start), out=true)))
            # As unsigned numbers, steps before the start are the largest.
            np.subtract(gap, np.int16(start), out=ahead)
            near = np.less_equal(ahead.view(np.uint16), np.uint16(span), out=true).nonzero()[0]
            low, high = places.low - below, places.high - below
            if low >= 0 and high < near.size:
                values = self.left.take(near) - self.right.take(near)
                values.sort()
                found = _Values(int(values[low]), int(values[high]))
                if (
                    found.low >= self.offset + self.width * start
                    and found.high <= self.offset + self.width * (start + span)
                ):
                    return found
            guess = start + low / self.density
        values = self.left - self.right
        values.partition([places.low, places.high])
        return _Values(int(values[places.low]), int(values[places.high]))

    def in_steps(self, value: int) -> float:
        """Where a value stands, in steps."""
        return (value - self.offset) / self.width
