"""What tasks can tell apart: the published figures, and the formula against simulation."""

import math

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.inference import planning
from pipeline.inference.bands import Studentizer
from tests.inference.conftest import make_matrix

MEDIAN_SD = 3_180.0


@pytest.fixture(scope="module")
def field():
    """Three skewed routes on 240 tasks of three families, each task a cluster."""
    rng = np.random.default_rng(11)
    chosen = [np.where(rng.random(240) < share, 10_000, rng.integers(0, 9_000, 240))
              for share in (0.5, 0.4, 0.1)]  # fmt: skip
    return make_matrix(np.array(chosen), ["a", "b", "c"] * 80)


def test_the_published_figures():
    smallest = planning.smallest_difference_microbps
    assert round(smallest(MEDIAN_SD, 534) / 1e8, 1) == 3.9
    assert round(smallest(MEDIAN_SD, 534, 351) / 1e8, 1) == 6.4
    assert planning.tasks_needed(MEDIAN_SD, 100) == 7_938


@pytest.mark.parametrize(
    ("question", "contrasts"), [("planned_pair", 1), ("one_against_all", 26), ("all_pairs", 351)]
)
def test_questions_share_the_error(question, contrasts):
    assert planning.contrasts_asked(question, 27) == contrasts


def test_tasks_and_differences_are_each_others_inverse():
    tasks = planning.tasks_needed(MEDIAN_SD, 250, 10)
    assert planning.smallest_difference_microbps(MEDIAN_SD, tasks, 10) <= 250e6
    assert planning.smallest_difference_microbps(MEDIAN_SD, tasks - 1, 10) > 250e6
    assert planning.power_of(MEDIAN_SD, tasks, 250, 10) == pytest.approx(0.8, abs=0.005)


def test_a_paired_sd_gives_the_standard_error(field):
    apart = planning.paired_sds_bps(field)
    gap = field.scores_bps[0] - field.scores_bps[1]
    within = [gap[field.family == f] - gap[field.family == f].mean() for f in range(3)]
    plain = math.sqrt(sum((part**2).sum() for part in within) / 239)
    assert apart[0, 1] == pytest.approx(plain)
    assert apart[1, 1] == 0
    alone = make_matrix([field.scores_bps[0], np.full(240, 5_000)], ["a", "b", "c"] * 80)
    variance = float(Studentizer(alone).variances()[0])
    assert planning.paired_sds_bps(alone)[0, 1] ** 2 / 240 == pytest.approx(variance)


# Three settings: a planned pair, one against all, all pairs; other routes, other numbers of tasks.
@pytest.mark.parametrize(
    ("pair", "contrasts", "clusters"),
    [((0, 1), 1, None), ((0, 2), 26, 400), ((1, 2), 351, 534)],
)
def test_simulated_power_is_near_the_formula(field, pair, contrasts, clusters):
    sd = planning.paired_sds_bps(field)[pair]
    count = clusters or field.clusters
    difference = planning.smallest_difference_microbps(sd, count, contrasts) / 1e6
    found = planning.simulated_power(
        field, *pair, difference, seed=20261201, contrasts=contrasts, clusters=clusters
    )
    assert found.simulations == 200
    assert found.predicted == pytest.approx(0.8, abs=0.001)
    assert abs(found.found / found.simulations - found.predicted) <= 0.05


def test_without_a_difference_power_is_the_error(field):
    found = planning.simulated_power(field, 0, 1, 0.0, seed=3, simulations=2_000)
    assert found.predicted == pytest.approx(0.05, abs=1e-9)
    assert found.found / found.simulations < 0.065


def test_repeats_lessen_what_lies_within_tasks():
    assert planning.sd_with_repeats_bps(500, 300, 1) == 500
    assert planning.sd_with_repeats_bps(500, 300, 10**9) == pytest.approx(400)
    assert planning.sd_with_repeats_bps(500, None, 4) is None
    with pytest.raises(InputError, match="within tasks"):
        planning.sd_with_repeats_bps(500, 501, 2)


def test_the_same_within_a_margin(field):
    near = planning.equal_within(field, 0, 1, 9_000)
    assert near.equal
    assert near.p_ppm < 50_000
    edge = near.smallest_margin_microbps / 1e6
    assert planning.equal_within(field, 0, 1, math.ceil(edge)).equal
    assert not planning.equal_within(field, 0, 1, math.floor(edge)).equal


def test_identical_routes_are_the_same_within_any_margin(field):
    twins = make_matrix(field.scores_bps[[0, 0]], ["a", "b", "c"] * 80)
    found = planning.equal_within(twins, 0, 1, 1)
    assert (found.equal, found.p_ppm, found.smallest_margin_microbps) == (True, 0, 0)


@pytest.mark.parametrize("margin", [0, -5])
def test_a_margin_must_be_above_zero(field, margin):
    with pytest.raises(InputError, match="margin above 0"):
        planning.equal_within(field, 0, 1, margin)


@pytest.mark.parametrize("difference", [0, -1, math.nan])
def test_no_number_of_tasks_finds_nothing(difference):
    with pytest.raises(InputError, match="difference above 0"):
        planning.tasks_needed(MEDIAN_SD, difference)


@pytest.mark.parametrize("sd", [-1, math.nan, math.inf])
def test_a_spread_is_a_number(sd):
    with pytest.raises(InputError, match="standard deviation"):
        planning.smallest_difference_microbps(sd, 100)
