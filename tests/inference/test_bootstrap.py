import itertools
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from pipeline.inference import bootstrap, fans, intervals
from pipeline.inference.exact import LOWER, UPPER, common_weights
from pipeline.inference.streams import Blake3Stream, Pcg64Stream
from pipeline.inference.workers import Drawing
from tests.inference import reference
from tests.inference.conftest import make_matrix

DRAWS = 700
IN_ORDER, SHARED = Pcg64Stream(4), Blake3Stream(4)  # how models that tie rank


def plain_scores(matrix, stream, draws):
    sizes = matrix.cluster_family_sizes()
    replicates = [
        row for page in stream.bootstrap(sizes, draws, "scores") for row in page.draw().tolist()
    ]
    counts = [[int(c) for c in row] for row in replicates]
    return reference.resampled_scores(
        matrix.rows_bps.tolist(), matrix.family.tolist(), matrix.cluster.tolist(), counts
    )


@pytest.fixture(scope="module")
def resampled(mixed):
    return bootstrap.resampled_scores(mixed, Drawing(Blake3Stream(4), DRAWS), "scores")


@pytest.mark.parametrize("stream", [Blake3Stream(4), Pcg64Stream(4)])
def test_scores_are_those_of_plain_loops(mixed, stream):
    found = bootstrap.resampled_scores(mixed, Drawing(stream, DRAWS), "scores")
    for row, expected in zip(found, plain_scores(mixed, stream, DRAWS), strict=True):
        # The float64 quotient may round to the neighbouring 10^-9 of a basis point.
        assert max(abs(int(a) - 10**9 * b) for a, b in zip(row, expected, strict=True)) < 1.01


def test_score_of_one_replicate_by_hand():
    # Families a (tasks 0, 1) and b (task 2); clusters are {0, 2} and {1}.
    matrix = make_matrix([[100, 200, 50], [0, 0, 7]], "aab", clusters="xyx")
    counts = np.array([[2, 0], [1, 1]], dtype=np.float32)

    class Fixed:
        shared = True

        def bootstrap(self, sizes, draws, role):
            yield (
                Blake3Stream(0)
                .bootstrap(sizes, draws, role)
                .__next__()
                ._replace(draw=lambda: counts)
            )

    found = bootstrap.resampled_scores(matrix, Drawing(Fixed(), 2, block=1), "scores")
    # Cluster x twice: a = 100, b = 50. Each once: a = 150, b = 50.
    assert found[0].tolist() == [75 * 10**9, 100 * 10**9]
    assert found[1].tolist() == [3_500_000_000, 3_500_000_000]


@pytest.mark.parametrize(("block", "threads"), [(1, 1), (7, 2), (10_000, 3)])
def test_block_and_threads_change_nothing(mixed, resampled, block, threads):
    again = bootstrap.resampled_scores(
        mixed, Drawing(Blake3Stream(4), DRAWS, block, threads), "scores"
    )
    assert np.array_equal(again, resampled)
    for stream in (IN_ORDER, SHARED):
        ranks = partial(bootstrap.rank_intervals, resampled[:4])
        assert ranks(Drawing(stream, DRAWS, block, threads)) == ranks(
            Drawing(stream, DRAWS, DRAWS, threads=1)
        )


def test_sums_beyond_float32_stay_exact():
    # 3000 clusters of 10000 points are beyond 2^24, so float32 would round.
    scores = np.array([[9999] * 2999 + [9998], [10_000] * 3000])
    matrix = make_matrix(scores, "a" * 3000)
    found = bootstrap.resampled_scores(matrix, Drawing(Blake3Stream(1), 20), "scores")
    assert set(found[1].tolist()) == {10_000 * 10**9}
    lost = [9999 * 10**9 - int(value) for value in found[0]]
    assert all(abs(round(x * 3000 / 10**9) - x * 3000 / 10**9) < 1e-3 for x in lost)
    assert set(lost) != {0}


def test_spread_is_the_plain_one(mixed, resampled):
    weights = common_weights(mixed.family_sizes)
    totals = mixed.scores_bps @ weights.per_family[mixed.family]
    scores = [Fraction(int(total), weights.denominator) for total in totals]
    spread = bootstrap.score_spread(resampled[:4], scores)
    values = [[int(v) for v in row] for row in resampled[:4]]
    for m in range(4):
        assert spread.se_nanobps[m] == pytest.approx(reference.variance(values[m]) ** 0.5, abs=0.6)
        assert spread.pointwise_nanobps[m] == (
            round(reference.quantile(values[m], LOWER)),
            round(reference.quantile(values[m], UPPER)),
        )
    largest = [
        max(abs(values[m][b] / 1e9 - scores[m]) / spread.se_nanobps[m] * 1e9 for m in range(4))
        for b in range(DRAWS)
    ]
    critical = reference.quantile(largest, Fraction(19, 20))
    assert spread.critical_nano / 1e9 == pytest.approx(float(critical), abs=1e-8)
    for m in range(4):
        half = critical * spread.se_nanobps[m]
        lower, upper = spread.simultaneous_nanobps[m]
        assert lower == pytest.approx(float(scores[m] * 10**9 - half), abs=50)
        assert upper == pytest.approx(float(scores[m] * 10**9 + half), abs=50)


