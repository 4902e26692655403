"""Facts of foods per 100 g, and which food an ingredient's name is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import ReleaseError
from pipeline.identity import digest
from pipeline.kitchen.names import LINK, NEUTRAL, stem, tokens
from pipeline.tags import read_csv

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["WATER", "Food", "FoodTable", "form", "read_foods"]

WATER = "water"
"""The food that counts in nothing."""

_COLUMNS = ("key", "kcal_c", "protein_c", "fat_c", "sodium_c", "aliases")
_QUANTITY = re.compile(r"0|[1-9][0-9]{0,8}")
_ASIDE = re.compile(r"\([^)]*(?:\)|$)")
_REMEMBERED = 2**16


class Food(NamedTuple):
    """A food: hundredths of kcal, of grams, and of milligrams of sodium, per 100 g."""

    key: str
    kcal_c: int
    protein_c: int
    fat_c: int
    sodium_c: int
    aliases: tuple[str, ...]


def form(name: str) -> tuple[str, ...]:
    """What a food's name comes down to: stems in order of the alphabet, with repeats.

    Parts in brackets, links and neutral words are no part of it.
    """
    found = tokens(_ASIDE.sub(" ", name))
    return tuple(sorted(stem(t) for t in found if t not in LINK and t not in NEUTRAL))


class FoodTable:
    """Foods by the forms of their keys and aliases.

    Parameters
    ----------
    foods
        In any order.
    where
        What they come from, for errors.

    Raises
    ------
    ReleaseError
        Two foods share a form, or a name has none.
    """

    def __init__(self, foods: Iterable[Food], where: str = "foods") -> None:
        self.foods = tuple(sorted(foods))
        self._known: dict[tuple[str, ...], Food] = {}
        self._matched: dict[str, Food | None] = {}
        for food in self.foods:
            for name in (food.key, *food.aliases):
                other = self._known.setdefault(form(name), food)
                if other is not food or not form(name):
                    found = f"{name!r} of {food.key!r} and of {other.key!r}"
                    raise ReleaseError(
                        "names that come down to one food", found, where, "Mend the table."
                    )

    @property
    def digest(self) -> str:
        """Digest (hex) of the foods, whatever their order was."""
        return digest(
            "kitchen-foods",
            [[*food[:-1], [*sorted(food.aliases)]] for food in self.foods],
        )

    def match(self, name: str) -> Food | None:
        """The food of an ingredient's name; none where the table has none of its form."""
        try:
            return self._matched[name]
        except KeyError:
            pass
        found = self._match(name)
        if len(self._matched) < _REMEMBERED:
            self._matched[name] = found
        return found

    def _match(self, name: str) -> Food | None:
        whole = form(name)
        if whole in self._known:
            return self._known[whole]
        return self._known.get(tuple(part for part in whole if not part[0].isdigit()))


def read_foods(path: Path) -> FoodTable:
    """The food table of a CSV file, its aliases split by a bar.

    Raises
    ------
    ReleaseError
        The file is unsafe or no such table, a quantity is no whole number of hundredths, a key
        stands twice, or two foods share a form; names file and row.
    """
    foods: dict[str, Food] = {}
    for where, row in read_csv(path, _COLUMNS):
        numbers = {column: row[column] for column in _COLUMNS[1:-1]}
        wrong = next((c for c, text in numbers.items() if not _QUANTITY.fullmatch(text)), None)
        if wrong:
            expected = "a whole number of hundredths"
            raise ReleaseError(expected, row[wrong], f"{where}, {wrong}", "Mend the table.")
        if row["key"] in foods:
            raise ReleaseError("every key once", row["key"], f"{where}, key", "Mend the table.")
        aliases = tuple(alias for alias in row["aliases"].split("|") if alias)
        quantities = {column: int(text) for column, text in numbers.items()}
        foods[row["key"]] = Food(key=row["key"], aliases=aliases, **quantities)
    return FoodTable(foods.values(), str(path))
