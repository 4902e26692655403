"""The starter release's facts: everyday ingredients and real dishes, by release version.

The facts lie in two CSV files beside this module. A row holds from version `since` up to version
`until` (blank: still). Both `release` (which learns vectors from the dishes) and `execute` (whose
policies know dishes) read them, so they live below both.

::

    the two CSV files -> here -> pipeline.release (vectors) -> artifacts/release
                           `---> pipeline.execute (policies) -> artifacts/execute

$ flavourbench release info
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import ReleaseError
from pipeline.identity import digest
from pipeline.tags import diet, nova, placed, read_csv, regions, truth, whole_number
from schemas.release import CUISINES

if TYPE_CHECKING:
    from schemas.record import IdentityValue

__all__ = ["FOLDER", "VERSIONS", "Dish", "StarterIngredient", "dishes_digest", "read_dish_rows",
           "read_dishes", "read_ingredients"]  # fmt: skip

FOLDER = Path(__file__).parent
"""Where the starter's CSV files lie."""

VERSIONS = (1, 2)
"""Versions of the starter release."""

_NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_DISH_SIZE = (5, 14)


class StarterIngredient(NamedTuple):
    """An ingredient as the starter's facts state it."""

    name: str
    category: str
    regions: tuple[str, ...]
    vegetarian: bool
    vegan: bool
    nova: int | None


class Dish(NamedTuple):
    """A dish: its name, its cuisine, and 5 to 14 ingredients in the order of their names."""

    name: str
    cuisine: str
    ingredients: tuple[str, ...]


def read_ingredients(version: int, folder: Path = FOLDER) -> list[StarterIngredient]:
    """Ingredients of a version, in the order of their names.

    Raises
    ------
    ReleaseError
        There is no such version, or a row is wrong; names file, row and field.
    """
    _check_version(version)
    found: dict[str, StarterIngredient] = {}
    columns = ("name", "category", "regions", "vegetarian", "vegan", "nova", "since", "until")
    for where, row in read_csv(folder / "ingredients.csv", columns):
        if not _holds(row, version, where):
            continue
        name = _name(row["name"], where)
        if name in found:
            raise _refuse("one row for a name and version", f"{name} twice", where)
        found[name] = StarterIngredient(
            name,
            placed(row["category"], f"{where}, category"),
            regions(row["regions"], f"{where}, regions"),
            **diet(
                vegetarian=truth(row["vegetarian"], f"{where}, vegetarian"),
                vegan=truth(row["vegan"], f"{where}, vegan"),
                where=f"{where}, vegan",
            ),
            nova=nova(row["nova"], f"{where}, nova"),
        )
    return [found[name] for name in sorted(found)]


def read_dish_rows(version: int, folder: Path = FOLDER) -> list[Dish]:
    """Dishes of a version, in the order of their names. Raises as `read_ingredients` does."""
    known = {ingredient.name for ingredient in read_ingredients(version, folder)}
    found: dict[str, Dish] = {}
    columns = ("name", "cuisine", "ingredients", "since", "until")
    for where, row in read_csv(folder / "dishes.csv", columns):
        if not _holds(row, version, where):
            continue
        name = _name(row["name"], where)
        names = tuple(sorted(row["ingredients"].split(";")))
        if name in found or row["cuisine"] not in CUISINES:
            raise _refuse("a dish once, of one of the eight cuisines", name, where)
        if not _DISH_SIZE[0] <= len(set(names)) == len(names) <= _DISH_SIZE[1]:
            raise _refuse("5 to 14 ingredients, each once", row["ingredients"], where)
        unknown = [item for item in names if item not in known]
        if unknown:
            raise _refuse(f"ingredients of version {version}", unknown[0], where)
        found[name] = Dish(name, row["cuisine"], names)
    return [found[name] for name in sorted(found)]


def read_dishes(version: int) -> list[tuple[str, ...]]:
    """Ingredients of every dish of a version. Raises as `read_ingredients` does."""
    return [dish.ingredients for dish in read_dish_rows(version)]


def dishes_digest(version: int) -> str:
    """Digest (hex) of a version's dishes. Raises as `read_ingredients` does."""
    rows: list[IdentityValue] = [
        [dish.name, dish.cuisine, list(dish.ingredients)] for dish in read_dish_rows(version)
    ]
    return digest("dishes", rows)


def _check_version(version: int) -> None:
    if version not in VERSIONS:
        known = " or ".join(map(str, VERSIONS))
        raise ReleaseError(
            f"version {known}", str(version), "starter release", "Set a version that there is."
        )


def _holds(row: dict[str, str], version: int, where: str) -> bool:
    """Whether a row holds in a version."""
    since = whole_number(row["since"], f"{where}, since")
    until = whole_number(row["until"], f"{where}, until") if row["until"] else max(VERSIONS)
    if since not in VERSIONS or until not in VERSIONS or since > until:
        raise _refuse("versions in order", f"since {since} until {until}", where)
    return since <= version <= until


def _name(text: str, where: str) -> str:
    if not _NAME.fullmatch(text):
        raise _refuse("a name in snake case", repr(text), f"{where}, name")
    return text


def _refuse(expected: str, found: str, where: str) -> ReleaseError:
    return ReleaseError(expected, found, where, "Mend the starter's facts.")
