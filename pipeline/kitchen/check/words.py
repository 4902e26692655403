"""Word lists of the checks, folded; their digest is part of the check version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.identity import digest
from pipeline.kitchen.names import LINK, NEUTRAL, PLAIN, SAFE, stem, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemas.record import IdentityValue

__all__ = ["BAIT", "IRON", "SALT", "SEASONING", "TEXTURE", "Terms", "words_digest"]


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(term.split()) for term in text.split(","))


class Terms:
    """Terms and their exceptions, found longest first in the stems of a text.

    Parameters
    ----------
    terms, exceptions
        What is found, and what hides a term that it holds.
    """

    def __init__(self, terms: Iterable[str], exceptions: Iterable[str]) -> None:
        self.terms = tuple(terms)
        self.exceptions = tuple(exceptions)
        self._known = {tuple(term.split()): term for term in self.terms}
        self._known |= {tuple(term.split()): "" for term in self.exceptions}
        self._lengths = sorted({len(term) for term in self._known}, reverse=True)

    def found(self, text: str) -> frozenset[str]:
        """The terms in a text, read from the left; an exception yields nothing."""
        stems = [stem(token) for token in tokens(text)]
        found: set[str] = set()
        place = 0
        while place < len(stems):
            for length in self._lengths:
                term = self._known.get(tuple(stems[place : place + length]))
                if term is not None:
                    found |= {term} if term else set()
                    place += length
                    break
            else:
                place += 1
        return frozenset(found)


IRON = Terms(
    _listed(
        "beef, veal, lamb, mutton, liver, duck, chicken thigh, chicken drumstick, turkey thigh, "
        "sardine, mackerel, salmon, trout, anchovy, herring, lentil, bean, chickpea, tofu, egg, "
        "spinach, dana, kuzu, ciger, mercimek, nohut, fasulye, yumurta, ispanak, somon, hamsi, "
        "uskumru"
    ),
    _listed(
        "green bean, vanilla bean, coffee bean, cocoa bean, bean sprout, taze fasulye, egg noodle, "
        "egg white, beef stock, beef broth, lamb lettuce"
    ),
)
"""Foods that bring a baby iron."""

SALT = _listed(
    "no salt, no added salt, without salt, without adding salt, unsalted, before salting, "
    "before adding salt, before the salt, before salt, after serving, after the baby, tuzsuz"
)
"""Phrases that keep salt from the baby."""

TEXTURE = _listed(
    "mash, pure, blend, soft, finger, smooth, lump, shred, flak, crush, minced, tender"
)
"""Beginnings of words for what a baby can eat."""

SEASONING = frozenset(
    _listed(
        "salt, pepper, cumin, paprika, cinnamon, sumac, oregano, thyme, mint, rosemary, bay, "
        "clove, nutmeg, turmeric, saffron, cardamom, allspice, coriander, cayenne, chili, chilli, "
        "ginger, garlic, vanilla, yeast, baking, zest, parsley, dill, basil, spice, herb, "
        "seasoning, tuz, biber, kimyon, kekik, nane"
    )
)
"""What a recipe may well hold one gram of."""

BAIT = _listed(
    "ignore previous, ignore all previous, ignore the rubric, ignore your instructions, "
    "disregard previous, dear judge, dear grader, note to the judge, note to the grader, "
    "to the grader, full marks, maximum score, highest score, give this answer, score this answer, "
    "rate this answer, award this, system prompt"
)
"""Phrases that speak to a grader."""


def words_digest() -> str:
    """Digest (hex) of all word lists that a check reads."""
    lists: dict[str, Iterable[str]] = {
        "bait": BAIT,
        "iron": IRON.terms,
        "iron_exceptions": IRON.exceptions,
        "link": LINK,
        "neutral": NEUTRAL,
        "plain": PLAIN,
        "safe": SAFE,
        "salt": SALT,
        "seasoning": SEASONING,
        "texture": TEXTURE,
    }
    covered: IdentityValue = {name: [*sorted(words)] for name, words in lists.items()}
    return digest("kitchen-words", covered)
