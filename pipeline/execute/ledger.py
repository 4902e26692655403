"""The ledger of one route: every response once, on the disk before the next is asked (design 6).

One SQLite file a route. One commit a cell with full synchronisation; triggers refuse to change,
replace or delete; an exclusive lock keeps a second process out.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import ValidationError

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
CREATE TRIGGER IF NOT EXISTS responses_come_once BEFORE INSERT ON responses
WHEN EXISTS (SELECT 1 FROM responses WHERE request_digest = NEW.request_digest)
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
        """Request keys (hex) that have a response. Raises as `responses` does, but for digests."""
        return {str(key) for (key,) in self._rows("SELECT request_digest FROM responses")}

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
            if stored is None:
                raise _unusable(problem, self._path) from problem
            if stored != digest:
                raise ExecuteError(
                    f"one response for request {response.request_digest}",
                    f"{digest} beside the stored {stored}",
                    str(self._path),
                    "Answers are written once: ledger or sealed table is not this run's; move it.",
                ) from problem
        except sqlite3.Error as problem:
            raise _unusable(problem, self._path) from problem

    def responses(self) -> list[Response]:
        """All responses, each checked against its digest.

        Raises
        ------
        ExecuteError
            The file cannot be read as a ledger, or a row does not give its digest.
        """
        found = []
        for digest, *values in self._rows(_SELECT):
            fields = dict(zip(_COLUMNS[1:], values, strict=True))
            try:
                response = Response.model_validate(fields, strict=False)
            except ValidationError as problem:
                first = problem.errors()[0]
                field = ".".join(str(part) for part in first["loc"])
                where = f"{self._path}, request {fields['request_digest']}, {field}"
                raise _changed(first["msg"], repr(first["input"]), where) from problem
            if row_digest(response) != digest:
                where = f"{self._path}, request {response.request_digest}"
                raise _changed(f"a response with digest {digest}", row_digest(response), where)
            found.append(response)
        return found

    def _rows(self, query: str) -> list[tuple[object, ...]]:
        try:
            return self._connection.execute(query).fetchall()
        except sqlite3.Error as problem:
            raise _changed("a whole ledger", str(problem), str(self._path)) from problem

    def _stored_digest(self, key: str) -> str | None:
        query = "SELECT digest FROM responses WHERE request_digest = ?"
        row = self._connection.execute(query, (key,)).fetchone()
        return None if row is None else str(row[0])


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """The ledger at a path, created where there is none, held by this process alone.

    Raises
    ------
    ExecuteError
        Another process holds the route, or the file is no usable ledger.
    """
    beside = path.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_irregular(beside)
        _refuse_irregular(path)
        lock = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as problem:
        raise _unusable(problem, path) from problem
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise ExecuteError(
                "a route that no other process is asking",
                "another process at work",
                str(path),
                "Wait for it to end, or stop it; what it stored stays.",
            ) from problem
        except OSError as problem:
            raise _unusable(problem, path) from problem
        connection = _connect(path)
        try:
            yield Ledger(connection, path)
        finally:
            connection.close()
    finally:
        os.close(lock)


def _refuse_irregular(path: Path) -> None:
    """Refuse a symbolic link or anything else that stands where a file of ours belongs."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise ExecuteError(
            "a regular file",
            "a symbolic link" if stat.S_ISLNK(mode) else "something else",
            str(path),
            "Move it away; ledger and lock are never reached through a link.",
        )


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
        if isinstance(problem, sqlite3.OperationalError):
            raise _unusable(problem, path) from problem
        raise _changed("a whole ledger", str(problem), str(path)) from problem
    return connection


def _unusable(problem: Exception, path: Path) -> ExecuteError:
    return ExecuteError(
        "a ledger that can be written",
        str(problem),
        str(path),
        "Nothing stored is lost; make room or mend the permissions and run again.",
    )


def _changed(expected: str, found: str, where: str) -> ExecuteError:
    return ExecuteError(
        expected,
        found,
        where,
        "The ledger was changed or cut short; restore the table with `dvc checkout` and remove "
        "the ledger.",
    )


def _plain(value: object) -> object:
    return value if isinstance(value, int | bytes) else str(value)
