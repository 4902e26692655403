"""A run sealed under the first contract of attempts is read, audited and extended under today's."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pyarrow.parquet as pq
import pytest

from pipeline.asking.sealing import attempts_path
from pipeline.audit.cell import audit_cell
from pipeline.audit.evidence import Mark
from pipeline.audit.verify import verify
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import read_header, read_table
from schemas.execution import Attempt
from tests.execute.provider import Provider, answer_to, completion, reply
from tests.execute.small import openai_route
from tests.mini import mini_workspace, run_stages
from tests.shared import ROOT

OLDER = ROOT / "tests/older"
FINGERPRINT = "fp_44709d6fcb"


def definition(path):
    """What a ledger says of its attempts."""
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version, [row[1] for row in connection.execute("PRAGMA table_info(attempts)")]


def as_the_first_contract_wrote_it(path):
    """Take from a ledger what later contracts added; the older ledger at hand says what that is."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE attempts DROP COLUMN system_fingerprint")
        connection.execute("PRAGMA user_version = 0")
        connection.commit()
    assert definition(path) == definition(OLDER / "route.sqlite")


def with_route(url, quota):
    def change(parameters):
        parameters["freeze"]["quota"] = quota
        parameters["routes"]["m"] = openai_route(url)

    return change


def evidence(audit, title):
    (step,) = [step for step in audit.steps if step.title == title]
    return " ".join(step.lines)


@pytest.fixture
def extended(tmp_path):
    """A run of two tasks a stratum under contract 1, and the same with more tasks under today's."""
    told = {}

    def behave(call):
        return reply(body=completion(answer_to(call.prompt), **told))

    with Provider(behave) as provider:
        run = mini_workspace(tmp_path, with_route(provider.url, 1))
        run_stages(run)
        older = read_table(attempts_path(PORTFOLIO, run, "m"), Attempt)
        as_the_first_contract_wrote_it(run.ledger("m"))
        asked = len(provider.heads)
        first = [cell.task_id for cell in older.rows()]
        audits = [audit_cell(run, "m", first[0]), verify(run)]
        told["system_fingerprint"] = FINGERPRINT
        run = mini_workspace(tmp_path, with_route(provider.url, 2))
        run_stages(run)
        yield run, older, audits, len(provider.heads) - asked


def test_a_run_of_the_first_contract_is_read_audited_and_extended(extended):
    run, older, (audit, verified), asked = extended
    stored = pq.read_schema(OLDER / "attempts.parquet").names
    assert older.header.contract == 1
    assert {step.mark for step in audit.steps} <= {Mark.OK, Mark.SEALED}
    assert verified.differences == ()

    path = attempts_path(PORTFOLIO, run, "m")
    newer = read_table(path, Attempt)
    assert read_header(path).contract == 2
    assert set(pq.read_schema(path).names) - set(stored) == {"system_fingerprint"}
    assert set(newer.digests) > set(older.digests)
    served = [row.system_fingerprint for row in newer.rows()]
    assert served.count(None) == older.header.rows
    assert served.count(FINGERPRINT) == asked == newer.header.rows - older.header.rows > 0
    assert definition(run.ledger("m"))[0] == 2

    new = next(row.task_id for row in newer.rows() if row.system_fingerprint)
    audit = audit_cell(run, "m", new)
    assert {step.mark for step in audit.steps} <= {Mark.OK, Mark.SEALED}
    assert f"answered by {FINGERPRINT}" in evidence(audit, "raw answer")
    assert verify(run).differences == ()
