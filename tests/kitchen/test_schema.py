"""Each fault of an answer's form is named by its path."""

from __future__ import annotations

import json

import pytest

from pipeline.kitchen.parse.answers import read_answer
from schemas.meals import Recipe, WeeklyMenu
from schemas.replies import Fault
from tests.kitchen.meals import recipe, week


def set_at(value, path, new):
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        value = value[part]
    if new is ...:
        del value[last]
    else:
        value[last] = new


def read(value):
    """Read an answer; a number in angle brackets stands in the text as it is written."""
    model = WeeklyMenu if "dinners" in value else Recipe
    text = json.dumps(value).replace('"<', "").replace('>"', "")
    return read_answer(text.encode(), model)


def paths(value):
    parsed = read(value)
    assert (parsed.fault is Fault.SCHEMA) == bool(parsed.paths or parsed.answer is None)
    return list(parsed.paths)


def test_the_week_and_the_recipe_are_sound():
    assert read(week()).answer
    assert read(recipe()).answer


BAD = [
    ("dinners.0.total_minutes", ["<30.0>", "<3e1>", 0, 601, "30", True, None, ...]),
    ("dinners.0.portions.baby", [11, -1, "<1.0>", False]),
    ("dinners.1.macros.kcal", ["<12.345>", "<1e-3>", "<5000.01>", "<-0.01>", "1", True, [], None]),
    ("dinners.1.macros.fat_g", ["<1000.001>", "<1e300>", "<0.000000001>", 1001]),
    ("dinners.1.macros.alcohol_g", [201, "0"]),
    ("dinners.1.macros.carb_basis", ["net", 1, ""]),
    ("dinners.2.day", ["Monday", "mon", 1, None, ["Mon"]]),
    ("dinners.2.dish_name", ["", " ", "—", "a\0b", "x" * 201, 7, ...]),
    ("dinners.2.components", [[], ["x"] * 13, "rice", None, {}, [7] * 13]),
    ("dinners.2.components.1", ["", None, 3, "y" * 121]),
    ("dinners.2.food_groups", [["fish"] * 13, None]),
    ("dinners.2.food_groups.0", ["meat", 1, None]),
    ("dinners.3.sunday_prep_used.0", ["p 1", "", "x" * 41, "é", "p1\n", 1]),
    ("dinners.3.surprise", [1, None]),
    ("dinners.3.macros", [[], 1, None]),
    ("dinners", [[], {}, None]),
    ("sunday_prep.0.minutes", [0, 241]),
    ("surprise", [1]),
    ("rationale", ["x" * 4001, "."]),
]


@pytest.mark.parametrize(("path", "new"), [(path, new) for path, news in BAD for new in news])
def test_a_fault_of_a_menu_is_named_by_its_path(path, new):
    value = week()
    set_at(value, path, new)
    assert paths(value) == [path]


GOOD = [
    ("dinners.0.macros.kcal", ["<450.00>", "<4.5e2>", "<45000E-2>", "<450.000000>"]),
    ("dinners.0.macros.fiber_g", ["<-0>", "<-0.0>", "<0e99999999999999999999>", 1000]),
    ("dinners.0.macros.carb_basis", ["available", "total", None]),
    ("dinners.0.macros.alcohol_g", [None, 0, "<0.01>"]),
    ("dinners.0.macros.sugars_g", ["<50.5>"]),
    ("dinners.0.special_adaptation", [None, "x" * 600]),
    ("dinners.0.special_components", [None, [], ["rice"]]),
    ("dinners.0.special_macros", [None]),
    ("dinners.0.food_groups", [[], ["fish"] * 12]),
    ("dinners.0.dish_name", ["x" * 200, "ß" * 200, "7"]),
    ("sunday_prep", [[]]),
]


@pytest.mark.parametrize(("path", "new"), [(path, new) for path, news in GOOD for new in news])
def test_what_a_menu_may_hold(path, new):
    value = week()
    if path == "sunday_prep":
        for dinner in value["dinners"]:
            dinner["sunday_prep_used"] = []
    set_at(value, path, new)
    assert paths(value) == []


def test_quantities_are_kept_as_hundredths():
    value = week()
    value["dinners"][0]["macros"]["kcal"] = "<450.5e0>"
    assert read(value).answer.dinners[0].macros.kcal_c == 45050


def test_every_fault_is_listed_once_and_sorted():
    value = week()
    set_at(value, "dinners.6.extra", 1)
    set_at(value, "dinners.5.day", ...)
    set_at(value, "dinners.5.macros.kcal", "many")
    set_at(value, "rationale", "")
    assert paths(value) == [
        "dinners.5.day",
        "dinners.5.macros.kcal",
        "dinners.6.extra",
        "rationale",
    ]


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        ({"dinners.0.macros.sugars_g": "<50.51>"}, ["dinners.0.macros"]),
        ({"dinners.0.macros.sugars_g": 99, "dinners.0.macros.kcal": -1}, ["dinners.0.macros.kcal"]),
        ({"dinners.0.macros.sugars_g": 99, "dinners.0.macros.x": 1}, ["dinners.0.macros.x"]),
        (
            {"dinners.0.macros.sugars_g": 99, "dinners.1.day": "x"},
            ["dinners.0.macros", "dinners.1.day"],
        ),
        ({"sunday_prep": [{"id": "a", "task": "x", "minutes": 1}] * 2}, [""]),
        (
            {"sunday_prep": [{"id": "a", "task": "x", "minutes": 1}] * 2, "dinners.0.day": "x"},
            ["dinners.0.day"],
        ),
    ],
)  # fmt: skip
def test_a_rule_is_looked_at_when_all_else_is_right(changes, want):
    value = week()
    for path, new in changes.items():
        set_at(value, path, new)
    assert paths(value) == want


@pytest.mark.parametrize(
    ("path", "new", "want"),
    [
        ("steps.1.n", 3, [""]),
        ("steps.0.parallel_with", 1, [""]),
        ("steps.0.parallel_with", 2, [""]),
        ("steps.2.parallel_with", 2, [""]),
        ("steps.2.parallel_with", 1, []),
        ("steps.2.parallel_with", None, []),
        ("steps.2.parallel_with", 61, ["steps.2.parallel_with"]),
        ("ingredients.0.grams", 0, ["ingredients.0.grams"]),
        ("ingredients.0.grams", "<0.01>", []),
        ("ingredients.0.for_whom", "son", ["ingredients.0.for_whom"]),
        ("ingredients.0.for_whom", None, []),
        ("ingredients", [{"name": "rice", "grams": 1}] * 101, ["ingredients"]),
        ("ingredients", [{"name": "", "grams": 0}] * 101, ["ingredients"]),
        ("adult_equivalents", "<0.49>", ["adult_equivalents"]),
        ("adult_equivalents", "<100.00>", []),
        ("adult_equivalents_c", 250, ["adult_equivalents_c"]),
        ("storage", None, []),
        ("storage", [{"component": "x", "method": "y", "days": 366}], ["storage.0.days"]),
        ("serves_dinners", [{"component": "x", "day": "Sat", "n": 1}], ["serves_dinners.0.n"]),
        ("special_macros", {}, [f"special_macros.{f}" for f in sorted(
            ("kcal", "protein_g", "carbs_g", "sugars_g", "fat_g", "fiber_g"))]),
    ],
)  # fmt: skip
def test_a_fault_of_a_recipe_is_named_by_its_path(path, new, want):
    value = recipe()
    set_at(value, path, new)
    assert paths(value) == want
