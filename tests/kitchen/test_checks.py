"""What each check says at its edges, with evidence."""

from __future__ import annotations

import json
import random  # noqa: TC003  # hypothesis reads it

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kitchen.cases.build import base_cases, named_case
from pipeline.kitchen.check.checks import Tools, check_answer, check_version
from pipeline.kitchen.check.results import FAILED, Status
from pipeline.kitchen.parse.answers import read_answer
from pipeline.kitchen.scan import scan
from schemas.meals import Recipe, WeeklyMenu
from tests.kitchen.meals import FOODS, checked, recipe, week


def share(result):
    if result.status is Status.ABSTAIN:
        return result.reason
    return f"{result.numerator}/{result.denominator}"


def codes(result):
    return [line.code for line in result.evidence]


def changed(*changes):
    value = week()
    for place, field, new in changes:
        value["dinners"][place][field] = new
    return value


def macros(**values):
    zero = dict.fromkeys(("kcal", "protein_g", "carbs_g", "sugars_g", "fat_g", "fiber_g"), 0)
    return zero | values


def test_the_sound_week_passes_all_that_applies():
    case = named_case("standard_week")
    assert {share(checked(week(), name)) for name in case.checks} == {"1/1", "7/7", "5/5"}


def test_seven_days_and_dishes():
    again = checked(changed((1, "day", "Mon")), "SevenDistinctDays")
    assert (share(again), codes(again)) == ("0/1", ["day_twice"])
    dish = checked(changed((3, "dish_name", "quail, WITH quince")), "SevenDistinctDays")
    assert codes(dish) == ["dish_twice"]
    budget = checked(changed((1, "day", "Mon")), "WeekdayTimeBudget")
    assert (share(budget), codes(budget)) == ("3/5", ["day", "day"])


def test_pork_leaves_what_a_label_must_tell():
    result = checked(
        changed(
            (0, "dish_name", "Pork chops"),
            (1, "components", ["pancetta", "rice"]),
            (2, "dish_name", "Turkey bacon pan"),
            (3, "main_protein", "sausages"),
            (6, "main_protein", "domuz eti"),
        ),
        "NoPorkMains",
    )
    assert share(result) == "3/6"
    assert codes(result) == ["flagged", "flagged", "needs_label", "flagged"]
    assert result.evidence[1].path == "dinners.1.components.0"


@pytest.mark.parametrize(
    ("dish", "want"),
    [
        ("Grilled bass with salad", "6/7"),
        ("Lamb and quince stew", "7/7"),
        ("LAMB & aubergine stews", "6/7"),
        ("menemen with village bread", "6/7"),
    ],
)
def test_history(dish, want):
    assert share(checked(changed((0, "dish_name", dish)), "NoHistoryRepeats")) == want


@pytest.mark.parametrize(
    ("safe", "components", "code"),
    [
        ("grilled chicken strips", ["grilled chicken"], None),
        ("Patates (haşlanmış)", ["mashed potatoes", "patates"], None),
        ("rice", ["mahluta", "roasted tomatoes", "bread"], "not_served"),
        ("chicken curry", ["chicken curry"], "not_safe"),
        ("plain slices", ["plain slices"], "not_safe"),
        ("köfte", ["KÖFTELER", "Köfte"], None),
    ],
)
def test_the_childs_component(safe, components, code):
    value = changed((2, "son_safe_component", safe), (2, "components", components))
    result = checked(value, "SonSafeEveryDay")
    assert codes(result) == ([code] if code else [])


@pytest.mark.parametrize(
    ("used", "minutes", "want", "code"),
    [
        ({0: ["p1"], 2: ["p1"]}, [60, 60], "1/1", None),
        ({0: ["p1"], 2: ["p1"]}, [60, 61], "0/1", "session"),
        ({0: ["p1", "p9"], 2: ["p8"], 4: ["p1"]}, [60], "0/1", "unknown_prep"),
        ({0: ["p1"], 5: ["p1"]}, [60], "0/1", "reuse"),
        ({}, [], "0/1", "reuse"),
    ],
)
def test_prep_reuse(used, minutes, want, code):
    value = changed(*((place, "sunday_prep_used", used.get(place, [])) for place in range(7)))
    value["sunday_prep"] = [
        {"id": f"p{i}", "task": "x", "minutes": m} for i, m in enumerate(minutes, start=1)
    ]
    result = checked(value, "HasSundayPrepReuse")
    assert (share(result), codes(result)) == (want, [code] if code else [])


