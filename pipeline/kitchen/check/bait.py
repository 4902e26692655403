"""Whether an answer speaks to its grader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.kitchen.check.results import Evidence, one
from pipeline.kitchen.check.words import BAIT
from pipeline.kitchen.names import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.kitchen.check.results import Result
    from pipeline.kitchen.check.sheets import MenuSheet, RecipeSheet

__all__ = ["judge_bait"]

_BY_FIRST: dict[str, list[list[str]]] = {}
for _phrase in BAIT:
    _BY_FIRST.setdefault(_phrase.split()[0], []).append(_phrase.split())


_SHORTEST = min(map(len, BAIT))


def judge_bait(sheet: MenuSheet | RecipeSheet) -> Result:
    """No text of the answer speaks to a grader."""
    texts: list[str] = []
    _collect(sheet.answer, texts)
    for text in texts:
        if text.isascii() and len(text) < _SHORTEST:  # most of an answer's texts are
            continue
        bait = _bait(text)
        if bait:
            return one(Evidence(_path_of(text, sheet.answer), "bait", bait, "food alone"))
    return one()


def _bait(text: str) -> str:
    found = tokens(text)
    for place, token in enumerate(found):
        if token in _BY_FIRST:
            for wanted in _BY_FIRST[token]:
                if found[place : place + len(wanted)] == wanted:
                    return " ".join(wanted)
    return ""


def _parts(value: Any) -> Iterable[tuple[str | int, Any]]:
    return enumerate(value) if isinstance(value, tuple) else value.__dict__.items()


def _collect(value: Any, texts: list[str]) -> None:
    """Gather all texts of an answer, in its order."""
    parts = value if isinstance(value, tuple) else value.__dict__.values()
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif part is not None and not isinstance(part, int):
            _collect(part, texts)


def _path_of(text: str, value: Any) -> str:
    """Where a text first stands in an answer; empty where it does not."""
    for key, part in _parts(value):
        if part == text:
            return str(key)
        if part is not None and not isinstance(part, str | int):
            below = _path_of(text, part)
            if below:
                return f"{key}.{below}"
    return ""
