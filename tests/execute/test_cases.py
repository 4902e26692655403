"""Faults that people reported of systems like this one, as they were written down."""

from __future__ import annotations

import json

import pytest

from pipeline.answer import answer_text
from pipeline.asking.routes import find_route
from pipeline.execute import stage
from pipeline.portfolio import PORTFOLIO
from tests.execute.provider import Provider, good, reply
from tests.execute.small import attempts_of, make_workspace, openai_route
from tests.shared import SHARED, needs_shared

ENDINGS = {
    "FB-012": ("truncated", 1, None),
    "FB-013": ("ok", 1, "FINAL_SELECTION: A, C, F"),
    "FB-014": ("rate_limited", 3, None),
    "FB-016": ("transient", 3, None),
    "FB-018": ("quota", 1, None),
    "FB-020": ("model_mismatch", 1, "FINAL_SELECTION: A, C, F"),
    "FB-021": ("truncated_body", 3, None),
}
"""Outcome, requests at the server for one cell, answer text of what is stored."""


def cases():
    path = SHARED / "cases" / "cases.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    # one that is told in words alone is played among the replies of other vendors
    told = {case["id"]: case["input"] for case in found if case["area"] == "http"}
    return {name: given for name, given in told.items() if isinstance(given, dict)}


def bytes_of(case):
    if "body_hex" in case:
        return bytes.fromhex(case["body_hex"])
    return case["body"].encode() if "body" in case else json.dumps(case["json"]).encode()


def act_of(case):
    headers = dict(case.get("headers", {}))
    kind = headers.pop("content-type", "application/json")
    length = headers.pop("content-length", None)
    return reply(case["status"], bytes_of(case), headers=headers, length=length, kind=kind)


def play(tmp_path, case, tasks=1):
    with Provider(lambda _: act_of(case)) as provider:
        model = case.get("requested_model", "m-1")
        route = openai_route(provider, model=model, limits={"concurrency": 1})
        workspace = make_workspace(tmp_path, tasks, {"m": route})
        (filled,) = stage.fill(workspace, ["m"])
        return workspace, provider, filled, *attempts_of(workspace)


@needs_shared
def test_every_case_is_played():
    assert set(cases()) == set(ENDINGS)


@needs_shared
@pytest.mark.parametrize("name", ENDINGS)
def test_a_case_ends_as_it_should(tmp_path, name):
    case, (outcome, requests, answer) = cases()[name], ENDINGS[name]
    _, provider, _, tried, stored = play(tmp_path, case)
    assert len(provider.prompts) == requests
    assert [row.outcome for row in tried] == [outcome] * requests
    raw = bytes_of(case)
    assert {row.raw for row in stored.values()} | {r.raw for r in tried if not r.stored} == {raw}
    if answer is not None:
        (row,) = stored.values()
        assert answer_text(row.raw, row.form, "message") == answer


@needs_shared
def test_fb_016_the_same_page_with_status_200_says_to_check_base_url(tmp_path):
    case = cases()["FB-016"] | {"status": 200}
    _, provider, _, tried, _ = play(tmp_path, case)
    assert [row.outcome for row in tried] == ["not_json"] * len(provider.prompts)
    assert "base_url" in tried[0].detail


@needs_shared
def test_fb_018_a_rerun_goes_on(tmp_path):
    workspace, provider, filled, _, _ = play(tmp_path, cases()["FB-018"], tasks=6)
    assert (len(provider.prompts), filled.problem.exit_code) == (1, 3)
    assert "run again to go on" in str(filled.problem)
    with Provider(good, port=provider.port) as again:
        stage.run(workspace, "m")
    assert len(again.prompts) == 6


@needs_shared
def test_fb_020_both_ids_are_stored_and_the_cell_is_not_scored(tmp_path):
    workspace, _, _, tried, stored = play(tmp_path, cases()["FB-020"])
    assert tried[0].returned_model == "vendor/large-9"
    found = find_route(PORTFOLIO, workspace.parameters, "m")
    assert '"model":"vendor/small-1"' in found.document
    assert {row.outcome for row in stored.values()} == {"model_mismatch"}
