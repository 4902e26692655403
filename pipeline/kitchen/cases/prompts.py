"""What a case asks, in words: its parameters and nothing that they do not state.

A test reads the numbers and names back out of these words and holds them to the parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.kitchen.cases.brief import FORMS
from pipeline.kitchen.family import HOME, USUAL_MINUTES, WEEKDAYS, quantity
from schemas.kitchen import MenuParameters
from schemas.meals import DAYS

if TYPE_CHECKING:
    from schemas.kitchen import Parameters, RecipeParameters

__all__ = ["case_prompt"]

_GUESTS = {
    "celiac": "A guest with coeliac disease eats every dinner of the week with the family: "
    "no dish and no component may contain gluten.",
    "ibd_flare": "A guest in a Crohn's flare eats along. The guest's plate alone is free of whole "
    "grains, legumes, nuts and seeds, raw vegetables, onions, coffee and hot spice; the family "
    "keeps its vegetables and fibre.",
}
_FREE_FROM = {
    "gluten": "Every ingredient has to be free of gluten.",
    "lactose": "Every ingredient has to be free of lactose.",
    "ibd_trigger": "What is cooked for everyone or for the guest has to be free of these.",
}


def case_prompt(parameters: Parameters) -> str:
    """The words of a case, as its user prompt."""
    if isinstance(parameters, MenuParameters):
        lines = _menu_lines(parameters) + _guest_lines(parameters)
    else:
        lines = _recipe_lines(parameters) + _guest_lines(parameters)
        if parameters.scan:
            lines.append(_FREE_FROM[parameters.scan])
    if parameters.note:
        lines.append(parameters.note)
    if parameters.use_up:
        lines.append(f"Use up: {parameters.use_up}.")
    history = "; ".join(parameters.history)
    lines.append(f"Dinners of the last four weeks, none of which may come again: {history}.")
    return "\n".join(lines) + "\n\n" + FORMS[parameters.format]


def _menu_lines(asked: MenuParameters) -> list[str]:
    lines = ["Plan seven dinners, one for each day from Monday to Sunday."]
    if asked.season:
        lines.append(
            f"It is {asked.season}, the month is {asked.month}: cook what belongs to it and what "
            "the markets have."
        )
    limits = ", ".join(f"{day} {asked.day_limits[day]}" for day in WEEKDAYS)
    lines.append(f"Minutes that dinner may take at most: {limits}.")
    if asked.prep_on_short_days:
        lines.append(
            f"Each dinner of a day with less than {USUAL_MINUTES} minutes uses something prepared "
            "on Sunday."
        )
    counts = ", ".join(f"{day} {'+'.join(map(str, asked.portions[day]))}" for day in DAYS)
    lines.append(f"Who eats, adults+children+babies: {counts}.")
    if any(portions != HOME for portions in asked.portions.values()):
        lines.append("State exactly these portions, day by day.")
    if asked.sugar_limit_c is not None:
        lines.append(
            f"Every dinner has at most {quantity(asked.sugar_limit_c)} g of sugars in an adult "
            "portion."
        )
    if asked.kcal_limit_c is not None:
        lines.append(
            f"Every dinner has at most {quantity(asked.kcal_limit_c)} kcal in an adult portion."
        )
    if asked.banned:
        lines.append(
            "Any cuisine is welcome this week. Not on the plates, but as the child's safe "
            f"component: {', '.join(asked.banned)}, nor any word that begins so."
        )
    if asked.rut:
        lines.append(
            f"The family is tired of the same dishes. At most {asked.rut.max} dinner may still "
            f"have anything whose name has a word that begins with: {', '.join(asked.rut.words)}. "
            "The child's safe component is free."
        )
    return lines


def _recipe_lines(asked: RecipeParameters) -> list[str]:
    takes = f"All of it takes at most {asked.minutes_limit} minutes"
    steps = f"in {asked.steps_min} to {asked.steps_max} steps"
    lines = [f"Write one recipe: {asked.dish}.", f"{takes}, {steps}."]
    if asked.session:
        lines.append(
            "The recipe is the whole Sunday session: at least two components that keep, with how "
            "and how many days in storage; what they serve on at least three days of the week in "
            "serves_dinners; and at least one step beside another."
        )
    if asked.baby_first:
        lines.append(
            "The baby's portion comes first: name in iron_component what gives iron, at least "
            "10 g of it on the baby's plate; say in salt_handling that the baby's share is taken "
            "out before salt; keep it within 300 mg of sodium."
        )
    return lines


def _guest_lines(asked: Parameters) -> list[str]:
    lines = [_GUESTS[asked.guest]] if asked.guest else []
    if asked.guest == "ibd_flare":
        fields = "special_adaptation"
        if asked.format == "menu":
            fields += ", special_components"
        lines.append(f"Describe the guest's plate each time in {fields} and special_macros.")
    if asked.protein_floor_c is not None:
        floor = quantity(asked.protein_floor_c)
        lines.append(f"The guest's plate has at least {floor} g of protein.")
    return lines
