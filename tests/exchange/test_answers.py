"""Answers from anywhere: every format gives the same, and every fault is named."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import InputError
from pipeline.exchange.answers import FIELDS, read_answers
from tests.test_files import POINTERS

ROWS = {
    "t-1": "Fat wants acid…\n\nFINAL_SELECTION: A, C, F",
    "t-2": None,
    "t-3": 'He said "A",\r\nthen left; FINAL_SELECTION: B, C, D',
}


def objects(field="answer"):
    return [{"task_id": name, field: text, "model": "x"} for name, text in ROWS.items()]


def csv_text(delimiter=",", end="\n"):
    def cell(text):
        return '"' + (text or "").replace('"', '""') + '"'

    lines = [delimiter.join(("task_id", "response"))]
    lines += [delimiter.join((name, cell(text))) for name, text in ROWS.items()]
    return end.join(lines) + end


def write_parquet(path, field="completion"):
    pq.write_table(pa.Table.from_pylist(objects(field)), path)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_json_lines(tmp_path, field, bom, end):
    text = end.join(json.dumps(row, ensure_ascii=False) for row in objects(field)) + end + end
    (tmp_path / "a.jsonl").write_bytes(bom + text.encode())
    assert read_answers(tmp_path / "a.jsonl") == ROWS


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_a_json_array(tmp_path, bom):
    (tmp_path / "a.json").write_bytes(bom + json.dumps(objects()).encode())
    assert read_answers(tmp_path / "a.json") == ROWS


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("first", ["", "sep={}", '"SEP={}"'])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_csv_as_spreadsheets_make_it(tmp_path, delimiter, end, first, bom):
    line = first.format(delimiter) + end if first else ""
    (tmp_path / "a.CSV").write_bytes(bom + (line + csv_text(delimiter, end)).encode())
    assert read_answers(tmp_path / "a.CSV") == ROWS


def test_a_fault_behind_excels_line_is_named_by_its_own_line(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"sep=;\r\ntask_id;answer\r\nt-1;x;y\r\n")
    with pytest.raises(InputError, match="line 3: expected 2 cells"):
        read_answers(tmp_path / "a.csv")


def write_columns(path, names, cells=("t-1", "x", "y", "z")):
    """One row of text under these columns, as far as the format can say so."""
    cells = cells[: len(names)]
    if path.suffix == ".csv":
        path.write_text(",".join(names) + "\n" + ",".join(cells) + "\n")
    elif path.suffix == ".parquet":
        pq.write_table(pa.table([[cell] for cell in cells], names=list(names)), path)
    else:
        pairs = ", ".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in zip(names, cells))  # noqa: B905
        row = "{" + pairs + "}"
        path.write_text(f"[{row}]" if path.suffix == ".json" else row)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "json"])
@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("task_id", "answer", "answer"), "twice|names of their own"),
        (("task_id", "task_id", "answer"), "twice|names of their own"),
        (("task_id", "answer", "note", "note"), "twice|names of their own"),
        (("task_id", "answer", "Answer"), "a column answer, found 'Answer'"),
        (("task_id", "answer", " answer "), "a column answer, found ' answer '"),
        (("task_id", "answer", "RESPONSE"), "a column response, found 'RESPONSE'"),
        (("task_id", "answer", "Task_ID"), "a column task_id, found 'Task_ID'"),
        (("Task_id", "answer"), "a column task_id, found 'Task_id'"),
        (("task_id", "answer", "completion"), "other text in answer and completion"),
    ],
)
def test_two_columns_for_one_thing_are_refused(tmp_path, ending, names, said):
    path = tmp_path / f"a.{ending}"
    write_columns(path, names)
    with pytest.raises(InputError, match=said):
        read_answers(path)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "json"])
@pytest.mark.parametrize(("outcome", "left"), [("ok", "x"), ("truncated", None), ("failed", None)])
def test_an_answer_that_did_not_end_well_is_none_as_in_a_route(tmp_path, ending, outcome, left):
    path = tmp_path / f"a.{ending}"
    write_columns(path, ("task_id", "answer", "outcome"), ("t-1", "x", outcome))
    assert read_answers(path) == {"t-1": left}
    write_columns(path, ("task_id", "answer", "outcome"), ("t-1", "x", "splendid"))
    with pytest.raises(InputError, match="an outcome such as ok or truncated, found 'splendid'"):
        read_answers(path)


def test_answers_are_bounded_together(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.exchange.answers._FILE_LIMIT", 400)
    rows = [json.dumps({"task_id": f"t-{n}", "answer": "x" * 100}) for n in range(4)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    with pytest.raises(InputError, match="line 4: expected at most 400 characters of answers"):
        read_answers(tmp_path / "a.jsonl")


def test_parquet(tmp_path):
    write_parquet(tmp_path / "a.parquet")
    assert read_answers(tmp_path / "a.parquet") == ROWS


def test_fields_that_agree_are_one_answer(tmp_path):
    row = {"task_id": "t-1", "answer": "x", "response": "x"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    assert read_answers(tmp_path / "a.jsonl") == {"t-1": "x"}


def line(**fields):
    return json.dumps({"task_id": "t-1"} | fields).encode()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"", "a file that ends in"),
        ("a", b"", "a file that ends in"),
        (
            "a.jsonl",
            line(answer="x") + b"\n" + line(answer="x"),
            "line 2: expected every task once",
        ),
        ("a.jsonl", line(answer="x", response="y"), "agree, found other text in answer and respo"),
        ("a.jsonl", line(answer=None, response="y"), "answer fields that agree"),
        ("a.jsonl", line(answer={"text": None}), "line 1, answer: expected text or null"),
        ("a.jsonl", line(answer=[None]), "text or null, found a list"),
        ("a.jsonl", line(answer=3), "text or null, found int 3"),
        ("a.jsonl", line(answer=True), "text or null, found a truth value"),
        ("a.jsonl", line(text="x"), "one of answer, answer_markdown, completion, response"),
        ("a.jsonl", b'{"answer": "x"}', "a task_id that is text, found no such field"),
        ("a.jsonl", b'{"task_id": 1, "answer": "x"}', "a task_id that is text, found int 1"),
        ("a.jsonl", b'{"task_id": "", "answer": "x"}', "a task_id that is text"),
        ("a.jsonl", b"[1]", "an object, found a list"),
        ("a.jsonl", b'{"task_id": "t", "answer": "x", "answer": "y"}', "every key once"),
        ("a.jsonl", b'{"task_id": "t", "answer": NaN}', "finite numbers"),
        ("a.jsonl", "{}".encode("utf-16"), "UTF-8, found UTF-16 or"),
        ("a.json", "[]".encode("utf-16"), "UTF-8, found UTF-16 or"),
        ("a.csv", csv_text("\t").encode("utf-16"), "found UTF-16 or UTF-32. Save it as UTF-8"),
        ("a.jsonl", b'{"task_id": "\xff", "answer": "x"}', "UTF-8"),
        ("a.csv", b"task_id,answer\nt,\xff\n", "UTF-8, found byte"),
        ("a.json", b"{}", "a JSON array of objects"),
        ("a.json", b"[[]]", "number 1: expected an object"),
        ("a.json", b"[" * 1000, "nesting"),
        ("a.csv", b"task_id,answer\nt-1\n", "2 cells, as the header has"),
        ("a.csv", b"task_id,answer\nt-1,x,y\n", "2 cells, as the header has"),
        ("a.csv", b"task_id,answer,answer\nt-1,x,y\n", "columns with names of their own"),
        ("a.csv", b'task_id,answer\nt-1,"x\n', "CSV"),
        ("a.csv", b"id,answer\nt-1,x\n", "a task_id that is text"),
        ("a.parquet", b"PAR1 no", "a whole Parquet file"),
        ("a.jsonl", line(answer="x" * (2**20 + 1)), "at most 1,048,576 characters"),
        ("a.jsonl", b'"' + b"x" * (16 * 2**20 + 1), "line 1: expected lines of at most"),
    ],
)
def test_each_fault_is_named(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_answers(tmp_path / name)
    assert said in str(caught.value)


def test_nested_parquet_is_refused(tmp_path):
    table = pa.Table.from_pylist([{"task_id": "t", "answer": {"text": None}}])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match="column answer: expected text or null, found struct"):
        read_answers(tmp_path / "a.parquet")


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "ndjson", "parquet"])
def test_a_pointer_in_place_of_answers_is_named(tmp_path, ending):
    (tmp_path / f"a.{ending}").write_bytes(POINTERS["lfs"])
    with pytest.raises(InputError, match="found a Git LFS pointer to it"):
        read_answers(tmp_path / f"a.{ending}")


def test_links_and_absent_files_are_refused(tmp_path):
    (tmp_path / "real.jsonl").write_bytes(line(answer="x"))
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "real.jsonl")
    with pytest.raises(InputError, match="symbolic link"):
        read_answers(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="No such file"):
        read_answers(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b""), ("a.csv", b"task_id,answer\n"), ("a.csv", b"<!DOCTYPE html>"),
        ("a.csv", b"PK\x03\x04" + bytes(100)), ("a.jsonl", b"\n\n"), ("a.json", b"[]"),
    ],
)  # fmt: skip
def test_a_file_without_one_answer_is_refused(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match="found none"):
        read_answers(tmp_path / name)


def test_blank_columns_and_rows_of_a_spreadsheet_are_read_over(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("task_id;answer;;\r\na;x;;\r\n;;;\r\nb;y;;\r\n", "utf-8", newline="")
    assert read_answers(path) == {"a": "x", "b": "y"}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_blank_lines_are_bounded(tmp_path, monkeypatch, name):
    monkeypatch.setattr("pipeline.exchange.answers._BLANK_LIMIT", 5)
    (tmp_path / name).write_bytes(b"task_id,answer\n" * (name == "a.csv") + b"\n" * 9)
    with pytest.raises(InputError, match="at most 5 lines"):
        read_answers(tmp_path / name)