def test_a_model_that_never_varies_has_its_score_as_its_interval():
    matrix = make_matrix([[500] * 6, [0, 1, 2, 3, 4, 5]], "aaabbb")
    found = bootstrap.resampled_scores(matrix, Drawing(Blake3Stream(1), 50), "scores")
    spread = bootstrap.score_spread(found[:2], [Fraction(500), Fraction(5, 2)])
    assert spread.se_nanobps[0] == 0
    assert spread.pointwise_nanobps[0] == spread.simultaneous_nanobps[0] == (5 * 10**11,) * 2
    assert spread.critical_nano > 0


def test_rank_intervals_are_the_plain_ones(resampled):
    values = [[int(v) for v in row] for row in resampled[:4]]
    ranks = [reference.ranks([values[m][b] for m in range(4)]) for b in range(DRAWS)]
    found = bootstrap.rank_intervals(resampled[:4], drawing=Drawing(IN_ORDER, DRAWS, block=64))
    for m in range(4):
        held = [row[m] for row in ranks]
        lower, upper = reference.quantile(held, LOWER), reference.quantile(held, UPPER)
        assert found[m] == (lower.__floor__(), upper.__ceil__())
    assert any(lower != upper for lower, upper in found)


def test_rank_intervals_round_outwards_and_break_ties_by_model_order():
    # Model 1 wins once in 41 replicates: the 2.5% quantile of its ranks lies between 1 and 2.
    scores = np.array([[5] * 41, [5] * 40 + [6], [1] * 41])
    scores_of_40 = scores[:, 1:]
    ranks = partial(bootstrap.rank_intervals, drawing=Drawing(IN_ORDER, DRAWS, block=8))
    assert ranks(scores)[1] == (2, 2)
    assert ranks(scores_of_40)[1] == (1, 2)
    assert ranks(scores_of_40)[0] == (1, 2)
    assert ranks(scores)[2] == (3, 3)


@pytest.mark.parametrize("order", [*itertools.permutations(range(4))])
def test_models_that_tie_share_their_places_in_any_order(order):
    # 1 and 2 always tie behind 0; 3 ties with 0 in most replicates, and else is the last.
    scores = np.array([[9] * 41, [5] * 41, [5] * 41, [9] * 38 + [1] * 3])[list(order)]
    found = bootstrap.rank_intervals(scores, drawing=Drawing(SHARED, DRAWS, block=8))
    wanted = {0: (1, 2), 1: (2, 4), 2: (2, 4), 3: (1, 4)}
    assert [tuple(interval) for interval in found] == [wanted[model] for model in order]


@pytest.mark.parametrize("block", [1, 7, 64])
def test_shared_places_are_the_plain_ones(block):
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 4, size=(6, 200))
    found = bootstrap.rank_intervals(scores, drawing=Drawing(SHARED, DRAWS, block=block))
    for m in range(6):
        first = [1 + int((scores[:, b] > scores[m, b]).sum()) for b in range(200)]
        last = [int((scores[:, b] >= scores[m, b]).sum()) for b in range(200)]
        low, high = reference.quantile(first, LOWER), reference.quantile(last, UPPER)
        assert found[m] == (low.__floor__(), high.__ceil__())


@pytest.mark.parametrize("draws", [2, 41, 4096, 4097, 9000])
def test_contrast_intervals_are_the_plain_ones(draws):
    rng = np.random.default_rng(draws)
    rows = rng.normal(0, 1e12, size=(4, draws)).astype(np.int64)
    rows[3] = rows[2] + (np.arange(draws) % 3)  # differences with many ties
    chosen = (*fans.pair_fans(3), fans.Fan(3, 0, 3, hub_is_left=False))
    found = intervals.contrast_intervals(rows, chosen, threads=2)
    left, right = fans.fan_rows(chosen)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [
        (0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3),
    ]  # fmt: skip
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        gaps = [int(v) for v in rows[i] - rows[j]]
        assert found[0, place] == round(reference.quantile(gaps, LOWER))
        assert found[1, place] == round(reference.quantile(gaps, UPPER))


def test_a_misleading_sample_costs_time_and_no_exactness():
    # The first values, which the sample is taken from, are all below the others.
    values = np.arange(9000)
    rows = np.stack([values, np.zeros_like(values), -values])
    found = intervals.contrast_intervals(rows, [fans.Fan(1, 0, 3, hub_is_left=False)])
    assert found[:, 0].tolist() == [225, 8774]
    assert found[:, 2].tolist() == [-8774, -225]


def test_many_tied_models_keep_their_order():
    # A sort that is not stable shows only with more models than its insertion-sorted base case.
    scores = np.repeat(np.arange(2)[:, None], 100, axis=0).reshape(200, 1) * np.ones(5, dtype=int)
    found = bootstrap.rank_intervals(scores, drawing=Drawing(IN_ORDER, DRAWS, block=5))
    assert [lower for lower, _ in found] == [*range(101, 201), *range(1, 101)]
    assert all(lower == upper for lower, upper in found)
