"""The 23 templates: what each changes of the family's ordinary week, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pipeline.kitchen.cases.dishes import HISTORY, RUTS
from pipeline.kitchen.family import HOME, USUAL_MINUTES, WEEKDAYS
from pipeline.kitchen.names import hits
from schemas.kitchen import MenuParameters, RecipeParameters
from schemas.meals import DAYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemas.kitchen import Parameters

__all__ = [
    "SUITES",
    "TEMPLATES",
    "Template",
    "base_parameters",
    "limits_of",
    "week_of",
]

_MENU = (
    "SevenDistinctDays", "NoPorkMains", "NoHistoryRepeats", "SonSafeEveryDay", "WeekdayTimeBudget",
    "HasSundayPrepReuse", "AtwaterConsistency", "CaloriePlausibility", "FoodGroupBalance",
    "JudgeBait",
)  # fmt: skip
_RECIPE = (
    "IngredientsHaveQuantities", "ReasonableStepCount", "WithinStatedTimeBudget",
    "HasBabyAdaptation", "AtwaterConsistency", "CaloriePlausibility", "MacroAccuracy",
    "BabySafety", "JudgeBait",
)  # fmt: skip
_NO_PLATE = "CaloriePlausibility"
"""Holds of a plate; a batch session is none."""


class Template(NamedTuple):
    """A case to be: its condition, and the checks that it adds to those of its format.

    Attributes
    ----------
    condition
        Parameters that differ from the defaults.
    """

    name: str
    suite: str
    format: Literal["menu", "recipe"]
    condition: Mapping[str, Any]
    adds: tuple[str, ...] = ()

    @property
    def checks(self) -> tuple[str, ...]:
        """Names of the checks that apply to its cases."""
        shared: tuple[str, ...] = _MENU if self.format == "menu" else _RECIPE
        if self.condition.get("session"):
            shared = tuple(check for check in shared if check != _NO_PLATE)
        return shared + self.adds


def week_of(usual: tuple[int, int, int], **days: tuple[int, int, int]) -> dict[str, Any]:
    """Portions of every day: the usual ones but on the days named."""
    return {day: days.get(day, usual) for day in DAYS}


def limits_of(usual: int, **days: int) -> dict[str, Any]:
    """Minutes of every weekday: the usual ones but on the days named."""
    return {day: days.get(day, usual) for day in WEEKDAYS}


def _in_a_rut() -> tuple[str, ...]:
    """Four weeks with a dish of pasta every three to four days."""
    pasta = RUTS["pasta"]
    others = [dish for dish in HISTORY if not hits(dish, pasta.words)]
    history = others[:20]
    for number, dish in enumerate(pasta.dishes[:8]):
        history.insert(1 + (7 * number + 1) // 2, dish)
    return tuple(history)


_USUAL: dict[str, dict[str, Any]] = {
    "menu": {
        "season": None,
        "month": None,
        "day_limits": limits_of(USUAL_MINUTES),
        "portions": week_of(HOME),
        "sugar_limit_c": None,
        "kcal_limit_c": None,
        "banned": (),
        "rut": None,
        "prep_on_short_days": False,
    },
    "recipe": {
        "minutes_limit": USUAL_MINUTES,
        "steps_min": 4,
        "steps_max": 12,
        "scan": None,
        "baby_first": False,
        "session": False,
    },
}
_WITH_GUEST = week_of((3, 1, 1))
_FLARE = {"guest": "ibd_flare", "protein_floor_c": 2500}
_FLARE_MENU = ("IBDTriggerScan", "SpecialAdaptationEveryDay", "ProteinFloor")
_CRAVINGS = "A stressful week of sweet cravings: strictly low added sugar."
_REFUSAL = "For two weeks the 7-year-old has refused everything new."

TEMPLATES = (
    Template("standard_week", "baseline", "menu", {}),
    Template(
        "recipe_weekday_turkish",
        "baseline",
        "recipe",
        {"dish": "a Turkish weekday main with chicken or lamb"},
    ),
    Template("recipe_fish", "baseline", "recipe", {"dish": "a fish dinner", "minutes_limit": 20}),
    Template("recipe_veggie", "baseline", "recipe", {"dish": "a vegetarian main with legumes"}),
    Template(
        "recipe_sunday_prep",
        "baseline",
        "recipe",
        {
            "dish": "the whole Sunday batch session",
            "minutes_limit": 120,
            "steps_min": 6,
            "steps_max": 20,
            "session": True,
        },
        ("SundayPlan",),
    ),
    Template("summer_week", "season", "menu", {"season": "summer", "month": "July"}),
    Template("winter_week", "season", "menu", {"season": "winter", "month": "January"}),
    Template(
        "variety_rescue",
        "creativity",
        "menu",
        {"history": _in_a_rut(), "rut": {"words": RUTS["pasta"].words, "max": 1}},
        ("EscapesRut",),
    ),
    Template(
        "carte_blanche",
        "creativity",
        "menu",
        {"day_limits": limits_of(60), "banned": ("köfte", "kofta", "meatball", "bulgur")},
        ("CarteBlancheBan",),
    ),
    Template(
        "absence_midweek",
        "context",
        "menu",
        {
            "portions": week_of(HOME, Tue=(1, 1, 1), Wed=(1, 1, 1)),
            "day_limits": limits_of(USUAL_MINUTES, Thu=15),
        },
        ("PortionsMatchAbsence", "HecticDays"),
    ),
    Template(
        "guests_saturday",
        "context",
        "menu",
        {"portions": week_of(HOME, Sat=(6, 1, 1))},
        ("GuestsServed",),
    ),
    Template(
        "hectic_week",
        "context",
        "menu",
        {
            "day_limits": limits_of(USUAL_MINUTES, Mon=20, Wed=20, Thu=20),
            "prep_on_short_days": True,
        },
        ("HecticDays",),
    ),
    Template("low_sugar_stress", "nutrition", "menu", {"note": _CRAVINGS}),
    Template(
        "diabetic_sugar_budget", "nutrition", "menu", {"sugar_limit_c": 1500}, ("SugarBudget",)
    ),
    Template("calorie_target_week", "nutrition", "menu", {"kcal_limit_c": 65000}, ("CalorieCap",)),
    Template(
        "allergy_gluten_free_week",
        "allergy",
        "menu",
        {"guest": "celiac", "portions": _WITH_GUEST},
        ("GlutenScan",),
    ),
    Template(
        "recipe_gluten_free",
        "allergy",
        "recipe",
        {"dish": "a comforting baked dinner", "scan": "gluten"},
        ("GlutenScan",),
    ),
    Template(
        "recipe_lactose_free",
        "allergy",
        "recipe",
        {"dish": "a creamy one-pan dinner", "scan": "lactose"},
        ("LactoseScan",),
    ),
    Template("picky_eater_stress", "children", "menu", {"note": _REFUSAL}),
    Template(
        "recipe_baby_iron",
        "children",
        "recipe",
        {"dish": "a dinner built around the baby's portion", "baby_first": True},
        ("IronSodiumGuard",),
    ),
    Template("ibd_flare_guest", "medical", "menu", _FLARE | {"portions": _WITH_GUEST}, _FLARE_MENU),
    Template(
        "recipe_ibd_flare",
        "medical",
        "recipe",
        _FLARE | {"dish": "a family dinner with a flare variant", "scan": "ibd_trigger"},
        ("IBDTriggerScan", "HasSpecialAdaptation", "ProteinFloor"),
    ),
    Template(
        "integration_week",
        "integration",
        "menu",
        _FLARE | {"portions": _WITH_GUEST, "sugar_limit_c": 1500, "kcal_limit_c": 65000},
        (*_FLARE_MENU, "SugarBudget", "CalorieCap"),
    ),
)
"""All templates, suite by suite."""

SUITES: dict[str, tuple[Template, ...]] = {
    suite: tuple(template for template in TEMPLATES if template.suite == suite)
    for suite in dict.fromkeys(template.suite for template in TEMPLATES)
}
"""Templates by suite, in order."""


def base_parameters(template: Template) -> Parameters:
    """A template's parameters: its condition upon the defaults."""
    values = {
        "template": template.name,
        "suite": template.suite,
        "format": template.format,
        "variant": 0,
        "guest": None,
        "protein_floor_c": None,
        "use_up": None,
        "note": None,
        "history": HISTORY,
        **_USUAL[template.format],
        **template.condition,
    }
    model = MenuParameters if template.format == "menu" else RecipeParameters
    return model.model_validate(values)
