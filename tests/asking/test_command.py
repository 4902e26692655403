"""A program on this machine answers as an endpoint does: bounded, tried again, stored once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from pipeline.asking.adapter import Question, Request
from pipeline.asking.command import CommandAdapter
from pipeline.asking.routes import bound_route
from pipeline.errors import ProviderError
from pipeline.execute import stage
from pipeline.execute.stage import ADAPTERS
from schemas.execution import Outcome
from schemas.routes import CommandRoute
from tests.execute.small import attempts_of, make_workspace, sealed_rows, start

PROGRAM = Path(__file__).with_name("program.py")
QUESTION = Question("t-001", "1" * 64, "Which three?", "You cook.", 2)


def command_route(way, *more, **changes):
    given = {
        "adapter": "command",
        "argv": [sys.executable, str(PROGRAM), way, *map(str, more)],
        "model": "tiny",
        "weights_sha256": "a" * 64,
        "label": "Tiny",
        "ranked": True,
        "limits": {"concurrency": 1, "attempts": 2, "backoff_ms": 1, "timeout_ms": 20_000},
    }
    return given | changes


def ask(way, *more, **changes):
    """One try, and the adapter closed behind it."""
    route = CommandRoute.model_validate(command_route(way, *more, **changes), strict=False)

    async def one():
        adapter = CommandAdapter(route, "tiny", Path())
        try:
            return await adapter.ask(Request("2" * 64, QUESTION, "3" * 64))
        finally:
            await adapter.close()

    return asyncio.run(one())


def test_a_program_is_told_the_whole_question():
    reply = ask("echo", system="Answer briefly.", settings={"temperature": 0.5})
    assert json.loads(reply.raw) == {
        "id": "t-001",
        "prompt": "Which three?",
        "system": "Answer briefly.\n\nYou cook.",
        "repeat": 2,
        "settings": {"temperature": 0.5},
    }
    assert (reply.outcome, reply.form) == (Outcome.OK, "text")
    assert reply.exchange.cost_micros == 0


@pytest.mark.parametrize(
    ("way", "outcome", "said"),
    [
        ("good", Outcome.OK, ""),
        ("chatty", Outcome.OK, ""),
        ("long", Outcome.TRUNCATED, ""),
        ("null", Outcome.FAILED, "no answer"),
        ("error", Outcome.PROVIDER_ERROR, "out of memory"),
        ("other", Outcome.MALFORMED, "an answer to 'another' in place of 't-001'"),
        ("shape", Outcome.MALFORMED, "answer: "),
        ("extra", Outcome.MALFORMED, "mood: "),
        ("half", Outcome.MALFORMED, "surrogate"),
        ("noise", Outcome.NOT_JSON, "found"),
        ("flood", Outcome.BODY_TOO_LARGE, "4,194,304 bytes"),
        ("dies", Outcome.PROVIDER_ERROR, "ended with 7: CUDA error: device lost"),
        ("cut", Outcome.PROVIDER_ERROR, "ended with 0: it said nothing"),
    ],
)
def test_whatever_a_program_does_is_an_outcome(way, outcome, said):
    reply = ask(way)
    assert reply.outcome is outcome
    assert said in reply.exchange.detail
    assert reply.exchange.detail.isprintable()


def test_a_program_that_says_nothing_is_ended_in_time():
    limits = {"concurrency": 1, "attempts": 1, "timeout_ms": 300}
    assert ask("silent", limits=limits).outcome is Outcome.TIMEOUT


@pytest.mark.parametrize("argv", [["no-such-program"], [str(PROGRAM.parent)], ["/dev/null"]])
def test_a_program_that_cannot_be_started_stops_the_route(tmp_path, argv):
    workspace = make_workspace(tmp_path, 3, {"m": command_route("good", argv=argv)})
    (filled,) = stage.fill(workspace, ["m"])
    assert isinstance(filled.problem, ProviderError)
    assert "configuration" in str(filled.problem)
    assert filled.tally.attempts == 1


def test_a_program_is_kept_between_questions_and_started_again_after_it_died(tmp_path):
    log = tmp_path / "log"
    workspace = make_workspace(tmp_path / "w", 8, {"m": command_route("third", log)})
    stage.run(workspace, "m")
    tried, answered = attempts_of(workspace)
    assert len(answered) == 8
    assert {row.outcome for row in answered.values()} == {Outcome.OK}
    died = [row for row in tried if row.outcome is Outcome.PROVIDER_ERROR]
    assert len(died) == 3  # the third question of the first program, and of those after it
    assert len(log.read_text("utf-8").split()) == len(tried) == 11


def test_so_many_programs_run_side_by_side(tmp_path):
    limits = {"concurrency": 3, "attempts": 1}
    workspace = make_workspace(tmp_path, 12, {"m": command_route("good", limits=limits)})
    stage.run(workspace, "m")
    assert len(sealed_rows(workspace, "m")) == 12


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_answered_before_an_end_is_never_asked_again(tmp_path, number):
    log = tmp_path / "log"
    workspace = make_workspace(tmp_path / "w", 60, {"m": command_route("chatty", log)})
    with start("execute", "m", "-w", workspace.root) as process:
        until = time.monotonic() + 60
        while time.monotonic() < until and (not log.exists() or log.read_text().count("\n") < 5):
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate()
    _, stored = attempts_of(workspace)
    assert 0 < len(stored) < 60
    before = len(log.read_text("utf-8").split())
    stage.run(workspace, "m")
    assert {row.cost_micros for row in attempts_of(workspace)[0]} == {0}
    asked = log.read_text("utf-8").split()
    assert not set(asked[before:]) & set(stored)
    assert set(asked[before:]) | set(stored) == {f"t-{n:03}" for n in range(1, 61)}


def test_no_program_outlives_its_run(tmp_path):
    marks = tmp_path / "pids"
    program = tmp_path / "child.py"
    program.write_text(
        "import os, sys, json\n"
        f"open({str(marks)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'answer': 'x'}), flush=True)\n",
        encoding="utf-8",
    )
    route = command_route("good", argv=[sys.executable, str(program)])
    stage.run(make_workspace(tmp_path / "w", 4, {"m": route}), "m")
    for pid in marks.read_text("utf-8").split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


ROUTE = CommandRoute.model_validate(command_route("good"), strict=False)


@pytest.mark.parametrize(
    ("changes", "another"),
    [
        ({"argv": ["x"]}, True),
        ({"model": "other"}, True),
        ({"weights_sha256": "b" * 64}, True),
        ({"system": "s"}, True),
        ({"settings": {"temperature": 1}}, True),
        ({"label": "other"}, False),
        ({"ranked": False}, False),
        ({"limits": {"concurrency": 2}}, False),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_what_can_change_an_answer_makes_another_route(changes, another):
    changed = CommandRoute.model_validate(ROUTE.model_dump() | changes, strict=False)
    digests = {bound_route("m", route, ADAPTERS).digest for route in (ROUTE, changed)}
    assert len(digests) == 1 + another
