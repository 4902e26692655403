"""Compiling tasks, ours against a plain first version (``python -m benchmarks.freeze``).

Both compile two panels of four families from an invented release of the golden bundle's size. The
plain version goes anchor by anchor with sorted lists, one NumPy dot product a cosine, and
`itertools.combinations`; it shares the selection of tasks, which is not what takes the time. Each
runs in a process of its own, for its peak memory, and both must give the same tasks. `--scale`
goes to 3,000 ingredients.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Curve, Race, main
from pipeline.freeze import compile_tasks
from pipeline.freeze.candidates import Candidates
from pipeline.freeze.compile import assemble
from pipeline.freeze.eligible import eligible_ingredients
from pipeline.freeze.families import (
    COMPLEMENTS,
    RULES,
    ConstraintRule,
    CulturalRule,
    Pool,
    RankedRule,
    Variant,
    Weights,
)
from pipeline.freeze.maps import ScoreMaps
from pipeline.freeze.selection import FamilyTable
from schemas.parameters import FreezeParameters, PanelParameters
from schemas.release import CORE_CATEGORIES, CUISINES, UNIVERSAL, Direction, Ingredient
from schemas.taskset import Family

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.freeze.eligible import Eligible
    from schemas.taskset import Task

    _Prepared = tuple[list[Ingredient], list[Direction]]

_INGREDIENTS, _DIMENSIONS, _SEED = 1_320, 300, 20260811
_FEW = 5
_PARAMETERS = FreezeParameters(
    source="compiled",
    panels={
        "panel_1": PanelParameters(seed="bench-1", prefix="b1-", drop_unscoreable=True),
        "panel_2": PanelParameters(seed="bench-2", prefix="b2-", drop_unscoreable=True),
    },
    families=tuple(Family),
    quota=40,
    category_cap=24,
    minimum_categories=8,
    excluded_anchors=(),
)


class _Row(NamedTuple):
    """A row of the plain version: an anchor, its candidates, and what makes their map."""

    anchor: int
    choices: list[int]
    fits: list[float]
    difficulty: float
    feasible: list[bool]
    variant: Variant | None = None
    cuisine: str | None = None


class _Plain:
    """The plain version: everything looked up and computed where it is needed."""

    def __init__(self, eligible: Eligible, directions: Sequence[Direction]) -> None:
        self.eligible = eligible
        self.vectors = [_unit(vector) for vector in eligible.vectors]
        self.arrows = {one.cuisine: _unit(one.vector) for one in directions}
        self.words = [set(name.split("_")) for name in eligible.names]
        self.kinds = [CORE_CATEGORIES[i] for i in eligible.categories]
        self.regions = [
            {UNIVERSAL}
            if eligible.universal[i]
            else {c for c, y in zip(CUISINES, row, strict=True) if y}
            for i, row in enumerate(eligible.cuisines)
        ]

    def cosine(self, one: int, other: int) -> float:
        return float(np.dot(self.vectors[one], self.vectors[other]))

    def pool(self, anchor: int, pool: Pool, *, near: bool = False) -> list[int]:
        found = []
        for other in range(len(self.vectors)):
            if self.words[anchor] & self.words[other]:
                continue
            if pool == Pool.SAME_CATEGORY and self.kinds[other] != self.kinds[anchor]:
                continue
            if (
                pool == Pool.COMPLEMENTS
                and self.kinds[other] not in COMPLEMENTS[self.kinds[anchor]]
            ):
                continue
            mine, theirs = self.regions[anchor], self.regions[other]
            if near and not (mine & theirs or UNIVERSAL in mine | theirs):
                continue
            found.append(other)
        return found

    def ranked(self, anchor: int, pool: list[int]) -> list[int]:
        return sorted(pool, key=lambda one: (-self.cosine(anchor, one), one))

    def rows(self, family: Family) -> Iterator[_Row]:
        rule = RULES[family]
        everyone = range(len(self.vectors))
        if isinstance(rule, RankedRule):
            found = (self.spaced_row(anchor, rule) for anchor in everyone)
        elif isinstance(rule, ConstraintRule):
            found = (
                self.limited_row(anchor, rule, variant)
                for variant in rule.variants
                for anchor in everyone
            )
        else:
            found = (
                self.cultural_row(anchor, rule)
                for cuisine in CUISINES
                for anchor in everyone
                if self.regions[anchor] == {cuisine}
            )
        return (row for row in found if row)

    def spaced_row(self, anchor: int, rule: RankedRule) -> _Row | None:
        pool = self.pool(anchor, rule.pool, near=rule.regions_overlap)
        if len(pool) < rule.minimum_pool:
            return None
        choices = _spaced(self.ranked(anchor, pool)[: rule.first], 8)
        fits = [self.cosine(anchor, one) for one in choices]
        spread = fits[0] - fits[-1]
        if spread < rule.minimum_spread_milli / 1000:
            return None
        return _Row(anchor, choices, fits, 1 / spread, [True] * 56)

    def limited_row(self, anchor: int, rule: ConstraintRule, variant: Variant) -> _Row | None:
        tags = self.eligible
        diet = tags.vegan if variant.diet == "vegan" else tags.vegetarian
        pool = self.ranked(anchor, [i for i in self.pool(anchor, rule.pool) if tags.nova[i]])
        valid = [i for i in pool if tags.nova[i] <= variant.maximum_nova and diet[i]]
        invalid = [i for i in pool if i not in set(valid)]
        if len(valid) < rule.valid or len(invalid) < rule.invalid:
            return None
        first = valid[: rule.valid]
        choices = first + _spaced(invalid[: rule.first_invalid], rule.invalid)
        fits = [self.cosine(anchor, one) for one in choices]
        feasible = [set(three) <= set(first) for three in itertools.combinations(choices, 3)]
        return _Row(anchor, choices, fits, variant.difficulty_tenths, feasible, variant)

    def cultural_row(self, anchor: int, rule: CulturalRule) -> _Row | None:
        (cuisine,) = self.regions[anchor]
        fit = {
            one: float(np.dot(self.vectors[one], self.arrows[cuisine]))
            for one in self.pool(anchor, rule.pool)
        }
        high: list[int] = []
        for one in sorted(fit, key=lambda one: (-fit[one], one)):
            if len(high) < rule.high and self.kinds[one] not in {self.kinds[i] for i in high}:
                high.append(one)
        rest = sorted((one for one in fit if one not in high), key=lambda one: (fit[one], one))
        if len(high) < rule.high or len(rest) < rule.low:
            return None
        low = _spaced(rest[: rule.first_low], rule.low)
        spread = sum(fit[one] for one in high) / len(high) - sum(fit[one] for one in low) / len(low)
        if spread < rule.minimum_spread_milli / 1000:
            return None
        choices = high + low
        threes = itertools.combinations(choices, 3)
        feasible = [len({self.kinds[i] for i in three}) == 3 for three in threes]
        fits = [fit[one] for one in choices]
        return _Row(anchor, choices, fits, 1 / spread, feasible, None, cuisine)

    def scores(self, row: _Row, weights: Weights) -> list[int] | None:
        """The map, or nothing if it has no single optimum."""
        utilities = []
        for one, two, three in itertools.combinations(range(8), 3):
            i, j, k = row.choices[one], row.choices[two], row.choices[three]
            fit = (row.fits[one] + row.fits[two] + row.fits[three]) / 3
            coherence = (self.cosine(i, j) + self.cosine(i, k) + self.cosine(j, k)) / 3
            utilities.append(
                weights.fit_milli / 1000 * fit + weights.coherence_milli / 1000 * coherence
            )
        allowed = [u for u, y in zip(utilities, row.feasible, strict=True) if y]
        if len(allowed) < 4 or max(allowed) - min(allowed) < 1e-6:
            return None
        low, high = min(allowed), max(allowed)
        scores = [
            round(10_000 * (u - low) / (high - low)) if y else 0
            for u, y in zip(utilities, row.feasible, strict=True)
        ]
        return scores if scores.count(10_000) == 1 else None


def _plain_table(plain: _Plain, family: Family) -> FamilyTable:
    """A family's table as the shared selection reads it."""
    rows = list(plain.rows(family))
    maps = [plain.scores(row, RULES[family].weights) for row in rows]
    columns = Candidates(
        anchors=np.array([row.anchor for row in rows]),
        choices=np.array([row.choices for row in rows]),
        fits=np.array([row.fits for row in rows]),
        difficulties=np.array([row.difficulty for row in rows], dtype=np.float64),
        feasible=np.array([row.feasible for row in rows]),
        variants=tuple(row.variant for row in rows),
        cuisines=tuple(row.cuisine for row in rows),
    )
    scores = np.array([scores or [0] * 56 for scores in maps])
    return FamilyTable(family, columns, ScoreMaps(scores, np.array([bool(m) for m in maps])))


