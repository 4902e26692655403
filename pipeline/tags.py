"""Ingredient tags as they stand in CSV files, checked: what all sources share (spec 1)."""

from __future__ import annotations

import re

from pipeline.errors import ReleaseError
from schemas.release import CORE_CATEGORIES, CUISINES, UNIVERSAL

__all__ = ["CATEGORIES", "diet", "nova", "placed", "regions", "whole_number"]

CATEGORIES = (*CORE_CATEGORIES, "Pantry")
"""Categories that an ingredient can have."""

_UNKNOWN_NOVA = ("", "nan")
_BOOLEANS = {"True": True, "False": False, "true": True, "false": False}


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
