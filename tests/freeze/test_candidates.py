import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.freeze.candidates import RankedPools, candidates, spaced
from pipeline.freeze.compile import family_table, measure
from pipeline.freeze.eligible import eligible_ingredients
from pipeline.freeze.families import COMPLEMENTS, RULES
from schemas.release import CORE_CATEGORIES, CUISINES
from schemas.taskset import Family
from tests.freeze.small import direction, ingredient, release


def test_what_each_rule_leaves_is_counted():
    ingredients, directions = release()
    space = measure(eligible_ingredients(ingredients, ("item0",)), directions)
    for family, rule in RULES.items():
        found = candidates(space, rule)
        counts = [step.left for step in found.steps]
        assert counts[:4] == [420, 420, 420, 419]
        assert counts[-1] == len(found.anchors)
        within = counts[3:] if family is not Family.CONSTRAINT else counts[4:]
        assert within == sorted(within, reverse=True)


def around(angle):
    return (np.cos(angle), np.sin(angle))


def space_of(ingredients, directions=None):
    return measure(eligible_ingredients(ingredients, ()), directions)


def row_of(space, family, anchor="anchor", variant=None):
    """Names of the eight candidates of an anchor, or None."""
    rows = candidates(space, RULES[family])
    names = space.eligible.names
    for i, position in enumerate(rows.anchors):
        name = rows.variants[i].name if rows.variants[i] else None
        if names[position] == anchor and name == variant:
            return [names[j] for j in rows.choices[i]]
    return None


@pytest.mark.parametrize(
    ("size", "count", "expected"),
    [
        (5, 3, (0, 2, 4)),
        (4, 3, (0, 2, 3)),  # 1.5 rounds to 2
        (6, 3, (0, 2, 5)),  # 2.5 rounds to 2
        (12, 8, (0, 2, 3, 5, 6, 8, 9, 11)),
        (40, 8, (0, 6, 11, 17, 22, 28, 33, 39)),
        (4, 4, (0, 1, 2, 3)),
    ],
)
def test_spaced_by_hand(size, count, expected):
    assert spaced(size, count) == expected


@given(st.integers(8, 200))
def test_spaced_goes_from_first_to_last_without_repeats(size):
    found = spaced(size, 8)
    assert found[0] == 0
    assert found[-1] == size - 1
    assert sorted(set(found)) == list(found)


def test_pools_lie_end_to_end_in_ranked_order():
    allowed = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
    order = np.array([[2, 1, 0], [0, 1, 2], [1, 0, 2]])
    pools = RankedPools.of(allowed, order)
    assert pools.members.tolist() == [2, 0, 1, 0, 2]
    assert pools.sizes.tolist() == [2, 0, 3]
    fewer = pools.where(np.array([True, False, True]))
    assert fewer.members.tolist() == [2, 0, 0, 2]
    assert fewer.sizes.tolist() == [2, 0, 2]
    assert pools.spaced(np.array([2, 0]), 3, 2).tolist() == [[1, 2], [2, 0]]


def test_substitution_takes_spaced_names_of_the_same_category():
    """14 in the pool, at 0.05 rad apart: positions round(i * 13 / 7) = 0 2 4 6 7 9 11 13."""
    ingredients = [ingredient("anchor", vector=around(0))]
    ingredients += [ingredient(f"n{i:02d}", vector=around(0.05 * (i + 1))) for i in range(14)]
    ingredients += [
        ingredient("near_anchor", vector=around(0.01)),
        ingredient("grain", "Grain", vector=around(0.02)),
    ]
    assert row_of(space_of(ingredients), Family.SUBSTITUTION) == [
        f"n{i:02d}" for i in (0, 2, 4, 6, 7, 9, 11, 13)
    ]


def test_substitution_wants_twelve_whose_regions_overlap():
    anchor = ingredient("anchor", vector=around(0), regions=("Japanese",))
    japanese = [
        ingredient(f"n{i:02d}", vector=around(0.05 * (i + 1)), regions=("Japanese",))
        for i in range(12)
    ]
    other = ingredient("n00", vector=around(0.05), regions=("Mediterranean",))
    assert row_of(space_of([anchor, *japanese]), Family.SUBSTITUTION)
    assert row_of(space_of([anchor, other, *japanese[1:]]), Family.SUBSTITUTION) is None


def test_substitution_wants_a_spread():
    def pool(step):
        names = [ingredient(f"n{i:02d}", vector=around(step * (i + 1))) for i in range(12)]
        return space_of([ingredient("anchor", vector=around(0)), *names])

    assert row_of(pool(0.035), Family.SUBSTITUTION)  # 1 - cos(0.42) = 0.087
    assert row_of(pool(0.033), Family.SUBSTITUTION) is None  # 1 - cos(0.396) = 0.077


def test_pairing_asks_complements_only():
    names = [ingredient(f"n{i:02d}", "Herb", vector=around(0.05 * (i + 1))) for i in range(16)]
    same = [ingredient(f"s{i:02d}", vector=around(0.01 * (i + 1))) for i in range(20)]
    anchor = ingredient("anchor", vector=around(0))
    found = row_of(space_of([anchor, *names, *same]), Family.PAIRING)
    assert found == [f"n{i:02d}" for i in (0, 2, 4, 6, 9, 11, 13, 15)]
    assert row_of(space_of([anchor, *names[1:], *same]), Family.PAIRING) is None


