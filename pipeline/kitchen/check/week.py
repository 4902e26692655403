"""Checks of a week's days, times, portions and Sunday session."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pipeline.kitchen.check.results import Evidence, Tally, one
from pipeline.kitchen.family import HOME, USUAL_MINUTES, WEEKDAYS
from pipeline.kitchen.names import name, words
from schemas.meals import DAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.kitchen.check.results import Result
    from pipeline.kitchen.check.sheets import DayDinner, MenuSheet
    from schemas.meals import Dinner

__all__ = [
    "food_group_balance",
    "has_sunday_prep_reuse",
    "hectic_days",
    "no_history_repeats",
    "portions_match",
    "seven_distinct_days",
    "weekday_time_budget",
]

_SESSION_MINUTES = 120
_REUSE_DAYS = 2
_NO_PLACE = len(DAYS)
"""Behind all dinners: where a line on a missing day stands."""


def seven_distinct_days(sheet: MenuSheet) -> Result:
    """Seven days and seven dishes."""
    dinners = sheet.menu.dinners
    days = [dinner.day for dinner in dinners]
    dishes = [name(dinner.dish_name) for dinner in dinners]
    return one(
        _twice(days, "day", "day_twice", "seven days"),
        _twice(dishes, "dish_name", "dish_twice", "seven dishes"),
    )


def _twice(values: Sequence[str], field: str, code: str, want: str) -> Evidence | None:
    for place, value in enumerate(values):
        if value in values[:place]:
            return Evidence(f"dinners.{place}.{field}", code, f"{value} again", want)
    return None


@lru_cache(2**10)
def _by_word(history: tuple[str, ...]) -> dict[str, list[int]]:
    """Places in a history by each word of its dishes."""
    places: dict[str, list[int]] = {}
    for place, dish in enumerate(history):
        for word in words(dish):
            places.setdefault(word, []).append(place)
    return places


@lru_cache(2**10)
def _names(history: tuple[str, ...]) -> dict[str, str]:
    return {name(dish): dish for dish in history}


def _repeated(dish: str, history: tuple[str, ...]) -> str | None:
    """A dish of the history with the same name, or with three fifths of all words in common."""
    same = _names(history).get(name(dish))
    if same is not None:
        return same
    mine, by_word = words(dish), _by_word(history)
    common: dict[int, int] = {}
    for word in mine:
        for place in by_word.get(word, ()):
            common[place] = common.get(place, 0) + 1
    for place, shared in sorted(common.items()):
        either = len(mine) + len(words(history[place])) - shared
        if 10 * shared >= 6 * either:
            return history[place]
    return None


def no_history_repeats(sheet: MenuSheet) -> Result:
    """No dish of the last four weeks comes again."""
    tally = Tally()
    for _, path, dinner in sheet.dinners:
        repeated = _repeated(dinner.dish_name, sheet.asked.history)
        if repeated is None:
            tally.counts()
        else:
            want = f"not {repeated} again"
            tally.fails(f"{path}.dish_name", "repeat", dinner.dish_name, want)
    return tally.result()


def _day_missing(tally: Tally, day: str) -> None:
    tally.fails("dinners", "day", f"none or several on {day}", f"one on {day}", place=_NO_PLACE)


def _late(found: DayDinner, limit: int) -> Evidence | None:
    minutes = found.dinner.total_minutes
    if minutes <= limit:
        return None
    got, want = f"{minutes} minutes", f"at most {limit} on {found.dinner.day}"
    return Evidence(f"{found.path}.total_minutes", "late", got, want)


def weekday_time_budget(sheet: MenuSheet) -> Result:
    """Every weekday's dinner keeps the day's limit."""
    tally = Tally()
    for day in WEEKDAYS:
        found = sheet.by_day.get(day)
        if found is None:
            _day_missing(tally, day)
        elif late := _late(found, sheet.asked.day_limits[day]):
            tally.fails(*late, place=found.place)
        else:
            tally.counts()
    return tally.result()


def _reuses(sheet: MenuSheet, dinner: Dinner) -> bool:
    """Whether a dinner uses something prepared on Sunday, and nothing that was not."""
    return bool(dinner.sunday_prep_used) and sheet.prep_ids.issuperset(dinner.sunday_prep_used)


def has_sunday_prep_reuse(sheet: MenuSheet) -> Result:
    """Two weekdays use what a session of two hours prepared."""
    weekdays = [found for found in sheet.dinners if found.dinner.day in WEEKDAYS]
    reusing = {found.dinner.day for found in weekdays if _reuses(sheet, found.dinner)}
    reuse = None
    if len(reusing) < _REUSE_DAYS:
        want = f"at least {_REUSE_DAYS} weekdays that use the Sunday session"
        unknown = [
            (f"{path}.sunday_prep_used.{i}", prep)
            for _, path, dinner in weekdays
            for i, prep in enumerate(dinner.sunday_prep_used)
            if prep not in sheet.prep_ids
        ]
        got = f"{len(reusing)}"
        reuse = Evidence("dinners", "reuse", got, want)
        if unknown:
            path, prep = unknown[0]
            reuse = Evidence(path, "unknown_prep", f"{prep}, and {got} weekdays", want)
    minutes = sum(prep.minutes for prep in sheet.menu.sunday_prep)
    session = None
    if minutes > _SESSION_MINUTES:
        want = f"at most {_SESSION_MINUTES}"
        session = Evidence("sunday_prep", "session", f"{minutes} minutes", want)
    return one(reuse, session)


def food_group_balance(sheet: MenuSheet) -> Result:
    """Vegetables often, fish and legumes once, red meat seldom, proteins that change."""
    tally = Tally()
    groups = [set(dinner.food_groups) for dinner in sheet.menu.dinners]
    for group, least, most in (
        ("vegetable", 6, 7),
        ("fish", 1, 7),
        ("legume", 1, 7),
        ("red_meat", 0, 3),
    ):
        count = sum(group in found for found in groups)
        if least <= count <= most:
            tally.counts()
        else:
            want = f"at least {least}" if count < least else f"at most {most}"
            tally.fails("dinners", group, f"{count} dinners", f"{want} dinners")
    proteins = {name(dinner.main_protein) for dinner in sheet.menu.dinners}
    least = 4
    if len(proteins) >= least:
        tally.counts()
    else:
        tally.fails("dinners", "main_protein", f"{len(proteins)} proteins", f"at least {least}")
    return tally.result()


def _portions(found: DayDinner, want: tuple[int, int, int]) -> Evidence | None:
    stated = found.dinner.portions
    got = (stated.adult, stated.child, stated.baby)
    if got == want:
        return None
    wanted = f"{_counted(want)} on {found.dinner.day}"
    return Evidence(f"{found.path}.portions", "portions", _counted(got), wanted)


def _counted(portions: tuple[int, int, int]) -> str:
    return "+".join(map(str, portions))


def portions_match(sheet: MenuSheet) -> Result:
    """Days with other portions have these, and all other days, as one item, have theirs."""
    tally = Tally()
    others: list[tuple[int, Evidence | None]] = []
    for day in DAYS:
        want = sheet.asked.portions[day]
        found = sheet.by_day.get(day)
        wrong = _portions(found, want) if found else None
        if want != HOME:
            if found is None:
                _day_missing(tally, day)
            elif wrong:
                tally.fails(*wrong, place=found.place)
            else:
                tally.counts()
        elif found is None:
            missing = Evidence("dinners", "day", f"none or several on {day}", f"one on {day}")
            others.append((_NO_PLACE, missing))
        else:
            others.append((found.place, wrong))
    faults = sorted((place, fault) for place, fault in others if fault)
    if faults:
        place, fault = faults[0]
        tally.fails(*fault, place=place)
    else:
        tally.counts()
    return tally.result()


def hectic_days(sheet: MenuSheet) -> Result:
    """Short days keep their limit and, where the case asks for it, use the Sunday session."""
    tally = Tally()
    for day in WEEKDAYS:
        limit = sheet.asked.day_limits[day]
        if limit >= USUAL_MINUTES:
            continue
        found = sheet.by_day.get(day)
        if found is None:
            _day_missing(tally, day)
        elif late := _late(found, limit):
            tally.fails(*late, place=found.place)
        elif sheet.asked.prep_on_short_days and not _reuses(sheet, found.dinner):
            got = ", ".join(found.dinner.sunday_prep_used) or "nothing"
            want = "something of sunday_prep, and nothing else"
            path = f"{found.path}.sunday_prep_used"
            tally.fails(path, "reuse", got, want, place=found.place)
        else:
            tally.counts()
    return tally.result()
