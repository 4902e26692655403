"""Releases so small that every figure can be worked out by hand."""

from __future__ import annotations

import numpy as np

from pipeline.release.bundle import ReleaseContent
from schemas.release import CUISINES, Direction, Ingredient
from schemas.taskset import PORTFOLIOS, Family, Task

__all__ = ["content", "decision", "ingredient"]


def ingredient(name, vector, **tags):
    """An ingredient with everyday tags, changed as asked."""
    plain = {
        "category": "Herb",
        "regions": ("universal",),
        "vegetarian": True,
        "vegan": True,
        "nova": 1,
    }
    return Ingredient(
        name=name, node_id=tags.pop("node_id", 0),
        vector=np.array(vector, dtype="<f4").tobytes(), **(plain | tags),
    )  # fmt: skip


def content(*ingredients):
    """A release of these ingredients, with eight directions."""
    size = len(ingredients[0].vector) // 4 if ingredients else 2
    arrow = np.ones(size, dtype="<f4").tobytes()
    directions = tuple(Direction(cuisine=name, vector=arrow) for name in CUISINES)
    return ReleaseContent(tuple(ingredients), directions)


def decision(task_id, anchor, choices, scores, **more):
    """A task with a map."""
    best = PORTFOLIOS[scores.index(max(scores))]
    plain = {
        "panel": "panel_1", "family": Family.PAIRING, "variant": None, "category": "Herb",
        "region": None, "stratum": 1, "chance_bps": 0, "margin_bps": 0, "prompt": "?",
    }  # fmt: skip
    return Task(
        task_id=task_id, anchor=anchor, choices=tuple(choices), scores_bps=tuple(scores),
        optimum=best, **(plain | more),
    )  # fmt: skip
