import itertools

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.inference import fans, flips, stepdown
from pipeline.inference.exact import common_weights
from pipeline.inference.multiplicity import holm, resolved
from pipeline.inference.streams import Blake3Stream
from pipeline.inference.workers import Drawing
from tests.inference import reference
from tests.inference.conftest import make_matrix


def adjusted(matrix, draws=700, seed=4, **options):
    """Numerators of step-down p values, and the flips behind them."""
    weights = common_weights(matrix.family_sizes)
    pairs = fans.pair_fans(matrix.models)
    rows = fans.fan_rows(pairs)
    order = stepdown.order_pairs(flips.cluster_sums(matrix, weights), rows.left, rows.right)
    drawing = Drawing(Blake3Stream(seed), draws, **options)
    found = flips.flip_counts(matrix, weights, pairs, drawing, "pairs", order=order)
    return stepdown.step_down(found, order), found


def plain(matrix, draws=700, seed=4):
    """The same from loops; 1 where a pair takes no part."""
    clusters = matrix.clusters
    if clusters <= 16:
        signs, extra = list(itertools.product((-1, 1), repeat=clusters)), 0
    else:
        signs, extra = reference.sign_rows(seed, clusters, draws), 1
    gaps = [
        matrix.scores_bps[i] - matrix.scores_bps[j]
        for i, j in itertools.combinations(range(matrix.models), 2)
    ]
    counts = reference.step_down(gaps, matrix.family, matrix.cluster, signs)
    return [len(signs) + extra if count is None else count + extra for count in counts]


def routes(models, tasks, families="abc", *, seed=0, step=0, clusters=None):
    rng = np.random.default_rng(seed)
    skill = step * np.arange(models)[:, None]
    scores = np.clip(3000 + skill + rng.integers(-2500, 2500, (models, tasks)), 0, 10_000)
    labels = [families[t % len(families)] for t in range(tasks)]
    return make_matrix(scores, labels, clusters)


CASES = {
    "equal routes": routes(5, 30),
    "some apart": routes(5, 30, step=700),
    "all apart": routes(4, 30, step=2500),
    "unequal families": routes(4, 31, "aabac"),
    "shared anchors": routes(4, 60, clusters=[str(t // 3) for t in range(60)]),
    "enumerated": routes(4, 8, step=900),
    "coarse scores with exact ties": make_matrix(
        np.random.default_rng(2).integers(0, 3, (5, 24)) * 5000, "ab" * 12
    ),
    "identical routes": make_matrix(routes(3, 24).scores_bps[[0, 0, 1, 2]], "ab" * 12),
    "mirrored routes": make_matrix([[0, 5000] * 12, [5000, 0] * 12, [0, 10_000] * 12], "ab" * 12),
    "two routes": routes(2, 40, step=300),
}


@pytest.mark.parametrize("case", CASES)
def test_p_values_are_those_of_plain_loops(case):
    found, _ = adjusted(CASES[case])
    assert found.tolist() == plain(CASES[case])


@pytest.mark.parametrize(("block", "threads"), [(1, 1), (333, 2), (10_000, 3)])
@pytest.mark.parametrize("case", CASES)
def test_block_and_threads_change_nothing(case, block, threads):
    found, _ = adjusted(CASES[case], 4100)
    other, _ = adjusted(CASES[case], 4100, block=block, threads=threads)
    assert found.tolist() == other.tolist()


@pytest.mark.parametrize(("tile", "pages"), [(1, 1), (2**7, 3), (2**30, 50)])
def test_tiles_and_jobs_change_nothing(monkeypatch, tile, pages):
    expected, raw = adjusted(CASES["some apart"], 9100)
    monkeypatch.setattr(stepdown, "_TILE", tile)
    monkeypatch.setattr(flips, "_JOB_PAGES", pages)
    found, other = adjusted(CASES["some apart"], 9100)
    assert found.tolist() == expected.tolist()
    assert other.extreme.tolist() == raw.extreme.tolist()


def test_adjusted_p_lies_between_raw_and_certain():
    found, raw = adjusted(routes(12, 90, step=60), 3000)
    assert (found >= raw.p_numerators).all()
    assert (found <= raw.p_denominator).all()


def test_the_smallest_p_does_not_grow_with_the_number_of_pairs():
    found, raw = adjusted(routes(110, 60, step=60, seed=3), 2000)
    assert resolved(found, raw.p_denominator).sum() > 1000
    assert not resolved(holm(raw.p_numerators, raw.p_denominator), raw.p_denominator).any()


def test_150_separated_routes_are_resolved_with_4000_signs():
    rng = np.random.default_rng(150)
    skill = np.linspace(9_500, 500, 150)[:, None]
    scores = np.clip(np.rint(skill + rng.normal(0, 500, (150, 534))), 0, 10_000).astype(int)
    found, raw = adjusted(make_matrix(scores, "abc" * 178), 4000)
    assert resolved(found, raw.p_denominator).sum() >= 10_800


def test_identical_routes_take_no_part():
    found, raw = adjusted(CASES["identical routes"])
    assert found[0] == raw.p_denominator


@pytest.mark.parametrize("high", [10**3, 2**30, 2**40, 2**49 - 1])
def test_roots_are_those_of_the_nearest_float_of_whole_squares(high):
    rng = np.random.default_rng(1)
    sums = rng.integers(-high, high, (5, 4)) // 5
    left, right = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 3])
    squares = [
        sum((int(a) - int(b)) ** 2 for a, b in zip(sums[:, i], sums[:, j], strict=True))
        for i, j in zip(left, right, strict=True)
    ]
    order = stepdown.order_pairs(sums, left, right)
    assert order.roots.tolist() == [float(squares[p]) ** 0.5 for p in order.pairs]


def test_sums_that_quotients_could_not_tell_apart_are_refused():
    with pytest.raises(InputError, match=r"below 2\^50"):
        stepdown.order_pairs(np.array([[2**50, 0]]), np.array([0]), np.array([1]))
