"""The ledger of one route: every response once, on the disk before the next is asked (design 6).

One SQLite file a route. One commit a cell with full synchronisation; triggers refuse to change or
delete; an exclusive lock keeps a second process out.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.errors import ExecuteError
from pipeline.identity import row_digest
from schemas.execution import Response

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Ledger", "open_ledger"]

_COLUMNS = ("digest", *Response.columns())
_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    digest TEXT NOT NULL,
    request_digest TEXT NOT NULL PRIMARY KEY,
    task_digest TEXT NOT NULL,
    route_digest TEXT NOT NULL,
    task_id TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    form TEXT NOT NULL,
    raw BLOB NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS responses_stay BEFORE DELETE ON responses
BEGIN SELECT RAISE(ABORT, 'responses are written once'); END;
CREATE TRIGGER IF NOT EXISTS responses_hold BEFORE UPDATE ON responses
BEGIN SELECT RAISE(ABORT, 'responses are written once'); END;
"""
_PLACES = ", ".join("?" * len(_COLUMNS))
_INSERT = f"INSERT INTO responses ({', '.join(_COLUMNS)}) VALUES ({_PLACES})"  # noqa: S608  # names of ours
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM responses"  # noqa: S608  # names of ours


class Ledger:
    """Responses of one route, by request key."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def keys(self) -> set[str]:
        """Request keys (hex) that have a response."""
        return {key for (key,) in self._connection.execute("SELECT request_digest FROM responses")}

    def add(self, response: Response) -> None:
        """Store a response for good; the same response again changes nothing.

        Raises
        ------
        ExecuteError
            Another response is stored under the key, or the disk refuses; nothing was changed.
        """
        digest = row_digest(response)
        values = response.model_dump(mode="python")
        row = [digest, *(_plain(values[name]) for name in _COLUMNS[1:])]
        try:
            self._connection.execute(_INSERT, row)
        except sqlite3.IntegrityError as problem:
            stored = self._stored_digest(response.request_digest)
            if stored != digest:
                raise ExecuteError(
                    f"one response for request {response.request_digest}",
                    f"{digest} beside the stored {stored}",
                    str(self._path),
                    "Answers are written once: find out which of the two files is not this run's.",
                ) from problem
        except sqlite3.Error as problem:
            raise _unusable(problem, self._path) from problem

    def responses(self) -> list[Response]:
        """All responses, each checked against its digest.

        Raises
        ------
        ExecuteError
            A row does not give its digest.
        """
        found = []
        for digest, *values in self._connection.execute(_SELECT):
            fields = dict(zip(_COLUMNS[1:], values, strict=True))
            response = Response.model_validate(fields, strict=False)
            if row_digest(response) != digest:
                raise ExecuteError(
                    f"a response with digest {digest}",
                    row_digest(response),
                    f"{self._path}, request {response.request_digest}",
                    "The ledger was changed; restore the table with `dvc checkout` and remove it.",
                )
            found.append(response)
        return found

    def _stored_digest(self, key: str) -> str:
        query = "SELECT digest FROM responses WHERE request_digest = ?"
        (digest,) = self._connection.execute(query, (key,)).fetchone()
        return str(digest)


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """The ledger at a path, created where there is none, held by this process alone.

    Raises
    ------
    ExecuteError
        Another process holds the route, or the file is no usable ledger.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        raise _unusable(problem, path) from problem
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise ExecuteError(
                "a route that no other process is asking",
                "another process at work",
                str(path),
                "Wait for it to end, or stop it; what it stored stays.",
            ) from problem
        connection = _connect(path)
        try:
            yield Ledger(connection, path)
        finally:
            connection.close()
    finally:
        os.close(lock)


def _connect(path: Path) -> sqlite3.Connection:
    connection = None
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.executescript(_SCHEMA)
    except sqlite3.Error as problem:
        if connection is not None:
            connection.close()
        raise _unusable(problem, path) from problem
    return connection


def _unusable(problem: Exception, path: Path) -> ExecuteError:
    return ExecuteError(
        "a ledger that can be written",
        str(problem),
        str(path),
        "Nothing stored is lost; make room or mend the permissions and run again.",
    )


def _plain(value: object) -> object:
    return value if isinstance(value, int | bytes) else str(value)
