"""Answers from anywhere: JSON Lines, a JSON array, CSV or Parquet, read strictly.

A row has a `task_id` and the answer's text under one of `answer`, `answer_markdown`, `completion`
and `response`; where it has more than one of them, they say the same. Null, and an empty cell of a
CSV, are no answer; nor is a text whose `outcome`, as replay files have it, is other than `ok`.
Other fields are not read, but no column may stand twice, nor under a name that differs from these
by case or white space alone. A byte order mark, line ends of any kind, the delimiters `,`, `;` and
tab, and Excel's `sep=` line are fine, UTF-16 is not.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.answer import shape_of
from pipeline.asking.replay import ANSWER_LIMIT
from pipeline.errors import InputError
from pipeline.files import parse_json, read_bytes, read_json, read_lines, unmarked
from pipeline.parquet import open_parquet
from schemas.execution import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = ["FIELDS", "read_answers"]

FIELDS = ("answer", "answer_markdown", "completion", "response")
"""Names under which an answer may stand."""

_FILE_LIMIT = 2**28
_LINE_LIMIT = 16 * 2**20
_BLANK_LIMIT = 2**20  # lines in which a blank one is still read over
_READ = ("task_id", *FIELDS, "outcome")
_OUTCOMES = frozenset(outcome.value for outcome in Outcome)
_DELIMITERS = ",;\t"
_EXCEL = re.compile(r'"?sep=([,;\t])"?(?:\r\n|\r|\n)', re.IGNORECASE)
_REMEDY = "Mend the file; `flavourbench template` writes one to fill in."


class _Found(NamedTuple):
    """A row and where it stands."""

    row: Any
    where: str


def read_answers(path: Path) -> dict[str, str | None]:
    """Answers by task id, in the order of the file.

    Raises
    ------
    InputError
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
        raise InputError(
            f"a file that ends in {', '.join(readers)}", path.suffix or "none", str(path), _REMEDY
        )
    answers: dict[str, str | None] = {}
    size = 0
    for found in reader(path):
        task_id, answer = _read_row(found)
        if task_id in answers:
            raise InputError("every task once", f"{task_id} again", found.where, _REMEDY)
        answers[task_id] = answer
        size += len(task_id) + len(answer or "")
        if size > _FILE_LIMIT:
            expected = f"at most {_FILE_LIMIT:,} characters of answers"
            raise InputError(expected, "more", found.where, "Use a smaller file.")
    if not answers:
        raise InputError("rows with a task_id and an answer", "none", str(path), _REMEDY)
    return answers


def _read_row(found: _Found) -> tuple[str, str | None]:
    row, where = found
    if not isinstance(row, dict):
        raise InputError("an object", shape_of(row), where, _REMEDY)
    _check_names(row, where)
    task_id = row.get("task_id")
    if not isinstance(task_id, str) or not task_id:
        found_id = shape_of(task_id) if "task_id" in row else "no such field"
        raise InputError("a task_id that is text", found_id, where, _REMEDY)
    given = {name: row[name] for name in FIELDS if name in row}
    if not given:
        expected = f"one of {', '.join(FIELDS)}"
        raise InputError(expected, f"only {', '.join(map(str, row))}", where, _REMEDY)
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise InputError("text or null", shape_of(value), f"{where}, {name}", _REMEDY)
        if value is not None and len(value) > ANSWER_LIMIT:
            expected = f"at most {ANSWER_LIMIT:,} characters"
            raise InputError(expected, f"{len(value):,}", f"{where}, {name}", _REMEDY)
    if len(set(given.values())) > 1:
        names = " and ".join(given)
        raise InputError("answer fields that agree", f"other text in {names}", where, _REMEDY)
    outcome = row.get("outcome") or Outcome.OK.value
    if not isinstance(outcome, str) or outcome not in _OUTCOMES:
        expected = f"an outcome such as {Outcome.OK.value} or {Outcome.TRUNCATED.value}"
        raise InputError(expected, repr(outcome), where, "Rename the column, or remove it.")
    return task_id, next(iter(given.values())) if outcome == Outcome.OK.value else None


def _check_names(names: Iterable[str], where: str) -> None:
    """Refuse a name that stands twice, and look-alikes of the names that are read."""
    for name, count in Counter(list(names)).items():
        meant = name.strip().casefold()
        if count > 1:
            raise InputError("columns with names of their own", f"{name} twice", where, _REMEDY)
        if meant in _READ and name != meant:
            raise InputError(f"a column {meant}", repr(name), where, "Rename it, or remove it.")


def _line_rows(path: Path) -> Iterator[_Found]:
    for number, line in enumerate(read_lines(path, _LINE_LIMIT, InputError), start=1):
        where = f"{path}, line {number}"
        if line.strip():
            yield _Found(parse_json(line, where, InputError), where)
        elif number > _BLANK_LIMIT:
            raise InputError(f"at most {_BLANK_LIMIT:,} lines", "more", where, _REMEDY)


def _array_rows(path: Path) -> Iterator[_Found]:
    value = read_json(path, _FILE_LIMIT, InputError)
    if not isinstance(value, list):
        raise InputError("a JSON array of objects", shape_of(value), str(path), _REMEDY)
    for number, row in enumerate(value, start=1):
        yield _Found(row, f"{path}, number {number}")


def _csv_rows(path: Path) -> Iterator[_Found]:
    data = unmarked(read_bytes(path, _FILE_LIMIT, InputError), str(path), InputError)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        found = f"byte {problem.start}: {problem.reason}"
        raise InputError("UTF-8", found, str(path), "Save it as CSV UTF-8.") from problem
    excel = _EXCEL.match(text)
    lines = io.StringIO(text[excel.end() :] if excel else text, newline="")
    delimiter = excel[1] if excel else max(_DELIMITERS, key=lines.readline().count)
    lines.seek(0)
    csv.field_size_limit(ANSWER_LIMIT + 1)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = _filled(next(reader, []), 0)
        _check_names(names, str(path))
        for cells in reader:
            row = _filled(cells, len(names))
            where = f"{path}, line {reader.line_num + bool(excel)}"
            if any(map(str.strip, row)):
                if len(row) != len(names):
                    expected = f"{len(names)} cells, as the header has"
                    raise InputError(expected, f"{len(row)}", where, _REMEDY)
                yield _Found({n: cell or None for n, cell in zip(names, row, strict=True)}, where)
            elif reader.line_num > _BLANK_LIMIT:
                raise InputError(f"at most {_BLANK_LIMIT:,} lines", "more", where, _REMEDY)
    except csv.Error as problem:
        where = f"{path}, line {reader.line_num + bool(excel)}"
        raise InputError("CSV", str(problem), where, _REMEDY) from problem


def _filled(cells: list[str], least: int) -> list[str]:
    """A row without the blank cells that a spreadsheet leaves at its end."""
    end = len(cells)
    while end > least and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _parquet_rows(path: Path) -> Iterator[_Found]:
    import pyarrow as pa

    with open_parquet(path, InputError, _REMEDY, _FILE_LIMIT) as source:
        _check_names(source.schema.names, str(path))
        names = [name for name in source.schema.names if name in _READ]
        for name in names:
            kind = source.schema.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if kind not in (pa.string(), pa.large_string(), pa.string_view(), pa.null()):
                raise InputError("text or null", str(kind), f"{path}, column {name}", _REMEDY)
        number = 0
        for batch in source.batches(names):
            for row in batch.to_pylist():
                number += 1
                yield _Found(row, f"{path}, row {number}")