def _unit(vector: bytes) -> npt.NDArray[np.float64]:
    wide = np.frombuffer(vector, dtype="<f4").astype(np.float64)
    return cast("npt.NDArray[np.float64]", wide / np.linalg.norm(wide))


def _spaced(items: list[int], count: int) -> list[int]:
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def _release(count: int = _INGREDIENTS) -> tuple[list[Ingredient], list[Direction]]:
    """Names in clusters of categories and cuisines, with every region, diet and NOVA group."""
    draw = np.random.default_rng(_SEED)
    kinds = draw.normal(size=(14, _DIMENSIONS))
    arrows = draw.normal(size=(8, _DIMENSIONS))
    ingredients = []
    for i in range(count):
        kind, cuisine = i % 14, int(draw.integers(8))
        alone = draw.random() < 0.45
        vegan = bool(draw.random() < 0.5)
        own = draw.normal(size=_DIMENSIONS) * draw.uniform(1, 3)
        vector = kinds[kind] + draw.uniform(0, 2) * arrows[cuisine] + own
        ingredients.append(
            Ingredient(
                name=f"w{int(draw.integers(400))}_n{i}",
                node_id=i,
                category=CORE_CATEGORIES[kind],
                regions=(CUISINES[cuisine],) if alone else (UNIVERSAL,),
                vegetarian=vegan or bool(draw.random() < 0.4),
                vegan=vegan,
                nova=None if i % 19 == 0 else int(draw.integers(1, 5)),
                vector=vector.astype("<f4").tobytes(),
            )
        )
    directions = [
        Direction(cuisine=cuisine, vector=arrow.astype("<f4").tobytes())
        for cuisine, arrow in zip(CUISINES, arrows, strict=True)
    ]
    return ingredients, directions


