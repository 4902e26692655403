"""From what came over the wire to an outcome: the one place where that is decided.

Nothing here looks at the quality of an answer. What follows from an outcome stands with it
(`schemas.execution.Outcome.rule`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.asking.vocabulary import (
    BASE_CODES,
    finish_of,
    finish_outcome,
    finish_text,
    named_outcome,
    told_outcome,
)
from pipeline.errors import Cause, FlavourbenchError
from pipeline.files import parse_json
from schemas.execution import Outcome, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["DECLINING", "Fault", "ReportedUsage", "Wire", "judge"]

_OK = range(200, 300)
_SAID_LIMIT = 300
_TEXT_LIMIT = 500
_RAW_LIMIT = 4000
_TOKENS_LIMIT = 10**9
_USD_LIMIT = 10**6
_STATUSES = {
    402: Outcome.QUOTA,
    408: Outcome.TRANSIENT,
    409: Outcome.TRANSIENT,
    425: Outcome.TRANSIENT,
    420: Outcome.RATE_LIMITED,
    429: Outcome.RATE_LIMITED,
    498: Outcome.TRANSIENT,
    499: Outcome.TRANSIENT,
}
_CLIENT, _SERVER, _END = 300, 500, 1000
_UNASKED = frozenset({401, 429})
"""Statuses under which nobody has looked at the question."""

DECLINING = frozenset({0, 400, 403, 406, 409, 418, 422, 424, 451})
"""Statuses under which an error's prose may be about the question."""

_NAMES = frozenset({
    "code", "type", "status", "reason", "error_code", "error_type", "errorcode", "errcode",
})  # fmt: skip
_TEXTS = frozenset({
    "message", "msg", "detail", "error", "error_msg", "error_message", "errmsg", "raw",
})  # fmt: skip
_INNER = frozenset({
    "error", "errors", "innererror", "inner_error", "metadata", "details", "detail", "data",
})  # fmt: skip
_INNER_MOST, _INNER_DEPTH = 16, 6


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


class ReportedUsage(NamedTuple):
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
    usage: ReportedUsage = ReportedUsage()
    system_fingerprint: str | None = None


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
        return _judge_declined(wire.status, _parsed(wire.body), wire.body)
    if wire.fault is not None:
        return Verdict(_INTERRUPTED[wire.fault], wire.said)
    try:
        body = parse_json(wire.body, "body", FlavourbenchError, reply=True)
    except FlavourbenchError as problem:
        if problem.cause is Cause.NO_JSON:
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
    first = _first_choice(body)
    error = _error_of(body) or _get(first, "error")
    told = _told(body)
    if error:
        verdict = _judge_error(_number(_get(error, "code")) or 0, error, raw)
        return told._replace(outcome=verdict.outcome, detail=verdict.detail)
    ended = Outcome.FILTERED if _blocked(body) else _ended(first)
    message = _get(first, "message")
    if ended is Outcome.PROVIDER_ERROR:
        return told._replace(outcome=ended, detail=_short(f"finish_reason {told.finish_reason}"))
    if not isinstance(message, dict) or (told.returned_model is None and ended in _WITHHELD):
        if ended in _WITHHELD:
            return told._replace(outcome=ended, detail=_withheld(told))
        said = "no choices[0].message in the body"
        return told._replace(outcome=Outcome.MALFORMED, detail=said)
    returned = told.returned_model or ""
    if not any(fnmatchcase(returned, pattern) for pattern in accepted):
        said = f"model {returned!r} answered, accepted are {', '.join(accepted)}"
        return told._replace(outcome=Outcome.MODEL_MISMATCH, detail=_short(said))
    if ended is Outcome.OK and message.get("refusal") and not message.get("content"):
        ended = Outcome.REFUSED
    detail = "" if ended is not Outcome.UNKNOWN_FINISH else _withheld(told)
    return told._replace(outcome=ended, detail=detail)


_WITHHELD = frozenset({Outcome.FILTERED, Outcome.REFUSED})


def _judge_declined(status: int, body: Any, raw: bytes) -> Verdict:
    """A bad status: an error, or a completion that was filtered and is sent as one."""
    error = _error_of(body) or body
    verdict = _judge_error(status, error, raw)
    first = _first_choice(body)
    if verdict.outcome is not Outcome.CONFIGURATION or status in _UNASKED:
        return verdict
    if _blocked(body):
        return _told(body)._replace(outcome=Outcome.FILTERED, detail=verdict.detail)
    if first is None or _error_of(body):
        return verdict
    ended = _ended(first)
    if ended.rule is not Rule.STORE or ended in {Outcome.OK, Outcome.UNKNOWN_FINISH}:
        ended = Outcome.PROVIDER_ERROR  # a bad status completes no cell, whatever stands below it
    return _told(body)._replace(outcome=ended, detail=verdict.detail)


def _told(body: Any) -> Verdict:
    """What a body says of itself."""
    finish = finish_of(_first_choice(body))
    return Verdict(
        Outcome.OK,
        "",
        _text(_get(body, "id")),
        _text(_get(body, "model")),
        _text(finish),
        _usage(_get(body, "usage")),
        _text(_get(body, "system_fingerprint")),
    )


def _withheld(told: Verdict) -> str:
    return _short(f"finish_reason {told.finish_reason}") if told.finish_reason else "filtered"


def _first_choice(body: Any) -> Any:
    """The first choice of a completion that has one."""
    choices = _get(body, "choices")
    return choices[0] if isinstance(choices, list) and choices else None


