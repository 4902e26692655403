"""Answers from anywhere: every format gives the same, and every fault is named."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import ExchangeError
from pipeline.exchange.answers import FIELDS, read_answers

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
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_csv_as_spreadsheets_make_it(tmp_path, delimiter, end, bom):
    (tmp_path / "a.CSV").write_bytes(bom + csv_text(delimiter, end).encode())
    assert read_answers(tmp_path / "a.CSV") == ROWS


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
        ("a.jsonl", "{}".encode("utf-16"), "UTF-8, found UTF-16"),
        ("a.json", "[]".encode("utf-16"), "UTF-8, found UTF-16"),
        ("a.csv", csv_text("\t").encode("utf-16"), "found UTF-16. Save it as UTF-8"),
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
    with pytest.raises(ExchangeError) as caught:
        read_answers(tmp_path / name)
    assert said in str(caught.value)


def test_nested_parquet_is_refused(tmp_path):
    table = pa.Table.from_pylist([{"task_id": "t", "answer": {"text": None}}])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ExchangeError, match="column answer: expected text or null, found struct"):
        read_answers(tmp_path / "a.parquet")


def test_links_and_absent_files_are_refused(tmp_path):
    (tmp_path / "real.jsonl").write_bytes(line(answer="x"))
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "real.jsonl")
    with pytest.raises(ExchangeError, match="symbolic link"):
        read_answers(tmp_path / "a.jsonl")
    with pytest.raises(ExchangeError, match="No such file"):
        read_answers(tmp_path / "none.parquet")
