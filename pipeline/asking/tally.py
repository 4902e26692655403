"""What a run of a route has come to so far: counts for the progress table and the last line."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pipeline.asking.budget import usd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    Watch = Callable[[Sequence["Tally"]], AbstractContextManager[object]]

__all__ = ["Spent", "Tally", "unwatched"]


class Spent(NamedTuple):
    """Sums over attempts; `unknown` counts those of unknown cost, which count at their reserve."""

    attempts: int = 0
    micros: int = 0
    unknown: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def less(self, other: Spent) -> Spent:
        """What came after `other`."""
        return Spent(*(mine - its for mine, its in zip(self, other, strict=True)))

    @property
    def money(self) -> str:
        """Money spent, for people; a tilde where some attempts count at their reserve."""
        if not self.attempts:
            return "-"
        if self.unknown and not self.micros:
            return "unknown"
        return ("~" if self.unknown else "") + usd(self.micros)


@dataclass
class Tally:
    """One route's counts; the runner changes them, others look.

    Attributes
    ----------
    total, present
        Cells to do, and those that were stored before this run.
    stored, parked
        Cells that ended in this run, by outcome, and cells that were left open, by last outcome.
    before
        Cells that ended before this run, by outcome.
    earlier
        What the attempts of earlier sessions came to.
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
    before: Counter[str] = field(default_factory=Counter)
    earlier: Spent = field(default_factory=Spent)
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
    def in_all(self) -> Counter[str]:
        """Cells that have ended, before or in this run, by outcome."""
        return self.before + self.stored

    @property
    def sums(self) -> Spent:
        """What all attempts came to, over all sessions."""
        return Spent(
            self.attempts,
            self.spent_micros,
            self.unknown,
            self.prompt_tokens,
            self.completion_tokens,
        )

    @property
    def now(self) -> Spent:
        """What the attempts of this run came to."""
        return self.sums.less(self.earlier)

    @property
    def spent(self) -> str:
        """Money spent over all sessions, for people."""
        return self.sums.money


def unwatched(_tallies: Sequence[Tally]) -> AbstractContextManager[object]:
    """Nobody looks."""
    return nullcontext()
