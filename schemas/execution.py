"""What a route was asked and what came back: requests, responses, outcomes (design 4, 6)."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

from schemas.record import Count, Digest, Row
from schemas.release import Name

__all__ = ["Outcome", "Response", "ResponseForm"]

ResponseForm = Literal["text", "chat"]
"""What the raw bytes are: `text`, an answer in UTF-8; `chat`, a chat-completion JSON body."""


class Outcome(StrEnum):
    """How asking ended. Only `ok` completes a cell; every other is a failure with that name."""

    OK = "ok"
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    REFUSED = "refused"
    FAILED = "failed"


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
