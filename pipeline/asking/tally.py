"""What a run of a route has come to so far: counts for the progress table and the last line."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.asking.budget import usd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    Watch = Callable[[Sequence["Tally"]], AbstractContextManager[object]]

__all__ = ["Tally", "unwatched"]


@dataclass
class Tally:
    """One route's counts; the runner changes them, others look.

    Attributes
    ----------
    total, present
        Cells to do, and those that were stored before this run.
    stored, parked
        Cells that ended in this run, by outcome, and cells that were left open, by last outcome.
    attempts, spent_micros, unknown, prompt_tokens, completion_tokens
        Sums over all sessions; `unknown` counts attempts of unknown cost.
    state
        What the route is doing, in a word or a line.
    """

    slug: str
    total: int
    present: int
    stored: Counter[str] = field(default_factory=Counter)
    parked: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    spent_micros: int = 0
    unknown: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    state: str = "waiting"

    @property
    def asked(self) -> int:
        """Cells that ended in this run."""
        return self.stored.total()

    @property
    def done(self) -> int:
        """Cells that have ended, before or in this run."""
        return self.present + self.asked

    @property
    def failed(self) -> int:
        """Cells that ended in this run without an answer."""
        return self.asked - self.stored["ok"]

    @property
    def spent(self) -> str:
        """Money spent, for people; a tilde where some attempts count at their reserve."""
        if not self.attempts:
            return "-"
        if self.unknown and not self.spent_micros:
            return "unknown"
        return ("~" if self.unknown else "") + usd(self.spent_micros)


def unwatched(_tallies: Sequence[Tally]) -> AbstractContextManager[object]:
    """Nobody looks."""
    return nullcontext()
