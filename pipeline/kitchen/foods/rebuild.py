"""Makes the food table from its source and our names, and compares it with the one that is here."""

from __future__ import annotations

import csv
import io
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import ProofError, ReleaseError
from pipeline.files import read_bytes, write_bytes
from pipeline.kitchen.check.foods import read_foods
from pipeline.kitchen.foods import FOODS, NAMES
from pipeline.tags import read_csv

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check", "rebuild"]

_FACTS = {
    "kcal": "kcal_c",
    "protein_g": "protein_c",
    "carb_g": "carb_c",
    "sugars_g": "sugars_c",
    "fat_g": "fat_c",
    "fibre_g": "fibre_c",
    "iron_mg": "iron_c",
    "sodium_mg": "sodium_c",
}
"""Columns of the source, and what their hundredths are called here."""

_NEEDED = ("kcal", "protein_g", "fat_g", "sodium_mg")
_SOURCES = {
    "usda:sr_legacy_food": "USDA FoodData Central, SR Legacy",
    "usda:foundation_food": "USDA FoodData Central, Foundation Foods",
    "usda:survey_fndds_food": "USDA FoodData Central, FNDDS",
}
_FILLED = "zero-filled "
_NUMBER = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,4})?")
_LIMIT = 2**22
_REMEDY = "Mend the source."


class _Names(NamedTuple):
    aliases: str
    left_out: str


def rebuild(source: Path, names: Path = NAMES) -> str:
    """The table as CSV text, foods in the order of their keys.

    Parameters
    ----------
    source
        CSV with a row a food: key, facts per 100 g, source, source_name, note.
    names
        Our names.

    Raises
    ------
    ReleaseError
        A row of either file is wrong, a food stands twice, comes from elsewhere or is not checked
        and not left out by reason, or a name is of no food; names file and row.
    """
    ours = {
        row["key"]: _Names(row["aliases"], row["left_out"])
        for _, row in read_csv(names, ("key", "aliases", "left_out"))
    }
    found: dict[str, list[str]] = {}
    left_out = set()
    columns = ("key", *_FACTS, "source", "source_name", "note")
    for where, row in read_csv(source, columns):
        key = row["key"]
        named = ours.get(key, _Names("", ""))
        if key in found or key in left_out:
            raise _refuse("a food once", key, where)
        if named.left_out:
            left_out.add(key)
            continue
        if row["source"] not in _SOURCES or row["note"] == "verify":
            expected = "a checked food of FoodData Central, or a reason to leave it out"
            raise _refuse(expected, f"{key} of {row['source']} {row['note']}", where)
        known = row | dict.fromkeys(_unknown(row["note"], where), "")
        facts = [_hundredths(known, column, where) for column in _FACTS]
        found[key] = [key, *facts, _SOURCES[row["source"]], row["source_name"], named.aliases]
    unknown = sorted(set(ours) - set(found) - left_out)
    if unknown:
        raise _refuse("names of foods of the source", unknown[0], str(names))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["key", *_FACTS.values(), "source", "source_name", "aliases"])
    writer.writerows(found[key] for key in sorted(found))
    return text.getvalue()


def check(source: Path, *, write: bool = False) -> str:
    """Rebuild the table, write it if wanted, and say what it holds.

    Raises
    ------
    ProofError
        The table that is here is not what the source and our names give.
    ReleaseError
        As `rebuild`, or two foods share a form.
    """
    made = rebuild(source).encode()
    if write:
        write_bytes(FOODS, made)
    elif read_bytes(FOODS, _LIMIT, ReleaseError) != made:
        remedy = "Run again with --write, and look at what changed."
        raise ProofError("the table that the source gives", "another", str(FOODS), remedy)
    table = read_foods(FOODS)
    names = sum(len(food.aliases) for food in table.foods)
    return f"{len(table.foods)} foods, {names} other names, digest {table.digest}"


def _unknown(note: str, where: str) -> list[str]:
    """Facts that the source has as 0 for want of a value: here they are blank."""
    columns = note.removeprefix(_FILLED).split("+") if note else []
    if note and (not note.startswith(_FILLED) or not set(columns) <= set(_FACTS)):
        raise _refuse(f"no note, or {_FILLED!r} and columns", note, f"{where}, note")
    return columns


def _hundredths(row: dict[str, str], column: str, where: str) -> str:
    """A quantity in hundredths, halves up; blank where the source has none."""
    text = row[column]
    if text == "" and column not in _NEEDED:
        return ""
    if not _NUMBER.fullmatch(text):
        raise _refuse("a number of up to four places", text, f"{where}, {column}")
    return str(int((Decimal(text) * 100).quantize(Decimal(1), ROUND_HALF_UP)))


def _refuse(expected: str, found: str, where: str) -> ReleaseError:
    return ReleaseError(expected, found, where, _REMEDY)
