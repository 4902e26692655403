"""All checks by name, and what they say of an answer.

Each looks at the answer alone, so the order in which they are asked never matters.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pipeline.identity import digest
from pipeline.kitchen.check import amounts, dishes, plates, recipes, week
from pipeline.kitchen.check.bait import judge_bait
from pipeline.kitchen.check.results import FAILED
from pipeline.kitchen.check.sheets import MenuSheet, RecipeSheet
from pipeline.kitchen.check.words import words_digest
from schemas.kitchen import MenuParameters
from schemas.meals import Recipe, WeeklyMenu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipeline.kitchen.check.foods import FoodTable
    from pipeline.kitchen.check.results import Result, Scanner
    from schemas.kitchen import Parameters

__all__ = ["MENU_CHECKS", "RECIPE_CHECKS", "SEASONAL", "Tools", "check_answer", "check_version"]

SEASONAL = "SeasonalContrast"
"""The check of a pair of answers."""

MENU_CHECKS: Mapping[str, Callable[[MenuSheet], Result]] = MappingProxyType(
    {
        "SevenDistinctDays": week.seven_distinct_days,
        "NoPorkMains": dishes.no_pork_mains,
        "NoHistoryRepeats": week.no_history_repeats,
        "SonSafeEveryDay": dishes.son_safe_every_day,
        "WeekdayTimeBudget": week.weekday_time_budget,
        "HasSundayPrepReuse": week.has_sunday_prep_reuse,
        "AtwaterConsistency": plates.atwater_consistency,
        "CaloriePlausibility": plates.calorie_plausibility,
        "FoodGroupBalance": week.food_group_balance,
        "JudgeBait": judge_bait,
        "SugarBudget": plates.sugar_budget,
        "CalorieCap": plates.calorie_cap,
        "ProteinFloor": plates.protein_floor,
        "SpecialAdaptationEveryDay": dishes.special_adaptation_every_day,
        "GlutenScan": dishes.gluten_scan,
        "IBDTriggerScan": dishes.ibd_trigger_scan,
        "PortionsMatchAbsence": week.portions_match,
        "GuestsServed": week.portions_match,
        "HecticDays": week.hectic_days,
        "CarteBlancheBan": dishes.carte_blanche_ban,
        "EscapesRut": dishes.escapes_rut,
    }
)
"""Checks of a menu."""

RECIPE_CHECKS: Mapping[str, Callable[[RecipeSheet], Result]] = MappingProxyType(
    {
        "IngredientsHaveQuantities": recipes.ingredients_have_quantities,
        "ReasonableStepCount": recipes.reasonable_step_count,
        "WithinStatedTimeBudget": recipes.within_stated_time_budget,
        "HasBabyAdaptation": recipes.has_baby_adaptation,
        "AtwaterConsistency": plates.atwater_consistency,
        "CaloriePlausibility": plates.calorie_plausibility,
        "MacroAccuracy": amounts.macro_accuracy,
        "BabySafety": recipes.baby_safety,
        "GlutenScan": recipes.gluten_scan,
        "LactoseScan": recipes.lactose_scan,
        "IBDTriggerScan": recipes.ibd_trigger_scan,
        "HasSpecialAdaptation": dishes.has_special_adaptation,
        "ProteinFloor": plates.protein_floor,
        "IronSodiumGuard": amounts.iron_sodium_guard,
        "SundayPlan": recipes.sunday_plan,
        "JudgeBait": judge_bait,
    }
)
"""Checks of a recipe."""


class Tools(NamedTuple):
    """What checks look things up in."""

    foods: FoodTable
    scan: Scanner


def check_answer(
    asked: Parameters, answer: WeeklyMenu | Recipe | None, names: Iterable[str], tools: Tools
) -> dict[str, Result]:
    """What checks say of an answer to a case, by their names.

    Parameters
    ----------
    asked
        The case's parameters.
    answer
        The answer; none where it could not be read: then every check fails.
    names
        The checks that apply to the case.
    tools
        Food table and scanner.
    """
    if answer is None:
        return dict.fromkeys(names, FAILED)
    if isinstance(asked, MenuParameters) and isinstance(answer, WeeklyMenu):
        menu = MenuSheet(asked, answer, tools.scan)
        return {name: MENU_CHECKS[name](menu) for name in names}
    if isinstance(answer, Recipe) and not isinstance(asked, MenuParameters):
        recipe = RecipeSheet(asked, answer, tools.scan, tools.foods)
        return {name: RECIPE_CHECKS[name](recipe) for name in names}
    message = f"a case of format {asked.format} is answered by another kind"
    raise TypeError(message)


def check_version(foods: FoodTable, lexicon_digest: str) -> str:
    """Digest (hex) of what checks know: word lists, food table, and the scanner's lexicon."""
    known = {"words": words_digest(), "foods": foods.digest, "lexicon": lexicon_digest}
    return digest("kitchen-checks", dict(known))
