"""Which rows are compared: contrasts come in fans, one row (the hub) against a run of others.

All pairs of M models are the fans 0 against 1..M-1, 1 against 2..M-1, …; chance, the row after the
models, is the hub of one more fan. A fan is one vectorised step, and its contrasts stand in a row.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.matrix import IntArray

__all__ = ["Fan", "chance_fans", "fan_rows", "fan_slices", "pair_fans"]


class Fan(NamedTuple):
    """Contrasts of the row `hub` with the rows `start` to `stop` - 1.

    `hub_is_left` says the sign: hub minus spoke, or spoke minus hub.
    """

    hub: int
    start: int
    stop: int
    hub_is_left: bool


class ContrastRows(NamedTuple):
    """Left and right row of each contrast, shape (P,) each; a contrast is left minus right."""

    left: IntArray
    right: IntArray


def pair_fans(models: int) -> tuple[Fan, ...]:
    """All pairs i < j of models, ordered by i, then j."""
    return tuple(Fan(i, i + 1, models, hub_is_left=True) for i in range(models - 1))


def chance_fans(models: int) -> tuple[Fan, ...]:
    """Every model minus chance, where chance is the row after the models."""
    return (Fan(models, 0, models, hub_is_left=False),)


def fan_slices(fans: Sequence[Fan]) -> tuple[slice, ...]:
    """Where each fan's contrasts lie when all are written one after another."""
    ends = np.cumsum([0, *(fan.stop - fan.start for fan in fans)]).tolist()
    return tuple(slice(a, b) for a, b in itertools.pairwise(ends))


def fan_rows(fans: Sequence[Fan]) -> ContrastRows:
    """Left and right rows of the contrasts of `fans`."""
    hubs = np.concatenate([np.full(fan.stop - fan.start, fan.hub, dtype=np.int64) for fan in fans])
    spokes = np.concatenate([np.arange(fan.start, fan.stop, dtype=np.int64) for fan in fans])
    left = np.concatenate([np.full(fan.stop - fan.start, fan.hub_is_left) for fan in fans])
    return ContrastRows(np.where(left, hubs, spokes), np.where(left, spokes, hubs))
