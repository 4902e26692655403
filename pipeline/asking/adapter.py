"""The seam between the runner and whoever answers: questions in, replies out.

Every track uses it: a question is text and an identity, and knows nothing of what it asks for. A
built-in answerer that needs more looks it up by the question's digest in what it was built with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from pipeline.identity import digest
from schemas.execution import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemas.endpoint import Limits, Prices
    from schemas.execution import Outcome, ResponseForm

__all__ = [
    "Adapter", "Exchange", "Listing", "Provider", "Question", "Questions", "Reply", "Request",
    "make_requests", "provider_of", "request_digest", "response_of",
]  # fmt: skip


class Question(NamedTuple):
    """What a track asks every route.

    Attributes
    ----------
    id, digest
        Its name, and the digest (hex) of all that it asks.
    prompt, system
        Its text, and what stands before it as the system's, if anything.
    repeat
        Which of several equal askings it is, from 0.
    """

    id: str
    digest: str
    prompt: str
    system: str | None = None
    repeat: int = 0


class Questions(NamedTuple):
    """All that a track asks.

    Attributes
    ----------
    root
        Root (hex) of the table that they come from.
    asked
        The questions, in order.
    rows
        Rows of that table by digest, for built-in answerers that look at more than the text.
    """

    root: str
    asked: tuple[Question, ...]
    rows: Mapping[str, Any]


class Request(NamedTuple):
    """One question to one route.

    Attributes
    ----------
    key
        The request key (hex): under it the response is stored, once.
    question, route_digest
        What is asked, and of whom.
    """

    key: str
    question: Question
    route_digest: str


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
    system_fingerprint
        What the provider says of the configuration that answered.
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
    system_fingerprint: str | None = None


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


class Listing(NamedTuple):
    """What a provider says of itself before it is asked.

    Attributes
    ----------
    endpoint, model
        In words: how it is reached, and what it says of the route's model.
    ready
        Whether nothing is known that keeps a run from starting.
    prices
        Its own prices, where it lists some.
    """

    endpoint: str
    model: str
    ready: bool
    prices: Prices | None = None


class Provider(Adapter, Protocol):
    """An adapter whose tries can fail: each is bounded, counted against a cap, and leaves a row.

    Attributes
    ----------
    slug
        The route's name, for errors.
    limits
        How hard it may be asked.
    host
        Providers of one name share what `limits.host_concurrency` bounds.
    cap_micros
        What it may spend in all, in millionths of a US dollar; none where nothing bounds it.
    prices
        The route's own prices, where it states some.
    secrets
        Names of the environment variables that it needs.
    """

    slug: str
    limits: Limits
    host: str
    cap_micros: int | None
    prices: Prices | None
    secrets: tuple[str, ...]

    def unlock(self) -> None:
        """Read the secrets. Raises `ExecuteError` where one is not set."""

    def missing_secrets(self) -> tuple[str, ...]:
        """Names of the environment variables that it needs and that are not set."""

    def most_micros(self, question: Question, prices: Prices | None = None) -> int | None:
        """The most that one try can cost, by the route's prices or others; none if unknown."""

    def tokens(self, question: Question) -> int:
        """About how many tokens one try takes, for rate limits only."""

    async def listing(self) -> Listing:
        """Ask what can be asked without asking a question."""

    async def close(self) -> None:
        """Let go of what is held for asking."""


def provider_of(adapter: Adapter) -> Provider | None:
    """The adapter as a provider, where its tries can fail; else none."""
    return cast("Provider", adapter) if hasattr(adapter, "limits") else None


def make_requests(questions: Questions, route: str) -> list[Request]:
    """One request a question, in order; `route` is the route's digest (hex)."""
    return [
        Request(request_digest(question.digest, route, question.repeat), question, route)
        for question in questions.asked
    ]


def request_digest(task_digest: str, route_digest: str, repeat: int) -> str:
    """Request key (hex) of a task, a route and a repeat index (docs/identity.md)."""
    return digest(
        "request", {"repeat": repeat, "route_digest": route_digest, "task_digest": task_digest}
    )


def response_of(request: Request, reply: Reply) -> Response:
    """The row that a reply to a request is stored as."""
    fields = {
        "request_digest": request.key,
        "task_digest": request.question.digest,
        "route_digest": request.route_digest,
        "task_id": request.question.id,
        "repeat": request.question.repeat,
        "outcome": reply.outcome,
        "form": reply.form,
        "raw": reply.raw,
    }
    return Response.model_validate(fields)
