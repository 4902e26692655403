"""What a check looks at: the case, the answer, and what it is looked up in."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.kitchen.check.foods import FoodTable
    from pipeline.kitchen.check.results import Scanner
    from schemas.kitchen import Flag, MenuParameters, RecipeParameters
    from schemas.meals import Dinner, Macros, Recipe, WeeklyMenu

__all__ = ["DayDinner", "MenuSheet", "RecipeSheet", "Scanned", "scan_item"]


class DayDinner(NamedTuple):
    """The dinner of a day and its path."""

    place: int
    path: str
    dinner: Dinner


class MenuSheet:
    """A menu and its case."""

    def __init__(self, asked: MenuParameters, menu: WeeklyMenu, scan: Scanner) -> None:
        self.asked = asked
        self.menu = menu
        self.scan = scan

    @cached_property
    def dinners(self) -> tuple[DayDinner, ...]:
        """The seven dinners as they stand, whatever their days."""
        return tuple(
            DayDinner(place, f"dinners.{place}", dinner)
            for place, dinner in enumerate(self.menu.dinners)
        )

    @cached_property
    def by_day(self) -> dict[str, DayDinner]:
        """The dinner of each day that exactly one dinner has."""
        days = [dinner.day for dinner in self.menu.dinners]
        return {
            found.dinner.day: found for found in self.dinners if days.count(found.dinner.day) == 1
        }

    @cached_property
    def prep_ids(self) -> frozenset[str]:
        """Ids of what is prepared on Sunday."""
        return frozenset(prep.id for prep in self.menu.sunday_prep)

    @property
    def answer(self) -> WeeklyMenu:
        """The answer as a whole."""
        return self.menu

    @property
    def plates(self) -> list[tuple[str, Macros]]:
        """What an adult portion of each dinner declares."""
        return [(f"{path}.macros", dinner.macros) for _, path, dinner in self.dinners]

    @property
    def guest_plates(self) -> list[tuple[str, Macros | None]]:
        """What the guest's own plate declares."""
        return [
            (f"{path}.special_macros", dinner.special_macros) for _, path, dinner in self.dinners
        ]


class RecipeSheet:
    """A recipe and its case."""

    def __init__(
        self, asked: RecipeParameters, recipe: Recipe, scan: Scanner, foods: FoodTable
    ) -> None:
        self.asked = asked
        self.recipe = recipe
        self.scan = scan
        self.foods = foods

    @property
    def answer(self) -> Recipe:
        """The answer as a whole."""
        return self.recipe

    @property
    def plates(self) -> list[tuple[str, Macros]]:
        """What an adult portion declares."""
        return [("macros", self.recipe.macros)]

    @property
    def guest_plates(self) -> list[tuple[str, Macros | None]]:
        """What the guest's own plate declares."""
        return [("special_macros", self.recipe.special_macros)]

    @cached_property
    def path_minutes(self) -> int:
        """Minutes that one cook needs: companions run one after another beside their step."""
        beside: dict[int, int] = {}
        for step in self.recipe.steps:
            if step.parallel_with is not None:
                beside[step.parallel_with] = beside.get(step.parallel_with, 0) + step.minutes
        return sum(
            max(step.minutes, beside.get(step.n, 0))
            for step in self.recipe.steps
            if step.parallel_with is None
        )


class Scanned(NamedTuple):
    """The verdict on an item of several texts, and the text that decided it."""

    verdict: str
    path: str
    text: str


def scan_item(
    texts: Sequence[tuple[str, str]], flags: Sequence[Flag], scan: Scanner, path: str
) -> Scanned:
    """Scan the texts of one item, each with its path: flagged if any is, else unclear if any is."""
    unclear: Scanned | None = None
    for place, text in texts:
        for flag in flags:
            verdict = scan(text, flag).value
            if verdict == "flag":
                return Scanned(verdict, place, text)
            if verdict == "needs_label" and unclear is None:
                unclear = Scanned(verdict, place, text)
    return unclear or Scanned("clear", path, "")
