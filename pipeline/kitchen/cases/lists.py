"""What variants draw: per template, a field's values or a bundle of fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.kitchen.cases.dishes import RUTS
from pipeline.kitchen.cases.templates import limits_of, week_of
from pipeline.kitchen.family import HOME, USUAL_MINUTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LISTS", "SHARED"]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


def _away(days: str, left: tuple[int, int, int], short: str, minutes: int) -> dict[str, Any]:
    """Somebody is away on some days, and another day is short."""
    return {
        "portions": week_of(HOME, **dict.fromkeys(days.split(), left)),
        "day_limits": limits_of(USUAL_MINUTES, **{short: minutes}),
    }


def _hectic(days: str, minutes: int) -> dict[str, Any]:
    return {"day_limits": limits_of(USUAL_MINUTES, **dict.fromkeys(days.split(), minutes))}


def _limits(sugar_g: int, kcal: int, protein_g: int) -> dict[str, Any]:
    return {
        "sugar_limit_c": 100 * sugar_g,
        "kcal_limit_c": 100 * kcal,
        "protein_floor_c": 100 * protein_g,
    }


SHARED: Mapping[str, Sequence[Any]] = {
    "use_up": _lines("""
        half a cabbage
        a bag of carrots
        six eggs
        a tub of yogurt
        four courgettes
        a bunch of parsley
        two aubergines
        a jar of tahini
        a bag of frozen peas
        three lemons
        a pack of spinach
        a cauliflower
    """),
}
"""What all templates draw alike, so that they stay paired."""

LISTS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "recipe_weekday_turkish": {
        "dish": _lines("""
            tavuk sote
            etli nohut
            kıymalı ıspanak
            tavuklu pilav
            çoban kavurma
            kıymalı patates
            sebzeli tavuk
            etli bezelye
            kıymalı kabak
            tavuk şiş with rice
            etli taze fasulye
            terbiyeli köfte
        """),
        "minutes_limit": (30, 25, 35),
    },
    "recipe_fish": {
        "dish": _lines("""
            salmon
            cod
            sea bass
            mackerel
            trout
            haddock
            tuna
            hake
            sardines
            sea bream
            prawns
            anchovies
        """),
        "minutes_limit": (20, 25),
    },
    "recipe_veggie": {
        "dish": _lines("""
            red lentils
            chickpeas
            white beans
            green lentils
            broad beans
            black eyed beans
            kidney beans
            split peas
            tofu
            eggs
            aubergine
            cauliflower
        """),
        "minutes_limit": (30, 25, 35),
    },
    "recipe_sunday_prep": {
        "minutes_limit": (120, 105, 90),
        "note": _lines("""
            The oven works.
            The oven is broken: hob only.
            One large pot only.
            The freezer is full.
        """),
    },
    "summer_week": {"month": ("June", "July", "August")},
    "winter_week": {"month": ("December", "January", "February")},
    "variety_rescue": {
        "_rut": [
            {"name": name, "words": kind.words, "count": count}
            for name, kind in RUTS.items()
            for count in (8, 9, 10)
        ],
    },
    "carte_blanche": {
        "_ban": [
            {"banned": tuple(words.split())}
            for words in (
                "köfte kofta meatball bulgur",
                "chicken tavuk pilaf pilav",
                "lentil mercimek yogurt yoghurt",
                "pasta makarna minced kıyma",
            )
        ],
        "_time": [{"day_limits": limits_of(minutes)} for minutes in (45, 60, 50)],
    },
    "absence_midweek": {
        "_away": [
            _away("Tue Wed", (1, 1, 1), "Thu", 15),
            _away("Mon Tue", (1, 1, 1), "Wed", 15),
            _away("Wed Thu", (1, 1, 1), "Fri", 15),
            _away("Mon Tue", (2, 0, 1), "Fri", 15),
            _away("Tue Wed", (2, 0, 1), "Fri", 12),
            _away("Wed Thu", (2, 0, 1), "Mon", 15),
            _away("Thu Fri", (1, 0, 1), "Tue", 15),
            _away("Mon Wed", (1, 1, 1), "Thu", 20),
            _away("Tue Thu", (1, 1, 1), "Mon", 12),
            _away("Mon Thu", (2, 0, 1), "Wed", 20),
            _away("Wed Fri", (1, 0, 1), "Tue", 15),
            _away("Mon Fri", (1, 1, 1), "Wed", 15),
        ],
    },
    "guests_saturday": {
        "_guests": [
            {"portions": week_of(HOME, Sat=portions)}
            for portions in (
                (6, 1, 1),
                (4, 1, 1),
                (8, 1, 1),
                (4, 3, 1),
                (5, 2, 1),
                (6, 3, 2),
            )
        ],
    },
    "hectic_week": {
        "_hectic": [
            _hectic("Mon Wed Thu", 20),
            _hectic("Mon Tue Wed", 20),
            _hectic("Tue Wed Fri", 20),
            _hectic("Mon Thu Fri", 20),
            _hectic("Tue Thu Fri", 15),
            _hectic("Wed Thu Fri", 15),
            _hectic("Mon Tue Fri", 15),
            _hectic("Mon Wed Fri", 20),
        ],
    },
    "low_sugar_stress": {
        "note": _lines("""
            A stressful week of sweet cravings: strictly low added sugar.
            Birthday cake is in the house: keep dinners free of added sugar.
            The dentist asked for two weeks without sweet sauces.
            Both adults stopped sweet drinks this week: no sugary dinners.
        """),
    },
    "diabetic_sugar_budget": {"sugar_limit_c": (1500, 1200, 1800, 1000)},
    "calorie_target_week": {"kcal_limit_c": (65000, 60000, 55000, 70000)},
    "allergy_gluten_free_week": {
        "note": [
            f"The guest is {guest} with coeliac disease."
            for guest in ("a grandmother", "a cousin", "a school friend's father", "an aunt")
        ],
    },
    "recipe_gluten_free": {
        "dish": _lines("""
            a baked dinner
            a pasta-like dinner
            a breaded dinner
            a savoury pie
            a noodle dinner
            a stuffed vegetable dinner
            a pancake dinner
            a gratin
            a dumpling dinner
            a flatbread dinner
            a meatball dinner
            a stew with dumplings
        """),
    },
    "recipe_lactose_free": {
        "dish": _lines("""
            a creamy one-pan dinner
            a gratin
            a white sauce dinner
            a creamy soup
            mashed potato with a main
            a yogurt-style soup
            a mild curry
            a risotto
            a creamy fish dinner
            a savoury tart
            a moussaka
            a stroganoff
        """),
    },
    "picky_eater_stress": {
        "note": _lines("""
            For two weeks the 7-year-old has refused everything new.
            The 7-year-old eats only white food at the moment.
            The 7-year-old refuses sauces and anything mixed.
            The 7-year-old had a choking scare and avoids meat pieces.
            The 7-year-old wants the same dinner every day.
            The 7-year-old refuses all vegetables but cucumber.
        """),
    },
    "recipe_baby_iron": {
        "dish": _lines("""
            lamb
            beef
            lentils
            sardines
            chicken thigh
            white beans
            egg
            chickpeas
            salmon
            spinach
            tofu
            turkey thigh
        """),
    },
    "ibd_flare_guest": {
        "protein_floor_c": (2500, 3000),
        "note": [
            f"The guest is {guest} in a Crohn's flare."
            for guest in ("a brother", "a friend", "a neighbour")
        ],
    },
    "recipe_ibd_flare": {
        "protein_floor_c": (2500, 3000),
        "dish": ("chicken", "white fish", "turkey mince", "eggs", "salmon", "lamb"),
    },
    "integration_week": {
        "_limits": [
            _limits(15, 650, 25),
            _limits(12, 650, 25),
            _limits(15, 600, 25),
            _limits(15, 650, 30),
            _limits(18, 700, 25),
            _limits(12, 600, 25),
            _limits(15, 600, 30),
            _limits(18, 650, 30),
            _limits(12, 700, 25),
            _limits(18, 600, 25),
            _limits(15, 700, 30),
            _limits(12, 650, 30),
        ],
    },
}
"""What each template draws by itself; a bundle's name starts with a low line."""
