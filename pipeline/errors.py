"""The one tree of errors. Each says what was expected, what was found, where, and what to do.

::

    FlavourbenchError                 exit 2 unless a branch says otherwise
    ├── InputError                    parameters, words of a command, files or values are wrong
    ├── TableError                    a hashed Parquet file is not what it says
    ├── ReleaseError                  a release source is not a sound release
    ├── ExecuteError                  a route, ledger or replay file is unusable
    │   ├── ProviderError             a provider or a budget stopped the run (exit 3)
    │   └── StoppedError              the user stopped the run between cells (exit 3)
    └── ProofError                    a check found a difference (exit 1)

Classes are those that some caller tells apart. Code never reads an error's words: where one kind of
error needs an answer of its own, the error carries its `cause`.

A model's failure is none of these: it is a row with a reason (docs/commands.md).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import ValidationError

__all__ = [
    "Cause",
    "ExecuteError",
    "FlavourbenchError",
    "InputError",
    "ProofError",
    "ProviderError",
    "ReleaseError",
    "StoppedError",
    "TableError",
    "WrongField",
    "wrong_field",
]

_FOUND_LIMIT = 200
_WHERE_LIMIT = 300


class Cause(StrEnum):
    """What an error comes from, where some caller acts on it."""

    INVALID = "invalid"
    MISSING = "missing"
    NO_JSON = "no_json"


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
    cause
        `missing`: there is no such file. `no_json`: bytes that are no JSON in UTF-8 at all.
        `invalid`: all else.
    """

    exit_code = 2

    def __init__(
        self,
        expected: str,
        found: str,
        where: str,
        remedy: str,
        details: Sequence[str] = (),
        *,
        cause: Cause = Cause.INVALID,
    ) -> None:
        self.cause = cause
        self.expected = _printable(expected)
        self.found = _one_line(found)
        self.where = _tail(where)
        self.remedy = _printable(remedy)
        line = f"{self.where}: expected {self.expected}, found {self.found}. {self.remedy}"
        super().__init__("\n  ".join([line.rstrip(), *map(_printable, details)]))


class InputError(FlavourbenchError):
    """What someone gave is not what it should be: parameters, words, files, values to digest."""


class TableError(FlavourbenchError):
    """A hashed Parquet file is not what it says."""


class ReleaseError(FlavourbenchError):
    """A release source is not a sound release."""


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


class ProofError(FlavourbenchError):
    """A check found a difference: a proof does not hold, a run is not what its card says."""

    exit_code = 1


class WrongField(NamedTuple):
    """The first of what a model finds wrong with a document.

    Attributes
    ----------
    name
        Its keys and indices, joined by points.
    expected, found
        What the model says of it, and its value as Python writes it.
    """

    name: str
    expected: str
    found: str


def wrong_field(problem: ValidationError, whole: str = "all fields") -> WrongField:
    """The first fault that a model found; `whole` is its name where no one field is at fault."""
    first = problem.errors(include_url=False)[0]
    name = ".".join(map(str, first["loc"])) or whole
    return WrongField(name, first["msg"], repr(first["input"]))


def _printable(text: str) -> str:
    """Text without line breaks and control characters."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _one_line(text: str) -> str:
    """Hostile or long text as one short printable line."""
    return _printable(text[:_FOUND_LIMIT]) + ("…" if len(text) > _FOUND_LIMIT else "")


def _tail(text: str) -> str:
    """A long place, less its start: row and field stand at the end."""
    return ("…" if len(text) > _WHERE_LIMIT else "") + _printable(text[-_WHERE_LIMIT:])
