"""The one tree of errors. Each says what was expected, what was found, where, and what to do.

::

    FlavourbenchError                 exit 2 unless a branch says otherwise
    ├── ParameterError                params.yaml holds a wrong key or value
    ├── UsageError                    a command was asked for something that is not there
    ├── IdentityError                 a record cannot be given a digest
    ├── TableError                    a hashed Parquet file is not what it says
    ├── ReleaseError                  a release source is not a sound release
    ├── FreezeError                   tasks cannot be compiled or are not what they claim
    ├── ExecuteError                  a route, ledger or replay file is unusable
    │   ├── ProviderError             a provider or a budget stopped the run (exit 3)
    │   └── StoppedError              the user stopped the run between cells (exit 3)
    ├── ScoreError                    cells and tasks do not fit together
    ├── StatisticsError               too little to compare, or numbers out of range
    ├── ReportError                   the leaderboard cannot be written
    ├── ProofError                    a check found a difference (exit 1)
    └── ExchangeError                 data from or for elsewhere are not what they should be

A model's failure is none of these: it is a row with a reason (docs/commands.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ExchangeError",
    "ExecuteError",
    "FlavourbenchError",
    "FreezeError",
    "IdentityError",
    "ParameterError",
    "ProofError",
    "ProviderError",
    "ReleaseError",
    "ReportError",
    "ScoreError",
    "StatisticsError",
    "StoppedError",
    "TableError",
    "UsageError",
]

_FOUND_LIMIT = 200
_WHERE_LIMIT = 300


class FlavourbenchError(Exception):
    """Root of the tree.

    Parameters
    ----------
    expected
        What would have been right, as a noun phrase.
    found
        What was there instead; shown as it is, shortened and stripped of control characters.
    where
        File, row and field, or the command-line word; its end is kept where it is shortened.
    remedy
        What the user can do next.
    details
        Lines that stand below the one line, where there is more than one thing to mend.
    """

    exit_code = 2

    def __init__(
        self, expected: str, found: str, where: str, remedy: str, details: Sequence[str] = ()
    ) -> None:
        self.expected = _printable(expected)
        self.found = _one_line(found)
        self.where = _tail(where)
        self.remedy = _printable(remedy)
        line = f"{self.where}: expected {self.expected}, found {self.found}. {self.remedy}"
        super().__init__("\n  ".join([line.rstrip(), *map(_printable, details)]))


class ParameterError(FlavourbenchError):
    """`params.yaml` holds a wrong key or value."""


class UsageError(FlavourbenchError):
    """A command was asked for something that is not there."""


class IdentityError(FlavourbenchError):
    """A record cannot be given a digest."""


class TableError(FlavourbenchError):
    """A hashed Parquet file is not what it says."""


class ReleaseError(FlavourbenchError):
    """A release source is not a sound release."""


class FreezeError(FlavourbenchError):
    """Tasks cannot be compiled, or published ones are not what they claim."""


class ExecuteError(FlavourbenchError):
    """A route, a ledger or a replay file is unusable."""


class ProviderError(ExecuteError):
    """A provider or a budget stopped the run."""

    exit_code = 3


class StoppedError(ExecuteError):
    """The user stopped the run between cells; what was stored stays.

    Parameters
    ----------
    done, total
        Cells stored, cells to do.
    """

    exit_code = 3

    def __init__(self, done: int, total: int) -> None:
        super().__init__(
            f"{total} cells", f"a stop after {done}", "execute", "Run the same command to go on."
        )


class ScoreError(FlavourbenchError):
    """Cells and tasks do not fit together."""


class StatisticsError(FlavourbenchError):
    """Too little to compare, or numbers out of range."""


class ReportError(FlavourbenchError):
    """The leaderboard cannot be written."""


class ProofError(FlavourbenchError):
    """A check found a difference: a proof does not hold, a run is not what its card says."""

    exit_code = 1


class ExchangeError(FlavourbenchError):
    """Published data, answers or training data are not what they should be."""


def _printable(text: str) -> str:
    """Text without line breaks and control characters."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _one_line(text: str) -> str:
    """Hostile or long text as one short printable line."""
    return _printable(text[:_FOUND_LIMIT]) + ("…" if len(text) > _FOUND_LIMIT else "")


def _tail(text: str) -> str:
    """A long place, less its start: row and field stand at the end."""
    return ("…" if len(text) > _WHERE_LIMIT else "") + _printable(text[-_WHERE_LIMIT:])
