"""Files from elsewhere are data: bounded, regular, strict. Ours appear whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import json
import math
import os
import re
import stat
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import FlavourbenchError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    _Refuse = Callable[[str, str], FlavourbenchError]

__all__ = [
    "FileHash",
    "Region",
    "hash_file",
    "parse_json",
    "read_bytes",
    "read_csv",
    "read_json",
    "read_lines",
    "region_of",
    "replacing",
    "write_bytes",
]

_MAX_JSON_DEPTH = 64
_MAX_JSON_DIGITS = 300  # every such integer is finite as a float, too
_UP_TO_A_BRACKET = re.compile(r'(?:[^{}\[\]"]++|"(?:[^"\\]++|\\.)*+")*+[{}\[\]]', re.DOTALL)
_CHUNK = 2**20
_CSV_LIMIT = 512 * 2**20
_FIELD_LIMIT = 10_000


class FileHash(NamedTuple):
    """Size and SHA-256 (hex) of a file's bytes."""

    size: int
    sha256: str


class Region(NamedTuple):
    """Where brackets are closed again, none where they are not, and how deep they go."""

    end: int | None
    depth: int


class _Opened(NamedTuple):
    stream: BinaryIO
    size: int


def read_bytes(path: Path, limit: int, error: type[FlavourbenchError]) -> bytes:
    """Bytes of a regular file of at most `limit` bytes.

    Raises
    ------
    FlavourbenchError
        As `error`: the file is missing, a symbolic link, no regular file, or too large.
    """
    where = str(path)
    with _opened(path, error) as (stream, size):
        try:
            data = stream.read(limit + 1) if size <= limit else b""
        except OSError as problem:
            raise error("a readable file", _fault(problem), where, "Check the disk.") from problem
    size = max(size, len(data))  # a file can grow, and some tell no size
    if size > limit:
        raise error(f"at most {limit:,} bytes", f"{size:,}", where, "Use a smaller file.")
    return data


def read_lines(path: Path, limit: int, error: type[FlavourbenchError]) -> Iterator[bytes]:
    """Lines of a regular file, one in memory at a time, without their line feeds.

    Raises
    ------
    FlavourbenchError
        As `error`: the file is missing, a symbolic link or no regular file, or a line has more
        than `limit` bytes; names the line.
    """
    with _opened(path, error) as (stream, _):
        number = 0
        try:
            while line := stream.readline(limit + 2):
                number += 1
                text = line.removesuffix(b"\n")
                if len(text) > limit:
                    where = f"{path}, line {number}"
                    expected = f"lines of at most {limit:,} bytes"
                    raise error(expected, "a longer one", where, "Use a file with shorter lines.")
                yield text
        except OSError as problem:
            where = f"{path}, line {number + 1}"
            raise error("a readable file", _fault(problem), where, "Check the disk.") from problem


def hash_file(path: Path, error: type[FlavourbenchError]) -> FileHash:
    """Size and SHA-256 of a regular file of any size. Raises as `read_lines` does."""
    with _opened(path, error) as (stream, _):
        hasher, size = hashlib.sha256(), 0
        try:
            while chunk := stream.read(_CHUNK):
                hasher.update(chunk)
                size += len(chunk)
        except OSError as problem:
            found = _fault(problem)
            raise error("a readable file", found, str(path), "Check the disk.") from problem
    return FileHash(size, hasher.hexdigest())


@contextmanager
def _opened(path: Path, error: type[FlavourbenchError]) -> Iterator[_Opened]:
    """A regular file, open for reading; never what a symbolic link leads to."""
    where = str(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError) as problem:
        found = "a symbolic link" if _errno(problem) == errno.ELOOP else _fault(problem)
        raise error("a regular, readable file", found, where, "Check the path.") from problem
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise error("a regular file", "something else", where, "Check the path.")
    with os.fdopen(descriptor, "rb") as stream:
        yield _Opened(stream, status.st_size)


def read_json(path: Path, limit: int, error: type[FlavourbenchError]) -> Any:
    """Strict JSON from a file: see `parse_json` and `read_bytes`."""
    return parse_json(read_bytes(path, limit, error), str(path), error)


