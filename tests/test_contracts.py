"""Rows outlive the code that wrote them: older contracts are read, newer ones refused by name."""

from __future__ import annotations

import shutil
import sqlite3
from types import MappingProxyType
from typing import ClassVar

import pyarrow.parquet as pq
import pytest

from pipeline.asking.ledger import Settled, open_ledger
from pipeline.asking.store import peek_keys
from pipeline.columns import row_digests
from pipeline.errors import ExecuteError
from pipeline.identity import row_digest
from pipeline.tables import make_table, read_header, read_table, write_table
from schemas.execution import Attempt, Outcome, Response
from schemas.record import Count, Row
from tests.schemas.examples import EXAMPLES
from tests.shared import ROOT

OLDER = ROOT / "tests/older"
LATER = {"system_fingerprint": "fp_44709d6fcb"}


@pytest.fixture
def older(tmp_path):
    """Copies of what the first contract wrote."""
    return shutil.copytree(OLDER, tmp_path / "older")


def again(attempt, **changes):
    return attempt.model_copy(update={"number": attempt.number + 1, **changes})


# Tables


def test_an_older_table_is_read_and_its_rows_keep_their_digests(older):
    table = read_table(older / "attempts.parquet", Attempt)
    stored = pq.read_table(OLDER / "attempts.parquet")
    assert "system_fingerprint" not in stored.column_names
    assert table.header.contract == 1
    assert table.digests == stored.column("digest").to_pylist()
    assert [row.system_fingerprint for row in table.rows()] == [None] * 3
    assert [row_digest(row) for row in table.rows()] == table.digests
    assert read_table(older / "responses.parquet", Response).header.rows == 2


def test_a_table_is_written_under_the_oldest_contract_that_holds_its_rows(older):
    rows = read_table(older / "attempts.parquet", Attempt).rows()
    write_table(older / "same.parquet", make_table(Attempt, rows))
    assert (older / "same.parquet").read_bytes() == (OLDER / "attempts.parquet").read_bytes()
    more = [*rows, again(rows[-1], **LATER)]
    write_table(older / "more.parquet", make_table(Attempt, more))
    header = read_header(older / "more.parquet")
    assert (header.contract, header.rows) == (2, 4)
    mixed = read_table(older / "more.parquet", Attempt)
    assert set(mixed.rows()) == set(more)
    assert set(mixed.digests) > set(read_table(older / "attempts.parquet", Attempt).digests)


def test_a_row_without_the_later_field_has_the_digest_that_the_first_contract_gave_it():
    row = EXAMPLES[Attempt].model_copy(update={"system_fingerprint": None})
    assert row_digest(row) == "f5737a24155469f7f65c77acff632f882efb5b35f108083a53aa9f3705169223"


def test_a_later_field_is_part_of_the_identity_where_it_has_a_value(older):
    row = read_table(older / "attempts.parquet", Attempt).rows()[0]
    told = row.model_copy(update=LATER)
    other = row.model_copy(update={"system_fingerprint": "fp_other"})
    assert len({row_digest(r) for r in (row, told, other)}) == 3
    data = make_table(Attempt, [row, again(told), again(again(other))]).data
    assert row_digests(Attempt, data.drop_columns(["digest"])) == [
        row_digest(row), row_digest(again(told)), row_digest(again(again(other))),
    ]  # fmt: skip


def test_a_later_field_must_be_able_to_be_absent():
    with pytest.raises(TypeError, match="came later: its default is none, its contract 2 to 2"):

        class Broken(Row):
            table: ClassVar[str] = "broken"
            kind: ClassVar[str] = "broken"
            key: ClassVar[tuple[str, ...]] = ("name",)
            contract: ClassVar[int] = 2
            later: ClassVar = MappingProxyType({"count": 2})
            name: str
            count: Count

    assert Row.later == {}


# Ledgers


def test_an_older_ledger_is_migrated_by_adding_and_goes_on(older):
    path = older / "route.sqlite"
    with open_ledger(path) as ledger:
        tried = ledger.attempts()
        assert {row_digest(row) for row in tried} == set(
            read_table(OLDER / "attempts.parquet", Attempt).digests
        )
        assert {row_digest(row) for row in ledger.responses()} == set(
            read_table(OLDER / "responses.parquet", Response).digests
        )
        ledger.commit([Settled(again(tried[-1], outcome=Outcome.LOST, **LATER), None)])
    with open_ledger(path) as ledger:
        assert [row.system_fingerprint for row in ledger.attempts()].count(None) == 3
        assert len(ledger.attempts()) == 4
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        with pytest.raises(sqlite3.IntegrityError, match="written once"):
            connection.execute("UPDATE attempts SET system_fingerprint = 'forged'")


def test_an_older_ledger_is_looked_into_without_being_touched(older):
    path = older / "route.sqlite"
    (row, _) = read_table(OLDER / "responses.parquet", Response).rows()
    assert len(peek_keys(path, row.route_digest)) == 2
    assert path.read_bytes() == (OLDER / "route.sqlite").read_bytes()


def test_a_migration_that_is_cut_short_leaves_the_older_ledger(older, monkeypatch):
    from pipeline.asking import store

    path = older / "route.sqlite"
    with monkeypatch.context() as patched:
        patched.setitem(store._TYPES, "string", "NO SUCH TYPE")
        with pytest.raises(ExecuteError, match="ledger"), open_ledger(path):
            pass
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (0,)
        names = [row[1] for row in connection.execute("PRAGMA table_info(attempts)")]
    assert "system_fingerprint" not in names
    with open_ledger(path) as ledger:
        assert len(ledger.attempts()) == 3


def test_a_newer_ledger_is_refused_by_name_and_left_as_it_is(older):
    path = older / "route.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    before = path.read_bytes()
    said = "contract 2 or older, found contract 3, written by a newer version. Keep it"
    with pytest.raises(ExecuteError, match=said), open_ledger(path):
        pass
    assert path.read_bytes() == before


def test_a_new_ledger_and_a_migrated_one_have_the_same_columns(older, tmp_path):
    def columns(path):
        with open_ledger(path):
            pass
        with sqlite3.connect(path) as connection:
            return {
                name: [tuple(row[1:4]) for row in connection.execute(f"PRAGMA table_info({name})")]
                for name in ("responses", "attempts", "sent")
            }

    assert columns(older / "route.sqlite") == columns(tmp_path / "new.sqlite")
