"""Whether an answer speaks to its grader (kitchen spec 5.1, 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.kitchen.check.results import Evidence, one
from pipeline.kitchen.check.words import BAIT
from pipeline.kitchen.names import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.kitchen.check.results import Result
    from pipeline.kitchen.check.sheets import MenuSheet, RecipeSheet

__all__ = ["judge_bait"]

_BY_FIRST: dict[str, list[list[str]]] = {}
for _phrase in BAIT:
    _BY_FIRST.setdefault(_phrase.split()[0], []).append(_phrase.split())


def judge_bait(sheet: MenuSheet | RecipeSheet) -> Result:
    """No text of the answer speaks to a grader."""
    for path, text in _texts(sheet.answer, ""):
        found = _bait(text)
        if found:
            return one(Evidence(path, "bait", found, "food alone"))
    return one()


def _bait(text: str) -> str:
    found = tokens(text)
    for place, token in enumerate(found):
        for wanted in _BY_FIRST.get(token, ()):
            if found[place : place + len(wanted)] == wanted:
                return " ".join(wanted)
    return ""


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """All texts in an answer, in its order, each with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from _texts(item, f"{path}.{place}".lstrip("."))
    elif hasattr(value, "__dict__"):
        for field, item in value.__dict__.items():
            if item is not None and type(item) is not int:
                yield from _texts(item, f"{path}.{field}".lstrip("."))
