"""Where a bracket of a text is closed again: found before any parser recurses into it."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Region", "region_of"]

_UP_TO_A_BRACKET = re.compile(r'(?:[^{}\[\]"]++|"(?:[^"\\]++|\\.)*+")*+[{}\[\]]', re.DOTALL)


class Region(NamedTuple):
    """Where brackets are closed again, none where they are not, and how deep they go."""

    end: int | None
    depth: int


def region_of(text: str, start: int) -> Region:
    """The region of the first bracket or brace from a place on.

    Those of either kind count alike, and nothing counts between double quotes.
    """
    depth, deepest, place = 0, 0, start
    while match := _UP_TO_A_BRACKET.match(text, place):
        place = match.end()
        if text[place - 1] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
            if depth <= 0:
                return Region(place, deepest)
    return Region(None, deepest)
