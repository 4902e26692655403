"""What a route was asked and what came back: responses, attempts, outcomes (docs/routes.md)."""

from __future__ import annotations

from collections.abc import Mapping  # pydantic reads it
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from schemas.record import Count, Digest, Row
from schemas.release import Name

__all__ = ["Attempt", "Outcome", "Response", "ResponseForm", "Rule"]

ResponseForm = Literal["text", "chat"]
"""What the raw bytes are: `text`, an answer in UTF-8; `chat`, a chat-completion JSON body."""

Said = Annotated[str, StringConstraints(max_length=500)]
"""A short text that came from a provider."""


class Rule(StrEnum):
    """What follows from an outcome: see `Outcome.rule`."""

    STORE = "store"
    RETRY = "retry"
    STOP = "stop"


class Outcome(StrEnum):
    """How asking ended. Only `ok` completes a cell; every other is a failure with that name.

    Nothing here judges an answer: a truncated, filtered or refused one is an answer, stored once.
    So is one with a finish reason that nobody knows, `unknown_finish`: it was paid for.
    """

    OK = "ok"
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    REFUSED = "refused"
    MODEL_MISMATCH = "model_mismatch"
    UNKNOWN_FINISH = "unknown_finish"
    BODY_TOO_LARGE = "body_too_large"
    FAILED = "failed"
    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"
    TIMEOUT = "timeout"
    NOT_JSON = "not_json"
    MALFORMED = "malformed"
    PROVIDER_ERROR = "provider_error"
    TRUNCATED_BODY = "truncated_body"
    LOST = "lost"
    QUOTA = "quota"
    CONFIGURATION = "configuration"

    @property
    def rule(self) -> Rule:
        """What follows: the one place where that is decided.

        `store`: the cell has ended with this outcome, for good. `retry`: the cell is asked again,
        within the bounds of its route, and is left open where they are used up. `stop`: the cell
        is left open and its route is asked nothing more in this run.
        """
        return _RULES[self]


_RULES = dict.fromkeys(Outcome, Rule.RETRY) | {
    Outcome.OK: Rule.STORE,
    Outcome.TRUNCATED: Rule.STORE,
    Outcome.FILTERED: Rule.STORE,
    Outcome.REFUSED: Rule.STORE,
    Outcome.MODEL_MISMATCH: Rule.STORE,
    Outcome.UNKNOWN_FINISH: Rule.STORE,
    Outcome.BODY_TOO_LARGE: Rule.STORE,
    Outcome.FAILED: Rule.STORE,
    Outcome.QUOTA: Rule.STOP,
    Outcome.CONFIGURATION: Rule.STOP,
}


class Response(Row):
    """One stored response. The answer text is derived from `raw`, never stored."""

    table: ClassVar[str] = "responses"
    kind: ClassVar[str] = "response"
    key: ClassVar[tuple[str, ...]] = ("request_digest",)

    request_digest: Digest
    task_digest: Digest
    route_digest: Digest
    task_id: Name
    repeat: Count
    outcome: Outcome
    form: ResponseForm
    raw: bytes


class Attempt(Row):
    """One try at a provider, whatever came of it.

    `number` counts the tries of one request over all sessions, from 1. `stored` says that this try
    gave the stored response, whose bytes then stand there; else `raw` holds what came, bounded.
    `cost_micros` (millionths of a US dollar) is none where nobody knows it; then the try counts
    with `reserve_micros`, the most that it can have cost, if prices are known. `headers` is a JSON
    object of the headers that are kept. `system_fingerprint` is what the provider says of the
    configuration that answered.
    """

    table: ClassVar[str] = "attempts"
    kind: ClassVar[str] = "attempt"
    key: ClassVar[tuple[str, ...]] = ("request_digest", "number")
    contract: ClassVar[int] = 2
    later: ClassVar[Mapping[str, int]] = MappingProxyType({"system_fingerprint": 2})

    request_digest: Digest
    number: Annotated[int, Field(ge=1, le=1_000_000)]
    route_digest: Digest
    task_id: Name
    outcome: Outcome
    stored: bool
    sent_unix_ms: Count
    latency_ms: Count | None
    first_byte_ms: Count | None
    status: Annotated[int, Field(ge=100, le=999)] | None
    request_id: Said | None
    returned_model: Said | None
    finish_reason: Said | None
    prompt_tokens: Count | None
    completion_tokens: Count | None
    cost_micros: Count | None
    reserve_micros: Count | None
    headers: str
    detail: Said
    raw: bytes
    system_fingerprint: Said | None = None
