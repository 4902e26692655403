"""The seam between the runner and whoever answers: requests in, replies out.

Both tracks use it: a request is text and an identity, and knows nothing of portfolios. A policy
that needs the task looks it up by its digest in what it was built with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from pipeline.identity import digest

if TYPE_CHECKING:
    from schemas.execution import Outcome, ResponseForm

__all__ = ["Adapter", "Reply", "Request", "request_digest"]


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


class Reply(NamedTuple):
    """What came back: how it ended, what the bytes are, and the bytes as they came."""

    outcome: Outcome
    form: ResponseForm
    raw: bytes


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
