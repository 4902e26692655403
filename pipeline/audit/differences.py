"""What differs, named to the file, the row and the field."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.columns import row_digests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.tables import Table

__all__ = ["Difference", "compare_lines", "compare_tables", "damaged_rows", "shortened"]

_SHOWN = 20
_MISSING = "no such row"


class Difference(NamedTuple):
    """One thing that is not as it has to be.

    Attributes
    ----------
    where
        File, row and field.
    expected, found
        What follows from the inputs, and what is stored.
    """

    where: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, found {self.found}"


def compare_tables(file: str, derived: Table[Any], stored: Table[Any]) -> list[Difference]:
    """Every row and field in which a stored table differs from the one derived again.

    Parameters
    ----------
    file
        What the stored table's file is called.
    derived
        The table as it follows from its inputs.
    stored
        The table as its file states it; nothing of it need be true.
    """
    found = _header(file, derived, stored)
    if derived.root == stored.root and derived.digests == stored.digests == _digests(stored):
        return found
    ours, theirs = _by_key(derived), _by_key(stored)
    rows = list(_rows(file, derived, ours, theirs))
    if not rows and list(ours) != list(theirs):
        rows = _order(file, list(ours), list(theirs))
    if not rows and stored.digests != _digests(stored):
        rows = damaged_rows(file, stored)
    return shortened(file, rows) + found


def damaged_rows(file: str, stored: Table[Any]) -> list[Difference]:
    """Rows whose recorded digest is not that of their fields."""
    keys = _keys(stored)
    found = [
        Difference(f"{file}, row {number}, {key}, digest", actual, recorded)
        for number, (key, recorded, actual) in enumerate(
            zip(keys, stored.digests, _digests(stored), strict=True)
        )
        if recorded != actual
    ]
    return shortened(file, found)


def compare_lines(file: str, derived: bytes, stored: bytes) -> list[Difference]:
    """The first line in which a stored text differs from the one derived again."""
    if derived == stored:
        return []
    ours, theirs = (data.decode("utf-8", "backslashreplace").splitlines() for data in
                    (derived, stored))  # fmt: skip
    for number, (one, other) in enumerate(itertools.zip_longest(ours, theirs), start=1):
        if one != other:
            start = _first_difference(one or "", other or "")
            shown = (_window(one, start), _window(other, start))
            return [Difference(f"{file}, line {number}", *shown)]
    return [Difference(file, f"{len(derived)} bytes", f"{len(stored)} bytes, other line ends")]


def _header(file: str, derived: Table[Any], stored: Table[Any]) -> list[Difference]:
    ours, theirs = derived.header, stored.header
    pairs: list[tuple[str, Any, Any]] = [
        ("rows", ours.rows, theirs.rows),
        ("root", ours.root, theirs.root),
    ]
    for part in ("inputs", "about"):
        one, other = getattr(ours, part), getattr(theirs, part)
        names = sorted({*one, *other})
        pairs += [(f"{part} {name}", one.get(name), other.get(name)) for name in names]
    return [
        Difference(f"{file}, header, {name}", _text(one), _text(other))
        for name, one, other in pairs
        if one != other
    ]


def _rows(
    file: str, derived: Table[Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[Difference]:
    for key, row in ours.items():
        if key not in theirs:
            yield Difference(f"{file}, {key}", "this row", _MISSING)
        elif row != theirs[key]:
            for name in derived.model.columns():
                if row[name] != theirs[key][name]:
                    yield Difference(
                        f"{file}, {key}, {name}", _text(row[name]), _text(theirs[key][name])
                    )
    for key in theirs:
        if key not in ours:
            yield Difference(f"{file}, {key}", _MISSING, "this row")


def _order(file: str, ours: list[str], theirs: list[str]) -> list[Difference]:
    """The first place where the same rows stand in another order, or stand twice."""
    for number, (one, other) in enumerate(itertools.zip_longest(ours, theirs)):
        if one != other:
            return [Difference(f"{file}, row {number}", str(one), str(other))]
    return []


def _by_key(table: Table[Any]) -> dict[str, Any]:
    rows = table.data.drop_columns(["digest"]).to_pylist()
    found: dict[str, Any] = {}
    for key, row in zip(_keys(table), rows, strict=True):
        found[f"{key} again" if key in found else key] = row
    return found


def _keys(table: Table[Any]) -> list[str]:
    columns = [table.data.column(name).to_pylist() for name in table.model.key]
    names = table.model.key
    return [
        ", ".join(f"{name} {_text(value)}" for name, value in zip(names, key, strict=True))
        for key in zip(*columns, strict=True)
    ]


def _digests(table: Table[Any]) -> list[str]:
    return row_digests(table.model, table.data.drop_columns(["digest"]))


def shortened(file: str, found: list[Difference]) -> list[Difference]:
    """The first 20 differences, and how many more there are of one file or folder."""
    if len(found) <= _SHOWN:
        return found
    more = len(found) - _SHOWN
    return [*found[:_SHOWN], Difference(file, "no difference", f"{more} more like these")]


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes {value[:24].hex()}…"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 120 else f"{text[:119]}…"  # noqa: PLR2004  # fits a line


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _window(line: str | None, start: int) -> str:
    if line is None:
        return "no such line"
    left = max(0, start - 30)
    return f"{'…' if left else ''}{line[left : start + 60]}"
