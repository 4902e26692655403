r"""Where a text stands in bytes, however it is spelt.

Bytes are read in layers. The first is the bytes themselves; each further one has the escapes of
the layer before it resolved, whatever mixture of them there is: `\u002B`, `%2b`, `%252B`, `&#43;`.
Every layer knows where its bytes came from, so that what is found in it is found in the bytes.
In each layer a text is looked for as it is, in base64 and in hex; whitespace between its
characters, zero bytes (as UTF-16 has them) and the case of letters make no difference.
"""

from __future__ import annotations

import base64
import html
import re
import string
from array import array
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Spellings"]

_DEPTH = 8
"""Layers of escapes that are resolved, one within the other."""

_CODE = rb"(?-i:U)[0-9a-f]{8}|u[0-9a-f]{4}|u\{[0-9a-f]{1,8}\}|x[0-9a-f]{2}|[0-3][0-7]{2}"
_ITSELF = rb"[ -/:-TVWYZ\[-tvwy-~]"
_ESCAPES = {
    "backslash": (rb"\\", _CODE + rb"|" + _ITSELF, rb"(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?"),
    "percent": (rb"%", rb"u[0-9a-f]{4}|[0-9a-f]{2}", rb"u[0-9a-f]{0,3}|[0-9a-f]?"),
    "entity": (
        rb"&",
        rb"(?:#0{0,99}[0-9]{1,7}|#x0{0,99}[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});?",
        rb"#x?[0-9a-f]{0,99}|[a-z]{0,9}",
    ),
    "quoted-printable": (rb"=", rb"[0-9a-f]{2}|\r?\n", rb"[0-9a-f]?"),
}
"""The character that an escape begins with, what follows it, and what does where it is cut short
by the end of the bytes."""

_CONTROLS = dict(zip(b"bfnrt", b"\b\f\n\r\t", strict=True))


def _reader(*names: str) -> re.Pattern[bytes]:
    """An escape as group 1; group 2 takes part where it is cut short.

    Every match begins with one of few characters, so a text without them is passed at the speed
    of a search for a character.
    """
    marks = b"".join(_ESCAPES[name][0] for name in names)
    whole, cut = (
        b"|".join(b"(?<=%b)(?:%b)" % (_ESCAPES[name][0], _ESCAPES[name][part]) for name in names)
        for part in (1, 2)
    )
    return re.compile(b"([%b](?:%b|(?:%b)\\Z()))" % (marks, whole, cut), re.IGNORECASE)


# each alone, for a text with characters that mean something in another; and mixed. `=41` is
# quoted-printable in mail alone: elsewhere it is what follows a name
_BACKSLASH = _reader("backslash")
_READERS = (*(_reader(name) for name in _ESCAPES), _reader("backslash", "percent", "entity"))


class Span(NamedTuple):
    """A stretch of bytes, its end not part of it."""

    start: int
    end: int


class _Escapes(NamedTuple):
    """Of each escape: where it stands, and where and how long that is what it stands for."""

    starts: array[int]
    ends: array[int]
    places: array[int]
    sizes: array[int]

    def around(self, place: int) -> Span:
        """The escape that a place lies within; no more than the place where none is."""
        number = bisect_right(self.starts, place) - 1
        if number >= 0 and self.starts[number] < place < self.ends[number]:
            return Span(self.starts[number], self.ends[number])
        return Span(place, place)

    def origin(self, place: int) -> Span:
        """Where a byte comes from that stands at a place when all escapes are resolved."""
        number = bisect_right(self.places, place) - 1
        if number < 0:
            return Span(place, place + 1)
        beyond = place - self.places[number] - self.sizes[number]
        if beyond < 0:
            return Span(self.starts[number], self.ends[number])
        return Span(self.ends[number] + beyond, self.ends[number] + beyond + 1)


class _Layer:
    """Bytes with the escapes of the layer `below` resolved by its `reader`.

    Where they come from is worked out when something is found in them, which is seldom.
    """

    def __init__(self, text: bytes, below: tuple[_Layer, re.Pattern[bytes]] | None = None) -> None:
        self.text, self._below = text, below

    @cached_property
    def _escapes(self) -> _Escapes:
        assert self._below is not None  # noqa: S101  # the first layer is never asked
        return _escapes(self._below[0].text, self._below[1])

    def source(self, start: int, end: int) -> Span:
        """Where in the first layer a stretch of this one comes from."""
        layer = self
        while layer._below is not None:
            escapes = layer._escapes
            start, end = escapes.origin(start).start, escapes.origin(end - 1).end
            layer = layer._below[0]
        return Span(start, end)


class _View(NamedTuple):
    """What of a layer is compared: which bytes are left out, which are taken for the same."""

    dropped: bytes
    folded: bytes


class _Needle(NamedTuple):
    """What is looked for in a view; in base64 the characters beside it may hold some bits of it."""

    text: bytes
    before: bool = False
    after: bool = False


_GAPS = string.whitespace.encode() + b"\0"
_LOWER = bytes(range(256)).lower()
_PLAIN = _View(_GAPS, _LOWER)
_BASE64 = _View(_GAPS, _LOWER.translate(bytes.maketrans(b"-_", b"+/")))
_HEX = _View(_GAPS + b":,-", _LOWER)


