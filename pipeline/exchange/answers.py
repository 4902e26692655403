"""Answers from anywhere: JSON Lines, a JSON array, CSV or Parquet, read strictly.

A row has a `task_id` and the answer's text under one of `answer`, `answer_markdown`, `completion`
and `response`; where it has more than one of them, they say the same. Null, and an empty cell of a
CSV, are no answer. Other fields are not read. A byte order mark and CRLF are fine, UTF-16 is not.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.asking.replay import ANSWER_LIMIT
from pipeline.errors import ExchangeError
from pipeline.files import parse_json, read_bytes, read_lines
from pipeline.parquet import open_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["FIELDS", "read_answers"]

FIELDS = ("answer", "answer_markdown", "completion", "response")
"""Names under which an answer may stand."""

_FILE_LIMIT = 2**28
_LINE_LIMIT = 16 * 2**20
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS = ",;\t"
_REMEDY = "Mend the file; `flavourbench template` writes one to fill in."


class _Found(NamedTuple):
    """A row and where it stands."""

    row: Any
    where: str


def read_answers(path: Path) -> dict[str, str | None]:
    """Answers by task id, in the order of the file.

    Raises
    ------
    ExchangeError
        The file is missing, unsafe, too large or of another format; a row has no task id, no
        answer field, an answer that is no text, fields that disagree, or a task that stands twice.
    """
    readers: dict[str, Callable[[Path], Iterator[_Found]]] = {
        ".csv": _csv_rows,
        ".json": _array_rows,
        ".jsonl": _line_rows,
        ".ndjson": _line_rows,
        ".parquet": _parquet_rows,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise ExchangeError(
            f"a file that ends in {', '.join(readers)}", path.suffix or "none", str(path), _REMEDY
        )
    answers: dict[str, str | None] = {}
    for found in reader(path):
        task_id, answer = _read_row(found)
        if task_id in answers:
            raise ExchangeError("every task once", f"{task_id} again", found.where, _REMEDY)
        answers[task_id] = answer
    return answers


def _read_row(found: _Found) -> tuple[str, str | None]:
    row, where = found
    if not isinstance(row, dict):
        raise ExchangeError("an object", _kind(row), where, _REMEDY)
    task_id = row.get("task_id")
    if not isinstance(task_id, str) or not task_id:
        found_id = _kind(task_id) if "task_id" in row else "no such field"
        raise ExchangeError("a task_id that is text", found_id, where, _REMEDY)
    given = {name: row[name] for name in FIELDS if name in row}
    if not given:
        expected = f"one of {', '.join(FIELDS)}"
        raise ExchangeError(expected, f"only {', '.join(map(str, row))}", where, _REMEDY)
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise ExchangeError("text or null", _kind(value), f"{where}, {name}", _REMEDY)
        if value is not None and len(value) > ANSWER_LIMIT:
            expected = f"at most {ANSWER_LIMIT:,} characters"
            raise ExchangeError(expected, f"{len(value):,}", f"{where}, {name}", _REMEDY)
    if len(set(given.values())) > 1:
        names = " and ".join(given)
        raise ExchangeError("answer fields that agree", f"other text in {names}", where, _REMEDY)
    return task_id, next(iter(given.values()))


def _line_rows(path: Path) -> Iterator[_Found]:
    for number, line in enumerate(read_lines(path, _LINE_LIMIT, ExchangeError), start=1):
        where = f"{path}, line {number}"
        text = _unmarked(line, where) if number == 1 else line
        if text.strip():
            yield _Found(parse_json(text, where, ExchangeError), where)


def _array_rows(path: Path) -> Iterator[_Found]:
    data = _unmarked(read_bytes(path, _FILE_LIMIT, ExchangeError), str(path))
    value = parse_json(data, str(path), ExchangeError)
    if not isinstance(value, list):
        raise ExchangeError("a JSON array of objects", _kind(value), str(path), _REMEDY)
    for number, row in enumerate(value, start=1):
        yield _Found(row, f"{path}, number {number}")


def _csv_rows(path: Path) -> Iterator[_Found]:
    data = _unmarked(read_bytes(path, _FILE_LIMIT, ExchangeError), str(path))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        found = f"byte {problem.start}: {problem.reason}"
        raise ExchangeError("UTF-8", found, str(path), "Save it as CSV UTF-8.") from problem
    heading = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=heading.count)
    csv.field_size_limit(ANSWER_LIMIT + 1)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = reader.fieldnames or []
        if len(set(names)) != len(names):
            raise ExchangeError("columns with names of their own", str(names), str(path), _REMEDY)
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                expected = f"{len(names)} cells, as the header has"
                raise ExchangeError(expected, "another number", where, _REMEDY)
            yield _Found({name: value or None for name, value in row.items()}, where)
    except csv.Error as problem:
        where = f"{path}, line {reader.line_num}"
        raise ExchangeError("CSV", str(problem), where, _REMEDY) from problem


def _parquet_rows(path: Path) -> Iterator[_Found]:
    import pyarrow as pa

    with open_parquet(path, ExchangeError, _REMEDY, _FILE_LIMIT) as source:
        names = [name for name in source.schema.names if name in {"task_id", *FIELDS}]
        for name in names:
            kind = source.schema.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if kind not in (pa.string(), pa.large_string(), pa.string_view(), pa.null()):
                raise ExchangeError("text or null", str(kind), f"{path}, column {name}", _REMEDY)
        number = 0
        for batch in source.batches(names):
            for row in batch.to_pylist():
                number += 1
                yield _Found(row, f"{path}, row {number}")


def _unmarked(data: bytes, where: str) -> bytes:
    """Bytes without a UTF-8 byte order mark."""
    if data.startswith(_UTF16):
        raise ExchangeError("UTF-8", "UTF-16", where, "Save it as UTF-8 (in Excel: CSV UTF-8).")
    return data.removeprefix(_BOM)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value"}
    if value is None:
        return "null"
    return names.get(type(value), f"{type(value).__name__} {value!r}")
