"""Ingredients side by side, against figures worked out by hand."""

from __future__ import annotations

import pytest

from pipeline.compare.ingredients import (
    DistanceSpread,
    Move,
    NeighbourChange,
    TagChange,
    compare_ingredients,
)
from tests.compare.small import content, ingredient

BASIL = ingredient("basil", (1, 0))
DILL = ingredient("dill", (0, 1))
MINT = ingredient("mint", (3, 4))


def test_the_same_release_has_no_changes_whatever_its_order():
    changes = compare_ingredients(content(BASIL, DILL, MINT), content(MINT, BASIL, DILL))
    assert changes.empty
    assert changes.shared == 3
    assert changes.spread is None


def test_added_and_removed():
    changes = compare_ingredients(content(BASIL, DILL), content(DILL, MINT))
    assert (changes.added, changes.removed) == (("mint",), ("basil",))
    assert changes.touched == {"basil"}


def test_every_changed_tag_is_named():
    after = ingredient(
        "basil", (1, 0), category="Spice", regions=("Japanese", "East_Asian"), vegan=False,
        nova=None, node_id=9,
    )  # fmt: skip
    changes = compare_ingredients(content(BASIL), content(after))
    assert changes.tags == (
        TagChange("basil", "category", "Herb", "Spice"),
        TagChange("basil", "regions", "universal", "East_Asian;Japanese"),
        TagChange("basil", "vegan", "true", "false"),
        TagChange("basil", "nova", "1", "unknown"),
    )


def test_regions_in_another_order_are_the_same():
    one = ingredient("basil", (1, 0), regions=("Japanese", "East_Asian"))
    other = ingredient("basil", (1, 0), regions=("East_Asian", "Japanese"))
    assert compare_ingredients(content(one), content(other)).empty


def test_a_move_is_one_less_the_cosine():
    # (3, 4) against (4, 3): 24 / 25, so 0.04; (1, 0) against (0, 2): a right angle, so 1
    changes = compare_ingredients(
        content(MINT, BASIL, DILL),
        content(ingredient("mint", (4, 3)), ingredient("basil", (0, 2)), DILL),
    )
    assert changes.moved == (Move("basil", 1_000_000), Move("mint", 40_000))
    assert changes.spread == DistanceSpread(40_000, 40_000, 1_000_000, 1_000_000)


def test_a_longer_vector_of_the_same_direction_moved_by_nothing():
    changes = compare_ingredients(content(MINT, DILL), content(ingredient("mint", (6, 8)), DILL))
    assert changes.moved == (Move("mint", 0),)
    assert changes.neighbours == ()


def test_spaces_of_other_dimensions_are_compared_by_neighbours_alone():
    changes = compare_ingredients(
        content(BASIL, DILL), content(ingredient("basil", (1, 0, 0)), ingredient("dill", (0, 1, 0)))
    )
    assert (changes.moved, changes.dimensions) == ((), (2, 3))
    assert not changes.empty


def test_neighbours_gained_and_lost(monkeypatch):
    monkeypatch.setattr("pipeline.compare.ingredients.NEIGHBOURS", 1)
    before = content(BASIL, ingredient("dill", (9, 1)), ingredient("mint", (0, 1)))
    after = content(BASIL, ingredient("dill", (1, 9)), ingredient("mint", (0, 1)))
    changes = compare_ingredients(before, after)
    # dill turns from basil to mint; basil keeps dill as its nearest, mint too
    assert changes.neighbours == (NeighbourChange("dill", ("mint",), ("basil",)),)


def test_releases_that_share_nothing():
    changes = compare_ingredients(content(BASIL), content(DILL))
    assert (changes.shared, changes.moved, changes.neighbours) == (0, (), ())


def test_nothing_against_something():
    changes = compare_ingredients(content(), content(DILL))
    assert changes.added == ("dill",)


@pytest.mark.parametrize("order", [1, -1])
def test_a_direction_that_turned_is_named(order):
    one, other = content(BASIL), content(BASIL)
    arrows = other.directions[::order]
    changed = tuple(
        d.model_copy(update={"vector": b"\0\0\x80?\0\0\0\0"}) if d.cuisine == "Japanese" else d
        for d in arrows
    )
    changes = compare_ingredients(one, other._replace(directions=changed))
    assert changes.directions == ("Japanese",)
