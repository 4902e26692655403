from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.inference import exact
from tests.inference import reference

INTEGERS = st.lists(st.integers(-(2**43), 2**43), min_size=2, max_size=60)
LEVELS = st.sampled_from([Fraction(1, 40), Fraction(39, 40), Fraction(19, 20), Fraction(1, 3)])


def test_weights_make_families_equal():
    weights = exact.common_weights(np.array([2, 3, 4]))
    assert weights.per_family.tolist() == [6, 4, 3]
    assert weights.denominator == 36


def test_weights_that_cannot_stay_exact_are_refused():
    with pytest.raises(InputError, match="below 2\\^53"):
        exact.common_weights(np.array([9973, 9967, 9949, 9941]))


@pytest.mark.parametrize(
    ("bound", "dtype"), [(2**24 - 1, np.float32), (2**24, np.float64), (2**53 - 1, np.float64)]
)
def test_narrowest_exact_type(bound, dtype):
    assert exact.matmul_dtype(bound) is dtype


def test_no_type_is_exact_beyond():
    with pytest.raises(InputError, match="bound of 9007199254740992"):
        exact.matmul_dtype(2**53)


def test_quantile_by_hand():
    values = np.array([40, 10, 30, 20])
    assert exact.quantile(values, Fraction(1, 2)) == 25
    assert exact.quantile(values, Fraction(1, 40)) == 10 + Fraction(10 * 3, 40)
    assert exact.quantile(values, Fraction(1)) == 40


@given(INTEGERS, LEVELS)
def test_quantile_is_the_plain_one(values, level):
    assert exact.quantile(np.array(values), level) == reference.quantile(values, level)


@given(INTEGERS, LEVELS)
def test_interpolation_of_arrays_rounds_half_to_even(values, level):
    places = exact.order_statistics(len(values), level)
    low, high = (np.array([sorted(values)[p]]) for p in (places.low, places.high))
    assert exact.interpolate(low, high, places) == [round(reference.quantile(values, level))]


def test_halves_go_to_even():
    places = exact.OrderStatistics(0, 1, 1, 2)
    low, high = np.array([0, 1, -3, -2]), np.array([1, 2, -2, -1])
    assert exact.interpolate(low, high, places).tolist() == [0, 2, -2, -2]


@given(INTEGERS)
def test_sample_sd_is_the_nearest_integer(values):
    sd = exact.sample_sd(np.array(values))
    variance = reference.variance(values)
    assert max(0, Fraction(2 * sd - 1, 2)) ** 2 <= variance <= Fraction(2 * sd + 1, 2) ** 2


def test_moments_of_more_values_than_one_chunk():
    values = np.full(2**18 + 3, 2**43)
    values[0] = 0
    # n - 1 equal values and one that is lower by d: variance is d^2 / n.
    assert exact.sample_sd(values) == round(2**43 / (2**18 + 3) ** 0.5)


@pytest.mark.parametrize("shape", [(1, 1, 1), (16, 5, 3), (33, 700, 90), (7, 20_000, 2)])
def test_product_in_pieces_is_the_product(shape):
    count, inner, columns = shape
    rng = np.random.default_rng(count)
    left, right = rng.integers(0, 9, (count, inner)), rng.integers(0, 9, (inner, columns))
    found = exact.product(left.astype(np.float32), right.astype(np.float32))
    assert np.array_equal(found, left @ right)
    again = exact.product(left.astype(np.float64), right.T.copy().astype(np.float64).T)
    assert np.array_equal(again, left @ right)
