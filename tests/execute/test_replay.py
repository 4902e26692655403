from __future__ import annotations

import asyncio
import hashlib
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.asking.adapter import Reply
from pipeline.asking.replay import ReplayAdapter, ReplayLine, read_replay
from pipeline.errors import ExecuteError
from pipeline.execute import stage
from schemas.execution import Outcome
from schemas.routes import ReplayRoute
from tests.execute.small import make_request, make_tasks, make_workspace, run_cli, sealed_rows

TASKS = ("t-001", "t-002", "t-003")
GOOD = tuple(
    json.dumps({"task_id": task, "answer": f"FINAL_SELECTION: A, B, {label}\n"}).encode()
    for task, label in zip(TASKS, "CDE", strict=True)
)


def make_route(data, **changes):
    given = {
        "adapter": "replay",
        "answers": "answers.jsonl",
        "sha256": hashlib.sha256(data).hexdigest(),
        "label": "Replayed",
        "ranked": True,
    }
    return ReplayRoute(**(given | changes))


@pytest.fixture
def read(tmp_path):
    """Reads bytes as a replay file under their own SHA-256."""
    path = tmp_path / "answers.jsonl"

    def write_and_read(data, tasks=TASKS):
        path.write_bytes(data)
        return read_replay(path, make_route(data), tasks)

    return write_and_read


def with_line(line, number=2):
    """The good file with one of its lines replaced."""
    lines = list(GOOD)
    lines[number - 1] = line
    return b"\n".join(lines) + b"\n"


def refused(read, data, *parts):
    """The one line that refuses a file; every part stands in it."""
    with pytest.raises(ExecuteError) as caught:
        read(data)
    message = str(caught.value)
    assert "\n" not in message
    assert "answers.jsonl" in message
    for part in parts:
        assert part in message
    return message


def ask(lines, task=1):
    return asyncio.run(ReplayAdapter(lines).ask(make_request(task)))


class TestGoodFiles:
    def test_every_task_gets_its_answer_whatever_the_order(self, read):
        for order in ((0, 1, 2), (2, 0, 1)):
            lines = read(b"\n".join(GOOD[i] for i in order))
            assert [ask(lines, number).raw for number in (1, 2, 3)] == [
                f"FINAL_SELECTION: A, B, {label}\n".encode() for label in "CDE"
            ]

    @pytest.mark.parametrize(
        "data",
        [
            b"\n".join(GOOD),
            b"\n".join(GOOD) + b"\n",
            b"\r\n".join(GOOD) + b"\r\n",
            b"\n \n" + b"\n\n".join(GOOD) + b"\n\t\n\n",
            b"\n".join(b"  " + line + b" \t" for line in GOOD),
        ],
        ids=["no-end", "end", "crlf", "blank-lines", "blanks-around"],
    )
    def test_line_ends_and_blanks_between_lines_change_nothing(self, read, data):
        assert read(data) == read(b"\n".join(GOOD))

    @pytest.mark.parametrize("end", ["\u2028", "\x85", "\x0b", "\\n", "\\r\\n"])
    def test_only_a_newline_ends_a_line(self, read, end):
        line = f'{{"task_id":"t-002","answer":"a{end}b"}}'
        line = line if end != "\x0b" else line.replace("\x0b", "\\u000b")
        answer = ask(read(with_line(line.encode("utf-8"))), 2).raw
        assert answer == f"a{json.loads(line)['answer'][1:-1]}b".encode()

    @pytest.mark.parametrize(
        ("fields", "reply"),
        [
            ({"answer": "é"}, Reply(Outcome.OK, "text", "é".encode())),
            ({"answer": ""}, Reply(Outcome.OK, "text", b"")),
            ({"answer": None}, Reply(Outcome.FAILED, "text", b"")),
            ({"answer": "x", "outcome": "ok"}, Reply(Outcome.OK, "text", b"x")),
            ({"answer": "x", "outcome": "failed"}, Reply(Outcome.FAILED, "text", b"x")),
            ({"answer": "x", "outcome": "truncated"}, Reply(Outcome.TRUNCATED, "text", b"x")),
            ({"answer": None, "outcome": "truncated"}, Reply(Outcome.TRUNCATED, "text", b"")),
            ({"answer": None, "outcome": "filtered"}, Reply(Outcome.FILTERED, "text", b"")),
            ({"answer": None, "outcome": "refused"}, Reply(Outcome.REFUSED, "text", b"")),
            ({"answer": None, "outcome": "failed"}, Reply(Outcome.FAILED, "text", b"")),
        ],
    )
    def test_outcome_and_answer_become_the_reply(self, read, fields, reply):
        line = json.dumps({"task_id": "t-001", **fields}).encode()
        assert ask(read(with_line(line, 1))) == reply

    def test_an_answer_of_the_largest_size_is_read(self, read):
        line = json.dumps({"task_id": "t-002", "answer": "a" * 2**20}).encode()
        assert len(ask(read(with_line(line)), 2).raw) == 2**20

    @settings(deadline=None, max_examples=60)
    @given(st.text())
    def test_every_answer_comes_back_as_its_utf8(self, tmp_path_factory, text):
        data = json.dumps({"task_id": "t-001", "answer": text}).encode()
        path = tmp_path_factory.getbasetemp() / "round.jsonl"
        path.write_bytes(data)
        lines = read_replay(path, make_route(data), ["t-001"])
        assert ask(lines).raw == text.encode("utf-8")

    def test_replays_cost_nothing(self):
        assert not ReplayAdapter({}).costs_money

    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    def test_a_byte_order_mark_before_the_first_line_changes_nothing(self, read, end):
        data = end.join(GOOD) + end
        assert read(b"\xef\xbb\xbf" + data) == read(data)

    def test_the_prompt_of_a_template_is_not_read(self, read):
        rows = [json.loads(line) | {"prompt": "Choose three."} for line in GOOD]
        told = read(b"\n".join(json.dumps(row).encode() for row in rows))
        assert [told[task].answer for task in TASKS] == [row["answer"] for row in rows]


