"""What an audit is made of: steps with their marks and evidence, and the rows behind them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import Cause, FlavourbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipeline.audit.layout import TableEntry
    from pipeline.audit.lookup import Claim

__all__ = ["Audit", "AuditStep", "Mark", "attempt", "checked", "proof_line"]


class Mark(StrEnum):
    """How a step ended: derived and equal, derived and other, not derivable, not done."""

    OK = "ok"
    DIFFERS = "differs"
    SEALED = "taken as sealed"
    UNKNOWN = "not checked"


class AuditStep(NamedTuple):
    """One step: its title, how it ended, and its evidence in lines."""

    title: str
    mark: Mark
    lines: tuple[str, ...]


class Audit(NamedTuple):
    """What is behind one hash.

    Attributes
    ----------
    subject
        What the hash names, in words.
    run
        Identity (hex) of the run that it belongs to.
    entries
        The run's tables.
    steps
        In the order of the chain.
    claims
        The rows that a portable proof can carry.
    raw
        The response's bytes as they came; none where none are at hand.
    """

    subject: str
    run: str
    entries: tuple[TableEntry, ...]
    steps: tuple[AuditStep, ...]
    claims: tuple[Claim, ...]
    raw: bytes | None

    @property
    def differs(self) -> bool:
        """Whether any step found a difference."""
        return any(step.mark is Mark.DIFFERS for step in self.steps)


def checked(title: str, holds: bool, *lines: str) -> AuditStep:
    """A step that was derived again and holds, or does not."""
    return AuditStep(title, Mark.OK if holds else Mark.DIFFERS, lines)


def attempt(title: str, step: Callable[[], AuditStep]) -> AuditStep:
    """A step, or why it could not be taken: what is missing is no difference."""
    try:
        return step()
    except FlavourbenchError as problem:
        mark = Mark.UNKNOWN if problem.cause is Cause.MISSING else Mark.DIFFERS
        said = f"{problem.where}: expected {problem.expected}, found {problem.found}"
        return AuditStep(title, mark, (said, problem.remedy))


def proof_line(claim: Claim) -> str:
    """What an inclusion proof shows, in one line."""
    proof = claim.proof
    return (
        f"{claim.place.model.kind} {claim.digest[:16]}… is row {proof.position} of {proof.rows} of "
        f"{claim.place.word} {claim.header.root[:16]}… by {len(proof.siblings)} hashes"
    )
