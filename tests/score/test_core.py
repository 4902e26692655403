"""The common core: worked example, published order, golden cores, and every way it can fail."""

from __future__ import annotations

import gzip
import hashlib
import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.parse import read_selection
from pipeline.score.core import CoreEntry, Stratum, check_plan, choose_core, core_order
from schemas.taskset import CONTRACTS
from tests.shared import SHARED, needs_shared

PUBLISHED_CONTEXT = "flavourbench-all-model-complete-common-core-v1"
STRATUM = Stratum("panel_1", "pairing")


def test_order_is_by_sha256_of_context_panel_family_and_task() -> None:
    ids = ["t-001", "t-002", "t-003", "t-004"]
    by_hand = sorted(
        ids, key=lambda i: hashlib.sha256(b"ctx\0panel_1\0pairing\0" + i.encode()).hexdigest()
    )
    assert core_order("ctx", STRATUM, ids) == by_hand
    assert core_order("ctx", STRATUM, reversed(ids)) == by_hand


def test_takes_the_first_tasks_that_are_valid_for_every_route() -> None:
    ids = [f"t-{i:03}" for i in range(6)]
    first, second, third = core_order("ctx", STRATUM, ids)[:3]
    valid = {"a": frozenset(ids) - {first}, "b": frozenset(ids) - {third}}
    choice = choose_core({STRATUM: ids}, valid, "ctx", 2)
    fourth = core_order("ctx", STRATUM, ids)[3]
    assert choice.entries == (CoreEntry(STRATUM, 0, second), CoreEntry(STRATUM, 1, fourth))
    assert choice.eligible == {STRATUM: 4}


def test_without_a_size_every_stratum_gives_as_many_as_the_smallest_has() -> None:
    other = Stratum("panel_2", "pairing")
    strata = {STRATUM: ["a", "b", "c"], other: ["x", "y"]}
    valid = {"r": frozenset("abcx")}
    choice = choose_core(strata, valid, "ctx", None)
    assert [entry.stratum for entry in choice.entries] == [STRATUM, other]
    assert choice.eligible == {STRATUM: 3, other: 1}


@pytest.mark.parametrize(
    ("valid", "size", "says"),
    [
        ({}, None, "at least one ranked route, found none"),
        ({"r": frozenset()}, None, "expected 1 tasks that every ranked route answered validly"),
        ({"r": frozenset("a"), "s": frozenset("b")}, None, "found 0 of 2"),
        ({"r": frozenset("ab"), "slow": frozenset("a")}, 2, "slow lacks 1 of them"),
        ({"r": frozenset("ab")}, 3, "found 2 of 2. The panel has no more"),
    ],
)
def test_a_core_that_cannot_be_filled_is_refused(
    valid: dict[str, frozenset[str]], size: int | None, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        choose_core({STRATUM: ["a", "b"]}, valid, "ctx", size)


def test_the_rule_cannot_see_scores_or_selections() -> None:
    assert set(inspect.signature(choose_core).parameters) == {"strata", "valid", "context", "size"}


@given(st.permutations(["r", "s", "t"]), st.permutations([f"t-{i}" for i in range(8)]))
def test_order_of_routes_and_tasks_changes_nothing(routes: list[str], ids: list[str]) -> None:
    validity = {"r": frozenset(ids[:7]), "s": frozenset(ids[1:]), "t": frozenset(ids)}
    valid = {route: validity[route] for route in routes}
    assert choose_core({STRATUM: ids}, valid, "ctx", 3) == choose_core(
        {STRATUM: sorted(ids)}, validity, "ctx", 3
    )


def test_a_plan_is_taken_as_it_stands() -> None:
    planned = [CoreEntry(STRATUM, 0, "b"), CoreEntry(STRATUM, 1, "a")]
    choice = check_plan(planned, {STRATUM: ["a", "b", "c"]}, {"r": frozenset("abc")})
    assert choice.entries == tuple(planned)


@pytest.mark.parametrize(
    ("valid", "task", "says"),
    [
        ({"r": frozenset("ab")}, "z", "planned tasks among the frozen tasks"),
        ({"r": frozenset("ab"), "s": frozenset("b")}, "a", "found none of s to a"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(
    valid: dict[str, frozenset[str]], task: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        check_plan([CoreEntry(STRATUM, 0, task)], {STRATUM: ["a", "b"]}, valid)


@needs_shared
def test_golden_responses_give_the_golden_core() -> None:
    choices = {}
    for panel in (1, 2):
        path = SHARED / "official" / f"taskset-panel-{panel}.json"
        for task in json.loads(path.read_text(encoding="utf-8"))["tasks"]:
            choices[task["task_id"]] = tuple(task["choices"].values())
    strata: dict[Stratum, set[str]] = {}
    valid: dict[str, set[str]] = {}
    with gzip.open(SHARED / "golden" / "core-responses.jsonl.gz", "rt", encoding="utf-8") as lines:
        for cell in map(json.loads, lines):
            task = cell["task_id"]
            family = task.rsplit("-", 1)[0].removeprefix("fb-executable-").removeprefix("rep2-")
            strata.setdefault(Stratum(cell["panel"], family), set()).add(task)
            found = valid.setdefault(cell["model"], set())
            if cell["status"] == "completed":
                contract = CONTRACTS["selection-set-v3"]
                if read_selection(cell["answer"], choices[task], contract).selection:
                    found.add(task)
    choice = choose_core(
        {stratum: sorted(ids) for stratum, ids in strata.items()},
        {model: frozenset(ids) for model, ids in valid.items()},
        PUBLISHED_CONTEXT,
        40,
    )
    golden = json.loads((SHARED / "golden" / "core-expected.json").read_text(encoding="utf-8"))
    assert len(golden) == len(strata) == 6
    for stratum in strata:
        expected = golden[f"{stratum.panel}/{stratum.family}"]
        assert choice.eligible[stratum] == expected["eligible"]
        assert [e.task_id for e in choice.entries if e.stratum == stratum] == expected["first_40"]


@needs_shared
def test_published_plan_is_in_the_order_of_the_rule() -> None:
    plan = json.loads((SHARED / "official" / "analysis-plan.json").read_text(encoding="utf-8"))
    count = 0
    for panel, part in plan["common_core"]["panels"].items():
        for family, ids in part["selected_task_ids_by_family"].items():
            assert core_order(PUBLISHED_CONTEXT, Stratum(panel, family), ids) == ids
            count += len(ids)
    assert count == 534
