import itertools

import numpy as np
import pytest

from pipeline.inference import fans, flips
from pipeline.inference.exact import common_weights
from pipeline.inference.streams import Blake3Stream, Pcg64Stream
from pipeline.inference.workers import Drawing
from tests.inference import reference
from tests.inference.conftest import make_matrix

FANS = fans.pair_fans(4) + fans.chance_fans(4)


def count(matrix, chosen, stream=None, draws=2500, **options):
    weights = common_weights(matrix.family_sizes)
    drawing = Drawing(stream or Blake3Stream(4), draws, **options)
    return flips.flip_counts(matrix, weights, chosen, drawing, "pairs")


def plain_counts(matrix, chosen, signs):
    rows = matrix.rows_bps
    left, right = fans.fan_rows(chosen)
    return [
        reference.extreme_count(rows[i] - rows[j], matrix.family, matrix.cluster, signs)
        for i, j in zip(left, right, strict=True)
    ]


def test_counts_are_those_of_plain_loops(mixed):
    found = count(mixed, FANS)
    signs = reference.sign_rows(4, mixed.clusters, 2500)
    assert found.extreme.tolist() == plain_counts(mixed, FANS, signs)
    assert len(set(found.extreme.tolist())) > 5
    assert (found.draws, found.exact, found.p_denominator) == (2500, False, 2501)
    assert found.p_numerators.tolist() == (found.extreme + 1).tolist()


def test_pcg64_counts_are_those_of_plain_floats_with_a_tolerance(mixed):
    rng = np.random.default_rng(4 + 2)
    batches = [rng.integers(0, 2, size=(n, mixed.clusters), dtype=np.int8) for n in (1000, 400)]
    signs = (2 * np.concatenate(batches) - 1)[:, mixed.cluster]
    sizes = mixed.family_sizes[mixed.family] * mixed.families
    scores = mixed.scores_bps / 100
    expected = []
    for i, j in itertools.combinations(range(4), 2):
        terms = (scores[i] - scores[j]) / sizes
        expected.append(int(np.sum(np.abs(signs @ terms) >= abs(terms.sum()) - 1e-12)))
    found = count(mixed, fans.pair_fans(4), Pcg64Stream(4), draws=1400)
    assert found.extreme.tolist() == expected


@pytest.mark.parametrize(("block", "threads"), [(1, 1), (333, 2), (10_000, 3)])
def test_block_and_threads_change_nothing(mixed, block, threads):
    found = count(mixed, FANS, block=block, threads=threads)
    assert np.array_equal(found.extreme, count(mixed, FANS).extreme)


def test_more_rows_than_one_tile_change_nothing():
    rng = np.random.default_rng(1)
    matrix = make_matrix(rng.integers(0, 10_001, size=(70, 20)), "ab" * 10)
    chosen = [fans.Fan(69, 0, 69, hub_is_left=True)]
    alone = [count(matrix, [fans.Fan(69, m, m + 1, hub_is_left=True)], draws=50) for m in range(69)]
    expected = [int(one.extreme[0]) for one in alone]
    assert count(matrix, chosen, draws=50).extreme.tolist() == expected


def test_exact_enumeration_by_hand():
    # Differences 1, 2, 3 reach 6 with equal signs only; 1, -1, 3 give 5, 1, 3 and 3; 0, -3, 0
    # always 3. Each with both signs.
    matrix = make_matrix([[11, 12, 13], [10, 10, 10], [10, 13, 10]], "aaa")
    found = count(matrix, fans.pair_fans(3))
    assert (found.exact, found.draws, found.p_denominator) == (True, 8, 8)
    assert found.extreme.tolist() == [2, 6, 8]
    assert found.p_numerators.tolist() == [2, 6, 8]


def test_exact_enumeration_is_the_plain_one():
    rng = np.random.default_rng(3)
    clusters = [str(t % 8) for t in range(11)]
    matrix = make_matrix(rng.integers(0, 60, size=(4, 11)), "aababcabcab", clusters)
    signs = list(itertools.product([-1, 1], repeat=8))
    assert count(matrix, FANS).extreme.tolist() == plain_counts(matrix, FANS, signs)


@pytest.mark.parametrize(("clusters", "exact"), [(16, True), (17, False)])
def test_sixteen_clusters_are_enumerated_and_seventeen_drawn(clusters, exact):
    rng = np.random.default_rng(clusters)
    matrix = make_matrix(rng.integers(0, 100, size=(2, clusters)), "a" * clusters)
    found = count(matrix, fans.pair_fans(2))
    assert (found.exact, found.draws) == (exact, 2**16 if exact else 2500)


def test_families_weigh_the_same_whatever_their_size():
    # Family b has one task of weight 4, family a four of weight 1: flipping b alone is a tie.
    matrix = make_matrix([[10, 10, 10, 10, 10], [0, 0, 0, 0, 0]], "aaaab")
    assert count(matrix, fans.pair_fans(2)).extreme.tolist() == [2]
    matrix = make_matrix([[8, 8, 8, 8, 0], [0, 0, 0, 0, 8]], "aaaab")
    assert count(matrix, fans.pair_fans(2)).extreme.tolist() == [32]


def test_ties_count_beyond_float32_too():
    # lcm(39, 41) * 2 * 10^4 exceeds 2^24, so this runs in float64; all flips of equals tie.
    matrix = make_matrix([[5000] * 80, [5000] * 80], "a" * 39 + "b" * 41)
    assert count(matrix, fans.pair_fans(2), draws=300).extreme.tolist() == [300]
    rng = np.random.default_rng(0)
    matrix = make_matrix(rng.integers(0, 10_001, size=(2, 80)), "a" * 39 + "b" * 41)
    signs = reference.sign_rows(4, 80, 300)
    expected = plain_counts(matrix, fans.pair_fans(2), signs)
    assert count(matrix, fans.pair_fans(2), draws=300).extreme.tolist() == expected