class Spellings:
    """Finds texts in bytes, however they are spelt.

    Parameters
    ----------
    texts
        ASCII texts.
    shortest
        Of a text that the end of the bytes cuts short, as many characters are found at least.
    """

    def __init__(self, texts: Iterable[str], shortest: int) -> None:
        self._shortest = shortest
        views: dict[_View, set[_Needle]] = {_PLAIN: set(), _BASE64: set(), _HEX: set()}
        for value in {text.encode("ascii") for text in texts}:
            for form in {layer.text for layer in _layers(value)} | {value.replace(b" ", b"+")}:
                folded = form.translate(_PLAIN.folded, _PLAIN.dropped)
                if len(folded) >= shortest:
                    views[_PLAIN].add(_Needle(folded))
            views[_BASE64].update(_base64_needles(value))
            for joint in ("", "0x"):
                digits = "".join(f"{joint}{byte:02x}" for byte in value)
                views[_HEX].add(_Needle(digits.encode()))
        self._views = {view: sorted(needles) for view, needles in views.items() if needles}

    def spans(self, data: bytes) -> list[Span]:
        """Where they stand, in order and apart; JSON escapes are in a span whole or not at all."""
        found: set[Span] = set()
        clean: set[bytes] = set()
        for layer in _layers(data):
            if layer.text not in clean:
                spans = [*self._in_layer(layer)]
                found.update(spans)
                if not spans:
                    clean.add(layer.text)
        if not found:
            return []
        escapes = _escapes(data, _BACKSLASH)
        apart: list[Span] = []
        for span in sorted(found):
            start = escapes.around(span.start).start
            end = max(span.end, escapes.around(span.end).end)
            if apart and start < apart[-1].end:
                start, end = apart[-1].start, max(end, apart[-1].end)
                apart.pop()
            apart.append(Span(start, end))
        return apart

    def _in_layer(self, layer: _Layer) -> Iterator[Span]:
        for view, needles in self._views.items():
            text = layer.text.translate(view.folded, view.dropped)
            places: array[int] | None = None
            for needle in needles:
                for start, end in _found(text, needle, self._shortest):
                    if places is None:
                        places = _kept_places(layer.text, view)
                    yield layer.source(places[start], places[end - 1] + 1)


def _kept_places(text: bytes, view: _View) -> array[int]:
    """Where the bytes of a view stand in what is viewed."""
    dropped = frozenset(view.dropped)
    return array("I", (place for place, byte in enumerate(text) if byte not in dropped))


def _layers(data: bytes) -> Iterator[_Layer]:
    """The bytes, and what they become as escapes are resolved."""
    yield (first := _Layer(data))
    for reader in _READERS:
        layer: _Layer | None = first
        for _ in range(_DEPTH):
            layer = layer and _resolved(layer, reader)
            if layer is None:
                break
            yield layer


def _resolved(below: _Layer, reader: re.Pattern[bytes]) -> _Layer | None:
    """A layer with its escapes resolved; none where it has none."""
    pieces = reader.split(below.text)  # a text, an escape, whether it is cut, a text, and so on
    if len(pieces) == 1:
        return None
    meant = [_meaning(escape) for escape in pieces[1:-3:3]]
    meant.append(_meaning(pieces[-3]) if pieces[-2] is None else b"")
    del pieces[2::3]
    pieces[1::2] = meant
    text = b"".join(pieces)
    return None if text == below.text else _Layer(text, (below, reader))


def _escapes(text: bytes, reader: re.Pattern[bytes]) -> _Escapes:
    """Where the escapes of a text stand, and what they stand for."""
    escapes = _Escapes(array("I"), array("I"), array("I"), array("I"))
    gone = 0
    for match in reader.finditer(text):
        start, end = match.span()
        size = len(_meaning(match[1])) if match[2] is None else 0
        for column, number in zip(escapes, (start, end, start - gone, size), strict=True):
            column.append(number)
        gone += end - start - size
    return escapes


@lru_cache(4096)
def _meaning(escape: bytes) -> bytes:
    """What an escape stands for; beyond ASCII, where no text is looked for, a `?`."""
    if escape.startswith(b"&"):
        return html.unescape(escape.decode("ascii")).encode("ascii", "replace")
    if escape.startswith((b"%", b"=")):
        digits = escape[1:].strip().lstrip(b"uU")
        return _character(digits, 16) if digits else b""
    kind, rest = escape[1:2], escape[2:].strip(b"{}")
    if rest:
        return _character(rest, 16) if kind in b"uUxX" else _character(kind + rest, 8)
    return bytes([_CONTROLS.get(kind[0], kind[0])])


def _character(digits: bytes, base: int) -> bytes:
    code = int(digits, base)
    return bytes([code]) if code < 128 else b"?"  # noqa: PLR2004  # ASCII


def _base64_needles(value: bytes) -> Iterator[_Needle]:
    """What a value surely gives in base64, wherever in a longer text it stands."""
    for offset in range(3):
        bits = 8 * offset, 8 * (offset + len(value))
        encoded = base64.b64encode(bytes(offset) + value)[-(-bits[0] // 6) : bits[1] // 6]
        folded = encoded.translate(_BASE64.folded)
        yield _Needle(folded, before=offset > 0, after=bits[1] % 6 > 0)


def _found(text: bytes, needle: _Needle, shortest: int) -> Iterator[Span]:
    """Where a needle stands in a view, whole or cut short by the view's end."""
    size, last = len(needle.text), 0
    while (start := text.find(needle.text, last)) >= 0:
        last = start + size
        yield Span(
            max(start - needle.before, 0),
            min(last + needle.after, len(text)),
        )
    if text.find(needle.text[:shortest], max(last, len(text) - size + 1)) < 0:
        return
    for length in range(min(size - 1, len(text) - last), shortest - 1, -1):
        if text.endswith(needle.text[:length]):
            yield Span(max(len(text) - length - needle.before, 0), len(text))
            return
