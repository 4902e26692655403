"""From answers to the leaderboard: selections, scores, the core, and what is inferred.

See docs/core.md.

Units: `_bps` basis points of a score, `_microbps` millionths of a basis point, `_ppb` parts per
1,000,000,000. A p-value is the exact fraction `*_numerator / p_denominator`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from schemas.record import Count, Digest, Record, Row
from schemas.release import Label, Name
from schemas.taskset import Bps, Family

__all__ = [
    "Answer",
    "CellStatus",
    "Chance",
    "Contrast",
    "CoreTask",
    "Coverage",
    "FamilyScore",
    "Inference",
    "PanelAgreement",
    "PanelScore",
    "Reason",
    "Reference",
    "Score",
    "Selection",
    "Standing",
    "Usage",
]

Signed = Annotated[int, Field(ge=-(2**53 - 1), le=2**53 - 1)]


class CellStatus(StrEnum):
    """What became of one cell."""

    PARSED = "parsed"
    UNPARSEABLE = "unparseable"
    FAILED = "failed"
    MISSING = "missing"


class Reason(StrEnum):
    """Why an answer is unparseable; each unparseable answer has exactly one (docs/parsing.md)."""

    NO_MARKER = "no_marker"
    EMPTY_MARKER = "empty_marker"
    WRONG_COUNT = "wrong_count"
    UNKNOWN_ITEM = "unknown_item"
    DUPLICATE_ITEM = "duplicate_item"
    WRAPPER = "wrapper"
    CONFLICT = "conflict"


class Selection(Row):
    """One cell, read: every route has one for every frozen task, also where nothing came back."""

    table: ClassVar[str] = "selections"
    kind: ClassVar[str] = "selection"
    key: ClassVar[tuple[str, ...]] = ("slug", "task_id")

    slug: Name
    task_id: Name
    task_digest: Digest
    route_digest: Digest
    response_digest: Digest | None
    status: CellStatus
    outcome: str | None
    reason: Reason | None
    selection: Label | None
    alternative_selection: Label | None


class Answer(Row):
    """What came back for a cell, as text with its reasoning, for people to read.

    Where the bytes hold no text, they stand here with what is no UTF-8 escaped.
    """

    table: ClassVar[str] = "answers"
    kind: ClassVar[str] = "answer"
    key: ClassVar[tuple[str, ...]] = ("response_digest",)

    response_digest: Digest
    text: str


class Usage(Row):
    """What the attempts of one route, as it is now, have used over all sessions.

    Tokens and cost are sums of what is known; `unknown_cost` counts the attempts whose cost nobody
    knows, which are not free. Built-in policies and replays make no attempts.
    """

    table: ClassVar[str] = "usage"
    kind: ClassVar[str] = "usage"
    key: ClassVar[tuple[str, ...]] = ("slug",)

    slug: Name
    route_digest: Digest
    attempts: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost_micros: Count
    unknown_cost: Count


class Score(Row):
    """The score of one parsed cell: a look-up in the task's map."""

    table: ClassVar[str] = "scores"
    kind: ClassVar[str] = "score"
    key: ClassVar[tuple[str, ...]] = ("slug", "task_id")

    slug: Name
    task_id: Name
    task_digest: Digest
    selection_digest: Digest
    score_bps: Bps


class CoreTask(Row):
    """One task of the common core, with its place in the hash order of its panel and family."""

    table: ClassVar[str] = "core"
    kind: ClassVar[str] = "core-task"
    key: ClassVar[tuple[str, ...]] = ("panel", "family", "position")

    panel: Name
    family: Family
    position: Count
    task_id: Name
    task_digest: Digest


