"""For papers: every table as LaTeX, Markdown and CSV, every figure as PNG.

All of them come from the same tables as the page; nothing is typed by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.report.contents import diagnostics_grid
from pipeline.report.figures import pairs_grid
from pipeline.report.leaderboard import leaderboard_view
from pipeline.showing.documents import csv_table, pipe_table
from pipeline.showing.drawing import picture
from pipeline.showing.latex import latex_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.report.sources import Sources
    from pipeline.showing.drawing import Figure

__all__ = ["paper_files"]


def paper_files(sources: Sources, figures: Sequence[Figure]) -> dict[str, bytes]:
    """File names and contents."""
    view = leaderboard_view(sources.parameters, sources.results)
    named = {"leaderboard": view.grids[0], "task-maps": diagnostics_grid(sources.diagnostics)}
    named["denominators"] = view.grids[-1]
    named |= {figure.name: figure.grid for figure in figures}
    if sources.contrasts:
        named["contrasts"] = pairs_grid(sources, sources.contrasts)
    files: dict[str, bytes] = {}
    for name, grid in named.items():
        files[f"{name}.tex"] = latex_table(grid).encode("utf-8")
        files[f"{name}.md"] = f"{pipe_table(grid)}\n".encode()
        files[f"{name}.csv"] = csv_table(grid).encode("utf-8")
    return files | {f"{figure.name}.png": picture(figure.svg) for figure in figures}
