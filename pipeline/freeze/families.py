"""The four families as data: pools, candidates, spreads, weights and variants (docs/tasks.md).

Nothing here computes. `candidates` and `maps` read these rules, `design` writes them into the
design document, so that what shapes a task and what names its design are the same constants.
Quantities are integers with the unit in the name; ``*_milli`` are thousandths.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

from schemas.taskset import Family

__all__ = [
    "COMPLEMENTS",
    "RULES",
    "ConstraintRule",
    "CulturalRule",
    "Diet",
    "Pool",
    "RankedRule",
    "Rule",
    "Variant",
    "Weights",
]


class Pool(StrEnum):
    """Whose category may be in a pool. No pool holds names that share a word with the anchor."""

    SAME_CATEGORY = "same_category"
    COMPLEMENTS = "complement_categories"
    EVERY_CATEGORY = "every_category"


class Diet(StrEnum):
    """Diets of the constraint family."""

    VEGAN = "vegan"
    VEGETARIAN = "vegetarian"


class Weights(NamedTuple):
    """Weights of a portfolio's utility, in thousandths.

    Attributes
    ----------
    fit_milli
        Weight of the mean fit: cosine with the anchor, or projection on the cuisine's direction.
    coherence_milli
        Weight of the mean of the three mutual cosines.
    """

    fit_milli: int
    coherence_milli: int


class Variant(NamedTuple):
    """One variant of the constraint family: a diet and the highest NOVA group allowed.

    A larger `difficulty_tenths` puts a candidate into an earlier stratum.
    """

    diet: Diet
    maximum_nova: int
    difficulty_tenths: int

    @property
    def name(self) -> str:
        """Name of the variant in tasks."""
        return f"{self.diet}-nova-{self.maximum_nova}"


@dataclass(frozen=True, slots=True)
class RankedRule:
    """Substitution and pairing: eight spaced candidates of the pool's `first` ranked.

    An anchor needs `minimum_pool` names in its pool, and cosines of the first and the last
    candidate that differ by at least `minimum_spread_milli`. Difficulty is one by that spread.
    """

    form: ClassVar[str] = "ranked"

    pool: Pool
    regions_overlap: bool
    minimum_pool: int
    first: int
    minimum_spread_milli: int
    weights: Weights


@dataclass(frozen=True, slots=True)
class ConstraintRule:
    """Constraint: the first `valid` names that keep the limits and `invalid` that break them.

    The invalid ones are spaced over the pool's `first_invalid` ranked. The pool holds names with
    a known NOVA group; regions are not asked.
    """

    form: ClassVar[str] = "constraint"

    pool: Pool
    variants: tuple[Variant, ...]
    valid: int
    invalid: int
    first_invalid: int
    weights: Weights


@dataclass(frozen=True, slots=True)
class CulturalRule:
    """Cultural composition: `high` names of different categories that project highest on a cuisine.

    `low` others are spaced over the `first_low` that project lowest. The anchor belongs to exactly
    one cuisine. The means of both groups differ by at least `minimum_spread_milli`. A portfolio is
    feasible if its three categories differ. Difficulty is one by the spread.
    """

    form: ClassVar[str] = "cultural"

    pool: Pool
    high: int
    low: int
    first_low: int
    minimum_spread_milli: int
    weights: Weights


Rule = RankedRule | ConstraintRule | CulturalRule
"""The rule of one family."""

RULES: dict[Family, Rule] = {
    Family.SUBSTITUTION: RankedRule(
        pool=Pool.SAME_CATEGORY,
        regions_overlap=True,
        minimum_pool=12,
        first=40,
        minimum_spread_milli=80,
        weights=Weights(fit_milli=800, coherence_milli=200),
    ),
    Family.PAIRING: RankedRule(
        pool=Pool.COMPLEMENTS,
        regions_overlap=True,
        minimum_pool=16,
        first=48,
        minimum_spread_milli=80,
        weights=Weights(fit_milli=650, coherence_milli=350),
    ),
    Family.CONSTRAINT: ConstraintRule(
        pool=Pool.COMPLEMENTS,
        variants=(
            Variant(Diet.VEGAN, 2, 20),
            Variant(Diet.VEGETARIAN, 2, 22),
            Variant(Diet.VEGAN, 3, 30),
            Variant(Diet.VEGETARIAN, 3, 32),
        ),
        valid=4,
        invalid=4,
        first_invalid=32,
        weights=Weights(fit_milli=700, coherence_milli=300),
    ),
    Family.CULTURAL: CulturalRule(
        pool=Pool.EVERY_CATEGORY,
        high=4,
        low=4,
        first_low=80,
        minimum_spread_milli=150,
        weights=Weights(fit_milli=750, coherence_milli=250),
    ),
}
"""The rule of each family, in the order in which panels are compiled."""

COMPLEMENTS: dict[str, tuple[str, ...]] = {
    "Beverage": ("Fruit", "Herb", "Spice", "Sweet"),
    "Dairy": ("Fruit", "Grain", "Herb", "Spice", "Sweet"),
    "Fat/Oil": ("Herb", "Spice", "Vegetable", "Grain"),
    "Fish": ("Herb", "Spice", "Vegetable", "Grain"),
    "Fruit": ("Dairy", "Herb", "Spice", "Sweet", "Nut/Seed"),
    "Grain": ("Dairy", "Legume", "Meat", "Vegetable", "Spice"),
    "Herb": ("Meat", "Fish", "Seafood", "Vegetable", "Dairy"),
    "Legume": ("Grain", "Herb", "Spice", "Vegetable", "Fat/Oil"),
    "Meat": ("Herb", "Spice", "Vegetable", "Grain"),
    "Nut/Seed": ("Fruit", "Sweet", "Grain", "Vegetable", "Spice"),
    "Seafood": ("Herb", "Spice", "Vegetable", "Grain"),
    "Spice": ("Meat", "Fish", "Seafood", "Vegetable", "Fruit"),
    "Sweet": ("Fruit", "Dairy", "Grain", "Nut/Seed", "Beverage"),
    "Vegetable": ("Herb", "Spice", "Grain", "Legume", "Dairy"),
}
"""The categories that go with an anchor's category."""
