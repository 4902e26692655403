from fractions import Fraction

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.inference import guessers
from pipeline.inference.exact import common_weights
from tests.inference import reference
from tests.inference.conftest import make_matrix


def sample(tasks=7, families="aab", seed=0, choices=56):
    rng = np.random.default_rng(seed)
    labels = [families[t % len(families)] for t in range(tasks)]
    matrix = make_matrix(rng.integers(0, 10_001, (3, tasks)), labels)
    return matrix, rng.integers(0, 10_001, (tasks, choices))


def guessed(matrix, maps, draws=2_300, seed=6, **options):
    weights = common_weights(matrix.family_sizes)
    return guessers.guesser_scores(matrix, maps, weights, seed, draws=draws, **options)


@pytest.mark.parametrize("choices", [56, 64, 1, 3])
def test_scores_are_those_of_words_read_one_by_one(choices):
    matrix, maps = sample(choices=choices)
    weights = common_weights(matrix.family_sizes).per_family[matrix.family].tolist()
    expected = reference.guesser_scores(6, maps.tolist(), weights, 2_300)
    assert guessed(matrix, maps).tolist() == expected


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_and_steps_change_nothing(monkeypatch, threads):
    matrix, maps = sample(40)
    expected = guessed(matrix, maps, threads=1)
    monkeypatch.setattr(guessers, "_STEP_CHOICES", 100)
    assert np.array_equal(guessed(matrix, maps, threads=threads), expected)
    assert np.array_equal(guessed(matrix, maps, draws=2_001), expected[:2_001])


def test_p_counts_guessers_that_reach_the_score():
    found = guessers.against_guessers(
        [Fraction(30, 7), Fraction(100, 7), Fraction(0)], np.array([10, 30, 30, 40] * 25), 7
    )
    assert found.reached.tolist() == [75, 0, 100]
    assert found.p_numerators.tolist() == [76, 1, 101]
    assert found.holm_numerators.tolist() == [101, 3, 101]
    assert (found.p_denominator, found.draws) == (101, 100)
    assert found.above.tolist() == [False, True, False]
    assert found.median_nanobps == round(Fraction(30, 7) * 10**9)
    assert found.upper_nanobps == round(Fraction(40, 7) * 10**9)
    assert found.highest_bps == Fraction(40, 7)


def test_few_tasks_are_enough_to_find_the_best():
    _, maps = sample(12, "abc")
    best = make_matrix([maps.max(axis=1), maps.min(axis=1)], "abc" * 4)
    found = guessers.against_guessers(
        [Fraction(int(row.sum()), 12) for row in best.scores_bps], guessed(best, maps), 12
    )
    assert found.above.tolist() == [True, False]


@pytest.mark.parametrize(
    ("maps", "says"),
    [
        (None, "found none"),
        (np.zeros((6, 56), dtype=np.int64), r"shape \(6, 56\)"),
        (np.zeros((7, 0), dtype=np.int64), r"shape \(7, 0\)"),
        (np.zeros(7, dtype=np.int64), r"shape \(7,\)"),
        (np.zeros((7, 56)), "float64"),
        (np.full((7, 56), 10_001), "10001"),
        (np.full((7, 56), -1), "-1"),
    ],
)
def test_maps_that_are_not_whole_scores_are_refused(maps, says):
    matrix, _ = sample()
    with pytest.raises(InputError, match=says):
        guessed(matrix, maps)
