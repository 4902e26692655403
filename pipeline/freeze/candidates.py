"""Eight candidates for every anchor of a family, for all anchors at once (docs/tasks.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipeline.freeze.eligible import Step
from pipeline.freeze.families import (
    COMPLEMENTS,
    ConstraintRule,
    CulturalRule,
    Diet,
    Pool,
    RankedRule,
    Rule,
    Variant,
)
from pipeline.freeze.geometry import rank
from pipeline.freeze.maps import MEMBERS
from schemas.release import CORE_CATEGORIES, CUISINES
from schemas.taskset import LABELS

if TYPE_CHECKING:
    from pipeline.freeze.eligible import Eligible

__all__ = ["Candidates", "RankedPools", "Space", "candidates", "spaced"]

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Space:
    """What the families ask of N eligible ingredients.

    Attributes
    ----------
    cosines
        float64 (N, N).
    ranked
        int64 (N, N): each anchor's names, nearest first.
    projections
        float64 (N, 8): cosines with the directions of `CUISINES`; empty (N, 0) if no family asks.
    near
        bool (N, N): regions overlap.
    apart
        bool (N, N): names share no word, so one may be in the other's pool.
    """

    eligible: Eligible
    cosines: _Floats
    ranked: _Ints
    projections: _Floats
    near: _Bools
    apart: _Bools


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of one family: an anchor, perhaps a variant or a cuisine, and its eight candidates.

    Attributes
    ----------
    anchors
        int64 (n,): positions among the eligible.
    choices
        int64 (n, 8): positions among the eligible.
    fits
        float64 (n, 8): cosine with the anchor, or projection on the cuisine's direction.
    difficulties
        float64 (n,): larger comes into an earlier stratum.
    feasible
        bool (n, 56): portfolios that keep the family's rule.
    variants
        n variants of the constraint family, else None.
    cuisines
        n target cuisines of the cultural family, else None.
    steps
        How many rows each rule left, from all that are eligible to n.
    """

    anchors: _Ints
    choices: _Ints
    fits: _Floats
    difficulties: _Floats
    feasible: _Bools
    variants: tuple[Variant | None, ...]
    cuisines: tuple[str | None, ...]
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedPools:
    """Pools of several anchors, each in ranked order, laid end to end.

    Attributes
    ----------
    members
        int64 (total,): positions among the eligible.
    ends
        int64 (n + 1,): pool i is ``members[ends[i]:ends[i + 1]]``.
    """

    members: _Ints
    ends: _Ints

    @classmethod
    def of(cls, allowed: _Bools, order: _Ints) -> RankedPools:
        """Pools of the allowed ones (bool (n, N)) in each row's order (int64 (n, N))."""
        kept = np.take_along_axis(allowed, order, axis=1)
        return cls(order[kept], _ends(kept.sum(axis=1)))

    @property
    def sizes(self) -> _Ints:
        """Sizes of the pools; int64 (n,)."""
        return np.diff(self.ends)

    def where(self, flags: _Bools) -> RankedPools:
        """The same pools with those members only whose flag (bool (N,)) is set."""
        kept = flags[self.members]
        before = np.concatenate(([0], np.cumsum(kept)))
        return RankedPools(self.members[kept], before[self.ends])

    def spaced(self, rows: _Ints, first: int, count: int) -> _Ints:
        """``spaced(pool[:first], count)`` of each of the rows; int64 (len(rows), count).

        Each row's pool holds at least one member.
        """
        table = np.array([spaced(size, count) for size in range(1, first + 1)], dtype=np.int64)
        within = table[np.minimum(self.sizes[rows], first) - 1]
        return np.asarray(self.members[self.ends[rows][:, None] + within], dtype=np.int64)


def spaced(size: int, count: int) -> tuple[int, ...]:
    """Positions round-half-even(i * (size - 1) / (count - 1)), i = 0..count-1 (docs/tasks.md)."""
    return tuple(round(Fraction(i * (size - 1), count - 1)) for i in range(count))


