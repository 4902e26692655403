"""What models may be trained on: tasks beside the core, and the rows made of them.

See docs/training.md.

A completion is the last line of an answer. Rewards are scores in basis points; the exported files
say them as shares, as published.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from schemas.record import Count, Digest, Row
from schemas.release import Name
from schemas.taskset import Bps, Family

__all__ = [
    "DevelopmentTask",
    "DpoRow",
    "GrpoRow",
    "SftRow",
    "Split",
    "TrainingTrack",
]

Split = Literal["train", "validation"]
TrainingTrack = Literal["primary", "supplemental"]


class DevelopmentTask(Row):
    """A task that may be trained on: neither it nor its anchor is in the core.

    Tasks of ranked families are `primary`; sft, dpo and grpo rows are made of them alone.
    """

    table: ClassVar[str] = "development"
    kind: ClassVar[str] = "development-task"
    key: ClassVar[tuple[str, ...]] = ("task_id",)

    task_id: Name
    task_digest: Digest
    panel: Name
    family: Family
    anchor: Name
    track: TrainingTrack
    split: Split


class SftRow(Row):
    """A prompt and its optimal completion."""

    table: ClassVar[str] = "sft"
    kind: ClassVar[str] = "sft-row"
    key: ClassVar[tuple[str, ...]] = ("task_id",)

    task_id: Name
    family: Family
    anchor: Name
    split: Split
    prompt: str
    completion: str
    margin_bps: Bps
    reward_bps: Bps


class DpoRow(Row):
    """A prompt with a better and a worse completion; `pair` counts from 1."""

    table: ClassVar[str] = "dpo"
    kind: ClassVar[str] = "dpo-row"
    key: ClassVar[tuple[str, ...]] = ("task_id", "pair")

    task_id: Name
    pair: Count
    family: Family
    anchor: Name
    split: Split
    prompt: str
    chosen: str
    rejected: str
    chosen_bps: Bps
    rejected_bps: Bps
    gap_bps: Bps


class GrpoRow(Row):
    """A prompt with its candidates and the score of all 56 portfolios."""

    table: ClassVar[str] = "grpo"
    kind: ClassVar[str] = "grpo-row"
    key: ClassVar[tuple[str, ...]] = ("task_id",)

    task_id: Name
    family: Family
    anchor: Name
    split: Split
    prompt: str
    choices: Annotated[tuple[str, ...], Field(min_length=8, max_length=8)]
    scores_bps: Annotated[tuple[Bps, ...], Field(min_length=56, max_length=56)]