def test_constraint_takes_first_valid_and_spaced_invalid():
    names = [
        ingredient(f"n{i:02d}", "Herb", vector=around(0.05 * (i + 1)), nova=3 if i % 2 else 2)
        for i in range(14)
    ]
    unknown = ingredient("unknown", "Herb", vector=around(0.01), nova=None)
    far = ingredient("anchor", vector=around(0), regions=("Japanese",))
    space = space_of([far, unknown, *names])
    # valid: even numbers; invalid: 01 03 05 07 09 11 13, spaced over 7: positions 0 2 4 6
    expected = ["n00", "n02", "n04", "n06", "n01", "n05", "n09", "n13"]
    assert row_of(space, Family.CONSTRAINT, variant="vegan-nova-2") == expected
    assert row_of(space, Family.CONSTRAINT, variant="vegan-nova-3") is None  # nothing breaks it
    table = family_table(space, Family.CONSTRAINT)
    assert table.candidates.feasible[0].sum() == 4


def test_diets_differ():
    names = [
        ingredient(f"n{i:02d}", "Herb", vector=around(0.05 * (i + 1)), vegan=i >= 4)
        for i in range(12)
    ]
    meats = [
        ingredient(f"m{i}", "Spice", vector=around(1 + i / 9), vegan=False, vegetarian=False)
        for i in range(4)
    ]
    space = space_of([ingredient("anchor", vector=around(0)), *names, *meats])
    vegan = row_of(space, Family.CONSTRAINT, variant="vegan-nova-2")
    vegetarian = row_of(space, Family.CONSTRAINT, variant="vegetarian-nova-2")
    assert vegan[:4] == ["n04", "n05", "n06", "n07"]
    assert vegetarian == ["n00", "n01", "n02", "n03", "m0", "m1", "m2", "m3"]


def test_cultural_walks_down_by_new_categories_and_up_from_the_lowest():
    arrows = [direction(cuisine, (1, 0)) for cuisine in CUISINES]
    kinds = ("Fruit", "Fruit", "Grain", "Herb", "Herb", "Meat", "Dairy", "Sweet", "Spice", "Fish")
    names = [
        ingredient(f"n{i}", kind, vector=around(0.15 * (i + 1))) for i, kind in enumerate(kinds)
    ]
    anchor = ingredient("anchor", vector=around(0), regions=("Japanese",))
    two = ingredient("two", vector=around(0), regions=("Japanese", "East_Asian"))
    space = space_of([anchor, two, *names], arrows)
    # two is an eligible candidate of category Fruit and projects highest;
    # left from the lowest: n9 n8 n7 n6 n4 n1 n0, spaced over 7: positions 0 2 4 6
    expected = ["two", "n2", "n3", "n5", "n9", "n7", "n4", "n0"]
    assert row_of(space, Family.CULTURAL) == expected
    assert row_of(space, Family.CULTURAL, anchor="two") is None
    rows = candidates(space, RULES[Family.CULTURAL])
    assert rows.cuisines == ("Japanese",)
    # Fruit twice (two, n0), Herb twice (n3, n4): 2 * 6 portfolios repeat a category
    assert rows.feasible.sum() == 56 - 12


def test_cultural_wants_four_categories_and_four_left():
    arrows = [direction(cuisine, (1, 0)) for cuisine in CUISINES]
    anchor = ingredient("anchor", vector=around(0), regions=("Japanese",))

    def found(kinds):
        names = [
            ingredient(f"n{i}", kind, vector=around(0.2 * (i + 1))) for i, kind in enumerate(kinds)
        ]
        return row_of(space_of([anchor, *names], arrows), Family.CULTURAL)

    assert found(("Fruit", "Grain", "Herb", "Meat", "Meat", "Meat", "Meat", "Meat"))
    assert found(("Fruit", "Grain", "Herb", "Herb", "Meat", "Meat", "Meat")) is None
    assert found(("Fruit", "Grain", "Herb", "Herb", "Herb", "Herb", "Herb", "Herb")) is None


def test_complements_cover_the_core_and_never_name_themselves():
    assert set(COMPLEMENTS) == set(CORE_CATEGORIES)
    for category, goes in COMPLEMENTS.items():
        assert category not in goes
        assert set(goes) < set(CORE_CATEGORIES)


@pytest.mark.parametrize("family", Family)
def test_every_family_follows_its_rule_in_a_larger_release(family):
    space = space_of(*release(seed=3))
    rows = candidates(space, RULES[family])
    names = space.eligible.names
    assert len(rows.anchors) > 20
    for anchor, choices in zip(rows.anchors, rows.choices.tolist(), strict=True):
        assert len(set(choices)) == 8
        for choice in choices:
            assert not set(names[anchor].split("_")) & set(names[choice].split("_"))


def test_four_valid_and_four_invalid_are_enough():
    def found(count):
        names = [
            ingredient(f"n{i}", "Herb", vector=around(0.1 * (i + 1)), nova=3 if i % 2 else 2)
            for i in range(count)
        ]
        space = space_of([ingredient("anchor", vector=around(0)), *names])
        return row_of(space, Family.CONSTRAINT, variant="vegan-nova-2")

    assert found(8) == ["n0", "n2", "n4", "n6", "n1", "n3", "n5", "n7"]
    assert found(7) is None
