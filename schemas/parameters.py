"""The shape of `params.yaml`: one section a stage, and the routes by slug."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    StringConstraints,
    model_validator,
)

from schemas.record import Count, Record
from schemas.routes import PolicyRoute, Route, Share, Slug, Text
from schemas.taskset import Family

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BundleRelease",
    "FileName",
    "FreezeParameters",
    "PanelParameters",
    "Parameters",
    "PublishedFiles",
    "PublishedRelease",
    "ReleaseParameters",
    "RuleCore",
    "StarterRelease",
    "StatisticsParameters",
]

FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]


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
    tasks are the common core itself (docs/published.md).
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

    `drop_unscoreable` drops candidates without a usable map before stratifying (docs/tasks.md).
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
    """Which tasks may be trained on, and what is made of them (docs/training.md).

    `salt` fixes the split, `validation_bps` is the validation share of every panel and family,
    `minimum_gap_bps` the smallest difference of two portfolios that make a preference pair.
    """

    salt: Text
    validation_bps: Share
    minimum_gap_bps: Annotated[int, Field(ge=1, le=10_000)]


class ReportParameters(Record):
    """What stands at the head of the report; without a title, the release's name."""

    title: Text | None = None


class Parameters(Record):
    """All of `params.yaml`. Once read, `routes` holds those that are not set aside."""

    release: Annotated[ReleaseParameters, Field(discriminator="source")]
    freeze: Annotated[FreezeParameters | PublishedFreeze, Field(discriminator="source")]
    routes: Annotated[dict[Slug, Route], Field(min_length=1)]
    parse: ParseParameters
    score: ScoreParameters
    statistics: StatisticsParameters
    train: TrainParameters
    report: ReportParameters

    _set_aside: dict[str, Route] = PrivateAttr(default_factory=dict)

    @property
    def set_aside(self) -> Mapping[str, Route]:
        """Routes with `enabled: false`, which `routes` leaves out."""
        return self._set_aside

    @property
    def all_routes(self) -> Mapping[str, Route]:
        """Every route that `params.yaml` names."""
        return {**self.routes, **self._set_aside}

    @model_validator(mode="after")
    def _routes_set_aside(self) -> Parameters:
        """Part the routes once, so that nobody who reads `routes` can forget to."""
        kept = {slug: route for slug, route in self.routes.items() if route.enabled}
        if not kept:
            message = "at least one route without enabled: false"
            raise ValueError(message)
        self._set_aside = {slug: r for slug, r in self.routes.items() if not r.enabled}
        self.__dict__["routes"] = kept  # the model is frozen for everyone else
        return self

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
        knowing = [
            slug
            for slug, route in self.routes.items()
            if isinstance(route, PolicyRoute) and route.dishes is not None
        ]
        if knowing and not isinstance(self.release, StarterRelease):
            message = (
                "release.source starter beside routes that read its dishes "
                f"({', '.join(knowing)}; remove them to use a release of source "
                f"{self.release.source}, of which the dishes say nothing)"
            )
            raise ValueError(message)
        return self