def parse_json(data: bytes, where: str, error: type[FlavourbenchError]) -> Any:
    """Strict JSON: UTF-8, keys once, finite numbers, no deep nesting, no lone surrogates.

    Raises
    ------
    FlavourbenchError
        As `error`, with the place.
    """

    def refuse(expected: str, found: str) -> FlavourbenchError:
        return error(expected, found, where, "Mend the file.")

    try:
        text = data.decode("utf-8")
        _bounded_depth(text, refuse)
        value = json.loads(text, **_hooks(refuse))
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as problem:
        raise refuse("UTF-8", f"byte {problem.start}: {problem.reason}") from problem
    except UnicodeEncodeError as problem:
        raise refuse("text without lone surrogates", "a lone surrogate") from problem
    except ValueError as problem:
        raise refuse("JSON", str(problem)) from problem
    return value


def read_csv(
    path: Path, columns: tuple[str, ...], error: type[FlavourbenchError]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a CSV file with their place (`file, row N`), every row as long as the header.

    Raises
    ------
    FlavourbenchError
        As `error`: the file is missing, unsafe, no UTF-8 or CSV, lacks a column, or a row has
        another length.
    """

    def refuse(expected: str, found: str, where: str) -> FlavourbenchError:
        return error(expected, found, where, "Mend the source and run again.")

    try:
        text = read_bytes(path, _CSV_LIMIT, error).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise refuse("UTF-8", f"byte {problem.start}: {problem.reason}", str(path)) from problem
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        missing = [name for name in columns if name not in header]
        if missing or len(set(header)) != len(header):
            found = f"no column {', '.join(missing)}" if missing else "a column twice"
            raise refuse(f"columns {', '.join(columns)}", found, str(path))
        for number, row in enumerate(reader, start=2):
            where = f"{path}, row {number}"
            if len(row) != len(header):
                raise refuse(f"{len(header)} fields", str(len(row)), where)
            yield where, dict(zip(header, row, strict=True))
    except csv.Error as problem:
        raise refuse("CSV", str(problem), f"{path}, row {reader.line_num}") from problem


def _hooks(refuse: _Refuse) -> dict[str, Any]:
    """What the parser lets through otherwise: keys twice, numbers without end."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            twice, _ = Counter(name for name, _ in items).most_common(1)[0]
            raise refuse("every key once", f"key {twice!r} twice")
        return result

    def integer(text: str) -> int:
        if len(text) > _MAX_JSON_DIGITS:
            raise refuse(f"integers of at most {_MAX_JSON_DIGITS} digits", f"{len(text)} digits")
        return int(text)

    def number(text: str) -> float:
        value = float(text)
        if math.isinf(value):
            raise refuse("finite numbers", text)
        return value

    def constant(text: str) -> Any:
        raise refuse("finite numbers", text)

    return {
        "object_pairs_hook": pairs,
        "parse_int": integer,
        "parse_float": number,
        "parse_constant": constant,
    }


def _bounded_depth(text: str, refuse: _Refuse) -> None:
    """Refuse deep nesting before the parser recurses into it."""
    if text.count("[") + text.count("{") <= _MAX_JSON_DEPTH:
        return
    if region_of(text, 0).depth > _MAX_JSON_DEPTH:  # what follows the first value is no JSON
        raise refuse(f"nesting of at most {_MAX_JSON_DEPTH}", "deeper nesting")


def region_of(text: str, start: int) -> Region:
    """The region of the first bracket or brace from a place on.

    Those of either kind count alike, and nothing counts between double quotes.
    """
    depth, deepest, place = 0, 0, start
    while match := _UP_TO_A_BRACKET.match(text, place):
        place = match.end()
        if text[place - 1] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
            if depth <= 0:
                return Region(place, deepest)
    return Region(None, deepest)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well.

    The data reach the disk before the name does; whatever goes wrong, the old file stays.

    Raises
    ------
    TableError
        The disk is full or the folder cannot be written; nothing was changed.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as problem:
        raise TableError(
            "a writable place with room",
            _fault(problem),
            str(path),
            "Nothing was changed; make room and run again.",
        ) from problem
    finally:
        with contextlib.suppress(OSError):  # where it cannot be removed, it was never made
            temporary.unlink(missing_ok=True)


def _sync_folder(path: Path) -> None:
    """Bring a folder's names to the disk, where its file system can."""
    with contextlib.suppress(OSError):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file at once. Raises as `replacing` does."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _errno(problem: Exception) -> int | None:
    return problem.errno if isinstance(problem, OSError) else None


def _fault(problem: Exception) -> str:
    """What the system says, without the path that the error names anyway."""
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
