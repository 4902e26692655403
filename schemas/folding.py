"""How a text is folded and cut into tokens, wherever the kitchen compares words."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["fold", "tokens"]

_DOTLESS = str.maketrans("\u0130\u0131I", "iii")
_INVISIBLE = frozenset({"Mn", "Cf"})
_APOSTROPHES = dict.fromkeys(map(ord, "'\u2019\u02bc"))
_TOKEN = re.compile(r"[^\W_]+")
"""Runs of what `str.isalnum` holds of: a word character of `re` is one of these or a low line."""


class _Kept(dict[int, int | None]):
    """What becomes of each code point, found out when it first comes: marks go, the rest stays."""

    def __missing__(self, point: int) -> int | None:
        kept = None if unicodedata.category(chr(point)) in _INVISIBLE else point
        self[point] = kept
        return kept


_KEPT = _Kept()


def fold(text: str) -> str:
    """A text without case, marks, invisible characters and apostrophes; its blanks stay.

    The three letters I, dotted or not, become i first, so that Turkish capitals meet small ones.
    Look-alikes of other alphabets stay themselves.
    """
    if text.isascii():
        return text.lower().replace("'", "")
    plain = unicodedata.normalize("NFKD", text.translate(_DOTLESS)).translate(_KEPT)
    return plain.casefold().translate(_APOSTROPHES)


def tokens(text: str) -> list[str]:
    """Runs of letters and digits of the folded text, in order."""
    return _TOKEN.findall(fold(text))
