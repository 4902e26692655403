"""The routes of `params.yaml`: who is asked, told apart by the adapter that asks."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue, StringConstraints, model_validator

from schemas.endpoint import (
    BaseUrl,
    EnvironmentName,
    ExtraBody,
    HeaderName,
    Limits,
    Prices,
    Sampling,
    Usd,
    is_loopback,
)
from schemas.record import Count, Digest, Record
from schemas.release import Name

__all__ = [
    "CommandRoute",
    "ExecutionRoute",
    "OpenAiRoute",
    "Policy",
    "PolicyRoute",
    "ReplayRoute",
    "Route",
    "Share",
    "Slug",
    "Text",
]

_SLUG = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"


def _plain_slug(value: object) -> object:
    """Say in words what the pattern says; a route that is renamed takes its paid answers along."""
    if isinstance(value, str) and not re.fullmatch(_SLUG, value):
        message = (
            "a name of 1 to 64 letters, digits, _ and -, a letter or digit first (to rename a "
            "route, rename its .ledger/*.sqlite and its tables too: answers stay paid)"
        )
        raise ValueError(message)
    return value


Slug = Annotated[str, BeforeValidator(_plain_slug), StringConstraints(pattern=_SLUG)]
"""Names a route, its ledger and its table; never looks like an option of a command."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Share = Annotated[int, Field(ge=0, le=10_000)]


class Policy(StrEnum):
    """Built-in policies: deterministic answers in real text."""

    UNIFORM = "uniform"
    FIRST_THREE = "first_three"
    MOST_COMMON = "most_common"
    COOCCURRENCE = "cooccurrence"
    NOISY = "noisy"
    OPTIMUM = "optimum"

    @property
    def sees_map(self) -> bool:
        """Whether it is shown the scores: such a policy calibrates, it does not compete."""
        return self in {Policy.NOISY, Policy.OPTIMUM}


class ExecutionRoute(Record):
    """What every route has. `label` and `ranked` change how a route is shown, never its answers.

    A route with `enabled: false` is set aside: it is asked nothing and shown nowhere, and keeps its
    answers for the day on which it comes back.
    """

    adapter: str
    label: Name
    ranked: bool
    enabled: bool = True

    @property
    def asks(self) -> str:
        """Whom it asks, in a word."""
        return self.adapter

    @property
    def read_by(self) -> Literal["message", "verbatim"]:
        """The rule by which a text is read from its answers."""
        return "message"

    @property
    def sees_map(self) -> bool:
        """Whether the route is shown the scores before it answers."""
        return False


class PolicyRoute(ExecutionRoute):
    """A built-in policy.

    `seed` drives `uniform`, `noisy` and slips; `skill_bps` is the chance that `noisy` takes the
    optimum; `slips_bps` the share of answers that break the answer format; `dishes` the version
    of the starter's dishes that `most_common` and `cooccurrence` know.
    """

    adapter: Literal["policy"]
    policy: Policy
    seed: Count = 0
    skill_bps: Share | None = None
    slips_bps: Share = 0
    dishes: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _fields_fit_policy(self) -> PolicyRoute:
        for name, value, users in (
            ("skill_bps", self.skill_bps, {Policy.NOISY}),
            ("dishes", self.dishes, {Policy.MOST_COMMON, Policy.COOCCURRENCE}),
        ):
            if (self.policy in users) != (value is not None):
                message = f"{name} with policy {' or '.join(sorted(users))}, and with no other"
                raise ValueError(message)
        if self.policy == Policy.OPTIMUM and self.ranked:
            message = "ranked: false for policy optimum, which is a reference"
            raise ValueError(message)
        return self

    @property
    def asks(self) -> str:
        """The policy."""
        return self.policy.value

    @property
    def sees_map(self) -> bool:
        """Whether the policy is shown the scores before it answers."""
        return self.policy.sees_map


class ReplayRoute(ExecutionRoute):
    """Answers from a JSON Lines file, bound by the SHA-256 of its bytes."""

    adapter: Literal["replay"]
    answers: Text
    sha256: Digest
    answer_rule: Literal["message", "verbatim"] = "message"

    @property
    def asks(self) -> str:
        """The file."""
        return self.answers

    @property
    def read_by(self) -> Literal["message", "verbatim"]:
        """The rule that the route names."""
        return self.answer_rule


class OpenAiRoute(ExecutionRoute):
    """An endpoint that speaks the chat-completions API.

    Identity (what can change an answer): `adapter`, `base_url`, `model`, `accept`, `system`,
    `sampling`, `extra_body`. The rest says how to reach it, what it costs and how hard to ask.

    `accept` lists the model ids that may come back, exact or as a glob; only `model` where it is
    empty. `key_env` and `headers_env` name environment variables, never values.
    `plain_http` allows `http://` to hosts beyond this machine, `env_proxy` the proxies that the
    environment names.
    """

    adapter: Literal["openai"]
    base_url: BaseUrl
    model: Text
    accept: tuple[Text, ...] = ()
    system: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    sampling: Sampling = Sampling()
    extra_body: ExtraBody = Field(default_factory=dict)
    key_env: EnvironmentName | None = None
    headers_env: dict[HeaderName, EnvironmentName] = Field(default_factory=dict)
    price: Prices | None = None
    spend_cap_usd: Usd | None = None
    limits: Limits = Limits()
    plain_http: bool = False
    env_proxy: bool = False

    @property
    def asks(self) -> str:
        """The model."""
        return self.model

    @model_validator(mode="after")
    def _can_be_trusted(self) -> OpenAiRoute:
        if self.base_url.startswith("http:") and not (
            self.plain_http or is_loopback(self.base_url)
        ):
            message = "https, or plain_http: true, since plain HTTP shows key and answers to others"
            raise ValueError(message)
        if self.spend_cap_usd is not None and not (self.price and self.sampling.tokens_limit):
            message = "price and max_tokens beside spend_cap_usd: else nobody knows the most"
            raise ValueError(message)
        return self


class CommandRoute(ExecutionRoute):
    """A program on this machine that reads a JSON line a question and writes one an answer.

    Identity (what can change an answer): `adapter`, `argv`, `model`, `weights_sha256`, `system`,
    `settings`, which the program is sent with every question. `weights_sha256` is what the user
    declares of the weights that the program loads. `limits.concurrency` programs run side by side.
    """

    adapter: Literal["command"]
    argv: Annotated[tuple[Text, ...], Field(min_length=1, max_length=100)]
    model: Text
    weights_sha256: Digest
    system: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    limits: Limits = Limits(concurrency=1, attempts=3)

    @property
    def asks(self) -> str:
        """The model."""
        return self.model


Route = Annotated[
    PolicyRoute | ReplayRoute | OpenAiRoute | CommandRoute, Field(discriminator="adapter")
]
"""One route, told apart by its adapter."""
