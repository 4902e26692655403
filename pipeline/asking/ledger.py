"""The ledger of one route: every response once, on the disk before the next is asked.

See docs/routes.md.

One SQLite file a route. A cell is on the disk, fully synchronised, before its worker asks the
next; triggers refuse to change, replace or delete; an exclusive lock keeps a second process out.

Beside the responses stand the attempts of paid routes. A try is put down as `sent` before it
goes out, with the most that it can cost; one that never came back is `lost`, not forgotten.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pydantic import ValidationError

from pipeline.asking.store import (
    INSERT_SENT,
    changed,
    insert,
    opened_store,
    place_of,
    select,
    unusable,
)
from pipeline.errors import ExecuteError, wrong_field
from pipeline.identity import row_digest
from schemas.execution import Attempt, Outcome, Response
from schemas.record import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["Ledger", "Sending", "Settled", "Totals", "open_ledger"]

R = TypeVar("R", bound=Row)

_UNSETTLED = """
SELECT request_digest, number, route_digest, task_id, sent_unix_ms, reserve_micros FROM sent
WHERE NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.request_digest = sent.request_digest
                  AND attempts.number = sent.number)
"""
_TOTALS = """
SELECT count(*), coalesce(sum(coalesce(cost_micros, reserve_micros)), 0),
       coalesce(sum(cost_micros IS NULL), 0), coalesce(sum(prompt_tokens), 0),
       coalesce(sum(completion_tokens), 0), coalesce(sum(latency_ms), 0)