class TestBadLines:
    @pytest.mark.parametrize(
        "line",
        [
            b"no json",
            b"{",
            b'{"task_id": "t-002", "answer": "x"',
            b'{"task_id": "t-002", "answer": "x"} {}',
            b'{"task_id": "t-002", "answer": "x"},',
            b"{'task_id': 't-002', 'answer': 'x'}",
            b'{"task_id": "t-002", "answer": NaN}',
            b'{"task_id": "t-002", "answer": Infinity}',
            b'{"task_id": "t-002", "answer": 1e999}',
            b'{"task_id": "t-002", "answer": "a\tb"}',
            b'{"task_id": "t-002", "answer": "\\ud800"}',
            b'{"task_id": "t-002", "answer": "x", "answer": "y"}',
            b'{"task_id": "t-002", "answer": "x", "\\u0061nswer": "x"}',
            b'{"task_id": "t-002", "answer": "\xff"}',
            b'{"task_id": "t-002", "answer": "\xed\xa0\x80"}',
            b'\xef\xbb\xbf{"task_id": "t-002", "answer": "x"}',
            b'{"task_id": "t-002", "answer": ' + b"[" * 500 + b"]" * 500 + b"}",
            b"[" * 100_000,
            b'{"task_id": "t-002", "answer": ' + b"9" * 5_000 + b"}",
            b"\x00",
        ],
        ids=lambda line: line[:44].decode("utf-8", "backslashreplace"),
    )
    def test_what_is_no_strict_json_is_refused_with_its_line(self, read, line):
        refused(read, with_line(line), "line 2")

    @pytest.mark.parametrize(
        ("line", "field"),
        [
            (b"[]", "line"),
            (b"null", "line"),
            (b'"t-002"', "line"),
            (b"3", "line"),
            (b"{}", "task_id"),
            (b'{"task_id": "t-002"}', "answer"),
            (b'{"answer": "x"}', "task_id"),
            (b'{"task_id": 2, "answer": "x"}', "task_id"),
            (b'{"task_id": null, "answer": "x"}', "task_id"),
            (b'{"task_id": "", "answer": "x"}', "task_id"),
            (b'{"task_id": ["t-002"], "answer": "x"}', "task_id"),
            (b'{"task_id": "' + b"t" * 201 + b'", "answer": "x"}', "task_id"),
            (b'{"task_id": "t-002", "answer": 3}', "answer"),
            (b'{"task_id": "t-002", "answer": true}', "answer"),
            (b'{"task_id": "t-002", "answer": ["x"]}', "answer"),
            (b'{"task_id": "t-002", "answer": {"text": "x"}}', "answer"),
            (b'{"task_id": "t-002", "answer": "x", "outcome": "OK"}', "outcome"),
            (b'{"task_id": "t-002", "answer": "x", "outcome": "splendid"}', "outcome"),
            (b'{"task_id": "t-002", "answer": "x", "outcome": null}', "outcome"),
            (b'{"task_id": "t-002", "answer": "x", "outcome": 1}', "outcome"),
            (b'{"task_id": "t-002", "answer": "x", "selection": "ABC"}', "selection"),
            (b'{"task_id": "t-002", "answer": "x", "a\\nb": 1}', "a\\u000ab"),
            (b'{"task_id": "t-002", "Answer": "x", "answer": "x"}', "Answer"),
            (b'{"task_id": "t-002", "answer": "' + b"a" * (2**20 + 1) + b'"}', "answer"),
        ],
        ids=lambda value: value[:60].decode() if isinstance(value, bytes) else None,
    )
    def test_a_line_of_another_shape_is_refused_with_line_and_field(self, read, line, field):
        message = refused(read, with_line(line), f"line 2, {field}: expected")
        assert len(message) < 800

    def test_a_task_twice_is_refused(self, read):
        refused(read, with_line(GOOD[0], 3), "line 3", "t-001", "twice")

    def test_the_same_line_twice_is_refused(self, read):
        refused(read, b"\n".join([*GOOD, GOOD[1]]), "line 4", "t-002", "twice")

    @pytest.mark.parametrize("task", ["t-004", "T-002", " t-002", "t-002 ", "t-00\u0662"])
    def test_a_task_that_is_not_frozen_is_refused(self, read, task):
        line = json.dumps({"task_id": task, "answer": "x"}).encode()
        refused(read, with_line(line), "line 2", "no frozen task")

    def test_missing_tasks_are_counted_and_the_first_is_named(self, read):
        refused(read, GOOD[1], "2 missing", "t-001")

    @pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t\n"], ids=["empty", "line", "blank"])
    def test_an_empty_file_misses_every_task(self, read, data):
        refused(read, data, "3 missing", "t-001")

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
    def test_a_file_in_another_encoding_is_refused(self, read, encoding):
        refused(read, b"\n".join(GOOD).decode().encode(encoding), "line 1")

    def test_a_file_that_ends_lines_with_carriage_returns_alone_is_refused(self, read):
        refused(read, b"\r".join(GOOD), "line 1")


