"""Intervals, tests, ranks and groups of models on the common core (portfolio spec, section 5)."""

from __future__ import annotations

from pipeline.statistics.analysis import Settings, analyse
from pipeline.statistics.matrix import ScoreMatrix
from pipeline.statistics.panels import PanelAgreement
from pipeline.statistics.results import Analysis, Contrast, Contrasts, Interval, Standing

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
