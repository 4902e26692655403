"""Files from elsewhere are data: bounded, regular, strict. Ours appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import stat
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import Cause, FlavourbenchError, TableError
from pipeline.links import cached_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    _Refuse = Callable[[str, str], FlavourbenchError]

__all__ = [
    "hash_file",
    "open_regular",
    "parse_json",
    "read_bytes",
    "read_json",
    "read_lines",
    "replacing",
    "unmarked",
    "write_bytes",
]

_MAX_JSON_DEPTH = 64
_MAX_JSON_VALUES = 2_000_000  # each becomes an object of a hundred bytes or so
_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKETS = re.compile(r"[][{}]")
_MAX_JSON_DIGITS = 300  # every such integer is finite as a float, too
_CHUNK = 2**20
_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_POINTERS = {
    b"version https://git-lfs.github.com/spec/": ("Git LFS", "git lfs pull"),
    b"version https://hawser.github.com/spec/": ("Git LFS", "git lfs pull"),
    b"/annex/objects/": ("git-annex", "git annex get"),
}
"""How a file begins that stands for one which was not fetched (Git LFS, pointer specification)."""


class FileHash(NamedTuple):
    """Size and SHA-256 (hex) of a file's bytes."""

    size: int
    sha256: str


class Opened(NamedTuple):
    """An open file and the size that it had then.

    Attributes
    ----------
    stream
        Its bytes.
    size
        In bytes.
    """

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
    with open_regular(path, error) as (stream, size):
        try:
            data = stream.read(limit + 1) if size <= limit else b""
        except OSError as problem:
            raise error("a readable file", _fault(problem), where, "Check the disk.") from problem
    size = max(size, len(data))  # a file can grow, and some tell no size
    if size > limit:
        raise error(f"at most {limit:,} bytes", f"{size:,}", where, "Use a smaller file.")
    return data


def read_lines(path: Path, limit: int, error: type[FlavourbenchError]) -> Iterator[bytes]:
    """Lines of a regular file, one in memory at a time, without line feeds and byte order mark.

    Raises
    ------
    FlavourbenchError
        As `error`: the file is missing, a symbolic link, no regular file or UTF-16, or a line has
        more than `limit` bytes; names the line.
    """
    with open_regular(path, error) as (stream, _):
        number = 0
        try:
            while line := stream.readline(limit + 2):
                number += 1
                text = line.removesuffix(b"\n")
                if len(text) > limit:
                    where = f"{path}, line {number}"
                    expected = f"lines of at most {limit:,} bytes"
                    raise error(expected, "a longer one", where, "Use a file with shorter lines.")
                yield unmarked(text, str(path), error) if number == 1 else text
        except OSError as problem:
            where = f"{path}, line {number + 1}"
            raise error("a readable file", _fault(problem), where, "Check the disk.") from problem


def hash_file(path: Path, error: type[FlavourbenchError]) -> FileHash:
    """Size and SHA-256 of a regular file of any size. Raises as `read_lines` does."""
    with open_regular(path, error) as (stream, _):
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
def open_regular(
    path: Path, error: type[FlavourbenchError], remedy: str = "Check the path."
) -> Iterator[Opened]:
    """A regular file, open for reading; never what a symbolic link leads to, but for DVC's own.

    Raises
    ------
    FlavourbenchError
        As `error`, with `remedy`: the file is missing, a symbolic link or no regular file.
    """
    where = str(path)
    try:
        descriptor = _descriptor(path)
    except (OSError, ValueError) as problem:
        found = "a symbolic link" if _errno(problem) == errno.ELOOP else _fault(problem)
        cause = Cause.MISSING if _errno(problem) == errno.ENOENT else Cause.INVALID
        raise error("a regular, readable file", found, where, remedy, cause=cause) from problem
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        found = "a folder" if stat.S_ISDIR(status.st_mode) else "something else"
        raise error("a regular file", found, where, remedy)
    with os.fdopen(descriptor, "rb") as stream:
        _refuse_pointer(stream, where, error)
        yield Opened(stream, status.st_size)


def _descriptor(path: Path) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags)
    except OSError as problem:
        cached = cached_file(path) if problem.errno == errno.ELOOP else None
        if cached is None:
            raise
        return os.open(cached, flags)


def read_json(path: Path, limit: int, error: type[FlavourbenchError]) -> Any:
    """Strict JSON from a file, less a byte order mark: see `parse_json` and `read_bytes`."""
    where = str(path)
    return parse_json(unmarked(read_bytes(path, limit, error), where, error), where, error)


