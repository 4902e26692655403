"""Frozen tasks, the identity of their set, the parser contracts, and diagnostics.

See docs/tasks.md and docs/parsing.md.
"""

from __future__ import annotations

import itertools
from enum import StrEnum
from typing import Annotated, ClassVar, Protocol

from pydantic import Field

from schemas.record import Count, Digest, Record, Row
from schemas.release import Label, Name, Provenance

__all__ = [
    "BEST_BPS",
    "CONTRACTS",
    "LABELS",
    "PORTFOLIOS",
    "Diagnostic",
    "Family",
    "Forgiveness",
    "ParserContract",
    "Task",
    "TaskSet",
    "score_map",
    "score_of",
]

LABELS = "ABCDEFGH"
"""Labels of the eight candidates."""

PORTFOLIOS = tuple("".join(three) for three in itertools.combinations(LABELS, 3))
"""The 56 portfolios in the order of every score map: ABC, ABD, … FGH."""

_PLACES = {portfolio: place for place, portfolio in enumerate(PORTFOLIOS)}

BEST_BPS = 10_000
"""Score of the optimum, in basis points."""

Bps = Annotated[int, Field(ge=0, le=BEST_BPS)]
"""Basis points of a score."""


class Family(StrEnum):
    """Families of tasks, in the order in which panels are compiled."""

    SUBSTITUTION = "substitution"
    PAIRING = "pairing"
    CONSTRAINT = "constraint"
    CULTURAL = "cultural_composition"


class Task(Row):
    """One frozen decision: an anchor, eight candidates, and the score of all 56 portfolios."""

    table: ClassVar[str] = "tasks"
    kind: ClassVar[str] = "task"
    key: ClassVar[tuple[str, ...]] = ("task_id",)

    task_id: Name
    panel: Name
    family: Family
    variant: str | None
    anchor: Name
    category: Name
    region: str | None
    stratum: Annotated[int, Field(ge=1, le=4)]
    choices: Annotated[tuple[str, ...], Field(min_length=8, max_length=8)]
    scores_bps: Annotated[tuple[Bps, ...], Field(min_length=56, max_length=56)]
    optimum: Label
    chance_bps: Bps
    margin_bps: Bps
    prompt: str


class Scored(Protocol):
    """What has a score map: a task, or a task's map under another release."""

    @property
    def scores_bps(self) -> tuple[int, ...]:
        """Scores in the order of `PORTFOLIOS`, in basis points."""


def score_of(scored: Scored, portfolio: str) -> int:
    """The score of a portfolio in basis points."""
    return scored.scores_bps[_PLACES[portfolio]]


def score_map(scored: Scored) -> dict[str, int]:
    """Scores in basis points by portfolio."""
    return dict(zip(PORTFOLIOS, scored.scores_bps, strict=True))


class TaskSet(Row):
    """Identity of a task set: release, design, parser contract and the ordered task digests."""

    table: ClassVar[str] = "taskset"
    kind: ClassVar[str] = "taskset"
    key: ClassVar[tuple[str, ...]] = ("release_digest",)

    release_digest: Digest
    design_digest: Digest
    parser_contract_digest: Digest
    task_digests: tuple[Digest, ...]
    design: str
    parser_contract: str
    published: tuple[Provenance, ...]

    @property
    def parser(self) -> ParserContract:
        """The contract that answers to these tasks are read under."""
        return ParserContract.model_validate_json(self.parser_contract)


class Diagnostic(Row):
    """What the maps of one panel and family look like before any model is asked.

    `mean_chance_millibps` and `median_margin_millibps` are thousandths of a basis point;
    `mean_distinct_milli` is the mean number of different scores of a map, in thousandths;
    `feasible_ppm` is the share of feasible portfolios in millionths.
    """

    table: ClassVar[str] = "diagnostics"
    kind: ClassVar[str] = "diagnostic"
    key: ClassVar[tuple[str, ...]] = ("panel", "family")

    panel: Name
    family: Family
    tasks: Count
    categories: Count
    mean_chance_millibps: Count
    median_margin_millibps: Count
    mean_distinct_milli: Count
    feasible_ppm: Count


class Forgiveness(StrEnum):
    """What a parser contract may read past (docs/parsing.md)."""

    CLOSING_EMPHASIS = "closing_emphasis"
    NAME_EMPHASIS = "name_emphasis"  # every contract has it, so the reader does not ask
    CLOSE_TOKEN = "close_token"  # noqa: S105  # a model's stray end-of-turn mark
    FINAL_FULL_STOP = "final_full_stop"
    AND_BEFORE_LAST = "and_before_last"
    DOLLAR_MATH = "dollar_math"
    ESCAPED_UNDERSCORE = "escaped_underscore"
    LABEL_WITH_OWN_NAME = "label_with_own_name"


class ParserContract(Record):
    """What a parser reads as a selection, and what it forgives (docs/parsing.md).

    `revision` rises when the meaning of a rule changes; it is part of the contract's digest.
    """

    name: str
    revision: Count
    forgives: tuple[Forgiveness, ...]


CONTRACTS = {
    contract.name: contract
    for contract in (
        ParserContract(
            name="selection-set-v3",
            revision=1,
            forgives=(
                Forgiveness.CLOSING_EMPHASIS,
                Forgiveness.NAME_EMPHASIS,
                Forgiveness.CLOSE_TOKEN,
            ),
        ),
        ParserContract(name="selection-set-v4", revision=1, forgives=tuple(Forgiveness)),
    )
}
"""The known parser contracts by name."""

PUBLISHED_CONTRACT = "selection-set-v3"
"""What published answers were scored under, and published training rows are."""