def _compile_plainly(prepared: object) -> str:
    ingredients, directions = cast("_Prepared", prepared)
    eligible = eligible_ingredients(ingredients, ())
    plain = _Plain(eligible, directions)
    tables = {family: _plain_table(plain, family) for family in Family}
    return _evidence(assemble(tables, eligible, _PARAMETERS))


def _compile_few(prepared: object) -> object:
    """Tasks for a quota that also the smallest release of the curve can fill."""
    ingredients, directions = cast("_Prepared", prepared)
    few = _PARAMETERS.model_copy(update={"quota": _FEW})
    return compile_tasks(ingredients, directions, few)


def _compile(prepared: object) -> str:
    ingredients, directions = cast("_Prepared", prepared)
    return _evidence(compile_tasks(ingredients, directions, _PARAMETERS))


def _evidence(tasks: Sequence[Task]) -> str:
    lines = "\n".join(task.model_dump_json() for task in tasks)
    return hashlib.sha256(lines.encode()).hexdigest()


RACE = Race(
    "benchmarks.freeze",
    f"freeze: two panels, four families, {_INGREDIENTS} ingredients, {_DIMENSIONS} dimensions",
    _release,
    {"plain": _compile_plainly, "ours": _compile},
)
CURVE = Curve(
    f"freeze: two panels, four families, quota {_FEW}, {_DIMENSIONS} dimensions", "ingredients",
    "n^2 log n", (300, 1_000, 3_000), _release, _compile_few,
    lambda count: count**2 * math.log(count),
)  # fmt: skip

if __name__ == "__main__":
    main(RACE, CURVE)
