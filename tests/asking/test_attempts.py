"""Attempts in the ledger: nothing lost, nothing replaced, sums over all sessions."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from pipeline.asking.adapter import Exchange, Reply, response_of
from pipeline.asking.journal import Journal
from pipeline.asking.ledger import Sending, Settled, Totals, open_ledger
from pipeline.asking.line import attempt_of
from pipeline.errors import ExecuteError
from schemas.execution import Attempt, Outcome
from tests.execute.small import make_request, make_response

ROUTE = "2" * 64


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "route.sqlite") as ledger:
        yield ledger


def sending(task=1, number=1, reserve=1000):
    request = make_request(task)
    return Sending(request.key, number, ROUTE, request.question.id, 5, reserve)


def settled(task=1, number=1, *, raw=b"one", cost=400, outcome=Outcome.OK):
    reply = Reply(
        outcome,
        "text",
        raw,
        Exchange(cost_micros=cost, prompt_tokens=7, completion_tokens=3, latency_ms=20),
    )
    stored = outcome is Outcome.OK
    response = response_of(make_request(task), reply) if stored else None
    return Settled(attempt_of(sending(task, number), reply, stored=stored), response)


def test_fb_023_a_late_answer_is_kept_as_an_attempt_and_replaces_nothing(ledger):
    ledger.commit([sending(number=1)])
    ledger.commit([settled(number=1, outcome=Outcome.TIMEOUT, raw=b"", cost=None)])
    ledger.commit([sending(number=2)])
    ledger.commit([settled(number=2, raw=b"stored")])
    ledger.commit([settled(number=3, raw=b"late", cost=300)])
    assert [row.raw for row in ledger.responses()] == [b"stored"]
    assert [(row.number, row.outcome, row.stored, row.raw) for row in ledger.attempts()] == [
        (1, "timeout", False, b""),
        (2, "ok", True, b""),
        (3, "ok", False, b"late"),
    ]
    assert ledger.totals(ROUTE) == Totals(3, 1000 + 400 + 300, 1, 21, 9, 60)


def test_a_surplus_answer_in_the_same_commit_is_kept_too(ledger):
    ledger.commit([settled(number=1, raw=b"first"), settled(number=2, raw=b"second")])
    assert [row.raw for row in ledger.responses()] == [b"first"]
    assert [row.raw for row in ledger.attempts()] == [b"", b"second"]


def test_what_was_sent_and_never_came_back_is_lost_and_counts_at_its_reserve(tmp_path):
    path = tmp_path / "route.sqlite"
    with open_ledger(path) as ledger:
        ledger.commit([sending(1), sending(2), settled(2)])
    with open_ledger(path) as ledger:
        assert (ledger.recover(), ledger.recover()) == (1, 0)
        lost, _ = sorted(ledger.attempts(), key=lambda row: row.task_id)
        assert (lost.outcome, lost.cost_micros, lost.reserve_micros) == ("lost", None, 1000)
        assert ledger.tries() == {make_request(n).key: 1 for n in (1, 2)}
        assert ledger.totals(ROUTE).spent_micros == 1400
        assert ledger.totals("3" * 64) == Totals(0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("table", ["attempts", "responses"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET raw = x'00'", "DELETE FROM {}"])
def test_no_statement_changes_a_row(tmp_path, table, statement):
    path = tmp_path / "route.sqlite"
    with open_ledger(path) as ledger:
        ledger.commit([settled()])
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="written once"):
        connection.execute(statement.format(table))
    connection.close()


def test_a_changed_attempt_is_found(tmp_path):
    path = tmp_path / "route.sqlite"
    with open_ledger(path) as ledger:
        ledger.commit([settled()])
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER attempts_hold")
    connection.execute("UPDATE attempts SET cost_micros = 1")
    connection.commit()
    connection.close()
    with open_ledger(path) as ledger, pytest.raises(ExecuteError, match="attempt 1"):
        ledger.attempts()


def test_a_commit_is_whole_or_nothing(ledger):
    ledger.commit([settled(1)])
    twice = settled(1)._replace(response=None)
    with pytest.raises(ExecuteError, match="can be written"):
        ledger.commit([settled(2), twice, settled(3)])
    assert [row.task_id for row in ledger.attempts()] == ["t-001"]
    ledger.commit([settled(2)])
    assert len(ledger.responses()) == 2


def test_a_disk_that_is_full_or_read_only_loses_nothing_that_was_stored(tmp_path):
    path = tmp_path / "route.sqlite"
    with open_ledger(path) as ledger:
        ledger.commit([settled(1)])
        pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(ExecuteError, match="full"):
            ledger.commit([settled(n, raw=b"x" * 9000) for n in range(2, 9)])
        ledger._connection.execute("PRAGMA max_page_count = 100000")
        ledger._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(ExecuteError, match="can be written"):
            ledger.commit([sending(2)])
    with open_ledger(path) as ledger:
        assert [row.task_id for row in ledger.responses()] == ["t-001"]
        ledger.commit([settled(2)])


@pytest.mark.parametrize("add", ["response", "attempt"])
def test_another_row_under_a_key_is_refused(ledger, add):
    attempt, response = settled()
    row, field = (response, "raw") if add == "response" else (attempt, "detail")
    ledger.add(row)
    ledger.add(row)
    with pytest.raises(ExecuteError, match="written once"):
        ledger.add(row.model_copy(update={field: b"x" if field == "raw" else "x"}))


def test_rows_come_back_as_they_went_in(ledger):
    attempt = settled(outcome=Outcome.MALFORMED, raw=b"\x00\xff").attempt
    ledger.add(attempt)
    assert ledger.attempts() == [attempt]
    assert isinstance(ledger.attempts()[0], Attempt)


class Slow:
    """A ledger that notes how many entries come together."""

    def __init__(self, fail=()):
        self.batches, self._fail = [], fail

    def commit(self, entries):
        self.batches.append(list(entries))
        if len(self.batches) in self._fail:
            raise ExecuteError("room", "none", "disk", "Make room.")


def test_what_waits_together_is_committed_together_and_in_order():
    ledger = Slow()

    async def write():
        journal = Journal(ledger)
        await asyncio.gather(*(journal.write(sending(n)) for n in range(1, 41)))
        await journal.write(sending(41))

    asyncio.run(write())
    assert [entry for batch in ledger.batches for entry in batch] == [
        sending(n) for n in range(1, 42)
    ]
    assert len(ledger.batches) <= 4


def test_every_worker_hears_of_its_own_failure():
    ledger = Slow(fail={1})

    async def write():
        journal = Journal(ledger)
        first = await asyncio.gather(
            *(journal.write(sending(n)) for n in range(1, 4)), return_exceptions=True
        )
        await journal.write(sending(9))
        return first

    assert {type(found) for found in asyncio.run(write())} == {ExecuteError}
    assert ledger.batches[-1] == [sending(9)]


def test_responses_of_a_ledger_without_attempts_are_read(tmp_path):
    """A ledger that was begun before there were attempts goes on."""
    path = tmp_path / "route.sqlite"
    with open_ledger(path) as ledger:
        ledger.add(make_response(1))
    connection = sqlite3.connect(path)
    for table in ("attempts", "sent"):
        connection.execute(f"DROP TABLE {table}")
    connection.commit()
    connection.close()
    with open_ledger(path) as ledger:
        assert (len(ledger.responses()), ledger.attempts()) == (1, [])