def candidates(space: Space, rule: Rule) -> Candidates:
    """Candidates of every anchor that a family's rule admits.

    Parameters
    ----------
    space
        The eligible ingredients.
    rule
        One of `families.RULES`.
    """
    if isinstance(rule, RankedRule):
        return _ranked(space, rule)
    if isinstance(rule, ConstraintRule):
        pools = RankedPools.of(_allowed(space, rule.pool), space.ranked)
        parts = [_constraint(space, rule, variant, pools) for variant in rule.variants]
    else:
        parts = [_cultural(space, rule, cuisine) for cuisine in range(len(CUISINES))]
    return _joined(space, parts)


def _ranked(space: Space, rule: RankedRule) -> Candidates:
    """Substitution and pairing."""
    allowed = _allowed(space, rule.pool)
    least = rule.minimum_pool
    steps = [
        _enough(_goes_with(space, rule.pool), least, "others of a category that goes with it"),
        _enough(allowed, least, "of them that share no word with it"),
    ]
    if rule.regions_overlap:
        allowed &= space.near
        steps.append(_enough(allowed, least, "of them of a region that it shares"))
    pools = RankedPools.of(allowed, space.ranked)
    anchors = np.flatnonzero(pools.sizes >= rule.minimum_pool)
    choices = pools.spaced(anchors, rule.first, len(LABELS))
    fits = space.cosines[anchors[:, None], choices]
    spreads = fits[:, 0] - fits[:, -1]
    wide = spreads >= rule.minimum_spread_milli / 1000
    return Candidates(
        anchors=anchors[wide],
        choices=choices[wide],
        fits=fits[wide],
        difficulties=1 / spreads[wide],
        feasible=np.ones((int(wide.sum()), len(MEMBERS)), dtype=np.bool_),
        variants=(None,) * int(wide.sum()),
        cuisines=(None,) * int(wide.sum()),
        steps=(*space.eligible.steps, *steps, _spread(wide, rule.minimum_spread_milli)),
    )


def _constraint(
    space: Space, rule: ConstraintRule, variant: Variant, pools: RankedPools
) -> Candidates:
    """One variant of the constraint family."""
    eligible = space.eligible
    known = eligible.nova > 0
    fits_diet = eligible.vegan if variant.diet == Diet.VEGAN else eligible.vegetarian
    valid = known & (eligible.nova <= variant.maximum_nova) & fits_diet
    good, bad = pools.where(valid), pools.where(known & ~valid)
    enough = (good.sizes >= rule.valid) & (bad.sizes >= rule.invalid)
    anchors = np.flatnonzero(enough)
    firsts = good.spaced(anchors, rule.valid, rule.valid)
    choices = np.hstack([firsts, bad.spaced(anchors, rule.first_invalid, rule.invalid)])
    return Candidates(
        anchors=anchors,
        choices=choices,
        fits=space.cosines[anchors[:, None], choices],
        difficulties=np.full(len(anchors), float(variant.difficulty_tenths)),
        feasible=np.asarray(valid[choices][:, MEMBERS].all(axis=2), dtype=np.bool_),
        variants=(variant,) * len(anchors),
        cuisines=(None,) * len(anchors),
        steps=(
            Step("as anchors of a variant", len(eligible.names)),
            Step(
                f"with {rule.valid} in the pool that keep its limits",
                int((good.sizes >= rule.valid).sum()),
            ),
            Step(f"and {rule.invalid} that break them", len(anchors)),
        ),
    )


def _cultural(space: Space, rule: CulturalRule, cuisine: int) -> Candidates:
    """Cultural composition for the anchors that belong to one cuisine only."""
    member = space.eligible.cuisines
    anchors = np.flatnonzero(member[:, cuisine] & (member.sum(axis=1) == 1))
    steps = [Step("of one cuisine alone", len(anchors))]
    projection = space.projections[:, cuisine]
    allowed = _allowed(space, rule.pool)[anchors]
    down = rank(projection[None, :])[0]
    high, found = _first_of_categories(allowed[:, down], space.eligible.categories[down], rule.high)
    anchors, allowed, high = anchors[found], allowed[found], down[high[found]]
    steps.append(Step(f"with {rule.high} categories in the pool", len(anchors)))
    np.put_along_axis(allowed, high, values=False, axis=1)
    up = np.broadcast_to(rank(-projection[None, :]), allowed.shape)
    pools = RankedPools.of(allowed, up)
    rows = np.flatnonzero(pools.sizes >= rule.low)
    steps.append(Step(f"and {rule.low} others", len(rows)))
    choices = np.hstack([high[rows], pools.spaced(rows, rule.first_low, rule.low)])
    fits = projection[choices]
    spreads = _mean(fits[:, : rule.high]) - _mean(fits[:, rule.high :])
    wide = spreads >= rule.minimum_spread_milli / 1000
    groups = space.eligible.categories[choices[wide]][:, MEMBERS]
    one, two, three = groups[..., 0], groups[..., 1], groups[..., 2]
    return Candidates(
        anchors=anchors[rows][wide],
        choices=choices[wide],
        fits=fits[wide],
        difficulties=1 / spreads[wide],
        feasible=(one != two) & (one != three) & (two != three),
        variants=(None,) * int(wide.sum()),
        cuisines=(CUISINES[cuisine],) * int(wide.sum()),
        steps=(*steps, _spread(wide, rule.minimum_spread_milli)),
    )


