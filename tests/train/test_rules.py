"""What may be trained on, how it is split, and which preference pairs are taken."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.train.rules import completion, development_tasks, preference_pairs
from schemas.taskset import PORTFOLIOS, Family, Task

RANKED = (Family.SUBSTITUTION, Family.PAIRING)


def task(number, family=Family.PAIRING, anchor=None, panel="panel_1"):
    scores = [0] * 55 + [10_000]
    return Task(
        task_id=f"{panel}-{family.value}-{number}",
        panel=panel,
        family=family,
        variant=None,
        anchor=anchor or f"anchor_{number}",
        category="Herb",
        region=None,
        stratum=1,
        choices=tuple("abcdefgh"),
        scores_bps=tuple(scores),
        optimum="FGH",
        chance_bps=179,
        margin_bps=10_000,
        prompt="Choose.",
    )


def split_of(tasks, core=(), validation_bps=2000):
    return development_tasks(tasks, set(core), RANKED, "salt", validation_bps)


def test_the_core_its_anchors_and_nothing_else_are_left_out():
    tasks = [task(n) for n in range(4)] + [task(9, Family.SUBSTITUTION, "anchor_0")]
    found = split_of(tasks, core=[tasks[0].task_id])
    assert {entry.task.task_id for entry in found} == {t.task_id for t in tasks[1:4]}


def test_a_fifth_of_a_stratum_validates_by_the_hash_of_its_anchor():
    tasks = [task(n) for n in range(71)]
    found = split_of(tasks)
    first = sorted(tasks, key=lambda t: hashlib.sha256(f"salt|{t.anchor}".encode()).hexdigest())
    validation = {e.task.task_id for e in found if e.split == "validation"}
    assert validation == {t.task_id for t in first[:14]}


def test_families_that_are_not_ranked_are_supplemental_and_one_stratum():
    tasks = [task(n, Family.CULTURAL, panel=f"panel_{n % 2}") for n in range(10)]
    found = split_of(tasks)
    assert {entry.track for entry in found} == {"supplemental"}
    assert sum(entry.split == "validation" for entry in found) == 2


@given(
    st.lists(st.tuples(st.sampled_from(Family), st.integers(0, 9), st.booleans()), max_size=40),
    st.integers(0, 10_000),
)
def test_no_anchor_is_on_two_sides_or_in_the_core(drawn, validation_bps):
    tasks = [task(n, family, f"anchor_{anchor}") for n, (family, anchor, _) in enumerate(drawn)]
    core = {t.task_id for t, (_, _, inside) in zip(tasks, drawn, strict=True) if inside}
    found = split_of(tasks, core, validation_bps)
    sides = {
        side: {e.task.anchor for e in found if e.split == side} for side in ("train", "validation")
    }
    closed = {t.anchor for t in tasks if t.task_id in core}
    assert not sides["train"] & sides["validation"]
    assert not closed & (sides["train"] | sides["validation"])
    assert len(found) == sum(t.anchor not in closed for t in tasks)


def test_pairs_go_from_the_widest_gap_to_the_narrowest_that_counts():
    scores = [0] * 56
    scores[3], scores[10], scores[20] = 10_000, 600, 100
    pairs = preference_pairs(scores, 500)
    gaps = [pair.chosen_bps - pair.rejected_bps for pair in pairs]
    assert len(pairs) == 4
    assert gaps == sorted(gaps, reverse=True)
    assert (pairs[0].chosen, pairs[0].rejected) == (PORTFOLIOS[3], "ABC")
    assert (pairs[-1].chosen_bps, pairs[-1].rejected_bps) == (600, 100)


@pytest.mark.parametrize(("high", "count"), [(499, 0), (500, 4)])
def test_a_gap_below_the_minimum_makes_no_pair(high, count):
    assert len(preference_pairs([high] + [0] * 55, 500)) == count


@given(st.lists(st.integers(0, 10_000), min_size=56, max_size=56), st.integers(1, 10_000))
def test_every_pair_prefers_by_at_least_the_minimum(scores, minimum):
    for pair in preference_pairs(scores, minimum):
        assert pair.chosen_bps - pair.rejected_bps >= minimum
        assert scores[PORTFOLIOS.index(pair.chosen)] == pair.chosen_bps
        assert scores[PORTFOLIOS.index(pair.rejected)] == pair.rejected_bps


def test_a_completion_is_what_the_parser_reads():
    assert completion("ACF") == "FINAL_SELECTION: A,C,F"
