"""The map of the same eight candidates under another release (docs/tasks.md), not chosen anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.freeze.eligible import eligible_ingredients
from pipeline.freeze.families import RULES, ConstraintRule, CulturalRule, Diet
from pipeline.freeze.geometry import exact_products, unit_vectors
from pipeline.freeze.maps import MEMBERS, score_maps, utilities, with_labels
from schemas.release import CUISINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.freeze.eligible import Eligible
    from pipeline.freeze.families import Rule
    from schemas.release import Direction, Ingredient
    from schemas.taskset import Task

__all__ = ["RescoredMap", "rescore"]

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]


class RescoredMap(NamedTuple):
    """What a release says of eight candidates.

    Attributes
    ----------
    scores_bps
        The 56 scores under the task's labels.
    feasible
        Which of the 56 keep the family's rule, under the task's labels.
    """

    scores_bps: tuple[int, ...]
    feasible: tuple[bool, ...]


class _Space(NamedTuple):
    """Cosines of the ingredients that the tasks name, and their projections on the cuisines."""

    eligible: Eligible
    place: dict[str, int]
    cosines: _Floats
    projections: _Floats


class _MapRow(NamedTuple):
    """One task in the release's own order of its candidates."""

    fits: _Floats
    mutual: _Floats
    feasible: _Bools
    positions: list[int]


def rescore(
    ingredients: Sequence[Ingredient], directions: Sequence[Direction], tasks: Sequence[Task]
) -> tuple[RescoredMap | None, ...]:
    """Maps of the tasks' candidates under a release.

    Returns
    -------
    One map a task; none where the release lacks one of the nine ingredients or the task's cuisine,
    or gives the eight no usable map (fewer than four feasible portfolios, no range, two optima).
    """
    space = _space(ingredients, directions, tasks)
    rows = [None if space is None else _row(space, task) for task in tasks]
    found: list[RescoredMap | None] = [None] * len(tasks)
    for family in RULES:
        here = [i for i, task in enumerate(tasks) if task.family is family and rows[i] is not None]
        kept = [row for i in here if (row := rows[i]) is not None]
        if not kept:
            continue
        feasible = np.stack([row.feasible for row in kept])
        utility = utilities(
            np.stack([row.fits for row in kept]),
            np.stack([row.mutual for row in kept]),
            RULES[family].weights,
        )
        maps = score_maps(utility, feasible)
        for place, (i, row) in enumerate(zip(here, kept, strict=True)):
            if maps.scoreable[place]:
                flags = with_labels(row.feasible.astype(np.int64), row.positions)
                scores = with_labels(maps.scores_bps[place], row.positions)
                found[i] = RescoredMap(scores, tuple(map(bool, flags)))
    return tuple(found)


def _space(
    ingredients: Sequence[Ingredient], directions: Sequence[Direction], tasks: Sequence[Task]
) -> _Space | None:
    named = {name for task in tasks for name in (task.anchor, *task.choices)}
    known = [one for one in ingredients if one.name in named]
    if not known:
        return None
    eligible = eligible_ingredients(known, ())
    units = unit_vectors(eligible.vectors, eligible.names)
    by_cuisine = {one.cuisine: one.vector for one in directions}
    whole = set(by_cuisine) >= set(CUISINES)
    arrows = (
        unit_vectors([by_cuisine[name] for name in CUISINES], CUISINES)
        if whole
        else np.zeros((0, units.shape[1]))
    )
    place = {name: i for i, name in enumerate(eligible.names)}
    return _Space(eligible, place, exact_products(units, units), exact_products(units, arrows))


def _row(space: _Space, task: Task) -> _MapRow | None:
    names = (task.anchor, *task.choices)
    if any(name not in space.place for name in names):
        return None
    rule = RULES[task.family]
    anchor, *choices = (space.place[name] for name in names)
    fits = space.cosines[anchor, choices]
    if isinstance(rule, CulturalRule):
        if task.region not in CUISINES or not space.projections.shape[1]:
            return None
        fits = space.projections[choices, CUISINES.index(task.region)]
    valid = _valid(space.eligible, rule, task, choices)
    order = sorted(range(len(choices)), key=lambda i: (not valid[i], -fits[i], task.choices[i]))
    ordered = np.array([choices[i] for i in order])
    return _MapRow(
        fits[order],
        space.cosines[ordered[:, None], ordered[None, :]],
        _feasible(space.eligible, rule, ordered, valid[order]),
        [order.index(i) for i in range(len(order))],
    )


def _valid(eligible: Eligible, rule: Rule, task: Task, choices: list[int]) -> _Bools:
    """Candidates that keep a constraint's limits; all of them in other families; bool (8,)."""
    if not isinstance(rule, ConstraintRule):
        return np.ones(len(choices), dtype=np.bool_)
    variant = next(one for one in rule.variants if one.name == task.variant)
    nova = eligible.nova[choices]
    diet = eligible.vegan if variant.diet == Diet.VEGAN else eligible.vegetarian
    return np.asarray((nova > 0) & (nova <= variant.maximum_nova) & diet[choices], dtype=np.bool_)


def _feasible(
    eligible: Eligible, rule: Rule, ordered: npt.NDArray[np.int64], valid: _Bools
) -> _Bools:
    """Portfolios that keep the family's rule; bool (56,)."""
    if isinstance(rule, CulturalRule):
        one, two, three = eligible.categories[ordered][MEMBERS].T
        return np.asarray((one != two) & (one != three) & (two != three), dtype=np.bool_)
    return np.asarray(valid[MEMBERS].all(axis=1), dtype=np.bool_)
