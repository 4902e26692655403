"""How a reply's text becomes one JSON object: for answers and judges alike.

Nothing is repaired, chosen or merged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.kitchen.parse.regions import Region, region_of
from pipeline.kitchen.parse.strict import WHITE, read_value
from schemas.replies import Fault, Form

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_BYTES", "Found", "read_object"]

MAX_BYTES = 2**20
"""Longest reply that is read, in bytes of UTF-8."""

_OPENING = re.compile(r"^ {0,3}(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)$", re.MULTILINE)
_START = re.compile(r"""\{[ \t\r\n]*["}'/]|\[[ \t\r\n]*\{""")
_BRACKETS = ("{", "[")


class Found(NamedTuple):
    """One object and how it lay in the text, or the one reason why there is none."""

    value: dict[str, Any] | None
    form: Form | None
    fault: Fault | None


class _Block(NamedTuple):
    """A fenced block: where its opening line starts, its content, where its closing line ends."""

    start: int
    content: int
    content_end: int
    end: int
    closed: bool


class _Region(NamedTuple):
    start: int
    end: int
    depth: int


def read_object(data: bytes, *, cut: bool = False) -> Found:
    """The one object in a reply.

    Parameters
    ----------
    data
        The answer's text in UTF-8.
    cut
        Whether the provider cut the reply (finish reason `length`): then nothing is looked at.
    """
    if cut:
        return _failed(Fault.TRUNCATED)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _failed(Fault.BAD_UNICODE)
    if len(data) > MAX_BYTES:
        return _failed(Fault.TOO_LARGE)
    text = text.removeprefix("\ufeff").strip(WHITE)
    if not text:
        return _failed(Fault.EMPTY)
    return _read_blocks(text) or _read_regions(text)


def _failed(fault: Fault) -> Found:
    return Found(None, None, fault)


def _read_blocks(text: str) -> Found | None:
    """The one object block; none where there is no such block."""
    blocks = [
        block
        for block in _blocks(text)
        if text[block.content : block.content_end].lstrip(WHITE).startswith(_BRACKETS)
    ]
    if not blocks:
        return None
    block = blocks[0]
    if len(blocks) > 1:
        return _failed(Fault.SEVERAL_OBJECTS)
    if not block.closed:
        return _failed(Fault.TRUNCATED)
    if _START.search(text[: block.start]) or _START.search(text[block.end :]):
        return _failed(Fault.SEVERAL_OBJECTS)
    content = text[block.content : block.content_end].strip(WHITE)
    return _read_region(content, region_of(content, 0), Form.FENCED)


def _blocks(text: str) -> Iterator[_Block]:
    place = 0
    while opening := _OPENING.search(text, place):
        fence = opening[1] or opening[2]
        content = min(opening.end() + 1, len(text))
        closing = _closing(fence).search(text, content)
        if not closing:
            yield _Block(opening.start(), content, len(text), len(text), closed=False)
            return
        yield _Block(opening.start(), content, closing.start(), closing.end(), closed=True)
        place = closing.end()


def _closing(fence: str) -> re.Pattern[str]:
    """A line that closes a block: at least as many of the same mark, a CR before the LF dropped."""
    mark = re.escape(fence[0])
    return re.compile(rf"^ {{0,3}}{mark}{{{len(fence)},}} *\r?$", re.MULTILINE)


def _read_regions(text: str) -> Found:
    """The one region that starts as an object or a list of objects does."""
    found: list[_Region] = []
    place = 0
    while (start := _next_start(text, place)) is not None:
        end, depth = region_of(text, start)
        if end is None:
            return _failed(Fault.TRUNCATED)
        found.append(_Region(start, end, depth))
        place = end
    if not found:
        return _failed(Fault.NO_OBJECT)
    if len(found) > 1:
        return _failed(Fault.SEVERAL_OBJECTS)
    start, end, depth = found[0]
    form = Form.WHOLE if (start, end) == (0, len(text)) else Form.PROSE
    return _read_region(text[start:end], Region(end - start, depth), form)


def _next_start(text: str, place: int) -> int | None:
    if place == 0 and text.startswith(_BRACKETS):
        return 0
    match = _START.search(text, place)
    return match.start() if match else None


def _read_region(text: str, region: Region, form: Form) -> Found:
    """The text of a region as one strict JSON value."""
    value, end, fault = read_value(text, region)
    if fault:
        return _failed(fault)
    rest = text[end:].strip(WHITE)
    if rest:
        return _failed(Fault.SEVERAL_OBJECTS if _START.search(rest) else Fault.SYNTAX)
    if not isinstance(value, dict):
        return _failed(Fault.NOT_OBJECT)
    return Found(value, form, None)
