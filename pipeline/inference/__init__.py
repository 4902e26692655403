"""Intervals, tests, ranks and groups of models on the common core (docs/statistics.md)."""

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
