"""The contract as a whole, on what is easily told and on what cannot be told."""

import dataclasses
import itertools
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.inference import Settings, analyse
from pipeline.inference.attainable import chance_limit, pair_limit, smallest_pair_p
from tests.inference.conftest import make_matrix
from tests.shared import ROOT

SMALL = Settings(seed=11, bootstrap_draws=300, sign_draws=400, inference="calibrated")


def maps_of(matrix):
    return np.random.default_rng(1).integers(0, 10_001, (matrix.tasks, 56))


def calibrated(matrix, **options):
    settings = dataclasses.replace(SMALL, **options)
    return analyse(matrix, settings, maps_bps=maps_of(matrix))


def routes(models, tasks=60, families="abc", *, step=100, clusters=None):
    rng = np.random.default_rng(7)
    scores = 2000 + step * np.arange(models)[::-1, None] + rng.integers(0, 3000, (models, tasks))
    labels = [families[t % len(families)] for t in range(tasks)]
    return make_matrix(np.clip(scores, 0, 10_000), labels, clusters)


def everything(analysis):
    found = analysis.calibrated
    arrays = (found.step_down_numerators, found.comparable, found.resolved)
    crowd = [x.tolist() if isinstance(x, np.ndarray) else x for x in found.guessers]
    return [a.tolist() for a in arrays], found.places, found.band, crowd, found.limits


def kinds(analysis):
    return [limit.kind for limit in analysis.calibrated.limits]


@pytest.mark.parametrize(("block", "threads"), [(1, 1), (7, 2), (499, 3), (5000, 8)])
def test_block_and_threads_change_nothing(mixed, block, threads):
    plain = calibrated(mixed, sign_draws=4100, bootstrap_draws=1100, threads=1)
    other = calibrated(mixed, sign_draws=4100, bootstrap_draws=1100, threads=threads, block=block)
    assert everything(other) == everything(plain)


def test_the_published_figures_are_the_same_under_both(mixed):
    published = analyse(mixed, dataclasses.replace(SMALL, inference="published"))
    both = calibrated(mixed)
    assert published.calibrated is None
    assert published.standings == both.standings
    assert list(published.pairs) == list(both.pairs)
    assert list(published.chance) == list(both.chance)


@pytest.mark.parametrize(("stream", "name"), [("pcg64", "calibrated"), ("blake3", "exact")])
def test_a_contract_that_the_stream_does_not_know_is_refused(stream, name):
    with pytest.raises(InputError, match=r"statistics\.inference"):
        Settings(seed=1, stream=stream, inference=name)


def test_progress_ends_at_its_total(mixed):
    notes = []
    analyse(mixed, SMALL, lambda *note: notes.append(note), maps_bps=maps_of(mixed))
    assert [done for done, _ in notes] == sorted(done for done, _ in notes)
    assert notes[-1][0] == notes[-1][1]


def test_calibrated_needs_maps(mixed):
    with pytest.raises(InputError, match="score maps for guessers"):
        analyse(mixed, SMALL)


# Hostile inputs: each its line or its right table


def test_two_identical_routes_share_all():
    matrix = routes(3)
    twins = make_matrix(matrix.scores_bps[[0, 0, 2]], "abc" * 20)
    found = calibrated(twins)
    first, second, third = found.calibrated.places
    assert first == second
    assert (first.rank, first.tied, third.rank) == (1, True, 3)
    assert found.calibrated.comparable.tolist() == [False, True, True]
    assert found.calibrated.step_down_numerators[0] == found.pairs.p_denominator
    assert not found.calibrated.resolved[0]


def test_all_optimal_and_never_optimal():
    tasks = 60
    middle = np.random.default_rng(3).integers(2000, 8000, tasks)
    matrix = make_matrix([np.full(tasks, 10_000), middle, np.zeros(tasks, dtype=int)], "abc" * 20)
    found = calibrated(matrix)
    assert found.calibrated.resolved.all()
    assert [tuple(p.rank_set) for p in found.calibrated.places] == [(1, 1), (2, 2), (3, 3)]
    assert [p.letters for p in found.calibrated.places] == ["a", "b", "c"]
    ends = found.calibrated.band.ends_nanobps
    assert tuple(ends[0]) == (10_000 * 10**9,) * 2
    assert tuple(ends[2]) == (0, 0)
    assert found.calibrated.guessers.above.tolist() == [
        True,
        found.calibrated.guessers.above[1],
        False,
    ]
    assert kinds(found) == []


def test_two_routes():
    found = calibrated(routes(2, step=1500))
    assert found.calibrated.resolved.tolist() == [True]
    assert found.calibrated.step_down_numerators.tolist() == found.pairs.p_numerators.tolist()
    assert [p.letters for p in found.calibrated.places] == ["a", "b"]


def test_one_family():
    found = calibrated(routes(4, 40, "a"))
    assert found.calibrated.band.ends_nanobps is not None
    assert kinds(found) == []


