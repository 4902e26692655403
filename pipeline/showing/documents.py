"""Tables as Markdown and CSV. Text from elsewhere is made inert in each."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from pipeline.showing.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.showing.view import Grid, View

__all__ = ["csv_lines", "csv_table", "markdown_text", "pipe_table", "safe_cell"]

_FORMULA_START = ("=", "+", "-", "@", "'")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&:])")


def markdown_text(view: View) -> str:
    """A view as Markdown, its tables as pipe tables."""
    parts = [f"# {_inert(view.title)}"]
    for grid in view.grids:
        heading = [f"## {_inert(grid.title)}"] if grid.title else []
        parts.append("\n\n".join([*heading, pipe_table(grid)]))
    parts.append("\n".join(f"- {_inert(note)}" for note in view.notes))
    return "\n\n".join(parts) + "\n"


def pipe_table(grid: Grid) -> str:
    """A table of Markdown, its text inert."""
    ruler = ["---:" if i in grid.numeric else ":---" for i in range(len(grid.headings))]
    rows = [grid.headings, ruler, *grid.rows]
    return "\n".join(
        "| " + " | ".join(cell if row is ruler else _inert(cell) for cell in row) + " |"
        for row in rows
    )


def csv_lines(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def csv_table(grid: Grid) -> str:
    """Numbers stay as they are; text that a spreadsheet would run is made text."""
    rows = [
        [visible(cell) if i in grid.numeric else safe_cell(cell) for i, cell in enumerate(row)]
        for row in grid.rows
    ]
    return csv_lines([[safe_cell(heading) for heading in grid.headings], *rows])


def safe_cell(text: str) -> str:
    """A text cell that a spreadsheet shows as text, and in which nothing is hidden.

    Less the quotation mark before it, a cell is the text as `visible` shows it.
    """
    text = visible(text)
    return f"'{text}" if text.startswith(_FORMULA_START) else text


def _inert(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", visible(text))
