"""Whatever comes over the wire has one outcome, and waits are read strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.asking.outcomes import Fault, Wire, judge
from pipeline.asking.waits import retry_after_ms
from pipeline.identity import canonical_bytes
from schemas.execution import Outcome, Rule

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("choices", "message", "content", "error", "code", "type", "model", "usage", "object", "id",
         "finish_reason", "refusal", "prompt_tokens", "cost", "detail")  # fmt: skip
SHAPED = st.recursive(
    JSON,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=12,
)
BODIES = st.binary(max_size=200) | SHAPED.map(lambda value: json.dumps(value).encode())
STATUSES = st.none() | st.integers(100, 999)


@given(STATUSES, BODIES, st.none() | st.sampled_from(Fault))
def test_every_exchange_has_an_outcome_that_a_row_can_hold(status, body, fault):
    if status is None and fault is None:
        fault = Fault.CUT
    verdict = judge(Wire(status, {}, body, fault, "said"), ("m-1",))
    assert isinstance(verdict.outcome, Outcome)
    assert "\n" not in verdict.detail
    told = [verdict.detail, verdict.body_id, verdict.returned_model, verdict.finish_reason]
    assert all(text is None or len(text) <= 500 for text in told)
    canonical_bytes(told)
    usage = verdict.usage
    assert all(n is None or n >= 0 for n in (usage.prompt_tokens, usage.completion_tokens))


@given(STATUSES.filter(lambda s: s is not None and not 200 <= s < 300), BODIES)
def test_no_bad_status_completes_a_cell(status, body):
    assert judge(Wire(status, {}, body), ("*",)).outcome is not Outcome.OK


@given(BODIES)
def test_only_a_message_of_an_accepted_model_is_ok(body):
    verdict = judge(Wire(200, {}, body), ("m-1",))
    assert verdict.outcome is not Outcome.OK or verdict.returned_model == "m-1"


def test_every_outcome_has_a_rule_and_only_answers_are_stored():
    rules = {outcome: outcome.rule for outcome in Outcome}
    assert {o.value for o, rule in rules.items() if rule is Rule.STORE} == {
        "ok", "truncated", "filtered", "refused", "model_mismatch", "unknown_finish",
        "body_too_large", "failed",
    }  # fmt: skip
    assert {o.value for o, rule in rules.items() if rule is Rule.STOP} == {"quota", "configuration"}


DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


@pytest.mark.parametrize(
    ("value", "date", "expected"),
    [
        ("0", None, 0),
        ("7", None, 7_000),
        ("007", None, 7_000),
        (DATE, DATE, 0),
        (DATE, "Sun, 06 Nov 1994 08:49:07 GMT", 30_000),
        (DATE, "Sun, 06 Nov 1994 09:00:00 GMT", 0),
        (DATE, None, 0),
        (DATE, "yesterday", 0),
        (None, DATE, None),
        ("", None, None),
        ("1.5", None, None),
        ("-1", None, None),
        ("+1", None, None),
        (" 1", None, None),
        ("1e3", None, None),
        ("\u0661", None, None),
        ("9" * 40, None, None),
        ("Sunday, 06-Nov-94 08:49:37 GMT", None, 0),
        ("Sun, 06 Nov 1994 08:49:37 +0000", None, None),
        ("Sun, 32 Nov 1994 08:49:37 GMT", None, None),
        ("1994-11-06T08:49:37Z", None, None),
        ("Sun Nov  6 08:49:37 1994", None, None),
        ("GMT", None, None),
        ("x GMT", None, None),
    ],
)
def test_a_wait_is_whole_seconds_or_an_http_date(value, date, expected):
    assert retry_after_ms(value, date) == expected


def test_a_date_is_read_by_our_clock_where_the_provider_tells_none(monkeypatch):
    monkeypatch.setattr("pipeline.asking.waits.time.time", lambda: 784111777 - 90.0)
    assert retry_after_ms(DATE) == 90_000
