import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.inference import Settings, analyse, workers
from tests.inference.conftest import make_matrix

SMALL = Settings(seed=11, bootstrap_draws=300, sign_draws=400)


@st.composite
def matrices(draw):
    """Two to five models, one to three families, shared and single clusters."""
    models = draw(st.integers(2, 5))
    families = ["a", *draw(st.lists(st.sampled_from("abc"), min_size=3, max_size=25))]
    tasks = len(families)
    clusters = draw(
        st.lists(st.sampled_from("stuvwxyz"), min_size=tasks, max_size=tasks)
        | st.just([str(t) for t in range(tasks)])
    )
    panels = draw(st.lists(st.sampled_from("pq"), min_size=tasks, max_size=tasks))
    cell = st.integers(0, 4).map(lambda v: 2500 * v) | st.integers(0, 10_000)
    row = st.lists(cell, min_size=tasks, max_size=tasks)
    scores = draw(st.lists(row, min_size=models, max_size=models))
    return make_matrix(scores, families, clusters, panels, draw(row))


def values(contrasts):
    return list(contrasts)


def everything(analysis):
    return (
        analysis.standings,
        analysis.critical_nano,
        values(analysis.pairs),
        values(analysis.chance),
        analysis.chance_score_bps,
        analysis.agreements,
    )


@settings(max_examples=25, deadline=None)
@given(matrices(), st.integers(1, 900), st.integers(1, 3), st.sampled_from(["blake3", "pcg64"]))
def test_block_and_threads_change_no_result(matrix, block, threads, stream):
    plain = dataclasses.replace(SMALL, stream=stream, threads=1)
    other = dataclasses.replace(plain, block=block, threads=threads)
    assert everything(analyse(matrix, plain)) == everything(analyse(matrix, other))


@settings(max_examples=40, deadline=None)
@given(matrices(), st.randoms(use_true_random=False))
def test_model_order_matters_for_ties_only(matrix, random):
    order = list(range(matrix.models))
    random.shuffle(order)
    moved = dataclasses.replace(matrix, scores_bps=matrix.scores_bps[order])
    before, after = analyse(matrix, SMALL), analyse(moved, SMALL)
    assert before.critical_nano == after.critical_nano
    for new, old in enumerate(order):
        x, y = before.standings[old], after.standings[new]
        assert (x.rank, x.rank_interval) == (y.rank, y.rank_interval)
        assert x[3:9] == y[3:9]
        assert before.chance[old][2:] == after.chance[new][2:]
    pairs = {(c.left, c.right): c for c in before.pairs}
    for contrast in after.pairs:
        left, right = order[contrast.left], order[contrast.right]
        same = (left, right) in pairs
        old = pairs[(left, right) if same else (right, left)]
        assert (contrast.p, contrast.holm_p, contrast.ties) == (old.p, old.holm_p, old.ties)
        assert abs(contrast.difference_bps) == abs(old.difference_bps)
        if same:
            assert contrast[2:] == old[2:]
        else:
            assert contrast.difference_bps == -old.difference_bps
            assert (contrast.wins, contrast.losses) == (old.losses, old.wins)
            lower, upper = contrast.interval_nanobps
            assert (-upper, -lower) == old.interval_nanobps


@settings(max_examples=40, deadline=None)
@given(matrices())
def test_what_always_holds(matrix):
    analysis = analyse(matrix, SMALL)
    count = matrix.models
    falling = sorted((s.score_bps for s in analysis.standings), reverse=True)
    assert all(s.rank == falling.index(s.score_bps) + 1 for s in analysis.standings)
    by_rank = sorted(analysis.standings, key=lambda s: s.rank)
    assert all(a.score_bps >= b.score_bps for a, b in itertools.pairwise(by_rank))
    assert all(b.group - a.group in {0, 1} for a, b in itertools.pairwise(by_rank))
    for s in analysis.standings:
        assert s.score_bps == sum(s.family_scores_bps) / len(s.family_scores_bps)
        assert s.simultaneous_nanobps.lower + s.simultaneous_nanobps.upper == 2 * round(
            s.score_bps * 10**9
        )
        assert 1 <= s.rank_interval.lower <= s.rank_interval.upper <= count
    for contrasts in (analysis.pairs, analysis.chance):
        for c in contrasts:
            assert 0 < c.p <= c.holm_p <= 1
            assert c.resolved == (c.holm_p < Fraction(1, 20))
            assert c.wins + c.ties + c.losses == matrix.tasks
            assert c.interval_nanobps.lower <= c.interval_nanobps.upper
    for c in analysis.pairs:
        scores = [analysis.standings[m].score_bps for m in (c.left, c.right)]
        assert c.difference_bps == scores[0] - scores[1]
    for m, c in enumerate(analysis.chance):
        assert (c.left, c.right) == (m, count)
        assert c.difference_bps == analysis.standings[m].score_bps - analysis.chance_score_bps


