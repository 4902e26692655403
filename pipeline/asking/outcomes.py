"""From what came over the wire to an outcome: the one place where that is decided.

Nothing here looks at the quality of an answer. What follows from an outcome stands with it
(`schemas.execution.Outcome.rule`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import FlavourbenchError
from pipeline.files import parse_json
from schemas.execution import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Fault", "Usage", "Verdict", "Wire", "finish_outcome", "judge"]

_OK = range(200, 300)
_SAID_LIMIT = 300
_TEXT_LIMIT = 500
_SAFE = 2**53 - 1
_QUOTA_WORDS = re.compile(
    r"insufficient_quota|billing_hard_limit_reached|insufficient_credits|credit_balance_too_low"
)
_FILTER_WORDS = re.compile(r"content_?filter", re.IGNORECASE)
_POLICY_WORDS = re.compile(
    r"content_policy|policy_violation|moderation|flagged|safety", re.IGNORECASE
)
_FINISHES = dict.fromkeys(("length", "max_tokens", "model_length"), Outcome.TRUNCATED) | (
    dict.fromkeys(("content_filter", "safety"), Outcome.FILTERED)
)
_STATUSES = {
    402: Outcome.QUOTA,
    408: Outcome.TRANSIENT,
    409: Outcome.TRANSIENT,
    425: Outcome.TRANSIENT,
    429: Outcome.RATE_LIMITED,
}
_CLIENT, _SERVER, _END = 300, 500, 1000


class Fault(StrEnum):
    """What can keep a whole reply from arriving."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    UNUSABLE = "unusable"
    CUT = "cut"
    TOO_LARGE = "too_large"
    ENCODING = "encoding"


class Wire(NamedTuple):
    """What came over the wire: status and headers where they came, the bytes, and what failed.

    `headers` holds those that are kept, by lower-case name. `said` words the fault.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    fault: Fault | None = None
    said: str = ""
    latency_ms: int = 0
    first_byte_ms: int | None = None


class Usage(NamedTuple):
    """Tokens as the provider counts them, and its own price in US dollars where it names one."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | int | None = None


class Verdict(NamedTuple):
    """How a try ended, and what its body says of itself."""

    outcome: Outcome
    detail: str = ""
    body_id: str | None = None
    returned_model: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()


def finish_outcome(word: str | None) -> Outcome:
    """How an answer ended, by its provider's word for it."""
    return _FINISHES.get(word or "", Outcome.OK)


def judge(wire: Wire, accepted: Sequence[str]) -> Verdict:
    """How a try ended.

    Parameters
    ----------
    wire
        What came.
    accepted
        Model ids that may come back, exact or as globs. A reply without a model counts as the
        empty name, which only `*` accepts.
    """
    if wire.status is None:
        return Verdict(_UNANSWERED[wire.fault or Fault.UNREACHABLE], wire.said)
    if wire.status not in _OK:
        body = _parsed(wire.body)
        return _judge_error(wire.status, _error_of(body) or body, wire.body)
    if wire.fault is not None:
        return Verdict(_INTERRUPTED[wire.fault], wire.said)
    try:
        body = parse_json(wire.body, "body", FlavourbenchError)
    except FlavourbenchError as problem:
        if problem.expected in {"JSON", "UTF-8"}:
            kind = wire.headers.get("content-type", "no content type")
            said = f"{kind}, no JSON ({problem.found}): does base_url end where the API starts?"
            return Verdict(Outcome.NOT_JSON, _short(said))
        return Verdict(Outcome.MALFORMED, _short(f"{problem.expected}, found {problem.found}"))
    return _judge_body(body, accepted, wire.body)


_UNANSWERED = {
    Fault.TIMEOUT: Outcome.TIMEOUT,
    Fault.UNREACHABLE: Outcome.TRANSIENT,
    Fault.CERTIFICATE: Outcome.CONFIGURATION,
    Fault.UNUSABLE: Outcome.CONFIGURATION,
    Fault.CUT: Outcome.TRANSIENT,
    Fault.TOO_LARGE: Outcome.BODY_TOO_LARGE,
    Fault.ENCODING: Outcome.MALFORMED,
}
_INTERRUPTED = _UNANSWERED | {
    Fault.UNREACHABLE: Outcome.TRUNCATED_BODY,
    Fault.CUT: Outcome.TRUNCATED_BODY,
}