def _ended(choice: Any) -> Outcome:
    """How a choice ended: by its finish word, and by the vendor's own behind a gateway's `stop`."""
    ended = finish_outcome(finish_of(choice))
    if ended is not Outcome.OK:
        return ended
    for holder in (choice, _get(choice, "provider_specific_fields")):
        for name in ("native_finish_reason", "nativeFinishReason"):
            native = finish_outcome(finish_text(_get(holder, name)))
            if native not in {Outcome.OK, Outcome.UNKNOWN_FINISH}:
                return native
    return ended


def _blocked(body: Any) -> bool:
    """Whether a body says beside its choices that a filter withheld the answer.

    Gemini names a `blockReason`, Azure marks the prompt's filter results, MiniMax and Baidu flag
    the text; none of these needs to come with a choice.
    """
    for name in ("promptFeedback", "prompt_feedback"):
        feedback = _get(body, name)
        if _get(feedback, "blockReason") or _get(feedback, "block_reason"):
            return True
    if any(_get(body, flag) is True for flag in _FLAGS):
        return True
    if _first_choice(body) is not None:
        return False
    return _marked_filtered(_get(body, "prompt_filter_results"), _INNER_DEPTH)


_FLAGS = ("input_sensitive", "output_sensitive", "need_clear_history")


def _marked_filtered(value: Any, depth: int) -> bool:
    """Whether `filtered: true` stands somewhere within Azure's filter results."""
    if _get(value, "filtered") is True:
        return True
    parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return depth > 0 and any(_marked_filtered(part, depth - 1) for part in [*parts][:_INNER_MOST])


def _judge_error(status: int, error: Any, raw: bytes) -> Verdict:
    """An error by its own words where they are exact, else by its status."""
    said = _error_text(error) or raw[:_SAID_LIMIT].decode("utf-8", "replace")
    return Verdict(_error_outcome(status, error, said), _short(f"HTTP {status}: {said}"))


def _error_outcome(status: int, error: Any, said: str) -> Outcome:
    """The outcome of an error with a status (0: none), by its exact names, then its prose."""
    base = BASE_CODES.get(str(_get(_get(error, "base_resp"), "status_code")))
    words = _words_of(error, _INNER_DEPTH)
    named = base or named_outcome(words.names)
    if named in {Outcome.QUOTA, Outcome.FILTERED, Outcome.REFUSED}:
        asked = status not in _UNASKED and (status < _SERVER or named is Outcome.FILTERED)
        if asked or named is Outcome.QUOTA:
            return named
    if status in DECLINING and named is not Outcome.CONFIGURATION:
        told = told_outcome(words.names, " ".join([said, *words.texts]))
        if told is not None:
            return told
    if status >= _SERVER:
        return Outcome.TRANSIENT
    if named is not None and (
        status == 0 or (named is Outcome.RATE_LIMITED and status not in _UNASKED)
    ):
        return named
    default = Outcome.CONFIGURATION if status >= _CLIENT else Outcome.PROVIDER_ERROR
    return _STATUSES.get(status, default)


class _ErrorWords(NamedTuple):
    """What an error says: its machine words, and its prose."""

    names: list[str]
    texts: list[str]


def _words_of(error: Any, depth: int) -> _ErrorWords:
    """The words of an error and of the errors within it, wherever a gateway has put them."""
    found = _ErrorWords([], [])
    if not isinstance(error, dict):
        parts = error[:_INNER_MOST] if isinstance(error, list) else []
        inner = [_words_of(part, depth - 1) for part in parts if depth]
    else:
        for key, value in error.items():
            name = key.lower()
            if name in _NAMES and isinstance(value, str | int):
                found.names.append(str(value)[:_TEXT_LIMIT])
            elif name in _TEXTS and isinstance(value, str):
                found.texts.append(value[:_RAW_LIMIT])
        nested = [value for key, value in error.items() if key.lower() in _INNER]
        inner = [_words_of(value, depth - 1) for value in nested if depth]
    for words in inner:
        found.names.extend(words.names)
        found.texts.extend(words.texts)
    return found


def _error_of(body: Any) -> Any:
    """The error that a body holds, in the shapes that servers use; falsy where there is none."""
    if _get(body, "object") == "error":
        return body
    status = _get(_get(body, "base_resp"), "status_code")
    if type(status) is int and status:
        return body
    error = _get(body, "error") or _get(body, "errors")
    if isinstance(error, dict) and not any(error.values()):
        error = None  # `{"code": 0, "message": ""}`: some servers say so that nothing is wrong
    if not error and _get(body, "choices") is None:
        codes = (_get(body, name) for name in ("code", "error_code", "errcode", "errorCode"))
        return body if any(codes) else None
    return error


def _error_text(error: Any) -> str:
    """What an error says, as text."""
    if isinstance(error, str):
        return error
    for key in ("message", "msg", "error_msg", "detail", "error", "code", "type"):
        value = _get(error, key)
        if isinstance(value, str | int):
            return str(value)
    status_msg = _get(_get(error, "base_resp"), "status_msg")
    return status_msg if isinstance(status_msg, str) else ""


def _parsed(raw: bytes) -> Any:
    try:
        return parse_json(raw, "body", FlavourbenchError, reply=True)
    except FlavourbenchError:
        return None


def _usage(value: Any) -> ReportedUsage:
    """Usage as far as it can be true: what lies beyond all bounds is unknown."""
    cost = _get(value, "cost")
    usable = isinstance(cost, int | float) and not isinstance(cost, bool)
    return ReportedUsage(
        _count(_get(value, "prompt_tokens")),
        _count(_get(value, "completion_tokens")),
        cost if usable and 0 <= cost <= _USD_LIMIT else None,
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _TOKENS_LIMIT else None


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