@pytest.mark.parametrize("anchors", [3, 4, 5])
def test_few_anchors_are_said_to_tell_nothing(anchors):
    clusters = [str(t % anchors) for t in range(60)]
    found = calibrated(routes(3, 60, "aabb", step=3000, clusters=clusters))
    assert not found.calibrated.resolved.any()
    limit = found.calibrated.limits[0]
    assert (limit.kind, limit.found, limit.needed) == ("clusters", anchors, 6)
    smallest = Fraction(1, 2 ** (anchors - 1))
    assert limit.line == (
        f"{anchors} clusters allow no p below {smallest}: nothing can be told apart; "
        "6 or more would do"
    )
    assert {tuple(p.rank_set) for p in found.calibrated.places} == {(1, 3)}


def test_six_anchors_can_tell():
    clusters = [str(t % 6) for t in range(60)]
    found = calibrated(routes(2, 60, "aabb", step=3000, clusters=clusters))
    assert found.calibrated.resolved.all()
    assert Fraction(int(found.calibrated.step_down_numerators[0]), 64) == Fraction(1, 32)


@pytest.mark.parametrize("draws", [1, 18, 19])
def test_too_few_signs_are_said_to_tell_nothing(draws):
    found = calibrated(routes(2, step=3000), sign_draws=draws)
    assert not found.calibrated.resolved.any()
    assert kinds(found) == ["signs", "guessers"]
    assert found.calibrated.limits[0].needed == 20
    assert f"below {Fraction(1, draws + 1)}:" in found.calibrated.limits[0].line


def test_twenty_signs_can_tell():
    found = calibrated(routes(2, step=3000), sign_draws=20)
    assert kinds(found) == ["guessers"]
    assert found.calibrated.resolved.all()


def test_few_guessers_for_many_routes_are_said():
    found = calibrated(routes(30, step=20), sign_draws=599)
    limit = found.calibrated.limits[-1]
    assert (limit.kind, limit.needed, limit.smallest_p) == ("guessers", 600, Fraction(1, 20))
    assert kinds(calibrated(routes(30, step=20), sign_draws=600)) == []


def test_nine_tasks_a_family_print_no_band():
    found = calibrated(routes(3, 27))
    assert found.calibrated.band.ends_nanobps is None
    assert kinds(found) == ["family_tasks"]
    assert kinds(calibrated(routes(3, 30))) == []


def test_a_route_that_hardly_varies_prints_no_band():
    scores = np.full((2, 60), 10_000)
    scores[0, 0] = 0
    scores[1] = np.random.default_rng(2).integers(0, 10_001, 60)
    found = calibrated(make_matrix(scores, "abc" * 20))
    assert kinds(found) == ["variation"]
    assert found.calibrated.limits[0].needed > 60


@pytest.mark.parametrize("models", [101, 150, 1000])
def test_many_routes_are_resolved_by_few_signs(models):
    rng = np.random.default_rng(7)
    skill = np.linspace(9000, 1000, models)[:, None]
    scores = np.clip(np.rint(skill + rng.normal(0, 900, (models, 60))), 0, 10_000).astype(int)
    matrix = make_matrix(scores, "abc" * 20)
    found = calibrated(matrix, bootstrap_draws=100, sign_draws=200)
    assert found.calibrated.resolved.mean() > 0.6
    assert not found.pairs.resolved.any()
    places = found.calibrated.places
    assert places[0].letters is None
    better = [p.rank_set.lower for p in places]
    assert better[0] == 1
    assert better[-1] > models // 2
    wrong = found.calibrated.resolved & (found.pairs.difference_numerators < 0)
    assert not (wrong & (found.pairs.left + models // 2 < found.pairs.right)).any()


def test_a_row_never_contradicts_itself(mixed):
    found = calibrated(mixed).calibrated
    pairs = itertools.combinations(range(mixed.models), 2)
    for (i, j), apart in zip(pairs, found.resolved, strict=True):
        a, b = found.places[i], found.places[j]
        assert bool(set(a.letters) & set(b.letters)) != apart
        if a.rank_set.upper < b.rank_set.lower or b.rank_set.upper < a.rank_set.lower:
            assert apart


@pytest.mark.parametrize(
    ("clusters", "draws", "p"),
    [
        (1, 9, Fraction(1)),
        (5, 9, Fraction(1, 16)),
        (16, 9, Fraction(1, 2**15)),
        (17, 9, Fraction(1, 10)),
    ],
)
def test_the_smallest_p(clusters, draws, p):
    assert smallest_pair_p(clusters, draws) == p


@pytest.mark.parametrize(
    ("limit", "starts", "needed"),
    [
        (pair_limit(1, 5), "1 cluster allows no p below 1: nothing can be told apart", 6),
        (pair_limit(17, 1), "1 sign row allows no p below 1/2: nothing can be told apart", 20),
        (chance_limit(2, 1), "1 guesser allows no adjusted p below 1 for one of 2 routes", 40),
    ],
)
def test_limits_in_words(limit, starts, needed):
    assert limit.line.startswith(starts)
    assert limit.line.endswith(f"{needed} or more would do")


def test_without_a_limit_there_are_no_words():
    assert (pair_limit(6, 1), pair_limit(17, 20), chance_limit(2, 40)) == (None, None, None)


SCRIPT = """
from tests.inference.test_calibrated import calibrated, everything, routes
print(everything(calibrated(routes(9, 45, step=250), sign_draws=2100, threads=3)))
"""


def test_hash_seeds_change_nothing():
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT, capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "977")
    ]  # fmt: skip
    assert len(said[0]) > 1000
    assert set(said) == {said[0]}
