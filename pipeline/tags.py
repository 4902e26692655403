"""Ingredient tags as they stand in CSV files, checked: what all sources share (spec 1)."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from pipeline.errors import ReleaseError
from pipeline.files import read_bytes
from schemas.release import CORE_CATEGORIES, CUISINES, UNIVERSAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["CATEGORIES", "diet", "nova", "placed", "read_csv", "regions", "whole_number"]

CATEGORIES = (*CORE_CATEGORIES, "Pantry")
"""Categories that an ingredient can have."""

_CSV_LIMIT = 512 * 2**20
_FIELD_LIMIT = 10_000
_UNKNOWN_NOVA = ("", "nan")
_BOOLEANS = {"True": True, "False": False, "true": True, "false": False}


def read_csv(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a CSV file with their place (`file, row N`), every row as long as the header.

    Raises
    ------
    ReleaseError
        The file is missing, unsafe, no UTF-8 or CSV, lacks a column, or a row has another length.
    """
    try:
        text = read_bytes(path, _CSV_LIMIT, ReleaseError).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise _refuse("UTF-8", f"byte {problem.start}: {problem.reason}", str(path)) from problem
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        missing = [name for name in columns if name not in header]
        if missing or len(set(header)) != len(header):
            found = f"no column {', '.join(missing)}" if missing else "a column twice"
            raise _refuse(f"columns {', '.join(columns)}", found, str(path))
        for number, row in enumerate(reader, start=2):
            where = f"{path}, row {number}"
            if len(row) != len(header):
                raise _refuse(f"{len(header)} fields", str(len(row)), where)
            yield where, dict(zip(header, row, strict=True))
    except csv.Error as problem:
        raise _refuse("CSV", str(problem), f"{path}, row {reader.line_num}") from problem


def regions(text: str, where: str) -> tuple[str, ...]:
    """Checked regions, in the order of `CUISINES`.

    Raises
    ------
    ReleaseError
        A region is unknown, repeated, or stands beside `universal`.
    """
    parts = tuple(text.split(";"))
    if parts == (UNIVERSAL,):
        return parts
    unknown = [part for part in parts if part not in CUISINES]
    if unknown or len(set(parts)) != len(parts):
        raise _refuse(
            "universal, or some of the eight cuisines once each", text, f"{where}, region"
        )
    return tuple(cuisine for cuisine in CUISINES if cuisine in parts)


def placed(category: str, where: str) -> str:
    """Checked category. Raises `ReleaseError` where it is unknown."""
    if category not in CATEGORIES:
        raise _refuse(f"one of {', '.join(CATEGORIES)}", repr(category), f"{where}, category")
    return category


def diet(vegetarian: str, vegan: str, where: str) -> dict[str, bool]:
    """Checked diet flags. Raises `ReleaseError` where they contradict each other."""
    for field, text in (("vegetarian", vegetarian), ("vegan", vegan)):
        if text not in _BOOLEANS:
            raise _refuse("true or false", repr(text), f"{where}, {field}")
    if _BOOLEANS[vegan] and not _BOOLEANS[vegetarian]:
        raise _refuse("vegan only with vegetarian", "vegan but not vegetarian", f"{where}, vegan")
    return {"vegetarian": _BOOLEANS[vegetarian], "vegan": _BOOLEANS[vegan]}


def nova(text: str, where: str) -> int | None:
    """Checked NOVA group, none where unknown. Raises `ReleaseError` where it is no group."""
    if text in _UNKNOWN_NOVA:
        return None
    match = re.fullmatch(r"([1-4])(?:\.0)?", text)
    if not match:
        raise _refuse("a NOVA group from 1 to 4, or blank", repr(text), f"{where}, nova")
    return int(match[1])


def whole_number(text: str, where: str) -> int:
    """Checked non-negative whole number. Raises `ReleaseError` where it is none."""
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise _refuse("a whole number", repr(text), where)
    return int(text)


def _refuse(expected: str, found: str, where: str) -> ReleaseError:
    return ReleaseError(expected, found, where, "Mend the source and run again.")
