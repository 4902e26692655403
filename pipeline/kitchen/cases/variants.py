"""Variants: the same condition with other dishes, limits and days, drawn from a seed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pipeline.errors import InputError
from pipeline.identity import digest_bytes
from pipeline.kitchen.cases.dishes import POOL, RUTS
from pipeline.kitchen.cases.lists import LISTS, SHARED
from pipeline.kitchen.cases.templates import SUITES, TEMPLATES, base_parameters
from pipeline.kitchen.names import hits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipeline.kitchen.cases.templates import Template
    from schemas.kitchen import Parameters

__all__ = ["DEFAULT_SEED", "case_id_of", "find_variant", "powered_variants", "variant_parameters"]

DEFAULT_SEED = "kitchen-2026"
ENOUGH = 12
"""Cases that a suite needs at least, so that a paired test can find anything."""

_SHARED = "*"
_HISTORY = 28
_CASE_ID = re.compile(r"([a-z_]+)(?:-v(0[1-9]|[1-9][0-9]{1,5}))?")


def variant_parameters(template: Template, variant: int, seed: str = DEFAULT_SEED) -> Parameters:
    """Parameters of a template's variant; those of variant 0 are the template's own.

    Parameters
    ----------
    template
        What is varied.
    variant
        0, or 1, 2, 3 and so on.
    seed
        Seed of all draws.
    """
    base = base_parameters(template)
    if variant == 0:
        return base
    values = base.model_dump() | {"variant": variant}
    rut: dict[str, Any] | None = None
    for field, choices in LISTS.get(template.name, {}).items():
        value = _draw(choices, seed, template.name, field, variant)
        if field == "_rut":
            rut = value
            values["rut"] = {"words": value["words"], "max": 1}
        elif field.startswith("_"):
            for name, part in value.items():
                values[name] = values[name] | part if isinstance(part, dict) else part
        else:
            values[field] = value
    for field, choices in SHARED.items():
        values[field] = _draw(choices, seed, _SHARED, field, variant)
    values["history"] = _history(seed, variant, rut)
    return type(base).model_validate(values)


def powered_variants(suite: str) -> range:
    """Variants of each template that give a suite enough cases."""
    return range(1, 1 - (-ENOUGH // len(SUITES[suite])))


def case_id_of(template: str, variant: int) -> str:
    """The name of a case."""
    return f"{template}-v{variant:02}" if variant else template


def find_variant(case_id: str) -> tuple[Template, int]:
    """The template and the variant of a case's name.

    Raises
    ------
    InputError
        There is no such case; names what there is.
    """
    match = _CASE_ID.fullmatch(case_id)
    for template in TEMPLATES:
        if match and match[1] == template.name:
            return template, int(match[2] or 0)
    raise InputError(
        "a template's name, or one with a variant such as recipe_fish-v01",
        repr(case_id),
        "case",
        "`flavourbench kitchen cases` lists them.",
    )


def _order(seed: str, parts: str) -> str:
    return digest_bytes("kitchen-variant", f"{seed}|{parts}".encode())


def _draw(choices: Sequence[Any], seed: str, template: str, field: str, variant: int) -> Any:
    """The value at the variant's place in the list as the seed orders it."""
    order = _indexes(len(choices), seed, f"{template}|{field}")
    return choices[order[(variant - 1) % len(choices)]]


@lru_cache(2**10)
def _indexes(length: int, seed: str, field: str) -> tuple[int, ...]:
    return tuple(sorted(range(length), key=lambda i: _order(seed, f"{field}|{i}")))


def _history(seed: str, variant: int, rut: dict[str, Any] | None) -> tuple[str, ...]:
    """Four weeks of dishes out of the pool; in a rut, some of them of its kind."""
    ordered = _shuffled(POOL, seed, f"*|history|{variant}")
    if rut is None:
        return tuple(ordered[:_HISTORY])
    drawn = _shuffled(RUTS[rut["name"]].dishes, seed, f"variety_rescue|rut|{variant}")
    others = [dish for dish in ordered if not hits(dish, rut["words"])]
    count = rut["count"]
    mixed = drawn[:count] + others[: _HISTORY - count]
    return tuple(_shuffled(mixed, seed, f"variety_rescue|mix|{variant}"))


def _shuffled(dishes: Iterable[str], seed: str, field: str) -> list[str]:
    return sorted(dishes, key=lambda dish: _order(seed, f"{field}|{dish}"))
