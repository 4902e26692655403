"""What training files are for and how they are written: apart, so that help stays quick."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Format", "Kind"]


class Kind(StrEnum):
    """What a file is for."""

    SFT = "sft"
    DPO = "dpo"
    GRPO = "grpo"
    TASKS = "tasks"


class Format(StrEnum):
    """How a file is written."""

    JSONL = "jsonl"
    PARQUET = "parquet"
