"""Ingredient tags as they stand in CSV files, checked: what all sources share (docs/bundle.md).

What a spreadsheet or a data frame makes of a file is read where it has one meaning: a byte-order
mark, any line end, semicolons or tabs between fields, `TRUE`, blank rows, blank columns at the end.
"""

from __future__ import annotations

import csv
import difflib
import io
import itertools
import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

from pipeline.errors import ReleaseError
from pipeline.files import read_bytes
from schemas.release import CORE_CATEGORIES, CUISINES, NAME_LENGTH, UNIVERSAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = [
    "CATEGORIES",
    "UNKNOWN_NOVA",
    "CsvRow",
    "Mistakes",
    "checked_name",
    "diet",
    "nova",
    "placed",
    "read_csv",
    "regions",
    "truth",
    "whole_number",
]

CATEGORIES = (*CORE_CATEGORIES, "Pantry")
"""Categories that an ingredient can have."""

UNKNOWN_NOVA = ("", "nan", "na", "n/a", "#n/a", "<na>", "none", "null")
"""Spellings of a NOVA group that nobody knows, in lower case: those of spreadsheets and pandas."""

_CSV_LIMIT = 256 * 2**20
_FIELD_LIMIT = 10_000
_SHOWN = 20
_DELIMITERS = (",", ";", "\t")
_WIDE = (b"\xff\xfe", b"\xfe\xff")

T = TypeVar("T")


class CsvRow(NamedTuple):
    """A row of a CSV file: its place (`file, row N`, the header being row 1), and its fields."""

    where: str
    fields: dict[str, str]


