"""What a kitchen case manipulates: its parameters are its identity."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.meals import Day
from schemas.record import Count, Record

__all__ = [
    "FLAGS",
    "Flag",
    "Guest",
    "MenuParameters",
    "Parameters",
    "PortionsOfDay",
    "RecipeParameters",
    "Rut",
]

Flag = Literal["gluten", "lactose", "ibd_trigger", "pork", "honey", "whole_nut"]
FLAGS: tuple[Flag, ...] = ("gluten", "lactose", "ibd_trigger", "pork", "honey", "whole_nut")
"""What the scanner looks for."""

Guest = Literal["celiac", "ibd_flare"]
PortionsOfDay = tuple[Count, Count, Count]
"""How many adults, children and babies eat."""


class Rut(Record):
    """What the family is tired of: beginnings of words, and how many dinners may still hit one."""

    words: tuple[str, ...]
    max: Count


class _Shared(Record):
    template: str
    suite: str
    variant: Count
    guest: Guest | None
    protein_floor_c: Count | None
    use_up: str | None
    note: str | None
    history: tuple[str, ...]


class MenuParameters(_Shared):
    """What a case that asks for a week's menu manipulates."""

    format: Literal["menu"]
    season: Literal["summer", "winter"] | None
    month: str | None
    day_limits: dict[Day, Count]
    portions: dict[Day, PortionsOfDay]
    sugar_limit_c: Count | None
    kcal_limit_c: Count | None
    banned: tuple[str, ...]
    rut: Rut | None
    prep_on_short_days: bool


class RecipeParameters(_Shared):
    """What a case that asks for a recipe manipulates."""

    format: Literal["recipe"]
    dish: str
    minutes_limit: Count
    steps_min: Count
    steps_max: Count
    scan: Flag | None
    baby_first: bool
    session: bool


Parameters = Annotated[MenuParameters | RecipeParameters, Field(discriminator="format")]
