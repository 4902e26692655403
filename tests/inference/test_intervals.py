"""Percentiles of contrasts are those of sorted differences, whatever rows look like."""

from fractions import Fraction

import numpy as np
import pytest

from pipeline.inference import fans, intervals
from pipeline.inference.exact import LOWER, UPPER, quantile
from tests.inference import reference

DRAWS = 9_001


def rows_of(shape):
    rng = np.random.default_rng(3)
    plain = rng.normal(0, 1e11, (5, DRAWS))
    skewed = rng.exponential(1e11, (5, DRAWS)) * np.array([1, -1, 1, -1, 1])[:, None]
    return {
        "bells": plain,
        "far apart": plain + 1e12 * np.arange(5)[:, None],
        "skewed": skewed,
        "heavy tails": rng.standard_cauchy((5, DRAWS)).clip(-400, 400) * 1e10,
        "few values": rng.integers(0, 3, (5, DRAWS)) * 5e12,
        "one value": np.full((5, DRAWS), 7e12),
        "twins": plain[[0, 0, 1, 1, 0]],
        "one wide among narrow": plain * np.array([1, 1e-6, 1e-6, 1e-6, 1e-9])[:, None],
        "neighbouring values": rng.integers(0, 4, (5, DRAWS)) * 1.0,
        "sorted": np.sort(plain, axis=1),
        "two heaps": np.where(rng.random((5, DRAWS)) < 0.025, -9e12, 0) + plain,
    }[shape].astype(np.int64)


SHAPES = (
    "bells", "far apart", "skewed", "heavy tails", "few values", "one value", "twins",
    "one wide among narrow", "neighbouring values", "sorted", "two heaps",
)  # fmt: skip
CHOSEN = fans.pair_fans(4) + fans.chance_fans(4)


def plain_ends(rows):
    left, right = fans.fan_rows(CHOSEN)
    return [
        [round(quantile(rows[i] - rows[j], level)) for i, j in zip(left, right, strict=True)]
        for level in (LOWER, UPPER)
    ]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_ends_are_those_of_sorted_differences(shape, threads):
    rows = rows_of(shape)
    assert intervals.contrast_intervals(rows, CHOSEN, threads=threads).tolist() == plain_ends(rows)


@pytest.mark.parametrize("setting", [("_ROOM", 1), ("_ROOM", 10**9), ("_NORMAL_END", -30.0),
                                     ("_GUESSES", 0), ("_NORMAL_DENSITY", 1e-12)])  # fmt: skip
@pytest.mark.parametrize("shape", ["bells", "heavy tails", "few values", "two heaps"])
def test_no_guess_changes_a_result(monkeypatch, setting, shape):
    monkeypatch.setattr(intervals, *setting)
    rows = rows_of(shape)
    assert intervals.contrast_intervals(rows, CHOSEN).tolist() == plain_ends(rows)


@pytest.mark.parametrize("draws", [2, 3, 40, 41, 8_192, 8_193])
def test_any_number_of_draws(draws):
    rows = rows_of("skewed")[:, :draws]
    assert intervals.contrast_intervals(rows, CHOSEN).tolist() == plain_ends(rows)


def test_the_quantile_is_the_plain_one():
    values = rows_of("skewed")[0]
    exact = reference.quantile([Fraction(int(v)) for v in values], LOWER)
    assert quantile(values, LOWER) == exact