class Mistakes:
    """Mistakes of a source in the order in which they are met, so that all are told together."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[ReleaseError] = []

    def note(self, problem: ReleaseError) -> None:
        """Keep a mistake; of many the first ones only."""
        self.count += 1
        if len(self._first) < _SHOWN:
            self._first.append(problem)

    def take(self, read: Callable[[str, str], T], row: CsvRow, column: str, otherwise: T) -> T:
        """What a field says, or a value in its place where it is a mistake."""
        try:
            return read(row.fields[column], f"{row.where}, {column}")
        except ReleaseError as problem:
            self.note(problem)
            return otherwise

    def refuse_any(self, folder: Path) -> None:
        """Refuse the source of a folder where there was a mistake.

        Raises
        ------
        ReleaseError
            The one mistake; or a line that counts them, and a line for each of the first twenty.
        """
        if not self.count:
            return
        if self.count == 1:
            raise self._first[0]
        told = [
            f"{problem.where.removeprefix(f'{folder}/')}: expected {problem.expected}, "
            f"found {problem.found}"
            for problem in self._first
        ]
        more = self.count - len(told)
        raise ReleaseError(
            "a sound source",
            f"{self.count:,} mistakes",
            str(folder),
            "Mend them and run again; docs/bundle.md says what every column takes.",
            [*told, *([f"and {more:,} more"] if more else [])],
        )


def _at_once(problem: ReleaseError) -> NoReturn:
    raise problem


def read_csv(
    path: Path, columns: tuple[str, ...], note: Callable[[ReleaseError], None] = _at_once
) -> Iterator[CsvRow]:
    """Rows of a CSV file, every one as long as the header; blank rows and columns do not count.

    Parameters
    ----------
    path
        The file.
    columns
        Columns that it must have; it may have others.
    note
        Told of every row that has another length than the header; such a row is left out.

    Raises
    ------
    ReleaseError
        The file is missing, unsafe, no UTF-8 or CSV, or lacks a column.
    """
    data = read_bytes(path, _CSV_LIMIT, ReleaseError)
    if data.startswith(_WIDE):
        raise _refuse("UTF-8", "UTF-16", str(path), "Save it as CSV UTF-8.")
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    csv.field_size_limit(_FIELD_LIMIT)
    number = 0
    try:
        first = lines.readline()
        reader = csv.reader(itertools.chain([first], lines), strict=True, delimiter=_cut(first))
        header = _header(next(reader, []), first, columns, path)
        number = 1
        for number, row in enumerate(reader, start=2):
            if not any(map(str.strip, row)):
                continue
            where = f"{path}, row {number}"
            if len(row) < len(header) or any(map(str.strip, row[len(header) :])):
                note(_refuse(f"{len(header)} fields", str(len(row)), where))
            else:
                yield CsvRow(where, dict(zip(header, row, strict=False)))
    except UnicodeDecodeError:
        raise _not_utf8(data, path) from None
    except csv.Error as problem:
        found = str(problem)
        expected = f"CSV with fields of at most {_FIELD_LIMIT:,} characters"
        raise _refuse(expected, found, f"{path}, row {number + 1}") from problem


def checked_name(text: str, where: str) -> str:
    """Checked name. Raises `ReleaseError` where it is too long or holds what nobody sees."""
    if not text:
        raise _refuse("a name", "none", where)
    if len(text) > NAME_LENGTH:
        raise _refuse(f"at most {NAME_LENGTH} characters", f"{len(text):,} characters", where)
    if text != text.strip() or not text.isprintable():
        expected = "a name of printable characters without blanks around it"
        raise _refuse(expected, ascii(text), where)
    return text


def regions(text: str, where: str) -> tuple[str, ...]:
    """Checked regions, in the order of `CUISINES`.

    Raises
    ------
    ReleaseError
        A region is unknown, repeated, or stands beside `universal`.
    """
    parts = tuple(part.strip() for part in text.split(";"))
    if parts == (UNIVERSAL,):
        return parts
    unknown = [part for part in parts if part not in CUISINES]
    if unknown or len(set(parts)) != len(parts):
        expected = f"{UNIVERSAL}, or some of {', '.join(CUISINES)} once each, joined by ;"
        raise _refuse(expected, repr(text), where)
    return tuple(cuisine for cuisine in CUISINES if cuisine in parts)


def placed(category: str, where: str) -> str:
    """Checked category. Raises `ReleaseError` where it is unknown."""
    found = category.strip()
    if found not in CATEGORIES:
        raise _refuse(f"one of {', '.join(CATEGORIES)}", repr(category), where)
    return found


def truth(text: str, where: str) -> bool:
    """Checked flag, in upper or lower case. Raises `ReleaseError` where it is none."""
    found = text.strip().lower()
    if found not in {"true", "false"}:
        raise _refuse("true or false", repr(text), where)
    return found == "true"


def diet(vegetarian: bool, vegan: bool, where: str) -> dict[str, bool]:
    """Checked diet flags. Raises `ReleaseError` where they contradict each other."""
    if vegan and not vegetarian:
        raise _refuse("vegan only with vegetarian", "vegan but not vegetarian", where)
    return {"vegetarian": vegetarian, "vegan": vegan}


def nova(text: str, where: str) -> int | None:
    """Checked NOVA group, none where unknown. Raises `ReleaseError` where it is no group."""
    found = text.strip()
    if found.lower() in UNKNOWN_NOVA:
        return None
    match = re.fullmatch(r"([1-4])(?:[.,]0*)?", found)
    if not match:
        raise _refuse("a NOVA group from 1 to 4, or blank where unknown", repr(text), where)
    return int(match[1])


def whole_number(text: str, where: str) -> int:
    """Checked non-negative whole number. Raises `ReleaseError` where it is none."""
    match = re.fullmatch(r"([0-9]{1,15})(?:\.0*)?", text.strip())
    if not match:
        raise _refuse("a whole number", repr(text), where)
    return int(match[1])


def _cut(first: str) -> str:
    """What stands between the fields of a header: the one of three that stands there most."""
    return max(_DELIMITERS, key=first.count)


def _header(names: Sequence[str], first: str, columns: tuple[str, ...], path: Path) -> list[str]:
    """Names of a header's columns, without blank ones at its end."""
    if first.lstrip('"').lower().startswith("sep="):
        raise _refuse("the columns' names", repr(first.strip()), f"{path}, row 1",
                      "Remove this line, which only some spreadsheets read.")  # fmt: skip
    header = [one.strip() for one in names]
    while header and not header[-1]:
        header.pop()
    missing = [one for one in columns if one not in header]
    if missing:
        found = ", ".join(f"no column {one}{_like(one, header)}" for one in missing)
        raise _refuse(f"columns {', '.join(columns)}", found, str(path))
    twice = next((one for place, one in enumerate(header) if one in header[:place]), None)
    if twice is not None:
        raise _refuse("every column once", f"a column twice: {twice!r}", str(path))
    return header


def _like(name: str, header: Sequence[str]) -> str:
    """The column that may be meant, where one is spelt much like it."""
    by_case = {one.lower(): one for one in header}
    close = difflib.get_close_matches(name, by_case, n=1, cutoff=0.5)
    return f" (but {by_case[close[0]]})" if close else ""


def _not_utf8(data: bytes, path: Path) -> ReleaseError:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        row = data.count(b"\n", 0, problem.start) + 1
        found = f"byte 0x{data[problem.start]:02x} ({problem.reason})"
        return _refuse("UTF-8", found, f"{path}, row {row}", "Save it as CSV UTF-8.")
    return _refuse("UTF-8", "other bytes", str(path), "Save it as CSV UTF-8.")


def _refuse(
    expected: str, found: str, where: str, remedy: str = "Mend the source and run again."
) -> ReleaseError:
    return ReleaseError(expected, found, where, remedy)