FROM attempts WHERE route_digest = ?
"""


class Sending(NamedTuple):
    """A try that is about to go out."""

    request_digest: str
    number: int
    route_digest: str
    task_id: str
    sent_unix_ms: int
    reserve_micros: int | None


class Settled(NamedTuple):
    """A try that has come back, and the response that it gives where the cell has ended."""

    attempt: Attempt
    response: Response | None


class Totals(NamedTuple):
    """What a route's attempts add up to, over all sessions.

    `spent_micros` counts attempts of unknown cost at their reserve; `unknown` is their number.
    """

    attempts: int
    spent_micros: int
    unknown: int
    prompt_tokens: int
    completion_tokens: int
    latency_ms: int


class Ledger:
    """Responses of one route by request key, and its attempts."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def keys(self) -> set[str]:
        """Request keys (hex) that have a response. Raises as `responses` does, but for digests."""
        return {str(key) for (key,) in self._rows("SELECT request_digest FROM responses")}

    def outcomes(self) -> dict[str, str]:
        """Outcomes of all responses by request key (hex). Raises as `keys` does."""
        query = "SELECT request_digest, outcome FROM responses"
        return {str(key): str(outcome) for key, outcome in self._rows(query)}

    def add(self, row: Response | Attempt) -> None:
        """Store a row for good; the same row again changes nothing.

        Raises
        ------
        ExecuteError
            Another row is stored under the key, or the disk refuses; nothing was changed.
        """
        digest = row_digest(row)
        try:
            self._connection.execute(*insert(row, digest))
        except sqlite3.IntegrityError as problem:
            stored = self._stored_digest(row)
            if stored is None:
                raise unusable(problem, self._path) from problem
            if stored != digest:
                raise ExecuteError(
                    f"one {row.kind} for {place_of(row)}",
                    f"{digest} beside the stored {stored}",
                    str(self._path),
                    "Answers are written once: ledger or sealed table is not this run's; move it.",
                ) from problem
        except sqlite3.Error as problem:
            raise unusable(problem, self._path) from problem

    def commit(self, entries: Iterable[Sending | Settled]) -> None:
        """Put entries down together: all of them are on the disk, or none is.

        The first stored response of a cell wins. A later one is kept with its attempt and
        never takes its place.

        Raises
        ------
        ExecuteError
            The disk refuses; nothing was changed.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for entry in entries:
                    self._put(entry)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as problem:
            raise unusable(problem, self._path) from problem

    def recover(self) -> int:
        """Put down what an ended process sent and never saw come back; returns how many.

        Raises
        ------
        ExecuteError
            The file cannot be read as a ledger, or the disk refuses.
        """
        lost = [_lost(row) for row in self._rows(_UNSETTLED)]
        if lost:
            self.commit(Settled(attempt, None) for attempt in lost)
        return len(lost)

    def responses(self) -> list[Response]:
        """All responses, each checked against its digest.

        Raises
        ------
        ExecuteError
            The file cannot be read as a ledger, or a row does not give its digest.
        """
        return self._checked(Response)

    def attempts(self) -> list[Attempt]:
        """All attempts, each checked against its digest. Raises as `responses` does."""
        return self._checked(Attempt)

    def tries(self) -> dict[str, int]:
        """Highest number of an attempt by request key (hex)."""
        query = "SELECT request_digest, max(number) FROM attempts GROUP BY request_digest"
        return {str(key): int(str(number)) for key, number in self._rows(query)}

    def totals(self, route_digest: str) -> Totals:
        """What the attempts of a route add up to."""
        (row,) = self._rows(_TOTALS, (route_digest,))
        return Totals(*(int(str(value)) for value in row))

    def _put(self, entry: Sending | Settled) -> None:
        if isinstance(entry, Sending):
            self._connection.execute(INSERT_SENT, entry)
            return
        attempt, response = entry
        if response is not None:
            if self._stored_digest(response) is None:
                self._connection.execute(*insert(response, row_digest(response)))
            else:
                attempt = attempt.model_copy(update={"stored": False, "raw": response.raw})
        self._connection.execute(*insert(attempt, row_digest(attempt)))

    def _checked(self, model: type[R]) -> list[R]:
        found = []
        for digest, *values in self._rows(select(model)):
            fields = dict(zip(model.columns(), values, strict=True))
            try:
                row = model.model_validate(fields, strict=False)
            except ValidationError as problem:
                wrong = wrong_field(problem)
                where = f"{self._path}, request {fields['request_digest']}, {wrong.name}"
                raise changed(wrong.expected, wrong.found, where) from problem
            if row_digest(row) != digest:
                where = f"{self._path}, {place_of(row)}"
                raise changed(f"{row.kind} with digest {digest}", row_digest(row), where)
            found.append(row)
        return found

    def _rows(self, query: str, values: tuple[str, ...] = ()) -> list[tuple[object, ...]]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as problem:
            raise changed("a whole ledger", str(problem), str(self._path)) from problem

    def _stored_digest(self, row: Row) -> str | None:
        where = " AND ".join(f"{name} = ?" for name in row.key)
        query = f"SELECT digest FROM {row.table} WHERE {where}"  # noqa: S608  # names of ours
        found = self._connection.execute(query, row.key_of(row)).fetchone()
        return None if found is None else str(found[0])


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """The ledger at a path, created where there is none, held by this process alone.

    Raises
    ------
    ExecuteError
        Another process holds the route, or the file is no usable ledger.
    """
    with opened_store(path) as connection:
        yield Ledger(connection, path)


def _lost(row: tuple[object, ...]) -> Attempt:
    """The attempt that a row of `sent` is which never came back."""
    unknown = (
        "latency_ms", "first_byte_ms", "status", "request_id", "returned_model", "finish_reason",
        "prompt_tokens", "completion_tokens", "cost_micros",
    )  # fmt: skip
    fields = dict(zip(Sending._fields, row, strict=True)) | dict.fromkeys(unknown)
    fields |= {"outcome": Outcome.LOST, "stored": False, "headers": "{}", "raw": b""}
    fields["detail"] = "no reply came before the run ended"
    if fields["reserve_micros"] == 0:  # what can cost nothing has cost nothing
        fields["cost_micros"] = 0
    return Attempt.model_validate(fields)