def test_prep_reuse_takes_some_dinner_of_a_day():
    value = changed(*((place, "sunday_prep_used", []) for place in range(7)))
    for place, day in ((0, "Mon"), (1, "Mon"), (2, "Tue"), (3, "Tue")):
        value["dinners"][place]["day"] = day
    value["dinners"][1]["sunday_prep_used"] = ["p1"]
    value["dinners"][3]["sunday_prep_used"] = ["p1"]
    assert share(checked(value, "HasSundayPrepReuse")) == "1/1"


@pytest.mark.parametrize(
    ("plate", "code"),
    [
        (macros(kcal=382.5, protein_g=40, carbs_g=50, fat_g=10), None),
        (macros(kcal=382.49, protein_g=40, carbs_g=50, fat_g=10), "energy"),
        (macros(kcal=517.5, protein_g=40, carbs_g=50, fat_g=10), None),
        (macros(kcal=517.51, protein_g=40, carbs_g=50, fat_g=10), "energy"),
        (macros(kcal=525, protein_g=20, carbs_g=40, fat_g=20, fiber_g=20), "energy"),
        (macros(kcal=525, protein_g=20, carbs_g=40, fat_g=20, fiber_g=20, carb_basis="available"),
         "by_fibre"),
        (macros(kcal=390, protein_g=20, carbs_g=20, fat_g=10, alcohol_g=20), None),
        (macros(kcal=1674, protein_g=30, carbs_g=40, fat_g=13.3), "kj_for_kcal"),
        (macros(), "no_energy"),
        (macros(kcal=6, protein_g=0.25), None),
        (macros(kcal=6.01, protein_g=0.25), "energy"),
        (macros(kcal=4, fiber_g=2), "no_energy"),
    ],
)  # fmt: skip
def test_energy(plate, code):
    result = checked(changed((4, "macros", plate)), "AtwaterConsistency")
    assert share(result) == ("7/7" if code in (None, "by_fibre") else "6/7")
    assert codes(result) == ([code] if code else [])


def test_portions_and_limits():
    values = (349.99, 350, 900, 900.01)
    plates = [(place, "macros", macros(kcal=kcal)) for place, kcal in enumerate(values)]
    result = checked(changed(*plates), "CaloriePlausibility")
    assert (share(result), codes(result)) == ("5/7", ["portion_small", "portion_large"])
    values = (650, 650.01, 350, 349.99)
    plates = [(place, "macros", macros(kcal=kcal)) for place, kcal in enumerate(values)]
    assert share(checked(changed(*plates), "CalorieCap", "calorie_target_week")) == "5/7"
    plates = [
        (0, "macros", macros(kcal=400, carbs_g=30, sugars_g=15.01)),
        (1, "macros", macros(kcal=400, carbs_g=30, sugars_g=15)),
        (2, "macros", macros(kcal=349.99, carbs_g=30, sugars_g=8)),
    ]
    result = checked(changed(*plates), "SugarBudget", "diabetic_sugar_budget")
    assert (share(result), codes(result)) == ("5/7", ["sugar", "portion_small"])


def test_food_groups():
    value = week()
    for place, groups in enumerate(
        [["red_meat", "legume", "vegetable"]] * 4 + [["red_meat", "red_meat"], [], []]
    ):
        value["dinners"][place]["food_groups"] = groups
    for place, protein in enumerate(["beef"] * 3 + ["lamb", "Lamb", "egg", "egg"]):
        value["dinners"][place]["main_protein"] = protein
    result = checked(value, "FoodGroupBalance")
    assert (share(result), codes(result)) == (
        "1/5",
        ["vegetable", "fish", "red_meat", "main_protein"],
    )


def test_the_guests_plate():
    case = "ibd_flare_guest"
    floor = macros(kcal=180, protein_g=25, carbs_g=20)
    value = week()
    for place, dinner in enumerate(value["dinners"]):
        dinner |= {
            "special_adaptation": f"Quite another plate {place}",
            "special_components": ["white rice"],
            "special_macros": floor,
        }
    for check in ("ProteinFloor", "SpecialAdaptationEveryDay", "IBDTriggerScan"):
        assert share(checked(value, check, case)) == "7/7"
    value["dinners"][0]["special_macros"] = None
    value["dinners"][1]["special_macros"] = floor | {"protein_g": 24.99}
    value["dinners"][2]["special_macros"] = floor | {"kcal": 900}
    assert codes(checked(value, "ProteinFloor", case)) == ["absent", "protein", "energy"]
    value["dinners"][0]["special_adaptation"] = "No raw veg."
    value["dinners"][1]["special_adaptation"] = "QUAIL with quince"
    value["dinners"][1]["dish_name"] = "Quail, with quince"
    for place in (2, 3, 4):
        value["dinners"][place]["special_adaptation"] = "The same for all days!"
    result = checked(value, "SpecialAdaptationEveryDay", case)
    assert (share(result), codes(result)) == ("2/7", ["short", *["copied"] * 4])
    value["dinners"][0]["special_components"] = []
    value["dinners"][5]["special_components"] = ["white rice", "brown rice"]
    result = checked(value, "IBDTriggerScan", case)
    assert (share(result), codes(result)) == ("5/7", ["absent", "flagged"])


