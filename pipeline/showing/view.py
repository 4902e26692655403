"""What a command shows: a title, tables and notes for people, and a document for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Grid", "View"]


class Grid(NamedTuple):
    """A table for people: headings, rows of text, and which columns hold numbers."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int]


class View(NamedTuple):
    """What a command shows."""

    title: str
    grids: tuple[Grid, ...]
    notes: tuple[str, ...]
    document: Mapping[str, Any]
