"""Checks of a recipe's lines, steps, minutes and session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.kitchen.check.results import Evidence, Tally, one
from pipeline.kitchen.check.sheets import scan_item
from pipeline.kitchen.check.words import SEASONING, TEXTURE
from pipeline.kitchen.family import quantity
from pipeline.kitchen.names import NEUTRAL, characters, hits, name, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.kitchen.check.results import Result
    from pipeline.kitchen.check.sheets import RecipeSheet
    from schemas.kitchen import Flag

__all__ = [
    "baby_safety",
    "gluten_scan",
    "has_baby_adaptation",
    "ibd_trigger_scan",
    "ingredients_have_quantities",
    "lactose_scan",
    "reasonable_step_count",
    "sunday_plan",
    "within_stated_time_budget",
]

_ONE_GRAM_C = 100
_ALIKE_FROM = 3
_SLACK_MINUTES = 5
_BABY_CHARACTERS = 20
_SAYS_NOTHING = NEUTRAL | {"water", "salt", "pepper", "oil"}
_KEEPING = 2
_SERVED_DAYS = 3


def ingredients_have_quantities(sheet: RecipeSheet) -> Result:
    """No line is a placeholder: all the same weight, or one gram of what is no seasoning."""
    tally = Tally()
    lines = sheet.recipe.ingredients
    alike = len(lines) >= _ALIKE_FROM and len({line.grams_c for line in lines}) == 1
    for place, line in enumerate(lines):
        got = f"{quantity(line.grams_c)} g of {line.name}"
        if alike:
            tally.fails(f"ingredients.{place}.grams", "all_equal", got, "weights that differ")
        elif line.grams_c == _ONE_GRAM_C and not words(line.name) & SEASONING:
            tally.fails(f"ingredients.{place}.grams", "one_gram", got, "what it really weighs")
        else:
            tally.counts()
    return tally.result()


def reasonable_step_count(sheet: RecipeSheet) -> Result:
    """So many steps as a recipe of its kind needs."""
    least, most, count = sheet.asked.steps_min, sheet.asked.steps_max, len(sheet.recipe.steps)
    if least <= count <= most:
        return one()
    return one(Evidence("steps", "steps", f"{count} steps", f"{least} to {most}"))


def within_stated_time_budget(sheet: RecipeSheet) -> Result:
    """The recipe keeps the case's limit, and its steps fit into what it states."""
    total, path = sheet.recipe.total_minutes, sheet.path_minutes
    longer = None
    if path > total + _SLACK_MINUTES:
        want = f"at most {total + _SLACK_MINUTES}"
        longer = Evidence("steps", "steps_longer", f"{path} minutes of steps", want)
    return one(_late(sheet), longer)


def _late(sheet: RecipeSheet) -> Evidence | None:
    total, limit = sheet.recipe.total_minutes, sheet.asked.minutes_limit
    if total <= limit:
        return None
    return Evidence("total_minutes", "late", f"{total} minutes", f"at most {limit}")


def has_baby_adaptation(sheet: RecipeSheet) -> Result:
    """The baby's share is described by its texture or by what it is made of."""
    text = sheet.recipe.baby_adaptation
    length = characters(text)
    short = unspecific = None
    if length < _BABY_CHARACTERS:
        want = f"at least {_BABY_CHARACTERS} characters"
        short = Evidence("baby_adaptation", "short", f"{length} characters", want)
    named = {word for line in sheet.recipe.ingredients for word in words(line.name)}
    if not hits(text, TEXTURE) and not words(text) & (named - _SAYS_NOTHING):
        want = "a texture or an ingredient"
        unspecific = Evidence("baby_adaptation", "unspecific", text, want)
    return one(short, unspecific)


def _scan_lines(
    sheet: RecipeSheet, flags: Sequence[Flag], eaters: Sequence[str], *, required: bool = False
) -> Result:
    """One item: the names of the lines of these eaters are clear."""
    tally = Tally()
    texts = [
        (f"ingredients.{place}.name", line.name)
        for place, line in enumerate(sheet.recipe.ingredients)
        if line.for_whom in eaters
    ]
    unwanted = " or ".join(flags)
    if required and not texts:
        want = f"lines for {' or '.join(eaters)}"
        tally.fails("ingredients", "absent", "none", want)
        return tally.result()
    verdict, path, text = scan_item(texts, flags, sheet.scan, "ingredients")
    if verdict == "flag":
        tally.fails(path, "flagged", text, f"no {unwanted}")
    elif verdict == "needs_label":
        tally.leaves(path, "needs_label", text, f"a name that shows whether it has {unwanted}")
    else:
        tally.counts()
    return tally.result()


_EVERY_LINE = ("all", "family", "guest", "baby")


def baby_safety(sheet: RecipeSheet) -> Result:
    """Nothing that the baby gets is honey or a whole nut."""
    return _scan_lines(sheet, ("honey", "whole_nut"), ("all", "baby"))


def gluten_scan(sheet: RecipeSheet) -> Result:
    """No ingredient carries gluten."""
    return _scan_lines(sheet, ("gluten",), _EVERY_LINE)


def lactose_scan(sheet: RecipeSheet) -> Result:
    """No ingredient carries lactose."""
    return _scan_lines(sheet, ("lactose",), _EVERY_LINE)


def ibd_trigger_scan(sheet: RecipeSheet) -> Result:
    """Nothing that the guest gets is a trigger, and the guest gets something."""
    return _scan_lines(sheet, ("ibd_trigger",), ("all", "guest"), required=True)


def sunday_plan(sheet: RecipeSheet) -> Result:
    """A session keeps components, serves days with them, runs in parallel, and ends in time."""
    tally = Tally()
    recipe, limit = sheet.recipe, sheet.asked.minutes_limit
    keeping = {name(row.component) for row in recipe.storage if row.days >= 1}
    if len(keeping) >= _KEEPING:
        tally.counts()
    else:
        want = f"at least {_KEEPING} that keep for a day"
        tally.fails("storage", "storage", f"{len(keeping)} components", want)
    days = {row.day for row in recipe.serves_dinners if name(row.component) in keeping}
    if len(days) >= _SERVED_DAYS:
        tally.counts()
    else:
        want = f"at least {_SERVED_DAYS} with stored components"
        tally.fails("serves_dinners", "serves", f"{len(days)} days", want)
    if any(step.parallel_with is not None for step in recipe.steps):
        tally.counts()
    else:
        tally.fails("steps", "parallel", "no step beside another", "at least one")
    late = _late(sheet)
    if not late and sheet.path_minutes > limit:
        got = f"{sheet.path_minutes} minutes of steps"
        late = Evidence("steps", "steps_longer", got, f"at most {limit}")
    if late:
        tally.fails(*late)
    else:
        tally.counts()
    return tally.result()
