"""A sound week and a sound recipe to change, and short ways to check them."""

from __future__ import annotations

import json

from pipeline.kitchen.cases.build import named_case
from pipeline.kitchen.check.checks import Tools, check_answer
from pipeline.kitchen.check.foods import Food, FoodTable
from pipeline.kitchen.parse.answers import read_answer
from pipeline.kitchen.scan import scan
from schemas.meals import DAYS, Recipe, WeeklyMenu

__all__ = ["FOODS", "checked", "recipe", "week"]

FOODS = FoodTable(
    [
        Food("chicken thigh", 14931, 1861, 792, 6233, ("tavuk but",)),
        Food("white rice", 36000, 661, 58, 500, ("pirinç",)),
        Food("red lentils", 35800, 2391, 217, 700, ("kırmızı mercimek",)),
        Food("olive oil", 88400, 0, 10000, 200, ()),
        Food("salt", 0, 0, 0, 3875800, ("tuz",)),
        Food("tomato", 1800, 88, 20, 500, ()),
        Food("water", 0, 0, 0, 400, ("su",)),
    ]
)
_MACROS = {"kcal": 450, "protein_g": 40, "carbs_g": 50, "sugars_g": 5, "fat_g": 10, "fiber_g": 0}
_DISHES = (
    "Quail with quince", "Poached plaice", "Chickpea bowl", "Veal in paper", "Lentil patties",
    "Turbot on leeks", "Goose ragout",
)  # fmt: skip
_PROTEINS = ("quail", "plaice", "chickpeas", "veal", "lentils", "turbot", "goose")
_GROUPS = ("poultry", "fish", "legume", "red_meat", "legume", "fish", "poultry")


def _own(value):
    """A value that shares no part with another."""
    return json.loads(json.dumps(value))


def week():
    return _own(
        {
            "dinners": [
                {
                    "day": day,
                    "dish_name": dish,
                    "cuisine": "Turkish",
                    "main_protein": protein,
                    "components": [f"tender {protein}", "plain rice", "stewed chard"],
                    "total_minutes": 15,
                    "portions": {"adult": 2, "child": 1, "baby": 1},
                    "food_groups": [group, "vegetable"],
                    "macros": _MACROS,
                    "son_safe_component": "rice",
                    "baby_adaptation": "Mashed with a fork, before salt",
                    "sunday_prep_used": ["p1"],
                }
                for day, dish, protein, group in zip(DAYS, _DISHES, _PROTEINS, _GROUPS, strict=True)
            ],
            "sunday_prep": [{"id": "p1", "task": "Wash the chard", "minutes": 20}],
            "rationale": "Something new each day.",
        }
    )


def recipe():
    return _own(
        {
            "title": "Tavuklu pilav",
            "adult_equivalents": 2.5,
            "total_minutes": 20,
            "ingredients": [
                {"name": "Chicken thighs", "grams": 400},
                {"name": "White rice", "grams": 200},
                {"name": "Olive oil", "grams": 20},
                {"name": "Salt", "grams": 1, "for_whom": "family"},
            ],
            "steps": [
                {"n": 1, "text": "Boil the rice", "minutes": 15},
                {"n": 2, "text": "Fry the chicken", "minutes": 10, "parallel_with": 1},
                {"n": 3, "text": "Take out the baby's share", "minutes": 1},
                {"n": 4, "text": "Salt and serve", "minutes": 2},
            ],
            "macros": _MACROS | {"kcal": 597.6, "protein_g": 35.1, "fat_g": 20.9, "carbs_g": 64},
            "food_groups": ["poultry"],
            "baby_adaptation": "Shred the chicken into soft rice",
        }
    )


def checked(value, check, case_id=None):
    """What one check says of a changed answer."""
    menu = "dinners" in value
    case = named_case(case_id or ("standard_week" if menu else "recipe_weekday_turkish"))
    parsed = read_answer(json.dumps(value).encode(), WeeklyMenu if menu else Recipe)
    assert parsed.answer is not None, parsed
    found = check_answer(case.parameters, parsed.answer, (check,), Tools(FOODS, scan))
    return found[check]
