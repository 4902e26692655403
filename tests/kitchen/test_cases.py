"""Cases: their words state their parameters, and their digests cover both."""

from __future__ import annotations

import re

import pytest

from pipeline.errors import InputError
from pipeline.kitchen.cases.brief import FORMS, SYSTEM_PROMPT
from pipeline.kitchen.cases.build import base_cases, case_set_digest, named_case, powered_cases
from pipeline.kitchen.check.checks import MENU_CHECKS, RECIPE_CHECKS
from schemas.kitchen import MenuParameters
from schemas.meals import DAYS, Dinner, Ingredient, Macros, Prep, Recipe, Step, WeeklyMenu

CASES = (*base_cases(), *powered_cases())


def one(pattern, text):
    found = re.findall(pattern, text)
    assert len(found) <= 1, found
    return found[0] if found else None


def hundredths(text):
    if text is None:
        return None
    whole, _, places = text.partition(".")
    return int(whole) * 100 + int(places.ljust(2, "0"))


def shared(text):
    history = one(r"last four weeks, none of which may come again: (.*)\.\n", text)
    guest = None
    if "coeliac disease eats every dinner" in text:
        guest = "celiac"
    elif "guest in a Crohn's flare eats along" in text:
        guest = "ibd_flare"
    return {
        "format": "menu" if "Plan seven dinners" in text else "recipe",
        "guest": guest,
        "protein_floor_c": hundredths(
            one(r"guest's plate has at least ([\d.]+) g of protein", text)
        ),
        "use_up": one(r"Use up: (.*)\.\n", text),
        "history": tuple(history.split("; ")),
    }


def of_menu(text):
    season = one(r"It is (\w+), the month is (\w+):", text) or (None, None)
    limits = one(r"Minutes that dinner may take at most: (.*)\.\n", text)
    portions = one(r"adults\+children\+babies: (.*)\.\n", text)
    banned = one(r"safe component: (.*), nor any word", text)
    rut = one(r"At most (\d+) dinner may still .* begins with: (.*?)\. The child", text)
    return {
        "season": season[0],
        "month": season[1],
        "day_limits": {day: int(n) for day, n in re.findall(r"(\w+) (\d+)", limits)},
        "portions": {
            day: tuple(map(int, counts.split("+")))
            for day, counts in re.findall(r"(\w+) ([\d+]+)", portions)
        },
        "sugar_limit_c": hundredths(one(r"at most ([\d.]+) g of sugars", text)),
        "kcal_limit_c": hundredths(one(r"at most ([\d.]+) kcal", text)),
        "banned": tuple(banned.split(", ")) if banned else (),
        "rut": {"words": tuple(rut[1].split(", ")), "max": int(rut[0])} if rut else None,
        "prep_on_short_days": "Each dinner of a day with less than 30 minutes uses" in text,
    }


def of_recipe(text):
    scan = one(r"Every ingredient has to be free of (\w+)\.", text)
    if "for everyone or for the guest has to be free" in text:
        scan = "ibd_trigger"
    least, most = one(r"in (\d+) to (\d+) steps", text)
    return {
        "dish": one(r"Write one recipe: (.*)\.\n", text),
        "minutes_limit": int(one(r"All of it takes at most (\d+) minutes", text)),
        "steps_min": int(least),
        "steps_max": int(most),
        "scan": scan,
        "baby_first": "The baby's portion comes first" in text,
        "session": "The recipe is the whole Sunday session" in text,
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case_id)
def test_the_words_state_the_parameters(case):
    text = case.prompt.partition("\n\n")[0] + "\n"
    said = shared(text) | (of_menu(text) if "Plan seven" in text else of_recipe(text))
    want = case.parameters.model_dump()
    note = want.pop("note")
    assert (note is None) or note in text.splitlines()
    assert said == {
        name: want[name] for name in want if name not in ("template", "suite", "variant")
    }


def test_cases_and_their_sets_have_digests():
    assert len(powered_cases()) == 111
    assert len({case.digest for case in CASES}) == len(CASES)
    assert len({case.prompt for case in CASES}) == len(CASES) - len(untold(CASES))
    first, *others = base_cases()
    assert case_set_digest([first, *others]) != case_set_digest([*others, first])


def untold(cases):
    """Cases that only a name tells apart: no condition is one condition, drawn as another is."""
    seen, again = set(), []
    for case in cases:
        again += [case.case_id] if case.prompt in seen else []
        seen.add(case.prompt)
    return again


def test_every_check_that_applies_exists_and_every_check_applies_somewhere():
    for checks, model in ((MENU_CHECKS, True), (RECIPE_CHECKS, False)):
        named = {
            name
            for case in CASES
            if isinstance(case.parameters, MenuParameters) == model
            for name in case.checks
        }
        assert named == set(checks)


@pytest.mark.parametrize("model", [WeeklyMenu, Dinner, Macros, Prep, Recipe, Ingredient, Step])
def test_the_form_names_every_field(model):
    text = FORMS["recipe" if model in (Recipe, Ingredient, Step) else "menu"]
    for name, field in model.model_fields.items():
        assert re.search(rf"\b{field.alias or name}\b", text), name


def test_the_brief_states_the_rules_that_are_checked():
    for number in ("at most 30 minutes", "at most 2 hours", "350 to 900 kcal", "two weekdays"):
        assert number in SYSTEM_PROMPT
    assert "kcal, never kJ" in SYSTEM_PROMPT
    assert "at most two decimals" in SYSTEM_PROMPT
    assert SYSTEM_PROMPT.endswith("one JSON object and nothing else.")


@pytest.mark.parametrize(
    "name",
    ["", "lunch", "recipe_fish-v00", "recipe_fish-v1", "recipe_fish-v001", "recipe_fish-v1\n",
     "recipe_fish-v\u0661\u0662", "Recipe_fish", "recipe_fish-v9999999"],
)  # fmt: skip
def test_a_case_that_is_not_there_is_refused(name):
    with pytest.raises(InputError, match="kitchen cases"):
        named_case(name)


def test_a_variant_has_a_name_of_two_figures_or_more():
    assert named_case("recipe_fish-v07").parameters.variant == 7
    assert named_case("recipe_fish-v100").case_id == "recipe_fish-v100"
    assert list(named_case("summer_week").parameters.portions) == list(DAYS)
