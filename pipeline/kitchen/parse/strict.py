"""One strict JSON value (RFC 8259) from a place in a text, or the first fault from the left.

The library's parser does the work where it finds nothing wrong. Where it does, or where its rules
are wider than ours, the reader below goes through the text again and names the first fault.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from schemas.meals import WrittenNumber
from schemas.replies import Fault

if TYPE_CHECKING:
    from pipeline.kitchen.parse.regions import Region

__all__ = ["MAX_DEPTH", "WHITE", "Value", "read_value"]

MAX_DEPTH = 64
"""Levels of objects and lists; the outermost is 1."""

WHITE = " \t\r\n"
"""What JSON takes for white space."""

_SAFE_DIGITS = 308
"""Every integer of so many digits is finite in binary64."""
_WHITE = re.compile(r"[ \t\r\n]*")
_COMMENT = ("//", "/*", "#")
_NON_FINITE = ("NaN", "Infinity", "-Infinity")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPED = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = (("true", True), ("false", False), ("null", None))
_SURROGATE_ESCAPE = re.compile(r"\\u[dD]")
_HIGH, _LOW, _PAST = 0xD800, 0xDC00, 0xE000


class Value(NamedTuple):
    """A value and where it ends, or the fault that was found first."""

    value: Any
    end: int
    fault: Fault | None


class _Found(Exception):  # noqa: N818  # it carries a finding, caught below
    def __init__(self, fault: Fault) -> None:
        self.fault = fault


def read_value(text: str, region: Region) -> Value:
    """The JSON value that a text starts with; what stands after it is the caller's.

    Numbers without point and exponent are integers, others `WrittenNumber`.

    Parameters
    ----------
    text
        Starts with a bracket.
    region
        That bracket's region.
    """
    if region.end is not None and region.depth <= MAX_DEPTH and not _SURROGATE_ESCAPE.search(text):
        try:
            return Value(_DECODER.decode(text[: region.end]), region.end, None)
        except (ValueError, _Found):
            pass  # named below
    reader = _Reader(text)
    try:
        value = reader.value(0, 1)
    except _Found as found:
        return Value(None, len(text), found.fault)
    return Value(value, reader.place, None)


def _pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(items)
    if len(result) != len(items):
        raise _Found(Fault.DUPLICATE_KEY)
    return result


def _integer(text: str) -> int:
    if len(text) > _SAFE_DIGITS and math.isinf(float(text)):
        raise _Found(Fault.NON_FINITE)
    return int(text)


def _written(text: str) -> WrittenNumber:
    if math.isinf(float(text)):
        raise _Found(Fault.NON_FINITE)
    return WrittenNumber(text)


def _constant(_: str) -> Any:
    raise _Found(Fault.NON_FINITE)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=_integer,
    parse_float=_written,
    parse_constant=_constant,
)


class _Reader:
    """Reads from the left and stops at the first fault; `place` is how far it came."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def token(self, place: int) -> int:
        """The place of the next token.

        Raises
        ------
        _Found
            A comment stands there.
        """
        match = _WHITE.match(self.text, place)
        place = match.end() if match else place
        if self.text.startswith(_COMMENT, place):
            raise _Found(Fault.COMMENT)
        return place

    def value(self, place: int, depth: int) -> Any:
        """The value at a token's place. Raises `_Found`."""
        mark = self.text[place : place + 1]
        if mark in ("{", "["):
            if depth > MAX_DEPTH:
                raise _Found(Fault.TOO_DEEP)
            return (self._object if mark == "{" else self._list)(place, depth)
        if mark == '"':
            return self._string(place)
        if self.text.startswith(_NON_FINITE, place):
            raise _Found(Fault.NON_FINITE)
        for word, value in _WORDS:
            if self.text.startswith(word, place):
                self.place = place + len(word)
                return value
        return self._number(place)

    def _object(self, place: int, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        place = self.token(place + 1)
        if self.text.startswith("}", place):
            self.place = place + 1
            return result
        while True:
            if not self.text.startswith('"', place):
                raise _Found(Fault.SYNTAX)
            key = self._string(place)
            if key in result:
                raise _Found(Fault.DUPLICATE_KEY)
            place = self.token(self.place)
            if not self.text.startswith(":", place):
                raise _Found(Fault.SYNTAX)
            result[key] = self.value(self.token(place + 1), depth + 1)
            following = self._following("}")
            if following is None:
                return result
            place = following

    def _list(self, place: int, depth: int) -> list[Any]:
        result: list[Any] = []
        place = self.token(place + 1)
        if self.text.startswith("]", place):
            self.place = place + 1
            return result
        while True:
            result.append(self.value(place, depth + 1))
            following = self._following("]")
            if following is None:
                return result
            place = following

    def _following(self, closer: str) -> int | None:
        """The place of the next member after a comma; none after the closer."""
        place = self.token(self.place)
        if self.text.startswith(closer, place):
            self.place = place + 1
            return None
        if not self.text.startswith(",", place):
            raise _Found(Fault.SYNTAX)
        place = self.token(place + 1)
        if self.text.startswith(("}", "]"), place):
            raise _Found(Fault.TRAILING_COMMA)
        return place

    def _string(self, place: int) -> str:
        parts: list[str] = []
        place += 1
        while True:
            plain = _PLAIN.match(self.text, place)
            if plain:
                parts.append(plain[0])
                place = plain.end()
            if self.text.startswith('"', place):
                self.place = place + 1
                return "".join(parts)
            escape = _ESCAPED.match(self.text, place)
            if not escape:
                raise _Found(Fault.SYNTAX)
            place = escape.end()
            if escape[1]:
                parts.append(_ESCAPES.get(escape[1], escape[1]))
                continue
            point = int(escape[2], 16)
            if _HIGH <= point < _PAST:
                point, place = self._pair(point, place)
            parts.append(chr(point))

    def _pair(self, first: int, place: int) -> tuple[int, int]:
        """The code point of a surrogate and the one that has to follow it, and the place behind."""
        follow = _ESCAPED.match(self.text, place)
        second = int(follow[2], 16) if follow and follow[2] else 0
        if first >= _LOW or not _LOW <= second < _PAST or not follow:
            raise _Found(Fault.BAD_UNICODE)
        return 0x10000 + ((first - _HIGH) << 10) + (second - _LOW), follow.end()

    def _number(self, place: int) -> int | WrittenNumber:
        match = _NUMBER.match(self.text, place)
        if not match:
            raise _Found(Fault.SYNTAX)
        self.place = match.end()
        return _written(match[0]) if match[2] else _integer(match[0])
