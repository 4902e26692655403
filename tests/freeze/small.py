"""A small invented release that every family can be compiled from."""

from __future__ import annotations

import numpy as np

from schemas.parameters import FreezeParameters, PanelParameters
from schemas.release import CORE_CATEGORIES, CUISINES, Direction, Ingredient
from schemas.taskset import Family

WORDS = ("red", "wild", "dried", "smoked", "young", "salted", "sweet", "bitter")


def ingredient(name, category="Fruit", vector=(1.0, 0.0), **tags):
    given = {
        "node_id": 1,
        "regions": ("universal",),
        "vegetarian": True,
        "vegan": True,
        "nova": 1,
        **tags,
    }
    data = np.array(vector, dtype="<f4").tobytes()
    return Ingredient(name=name, category=category, vector=data, **given)


def direction(cuisine, vector):
    return Direction(cuisine=cuisine, vector=np.array(vector, dtype="<f4").tobytes())


def release(seed=0, size=420, dimensions=8):
    """Ingredients with every category, region, diet and NOVA group; every third shares a word."""
    draw = np.random.default_rng(seed)
    ingredients = []
    for i in range(size):
        vegan = bool(draw.random() < 0.5)
        regions = ("universal",) if i % 3 == 0 else (CUISINES[int(draw.integers(8))],)
        if i % 5 == 1:
            regions = tuple(c for c in CUISINES if c in {regions[0], "Japanese"})
        ingredients.append(
            ingredient(
                f"{WORDS[i % 8]}_thing{i}" if i % 3 == 1 else f"item{i}",
                CORE_CATEGORIES[i % 14],
                draw.normal(size=dimensions),
                node_id=i,
                regions=regions or ("universal",),
                vegan=vegan,
                vegetarian=vegan or bool(draw.random() < 0.5),
                nova=None if i % 17 == 0 else int(draw.integers(1, 5)),
            )
        )
    arrows = [direction(cuisine, draw.normal(size=dimensions)) for cuisine in CUISINES]
    return ingredients, arrows


def parameters(**changes):
    given = {
        "source": "compiled",
        "panels": {
            "first": PanelParameters(seed="seed-one", prefix="one-", drop_unscoreable=True),
            "second": PanelParameters(seed="seed-two", prefix="two-", drop_unscoreable=True),
        },
        "families": tuple(Family),
        "quota": 2,
        "category_cap": 4,
        "minimum_categories": 2,
        "excluded_anchors": ("item0",),
        **changes,
    }
    return FreezeParameters(**given)
