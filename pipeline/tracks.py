"""All tracks of the project."""

from __future__ import annotations

from pipeline.portfolio import PORTFOLIO

__all__ = ["TRACKS"]

TRACKS = (PORTFOLIO,)
