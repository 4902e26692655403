"""For papers: every table as LaTeX, Markdown and CSV, every figure as PNG.

All of them come from the same tables as the page; nothing is typed by hand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipeline.report.documents import csv_lines, pipe_table, safe_cell
from pipeline.report.drawing import picture
from pipeline.report.figures import pairs_grid
from pipeline.report.terminal import visible
from pipeline.report.views import diagnostics_grid, leaderboard_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.report.drawing import Figure
    from pipeline.report.sources import Sources
    from pipeline.report.views import Grid

__all__ = ["latex_table", "latex_text", "paper_files"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "-": "{-}",
    "†": r"\dag{}",
    "…": r"\ldots{}",
}
_PLAIN = re.compile(r"[ !(-,./0-9:;=?@A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff*+]")


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
        files[f"{name}.csv"] = _csv_table(grid).encode("utf-8")
    return files | {f"{figure.name}.png": picture(figure.svg) for figure in figures}


def latex_table(grid: Grid) -> str:
    """A `tabular` for the package booktabs; text cannot leave its cell."""
    columns = "".join("r" if i in grid.numeric else "l" for i in range(len(grid.headings)))
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in (grid.headings, *grid.rows)]
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{columns}}}",
            r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}", "",
        ]
    )  # fmt: skip


def latex_text(text: str) -> str:
    """Text that LaTeX sets as it is; what its usual fonts lack stands as `U+` and a number."""
    return "".join(_latex_character(character) for character in visible(text))


def _latex_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    return character if _PLAIN.fullmatch(character) else f"{{[}}U+{ord(character):04X}{{]}}"


def _csv_table(grid: Grid) -> str:
    """Numbers stay as they are; text that a spreadsheet would run is made text."""
    rows = [
        [cell if i in grid.numeric else safe_cell(cell) for i, cell in enumerate(row)]
        for row in grid.rows
    ]
    return csv_lines([list(grid.headings), *rows])
