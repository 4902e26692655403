"""What a check says: so many of so many items count, and why the others do not."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from schemas.kitchen import Flag

__all__ = ["FAILED", "Evidence", "Result", "Scanner", "Status", "Tally", "Verdict", "one"]


class Status(StrEnum):
    """Whether a check has a score. A check that is not listed for a case is not applicable."""

    SCORED = "scored"
    ABSTAIN = "abstain"
    NOT_APPLICABLE = "not_applicable"


class Evidence(NamedTuple):
    """One line on an item: where it lies, what is the matter, what was found, what was wanted."""

    path: str
    code: str
    got: str
    want: str


class Result(NamedTuple):
    """What a check says of an answer.

    Attributes
    ----------
    numerator, denominator
        Items that count, items that are known; both 0 unless the check is scored.
    reason
        Why it abstains; else empty.
    evidence
        In the order of the answer.
    """

    numerator: int
    denominator: int
    status: Status
    reason: str
    evidence: tuple[Evidence, ...]


FAILED = Result(0, 1, Status.SCORED, "", ())
"""What every applicable check says of an answer that could not be read."""


class Verdict(Protocol):
    """What a scan says: `flag`, `clear` or `needs_label`."""

    @property
    def value(self) -> str:
        """The verdict's name."""
        ...


class Scanner(Protocol):
    """Looks for one flag in one text."""

    def __call__(self, text: str, flag: Flag, /) -> Verdict:
        """Scan a text."""
        ...


class Tally:
    """Counts items. One that cannot be known leaves the denominator."""

    def __init__(self) -> None:
        self._good = 0
        self._known = 0
        self._lines: list[tuple[int, Evidence]] = []
        self._unknown = "no_item"

    def counts(self) -> None:
        """One item counts."""
        self._good += 1
        self._known += 1

    def fails(self, path: str, code: str, got: Any, want: Any, *, place: int = 0) -> None:
        """One item does not count; `place` orders lines of items looked at in another order."""
        self._known += 1
        self._lines.append((place, Evidence(path, code, str(got), str(want))))

    def leaves(self, path: str, code: str, got: Any, want: Any) -> None:
        """One item cannot be known; the check abstains for this reason if none can."""
        self._unknown = code
        self._lines.append((0, Evidence(path, code, str(got), str(want))))

    def notes(self, path: str, code: str, got: Any, want: Any) -> None:
        """A line that is about no item of its own."""
        self._lines.append((0, Evidence(path, code, str(got), str(want))))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All lines in the order of the answer."""
        return tuple(line for _, line in sorted(self._lines, key=lambda line: line[0]))

    def result(self) -> Result:
        """What was counted."""
        if not self._known:
            return Result(0, 0, Status.ABSTAIN, self._unknown, self.evidence)
        return Result(self._good, self._known, Status.SCORED, "", self.evidence)


def one(*faults: Evidence | None) -> Result:
    """A check of one item: it counts unless there is a fault; the first is told."""
    found = next((fault for fault in faults if fault), None)
    return Result(int(not found), 1, Status.SCORED, "", (found,) if found else ())
