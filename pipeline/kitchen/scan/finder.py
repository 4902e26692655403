"""Finds a lexicon's terms in a text: the longest at each place, flag by flag, in one pass."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from pipeline.kitchen.scan.lexicon import END, MODIFIER, Inside, Lexicon, Row, read_lexicon
from schemas.folding import fold
from schemas.kitchen import FLAGS

__all__ = ["Cut", "Found", "Hit", "cut", "find"]

_PIECE = re.compile(
    r"[^\W_]+|[^\w\s%\-\u2010-\u2015\u2212\u00b4`*\"\u201c\u201d\u00ab\u00bb\u00ae]"
)
"""A token, or a mark that ends a phrase: all but blanks, dashes, quotes, %."""

_REMEMBERED = 2**15
_JOINED = 3
"""The fewest letters that what is left of a compound may have."""

_ENDINGS = frozenset({"", "e", "n", "en", "er", "s"})
"""What a compound may end with and still end with its last part."""

_WITHOUT = re.compile(r"(.{3,}?)(?:s[iu]z(?:l[aeiu].*)?|frei(?:e[nmrs]?)?|free|less|vrij)")


class Cut(NamedTuple):
    """A text as tokens, each with the number of its segment."""

    tokens: list[str]
    segments: list[int]


class Hit(NamedTuple):
    """A row of the lexicon found at tokens `start` to `end`."""

    start: int
    end: int
    row: Row


class Found(NamedTuple):
    """What a text holds: terms for flags, and words that change them."""

    hits: list[Hit]
    modifiers: list[Hit]


def cut(text: str) -> Cut:
    """Fold a text and cut it into tokens; brackets, commas and the like end a segment."""
    words: list[str] = []
    segments: list[int] = []
    segment = 0
    for piece in _PIECE.findall(fold(text)):
        if piece[0].isalnum():
            words.append(piece)
            segments.append(segment)
        else:
            segment += 1
    return Cut(words, segments)


def find(text: Cut) -> Found:
    """Longest terms of each flag, from left to right; a flag's term ends before its next starts."""
    lexicon = read_lexicon()
    tree = lexicon.tree
    words, segments = text
    count = len(words)
    taken = [0] * (len(FLAGS) + 1)
    hits: list[Hit] = []
    modifiers: list[Hit] = []
    for start, word in enumerate(words):
        node = tree.get(word)
        matches: list[tuple[int, tuple[Row, ...]]] = []
        place = start
        while node is not None:
            place += 1
            rows = node.get(END)
            if rows is not None:
                matches.append((place, rows))
            if place == count or segments[place] != segments[start]:
                break
            node = node.get(words[place])
        rows = _inside(word)
        if rows:  # after the whole word's own rows, which hold before what lies inside it
            matches.insert(0, (start + 1, rows))
        for end, rows in reversed(matches):
            for row in rows:
                if taken[row.flag] <= start and _stands(row, end, text):
                    taken[row.flag] = end
                    (modifiers if row.flag == MODIFIER else hits).append(Hit(start, end, row))
    return Found(hits, modifiers)


def _stands(row: Row, end: int, text: Cut) -> bool:
    """Whether a term that must end its phrase does (Turkish `un` is no French article)."""
    if row.mode != "last" or end == len(text.tokens):
        return True
    return text.segments[end] != text.segments[end - 1] or text.tokens[end] in {"ve", "ile"}


@lru_cache(_REMEMBERED)
def _inside(word: str) -> tuple[Row, ...]:
    """Rows that a word holds as a compound, or as what it is without."""
    lexicon = read_lexicon()
    without = _WITHOUT.fullmatch(word)
    if without:
        return _without(lexicon, without[1])
    if len(word) < _JOINED + 3:
        return ()
    found = (_part(terms, word) for terms in lexicon.inside)
    return tuple(row for row in found if row is not None)


def _part(terms: Inside, word: str) -> Row | None:
    """One flag's gravest term in a word; the longer terms cover the shorter in them."""
    gravest: Row | None = None
    edge = 0  # where the part before ended
    for match in terms.pattern.finditer(word):
        start, end = match.span()
        row = terms.rows[match[0]]
        if _joins(row.mode, start, edge, word[end:]):
            if gravest is None or row.verdict > gravest.verdict:
                gravest = row
            edge = end
    return gravest


def _joins(mode: str, start: int, edge: int, ending: str) -> bool:
    """Whether a part stands where its mode lets it: at an edge, leaving no stump."""
    at_start = start == 0
    at_end = ending in _ENDINGS
    if mode == "prefix":
        return at_start and (at_end or len(ending) >= _JOINED)
    if mode == "suffix":
        return at_end and (at_start or start - edge >= _JOINED - 1 or start == edge)
    return at_start or at_end or start == edge or start >= _JOINED


def _without(lexicon: Lexicon, base: str) -> tuple[Row, ...]:
    """A word with `-siz`, `-frei` or `-free`: it clears what its base names."""
    for known in (base, base.removesuffix("s"), base.removesuffix("n"), base.removesuffix("en")):
        rows = lexicon.tree.get(known, {}).get(END, ())
        for row in rows:
            if row.role == "name":
                return (row._replace(role="quality", rule="free from"),)
        if rows:
            break
    return ()
