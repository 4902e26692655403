"""The shape of `params.yaml`: one section a stage, and the routes by slug."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

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
from schemas.taskset import Family

__all__ = [
    "BundleRelease",
    "CommandRoute",
    "ExecutionRoute",
    "FileName",
    "FreezeParameters",
    "OpenAiRoute",
    "PanelParameters",
    "Parameters",
    "ParseParameters",
    "PlanCore",
    "Policy",
    "PolicyRoute",
    "PublishedFiles",
    "PublishedFreeze",
    "PublishedRelease",
    "ReleaseParameters",
    "ReplayRoute",
    "ReportParameters",
    "Route",
    "RuleCore",
    "ScoreParameters",
    "Slug",
    "StarterRelease",
    "StatisticsParameters",
    "TrainParameters",
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
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
Share = Annotated[int, Field(ge=0, le=10_000)]


def _each_once(families: tuple[Family, ...]) -> tuple[Family, ...]:
    if len(set(families)) != len(families):
        message = "every family once"
        raise ValueError(message)
    return families


Families = Annotated[tuple[Family, ...], Field(min_length=1), AfterValidator(_each_once)]
ContractName = Literal["selection-set-v3", "selection-set-v4"]


class PublishedFiles(Record):
    """Files of a published release within its folder.

    Either a task set a panel, and perhaps the plan; or the manifest of a published data set, whose
    tasks are the common core itself (spec 6).
    """

    panels: dict[Slug, FileName] = Field(default_factory=dict)
    plan: FileName | None = None
    manifest: FileName | None = None

    @model_validator(mode="after")
    def _sets_or_manifest(self) -> PublishedFiles:
        if bool(self.panels) == bool(self.manifest) or (self.plan and self.manifest):
            message = "either panels (and perhaps a plan) or a manifest"
            raise ValueError(message)
        return self


class StarterRelease(Record):
    """The embedded starter release, in one of its versions."""

    source: Literal["starter"]
    path: Text
    version: Annotated[int, Field(ge=1)]


class BundleRelease(Record):
    """An Epicure bundle's folder."""

    source: Literal["bundle"]
    path: Text


class PublishedRelease(Record):
    """A published release's folder and its files in it."""

    source: Literal["published"]
    path: Text
    published: PublishedFiles


ReleaseParameters = StarterRelease | BundleRelease | PublishedRelease
"""Where the release comes from, told apart by `source`."""


class PanelParameters(Record):
    """One compiled panel.

    `drop_unscoreable` drops candidates without a usable map before stratifying (spec 2).
    """

    seed: Text
    prefix: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*-$", max_length=60)]
    drop_unscoreable: bool


class FreezeParameters(Record):
    """Tasks compiled from the release. `quota` is per panel, family and stratum."""

    source: Literal["compiled"]
    panels: Annotated[dict[Slug, PanelParameters], Field(min_length=1)]
    families: Families
    quota: Annotated[int, Field(ge=1, le=10_000)]
    category_cap: Annotated[int, Field(ge=1)]
    minimum_categories: Annotated[int, Field(ge=1, le=14)]
    excluded_anchors: tuple[str, ...]

    @model_validator(mode="after")
    def _prefixes_differ(self) -> FreezeParameters:
        if len({panel.prefix for panel in self.panels.values()}) != len(self.panels):
            message = "a prefix of its own for every panel, since it names the panel's tasks"
            raise ValueError(message)
        return self


class PublishedFreeze(Record):
    """A published release's tasks, as they are; only those of `families`."""

    source: Literal["published"]
    families: Families


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
    """What every route has. `label` and `ranked` change how a route is shown, never its answers."""

    adapter: str
    label: Name
    ranked: bool

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


class ParseParameters(Record):
    """The contract that reads answers, and one more whose effect the report shows."""

    contract: ContractName
    alternative: ContractName


class RuleCore(Record):
    """The first `size` tasks of every panel and family by hash under `context`.

    Without a size, as many as the smallest stratum has.
    """

    source: Literal["rule"]
    context: Text
    size: Annotated[int, Field(ge=1)] | None


class PlanCore(Record):
    """The tasks of a published analysis plan."""

    source: Literal["plan"]


class ScoreParameters(Record):
    """The ranked families and the common core."""

    families: Families
    core: Annotated[RuleCore | PlanCore, Field(discriminator="source")]


class StatisticsParameters(Record):
    """Draws and their stream."""

    stream: Literal["blake3", "pcg64"]
    seed: Count
    bootstrap: Annotated[int, Field(ge=100, le=1_000_000)]
    sign_flips: Annotated[int, Field(ge=100, le=1_000_000)]


class TrainParameters(Record):
    """Which tasks may be trained on, and what is made of them (spec 7).

    `salt` fixes the split, `validation_bps` is the validation share of every panel and family,
    `minimum_gap_bps` the smallest difference of two portfolios that make a preference pair.
    """

    salt: Text
    validation_bps: Share
    minimum_gap_bps: Annotated[int, Field(ge=1, le=10_000)]


class ReportParameters(Record):
    """What stands at the head of the report."""

    title: Text


class Parameters(Record):
    """All of `params.yaml`."""

    release: Annotated[ReleaseParameters, Field(discriminator="source")]
    freeze: Annotated[FreezeParameters | PublishedFreeze, Field(discriminator="source")]
    routes: Annotated[dict[Slug, Route], Field(min_length=1)]
    parse: ParseParameters
    score: ScoreParameters
    statistics: StatisticsParameters
    train: TrainParameters
    report: ReportParameters

    @model_validator(mode="after")
    def _slugs_differ(self) -> Parameters:
        taken: dict[str, str] = {}
        for slug in self.routes:
            other = taken.setdefault(slug.lower(), slug)
            if other != slug:
                message = f"slugs that differ by more than case (not {other} and {slug})"
                raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _sections_fit(self) -> Parameters:
        published = self.release if isinstance(self.release, PublishedRelease) else None
        if isinstance(self.freeze, PublishedFreeze) != (published is not None):
            message = "freeze.source published with release.source published, and only with it"
            raise ValueError(message)
        plan = published and (published.published.plan or published.published.manifest)
        if isinstance(self.score.core, PlanCore) and not plan:
            message = (
                "score.core.source plan with a published release that names its plan or manifest"
            )
            raise ValueError(message)
        unknown = [name for name in self.score.families if name not in self.freeze.families]
        if unknown:
            message = f"score.families among freeze.families (not {unknown[0].value})"
            raise ValueError(message)
        return self
