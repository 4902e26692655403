"""The seam between the runner and whoever answers: requests in, replies out.

Both tracks use it: a request is text and an identity, and knows nothing of portfolios. A policy
that needs the task looks it up by its digest in what it was built with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from pipeline.identity import digest
from schemas.execution import Response

if TYPE_CHECKING:
    from schemas.execution import Outcome, ResponseForm

__all__ = ["Adapter", "Exchange", "Reply", "Request", "request_digest", "response_of"]


class Request(NamedTuple):
    """One question to one route.

    Attributes
    ----------
    key
        The request key (hex): under it the response is stored, once.
    task_id, task_digest, route_digest, repeat
        What the key is made of, and the task's name.
    prompt
        The question's text.
    """

    key: str
    task_id: str
    task_digest: str
    route_digest: str
    repeat: int
    prompt: str


class Exchange(NamedTuple):
    """What is known of one try at a provider, beside its outcome and its bytes.

    Attributes
    ----------
    status, request_id, returned_model, finish_reason
        As the provider gave them; none where it did not.
    prompt_tokens, completion_tokens
        Usage as the provider counts it.
    cost_micros
        Millionths of a US dollar; none where nobody knows.
    latency_ms, first_byte_ms
        From sending to the end, and to the first byte of the reply's head.
    retry_after_ms
        How long the provider asks to wait.
    headers
        JSON object (text) of the headers that are kept.
    detail
        What went wrong, in one line; empty where nothing did.
    """

    status: int | None = None
    request_id: str | None = None
    returned_model: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_micros: int | None = None
    latency_ms: int | None = None
    first_byte_ms: int | None = None
    retry_after_ms: int | None = None
    headers: str = "{}"
    detail: str = ""


class Reply(NamedTuple):
    """What came back: how it ended, what the bytes are, and the bytes as they came.

    `exchange` is there where a provider was asked; built-in policies and replays have none.
    """

    outcome: Outcome
    form: ResponseForm
    raw: bytes
    exchange: Exchange | None = None


class Adapter(Protocol):
    """Answers requests, any number at a time.

    `costs_money` tells whether an answer lost is money lost; then a run never starts from nothing
    where `dvc.lock` says that answers exist.
    """

    @property
    def costs_money(self) -> bool:
        """Whether answers are paid for."""

    async def ask(self, request: Request) -> Reply:
        """Answer one request.

        Raises
        ------
        ProviderError
            The route cannot go on at all. A single failed answer is a reply with its outcome.
        """


def request_digest(task_digest: str, route_digest: str, repeat: int) -> str:
    """Request key (hex) of a task, a route and a repeat index (design 4)."""
    return digest(
        "request", {"repeat": repeat, "route_digest": route_digest, "task_digest": task_digest}
    )


def response_of(request: Request, reply: Reply) -> Response:
    """The row that a reply to a request is stored as."""
    fields = {
        "request_digest": request.key,
        "task_digest": request.task_digest,
        "route_digest": request.route_digest,
        "task_id": request.task_id,
        "repeat": request.repeat,
        "outcome": reply.outcome,
        "form": reply.form,
        "raw": reply.raw,
    }
    return Response.model_validate(fields)
