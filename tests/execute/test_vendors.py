"""Replies that other vendors give, through a real server: one cell ends, the others are asked."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.answer import answer_text
from pipeline.asking.adapter import Exchange, Reply, response_of
from pipeline.asking.ledger import Sending, Settled, open_ledger
from pipeline.asking.line import attempt_of
from pipeline.execute import stage
from schemas.execution import Outcome
from tests.execute.provider import Provider, completion, good, reply
from tests.execute.small import attempts_of, make_request, make_workspace, openai_route

TEXT = "FINAL_SELECTION: A, C, F"


def play(tmp_path, act, tasks=4, **route):
    """A route whose second task is answered by an act, all others well."""

    def behave(call):
        return act if call.prompt == "Question 2?" else good(call)

    with Provider(behave) as provider:
        place = make_workspace(tmp_path, tasks, {"m": openai_route(provider, **route)})
        (filled,) = stage.fill(place, ["m"])
        return provider, filled, *attempts_of(place)


def declined(message, **error):
    return reply(400, {"error": {"message": message} | error})


def twice(key, value):
    return (json.dumps(completion(TEXT))[:-1] + f", {json.dumps({key: value})[1:]}").encode()


def ended(**choice):
    body = completion(TEXT)
    del body["choices"][0]["finish_reason"]
    body["choices"][0] |= choice
    return body


@pytest.mark.parametrize(
    ("act", "outcome"),
    [
        (reply(400, {"error": {"code": "data_inspection_failed"}}), "filtered"),
        (reply(400, completion("", finish="content_filter")), "filtered"),
        (reply(body=completion(None, finish="RECITATION")), "filtered"),
        (reply(body=completion(TEXT, finish="MAX_TOKENS")), "truncated"),
        (reply(body=completion(TEXT, finish="halted_by_moon")), "unknown_finish"),
        (declined("blocked: PROHIBITED_CONTENT", status="INVALID_ARGUMENT"), "filtered"),
        (declined("gate.ContentPolicyViolationError: no"), "refused"),
        (declined("no", code="prompt_injection"), "filtered"),
        (reply(body=ended(finishReason="MAX_TOKENS")), "truncated"),
        (reply(body=ended(stop_reason="max_tokens", finish_reason=None)), "truncated"),
        (reply(body=ended(stopReason="guardrail_intervened")), "filtered"),
        (reply(body=ended(finish_reason="stop", nativeFinishReason="SAFETY")), "filtered"),
        (reply(body=ended(finish_reason="stop", stop_reason=128009)), "ok"),
        (reply(body=ended(finish_reason="stop", stop_reason="\\n\\n")), "ok"),
        (reply(body=completion(TEXT, error={"code": 0, "message": ""})), "ok"),
        (reply(body=completion(TEXT, id="\ud800", system_fingerprint="\udfff")), "ok"),
        (reply(body=completion(f"\ud83d {TEXT}")), "ok"),
        (reply(body=twice("usage", {"prompt_tokens": 1})), "ok"),
        (reply(body=twice("id", "x1")), "ok"),
        (reply(body=twice("model", "m-2")), "model_mismatch"),
        (reply(body=b"\xef\xbb\xbf" + json.dumps(completion(TEXT)).encode()), "ok"),
    ],
)
def test_one_odd_cell_ends_under_its_name_and_the_others_are_asked(tmp_path, act, outcome):
    provider, filled, tried, stored = play(tmp_path, act)
    assert filled.problem is None
    assert len(provider.prompts) == 4
    assert {name: row.outcome for name, row in stored.items()} == {
        "t-001": "ok", "t-002": outcome, "t-003": "ok", "t-004": "ok",
    }  # fmt: skip
    (_, second, *_) = tried
    if outcome == "unknown_finish":
        assert "halted_by_moon" in second.detail


@pytest.mark.parametrize("status", [200, 400, 403, 413, 422, 451])
def test_a_question_declined_in_unknown_words_is_left_open_and_the_others_are_asked(
    tmp_path, status
):
    code = 400 if status == 200 else "lunar"
    odd = reply(status, {"error": {"message": "the moon is in the wrong house", "code": code}})
    quick = {"concurrency": 1}
    provider, filled, _, stored = play(tmp_path, odd, limits=quick)
    assert len(provider.prompts) == 4
    assert "1 cells left open (1 configuration)" in str(filled.problem)
    assert sorted(stored) == ["t-001", "t-003", "t-004"]
    with Provider(lambda _: odd, port=provider.port) as again:
        place = make_workspace(tmp_path, 4, {"m": openai_route(provider, limits=quick)})
        (filled,) = stage.fill(place, ["m"], stage.Wish(give_up=True))
    assert (filled.problem, len(again.prompts)) == (None, 1)
    assert attempts_of(place)[1]["t-002"].outcome == "configuration"


def test_a_route_that_answered_once_and_declines_all_since_then_stops(tmp_path):
    def behave(call):
        return good(call) if call.prompt == "Question 1?" else declined("lunar")

    with Provider(behave) as provider:
        route = openai_route(provider, limits={"concurrency": 1})
        (filled,) = stage.fill(make_workspace(tmp_path, 20, {"m": route}), ["m"])
    assert len(provider.prompts) == 6
    assert "lunar" in str(filled.problem)


def test_a_route_whose_every_finish_is_unknown_stops(tmp_path):
    act = reply(body=completion(TEXT, finish="halted_by_moon"))
    with Provider(lambda _: act) as provider:
        route = openai_route(provider, limits={"concurrency": 1})
        (filled,) = stage.fill(make_workspace(tmp_path, 20, {"m": route}), ["m"])
    assert len(provider.prompts) == 5
    assert "halted_by_moon" in str(filled.problem)


def used(**usage):
    return {"prompt_tokens": 210, "completion_tokens": 64} | usage


USAGES = {
    "2**63": used(prompt_tokens=2**63),
    "2**53": used(completion_tokens=2**53 - 1),
    "digits": used(prompt_tokens=10**299),
    "negative": used(prompt_tokens=-1),
    "float": used(prompt_tokens=210.5),
    "text": used(prompt_tokens="210"),
    "nested": used(prompt_tokens={"a": [1, [2]]}),
    "boolean": used(prompt_tokens=True),
    "cost": used(cost=9e15),
    "cost-integer": used(cost=2**53 - 1),
    "cost-negative": used(cost=-3),
    "cost-text": used(cost="1"),
    "list": [1, 2],
    "word": "many",
    "nan": used(prompt_tokens=float("nan")),
    "infinite": used(cost=float("inf")),
}


@pytest.mark.parametrize("name", USAGES)
def test_an_odd_usage_is_unknown_and_the_answer_stays(tmp_path, name):
    act = reply(body=json.dumps(completion(TEXT, usage=USAGES[name])).encode())
    provider, filled, tried, stored = play(tmp_path, act)
    assert (filled.problem, len(provider.prompts)) == (None, 4)
    assert stored["t-002"].outcome == "ok"
    assert answer_text(stored["t-002"].raw, "chat", "message") == TEXT
    assert tried[1].stored
    if not name.startswith("cost-") or name == "cost-integer":
        assert tried[1].cost_micros is None or name in {"cost", "infinite", "cost-integer"}


@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5000, "1e999", "-Infinity"])
def test_a_number_that_nobody_can_read_does_not_cost_the_answer(tmp_path, digits):
    body = json.dumps(completion(TEXT, usage={"prompt_tokens": 0})).replace(": 0}", f": {digits}}}")
    _, filled, tried, stored = play(tmp_path, reply(body=body.encode()))
    assert filled.problem is None
    assert answer_text(stored["t-002"].raw, "chat", "message") == TEXT
    assert tried[1].prompt_tokens is None


def test_long_ids_and_headers_do_not_cost_the_answer(tmp_path):
    body = completion(TEXT, id="i" * 10_000, system_fingerprint="f" * 10_000)
    headers = {"X-Request-Id": "r" * 10_000, "Date": "x" * 5000, "Retry-After": "9" * 5000}
    _, filled, tried, stored = play(tmp_path, reply(body=body, headers=headers))
    assert (filled.problem, stored["t-002"].outcome) == (None, "ok")
    assert len(tried[1].request_id) <= 500


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=600),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
FIELDS = {name: ODD for name in Exchange._fields if name != "retry_after_ms"}
SURROGATES = st.text(st.characters(categories=["Cs", "Lu"]), max_size=3)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.fixed_dictionaries(FIELDS | {"detail": ODD | SURROGATES, "request_id": ODD | SURROGATES}))
def test_whatever_an_exchange_holds_its_answer_can_be_stored(tmp_path, fields):
    with open_ledger(tmp_path / "l.sqlite") as ledger:
        request = make_request()
        answer = Reply(Outcome.OK, "chat", b"{}", Exchange(**fields))
        number = ledger.tries().get(request.key, 0) + 1
        sending = Sending(request.key, number, request.route_digest, request.question.id, 1, None)
        ledger.commit([sending])
        attempt = attempt_of(sending, answer, stored=True)
        ledger.commit([Settled(attempt, response_of(request, answer))])
        assert ledger.attempts()
        assert ledger.totals(request.route_digest).attempts == number


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25
)
@given(usage=ODD, id=ODD, finish=st.none() | st.just("stop"), extra=ODD)
def test_any_body_with_an_answer_gives_a_stored_answer(tmp_path, usage, id, finish, extra):  # noqa: A002
    body = completion(TEXT, finish=finish, usage=usage, id=id, system_fingerprint=extra)
    with Provider(lambda _: reply(body=json.dumps(body).encode())) as provider:
        root = tmp_path / str(provider.port)
        place = make_workspace(root, 1, {"m": openai_route(provider)})
        (filled,) = stage.fill(place, ["m"])
        assert filled.problem is None
        assert filled.tally.stored == {"ok": 1}
        place.ledger("m").unlink()
