"""The parts of a route to an endpoint: address, sampling, prices, limits."""

from __future__ import annotations

import re
from decimal import Decimal
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from schemas.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BaseUrl",
    "EnvironmentName",
    "ExtraBody",
    "HeaderName",
    "Limits",
    "Prices",
    "Sampling",
    "Usd",
    "is_loopback",
]

EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]{0,99}$")]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,100}$")]
Usd = Annotated[Decimal, Field(ge=0, le=1_000_000, max_digits=15, decimal_places=9)]
"""US dollars; never part of an identity."""

_Minutely = Annotated[int, Field(ge=1, le=1_000_000_000)] | None


def _checked_url(text: str) -> str:
    """An address of scheme, host, port and path, without a slash at its end."""
    try:
        parts = urlsplit(text)
        sound = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1)
    except ValueError:
        sound = False
    if not sound or parts.username is not None or parts.query or parts.fragment:
        message = "an address like https://host/v1, without user, password, ? or #"
        raise ValueError(message)
    return text.rstrip("/")


BaseUrl = Annotated[
    str,
    StringConstraints(pattern=r"^https?://[!-~]+$", max_length=500),
    AfterValidator(_checked_url),
]
"""Where the API starts: `/chat/completions` and `/models` are appended."""


def is_loopback(url: str) -> bool:
    """Whether an address is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Sampling(Record):
    """How the model is asked to sample. What is not set is left to the provider."""

    temperature: Annotated[float, Field(ge=0, le=10)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    seed: Annotated[int, Field(ge=-(2**53) + 1, le=2**53 - 1)] | None = None
    stop: tuple[str, ...] | None = None
    frequency_penalty: Annotated[float, Field(ge=-10, le=10)] | None = None
    presence_penalty: Annotated[float, Field(ge=-10, le=10)] | None = None
    reasoning_effort: Annotated[str, StringConstraints(max_length=100)] | None = None

    @property
    def tokens_limit(self) -> int | None:
        """The most tokens that an answer can have, where that is set."""
        return self.max_completion_tokens or self.max_tokens


_OURS = frozenset({"model", "messages", "n", "stream", "stream_options", *Sampling.model_fields})


_SECRET = re.compile(r"api_?key|authorization|password|secret", re.IGNORECASE)


def _keys(value: JsonValue) -> Iterator[str]:
    """All keys of a JSON value."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _keys(item)


def _leaves_ours(extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if any(_SECRET.search(key) for key in _keys(extra)):
        message = "no secret: name its environment variable under key_env or headers_env"
        raise ValueError(message)
    taken = sorted(_OURS & extra.keys())
    if taken:
        message = f"no {', '.join(taken)}, which the route sets itself"
        raise ValueError(message)
    return extra


ExtraBody = Annotated[dict[str, JsonValue], AfterValidator(_leaves_ours)]
"""More of the request's body: provider pinning, reasoning switches."""


class Prices(Record):
    """US dollars per million tokens."""

    prompt_usd_per_mtok: Usd
    completion_usd_per_mtok: Usd


class Limits(Record):
    """How hard an endpoint is asked.

    `concurrency` bounds the route's requests under way, `host_concurrency` those of all routes of
    this process at one host. A cell is tried `attempts` times a run, the waits between
    growing from `backoff_ms` to `wait_cap_ms`; where a provider asks for a longer wait than that,
    the cell is left for a later run. `timeout_ms` bounds one try as a whole.
    """

    concurrency: Annotated[int, Field(ge=1, le=1000)] = 8
    host_concurrency: Annotated[int, Field(ge=1, le=1000)] = 32
    requests_per_minute: _Minutely = None
    tokens_per_minute: _Minutely = None
    attempts: Annotated[int, Field(ge=1, le=100)] = 5
    backoff_ms: Annotated[int, Field(ge=1, le=600_000)] = 1_000
    wait_cap_ms: Annotated[int, Field(ge=1, le=3_600_000)] = 60_000
    timeout_ms: Annotated[int, Field(ge=1, le=7_200_000)] = 300_000