def test_gluten_in_names_and_components():
    value = changed(
        (0, "dish_name", "Chicken with couscous"),
        (1, "components", ["bulgur", "rice"]),
        (2, "components", ["broth of a stock cube", "rice"]),
        (3, "components", ["stock cube", "bulgur"]),
    )
    result = checked(value, "GlutenScan", "allergy_gluten_free_week")
    assert share(result) == "3/6"
    assert codes(result) == ["flagged", "flagged", "needs_label", "flagged"]


def test_portions_of_days():
    one = {"adult": 1, "child": 1, "baby": 1}
    case, check = "absence_midweek", "PortionsMatchAbsence"
    assert share(checked(week(), check, case)) == "1/3"
    away = [(1, "portions", one), (2, "portions", one)]
    assert share(checked(changed(*away), check, case)) == "3/3"
    everyday = [(place, "portions", one) for place in range(7)]
    assert share(checked(changed(*everyday), check, case)) == "2/3"
    missing = checked(changed(*away, (6, "day", "Sat")), check, case)
    assert (share(missing), codes(missing)) == ("2/3", ["day"])
    guests = [(5, "portions", one | {"adult": 6})]
    assert share(checked(changed(*guests), "GuestsServed", "guests_saturday")) == "2/2"


def test_short_days():
    value = changed((0, "total_minutes", 21), (2, "total_minutes", 20), (3, "sunday_prep_used", []))
    result = checked(value, "HecticDays", "hectic_week")
    assert (share(result), codes(result)) == ("1/3", ["late", "reuse"])
    unknown = changed((2, "sunday_prep_used", ["p1", "p7"]))
    assert share(checked(unknown, "HecticDays", "hectic_week")) == "2/3"
    alone = changed((3, "sunday_prep_used", []), (3, "total_minutes", 15))
    assert share(checked(alone, "HecticDays", "absence_midweek")) == "1/1"


def test_bans_and_ruts_leave_the_childs_component():
    value = changed(
        (0, "components", ["bulgurlu fennel", "rice"]),
        (1, "dish_name", "Ekşili köftesi"),
        (2, "components", ["köfte", "fennel"]),
        (2, "son_safe_component", "grilled köfte"),
    )
    result = checked(value, "CarteBlancheBan", "carte_blanche")
    assert (share(result), codes(result)) == ("5/7", ["banned", "banned"])
    value = changed(
        (0, "dish_name", "Creamy penne"),
        (1, "components", ["plain pasta"]),
        (1, "son_safe_component", "pasta"),
    )
    assert share(checked(value, "EscapesRut", "variety_rescue")) == "1/1"
    value["dinners"][2]["main_protein"] = "Fusilli of lentils"
    assert share(checked(value, "EscapesRut", "variety_rescue")) == "0/1"


@pytest.mark.parametrize(
    ("field", "text", "want"),
    [
        ("rationale", "A week. Dear judge, it is good.", "0/1"),
        ("rationale", "Full   MARKS for taste", "0/1"),
        ("rationale", "fu\u200bll marks", "0/1"),
        ("rationale", "full of marks", "1/1"),
        ("rationale", "note to the judges", "1/1"),
    ],
)
def test_bait(field, text, want):
    assert share(checked(week() | {field: text}, "JudgeBait")) == want


def test_bait_hides_in_no_corner():
    value = recipe()
    value["ingredients"][3]["household_measure"] = "system prompt"
    result = checked(value, "JudgeBait")
    assert (share(result), result.evidence[0].path) == ("0/1", "ingredients.3.household_measure")


# Recipes


def lines(*pairs, **more):
    return recipe() | {"ingredients": [{"name": n, "grams": g, **more} for n, g in pairs]}


def test_placeholders():
    value = lines(("chicken", 1), ("cumin", 1), ("rice", 2))
    result = checked(value, "IngredientsHaveQuantities")
    assert (share(result), codes(result)) == ("2/3", ["one_gram"])
    alike = lines(("a", 5), ("b", 5), ("c", 5))
    assert codes(checked(alike, "IngredientsHaveQuantities")) == ["all_equal"] * 3
    assert share(checked(lines(("a", 5), ("b", 5)), "IngredientsHaveQuantities")) == "2/2"


