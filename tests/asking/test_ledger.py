from __future__ import annotations

import ctypes
import os
import sqlite3

import pytest

from pipeline.asking.ledger import open_ledger
from pipeline.errors import ExecuteError
from pipeline.identity import row_digest
from schemas.execution import Outcome
from tests.execute.small import make_response, make_workspace, run_cli, start

UPSERT = (
    "INSERT INTO responses SELECT {columns} FROM responses WHERE true "
    "ON CONFLICT (request_digest) DO UPDATE SET raw = x'00'"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledgers" / "route.sqlite"


@pytest.fixture
def filled(path):
    """Path of a ledger with three responses."""
    with open_ledger(path) as ledger:
        for number in (1, 2, 3):
            ledger.add(make_response(number))
    return path


def raw_connection(path, *, recursive=False):
    """A connection as any other program would open it."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA recursive_triggers = {int(recursive)}")
    return connection


def change_behind_its_back(path, statement, *values):
    connection = raw_connection(path)
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement, values)
    connection.close()


def everything(path):
    with open_ledger(path) as ledger:
        return sorted(ledger.responses(), key=lambda row: row.task_id)


def one_line(error):
    return "\n" not in str(error) and str(error)


class TestWriteOnce:
    def test_what_is_added_is_found_again_after_reopening(self, filled):
        assert everything(filled) == [make_response(number) for number in (1, 2, 3)]
        with open_ledger(filled) as ledger:
            assert ledger.keys() == {make_response(n).request_digest for n in (1, 2, 3)}

    @pytest.mark.parametrize("outcome", Outcome)
    @pytest.mark.parametrize("form", ["text", "chat"])
    @pytest.mark.parametrize("raw", [b"", b"\x00\xff\n", "é".encode()])
    def test_every_response_comes_back_as_it_went_in(self, path, outcome, form, raw):
        response = make_response(outcome=outcome, form=form, raw=raw, task_id="naïve ' \n")
        with open_ledger(path) as ledger:
            ledger.add(response)
            assert ledger.responses() == [response]

    def test_the_same_response_again_changes_nothing(self, filled):
        with open_ledger(filled) as ledger:
            ledger.add(make_response(2))
        assert everything(filled) == [make_response(number) for number in (1, 2, 3)]

    @pytest.mark.parametrize(
        "change",
        [
            {"raw": b"another"},
            {"outcome": Outcome.REFUSED},
            {"form": "chat"},
            {"task_id": "t-999"},
            {"task_digest": "3" * 64},
            {"repeat": 1},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_a_second_different_response_is_refused_and_the_first_stays(self, filled, change):
        first = make_response(1)
        late = first.model_copy(update=change)
        with open_ledger(filled) as ledger:
            with pytest.raises(ExecuteError) as caught:
                ledger.add(late)
            assert first in ledger.responses()
            assert len(ledger.responses()) == 3
        message = one_line(caught.value)
        assert first.request_digest in message
        assert row_digest(first) in message
        assert row_digest(late) in message

    @pytest.mark.parametrize("recursive", [False, True], ids=["plain", "recursive-triggers"])
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE responses SET raw = x'00'",
            "UPDATE OR REPLACE responses SET raw = x'00'",
            "DELETE FROM responses",
            "INSERT OR REPLACE INTO responses SELECT {columns} FROM responses LIMIT 1",
            "REPLACE INTO responses SELECT {columns} FROM responses LIMIT 1",
            "INSERT INTO responses SELECT {columns} FROM responses LIMIT 1",
            UPSERT,
        ],
    )
    def test_no_statement_of_another_program_changes_a_row(self, filled, statement, recursive):
        columns = "'0', request_digest, task_digest, route_digest, task_id, 9, 'ok', 'text', x'00'"
        before = everything(filled)
        connection = raw_connection(filled, recursive=recursive)
        with pytest.raises(sqlite3.IntegrityError, match="written once"):
            connection.execute(statement.format(columns=columns))
        connection.close()
        assert everything(filled) == before

    @pytest.mark.parametrize("column", ["repeat", "raw", "task_id"])
    def test_columns_are_strict(self, filled, column):
        wrong = {"repeat": "'many'", "raw": "'text'", "task_id": "x'00'"}
        columns = ["digest", "'k'", "task_digest", "route_digest", "task_id", "repeat", "outcome"]
        columns += ["form", "raw"]
        columns = [wrong[column] if name == column else name for name in columns]
        connection = raw_connection(filled)
        with pytest.raises(sqlite3.IntegrityError, match="cannot store"):
            connection.execute(
                f"INSERT INTO responses SELECT {', '.join(columns)} FROM responses LIMIT 1"
            )
        connection.close()

    def test_wal_and_full_synchronisation_are_in_force(self, path):
        with open_ledger(path) as ledger:
            pragma = ledger._connection.execute
            assert pragma("PRAGMA journal_mode").fetchone() == ("wal",)
            assert pragma("PRAGMA synchronous").fetchone() == (2,)

    def test_every_cell_is_committed_before_the_next(self, path):
        with open_ledger(path) as ledger:
            for number in (1, 2, 3):
                ledger.add(make_response(number))
                other = raw_connection(path)
                count = other.execute("SELECT count(*) FROM responses").fetchone()
                other.close()
                assert count == (number,)


class TestLock:
    def test_a_second_holder_in_one_process_is_refused(self, path):
        with open_ledger(path) as ledger:
            with pytest.raises(ExecuteError, match="no other process") as caught, open_ledger(path):
                pass
            assert one_line(caught.value)
            ledger.add(make_response(1))

    def test_the_lock_is_free_after_an_error(self, path):
        with pytest.raises(KeyError), open_ledger(path):
            raise KeyError
        assert everything(path) == []

    def test_routes_do_not_lock_each_other(self, tmp_path):
        with open_ledger(tmp_path / "a.sqlite"), open_ledger(tmp_path / "b.sqlite") as other:
            assert other.keys() == set()

    def test_a_second_process_gets_one_line_and_exit_code_2(self, tmp_path):
        workspace = make_workspace(tmp_path, 3)
        arguments = ("execute", "uniform", "-w", tmp_path)
        with start(tmp_path / "log", 1, 1, *arguments, script="child") as first:
            assert first.stdout.readline() == "t-001\n"
            second = run_cli(*arguments)
            assert second.returncode == 2
            assert second.stdout == ""
            assert second.stderr.count("\n") == 1
            assert "no other process" in second.stderr
            assert str(workspace.ledger("uniform")) in second.stderr
            first.communicate("\n")
        assert first.returncode == 0
        with open_ledger(workspace.ledger("uniform")) as ledger:
            assert len(ledger.keys()) == 3


def no_privilege():
    """Whether the permissions of files bind this process; root's power over them is laid down."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    power = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0:
        return None
    assert libc.capget(header, power) == 0
    before = list(power)
    power[0] &= ~0b110  # effective set: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, power) == 0
    return lambda: libc.capset(header, (ctypes.c_uint32 * 6)(*before))


@pytest.fixture
def bound_by_permissions():
    restore = no_privilege()
    yield
    if restore:
        restore()


class TestUnusable:
    @pytest.mark.usefixtures("bound_by_permissions")
    @pytest.mark.parametrize("what", ["folder", "ledger", "lock", "parent"])
    def test_a_read_only_place_is_one_error(self, filled, what):
        places = {
            "folder": filled.parent,
            "ledger": filled,
            "lock": filled.with_suffix(".lock"),
            "parent": filled.parent.parent,
        }
        place = places[what]
        path = filled.parent / "new.sqlite" if what == "folder" else filled
        path = filled.parent.parent / "new" / "route.sqlite" if what == "parent" else path
        mode = place.stat().st_mode
        place.chmod(0o500 if place.is_dir() else 0o400)
        try:
            with pytest.raises(ExecuteError) as caught, open_ledger(path) as ledger:
                ledger.add(make_response(9))
        finally:
            place.chmod(mode)
        assert one_line(caught.value)
        assert str(path) in str(caught.value)
        assert everything(filled) == [make_response(number) for number in (1, 2, 3)]

    @pytest.mark.parametrize("suffix", [".sqlite", ".lock"])
    @pytest.mark.parametrize("kind", ["link-to-file", "link-to-nothing", "folder", "fifo"])
    def test_what_is_no_regular_file_is_refused(self, path, suffix, kind):
        path.parent.mkdir()
        place, target = path.with_suffix(suffix), path.parent / "target"
        if kind == "link-to-file":
            target.write_bytes(b"")
        if kind.startswith("link"):
            place.symlink_to(target)
        elif kind == "folder":
            place.mkdir()
        else:
            os.mkfifo(place)
        with pytest.raises(ExecuteError) as caught, open_ledger(path):
            pass
        assert one_line(caught.value)
        assert str(place) in str(caught.value)
        assert ("symbolic link" in str(caught.value)) == kind.startswith("link")
        assert kind != "link-to-nothing" or not target.exists()
        assert kind != "link-to-file" or target.read_bytes() == b""

    def test_a_file_where_the_folder_belongs_is_one_error(self, path):
        path.parent.write_bytes(b"")
        with pytest.raises(ExecuteError) as caught, open_ledger(path):
            pass
        assert one_line(caught.value)

    @pytest.mark.parametrize(
        "data", [b"no ledger", b"\x00" * 4096, b"PAR1" * 2000], ids=["text", "zeros", "parquet"]
    )
    def test_what_is_no_sqlite_file_is_refused_and_left_alone(self, path, data):
        path.parent.mkdir()
        path.write_bytes(data)
        with pytest.raises(ExecuteError) as caught, open_ledger(path) as ledger:
            ledger.responses()
        assert one_line(caught.value)
        assert str(path) in str(caught.value)
        assert path.read_bytes() == data

    @pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
    def test_a_truncated_ledger_is_refused(self, path, share):
        with open_ledger(path) as ledger:
            for number in range(40):
                ledger.add(make_response(number, raw=b"x" * 500))
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(ExecuteError) as caught, open_ledger(path) as ledger:
            ledger.responses()
        assert one_line(caught.value)
        assert str(path) in str(caught.value)

    def test_overwritten_pages_are_refused(self, path):
        with open_ledger(path) as ledger:
            for number in range(40):
                ledger.add(make_response(number, raw=b"x" * 500))
        data = bytearray(path.read_bytes())
        for page in range(1, len(data) // 4096):
            data[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
        path.write_bytes(data)
        with pytest.raises(ExecuteError) as caught, open_ledger(path) as ledger:
            ledger.responses()
        assert one_line(caught.value)

    def test_another_programs_table_is_refused(self, path):
        path.parent.mkdir()
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE responses (request_digest TEXT, answer TEXT)")
        connection.close()
        with pytest.raises(ExecuteError) as caught, open_ledger(path) as ledger:
            ledger.responses()
        assert one_line(caught.value)
        with pytest.raises(ExecuteError) as caught, open_ledger(path) as ledger:
            ledger.add(make_response(1))
        assert one_line(caught.value)


class TestChangedBehindItsBack:
    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("digest", "0" * 64),
            ("digest", "no digest"),
            ("request_digest", "0" * 64),
            ("request_digest", "no digest"),
            ("task_digest", "0" * 64),
            ("route_digest", "0" * 64),
            ("route_digest", ""),
            ("task_id", "t-002"),
            ("task_id", ""),
            ("repeat", 1),
            ("repeat", -1),
            ("outcome", "failed"),
            ("outcome", "splendid"),
            ("form", "chat"),
            ("form", "song"),
            ("raw", b""),
            ("raw", b"FINAL_SELECTION: A, B, D\n"),
        ],
    )
    def test_an_edited_field_is_refused(self, filled, column, value):
        change_behind_its_back(
            filled, f"UPDATE responses SET {column} = ? WHERE task_id = 't-001'", value
        )
        with open_ledger(filled) as ledger, pytest.raises(ExecuteError) as caught:
            ledger.responses()
        assert one_line(caught.value)
        assert str(filled) in str(caught.value)
        assert "changed" in str(caught.value)

    def test_text_that_is_no_utf8_is_refused(self, filled):
        change_behind_its_back(filled, "UPDATE responses SET task_id = CAST(x'ff' AS TEXT)")
        with open_ledger(filled) as ledger, pytest.raises(ExecuteError) as caught:
            ledger.responses()
        assert one_line(caught.value)

    def test_dropped_triggers_come_back(self, filled):
        change_behind_its_back(filled, "SELECT 1")
        everything(filled)
        connection = raw_connection(filled)
        with pytest.raises(sqlite3.IntegrityError, match="written once"):
            connection.execute("DELETE FROM responses")
        connection.close()
