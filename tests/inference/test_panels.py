import statistics
from fractions import Fraction

import numpy as np
import pytest

from pipeline.inference import panels
from tests.inference.conftest import make_matrix


def mean_ranks(values):
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def test_panel_scores_by_hand():
    matrix = make_matrix([[10, 20, 30, 50], [0, 0, 0, 1]], "aaba", panels="pppq")
    # Panel p: a = 15, b = 30. Panel q holds family a only.
    assert panels.panel_scores(matrix) == ((Fraction(45, 2), 50), (0, 1))


def test_panels_of_other_families_are_not_correlated():
    matrix = make_matrix([[10, 20, 30, 50], [0, 0, 0, 1]], "aaba", panels="pppq")
    found = panels.panel_agreements(matrix, panels.panel_scores(matrix))
    assert found == (panels.PanelCorrelations("p", "q", None, None),)


def test_one_panel_has_no_agreement_and_three_have_three():
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 10_001, size=(5, 9))
    alone = make_matrix(scores, "aab" * 3)
    assert panels.panel_agreements(alone, panels.panel_scores(alone)) == ()
    three = make_matrix(scores, "aab" * 3, panels="xxxyyyzzz")
    found = panels.panel_agreements(three, panels.panel_scores(three))
    assert [(a.left, a.right) for a in found] == [("x", "y"), ("x", "z"), ("y", "z")]


@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_those_of_the_standard_library(seed):
    rng = np.random.default_rng(seed)
    # Few values, so that ranks tie.
    scores = rng.integers(0, 4, size=(9, 4)) * 100
    matrix = make_matrix(scores, "abab", panels="xxyy")
    table = panels.panel_scores(matrix)
    (found,) = panels.panel_agreements(matrix, table)
    x, y = ([float(row[p]) for row in table] for p in (0, 1))
    assert len(set(x)) < 9
    assert found.pearson_nano / 1e9 == pytest.approx(statistics.correlation(x, y), abs=1e-9)
    ranked = statistics.correlation(mean_ranks(x), mean_ranks(y))
    assert found.spearman_nano / 1e9 == pytest.approx(ranked, abs=1e-9)


def test_correlation_extremes_and_absence():
    x = [Fraction(1, 3), Fraction(1, 2), Fraction(5)]
    assert panels.correlation_nano(x, [2 * v + 1 for v in x]) == 10**9
    assert panels.correlation_nano(x, [-v for v in x]) == -(10**9)
    assert panels.correlation_nano(x, [Fraction(1)] * 3) is None
