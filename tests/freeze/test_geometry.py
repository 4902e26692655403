import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.freeze.eligible import check_excluded, eligible_ingredients
from pipeline.freeze.geometry import (
    MAX_DIMENSIONS,
    exact_products,
    rank,
    regions_overlap,
    unit_vectors,
    words_overlap,
)
from tests.freeze.small import ingredient


def packed(*vectors):
    return [np.array(v, dtype="<f4").tobytes() for v in vectors]


def random_units(count, dimensions, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions))
    return unit_vectors(packed(*vectors), [str(i) for i in range(count)])


def test_unit_vectors_widen_before_they_are_scaled():
    units = unit_vectors(packed((3, 4), (0, -2)), ("a", "b"))
    assert units.dtype == np.float64
    assert units.tolist() == [[3 / 5, 4 / 5], [0.0, -1.0]]


def test_tiny_vectors_have_a_length_in_float64():
    assert unit_vectors(packed((1e-30, 0)), ("a",)).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("dimensions", [1, 7, 300, MAX_DIMENSIONS])
def test_products_do_not_depend_on_the_order_of_the_sum(dimensions):
    units = random_units(40, dimensions)
    shuffled = units[:, np.random.default_rng(1).permutation(dimensions)]
    expected = exact_products(units, units)
    assert (exact_products(shuffled, shuffled) == expected).all()
    assert (exact_products(units[:, ::-1], units[:, ::-1]) == expected).all()
    assert (exact_products(units, units.copy()) == expected).all()


def test_an_ordinary_product_does_depend_on_it():
    units = random_units(40, 300)
    assert (units[:, ::-1] @ units[:, ::-1].T != units @ units.T).any()


def test_products_are_as_near_as_float64_gets():
    units = random_units(40, 300)
    exact = np.array(units.astype(np.longdouble) @ units.astype(np.longdouble).T)
    assert np.abs(exact_products(units, units) - exact).max() < 6e-14


def test_parallel_vectors_fill_the_bound_exactly():
    units = unit_vectors(packed(np.ones(MAX_DIMENSIONS), -np.ones(MAX_DIMENSIONS)), ("a", "b"))
    assert np.abs(exact_products(units, units) - [[1, -1], [-1, 1]]).max() < 2e-13


@pytest.mark.parametrize(
    ("vectors", "found"),
    [
        (packed((1, 0), (0, 0)), "vector of b: expected a finite vector that is not zero"),
        (packed((1, 0), (np.nan, 1)), "vector of b: expected a finite vector that is not zero"),
        (packed((1, 0), (np.inf, 1)), "vector of b: expected a finite vector that is not zero"),
        (packed((1, 0), (1, 0, 0)), "vector of b: expected 2 float32, found 12 bytes"),
        ([b"12345", b"12345"], "vector of a: expected 1 float32, found 5 bytes"),
        ([b"", b""], "vector of a"),
        (packed(np.ones(2048), np.ones(2048)), "expected at most 2047 dimensions, found 2048"),
    ],
)
def test_unusable_vectors_are_named(vectors, found):
    with pytest.raises(InputError) as raised:
        unit_vectors(vectors, ("a", "b"))
    assert found in str(raised.value)


def test_rank_is_highest_first_with_ties_by_column():
    values = np.array([[0.1, 0.5, 0.5, 0.9, 0.5], [0.4, 0.3, 0.2, 0.1, 0.0]])
    assert rank(values).tolist() == [[3, 1, 2, 4, 0], [0, 1, 2, 3, 4]]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_rank_sorts_like_python(values):
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))
    assert rank(np.array([values], dtype=np.float64))[0].tolist() == expected


def test_names_overlap_when_they_share_a_whole_word():
    overlap = words_overlap(("apple", "apple_pie", "crab_apple", "pie_dish", "pineapple"))
    assert overlap.astype(int).tolist() == [
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 0, 0],
        [0, 1, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_regions_overlap_when_shared_or_universal():
    eligible = eligible_ingredients(
        [
            ingredient("a", regions=("Japanese",)),
            ingredient("b", regions=("Japanese", "East_Asian")),
            ingredient("c", regions=("Mediterranean",)),
            ingredient("d", regions=("universal",)),
        ],
        (),
    )
    assert regions_overlap(eligible).astype(int).tolist() == [
        [1, 1, 0, 1],
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 1, 1, 1],
    ]


def test_eligible_are_sorted_plain_core_and_not_excluded():
    offered = ["b", "a_1", "Big", "c", "double__bar", "_x", "d\n"]
    ingredients = [ingredient(name) for name in offered] + [ingredient("e", "Pantry")]
    assert eligible_ingredients(ingredients, ("c",)).names == ("a_1", "b")


@pytest.mark.parametrize(
    ("offered", "excluded", "said"),
    [
        ([], (), "found none in the release. Left by each rule: 0 in the release, 0 of a core"),
        (["Pantry"], (), "found none of a core category. Left by each rule: 1 in the release, 0"),
        (["Big"], (), "found none with a name in snake case. Left by each rule: 1 in the release"),
        (["Big"], (), "1 of a core category, 0 with a name in snake case, 0 not in freeze.excl"),
        (["Big"], (), "Write names like olive_oil"),
        (["a", "b", "Big"], ("a", "b"), "found none not in freeze.excluded_anchors. Left by each"),
        (["a", "b", "Big"], ("a", "b"), "2 with a name in snake case, 0 not in freeze.excluded"),
    ],
)  # fmt: skip
def test_the_rule_that_leaves_nothing_eligible_is_named(offered, excluded, said):
    kinds = {"Pantry": "Pantry"}
    ingredients = [ingredient(name, kinds.get(name, "Fruit")) for name in offered]
    with pytest.raises(InputError) as raised:
        eligible_ingredients(ingredients, excluded)
    assert said in str(raised.value)


def test_excluded_names_that_are_not_there_are_refused_with_close_ones():
    ingredients = [ingredient(name) for name in ("tomato", "tomatillo", "basil")]
    check_excluded(ingredients, ("tomato", "basil"))
    with pytest.raises(InputError) as raised:
        check_excluded(ingredients, ("tomatto", "basil", "xyz"))
    assert str(raised.value) == (
        "params.yaml: freeze.excluded_anchors: expected names of ingredients in the release, found "
        "'tomatto' (close: tomato, tomatillo), 'xyz'. "
        "Mend the spelling or remove what is not there."
    )
    with pytest.raises(InputError, match="and 95 more that are none"):
        check_excluded(ingredients, [f"q{i}" for i in range(100)])


def test_nothing_eligible_and_double_names_are_refused():
    with pytest.raises(InputError, match=r"found none of a core category.*Core categories are"):
        eligible_ingredients([ingredient("e", "Pantry")], ())
    with pytest.raises(InputError, match="expected unique names, found a twice"):
        eligible_ingredients([ingredient("a"), ingredient("a")], ())