def _judge_body(body: Any, accepted: Sequence[str], raw: bytes) -> Verdict:
    """A JSON body under a good status: an error, a chat completion, or neither."""
    choices = _get(body, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    error = _error_of(body) or _get(first, "error")
    finish = _text(_get(first, "finish_reason"))
    told = Verdict(
        Outcome.OK,
        "",
        _text(_get(body, "id")),
        _text(_get(body, "model")),
        finish,
        _usage(_get(body, "usage")),
    )
    if error:
        verdict = _judge_error(_number(_get(error, "code")) or 0, error, raw)
        return told._replace(outcome=verdict.outcome, detail=verdict.detail)
    message = _get(first, "message")
    if not isinstance(message, dict) or finish == "error":
        outcome = Outcome.PROVIDER_ERROR if finish == "error" else Outcome.MALFORMED
        said = "finish_reason error" if finish == "error" else "no choices[0].message in the body"
        return told._replace(outcome=outcome, detail=said)
    returned = told.returned_model or ""
    if not any(fnmatchcase(returned, pattern) for pattern in accepted):
        said = f"model {returned!r} answered, accepted are {', '.join(accepted)}"
        return told._replace(outcome=Outcome.MODEL_MISMATCH, detail=_short(said))
    refused = bool(message.get("refusal")) and not message.get("content")
    ended = Outcome.REFUSED if refused else Outcome.OK
    return told._replace(outcome=_FINISHES.get(finish or "", ended))


def _judge_error(status: int, error: Any, raw: bytes) -> Verdict:
    """An error by its own words where they are exact, else by its status."""
    said = _error_text(error) or raw[:_SAID_LIMIT].decode("utf-8", "replace")
    names = " ".join(str(_get(error, key) or "") for key in ("code", "type"))
    return Verdict(_error_outcome(status, names, said), _short(f"HTTP {status}: {said}"))


def _error_outcome(status: int, names: str, said: str) -> Outcome:
    """The outcome of an error with a status (0: none), its exact names, and its free words."""
    declined = status < _SERVER and status not in {401, 429}
    words = f"{names} {said}" if status in {400, 403, 451} else names
    exact = {
        Outcome.QUOTA: _QUOTA_WORDS.search(names),
        Outcome.FILTERED: declined and _FILTER_WORDS.search(names),
        Outcome.REFUSED: declined and _POLICY_WORDS.search(words),
    }
    for outcome, found in exact.items():
        if found:
            return outcome
    if status >= _SERVER:
        return Outcome.TRANSIENT
    default = Outcome.CONFIGURATION if status >= _CLIENT else Outcome.PROVIDER_ERROR
    return _STATUSES.get(status, default)


def _error_of(body: Any) -> Any:
    """The error that a body holds, in the shapes that servers use; falsy where there is none."""
    if _get(body, "object") == "error":
        return body
    return _get(body, "error")


def _error_text(error: Any) -> str:
    """What an error says, as text."""
    if isinstance(error, str):
        return error
    for key in ("message", "detail", "code", "type"):
        value = _get(error, key)
        if isinstance(value, str | int):
            return str(value)
    return ""


def _parsed(raw: bytes) -> Any:
    try:
        return parse_json(raw, "body", FlavourbenchError)
    except FlavourbenchError:
        return None


def _usage(value: Any) -> Usage:
    cost = _get(value, "cost")
    usable = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= _SAFE
    return Usage(
        _count(_get(value, "prompt_tokens")),
        _count(_get(value, "completion_tokens")),
        cost if usable else None,
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _SAFE else None


def _number(value: Any) -> int | None:
    """A status code inside a body: a number, or a text of three digits."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{3}", value):
        return int(value)
    return value if type(value) is int and 0 <= value < _END else None


def _text(value: Any) -> str | None:
    return value[:_TEXT_LIMIT] if isinstance(value, str) else None


def _short(text: str) -> str:
    """One short line that any table can hold."""
    plain = text[:_SAID_LIMIT].encode("utf-8", "replace").decode("utf-8")
    return " ".join(plain.split())


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
