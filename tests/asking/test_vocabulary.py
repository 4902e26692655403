"""Words of many vendors come to one outcome each, and a word that nobody knows is never `ok`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.asking.outcomes import Wire, judge
from pipeline.asking.vocabulary import FINISHES, finish_outcome
from schemas.execution import Outcome
from tests.execute.provider import MODEL, completion

TEXT = "FINAL_SELECTION: A, C, F"


def outcome_of(body, status=200):
    return judge(Wire(status, {}, json.dumps(body).encode()), (MODEL,)).outcome


def spellings(word):
    yield word
    yield word.upper()
    yield word.lower()
    yield word.replace("_", "-")
    yield word.replace("_", " ").title()
    yield word.replace("_", "")
    yield f"FINISH_REASON_{word.upper()}"
    yield f"FinishReason.{word}"


WORDS = [(row.outcome, word) for row in FINISHES for word in row.words.split()]


@pytest.mark.parametrize(("outcome", "word"), WORDS, ids=[word for _, word in WORDS])
def test_every_word_has_one_outcome_however_it_is_spelt(outcome, word):
    for spelt in spellings(word):
        assert finish_outcome(spelt) is outcome, spelt
        assert outcome_of(completion(TEXT, finish=spelt)) is outcome, spelt


FINISHED = {
    "truncated": "MAX_TOKENS maxTokens model_length model_context_window_exceeded ERROR_LIMIT",
    "filtered": "SAFETY RECITATION sensitive guardrail_intervened ERROR_TOXIC content-filter SPII",
    "refused": "refusal",
    "provider_error": "error insufficient_system_resource abort network_error ERROR load",
    "unknown_finish": "OTHER MALFORMED_FUNCTION_CALL brandNewWord FINISH_REASON_UNSPECIFIED",
    "ok": "stop STOP end_turn COMPLETE eos_token stop_sequence tool_calls",
}


@pytest.mark.parametrize(
    ("word", "outcome"),
    [(word, outcome) for outcome, words in FINISHED.items() for word in words.split()],
)
@pytest.mark.parametrize("content", [TEXT, None, ""])
def test_a_finish_word_decides_whatever_stands_in_the_message(word, outcome, content):
    assert outcome_of(completion(content, finish=word)) == outcome


@pytest.mark.parametrize(
    "finish", [7, True, [], ["stop"], {}, {"reason": "stop"}, "?", " ", "stop: x"]
)
def test_what_is_no_word_is_no_ok(finish):
    assert outcome_of(completion(TEXT, finish=finish)) is Outcome.UNKNOWN_FINISH


@given(st.text(min_size=1, max_size=30))
def test_only_words_of_the_table_are_ok(word):
    known = finish_outcome(word)
    plain = "".join(c for c in word.casefold() if c.isalnum())
    assert known is not Outcome.OK or plain


def test_a_gateway_may_name_two_words():
    assert finish_outcome("content_filter: RECITATION") is Outcome.FILTERED
    assert outcome_of(completion(TEXT, finish={"type": "length", "length": 9})) == "truncated"


@pytest.mark.parametrize(
    ("native", "outcome"),
    [("MAX_TOKENS", "truncated"), ("SAFETY", "filtered"), ("STOP", "ok"), ("new_word", "ok"),
     ("insufficient_system_resource", "provider_error"), (None, "ok")],
)  # fmt: skip
def test_a_vendors_word_behind_a_gateways_stop_counts(native, outcome):
    body = completion(TEXT)
    body["choices"][0]["native_finish_reason"] = native
    assert outcome_of(body) == outcome
    body = completion(TEXT)
    body["choices"][0]["provider_specific_fields"] = {"native_finish_reason": native}
    assert outcome_of(body) == outcome


def coded(code, message="said", **more):
    return {"error": {"code": code, "type": code, "message": message} | more}


AZURE = coded(None, "said", innererror={"code": "ResponsibleAIPolicyViolation"})
OPENROUTER = coded(403, "Provider returned error", metadata={
    "raw": json.dumps(coded("data_inspection_failed")), "provider_name": "x"})  # fmt: skip
FILTERED = {
    "alibaba": (400, coded("data_inspection_failed")),
    "alibaba-own": (400, {"code": "DataInspectionFailed", "message": "said", "request_id": "r"}),
    "alibaba-path": (400, coded("InternalError.Algo.DataInspectionFailed")),
    "alibaba-prose": (400, coded("bad", "Input data may contain inappropriate content.")),
    "azure": (400, coded("content_filter")),
    "azure-inner": (400, AZURE),
    "azure-prose": (400, coded(None, "... triggering Azure OpenAI's content management policy")),
    "zhipu": (400, coded("1301", "said")),
    "zhipu-number": (400, coded(1301, "said")),
    "deepseek": (400, coded("invalid_request_error", "Content Exists Risk")),
    "moonshot": (400, {"error": {"type": "content_filter", "message": "high risk"}}),
    "bytedance": (400, coded("InputTextSensitiveContentDetected")),
    "bytedance-severe": (400, coded("SensitiveContentDetected.SevereViolation")),
    "minimax": (200, {"base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}}),
    "minimax-422": (422, coded(None, "input new_sensitive (1026): sensitive content")),
    "minimax-flag": (200, {"choices": None, "input_sensitive": True, "model": MODEL}),
    "spark": (200, {"code": 10013, "message": "said", "sid": "s"}),
    "anthropic": (400, coded("invalid_request_error", "Output blocked by content filtering")),
    "bedrock": (400, coded("guardrail_intervened")),
    "gemini": (200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "candidates": []}),
    "gemini-status": (400, {"promptFeedback": {"blockReason": "SAFETY"}}),
    "azure-prompt": (200, {"choices": [], "model": MODEL, "prompt_filter_results": [
        {"content_filter_results": {"hate": {"filtered": True}}}]}),
    "baidu": (200, {"result": "", "need_clear_history": True}),
    "tencent": (400, coded("TextAuditFailed")),
    "openrouter": (403, OPENROUTER),
    "openrouter-200": (200, OPENROUTER),
    "list": (400, [coded("content_filter")]),
    "gateway-500": (500, coded("data_inspection_failed")),
    "chinese": (400, coded("bad", "系统检测到输入或生成内容可能包含不安全或敏感内容")),
    "completion": (400, completion("", finish="content_filter")),
    "completion-safety": (400, completion(None, finish="SAFETY")),
    "no-message": (200, {"model": MODEL, "choices": [{"finish_reason": "SAFETY"}]}),
    "null-message": (200, {"choices": [{"finish_reason": "sensitive", "message": None}]}),
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERED)
def test_a_filter_of_any_vendor_ends_the_cell(name):
    status, body = FILTERED[name]
    assert outcome_of(body, status) is Outcome.FILTERED


REFUSED = [
    (400, coded("content_policy_violation")),
    (403, coded(403, "Your chosen model requires moderation and your input was flagged")),
    (403, {"code": "no permission", "error": "Content violates usage guidelines. "
           "Failed check: SAFETY_CHECK_TYPE_BIO"}),
    (400, coded("invalid_prompt", "your prompt was flagged as violating our usage policy")),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), REFUSED)
def test_a_policy_of_any_vendor_ends_the_cell(status, body):
    assert outcome_of(body, status) is Outcome.REFUSED


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (429, coded("exceeded_current_quota_error"), "quota"),
        (400, coded("Arrearage"), "quota"),
        (403, coded("AccountOverdueError"), "quota"),
        (429, coded("1113"), "quota"),
        (400, coded("budget_exceeded"), "quota"),
        (200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "quota"),
        (400, coded("context_length_exceeded"), "configuration"),
        (200, coded("context_length_exceeded"), "configuration"),
        (200, coded("invalid_api_key"), "configuration"),
        (400, coded("ThrottlingException"), "rate_limited"),
        (200, coded("rate_limit_exceeded"), "rate_limited"),
        (429, coded("1302"), "rate_limited"),
        (200, {"base_resp": {"status_code": 1002, "status_msg": "rate"}}, "rate_limited"),
        (200, coded("overloaded_error"), "transient"),
        (529, coded("overloaded_error"), "transient"),
        (429, coded(429, "flagged, content filter"), "rate_limited"),
        (401, coded("x", "flagged"), "configuration"),
    ],
)
def test_other_errors_keep_their_own_outcome(status, body, outcome):
    assert outcome_of(body, status) == outcome


SETTINGS = [
    coded("unknown_parameter", "Unknown parameter: 'safety_settings'."),
    coded(None, "Unrecognized request argument supplied: moderation"),
    coded("invalid_request_error", "content_filter is an unsupported parameter"),
    coded("invalid_value", "Invalid field 'safety_identifier'"),
    coded("unsupported_parameter", "Unsupported parameter: 'max_tokens'"),
    {"object": "error", "message": "extra fields: extra property guardrails", "code": 400},
]


@pytest.mark.parametrize("body", SETTINGS)
def test_a_settings_error_stops_the_route_and_burns_no_cell(body):
    assert outcome_of(body, 400) is Outcome.CONFIGURATION


def test_an_answer_under_a_bad_status_completes_nothing_and_stops_nothing():
    assert outcome_of(completion(TEXT), 400) is Outcome.PROVIDER_ERROR
    assert outcome_of(completion(TEXT), 500) is Outcome.TRANSIENT
