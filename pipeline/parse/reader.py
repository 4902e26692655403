"""Reads a selection out of an answer under a parser contract (docs/parsing.md).

Every `FINAL_SELECTION` marker opens a segment that ends at the next marker or at the end of its
line, where `str.splitlines` ends it. A segment is valid when it is three labels or three names of
the task's own candidates. All valid segments must name one set. Nothing is guessed: no look-alike
letters, no parts of words, no nearest name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from schemas.results import Reason
from schemas.taskset import LABELS, Forgiveness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.taskset import ParserContract

__all__ = ["Reading", "read_selection"]

_LINE_ENDS = "\\n\\r\\x0b\\x0c\\x1c\\x1d\\x1e\\x85\\u2028\\u2029"
_MARKER = re.compile(rf"(?ai:FINAL_SELECTION)[^\S{_LINE_ENDS}]*:")
_EMPHASIS = "`*_"
_CLOSE_TOKEN = "<|close|>response"  # noqa: S105  # a model's stray end-of-turn mark
_LABEL_WITH_NAME = re.compile(r"([A-Ha-h])\s*\(([^()]*)\)")
_AND_BEFORE_LAST = re.compile(r",?\s+and\s+(?=[^,]*$)", re.IGNORECASE)
_PORTFOLIO_SIZE = 3


class Reading(NamedTuple):
    """Either a selection (labels in order) or the one reason why there is none."""

    selection: str | None
    reason: Reason | None


def read_selection(answer: str | None, choices: Sequence[str], contract: ParserContract) -> Reading:
    """Read the selection in an answer.

    Parameters
    ----------
    answer
        Answer text; none where the response held no answer.
    choices
        The task's eight candidate names, in the order of the labels A-H.
    contract
        What is forgiven.

    Returns
    -------
    Reading
        A selection such as `ACF`, or the reason. Where no segment is valid, the reason is the
        last segment's.
    """
    text = answer or ""
    if Forgiveness.ESCAPED_UNDERSCORE in contract.forgives:
        text = text.replace("\\_", "_")
    names = {_fold(name): label for label, name in zip(LABELS, choices, strict=True)}
    readings = [_read_segment(segment, names, contract) for segment in _segments(text)]
    if not readings:
        return Reading(None, Reason.NO_MARKER)
    selections = {reading.selection for reading in readings if reading.selection}
    if len(selections) == 1:
        return Reading(selections.pop(), None)
    return Reading(None, Reason.CONFLICT) if selections else readings[-1]


def _segments(text: str) -> list[str]:
    """What follows each marker, up to the next marker or the end of its line."""
    markers = list(_MARKER.finditer(text))
    ends = [marker.start() for marker in markers[1:]] + [len(text)] if markers else []
    return [
        (text[marker.end() : end].splitlines() or [""])[0]
        for marker, end in zip(markers, ends, strict=True)
    ]


def _read_segment(segment: str, names: dict[str, str], contract: ParserContract) -> Reading:
    """Read one segment: as labels, as names (docs/parsing.md), or give its reason."""
    forgives = contract.forgives
    bare = segment.strip()
    if Forgiveness.CLOSE_TOKEN in forgives:
        bare = bare.removesuffix(_CLOSE_TOKEN).rstrip()
    inner = bare.strip(_EMPHASIS + " \t")
    if not inner:
        return Reading(None, Reason.EMPTY_MARKER)
    if Forgiveness.DOLLAR_MATH in forgives:
        bare, inner = _undollar(bare), _undollar(inner)
    for reading in (_as_labels(bare, names, contract), _as_names(inner, names, contract)):
        if reading.selection:
            return reading
    if inner != _undollar(inner) and _as_labels(_undollar(inner), names, contract).selection:
        return Reading(None, Reason.WRAPPER)
    return _reason(_items(inner, contract), names, contract)


def _as_labels(bare: str, names: dict[str, str], contract: ParserContract) -> Reading:
    closed = (
        bare.rstrip(_EMPHASIS + " \t")
        if Forgiveness.CLOSING_EMPHASIS in contract.forgives
        else bare
    )
    found = [_label(item, names, contract) for item in _items(closed, contract)]
    return _portfolio(found)


def _as_names(inner: str, names: dict[str, str], contract: ParserContract) -> Reading:
    return _portfolio([names.get(_fold(item)) for item in _items(inner, contract)])


def _portfolio(labels: Sequence[str | None]) -> Reading:
    known = {label for label in labels if label}
    if len(labels) == _PORTFOLIO_SIZE and len(known) == _PORTFOLIO_SIZE:
        return Reading("".join(sorted(known)), None)
    return Reading(None, Reason.UNKNOWN_ITEM)


def _reason(items: Sequence[str], names: dict[str, str], contract: ParserContract) -> Reading:
    if len(items) != _PORTFOLIO_SIZE:
        return Reading(None, Reason.WRONG_COUNT)
    as_labels = [_label(item, names, contract) for item in items]
    as_names = [names.get(_fold(item)) for item in items]
    if all(as_labels) or all(as_names):
        return Reading(None, Reason.DUPLICATE_ITEM)
    return Reading(None, Reason.UNKNOWN_ITEM)


def _items(text: str, contract: ParserContract) -> list[str]:
    if Forgiveness.FINAL_FULL_STOP in contract.forgives:
        text = text.rstrip(_EMPHASIS + " \t").removesuffix(".")
    if Forgiveness.AND_BEFORE_LAST in contract.forgives:
        text = _AND_BEFORE_LAST.sub(",", text, count=1)
    return [item.strip() for item in text.split(",")]


def _label(item: str, names: dict[str, str], contract: ParserContract) -> str | None:
    """The label that an item is; under a forgiving contract also `A (its own name)`."""
    if len(item) == 1 and item.upper() in LABELS and item.isascii():
        return item.upper()
    if Forgiveness.LABEL_WITH_OWN_NAME in contract.forgives:
        match = _LABEL_WITH_NAME.fullmatch(item)
        if match and names.get(_fold(match[2])) == match[1].upper():
            return match[1].upper()
    return None


def _undollar(text: str) -> str:
    """Text without one pair of dollar signs around it."""
    if len(text) > 1 and text.startswith("$") and text.endswith("$"):
        return text[1:-1].strip()
    return text


def _fold(name: str) -> str:
    """Names compare with underscores as blanks, case-folded, blanks squeezed."""
    return " ".join(name.replace("_", " ").casefold().split())
