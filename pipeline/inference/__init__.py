"""Intervals, tests, ranks and groups of models on the common core (docs/statistics.md).

Two contracts: ``published`` and ``calibrated`` (decision 080). Under ``calibrated`` an `Analysis`
carries a `Calibrated` with what may be claimed.

::

    matrix -> analysis -> bootstrap, intervals -> exact       scores, bands, ranks
                 |-> contrasts -> fans, flips -> multiplicity  p values, Holm, groups
                 |-> panels                                    two panels compared
                 `-> results                                   what the stage gets
                 `-> calibrated -> stepdown, ranksets, bands   what may be claimed
                          `-> guessers, attainable             chance, and what cannot be told
    settings   seed, draws, contract; planning    what tasks can tell apart
    streams    draws, the same on every machine; familysums, workers    sums, in order

>>> import numpy as np
>>> from pipeline.inference.multiplicity import holm
>>> holm(np.array([1, 3, 2]), 100).tolist()
[3, 4, 4]
"""

from __future__ import annotations

from pipeline.inference.analysis import analyse
from pipeline.inference.attainable import Limit
from pipeline.inference.bands import Band
from pipeline.inference.guessers import Guessers
from pipeline.inference.matrix import ScoreMatrix
from pipeline.inference.panels import PanelCorrelations
from pipeline.inference.ranksets import RankPlace
from pipeline.inference.results import (
    Analysis,
    Calibrated,
    Contrasts,
    InferredContrast,
    InferredStanding,
    Interval,
)
from pipeline.inference.settings import InferenceName, Settings

__all__ = [
    "Analysis",
    "Band",
    "Calibrated",
    "Contrasts",
    "Guessers",
    "InferenceName",
    "InferredContrast",
    "InferredStanding",
    "Interval",
    "Limit",
    "PanelCorrelations",
    "RankPlace",
    "ScoreMatrix",
    "Settings",
    "analyse",
]
