"""Learns the starter's vectors from its dishes, the same integers on every machine.

Ingredients that share dishes come to lie near each other: normalised pointwise mutual information
of co-occurrence (Bouma, GSCL 2009), positive part, then a truncated singular value decomposition.
Each component's sign is fixed by its largest entry, and every coordinate is rounded to a grid of
1/1024, far coarser than the rounding noise of the decomposition. Coordinates on that grid are exact
in float32, and their dot products are exact in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.release.bundle import ReleaseContent, checked_vector
from pipeline.starter import read_dish_rows, read_ingredients
from schemas.release import CUISINES, Direction, Ingredient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from pipeline.starter import Dish, StarterIngredient

__all__ = ["DIMENSIONS", "GRID", "TrainedSpace", "learn_space", "read_starter"]

DIMENSIONS = 40
"""Components that are kept."""

GRID = 1024
"""Steps of a coordinate's unit."""

_SCALE = 4
_DIRECTION_GRID = 4096


class TrainedSpace(NamedTuple):
    """Learned coordinates, before and after rounding.

    Attributes
    ----------
    coordinates
        float64 (ingredients, `DIMENSIONS`), unrounded.
    steps
        int64 of the same shape: coordinates in steps of 1/`GRID`.
    """

    coordinates: np.ndarray
    steps: np.ndarray


def read_starter(version: int, folder: Path) -> ReleaseContent:
    """The starter release of a version.

    Raises
    ------
    ReleaseError
        There is no such version, or a fact is wrong; names file, row and field.
    """
    ingredients = read_ingredients(version, folder)
    space = learn_space(ingredients, read_dish_rows(version, folder))
    vectors = (space.steps / GRID).astype("<f4")
    rows = tuple(
        Ingredient(
            node_id=number,
            vector=checked_vector(vectors[number], f"ingredient {item.name}").tobytes(),
            **item._asdict(),
        )
        for number, item in enumerate(ingredients)
    )
    directions = _directions(ingredients, space.steps)
    return ReleaseContent(
        rows,
        tuple(
            Direction(cuisine=cuisine, vector=directions[i].astype("<f4").tobytes())
            for i, cuisine in enumerate(CUISINES)
        ),
    )


def learn_space(ingredients: Sequence[StarterIngredient], dishes: Sequence[Dish]) -> TrainedSpace:
    """Coordinates of the ingredients, in their order."""
    import numpy as np
    from scipy import linalg

    index = {item.name: i for i, item in enumerate(ingredients)}
    incidence = np.zeros((len(dishes), len(ingredients)))
    for row, dish in enumerate(dishes):
        incidence[row, [index[name] for name in dish.ingredients]] = 1
    affinity = _positive_npmi(incidence)
    left, values, _ = linalg.svd(affinity)
    kept = min(DIMENSIONS, len(ingredients))
    coordinates = left[:, :kept] * np.sqrt(values[:kept]) * _SCALE
    largest = np.abs(coordinates).argmax(axis=0)
    coordinates *= np.sign(coordinates[largest, np.arange(kept)])
    return TrainedSpace(coordinates, np.rint(coordinates * GRID).astype(np.int64))


def _positive_npmi(incidence: np.ndarray) -> np.ndarray:
    """Positive normalised PMI (ingredients, ingredients) of a 0/1 matrix (dishes, ingredients).

    Half a count is added to what is expected and to what is seen, so that one shared dish of two
    rare ingredients is no proof of a bond. An ingredient is wholly bound to itself.
    """
    import numpy as np

    dishes = incidence.shape[0]
    together = incidence.T @ incidence
    single = np.diag(together).copy()
    expected = np.outer(single, single) / dishes
    ratio = (together + 0.5) / (expected + 0.5)
    scale = -np.log((together + 0.5) / (dishes + 0.5))
    npmi: np.ndarray = np.clip(np.log(ratio) / scale, 0, 1)
    np.fill_diagonal(npmi, 1)
    return npmi


def _directions(ingredients: Sequence[StarterIngredient], steps: np.ndarray) -> np.ndarray:
    """Directions (cuisines, dimensions): mean of a cuisine's own ingredients less the mean of all.

    An ingredient of k cuisines counts 1/k for each; universal ones count for none. Weights are
    integers (840/k), so the sums are exact before the one division and rounding.
    """
    import numpy as np

    common = 840
    weights = np.zeros((len(CUISINES), len(ingredients)), dtype=np.int64)
    for column, item in enumerate(ingredients):
        own = [cuisine for cuisine in CUISINES if cuisine in item.regions]
        for cuisine in own:
            weights[CUISINES.index(cuisine), column] = common // len(own)
    own_mean = (weights @ steps) / weights.sum(axis=1, keepdims=True)
    all_mean = steps.sum(axis=0) / len(ingredients)
    directions = (own_mean - all_mean) / GRID
    rounded: np.ndarray = np.rint(directions * _DIRECTION_GRID) / _DIRECTION_GRID
    return rounded
