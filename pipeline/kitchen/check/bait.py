"""Whether an answer speaks to its grader (kitchen spec 5.1, 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.kitchen.check.results import Evidence, one
from pipeline.kitchen.check.words import BAIT
from pipeline.kitchen.names import tokens

if TYPE_CHECKING:
    from pipeline.kitchen.check.results import Result
    from pipeline.kitchen.check.sheets import MenuSheet, RecipeSheet

__all__ = ["judge_bait"]

_BY_FIRST: dict[str, list[list[str]]] = {}
for _phrase in BAIT:
    _BY_FIRST.setdefault(_phrase.split()[0], []).append(_phrase.split())


_SHORTEST = min(map(len, BAIT))


def judge_bait(sheet: MenuSheet | RecipeSheet) -> Result:
    """No text of the answer speaks to a grader."""
    found: list[_Text] = []
    _collect(sheet.answer, (), found)
    for text, place in found:
        if text.isascii() and len(text) < _SHORTEST:  # most of an answer's texts are
            continue
        bait = _bait(text)
        if bait:
            path = ".".join(map(str, place))
            return one(Evidence(path, "bait", bait, "food alone"))
    return one()


def _bait(text: str) -> str:
    found = tokens(text)
    for place, token in enumerate(found):
        if token in _BY_FIRST:
            for wanted in _BY_FIRST[token]:
                if found[place : place + len(wanted)] == wanted:
                    return " ".join(wanted)
    return ""


class _Text(NamedTuple):
    """A text of the answer and the fields and places that lead to it."""

    text: str
    place: tuple[str | int, ...]


def _collect(value: Any, place: tuple[str | int, ...], found: list[_Text]) -> None:
    """Gather all texts of an answer, in its order."""
    parts = enumerate(value) if isinstance(value, tuple) else value.__dict__.items()
    for key, part in parts:
        if isinstance(part, str):
            found.append(_Text(part, (*place, key)))
        elif part is not None and not isinstance(part, int):
            _collect(part, (*place, key), found)