class TestBadFiles:
    def test_another_sha256_is_refused_and_both_are_told(self, tmp_path):
        path = tmp_path / "answers.jsonl"
        path.write_bytes(b"\n".join(GOOD) + b" ")
        route = make_route(b"\n".join(GOOD))
        with pytest.raises(ExecuteError) as caught:
            read_replay(path, route, TASKS)
        message = str(caught.value)
        assert route.sha256 in message
        assert hashlib.sha256(path.read_bytes()).hexdigest() in message
        assert str(path) in message

    @pytest.mark.parametrize("kind", ["missing", "link", "broken-link", "folder", "fifo", "device"])
    def test_what_is_no_regular_file_is_refused(self, tmp_path, kind):
        data = b"\n".join(GOOD)
        path = tmp_path / "answers.jsonl"
        target = tmp_path / "target"
        if kind == "link":
            target.write_bytes(data)
        if kind.endswith("link"):
            path.symlink_to(target)
        elif kind == "folder":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "device":
            path = type(path)("/dev/zero")
        with pytest.raises(ExecuteError) as caught:
            read_replay(path, make_route(data), TASKS)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
        assert ("symbolic link" in str(caught.value)) == kind.endswith("link")


class TestThroughTheStage:
    def test_a_relative_path_starts_from_the_workspace_and_the_table_holds_the_answers(
        self, tmp_path
    ):
        data = b"\n".join(GOOD)
        route = make_route(data, answers="given/answers.jsonl")
        workspace = make_workspace(tmp_path, 3, {"replay": route.model_dump(mode="json")})
        (tmp_path / "given").mkdir()
        (tmp_path / "given" / "answers.jsonl").write_bytes(data)
        stage.run(workspace, "replay")
        raw = {row.task_id: row.raw for row in sealed_rows(workspace, "replay")}
        assert raw == {
            t: json.loads(g)["answer"].encode() for t, g in zip(TASKS, GOOD, strict=True)
        }

    def test_a_bad_file_asks_nothing_and_leaves_no_table(self, tmp_path):
        data = with_line(b'{"task_id": "t-002", "answer": 3}')
        (tmp_path / "answers.jsonl").write_bytes(data)
        route = make_route(data).model_dump(mode="json")
        workspace = make_workspace(tmp_path, make_tasks(3), {"replay": route})
        ended = run_cli("execute", "replay", "-w", tmp_path)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.count("\n") == 1
        assert "line 2, answer" in ended.stderr
        assert not workspace.artifact("execute", "replay").exists()
        assert not workspace.ledger("replay").exists()


def test_a_line_holds_task_answer_outcome_published_hash_and_prompt_alone():
    assert tuple(ReplayLine.model_fields) == (
        "task_id", "answer", "outcome", "published", "prompt",
    )  # fmt: skip