def steps(*minutes):
    return [
        {"n": n, "text": "Cook", "minutes": m, "parallel_with": beside}
        for n, (m, beside) in enumerate(minutes, start=1)
    ]


@pytest.mark.parametrize(
    ("total", "path", "code"),
    [
        (30, ((18, None), (6, 1), (8, None), (3, None)), None),
        (25, ((5, None), (10, 1), (10, 1), (10, 1), (1, None)), "steps_longer"),
        (26, ((5, None), (10, 1), (10, 1), (10, 1), (1, None)), None),
        (31, ((5, None), (1, None)), "late"),
    ],
)
def test_minutes(total, path, code):
    value = recipe() | {"total_minutes": total, "steps": steps(*path)}
    assert codes(checked(value, "WithinStatedTimeBudget")) == ([code] if code else [])


@pytest.mark.parametrize(("count", "want"), [(3, "0/1"), (4, "1/1"), (12, "1/1"), (13, "0/1")])
def test_step_counts(count, want):
    value = recipe() | {"steps": steps(*[(1, None)] * count)}
    assert share(checked(value, "ReasonableStepCount")) == want


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Baby gets nothing", "short"),
        ("The same dinner without salt and with oil", "unspecific"),
        ("Gets the same rice, without any more", None),
        ("Everything flaked into fingers first", None),
        ("Cut large and fresh for the small one", "unspecific"),
    ],
)
def test_the_babys_share_is_described(text, code):
    result = checked(recipe() | {"baby_adaptation": text}, "HasBabyAdaptation")
    assert codes(result) == ([code] if code else [])


@pytest.mark.parametrize(
    ("names", "whom", "check", "want"),
    [
        (("walnuts",), "all", "BabySafety", "0/1"),
        (("honey",), "family", "BabySafety", "1/1"),
        (("honey",), "baby", "BabySafety", "0/1"),
        (("stock cube",), "all", "GlutenScan", "needs_label"),
        (("stock cube", "chapelure"), "guest", "GlutenScan", "0/1"),
        (("lactose-free milk", "lait de coco"), "all", "LactoseScan", "1/1"),
        (("double cream",), "baby", "LactoseScan", "0/1"),
        (("kuru soğan",), "all", "IBDTriggerScan", "0/1"),
        (("kuru soğan",), "family", "IBDTriggerScan", "0/1"),
        (("white rice",), "guest", "IBDTriggerScan", "1/1"),
    ],
)
def test_lines_are_scanned_for_who_eats_them(names, whom, check, want):
    value = lines(*((name, 5) for name in names), for_whom=whom)
    assert share(checked(value, check)) == want


def test_the_recipes_guest():
    title = recipe() | {"title": "Chicken, rice and carrots"}
    same = title | {"special_adaptation": "CHICKEN rice and carrots!"}
    assert codes(checked(same, "HasSpecialAdaptation")) == ["copied"]
    other = title | {"special_adaptation": "CHICKEN, rice & carrots"}
    assert share(checked(other, "HasSpecialAdaptation")) == "1/1"
    assert codes(checked(title, "HasSpecialAdaptation")) == ["absent"]
    short = title | {"special_adaptation": "Guest eats it."}
    assert codes(checked(short, "HasSpecialAdaptation")) == ["short"]


def test_a_session():
    case = "recipe_sunday_prep"
    value = recipe() | {
        "storage": [{"component": c, "method": "cold", "days": d} for c, d in (("a", 1), ("B", 2))],
        "serves_dinners": [{"component": "b", "day": day} for day in ("Mon", "Tue", "Wed")],
    }
    assert share(checked(value, "SundayPlan", case)) == "4/4"
    value["storage"][1]["days"] = 0
    value["total_minutes"] = 121
    value["steps"] = steps((1, None), (1, None))
    result = checked(value, "SundayPlan", case)
    assert (share(result), codes(result)) == ("0/4", ["storage", "serves", "parallel", "late"])
    value["steps"] = steps((120, None), (1, None))
    value["total_minutes"] = 120
    assert "steps_longer" in codes(checked(value, "SundayPlan", case))


