import statistics
from fractions import Fraction

import numpy as np
import pytest

from pipeline.inference import Settings, analyse, contrasts, fans, multiplicity
from tests.inference import reference
from tests.inference.conftest import make_matrix


def test_holm_by_hand():
    # 0.01 * 3, 0.03 * 2, then 0.04 is raised to the 0.06 before it.
    assert multiplicity.holm(np.array([1, 4, 3]), 100).tolist() == [3, 6, 6]
    assert multiplicity.holm(np.array([60, 50]), 100).tolist() == [100, 100]


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_the_plain_one_with_ties(seed):
    values = np.random.default_rng(seed).integers(1, 40, size=60)
    plain = reference.holm([Fraction(int(v), 2000) for v in values])
    assert [Fraction(int(v), 2000) for v in multiplicity.holm(values, 2000)] == plain


def test_resolved_compares_exactly():
    # 5 / 100 is not below 0.05; in binary floating point 0.15 / 3 is.
    assert multiplicity.resolved(np.array([4, 5, 6]), 100).tolist() == [True, False, False]


def test_groups_by_hand():
    differs = np.zeros((4, 4), dtype=bool)
    for i, j in ((0, 2), (1, 3)):
        differs[i, j] = differs[j, i] = True
    # 0 and 1 do not differ; 2 differs from 0 and opens a group, which 3 may join despite 1.
    assert multiplicity.ranking_groups([0, 1, 2, 3], differs) == (1, 1, 2, 2)
    assert multiplicity.ranking_groups([2, 0, 1, 3], differs) == (2, 2, 1, 3)


@pytest.mark.parametrize("seed", range(8))
def test_groups_are_the_plain_ones(seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((12, 12)) < 0.25, 1)
    order = rng.permutation(12).tolist()
    pairs = {frozenset((int(i), int(j))) for i, j in np.argwhere(upper)}
    plain = reference.groups(order, pairs)
    assert dict(enumerate(multiplicity.ranking_groups(order, upper | upper.T))) == plain


def test_effect_sizes_are_mean_over_standard_deviation(mixed):
    rows = mixed.rows_bps
    left, right = fans.fan_rows(fans.pair_fans(4) + fans.chance_fans(4))
    found = contrasts.effect_sizes(rows, left, right)
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        gaps = (rows[i] - rows[j]).tolist()
        expected = statistics.fmean(gaps) / statistics.stdev(gaps)
        assert found.dz_nano[place] / 1e9 == pytest.approx(expected, abs=1e-9)
    assert found.defined.all()


def test_effect_size_without_variance_has_no_value():
    scores = np.array([[7, 8, 9], [5, 6, 7], [7, 8, 9], [7, 8, 10]])
    found = contrasts.effect_sizes(scores, np.array([0, 0, 0]), np.array([1, 2, 3]))
    assert found.defined.tolist() == [False, False, True]
    assert found.dz_nano[2] == round(-1 / 3 / statistics.stdev([0, 0, -1]) * 10**9)


def test_outcomes_by_hand():
    scores = np.array([[5, 5, 5, 5], [4, 5, 6, 7], [9, 9, 9, 0]])
    chosen = [fans.Fan(0, 1, 3, hub_is_left=True), fans.Fan(2, 0, 2, hub_is_left=False)]
    found = contrasts.outcomes(scores, chosen)
    assert found.wins.tolist() == [1, 1, 1, 1]
    assert found.ties.tolist() == [1, 0, 0, 0]
    assert found.losses.tolist() == [2, 3, 3, 3]


@pytest.mark.parametrize("stream", ["blake3", "pcg64"])
@pytest.mark.parametrize(
    ("differences", "outcome"),
    [([0] * 5, (0, 5, 0)), ([1] * 15 + [0] * 40 + [-1] * 15, (15, 40, 15))],
)
def test_fb_035_many_ties_are_p_one_and_never_nan(differences, outcome, stream):
    scores = [[50 + d for d in differences], [50] * len(differences)]
    matrix = make_matrix(scores, "a" * len(differences))
    settings = Settings(seed=1, bootstrap_draws=2000, sign_draws=5000, stream=stream)
    analysis = analyse(matrix, settings)
    contrast = analysis.pairs[0]
    assert contrast.p == contrast.holm_p == 1
    assert contrast.extreme == (2**5 if analysis.pairs.exact else 5000)
    assert contrast.difference_bps == 0
    assert (contrast.wins, contrast.ties, contrast.losses) == outcome
    assert contrast.dz_nano == (None if outcome[0] == 0 else 0)
    assert contrast.interval_nanobps.lower <= 0 <= contrast.interval_nanobps.upper
    assert not contrast.resolved
    assert [s.group for s in analysis.standings] == [1, 1]