def unmarked(data: bytes, where: str, error: type[FlavourbenchError]) -> bytes:
    """UTF-8 bytes without a byte order mark. Raises `error` where the mark is another's."""
    if data.startswith(_UTF16):
        raise error("UTF-8", "UTF-16 or UTF-32", where, "Save it as UTF-8 (in Excel: CSV UTF-8).")
    return data.removeprefix(_MARK)


def _refuse_pointer(stream: BinaryIO, where: str, error: type[FlavourbenchError]) -> None:
    """Refuse what a clone holds in place of a large file; leaves the stream at its start."""
    start = stream.read(len(_MARK) + max(map(len, _POINTERS))).removeprefix(_MARK)
    stream.seek(0)
    for beginning, (name, command) in _POINTERS.items():
        if start.startswith(beginning):
            found = f"a {name} pointer to it"
            raise error("the file itself", found, where, f"Fetch it: `{command}`.")


def parse_json(
    data: bytes, where: str, error: type[FlavourbenchError], *, reply: bool = False
) -> Any:
    """Strict JSON: UTF-8, keys once, finite numbers, no deep nesting, no lone surrogates.

    A `reply` was paid for, so what is odd beside its answer does not cost the answer: a number
    that is not finite, or has too many digits to be read, and a key that stands there twice with
    different values, are none; a lone surrogate is `?`.

    Raises
    ------
    FlavourbenchError
        As `error`, with the place.
    """

    def refuse(expected: str, found: str, cause: Cause = Cause.INVALID) -> FlavourbenchError:
        return error(expected, found, where, "Mend the file.", cause=cause)

    try:
        text = data.decode("utf-8")
        _bounded_shape(text, refuse)
        value = json.loads(text, **_hooks(refuse, reply=reply))
        written = json.dumps(value, ensure_ascii=False)
        if reply and not _is_encodable(written):
            return json.loads(written.encode("utf-8", "replace"))
        written.encode("utf-8")
    except UnicodeDecodeError as problem:
        said = f"byte {problem.start}: {problem.reason}"
        raise refuse("UTF-8", said, Cause.NO_JSON) from problem
    except UnicodeEncodeError as problem:
        raise refuse("text without lone surrogates", "a lone surrogate") from problem
    except ValueError as problem:
        raise refuse("JSON", str(problem), Cause.NO_JSON) from problem
    return value


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _hooks(refuse: _Refuse, *, reply: bool) -> dict[str, Any]:
    """What the parser lets through otherwise: keys twice, numbers without end."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            twice, _ = Counter(name for name, _ in items).most_common(1)[0]
            odd("every key once", f"key {twice!r} twice")
            disputed = [name for name, value in items if value != result[name]]
            return result | dict.fromkeys(disputed)
        return result

    def odd(expected: str, found: str) -> None:
        if not reply:
            raise refuse(expected, found)

    def integer(text: str) -> int | None:
        if len(text) <= _MAX_JSON_DIGITS:
            return int(text)
        odd(f"integers of at most {_MAX_JSON_DIGITS} digits", f"{len(text)} digits")
        return None

    def number(text: str) -> float | None:
        value = float(text)
        if math.isfinite(value):
            return value
        odd("finite numbers", text)
        return None

    def constant(text: str) -> None:
        odd("finite numbers", text)

    return {
        "object_pairs_hook": pairs,
        "parse_int": integer,
        "parse_float": number,
        "parse_constant": constant,
    }


def _bounded_shape(text: str, refuse: _Refuse) -> None:
    """Refuse many values and deep nesting before the parser makes objects of them."""
    opened, values = (sum(map(text.count, marks)) for marks in ("[{", "[{,"))
    if opened <= _MAX_JSON_DEPTH and values <= _MAX_JSON_VALUES:
        return
    outside = _STRINGS.sub("", text)
    if sum(map(outside.count, "[{,")) > _MAX_JSON_VALUES:
        raise refuse(f"at most {_MAX_JSON_VALUES:,} values", "more")
    depth = 0
    for bracket in _BRACKETS.findall(outside):
        depth += 1 if bracket in "[{" else -1
        if depth > _MAX_JSON_DEPTH:
            raise refuse(f"nesting of at most {_MAX_JSON_DEPTH}", "deeper nesting")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well.

    The data reach the disk before the name does; whatever goes wrong, the old file stays.

    Raises
    ------
    TableError
        The disk is full, the folder cannot be written, or there is something in its place that is
        no file, such as a device; nothing was changed.
    """
    _refuse_special(path)
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


def _refuse_special(path: Path) -> None:
    """Refuse to put a file in the place of a device or a pipe, which a rename would remove."""
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return  # nothing is there, or what follows says why not
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        raise TableError("a place for a file", "a device or a pipe", str(path), "Name a file.")


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