def test_macros_against_weights():
    value = lines(("white rice", 100), ("olive oil", 10)) | {"adult_equivalents": 1}
    exact = macros(kcal=448.4, protein_g=6.61, fat_g=10.58, carbs_g=1)
    assert share(checked(value | {"macros": exact}, "MacroAccuracy")) == "30000/30000"
    # 44.84 of 448.4 kcal; 0.01 g of protein against a floor of 6.61 g; fat more than twice
    off = macros(kcal=403.56, protein_g=6.6, fat_g=30, carbs_g=1)
    result = checked(value | {"macros": off}, "MacroAccuracy")
    assert share(result) == f"{30000 - 1000 - 15 - 10000}/30000"
    assert codes(result) == ["coverage", "kcal_coverage", "off", "off", "off"]


def test_coverage_has_an_edge_and_no_water():
    at = lines(("white rice", 700), ("zorblat", 300), ("water", 999.99))
    assert checked(at, "MacroAccuracy").status is Status.SCORED
    below = lines(("white rice", 700), ("zorblat", 300.01), ("su", 5000))
    result = checked(below, "MacroAccuracy")
    assert (share(result), result.denominator) == ("coverage_too_low", 0)
    assert share(checked(lines(("water", 10)), "MacroAccuracy")) == "coverage_too_low"
    apart = lines(("white rice", 10), for_whom="guest")
    assert share(checked(apart, "MacroAccuracy")) == "coverage_too_low"


@pytest.mark.parametrize(
    ("rows", "component", "salt", "want"),
    [
        ([("red lentils", 100, "all")], "lentils", "before salting", "3/3"),
        ([("red lentils", 99.99, "all")], "lentils", "before salting", "2/3"),
        ([("red lentils", 10, "baby")], "lentils", "tuzsuz", "3/3"),
        ([("red lentils", 9.99, "baby")], "lentils", "tuzsuz", "2/3"),
        ([("red lentils", 500, "family")], "lentils", "no salt", "1/2"),
        ([("red lentils", 100, "all")], "green beans", "no salt", "2/3"),
        ([("red lentils", 100, "all")], None, None, "1/3"),
        ([("red lentils", 100, "all"), ("salt", 9, "all")], "lentils", "no salt", "2/3"),
        ([("red lentils", 100, "all"), ("zorblat", 43, "all")], "lentils", "no salt", "2/2"),
        ([("zorblat", 43, "all"), ("salt", 9, "all")], None, "no salt", "1/3"),
    ],
)
def test_iron_salt_and_sodium(rows, component, salt, want):
    value = recipe() | {
        "adult_equivalents": 2.5,
        "ingredients": [{"name": n, "grams": g, "for_whom": w} for n, g, w in rows],
        "iron_component": component,
        "salt_handling": salt,
    }
    assert share(checked(value, "IronSodiumGuard")) == want


# What holds of all


def test_an_answer_that_failed_fails_everywhere():
    for case in base_cases():
        found = check_answer(case.parameters, None, case.checks, Tools(FOODS, scan))
        assert list(found) == list(case.checks)
        assert set(found.values()) == {FAILED}


@given(st.randoms(use_true_random=False), st.permutations(range(7)))
def test_order_of_checks_lines_and_dinners_never_matters(source: random.Random, order):
    tools = Tools(FOODS, scan)
    value = changed((1, "day", "Mon"), (3, "total_minutes", 99), (4, "dish_name", "Pork pan"))
    moved = value | {"dinners": [value["dinners"][place] for place in order]}
    case = named_case("integration_week")
    mixed = source.sample(case.checks, len(case.checks))
    plain, other = (
        check_answer(case.parameters, answer, names, tools)
        for answer, names in ((read(value), case.checks), (read(moved), mixed))
    )
    assert {name: share(plain[name]) for name in plain} == {
        name: share(other[name]) for name in plain
    }
    again = recipe()
    source.shuffle(again["ingredients"])
    case = named_case("recipe_baby_iron")
    for name in case.checks:
        assert share(checked(again, name, case.case_id)) == share(
            checked(recipe(), name, case.case_id)
        )


def read(value):
    model = WeeklyMenu if "dinners" in value else Recipe
    return read_answer(json.dumps(value).encode(), model).answer


def test_evidence_stands_in_the_order_of_the_answer():
    value = changed((0, "day", "Fri"), (4, "day", "Mon"))
    value["dinners"][0]["total_minutes"] = value["dinners"][4]["total_minutes"] = 99
    result = checked(value, "WeekdayTimeBudget")
    assert [line.path for line in result.evidence] == [
        "dinners.0.total_minutes",
        "dinners.4.total_minutes",
    ]


def test_what_checks_know_has_a_version():
    version = check_version(FOODS, "0" * 64)
    assert version != check_version(FOODS, "1" * 64)
