"""Tasks from a release: the face of the freeze stage's algorithm (docs/tasks.md).

Candidates and maps depend on no panel, so they are made once for all; a panel only selects,
numbers and labels. The result does not depend on the order of the ingredients, nor on the machine
(see `geometry`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipeline.errors import InputError
from pipeline.freeze.candidates import Space, candidates
from pipeline.freeze.eligible import eligible_ingredients
from pipeline.freeze.families import RULES
from pipeline.freeze.geometry import (
    exact_products,
    rank,
    regions_overlap,
    unit_vectors,
    words_overlap,
)
from pipeline.freeze.maps import score_maps, summary, utilities, with_labels
from pipeline.freeze.prompts import prompt
from pipeline.freeze.selection import Chosen, FamilyTable, label_order, select_panel
from pipeline.progress import silent
from schemas.release import CORE_CATEGORIES, CUISINES
from schemas.taskset import Family, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.freeze.eligible import Eligible
    from pipeline.progress import Progress
    from schemas.parameters import FreezeParameters
    from schemas.release import Direction, Ingredient

__all__ = ["assemble", "compile_tasks", "family_table", "measure"]


def compile_tasks(
    ingredients: Sequence[Ingredient],
    directions: Sequence[Direction],
    parameters: FreezeParameters,
    progress: Progress = silent,
) -> tuple[Task, ...]:
    """Compile every panel of the parameters.

    Parameters
    ----------
    ingredients
        The release's ingredients, in any order.
    directions
        Its cuisine directions; only the cultural family asks for them.
    parameters
        Panels, families, quotas, caps and excluded anchors.
    progress
        Told of each family whose maps are done.

    Returns
    -------
    Tasks by panel, family and id.

    Raises
    ------
    InputError
        Nothing is eligible, a vector is unusable, a direction is missing, a quota cannot be met,
        a family shows too few categories, or a panel takes a row without a usable map.
    """
    families = [family for family in Family if family in parameters.families]
    eligible = eligible_ingredients(ingredients, parameters.excluded_anchors)
    space = measure(eligible, directions if Family.CULTURAL in families else None)
    tables = {}
    for family in families:
        tables[family] = family_table(space, family)
        progress(len(tables), len(families))
    return assemble(tables, eligible, parameters)


def assemble(
    tables: Mapping[Family, FamilyTable], eligible: Eligible, parameters: FreezeParameters
) -> tuple[Task, ...]:
    """Select, number and label every panel's tasks.

    Parameters
    ----------
    tables
        A table a family, in the order of compiling.
    eligible
        What the tables' positions mean.
    parameters
        Panels, quotas and caps.

    Raises
    ------
    InputError
        As `selection.select_panel` does.
    """
    tasks: list[Task] = []
    known: set[str] = set()
    for name, panel in parameters.panels.items():
        chosen = select_panel(name, tuple(tables.values()), eligible, parameters, known)
        known.update(one.anchor for one in chosen)
        tasks.extend(_task(name, panel.seed, eligible, tables[one.family], one) for one in chosen)
    return tuple(tasks)


def measure(eligible: Eligible, directions: Sequence[Direction] | None) -> Space:
    """Cosines, ranks, projections and overlaps of the eligible ingredients.

    Parameters
    ----------
    eligible
        N ingredients.
    directions
        The cuisine directions, or None when no family asks for them.

    Raises
    ------
    InputError
        A vector is unusable, or a cuisine has no direction.
    """
    units = unit_vectors(eligible.vectors, eligible.names)
    cosines = exact_products(units, units)
    return Space(
        eligible=eligible,
        cosines=cosines,
        ranked=rank(cosines),
        projections=_projections(units, directions),
        near=regions_overlap(eligible),
        apart=~words_overlap(eligible.names),
    )


def family_table(space: Space, family: Family) -> FamilyTable:
    """Every row of a family with its map."""
    rule = RULES[family]
    rows = candidates(space, rule)
    mutual = space.cosines[rows.choices[:, :, None], rows.choices[:, None, :]]
    utility = utilities(rows.fits, mutual, rule.weights)
    return FamilyTable(family, rows, score_maps(utility, rows.feasible))


def _projections(
    units: npt.NDArray[np.float64], directions: Sequence[Direction] | None
) -> npt.NDArray[np.float64]:
    """Cosines with the directions in the order of `CUISINES`; float64 (N, 8) or (N, 0)."""
    if directions is None:
        return np.zeros((len(units), 0))
    by_cuisine = {one.cuisine: one.vector for one in directions}
    missing = [cuisine for cuisine in CUISINES if cuisine not in by_cuisine]
    if missing:
        raise InputError(
            "a direction for each of the eight cuisines",
            f"none for {', '.join(missing)}",
            f"directions, family {Family.CULTURAL}",
            "Take a release with all directions, or leave the family out of freeze.families.",
        )
    arrows = unit_vectors([by_cuisine[cuisine] for cuisine in CUISINES], CUISINES)
    if arrows.shape[1] != units.shape[1]:
        raise InputError(
            f"{units.shape[1]} dimensions, as the ingredients have",
            str(arrows.shape[1]),
            "directions",
            "Take directions and ingredients of one release.",
        )
    return exact_products(units, arrows)


def _task(panel: str, seed: str, eligible: Eligible, table: FamilyTable, chosen: Chosen) -> Task:
    rows, row = table.candidates, chosen.row
    names = [eligible.names[i] for i in rows.choices[row].tolist()]
    positions = label_order(seed, chosen.task_id, names)
    choices = tuple(names[i] for i in positions)
    scores = with_labels(table.maps.scores_bps[row], positions)
    about = summary(scores)
    variant, cuisine = rows.variants[row], rows.cuisines[row]
    return Task(
        task_id=chosen.task_id,
        panel=panel,
        family=chosen.family,
        variant=variant.name if variant else None,
        anchor=chosen.anchor,
        category=CORE_CATEGORIES[int(eligible.categories[rows.anchors[row]])],
        region=cuisine,
        stratum=chosen.stratum,
        choices=choices,
        scores_bps=scores,
        optimum=about.optimum,
        chance_bps=about.chance_bps,
        margin_bps=about.margin_bps,
        prompt=prompt(chosen.family, chosen.anchor, choices, variant, cuisine),
    )
