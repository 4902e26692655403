"""Scores and bands drawn in plain characters, for any terminal, pipe and log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.report.leaderboard import leaderboard_view
from pipeline.showing.terminal import visible
from pipeline.showing.view import Grid

if TYPE_CHECKING:
    from pipeline.report.leaderboard import Results
    from pipeline.showing.view import View
    from schemas.parameters import Parameters

__all__ = ["bands_grid", "drawn_leaderboard"]

_WIDTH = 61
_TICKS = (0, 25, 50, 75, 100)
_FULL = 100 * 100 * 1_000_000
_LABEL = 24


def drawn_leaderboard(parameters: Parameters, results: Results) -> View:
    """The leaderboard with the drawing behind its first table."""
    view = leaderboard_view(parameters, results)
    return view._replace(grids=(view.grids[0], bands_grid(results), *view.grids[1:]))


def bands_grid(results: Results) -> Grid:
    """One line a ranked route: `(---o---)` is its band with the score in it, `:` is chance."""
    chance = _place(next(iter(results.chance.values())).chance_microbps)
    lines = []
    for s in results.standings:
        line = [" "] * _WIDTH
        line[chance] = ":"
        low, high = _place(s.band_low_microbps), _place(s.band_high_microbps)
        line[low : high + 1] = "-" * (high + 1 - low)
        line[low], line[high] = "(", ")"
        line[_place(s.score_microbps)] = "o"
        lines.append((results.place(s), _short(s.label), "".join(line).rstrip()))
    return Grid("Scores (o), bands and chance (:)", ("rank", "route", _scale()), tuple(lines),
                frozenset({0}))  # fmt: skip


def _short(label: str) -> str:
    """A label cut to a number of terminal cells: some characters take two, some none."""
    from rich.cells import cell_len

    text = visible(label)
    if cell_len(text) <= _LABEL:
        return text
    while cell_len(text) > _LABEL - 3:
        text = text[:-1]
    return f"{text}..."


def _place(microbps: int) -> int:
    """The column of a score, rounded half up from integers and kept within the drawing."""
    return min(max((2 * microbps * (_WIDTH - 1) + _FULL) // (2 * _FULL), 0), _WIDTH - 1)


def _scale() -> str:
    line = [" "] * (_WIDTH + 2)
    for tick in _TICKS:
        text = str(tick)
        start = max(0, _place(tick * 100 * 1_000_000) - len(text) // 2)
        line[start : start + len(text)] = text
    return "".join(line).rstrip()
