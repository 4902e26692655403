"""The SQLite file below a ledger: its tables, its lock, and what can be wrong with it."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import ExecuteError
from schemas.execution import Attempt, Response

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schemas.record import Row

__all__ = [
    "INSERT_SENT",
    "PeekedAttempt",
    "changed",
    "insert",
    "opened_store",
    "peek_attempts",
    "peek_keys",
    "place_of",
    "select",
    "unusable",
]

_WRITTEN_ONCE = """
CREATE TRIGGER IF NOT EXISTS {table}_stay BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, '{table} are written once'); END;
CREATE TRIGGER IF NOT EXISTS {table}_hold BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, '{table} are written once'); END;
CREATE TRIGGER IF NOT EXISTS {table}_come_once BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})
BEGIN SELECT RAISE(ABORT, '{table} are written once'); END;
"""
_SENT = """
CREATE TABLE IF NOT EXISTS sent (
    request_digest TEXT NOT NULL,
    number INTEGER NOT NULL,
    route_digest TEXT NOT NULL,
    task_id TEXT NOT NULL,
    sent_unix_ms INTEGER NOT NULL,
    reserve_micros INTEGER,
    PRIMARY KEY (request_digest, number)
) STRICT;
"""
_CONTRACT = Response.contract + Attempt.contract - 1
"""A ledger's `user_version`: rises with every contract of its rows. 0 stands in the oldest ones."""

_TYPES = {"string": "TEXT", "binary": "BLOB", "int64": "INTEGER", "bool": "INTEGER"}
INSERT_SENT = "INSERT INTO sent VALUES (?, ?, ?, ?, ?, ?)"


def insert(row: Row, digest: str) -> tuple[str, list[object]]:
    """Statement and values that store a row."""
    columns = ("digest", *row.columns())
    places = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {row.table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608  # names of ours
    return statement, [digest, *(_plain(getattr(row, name)) for name in columns[1:])]


def select(model: type[Row]) -> str:
    """Statement that reads all rows of a model, each behind its digest."""
    return f"SELECT {', '.join(('digest', *model.columns()))} FROM {model.table}"  # noqa: S608  # names of ours


def place_of(row: Row) -> str:
    """What a row is about, in words."""
    request, *rest = row.key_of(row)
    return f"request {request}" + "".join(f", attempt {number}" for number in rest)


@contextmanager
def opened_store(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the file at a path, created where there is none, this process's alone.

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
        raise unusable(problem, path) from problem
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
            raise unusable(problem, path) from problem
        connection = _connect(path)
        try:
            yield connection
        finally:
            connection.close()
    finally:
        os.close(lock)


class PeekedAttempt(NamedTuple):
    """What an attempt took, as far as it is known; its fields are columns of `Attempt`."""

    request_digest: str
    number: int
    stored: bool
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_micros: int | None
    reserve_micros: int | None


def peek_keys(path: Path, route_digest: str) -> set[str]:
    """Request keys (hex) of a route in the ledger at a path; reads beside a process that writes.

    Raises
    ------
    ExecuteError
        The file is there and is no ledger.
    """
    query = "SELECT request_digest FROM responses WHERE route_digest = ?"
    return {str(key) for (key,) in _peek(path, query, route_digest)}


def peek_attempts(path: Path, route_digest: str) -> list[PeekedAttempt]:
    """Attempts of a route in the ledger at a path. Reads and raises as `peek_keys` does."""
    columns = ", ".join(PeekedAttempt._fields)
    query = f"SELECT {columns} FROM attempts WHERE route_digest = ?"  # noqa: S608  # names of ours
    return [PeekedAttempt(*row) for row in _peek(path, query, route_digest)]


def _peek(path: Path, query: str, route_digest: str) -> list[tuple[Any, ...]]:
    if not path.exists():
        return []
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return connection.execute(query, (route_digest,)).fetchall()
        finally:
            connection.close()
    except sqlite3.Error as problem:
        raise changed("a whole ledger", str(problem), str(path)) from problem


def unusable(problem: Exception, path: Path) -> ExecuteError:
    """The error for a ledger that cannot be written."""
    return ExecuteError(
        "a ledger that can be written",
        str(problem),
        str(path),
        "Nothing stored is lost; make room or mend the permissions and run again.",
    )


def changed(expected: str, found: str, where: str) -> ExecuteError:
    """The error for a ledger that is not what was written."""
    return ExecuteError(
        expected,
        found,
        where,
        "The ledger was changed or cut short. Move it aside and keep it, since it may hold answers "
        "that nothing else holds; `dvc checkout` brings the sealed table back.",
    )


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
        # one thread at a time uses it: the event loop's, or the one that the loop waits for
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found > _CONTRACT:
            connection.close()
            raise _newer(found, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.executescript(_definition(Response) + _definition(Attempt) + _SENT)
        if found < _CONTRACT:
            _migrate(connection)
    except sqlite3.Error as problem:
        if connection is not None:
            connection.close()
        if isinstance(problem, sqlite3.OperationalError):
            raise unusable(problem, path) from problem
        raise changed("a whole ledger", str(problem), str(path)) from problem
    return connection


def _newer(found: int, path: Path) -> ExecuteError:
    """The error for a ledger whose rows may hold what this version does not know."""
    return ExecuteError(
        f"a ledger of contract {_CONTRACT} or older",
        f"contract {found}, written by a newer version",
        str(path),
        "Keep it and go on with that version, or a newer one.",
    )


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring an older ledger to today's contract by adding columns: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for model in (Response, Attempt):
            there = {str(row[1]) for row in connection.execute(f"PRAGMA table_info({model.table})")}
            for name in sorted(model.later.keys() - there):
                kind = _TYPES[str(model.arrow_schema().field(name).type)]
                connection.execute(f"ALTER TABLE {model.table} ADD COLUMN {name} {kind}")
        connection.execute(f"PRAGMA user_version = {_CONTRACT}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _definition(model: type[Row]) -> str:
    """Table and triggers for the rows of a model."""
    columns = [
        f"{field.name} {_TYPES[str(field.type)]}{'' if field.nullable else ' NOT NULL'}"
        for field in model.arrow_schema()
    ]
    key = f"PRIMARY KEY ({', '.join(model.key)})"
    same = " AND ".join(f"{name} = NEW.{name}" for name in model.key)
    table = f"CREATE TABLE IF NOT EXISTS {model.table} ({', '.join([*columns, key])}) STRICT;"
    return table + _WRITTEN_ONCE.format(table=model.table, same=same)


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int | bytes) else str(value)
