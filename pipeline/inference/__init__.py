"""Intervals, tests, ranks and groups of models on the common core (docs/statistics.md).

::

    matrix -> analysis -> bootstrap, intervals -> exact       scores, bands, ranks
                 |-> contrasts -> fans, flips -> multiplicity  p values, Holm, groups
                 |-> panels                                    two panels compared
                 `-> results                                   what the stage gets
    streams    draws, the same on every machine; workers    a few threads, results in order

>>> import numpy as np
>>> from pipeline.inference.multiplicity import holm
>>> holm(np.array([1, 3, 2]), 100).tolist()
[3, 4, 4]
"""

from __future__ import annotations

from pipeline.inference.analysis import Settings, analyse
from pipeline.inference.matrix import ScoreMatrix
from pipeline.inference.panels import PanelAgreement
from pipeline.inference.results import Analysis, Contrast, Contrasts, Interval, Standing

__all__ = [
    "Analysis",
    "Contrast",
    "Contrasts",
    "Interval",
    "PanelAgreement",
    "ScoreMatrix",
    "Settings",
    "Standing",
    "analyse",
]