def _enough(pools: _Bools, least: int, which: str) -> Step:
    """How many anchors have so many in their pools (bool (N, N))."""
    return Step(f"with {least} {which}", int((pools.sum(axis=1) >= least).sum()))


def _spread(wide: _Bools, least_milli: int) -> Step:
    return Step(f"whose candidates spread by 0.{least_milli:03d}", int(wide.sum()))


def _allowed(space: Space, pool: Pool) -> _Bools:
    """Pools by category and words, before regions and limits; bool (N, N), a fresh array."""
    return _goes_with(space, pool) & space.apart


def _goes_with(space: Space, pool: Pool) -> _Bools:
    """Pools by category alone; bool (N, N), nobody in a pool of its own."""
    codes = space.eligible.categories
    if pool == Pool.EVERY_CATEGORY:
        return ~np.eye(len(codes), dtype=np.bool_)
    goes = np.zeros((len(CORE_CATEGORIES), len(CORE_CATEGORIES)), dtype=np.bool_)
    for i, category in enumerate(CORE_CATEGORIES):
        wanted = (category,) if pool == Pool.SAME_CATEGORY else COMPLEMENTS[category]
        goes[i, [CORE_CATEGORIES.index(one) for one in wanted]] = True
    found = goes[codes][:, codes]
    np.fill_diagonal(found, val=False)
    return np.asarray(found, dtype=np.bool_)


def _first_of_categories(allowed: _Bools, categories: _Ints, count: int) -> tuple[_Ints, _Bools]:
    """Walk each row and take the first of each new category until there are `count`.

    Returns
    -------
    positions
        int64 (n, count); meaningless where a row has fewer categories.
    found
        bool (n,): the row has enough.
    """
    width = len(categories)
    firsts = np.full((len(allowed), len(CORE_CATEGORIES)), width, dtype=np.int64)
    for code in range(len(CORE_CATEGORIES)):
        columns = np.flatnonzero(categories == code)
        if columns.size:
            inside = allowed[:, columns]
            first = columns[inside.argmax(axis=1)]
            firsts[:, code] = np.where(inside.any(axis=1), first, width)
    positions = np.sort(firsts, axis=1)[:, :count]
    return positions, positions[:, -1] < width


def _joined(space: Space, parts: list[Candidates]) -> Candidates:
    steps = [
        Step(same[0].rule, sum(step.left for step in same))
        for same in zip(*(part.steps for part in parts), strict=True)
    ]
    return Candidates(
        anchors=np.concatenate([part.anchors for part in parts]),
        choices=np.concatenate([part.choices for part in parts]),
        fits=np.concatenate([part.fits for part in parts]),
        difficulties=np.concatenate([part.difficulties for part in parts]),
        feasible=np.concatenate([part.feasible for part in parts]),
        variants=tuple(one for part in parts for one in part.variants),
        cuisines=tuple(one for part in parts for one in part.cuisines),
        steps=(*space.eligible.steps, *steps),
    )


def _mean(columns: _Floats) -> _Floats:
    """Mean of each row, added from left to right."""
    total = np.zeros(len(columns))
    for column in columns.T:
        total = total + column
    return np.asarray(total / columns.shape[1], dtype=np.float64)


def _ends(sizes: _Ints) -> _Ints:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
