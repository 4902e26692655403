"""Tasks side by side, and maps of the same candidates under another release."""

from __future__ import annotations

import random

import pytest
from scipy.stats import spearmanr

from pipeline.compare.rescore import rescore
from pipeline.compare.tasks import compare_tasks
from pipeline.freeze.stage import build
from pipeline.inference.panels import rank_correlation_nano
from pipeline.release.stage import build as build_release
from schemas.taskset import LABELS, PORTFOLIOS, Family
from tests.compare.small import content, decision, ingredient
from tests.mini import mini_workspace

CHOICES = [f"herb_{letter}" for letter in "abcdefgh"]
SCORES = [10_000, *range(55)]


def compared(before, after, touched=()):
    roots = ("0", "0" if before == after else "1")
    nothing = [None] * len(before)
    return compare_tasks(before, after, roots, (nothing, nothing), frozenset(touched))


def test_the_same_tasks_have_no_changes():
    task = decision("one-001", "basil", CHOICES, SCORES)
    changes = compared([task], [task])
    assert changes.empty
    assert (changes.same, changes.changed, changes.touched) == (1, (), ())


def test_another_number_and_other_labels_are_the_same_decision():
    shuffled = CHOICES[::-1]
    names = {frozenset(CHOICES[LABELS.index(label)] for label in p): s
             for p, s in zip(PORTFOLIOS, SCORES, strict=True)}  # fmt: skip
    scores = [names[frozenset(shuffled[LABELS.index(label)] for label in p)] for p in PORTFOLIOS]
    before = decision("one-001", "basil", CHOICES, SCORES)
    after = decision("one-002", "basil", shuffled, scores)
    changes = compared([before], [after])
    assert (changes.same, changes.changed, changes.added, changes.removed) == (1, (), (), ())


def test_tasks_only_in_one():
    before = decision("one-001", "basil", CHOICES, SCORES)
    after = decision("one-001", "mint", CHOICES, SCORES)
    changes = compared([before], [after])
    assert (changes.removed, changes.added, changes.same) == (("one-001",), ("one-001",), 0)


def test_a_shift_and_a_flip_are_worked_out():
    before = decision("one-001", "basil", CHOICES, SCORES)
    moved = [s + 2 if s < 10_000 else 0 for s in SCORES]
    moved[-1] = 10_000
    change = compared([before], [decision("one-001", "basil", CHOICES, moved)]).changed[0]
    # 54 scores move by 2, the best by 10,000, the last from 54 to 10,000: 20,054 of 56
    assert change.shift_bps == round((54 * 2 + 10_000 + 10_000 - 54) / 56)
    assert change.flipped
    assert change.correlation_ppb == pytest.approx(spearmanr(SCORES, moved)[0] * 1e9, abs=1)


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlation_is_spearmans_with_ties(seed):
    draw = random.Random(seed)
    one, other = ([draw.randrange(9) for _ in range(56)] for _ in range(2))
    assert rank_correlation_nano(one, other) == pytest.approx(spearmanr(one, other)[0] * 1e9, abs=1)


def test_the_last_digit_of_a_rank_correlation_is_exact():
    one, other = [3, 1, 4, 7], [7, 6, 6, 7]  # 1 / sqrt(5) = 0.447213595 4999...
    assert rank_correlation_nano(one, other) == 447_213_595


def test_a_flat_map_has_no_rank_correlation():
    assert rank_correlation_nano([1] * 56, list(range(56))) is None
    assert rank_correlation_nano(list(range(56)), list(range(56))) == 10**9


def test_touched_tasks_hold_a_touched_ingredient():
    before = [decision("one-001", "basil", CHOICES, SCORES),
              decision("one-002", "mint", CHOICES, SCORES)]  # fmt: skip
    assert compared(before, before, {"mint"}).touched == ("one-002",)
    assert compared(before, before, {"herb_c"}).touched == ("one-001", "one-002")


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    """Tasks of all four families of the starter, and the release that they are of."""

    def every_family(parameters):
        parameters["freeze"]["families"] = [family.value for family in Family]

    workspace = mini_workspace(tmp_path_factory.mktemp("frozen"), every_family)
    for table in build_release(workspace):
        workspace = workspace.holding(workspace.artifact("release", table.header.table), table)
    from schemas.release import Direction, Ingredient

    tasks = build(workspace)[0].rows()
    return (
        tasks,
        workspace.read("release", Ingredient).rows(),
        workspace.read("release", Direction).rows(),
    )


def test_a_task_rescored_under_its_own_release_keeps_its_map(frozen):
    tasks, ingredients, directions = frozen
    maps = rescore(ingredients, directions, tasks)
    assert {task.family for task in tasks} == set(Family)
    assert [found.scores_bps for found in maps] == [task.scores_bps for task in tasks]
    for task, found in zip(tasks, maps, strict=True):
        assert all(s == 0 for s, ok in zip(task.scores_bps, found.feasible, strict=True) if not ok)
        assert all(found.feasible) == (task.family in {Family.SUBSTITUTION, Family.PAIRING})


def test_a_task_whose_ingredient_is_gone_has_no_map(frozen):
    tasks, ingredients, directions = frozen
    for gone in (tasks[0].anchor, tasks[0].choices[5]):
        maps = rescore([i for i in ingredients if i.name != gone], directions, tasks)
        assert maps[0] is None
        assert any(found is not None for found in maps)


def test_a_cultural_task_without_directions_has_no_map(frozen):
    tasks, ingredients, _ = frozen
    maps = rescore(ingredients, (), tasks)
    assert {task.family for task, found in zip(tasks, maps, strict=True) if found is None} == {
        Family.CULTURAL
    }


def test_a_release_that_knows_no_ingredient_scores_nothing(frozen):
    tasks, _, directions = frozen
    other = content(ingredient("moon_dust", (1, 0)))
    assert rescore(other.ingredients, directions, tasks) == (None,) * len(tasks)


def test_a_stricter_tag_changes_which_portfolios_are_feasible(frozen):
    tasks, ingredients, directions = frozen
    task = next(t for t in tasks if t.family is Family.CONSTRAINT)
    own = rescore(ingredients, directions, [task])[0]
    kept = {label for p, ok in zip(PORTFOLIOS, own.feasible, strict=True) if ok for label in p}
    valid = next(n for label, n in zip(LABELS, task.choices, strict=True) if label in kept)
    spoilt = [
        i.model_copy(update={"vegan": False, "vegetarian": False}) if i.name == valid else i
        for i in ingredients
    ]
    found = rescore(spoilt, directions, [task])[0]
    if found is not None:
        assert sum(found.feasible) < sum(own.feasible)
    else:
        assert sum(own.feasible) <= 6  # fewer than four are left
