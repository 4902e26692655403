"""What two names of food have in common: names, stems, words, cores, hits, phrases."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from schemas.folding import fold, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "LINK",
    "NEUTRAL",
    "PLAIN",
    "SAFE",
    "characters",
    "core",
    "fold",
    "hits",
    "name",
    "phrase",
    "stem",
    "tokens",
    "words",
]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


LINK = _set("and with in of on the a an or for to ve ile et de du des la le les au aux en mit und")
"""Tokens that only link others."""

PLAIN = _set(
    "plain white boiled steamed baked grilled roast roasted cooked mashed buttered soft warm mild "
    "small stick slice cube strip wedge piece bowl side breast fillet thigh sade haslanmis "
    "izgara"
)
"""Words that leave a plain food what it is."""

SAFE = _set(
    "pasta spaghetti penne fusilli macaroni makarna rice pilaf pilav pirinc bread pita lavash "
    "toast ekmek potato patate chicken tavuk kofte meatball yogurt yoghurt cucumber salatalik"
)
"""What the picky child eats, as stems."""

NEUTRAL = _set(
    "fresh freshly raw chopped diced sliced grated shredded peeled cubed halved quartered trimmed "
    "rinsed drained washed finely roughly coarsely thinly cut torn large small ripe organic "
    "boneless skinless extra virgin"
)
"""Words of an ingredient's name that change no food value."""

_REMEMBERED = 2**15
_WITH_ES = ("sses", "xes", "zes", "ches", "shes")
_NO_PLURAL = ("ss", "us", "is")
_STEMMED_FROM = 4
_IES_FROM = 5


def name(text: str) -> str:
    """Tokens joined by one blank."""
    return " ".join(tokens(text))


def stem(token: str) -> str:
    """A token without its English plural; for names only, never for scans."""
    if len(token) < _STEMMED_FROM or not token.endswith("s"):
        return token
    if token.endswith("ies") and len(token) >= _IES_FROM:
        return token[:-3] + "y"
    if token.endswith("oes") or token.endswith(_WITH_ES):
        return token[:-2]
    return token if token.endswith(_NO_PLURAL) else token[:-1]


@lru_cache(_REMEMBERED)
def words(text: str) -> frozenset[str]:
    """Stems of the tokens that are no links."""
    return frozenset(stem(token) for token in tokens(text) if token not in LINK)


@lru_cache(_REMEMBERED)
def core(text: str) -> frozenset[str]:
    """Words without what leaves a plain food what it is."""
    return words(text) - PLAIN


def characters(text: str) -> int:
    """Code points, runs of white space as one blank and none at the ends."""
    return len(" ".join(text.split()))


def hits(text: str, beginnings: Iterable[str]) -> bool:
    """Whether a token begins with one of these words, folded."""
    return _begins(text, tuple(beginnings))


@lru_cache(_REMEMBERED)
def _begins(text: str, beginnings: tuple[str, ...]) -> bool:
    folded = tuple(fold(beginning) for beginning in beginnings)
    return any(token.startswith(folded) for token in tokens(text))


def phrase(text: str, wanted: str) -> bool:
    """Whether the tokens of `wanted` stand in the text one after the other."""
    found, want = tokens(text), tokens(wanted)
    return any(found[i : i + len(want)] == want for i in range(len(found) - len(want) + 1))
