"""Forms that a lexicon's term has in its language.

Terms grow; texts are never stemmed, so `pate` (the spread) does not meet `pates` (the pasta).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["inflections"]


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SHORT = 3
_HISS = ("s", "x", "z", "ch", "sh")
_TR_SHORT = ("i", "li", "lu", "lar", "ler")
_TR_CONSONANT = _split(
    "i u li lu lar ler lari leri larla lerle la le da de ta te dan den tan ten in un"
)
_TR_VOWEL = _split("si su yi yu li lu lar ler lari leri yla yle da de dan den nin nun")
_TR_SOFT = {"k": "g", "p": "b", "t": "d"}
_VOWEL = re.compile(r"[aeiou]$")


def inflections(term: tuple[str, ...], language: str) -> Iterator[tuple[str, ...]]:
    """Forms of a term (folded tokens) beside itself: plurals, cases, joined spellings."""
    *before, last = term
    if language in {"fr", "es", "it"}:
        heads = [term[0], *_plurals(term[0], language)] if before else [""]
        tails = [last, *_plurals(last, language)]
        for head in heads:
            for tail in tails:
                yield (head, *term[1:-1], tail) if before else (tail,)
        return
    for form in _plurals(last, language):
        yield (*before, form)
    if language == "en" and len(term) == 2:  # noqa: PLR2004  # wheatflour, sourcream
        yield ("".join(term),)
        for form in _plurals(last, language):
            yield (before[0] + form,)


def _plurals(word: str, language: str) -> Iterable[str]:
    return _BY_LANGUAGE[language](word)


def _english(word: str) -> Iterator[str]:
    if word.endswith("y") and not _VOWEL.search(word[:-1]):
        yield word[:-1] + "ies"
    elif word.endswith((*_HISS, "o")):
        if not word.endswith("s") or word.endswith("ss"):
            yield word + "es"
        if word.endswith("o"):
            yield word + "s"
    else:
        yield word + "s"
    if word.endswith("af"):
        yield word[:-1] + "ves"


def _german(word: str) -> Iterator[str]:
    for ending in ("e", "n", "en", "er", "s", "ern", "es"):
        yield word + ending
    if word.endswith("in"):
        yield word + "nen"


def _french(word: str) -> Iterator[str]:
    if word.endswith(("s", "x", "z")):
        return
    yield word + ("x" if word.endswith(("au", "eu")) else "s")
    if word.endswith("al"):
        yield word[:-1] + "ux"


def _italian(word: str) -> Iterator[str]:
    if word.endswith("io"):
        yield word[:-1]
    elif word.endswith(("co", "go", "ca", "ga")):
        yield word[:-1] + ("hi" if word.endswith("o") else "he")
        yield word[:-1] + "i"
    elif word.endswith("a"):
        yield word[:-1] + "e"
    elif word.endswith(("o", "e")):
        yield word[:-1] + "i"


def _spanish(word: str) -> Iterator[str]:
    if word.endswith("s"):
        return
    if word.endswith("z"):
        yield word[:-1] + "ces"
    yield word + ("s" if _VOWEL.search(word) else "es")


def _turkish(word: str) -> Iterator[str]:
    if len(word) <= _SHORT:
        endings: Iterable[str] = _TR_SHORT
    else:
        endings = _TR_VOWEL if _VOWEL.search(word) else _TR_CONSONANT
    for ending in endings:
        yield word + ending
        if word[-1] in _TR_SOFT and _VOWEL.search(ending[:1]):
            yield word[:-1] + _TR_SOFT[word[-1]] + ending


def _none(word: str) -> Iterator[str]:  # noqa: ARG001  # a name bends in no language
    return iter(())


_BY_LANGUAGE = {
    "en": _english,
    "de": _german,
    "fr": _french,
    "it": _italian,
    "es": _spanish,
    "tr": _turkish,
    "-": _none,
}
