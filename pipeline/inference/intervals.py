"""Percentile intervals of many contrasts from one bootstrap of the rows that they compare.

A contrast's bootstrap is the difference of two rows' bootstraps. Only a few order statistics near
both ends of the differences are wanted, so most values are left aside before any selection.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import LOWER, UPPER, interpolate, order_statistics
from pipeline.inference.fans import fan_slices
from pipeline.inference.workers import run_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.inference.exact import OrderStatistics
    from pipeline.inference.fans import Fan
    from pipeline.inference.matrix import IntArray
    from pipeline.progress import Progress

__all__ = ["contrast_intervals"]

_SAMPLE = 2048
# Twice the tail that is wanted, so that the sample's error hardly ever costs a full selection.
_SAMPLE_TAIL = int(2 * LOWER * _SAMPLE)


class _Levels(NamedTuple):
    lower: OrderStatistics
    upper: OrderStatistics


def contrast_intervals(
    resampled: IntArray,
    fans: Sequence[Fan],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
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
    jobs: Iterator[partial[IntArray]] = (partial(_fan_ends, resampled, fan, levels) for fan in fans)
    for part, found in zip(slices, run_jobs(jobs, threads), strict=True):
        ends[:, part] = found
        if progress is not None:
            progress(part.stop, total)
    return ends


def _fan_ends(resampled: IntArray, fan: Fan, levels: _Levels) -> IntArray:
    """Both ends of each contrast of one fan, shape (2, spokes)."""
    found = np.empty((4, fan.stop - fan.start), dtype=np.int64)
    gap = np.empty(resampled.shape[1], dtype=np.int64)
    for column, spoke in enumerate(range(fan.start, fan.stop)):
        left, right = (fan.hub, spoke) if fan.hub_is_left else (spoke, fan.hub)
        np.subtract(resampled[left], resampled[right], out=gap)
        found[:, column] = _tail_values(gap, levels)
    return np.stack(
        [
            interpolate(found[0], found[1], levels.lower),
            interpolate(found[2], found[3], levels.upper),
        ]
    )


def _tail_values(values: IntArray, levels: _Levels) -> IntArray:
    """The order statistics at both levels: lower low, lower high, upper low, upper high."""
    lower, upper = levels
    places = [lower.low, lower.high, upper.low, upper.high]
    if values.size > 2 * _SAMPLE:
        sample = np.partition(values[:_SAMPLE], [_SAMPLE_TAIL, _SAMPLE - 1 - _SAMPLE_TAIL])
        below = np.compress(values <= sample[_SAMPLE_TAIL], values)
        above = np.compress(values >= sample[_SAMPLE - 1 - _SAMPLE_TAIL], values)
        # What was left aside on the other side of `above` shifts its places.
        aside = values.size - above.size
        if lower.high < below.size and aside <= upper.low:
            below.partition([lower.low, lower.high])
            above.partition([upper.low - aside, upper.high - aside])
            return np.concatenate([below[places[:2]], above[np.array(places[2:]) - aside]])
    return np.partition(values, sorted(set(places)))[places]
