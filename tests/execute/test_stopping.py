"""What a run says of its failures, of this run and in all, and how a second signal ends it."""

from __future__ import annotations

import json
import signal
import time

import pytest

from pipeline.execute import stage
from tests.execute.provider import Act, Provider, completion, good, reply
from tests.execute.small import attempts_of, make_workspace, openai_route, run_cli, start

TEXT = "FINAL_SELECTION: A, C, F"


@pytest.mark.parametrize(
    ("act", "reason", "code"),
    [
        (reply(503), "transient", 3),
        (reply(200, b"data: {}\n\n", kind="text/event-stream"), "not_json", 3),
        (Act(close=True), "transient", 3),
        (reply(401), "configuration", 3),
        (reply(body=completion(TEXT, finish="SAFETY")), "filtered", 3),
        (reply(body=completion(TEXT, model="m-9")), "model_mismatch", 3),
        (reply(body=completion(TEXT, finish="odd_word")), "unknown_finish", 3),
    ],
)
def test_fb_050_a_smoke_run_without_an_answer_says_why(tmp_path, act, reason, code):
    with Provider(lambda _: act) as provider:
        make_workspace(tmp_path, 9, {"m": openai_route(provider)})
        ended = run_cli("execute", "m", "--limit", "3", "-w", tmp_path)
    assert ended.returncode == code
    assert reason in ended.stdout.split("This run")[1]
    assert "m: route m: expected" in ended.stdout


def test_fb_050_where_nobody_is(tmp_path):
    make_workspace(tmp_path, 9, {"m": openai_route("http://127.0.0.1:9/v1")})
    ended = run_cli("execute", "m", "--limit", "1", "-w", tmp_path)
    assert ended.returncode == 3
    assert "1 cells left open (1 transient)" in ended.stdout


def test_a_smoke_run_with_an_answer_is_good(tmp_path):
    def behave(call):
        return (
            good(call) if len(provider.prompts) > 1 else reply(body=completion("", finish="safety"))
        )

    with Provider(behave) as provider:
        make_workspace(tmp_path, 9, {"m": openai_route(provider)})
        ended = run_cli("execute", "m", "--limit", "3", "-w", tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_failures_are_told_by_reason_this_run_and_in_all_apart(tmp_path):
    def behave(call):
        number = int(call.prompt[9:-1])
        finishes = {1: "SAFETY", 2: "MAX_TOKENS", 3: "odd"}
        return reply(body=completion(TEXT, finish=finishes.get(number, "stop")))

    with Provider(behave) as provider:
        route = openai_route(provider)
        stage.run(make_workspace(tmp_path, 2, {"m": route}), "m")
        place = make_workspace(tmp_path, 6, {"m": route})
        ended = run_cli("execute", "m", "--limit", "9", "--json", "-w", tmp_path)
        summary = stage.run(make_workspace(tmp_path, 7, {"m": route}), "m")
        shown = run_cli("execute", "m", "--limit", "9", "-w", tmp_path).stdout
    (one,) = json.loads(ended.stdout)["routes"]
    assert one["counts"]["stored"] == {"ok": 3, "unknown_finish": 1}
    assert one["counts"]["stored_in_all"] == {
        "filtered": 1, "ok": 3, "truncated": 1, "unknown_finish": 1,
    }  # fmt: skip
    assert one["counts"]["this_run"]["attempts"] == 4
    assert one["counts"]["attempts"] == 6
    assert "1 asked now, 7 stored in all (1 filtered, 1 truncated, 1 unknown_finish); " in (
        summary.headline
    )
    assert "1 attempts, spent $0.0008; in all 7 attempts, spent $0.0060" in summary.headline
    assert max(map(len, shown.splitlines())) <= 100
    reasons = {tuple(line.split()) for line in shown.split("Reasons")[1].splitlines()}
    assert {("m", "filtered", "0", "1"), ("m", "truncated", "0", "1")} <= reasons
    assert place.ledger("m").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [("m",), ("--all",), ("m", "--limit", "4")])
def test_a_second_signal_cancels_what_is_under_way(tmp_path, number, words):
    with Provider(lambda call: good(call)._replace(pause=300)) as provider:
        limits = {"timeout_ms": 300_000, "concurrency": 3}
        place = make_workspace(tmp_path, 9, {"m": openai_route(provider, limits=limits)})
        with start("execute", *words, "-w", tmp_path) as process:
            while len(provider.prompts) < 3:
                time.sleep(0.01)
            process.send_signal(number)
            time.sleep(0.5)
            assert process.poll() is None
            process.send_signal(number)
            output, errors = process.communicate(timeout=30)
        assert process.returncode == 3
        assert "Run the same command to go on" in output + errors
        assert "Traceback" not in errors
        tried, stored = attempts_of(place)
        assert [row.outcome for row in tried] == ["lost"] * 3
        assert all(row.reserve_micros and row.cost_micros is None for row in tried)
        assert stored == {}
        provider.behave = good
        stage.run(place, "m")
    assert sorted(provider.times.values()) == [1] * 6 + [2] * 3


def test_a_second_signal_keeps_what_came_in_time(tmp_path):
    def behave(call):
        return good(call) if call.prompt != "Question 2?" else good(call)._replace(pause=300)

    with Provider(behave) as provider:
        place = make_workspace(tmp_path, 3, {"m": openai_route(provider)})
        with start("execute", "m", "-w", tmp_path) as process:
            while len(provider.prompts) < 3 or provider.under_way > 1:
                time.sleep(0.01)
            time.sleep(0.5)
            for _ in range(4):
                process.send_signal(signal.SIGINT)
                time.sleep(0.1)
            process.communicate(timeout=30)
        tried, stored = attempts_of(place)
    assert sorted(stored) == ["t-001", "t-003"]
    assert [row.outcome for row in tried] == ["ok", "lost", "ok"]
