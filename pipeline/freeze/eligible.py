"""The ingredients that can be anchors and candidates, as columns in the order of their names."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipeline.errors import FreezeError
from schemas.release import CORE_CATEGORIES, CUISINES, UNIVERSAL

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from schemas.release import Ingredient

__all__ = ["NAME_PATTERN", "Eligible", "eligible_ingredients"]

NAME_PATTERN = "[a-z0-9]+(_[a-z0-9]+)*"
"""What the whole name of an eligible ingredient looks like."""


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
    """

    names: tuple[str, ...]
    categories: npt.NDArray[np.int64]
    cuisines: npt.NDArray[np.bool_]
    universal: npt.NDArray[np.bool_]
    vegan: npt.NDArray[np.bool_]
    vegetarian: npt.NDArray[np.bool_]
    nova: npt.NDArray[np.int64]
    vectors: tuple[bytes, ...]


def eligible_ingredients(ingredients: Sequence[Ingredient], excluded: Collection[str]) -> Eligible:
    """Keep core categories, plain names, and nothing excluded (spec 2).

    Parameters
    ----------
    ingredients
        The release's ingredients, in any order.
    excluded
        Names that are neither anchors nor candidates.

    Raises
    ------
    FreezeError
        No ingredient is eligible, or two have one name.
    """
    plain = re.compile(NAME_PATTERN)
    barred = frozenset(excluded)
    kept = sorted(
        (
            one
            for one in ingredients
            if one.category in CORE_CATEGORIES
            and one.name not in barred
            and plain.fullmatch(one.name)
        ),
        key=lambda one: one.name,
    )
    _check(kept, len(ingredients))
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
    )


def _check(kept: Sequence[Ingredient], offered: int) -> None:
    if not kept:
        raise FreezeError(
            "an eligible ingredient (core category, plain snake-case name, not excluded)",
            f"none among {offered}",
            "ingredients",
            "Check the release and freeze.excluded_anchors.",
        )
    for before, after in itertools.pairwise(kept):
        if before.name == after.name:
            raise FreezeError(
                "unique names", f"{after.name} twice", "ingredients", "Rebuild the release."
            )
