"""Every fault of a provider, played by a real server: outcome, requests that it saw, rows."""

from __future__ import annotations

import gzip
import json
import ssl

import pytest
import trustme

from pipeline.answer import answer_text
from pipeline.asking.openai import BODY_LIMIT
from pipeline.errors import ProviderError
from pipeline.execute import stage
from schemas.execution import Outcome, Rule
from tests.execute.provider import MODEL, Act, Provider, completion, good, reply
from tests.execute.small import attempts_of, make_workspace, openai_route

TEXT = "FINAL_SELECTION: A, C, F"
HTML = b"<html><head><title>502</title></head><body>bad gateway</body></html>"
HALF = json.dumps(completion("half")).encode()[:90] + b"\xc3"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def error(status, code=None, said="said", **headers):
    body = {"error": {"code": code, "message": said}}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return reply(status, body, headers=names)


def in_choice(code):
    return reply(body={"choices": [{"error": {"code": code, "message": "x"}}], "model": MODEL})


def packed(data, encoding="gzip"):
    return reply(body=data, headers={"Content-Encoding": encoding})


DUPLICATE = b'{"model":"m-1","choices":[],"choices":[]}'

# what the server does: outcome
STORED = {
    "ok": (reply(body=completion(TEXT)), "ok"),
    "null-content": (reply(body=completion(None)), "ok"),
    "empty-content": (reply(body=completion("")), "ok"),
    "control-characters": (reply(body=completion("\x00\x1b[31m\u202e" + TEXT)), "ok"),
    "other-content-type": (reply(body=completion(TEXT), kind="text/plain; charset=x"), "ok"),
    "no-finish-reason": (reply(body=completion(TEXT, finish=None)), "ok"),
    "null-error": (reply(body=completion(TEXT, error=None)), "ok"),
    "gzip": (packed(gzip.compress(json.dumps(completion(TEXT)).encode())), "ok"),
    "reset-after-body": (reply(body=completion(TEXT))._replace(reset=True), "ok"),
    "length": (reply(body=completion(TEXT, finish="length")), "truncated"),
    "filter": (reply(body=completion("", finish="content_filter")), "filtered"),
    "filter-status": (error(400, "content_filter"), "filtered"),
    "refusal": (reply(body=completion(None, message={"refusal": "No."})), "refused"),
    "policy-status": (error(400, "content_policy_violation"), "refused"),
    "moderation": (error(403, 403, "Your input was flagged"), "refused"),
    "other-model": (reply(body=completion(TEXT, model="m-9")), "model_mismatch"),
    "no-model": (reply(body=completion(TEXT, model=None)), "model_mismatch"),
    "10-megabytes": (reply(body=completion("x" * 10_000_000)), "body_too_large"),
    "gzip-bomb": (packed(gzip.compress(b" " * 200_000_000, 1)), "body_too_large"),
}
RETRIED = {
    "429": (error(429), "rate_limited"),
    "429-in-200": (error(200, 429), "rate_limited"),
    "429-as-text-in-200": (error(200, "429"), "rate_limited"),
    "429-in-choice": (in_choice(429), "rate_limited"),
    "429-date-past": (error(429, Retry_After="Sun, 06 Nov 1994 08:49:37 GMT"), "rate_limited"),
    "429-soft-quota": (error(429, 429, "You exceeded your current quota"), "rate_limited"),
    "500": (error(500), "transient"),
    "502-html": (reply(502, HTML, kind="text/html"), "transient"),
    "503": (reply(503), "transient"),
    "408": (error(408), "transient"),
    "500-in-200": (error(200, 500), "transient"),
    "html-in-200": (reply(200, HTML, kind="text/html"), "not_json"),
    "empty-200": (reply(200), "not_json"),
    "event-stream": (reply(200, b'data: {"a":1}\n\n', kind="text/event-stream"), "not_json"),
    "raw-control": (reply(body=b'{"choices":"\x00"}'), "not_json"),
    "latin-1": (reply(body=b'{"choices":"\xe9"}'), "not_json"),
    "list": (reply(body=[]), "malformed"),
    "no-choices": (reply(body={"model": MODEL}), "malformed"),
    "empty-choices": (reply(body={"model": MODEL, "choices": []}), "malformed"),
    "text-completion": (reply(body={"model": MODEL, "choices": [{"text": TEXT}]}), "malformed"),
    "duplicate-keys": (reply(body=DUPLICATE), "malformed"),
    "deep-nesting": (reply(body=b"[" * 5000 + b"]" * 5000), "malformed"),
    "nan": (reply(body=b'{"a": NaN}'), "malformed"),
    "unknown-error-in-200": (error(200, "strange"), "provider_error"),
    "text-error-in-200": (reply(body={"error": "gone"}), "provider_error"),
    "finish-error": (reply(body=completion("A", finish="error")), "provider_error"),
    "unknown-encoding": (packed(b"xx", "br"), "malformed"),
    "broken-gzip": (packed(b"xx"), "malformed"),
    "cut-gzip": (packed(gzip.compress(HALF * 50)[:-9]), "truncated_body"),
    "cut-body": (reply(body=HALF, length=900), "truncated_body"),
    "reset-in-body": (Act((HEAD + b"Content-Length: 900\r\n\r\n" + HALF,), reset=True), "cut"),
    "cut-chunks": (Act((HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{",), close=True), "cut"),
    "reset-before": (Act(reset=True), "transient"),
    "closed-before": (Act(close=True), "transient"),
    "no-http": (Act((b"SSH-2.0-x\r\n",), close=True), "transient"),
}
STOPPING = {
    "401": (error(401, "invalid_api_key"), "configuration"),
    "403": (error(403, "forbidden"), "configuration"),
    "404": (error(404, "model_not_found"), "configuration"),
    "400": (error(400, "unsupported_parameter"), "configuration"),
    "301": (reply(301, headers={"Location": "http://127.0.0.1:1/"}), "configuration"),
    "307": (reply(307, headers={"Location": "/v1/elsewhere"}), "configuration"),
    "401-in-200": (error(200, 401), "configuration"),
    "402": (error(402), "quota"),
    "quota": (error(429, "insufficient_quota"), "quota"),
    "quota-long-wait": (error(429, "insufficient_quota", retry_after="4274.5"), "quota"),
}


def play(tmp_path, act, *, tasks=1, give_up=False, port=0, **route):
    """Run one route against a server that does one thing; its counts, rows and problem."""
    with Provider(act if callable(act) else lambda _: act, port=port) as provider:
        place = make_workspace(tmp_path, tasks, {"m": openai_route(provider, **route)})
        (filled,) = stage.fill(place, ["m"], stage.Wish(give_up=give_up))
        tried, stored = attempts_of(place)
        return provider, filled, tried, stored


@pytest.mark.parametrize("name", STORED)
def test_what_ends_a_cell_is_asked_once_and_stored(tmp_path, name):
    act, outcome = STORED[name]
    provider, filled, tried, stored = play(tmp_path, act)
    assert Outcome(outcome).rule is Rule.STORE
    assert len(provider.prompts) == 1
    assert filled.problem is None
    (attempt,), (response,) = tried, stored.values()
    assert (attempt.outcome, attempt.stored, attempt.raw) == (outcome, True, b"")
    assert (response.outcome, response.form) == (outcome, "chat")
    assert len(response.raw) <= BODY_LIMIT


@pytest.mark.parametrize("name", RETRIED)
def test_what_may_pass_is_tried_again_within_bounds_and_left_open(tmp_path, name):
    act, outcome = RETRIED[name]
    outcome = "truncated_body" if outcome == "cut" else outcome
    provider, filled, tried, stored = play(tmp_path, act)
    assert Outcome(outcome).rule is Rule.RETRY
    assert len(provider.prompts) == 3
    assert stored == {}
    assert [(row.outcome, row.number, row.stored) for row in tried] == [
        (outcome, number, False) for number in (1, 2, 3)
    ]
    assert filled.tally.parked == {outcome: 1}
    assert filled.problem.exit_code == 3
    assert f"1 cells left open (1 {outcome})" in str(filled.problem)


@pytest.mark.parametrize("name", STOPPING)
def test_what_cannot_pass_stops_the_route_at_once(tmp_path, name):
    act, outcome = STOPPING[name]
    provider, filled, tried, stored = play(tmp_path, act, tasks=9, limits={"concurrency": 1})
    assert Outcome(outcome).rule is Rule.STOP
    assert len(provider.prompts) == 1
    assert [row.outcome for row in tried] == [outcome]
    assert stored == {}
    assert isinstance(filled.problem, ProviderError)
    assert outcome in str(filled.problem)
    assert str(filled.problem).isprintable()


@pytest.mark.parametrize("name", ["429", "502-html", "cut-body", "reset-before", "no-choices"])
def test_a_fault_that_passes_leaves_one_answer(tmp_path, name):
    act = RETRIED[name][0]
    provider, filled, tried, stored = play(
        tmp_path, lambda call: good(call) if call.time == 2 else act
    )
    assert len(provider.prompts) == 2
    assert [row.stored for row in tried] == [False, True]
    assert filled.problem is None
    assert [row.outcome for row in stored.values()] == ["ok"]


def test_what_fails_to_the_end_is_stored_only_on_demand(tmp_path):
    provider, filled, tried, stored = play(tmp_path, RETRIED["500"][0], give_up=True)
    assert len(provider.prompts) == 3
    assert filled.problem is None
    assert [row.stored for row in tried] == [False, False, True]
    assert [row.outcome for row in stored.values()] == ["transient"]


def test_exact_bytes_of_a_cut_body_are_kept(tmp_path):
    _, _, tried, _ = play(tmp_path, RETRIED["cut-body"][0])
    assert {row.raw for row in tried} == {HALF}
    assert {row.cost_micros for row in tried} == {None}
    assert all(row.reserve_micros > 10_000 for row in tried)


def test_headers_usage_and_times_stand_in_the_attempt(tmp_path):
    headers = {"X-Request-Id": "r-7", "Set-Cookie": "no", "X-RateLimit-Remaining": "3"}
    _, filled, tried, _ = play(tmp_path, reply(body=completion(TEXT), headers=headers))
    (row,) = tried
    assert (row.status, row.request_id, row.returned_model) == (200, "r-7", MODEL)
    assert (row.finish_reason, row.prompt_tokens, row.completion_tokens) == ("stop", 210, 64)
    assert row.cost_micros == 210 + 640 == filled.tally.spent_micros
    assert 0 <= row.first_byte_ms <= row.latency_ms < 5000
    kept = json.loads(row.headers)
    assert kept["x-ratelimit-remaining"] == "3"
    assert "set-cookie" not in kept


def test_a_providers_own_price_goes_before_ours(tmp_path):
    body = completion(TEXT)
    body["usage"]["cost"] = 0.00012345
    _, filled, _, _ = play(tmp_path, reply(body=body))
    assert filled.tally.spent_micros == 124


@pytest.mark.parametrize(
    ("value", "requests"),
    [("0", 3), ("1", 1), ("99999999999999", 3), ("4274.5", 3), ("-1", 3), ("soon", 3)],
)
def test_a_wait_beyond_the_cap_is_not_slept_on(tmp_path, value, requests):
    # the cap is 50 ms; what is no whole number of seconds is not read at all
    provider, filled, _, stored = play(tmp_path, error(429, retry_after=value))
    assert len(provider.prompts) == requests
    assert filled.tally.parked == {"rate_limited": 1}
    assert stored == {}


def test_a_slow_drip_ends_at_the_time_limit(tmp_path):
    body = json.dumps(completion(TEXT)).encode()
    head = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode()
    parts = (head, *(body[i : i + 1] for i in range(len(body))))
    provider, _, tried, stored = play(
        tmp_path, Act(parts, pause=0.02), limits={"timeout_ms": 100, "attempts": 2}
    )
    assert len(provider.prompts) == 2
    assert [row.outcome for row in tried] == ["timeout", "timeout"]
    assert {row.status for row in tried} == {200}
    assert stored == {}


def test_a_server_that_never_answers_is_a_timeout(tmp_path):
    provider, _, tried, _ = play(
        tmp_path, Act((b"",), pause=30), limits={"timeout_ms": 60, "attempts": 1}
    )
    assert len(provider.prompts) == 1
    assert [(row.outcome, row.status, row.cost_micros) for row in tried] == [
        ("timeout", None, None)
    ]


@pytest.mark.parametrize(
    ("url", "outcome", "requests"),
    [
        ("http://127.0.0.1:9/v1", "transient", 3),
        ("https://no-such-host.invalid/v1", "transient", 3),
    ],
    ids=["refused", "dns"],
)
def test_an_address_where_nobody_is(tmp_path, url, outcome, requests):
    workspace = make_workspace(tmp_path, 1, {"m": openai_route(url)})
    (filled,) = stage.fill(workspace, ["m"])
    tried, stored = attempts_of(workspace)
    assert [row.outcome for row in tried] == [outcome] * requests
    assert {row.cost_micros for row in tried} == {0}
    assert stored == {}
    assert filled.problem.exit_code == 3


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def secure(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with Provider(tls=context) as provider:
        yield provider


def test_a_certificate_that_nobody_vouches_for_stops_the_route(tmp_path, secure):
    workspace = make_workspace(tmp_path, 3, {"m": openai_route(secure, limits={"concurrency": 1})})
    (filled,) = stage.fill(workspace, ["m"])
    tried, _ = attempts_of(workspace)
    assert [row.outcome for row in tried] == ["configuration"]
    assert "certificate" in str(filled.problem).lower()
    assert secure.prompts == []


def test_a_certificate_that_is_vouched_for_is_good(tmp_path, secure, authority, monkeypatch):
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    workspace = make_workspace(tmp_path / "w", 2, {"m": openai_route(secure)})
    (filled,) = stage.fill(workspace, ["m"])
    assert (filled.problem, len(secure.prompts)) == (None, 2)


def test_a_redirect_is_never_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "sk-secret-0123456789")
    with Provider() as other:
        away = reply(307, headers={"Location": f"{other.url}/chat/completions"})
        provider, _, _, _ = play(tmp_path, away, key_env="TEST_KEY")
        assert len(provider.prompts) == 1
        assert other.paths == []


def test_a_route_stops_where_nothing_good_comes_back(tmp_path):
    provider, filled, _, stored = play(
        tmp_path, RETRIED["html-in-200"][0], tasks=40, limits={"concurrency": 1}
    )
    assert len(provider.prompts) == 5 * 3
    assert "5 failures" in str(filled.problem)
    assert "base_url" in str(filled.problem)
    assert stored == {}


def test_other_models_stop_a_route_and_their_cells_are_never_asked_again(tmp_path):
    act = STORED["other-model"][0]
    provider, filled, _, stored = play(tmp_path, act, tasks=40, limits={"concurrency": 1})
    assert len(provider.prompts) == 5
    assert "'m-9' answered, accepted are m-1" in str(filled.problem)
    assert {row.outcome for row in stored.values()} == {"model_mismatch"}
    again, _, _, stored = play(tmp_path, good, tasks=40, port=provider.port)
    assert (len(again.prompts), len(stored)) == (35, 40)


@pytest.mark.parametrize("accept", [["m-9"], ["x", "m-*"], ["*"]])
def test_a_model_that_is_accepted_exactly_or_by_a_glob_is_good(tmp_path, accept):
    _, filled, _, _ = play(tmp_path, STORED["other-model"][0], accept=accept)
    assert filled.tally.stored == {"ok": 1}


def test_a_server_that_dies_and_comes_back(tmp_path):
    with Provider() as provider:
        port = provider.port
        route = openai_route(provider, limits={"attempts": 1, "concurrency": 1})
        workspace = make_workspace(tmp_path, 12, {"m": route})
        (filled,) = stage.fill(workspace, ["m"], stage.Wish(limit=4))
        assert len(provider.prompts) == filled.tally.stored["ok"] == 4
    (filled,) = stage.fill(workspace, ["m"])
    assert "5 failures" in str(filled.problem)
    with Provider(port=port) as provider:
        (filled,) = stage.fill(workspace, ["m"])
        assert (filled.problem, len(provider.prompts)) == (None, 8)


def test_reasoning_and_parts_are_read_by_the_answer_rule(tmp_path):
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "FINAL_SELECTION: B, D, H"}]},
        {"type": "text", "text": "FINAL_SELECTION: "},
        {"type": "text", "text": "A, C, F"},
    ]
    _, _, _, stored = play(tmp_path, reply(body=completion(parts)))
    (row,) = stored.values()
    assert answer_text(row.raw, row.form, "message") == TEXT
