"""The ingredients that can be anchors and candidates, as columns in the order of their names."""

from __future__ import annotations

import difflib
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.errors import InputError
from schemas.release import CORE_CATEGORIES, CUISINES, UNIVERSAL

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from schemas.release import Ingredient

__all__ = ["NAME_PATTERN", "Eligible", "Step", "check_excluded", "eligible_ingredients", "told"]

NAME_PATTERN = "[a-z0-9]+(_[a-z0-9]+)*"
"""What the whole name of an eligible ingredient looks like."""


_SUGGESTED = 5
_ADVICE = {
    "in the release": "Take a release that has ingredients.",
    "of a core category": f"Core categories are {', '.join(CORE_CATEGORIES)}.",
    "with a name in snake case": "Write names like olive_oil: a to z, 0 to 9 and underscores.",
    "not in freeze.excluded_anchors": "Shorten freeze.excluded_anchors.",
}
"""The rules in their order, and what to do where one leaves nothing."""


class Step(NamedTuple):
    """A rule on the way from a release to a panel's rows, and how many it left."""

    rule: str
    left: int


def told(steps: Sequence[Step]) -> str:
    """How many rows each rule left, in a sentence."""
    return f"Left by each rule: {', '.join(f'{step.left:,} {step.rule}' for step in steps)}."


@dataclass(frozen=True, slots=True)
class Eligible:
    """The N eligible ingredients, sorted by name: an index order is a name order.

    Attributes
    ----------
    names
        N names.
    categories
        int64 (N,): positions in `CORE_CATEGORIES`.
    cuisines
        bool (N, 8): membership in each of `CUISINES`; a universal ingredient has none of its own.
    universal
        bool (N,).
    vegan, vegetarian
        bool (N,).
    nova
        int64 (N,): 1 to 4, or 0 where unknown.
    vectors
        N vectors, little-endian float32 bytes.
    steps
        How many ingredients each rule left; the last left N.
    """

    names: tuple[str, ...]
    categories: npt.NDArray[np.int64]
    cuisines: npt.NDArray[np.bool_]
    universal: npt.NDArray[np.bool_]
    vegan: npt.NDArray[np.bool_]
    vegetarian: npt.NDArray[np.bool_]
    nova: npt.NDArray[np.int64]
    vectors: tuple[bytes, ...]
    steps: tuple[Step, ...]


def eligible_ingredients(ingredients: Sequence[Ingredient], excluded: Collection[str]) -> Eligible:
    """Keep core categories, plain names, and nothing excluded (docs/tasks.md).

    Parameters
    ----------
    ingredients
        The release's ingredients, in any order.
    excluded
        Names that are neither anchors nor candidates.

    Raises
    ------
    InputError
        No ingredient is eligible, or two have one name.
    """
    plain = re.compile(NAME_PATTERN)
    barred = frozenset(excluded)
    core = [one for one in ingredients if one.category in CORE_CATEGORIES]
    named = [one for one in core if plain.fullmatch(one.name)]
    kept = sorted((one for one in named if one.name not in barred), key=lambda one: one.name)
    counts = map(len, (ingredients, core, named, kept))
    steps = tuple(itertools.starmap(Step, zip(_ADVICE, counts, strict=True)))
    _check(kept, steps)
    code = {category: i for i, category in enumerate(CORE_CATEGORIES)}
    return Eligible(
        names=tuple(one.name for one in kept),
        categories=np.array([code[one.category] for one in kept], dtype=np.int64),
        cuisines=np.array([[c in one.regions for c in CUISINES] for one in kept], dtype=np.bool_),
        universal=np.array([UNIVERSAL in one.regions for one in kept], dtype=np.bool_),
        vegan=np.array([one.vegan for one in kept], dtype=np.bool_),
        vegetarian=np.array([one.vegetarian for one in kept], dtype=np.bool_),
        nova=np.array([one.nova or 0 for one in kept], dtype=np.int64),
        vectors=tuple(one.vector for one in kept),
        steps=steps,
    )


def check_excluded(ingredients: Sequence[Ingredient], excluded: Collection[str]) -> None:
    """Refuse names that are to be left out and are not there.

    Parameters
    ----------
    ingredients
        The release's ingredients.
    excluded
        The names of ``freeze.excluded_anchors``.

    Raises
    ------
    InputError
        Names the first few of them, each with the names that it is spelt much like.
    """
    known = {one.name for one in ingredients}
    unknown = [name for name in dict.fromkeys(excluded) if name not in known]
    if not unknown:
        return
    said = []
    for name in unknown[:_SUGGESTED]:
        close = difflib.get_close_matches(name, known, n=3)
        said.append(f"{name!r}" + (f" (close: {', '.join(close)})" if close else ""))
    more = len(unknown) - len(said)
    raise InputError(
        "names of ingredients in the release",
        ", ".join(said) + (f" and {more} more that are none" if more else ""),
        "params.yaml: freeze.excluded_anchors",
        "Mend the spelling or remove what is not there.",
    )


def _check(kept: Sequence[Ingredient], steps: Sequence[Step]) -> None:
    if not kept:
        empty = next(step for step in steps if not step.left)
        raise InputError(
            "an eligible ingredient",
            f"none {empty.rule}",
            "ingredients",
            f"{told(steps)} {_ADVICE[empty.rule]}",
        )
    for before, after in itertools.pairwise(kept):
        if before.name == after.name:
            raise InputError(
                "unique names", f"{after.name} twice", "ingredients", "Rebuild the release."
            )
