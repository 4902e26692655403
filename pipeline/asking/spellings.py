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
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Span", "Spellings"]

_DEPTH = 8
"""Layers of escapes that are resolved, one within the other."""

_CODE = rb"(?-i:U)[0-9a-f]{8}|u[0-9a-f]{4}|u\{[0-9a-f]{1,8}\}|x[0-9a-f]{2}|[0-3][0-7]{2}"
_ITSELF = rb"[ -/:-TVWYZ\[-tvwy-~]"
_ESCAPES = {
    "backslash": (
        rb"\\(?:" + _CODE + rb"|" + _ITSELF + rb")",
        rb"\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?",
    ),
    "percent": (rb"%(?:u[0-9a-f]{4}|[0-9a-f]{2})", rb"%(?:u[0-9a-f]{0,3}|[0-9a-f]?)"),
    "entity": (
        rb"&(?:#0{0,99}[0-9]{1,7}|#x0{0,99}[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});?",
        rb"&(?:#x?[0-9a-f]{0,99}|[a-z]{0,9})",
    ),
    "quoted-printable": (rb"=(?:[0-9a-f]{2}|\r?\n)", rb"=[0-9a-f]?"),
}
"""An escape as a pattern, and one that the end of the bytes has cut short."""

_CONTROLS = dict(zip(b"bfnrt", b"\b\f\n\r\t", strict=True))


def _reader(*names: str) -> re.Pattern[bytes]:
    whole = b"|".join(_ESCAPES[name][0] for name in names)
    cut = b"|".join(_ESCAPES[name][1] for name in names)
    return re.compile(b"(?:" + whole + rb")|(?P<cut>(?:" + cut + rb")\Z)", re.IGNORECASE)


# each alone, for a text with characters that mean something in another; and mixed. `=41` is
# quoted-printable in mail alone: elsewhere it is what follows a name
_BACKSLASH = _reader("backslash")
_READERS = (*(_reader(name) for name in _ESCAPES), _reader("backslash", "percent", "entity"))


class Span(NamedTuple):
    """A stretch of bytes, its end not part of it."""

    start: int
    end: int


class _Layer(NamedTuple):
    """Bytes with the escapes of the layer `below` resolved.

    Of each escape: where it stands there, and where and how long that is here what it stands for.
    """

    text: bytes
    below: _Layer | None = None
    starts: array[int] = array("I")
    ends: array[int] = array("I")
    places: array[int] = array("I")
    sizes: array[int] = array("I")

    def source(self, start: int, end: int) -> Span:
        """Where in the first layer a stretch of this one comes from."""
        layer = self
        while layer.below is not None:
            start, end = layer._origin(start).start, layer._origin(end - 1).end
            layer = layer.below
        return Span(start, end)

    def around(self, place: int) -> Span:
        """The escape that a place in the layer below lies within; no more than it where none is."""
        number = bisect_right(self.starts, place) - 1
        if number >= 0 and self.starts[number] < place < self.ends[number]:
            return Span(self.starts[number], self.ends[number])
        return Span(place, place)

    def _origin(self, place: int) -> Span:
        """Where in the layer below a byte of this one comes from."""
        number = bisect_right(self.places, place) - 1
        if number < 0:
            return Span(place, place + 1)
        beyond = place - self.places[number] - self.sizes[number]
        if beyond < 0:
            return Span(self.starts[number], self.ends[number])
        return Span(self.ends[number] + beyond, self.ends[number] + beyond + 1)


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
        found = sorted({span for layer in _layers(data) for span in self._in_layer(layer)})
        if not found:
            return []
        resolved = _resolved(_Layer(data), _BACKSLASH) or _Layer(data)
        apart: list[Span] = []
        for span in found:
            start = resolved.around(span.start).start
            end = max(span.end, resolved.around(span.end).end)
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
    layer = _Layer(b"", below, array("I"), array("I"), array("I"), array("I"))
    pieces: list[bytes] = []
    place = last = 0
    for match in reader.finditer(below.text):
        start, end = match.span()
        meant = b"" if match.lastgroup else _meaning(match[0])
        pieces += (below.text[last:start], meant)
        place += start - last
        layer.starts.append(start)
        layer.ends.append(end)
        layer.places.append(place)
        layer.sizes.append(len(meant))
        place += len(meant)
        last = end
    text = b"".join(pieces) + below.text[last:]
    return None if text == below.text else layer._replace(text=text)


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
    for length in range(min(size - 1, len(text) - last), shortest - 1, -1):
        if text.endswith(needle.text[:length]):
            yield Span(max(len(text) - length - needle.before, 0), len(text))
            return
