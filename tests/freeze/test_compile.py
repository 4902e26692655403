import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.freeze import compile_tasks
from schemas.taskset import Family
from tests.freeze.small import parameters, release


@pytest.fixture(scope="module")
def tasks():
    return compile_tasks(*release(), parameters())


def test_every_panel_family_and_stratum_has_its_quota(tasks):
    cells = Counter((task.panel, task.family, task.stratum) for task in tasks)
    assert len(cells) == 2 * 4 * 4
    assert set(cells.values()) == {2}


def test_tasks_come_by_panel_family_and_id(tasks):
    keys = [(task.panel, list(Family).index(task.family), task.task_id) for task in tasks]
    assert keys == sorted(keys)
    assert tasks[0].task_id == "one-substitution-001"
    assert tasks[-1].task_id == "two-cultural_composition-008"


def test_the_second_panel_takes_other_anchors_while_there_are_any(tasks):
    first, second = ({t.anchor for t in tasks if t.panel == name} for name in ("first", "second"))
    assert len(first) == len(second) == 32
    assert not first & second


def test_only_the_family_fields_are_filled(tasks):
    for task in tasks:
        assert (task.variant is not None) == (task.family == Family.CONSTRAINT)
        assert (task.region is not None) == (task.family == Family.CULTURAL)


def test_excluded_names_are_neither_anchors_nor_candidates():
    free = compile_tasks(*release(), parameters(excluded_anchors=()))
    seen = sorted({name for task in free for name in (task.anchor, *task.choices)})
    barred = tuple(seen[:5])
    for task in compile_tasks(*release(), parameters(excluded_anchors=barred)):
        assert not {task.anchor, *task.choices} & set(barred)


def test_families_are_compiled_in_one_order_whatever_the_parameters_say(tasks):
    turned = parameters(families=tuple(reversed(Family)))
    assert compile_tasks(*release(), turned) == tasks


def test_a_family_may_be_left_out_and_needs_no_directions_then():
    families = (Family.SUBSTITUTION, Family.PAIRING)
    found = compile_tasks(release()[0], (), parameters(families=families))
    assert {task.family for task in found} == set(families)


def test_missing_directions_are_named():
    ingredients, directions = release()
    with pytest.raises(InputError, match="found none for Japanese, East_Asian"):
        compile_tasks(ingredients, directions[2:], parameters())


def test_directions_of_another_space_are_refused():
    with pytest.raises(InputError, match="directions: expected 8 dimensions"):
        compile_tasks(release()[0], release(dimensions=9)[1], parameters())


@pytest.mark.parametrize("size", [1, 2, 9, 30])
def test_a_release_too_small_is_a_clear_error(size):
    ingredients, directions = release(size=size)
    with pytest.raises(InputError, match=r"panel first, family substitution, stratum 1: expected"):
        compile_tasks(ingredients, directions, parameters(excluded_anchors=()))


@pytest.mark.parametrize("family", Family)
def test_each_family_of_a_tiny_release_is_empty_without_a_warning(family):
    ingredients, directions = release(size=3)
    rules = {
        Family.SUBSTITUTION: "with 12 others of a category that goes with it",
        Family.PAIRING: "with 16 others of a category that goes with it",
        Family.CONSTRAINT: "with 4 in the pool that keep its limits",
        Family.CULTURAL: "with 4 categories in the pool",
    }
    said = f"found 0: none is left {rules[family]}. Left by each rule: 3 in the release, .*leave "
    with pytest.raises(InputError, match=f"{said}{family} out of freeze.families"):
        compile_tasks(ingredients, directions, parameters(families=(family,), excluded_anchors=()))


def test_progress_ends_at_its_total():
    told = []
    compile_tasks(*release(), parameters(), lambda done, total: told.append((done, total)))
    assert told == [(i, 4) for i in range(1, 5)]


def test_identical_vectors_tie_by_name():
    ingredients, directions = release()
    same = [one.model_copy(update={"vector": ingredients[0].vector}) for one in ingredients[:60]]
    mixed = same + ingredients[60:]
    expected = compile_tasks(mixed, directions, parameters())
    assert compile_tasks(mixed[::-1], directions, parameters()) == expected


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_properties_of_any_release(seed, shuffle: random.Random):
    ingredients, directions = release(seed)
    try:
        tasks = compile_tasks(ingredients, directions, parameters())
    except InputError as error:
        assert "a quota of 2 anchors" in str(error)  # noqa: PT017
        return
    by_name = {one.name: one for one in ingredients}
    for task in tasks:
        assert len(set(task.choices)) == 8
        assert all(0 <= score <= 10_000 for score in task.scores_bps)
        assert task.scores_bps.count(10_000) == 1
        assert by_name[task.anchor].category == task.category
        for name in task.choices:
            assert not set(name.split("_")) & set(task.anchor.split("_"))
    for panel in ("first", "second"):
        anchors = [task.anchor for task in tasks if task.panel == panel]
        assert len(set(anchors)) == len(anchors)
    shuffle.shuffle(ingredients)
    shuffle.shuffle(directions)
    assert compile_tasks(ingredients, directions, parameters()) == tasks
