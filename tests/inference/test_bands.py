import math
from fractions import Fraction

import numpy as np
import pytest

from pipeline.inference.attainable import band_limit
from pipeline.inference.bands import Band, Studentizer, studentized_band
from pipeline.inference.familysums import FamilySums
from pipeline.inference.streams import Blake3Stream
from tests.inference import reference
from tests.inference.conftest import make_matrix


def counts_of(matrix, draws=60):
    pages = Blake3Stream(9).bootstrap(matrix.cluster_family_sizes(), draws, "scores")
    return np.concatenate([page.draw() for page in pages])


def largest_of(matrix, counts):
    return Studentizer(matrix).largest(counts, FamilySums(matrix).draw(counts))


def some(models, families, clusters=None, seed=1):
    scores = np.random.default_rng(seed).integers(0, 10_001, (models, len(families)))
    return make_matrix(scores, families, clusters)


CASES = {
    "a task a cluster": some(3, "abc" * 8),
    "clusters within families": some(3, "aabbcc" * 6, [str(t // 2) for t in range(36)]),
    "clusters across families": some(3, "abc" * 8, [str(t // 3) for t in range(24)]),
    "clusters of all kinds": some(
        3, "aabacb" * 5, ["p", "p", "q", "q", *(str(t // 2) for t in range(26))]
    ),
    "one family": some(3, "a" * 20),
    "unequal families": some(2, "aaaab" * 6),
}


@pytest.mark.parametrize("case", CASES)
def test_deviations_are_those_of_plain_fractions(case):
    matrix = CASES[case]
    counts = counts_of(matrix)
    found = largest_of(matrix, counts)
    expected = [
        reference.studentized(matrix.scores_bps, matrix.family, matrix.cluster,
                              [int(c) for c in row])
        for row in counts
    ]  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-11)
    assert len(set(expected)) > 50


@pytest.mark.parametrize("case", CASES)
def test_variances_are_exact(case):
    matrix = CASES[case]
    ones = [1] * matrix.clusters
    sizes = matrix.cluster_family_sizes()
    sums = matrix.cluster_family_sums()
    for route, found in enumerate(Studentizer(matrix).variances()):
        by_family = {f: sums[:, f, route].tolist() for f in range(matrix.families)}
        shapes = {f: sizes[:, f].tolist() for f in range(matrix.families)}
        assert found == reference._score_and_variance(by_family, shapes, ones)[1]


def test_a_route_without_variance_takes_no_part():
    varying = np.random.default_rng(3).integers(0, 10_001, 30)
    families = "abc" * 10
    alone = make_matrix([varying, varying], families)
    beside = make_matrix([varying, np.full(30, 10_000), np.zeros(30, dtype=int)], families)
    counts = counts_of(alone)
    assert np.array_equal(largest_of(alone, counts), largest_of(beside, counts))
    assert Studentizer(beside).variances()[1:] == (0, 0)


def test_a_replicate_without_variance_but_off_is_unbounded():
    # One task of ten moves the score: a replicate that misses it does not vary.
    matrix = make_matrix([[10_000] * 9 + [0], [5_000] * 9 + [4_000]], "a" * 10)
    without, with_it = [1.0] * 8 + [2.0, 0.0], [1.0] * 10
    largest = largest_of(matrix, np.array([without, with_it]))
    assert largest.tolist() == [math.inf, 0.0]


def test_the_band_is_the_smallest_that_holds_95_percent():
    matrix = CASES["a task a cluster"]
    studentizer = Studentizer(matrix)
    largest = np.arange(1.0, 101.0)
    band = studentized_band(studentizer, [Fraction(5000)] * 3, largest, printable=True)
    assert band.critical_nano == 95 * 10**9
    half = 95 * math.sqrt(studentizer.variances()[0])
    assert band.ends_nanobps[0].upper == pytest.approx((5000 + half) * 1e9)
    assert sum(band.ends_nanobps[0]) == pytest.approx(10_000 * 10**9, abs=1)


def test_an_infinite_critical_value_prints_no_band():
    largest = np.array([1.0] * 94 + [math.inf] * 6)
    studentizer = Studentizer(CASES["a task a cluster"])
    band = studentized_band(studentizer, [Fraction(5000)] * 3, largest, printable=True)
    assert (band.critical_nano, band.ends_nanobps, band.unbounded) == (None, None, 6)
    assert len(band.se_nanobps) == 3
    finite = studentized_band(
        studentizer, [Fraction(5000)] * 3, np.append(largest[:94], [2.0] * 6), printable=True
    )
    assert finite.ends_nanobps is not None


def lacking(unbounded, replicates=1000):
    return Band((1, 1), None, None, unbounded, replicates)


def test_a_missing_band_says_what_it_takes():
    few = band_limit(lacking(0), 9, 27, 27)
    assert (few.kind, few.found, few.needed) == ("family_tasks", 9, 10)
    assert "10 or more tasks in each family" in few.line
    still = band_limit(lacking(360), 10, 30, 30)
    assert (still.kind, still.found, still.needed) == ("variation", 30, 90)
    assert "about 90 would do" in still.line
    never = band_limit(lacking(1000), 10, 30, 30)
    assert never.needed is None
    assert "no number of tasks" in never.line


def test_a_printed_band_has_no_limit():
    assert band_limit(lacking(0)._replace(ends_nanobps=()), 100, 300, 300) is None
