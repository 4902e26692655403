"""`routes check` with a cap, and with answers that are already here."""

from __future__ import annotations

import json

import pytest

from pipeline.execute import stage
from tests.execute.provider import Provider, completion, good, reply
from tests.execute.small import make_workspace, openai_route, run_cli

MOST = 10_075
COST = 850


def listed(call):
    return good(call) if call.prompt else reply(body={"data": [{"id": "m-1"}]})


def check(root):
    ended = run_cli("routes", "check", "--json", "-w", root)
    (one,) = json.loads(ended.stdout)["routes"]
    return ended.returncode, one


@pytest.mark.parametrize(
    ("cap", "code"), [("0", 1), ("0.0001", 1), ("0.0302", 1), ("0.040300", 0), ("5", 0)]
)
def test_a_cap_that_cannot_pay_one_pass_is_not_ready(tmp_path, cap, code):
    with Provider(listed) as provider:
        make_workspace(tmp_path, 4, {"m": openai_route(provider, spend_cap_usd=cap)})
        ended, one = check(tmp_path)
        shown = run_cli("routes", "check", "-w", tmp_path).stdout
    assert (ended, one["ready"]) == (code, code == 0)
    assert (one["once_micros"], one["likely_micros"]) == (4 * MOST, None)
    assert ("m: spend_cap_usd leaves" in shown) == (code == 1)
    assert ("Not ready: m" in shown) == (code == 1)
    assert provider.prompts == []


@pytest.mark.parametrize("sealed", [True, False])
def test_answers_that_are_here_give_an_estimate_beside_the_bound(tmp_path, sealed):
    with Provider(listed) as provider:
        route = openai_route(provider, spend_cap_usd="0.02")
        place = make_workspace(tmp_path, 2, {"m": route})
        stage.run(place, "m")
        if sealed:
            place.ledger("m").unlink()
        make_workspace(tmp_path, 12, {"m": route})
        code, one = check(tmp_path)
        shown = run_cli("routes", "check", "-w", tmp_path).stdout
    assert (one["missing"], one["likely_micros"]) == (10, 10 * COST)
    assert one["once_micros"] > 10 * MOST - 100
    assert one["left_micros"] == 20_000 - 2 * COST
    assert one["most_micros"] == one["left_micros"]
    assert code == 0
    assert "$0.0085" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_what_is_spent_is_no_longer_there(tmp_path):
    with Provider(listed) as provider:
        route = openai_route(provider, spend_cap_usd="0.0120")
        stage.fill(make_workspace(tmp_path, 4, {"m": route}), ["m"], stage.Wish(limit=3))
        make_workspace(tmp_path, 40, {"m": route})
        code, one = check(tmp_path)
    assert code == 1
    assert one["left_micros"] == 12_000 - 3 * COST < one["likely_micros"]


def test_an_answer_without_usage_gives_no_estimate(tmp_path):
    def behave(call):
        return reply(body=completion("A", usage=None)) if call.prompt else listed(call)

    with Provider(behave) as provider:
        route = openai_route(provider)
        stage.fill(make_workspace(tmp_path, 4, {"m": route}), ["m"], stage.Wish(limit=1))
        code, one = check(tmp_path)
    assert (code, one["likely_micros"], one["left_micros"]) == (0, None, None)


def test_with_nothing_left_to_ask_a_used_up_cap_is_no_fault(tmp_path):
    with Provider(listed) as provider:
        route = openai_route(provider, spend_cap_usd="1")
        stage.run(make_workspace(tmp_path, 2, {"m": route}), "m")
        make_workspace(tmp_path, 2, {"m": route | {"spend_cap_usd": "0.0001"}})
        assert check(tmp_path)[0] == 0
