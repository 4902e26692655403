"""Shows a view on a terminal or in a pipe: at most 100 columns, colour only where it is wanted."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from pipeline.showing.view import Grid, View

__all__ = ["inert_json", "print_view", "visible"]

_WIDTH = 100
_MARKS = {"ok": "green", "differs": "bold red"}
_MARKS |= dict.fromkeys(("not checked", "not claimed", "taken as sealed"), "yellow")
"""Colours of cells that say how a check ended."""


def print_view(view: View, as_json: bool) -> None:
    """Print a view; as JSON for machines.

    Text from elsewhere (labels, prompts) is shown as it is, never as markup, and control
    characters are escaped.
    """
    if as_json:
        sys.stdout.write(inert_json(view.document) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, emoji=False)
    if not console.is_terminal or console.width > _WIDTH:
        console.width = _WIDTH
    with console.capture() as capture:
        console.print(Text(visible(view.title), style="bold"))
        for grid in view.grids:
            console.print()
            console.print(_table(grid))
        console.print()
        for note in view.notes:
            for line in note.splitlines() or [""]:
                console.print(Text(visible(line)))
    for line in capture.get().splitlines():
        sys.stdout.write(line.rstrip(" ") + "\n")


def visible(text: str) -> str:
    """Text with control, format and line-breaking characters made visible."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text.replace("\t", "    "))


def inert_json(document: Any, **form: Any) -> str:
    """A document as JSON whose text is escaped where it cannot be seen; it means the same.

    `form` is what `json.dumps` takes.
    """
    text = json.dumps(document, ensure_ascii=False, **form)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _table(grid: Grid) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text(grid.title, style="bold") if grid.title else None
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for place, heading in enumerate(grid.headings):
        side: Any = "right" if place in grid.numeric else "left"
        table.add_column(heading, justify=side, overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(visible(cell), style=_MARKS.get(cell, "")) for cell in row))
    return table
