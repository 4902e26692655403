"""Checks that compute from weights and a food table, in whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.kitchen.check.foods import WATER
from pipeline.kitchen.check.results import Result, Status, Tally
from pipeline.kitchen.check.words import IRON, SALT
from pipeline.kitchen.family import quantity
from pipeline.kitchen.names import phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipeline.kitchen.check.foods import Food
    from pipeline.kitchen.check.sheets import RecipeSheet

__all__ = ["iron_sodium_guard", "macro_accuracy"]

_SCALE = 10_000
"""Basis points of one."""

_COVERED_PERCENT = 70
_FLOORS_C = (("kcal", 5_000), ("protein", 500), ("fat", 500))
"""Least amount in a portion that an error is measured against: 50 kcal, 5 g, 5 g."""

_KCAL_BEARING_C = 2_000
_IRON_GRAMS = 10
_SODIUM_MG = 300
_CODE = "coverage_too_low"


class _Line(NamedTuple):
    """A line that is weighed, with its food; none where the table has none."""

    weight: int
    food: Food | None


class _Coverage(NamedTuple):
    """Weight that is known, of all weight."""

    known: int
    whole: int

    @property
    def enough(self) -> bool:
        """Whether there is weight at all, and seven tenths of it is known."""
        return self.whole > 0 and 100 * self.known >= _COVERED_PERCENT * self.whole


def _coverage(lines: Iterable[_Line], kcal_from_c: int = 0) -> _Coverage:
    """Coverage of lines that are no water; matched foods of less energy are left out of both."""
    counted = [
        line
        for line in lines
        if line.food is None or (line.food.key != WATER and line.food.kcal_c >= kcal_from_c)
    ]
    known = sum(line.weight for line in counted if line.food)
    return _Coverage(known, sum(line.weight for line in counted))


def macro_accuracy(sheet: RecipeSheet) -> Result:
    """Declared energy, protein and fat against those of the weighed ingredients.

    Returns
    -------
    Result
        Of 30,000 basis points, three times what is left of 10,000 after the relative error.
    """
    tally = Tally()
    recipe = sheet.recipe
    lines = [
        _Line(line.grams_c, sheet.foods.match(line.name))
        for line in recipe.ingredients
        if line.for_whom in ("all", "family")
    ]
    covered = _coverage(lines)
    bearing = _coverage(lines, _KCAL_BEARING_C)
    want = f"at least {_COVERED_PERCENT} % of the weight matched"
    if not covered.enough:
        unknown = ", ".join(
            line.name
            for line in recipe.ingredients
            if line.for_whom in ("all", "family") and not sheet.foods.match(line.name)
        )
        tally.leaves("ingredients", _CODE, f"{_weights(covered)}; not {unknown}", want)
        return tally.result()
    tally.notes("ingredients", "coverage", _weights(covered), want)
    tally.notes("ingredients", "kcal_coverage", _weights(bearing), "told, not judged")
    adults_c = recipe.adult_equivalents_c
    declared = {
        "kcal": recipe.macros.kcal_c,
        "protein": recipe.macros.protein_c,
        "fat": recipe.macros.fat_c,
    }
    matched = [(line.weight, line.food) for line in lines if line.food and line.food.key != WATER]
    good = 0
    for nutrient, floor_c in _FLOORS_C:
        found = sum(weight * getattr(food, f"{nutrient}_c") for weight, food in matched)
        stated = 100 * adults_c * declared[nutrient]
        error = _error(stated, found, 100 * adults_c * floor_c)
        good += _SCALE - error
        if error:
            portion_c = (2 * found + 100 * adults_c) // (200 * adults_c)
            got = f"{quantity(declared[nutrient])}, off by {error} basis points"
            path = "macros.kcal" if nutrient == "kcal" else f"macros.{nutrient}_g"
            tally.notes(path, "off", got, f"{quantity(portion_c)} a portion")
    return Result(good, _SCALE * len(_FLOORS_C), Status.SCORED, "", tally.evidence)


def _weights(coverage: _Coverage) -> str:
    return f"{quantity(coverage.known)} of {quantity(coverage.whole)} g matched"


def _error(stated: int, found: int, floor: int) -> int:
    """Relative error in basis points, at most 10,000, against what was found or the floor."""
    base = max(found, floor)
    return min(_SCALE, (2 * _SCALE * abs(stated - found) + base) // (2 * base))


def iron_sodium_guard(sheet: RecipeSheet) -> Result:
    """The baby's share has iron, is taken out before salt, and keeps within its sodium.

    A share is a quarter of an adult portion of every `all` line, and the whole of every `baby`
    line; its weights are in hundredths of a gram times the hundredths of adult equivalents.
    """
    tally = Tally()
    adults_c = sheet.recipe.adult_equivalents_c
    weights = [
        25 * line.grams_c
        if line.for_whom == "all"
        else adults_c * line.grams_c * (line.for_whom == "baby")
        for line in sheet.recipe.ingredients
    ]
    _iron(tally, sheet, weights)
    text = sheet.recipe.salt_handling
    if text is not None and any(phrase(text, wanted) for wanted in SALT):
        tally.counts()
    else:
        want = "that the baby's share is taken out before salt"
        tally.fails("salt_handling", "salt", text or "nothing", want)
    _sodium(tally, sheet, weights)
    return tally.result()


def _iron(tally: Tally, sheet: RecipeSheet, weights: Sequence[int]) -> None:
    adults_c = sheet.recipe.adult_equivalents_c
    named = sheet.recipe.iron_component
    terms = IRON.found(named) if named is not None else frozenset()
    weight = sum(
        weight
        for weight, line in zip(weights, sheet.recipe.ingredients, strict=True)
        if weight and terms & IRON.found(line.name)
    )
    if terms and weight >= 100 * _IRON_GRAMS * adults_c:
        tally.counts()
        return
    got = f"{quantity(weight // adults_c)} g of {named}" if terms else named or "nothing"
    want = f"at least {_IRON_GRAMS} g of a food with iron in the baby's share"
    tally.fails("iron_component", "iron", got, want)


def _sodium(tally: Tally, sheet: RecipeSheet, weights: Sequence[int]) -> None:
    adults_c = sheet.recipe.adult_equivalents_c
    lines = [
        _Line(weight, sheet.foods.match(line.name))
        for weight, line in zip(weights, sheet.recipe.ingredients, strict=True)
    ]
    sodium = sum(line.weight * line.food.sodium_c for line in lines if line.food)
    covered = _coverage(lines)
    limit = 100 * _SODIUM_MG * _SCALE * adults_c
    got = f"{quantity(sodium // (_SCALE * adults_c))} mg"
    want = f"at most {_SODIUM_MG} mg of sodium in the baby's share"
    if sodium > limit:
        tally.fails("ingredients", "sodium", got, want)
    elif not covered.enough:
        share = _Coverage(covered.known // adults_c, covered.whole // adults_c)
        tally.leaves("ingredients", _CODE, f"{got} at least; {_weights(share)}", want)
    else:
        tally.counts()