class Coverage(Row):
    """Denominators of one route in one panel and family; the parts sum to `expected`."""

    table: ClassVar[str] = "coverage"
    kind: ClassVar[str] = "coverage"
    key: ClassVar[tuple[str, ...]] = ("slug", "panel", "family")

    slug: Name
    panel: Name
    family: Family
    expected: Count
    completed: Count
    parsed: Count
    missing: Count
    failed: Count
    no_marker: Count
    empty_marker: Count
    wrong_count: Count
    unknown_item: Count
    duplicate_item: Count
    wrapper: Count
    conflict: Count
    alternative_parsed: Count
    core: Count


class FamilyScore(Record):
    """Mean score of one family over the core."""

    family: Family
    tasks: Count
    score_microbps: Count


class Standing(Row):
    """One line of the leaderboard."""

    table: ClassVar[str] = "leaderboard"
    kind: ClassVar[str] = "standing"
    key: ClassVar[tuple[str, ...]] = ("slug",)

    slug: Name
    label: Name
    route_digest: Digest
    rank: Count
    group: Count
    tasks: Count
    score_microbps: Count
    se_microbps: Count
    pointwise_low_microbps: Signed
    pointwise_high_microbps: Signed
    band_low_microbps: Signed
    band_high_microbps: Signed
    rank_low: Count
    rank_high: Count
    families: tuple[FamilyScore, ...]


class Reference(Row):
    """An unranked route on the same core; it has a score only where it answered every core task."""

    table: ClassVar[str] = "references"
    kind: ClassVar[str] = "reference"
    key: ClassVar[tuple[str, ...]] = ("slug",)

    slug: Name
    label: Name
    route_digest: Digest
    tasks: Count
    covered: Count
    score_microbps: Count | None
    families: tuple[FamilyScore, ...]


class Contrast(Row):
    """Two ranked routes on the same tasks; the difference is left minus right."""

    table: ClassVar[str] = "contrasts"
    kind: ClassVar[str] = "contrast"
    key: ClassVar[tuple[str, ...]] = ("left", "right")

    left: Name
    right: Name
    tasks: Count
    difference_microbps: Signed
    low_microbps: Signed
    high_microbps: Signed
    dz_ppb: Signed | None
    wins: Count
    ties: Count
    losses: Count
    p_numerator: Count
    holm_numerator: Count
    p_denominator: Count
    resolved: bool


class Chance(Row):
    """One ranked route against the exact chance of its tasks."""

    table: ClassVar[str] = "chance"
    kind: ClassVar[str] = "chance"
    key: ClassVar[tuple[str, ...]] = ("slug",)

    slug: Name
    tasks: Count
    chance_microbps: Count
    difference_microbps: Signed
    low_microbps: Signed
    high_microbps: Signed
    p_numerator: Count
    holm_numerator: Count
    p_denominator: Count
    above_chance: bool


class PanelScore(Row):
    """Score and rank of one ranked route on one panel alone."""

    table: ClassVar[str] = "panels"
    kind: ClassVar[str] = "panel-score"
    key: ClassVar[tuple[str, ...]] = ("panel", "slug")

    panel: Name
    slug: Name
    tasks: Count
    score_microbps: Count
    rank: Count


class PanelAgreement(Row):
    """How two panels order the same routes; none where a panel's scores are all equal."""

    table: ClassVar[str] = "agreement"
    kind: ClassVar[str] = "panel-agreement"
    key: ClassVar[tuple[str, ...]] = ("first", "second")

    first: Name
    second: Name
    routes: Count
    pearson_ppb: Signed | None
    spearman_ppb: Signed | None


class Inference(Row):
    """How the intervals and tests were made, and what holds for all of them."""

    table: ClassVar[str] = "inference"
    kind: ClassVar[str] = "inference"
    key: ClassVar[tuple[str, ...]] = ("taskset_digest",)

    taskset_digest: Digest
    stream: str
    seed: Count
    bootstrap: Count
    sign_flips: Count
    exact: bool
    alpha_ppm: Count
    routes: Count
    tasks: Count
    clusters: Count
    critical_value_ppb: Count
    contrasts: Count
    resolved: Count