def test_a_small_table_by_hand():
    matrix = make_matrix(
        [[10, 20, 60], [0, 40, 40], [30, 30, 30]], "aab", panels="ppq", chance=[10, 10, 20]
    )
    analysis = analyse(matrix, SMALL)
    scores = [Fraction(75, 2), 30, 30]
    assert [s.score_bps for s in analysis.standings] == scores
    assert [s.rank for s in analysis.standings] == [1, 2, 2]
    assert analysis.standings[0].family_scores_bps == (15, 60)
    assert analysis.standings[1].panel_scores_bps == (20, 40)
    assert analysis.chance_score_bps == 15
    # Weighted differences 10, -20, 40 (family b counts double): flipped sums are 70, 10, 30, 50.
    assert analysis.pairs[0].p == Fraction(6, 8)
    assert analysis.pairs[0].holm_p == 1
    assert analysis.chance[0].difference_bps == Fraction(45, 2)


def test_chance_has_a_holm_family_of_its_own(mixed):
    analysis = analyse(mixed, SMALL)
    assert len(analysis.chance) == 4
    assert len(analysis.pairs) == 6
    smallest = min(c.p for c in analysis.chance)
    assert min(c.holm_p for c in analysis.chance) == 4 * smallest
    assert min(c.holm_p for c in analysis.pairs) == 6 * min(c.p for c in analysis.pairs)


def test_results_are_pinned(mixed):
    """The contract end to end: whatever changes these integers changes published roots."""
    analysis = analyse(mixed, SMALL)
    first = analysis.standings[0]
    assert (first.se_nanobps, *first.pointwise_nanobps, analysis.critical_nano) == (
        267807567589,
        4521772610480,
        5608623731884,
        2357829366,
    )
    assert [c.extreme for c in analysis.pairs] == [296, 3, 0, 25, 0, 0]
    assert [c.extreme for c in analysis.chance] == [333, 316, 2, 0]


@pytest.mark.parametrize("stream", ["blake3", "pcg64"])
def test_progress_rises_to_its_total(mixed, stream):
    seen = []
    analyse(
        mixed,
        dataclasses.replace(SMALL, stream=stream, block=50),
        lambda done, total: seen.append((done, total)),
    )
    done = [step for step, _ in seen]
    assert done == sorted(done)
    assert len({total for _, total in seen}) == 1
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize(
    "change", [{"bootstrap_draws": 1}, {"sign_draws": 0}, {"block": 0}, {"threads": 0}]
)
def test_settings_out_of_range_are_refused(change):
    (name,) = change
    with pytest.raises(InputError, match=rf"statistics\.{name}"):
        Settings(seed=1, **change)


def test_jobs_come_back_in_order_and_errors_come_through():
    assert list(workers.run_jobs((lambda i=i: i * i for i in range(50)), 3)) == [
        i * i for i in range(50)
    ]
    with pytest.raises(ZeroDivisionError):
        list(workers.run_jobs((lambda i=i: 1 // i for i in (1, 0, 2)), 2))


def test_numpy_is_asked_for_nothing_that_is_not_whole(mixed):
    for contrasts in (analyse(mixed, SMALL).pairs, analyse(mixed, SMALL).chance):
        for field in dataclasses.fields(contrasts):
            value = getattr(contrasts, field.name)
            if isinstance(value, np.ndarray):
                assert value.dtype.kind in "ib"


@pytest.mark.parametrize("twins", [(0, 1), (0, 3), (2, 3)])
def test_twins_share_rank_and_rank_interval_wherever_they_stand(twins):
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 4000, size=(4, 30))
    scores[list(twins)] = rng.integers(6000, 10_000, size=30)
    analysis = analyse(make_matrix(scores, "ab" * 15), SMALL)
    for model in twins:
        assert analysis.standings[model].rank == 1
        assert analysis.standings[model].rank_interval == (1, 2)
    others = [s for s in analysis.standings if s.model not in twins]
    assert sorted(s.rank for s in others) == [3, 4]


def test_equal_scores_of_other_answers_share_a_rank_and_no_order_moves_their_interval():
    scores = [[0, 100, 200, 300], [300, 200, 100, 0], [50, 50, 50, 50]]
    one = analyse(make_matrix(scores, "aaaa"), SMALL).standings
    other = analyse(make_matrix(scores[::-1], "aaaa"), SMALL).standings
    assert [s.rank for s in one] == [1, 1, 3]
    assert [s.rank_interval for s in one] == [s.rank_interval for s in other][::-1]


def test_the_published_stream_keeps_its_order_of_ties():
    scores = np.arange(30)[None, :].repeat(2, axis=0)
    published = dataclasses.replace(SMALL, stream="pcg64")
    found = analyse(make_matrix(scores, "ab" * 15), published).standings
    assert [s.rank for s in found] == [1, 1]
    assert [s.rank_interval for s in found] == [(1, 1), (2, 2)]
