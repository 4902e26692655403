import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pipeline.freeze.families import Weights
from pipeline.freeze.maps import MEMBERS, score_maps, summary, utilities, with_labels
from schemas.taskset import PORTFOLIOS

ABC, ABD, FGH = 0, 1, 55


def flat_row(**values):
    """56 utilities of 0 but for those of the portfolios named."""
    row = np.zeros((1, 56))
    for portfolio, value in values.items():
        row[0, PORTFOLIOS.index(portfolio)] = value
    return row


def test_members_follow_the_portfolios():
    assert ["".join("ABCDEFGH"[i] for i in three) for three in MEMBERS] == list(PORTFOLIOS)


def test_utility_of_one_portfolio_by_hand():
    fits = np.array([[0.9, 0.6, 0.3, 0, 0, 0, 0, 0]])
    mutual = np.zeros((1, 8, 8))
    for (i, j), cosine in {(0, 1): 0.3, (0, 2): 0.2, (1, 2): 0.1}.items():
        mutual[0, i, j] = mutual[0, j, i] = cosine
    found = utilities(fits, mutual, Weights(800, 200))[0]
    assert found[ABC] == pytest.approx(0.8 * 0.6 + 0.2 * 0.2, abs=1e-15)  # means 0.6 and 0.2
    assert found[ABD] == pytest.approx(0.8 * 0.5 + 0.2 * 0.1, abs=1e-15)
    assert found[FGH] == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 0), (1.5, 2), (2.5, 2), (2.500001, 3), (9999.5, 10_000), (9998.5, 9998)],
)
def test_scores_round_half_to_even(value, expected):
    found = score_maps(flat_row(ABC=10_000.0, ABD=value), np.ones((1, 56), dtype=bool))
    assert found.scores_bps[0, ABD] == expected


def test_scores_stretch_from_worst_to_best_feasible():
    feasible = np.zeros((1, 56), dtype=bool)
    feasible[0, [0, 1, 2, 3]] = True
    row = flat_row(ABC=0.2, ABD=0.4, ABE=0.3, ABF=0.25, FGH=9.0)
    found = score_maps(row, feasible)
    assert found.scores_bps[0, :4].tolist() == [0, 10_000, 5_000, 2_500]
    assert found.scores_bps[0, 4:].sum() == 0
    assert found.scoreable.tolist() == [True]


def test_a_row_is_scoreable_only_with_enough_portfolios_range_and_one_optimum():
    every = np.ones((1, 56), dtype=bool)
    three = np.zeros((1, 56), dtype=bool)
    three[0, :3] = True
    none = np.zeros((1, 56), dtype=bool)
    for row, feasible in (
        (flat_row(ABC=1.0), three),
        (flat_row(ABC=1.0), none),
        (flat_row(ABC=0.9e-6), every),
        (flat_row(ABC=1.0, ABD=1.0), every),
        (flat_row(ABC=1.0, ABD=0.99996), every),
    ):
        assert not score_maps(row, feasible).scoreable[0]
    assert score_maps(flat_row(ABC=1.0, ABD=0.9999), every).scoreable[0]
    assert score_maps(flat_row(ABC=1.1e-6), every).scoreable[0]


@given(hnp.arrays(np.float64, (3, 56), elements=st.floats(-1, 1)), st.data())
def test_scores_stay_between_zero_and_best(utility, data):
    feasible = data.draw(hnp.arrays(np.bool_, (3, 56)))
    found = score_maps(utility, feasible)
    assert found.scores_bps.min() >= 0
    assert found.scores_bps.max() <= 10_000
    assert (found.scores_bps[~feasible] == 0).all()


@given(st.permutations(range(8)))
def test_maps_follow_their_labels(positions):
    scores = np.arange(56) * 7
    found = with_labels(scores, positions)
    by_set = {frozenset(m): int(s) for m, s in zip(MEMBERS.tolist(), scores, strict=True)}
    for labels, score in zip(itertools.combinations(range(8), 3), found, strict=True):
        assert score == by_set[frozenset(positions[i] for i in labels)]


def test_summary_by_hand():
    scores = [0] * 56
    scores[3], scores[7], scores[9] = 10_000, 9_900, 40
    assert summary(scores) == ("ABF", 356, 100)  # 19,940 / 56 = 356.07


@pytest.mark.parametrize(("extra", "chance"), [(28, 180), (84, 180), (27, 179), (29, 180)])
def test_chance_rounds_half_to_even(extra, chance):
    # 10,000 = 178 * 56 + 32; 10,024 = 179 * 56; +28 is 179.5, +84 is 180.5
    scores = [0] * 56
    scores[0], scores[1] = 10_000, 24 + extra
    assert summary(scores).chance_bps == chance
