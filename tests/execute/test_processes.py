"""Real processes that are killed or stopped in the middle; another run goes on where they were."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from pipeline.asking import filling
from pipeline.execute import stage
from pipeline.tables import read_table
from schemas.execution import Response
from tests.execute.small import Answers, make_workspace, start

TASKS = 24


@pytest.fixture
def go_on(monkeypatch):
    """Runs the stage here with the same answers; returns its headline and what was asked."""

    def run(workspace):
        adapter = Answers()
        monkeypatch.setattr(filling, "bind_route", lambda *_: adapter)
        return stage.run(workspace, "uniform").headline, Counter(adapter.asked)

    return run


@pytest.fixture
def undisturbed(tmp_path, go_on):
    """Root of the table of a run that nothing disturbs."""
    workspace = make_workspace(tmp_path / "undisturbed", TASKS)
    go_on(workspace)
    return sealed(workspace).root


def sealed(workspace):
    return read_table(workspace.artifact("execute", "uniform"), Response)


def begin(workspace, log, hold, concurrency):
    arguments = (log, hold, concurrency, "execute", "uniform", "-w", workspace.root)
    return start(*arguments, script="child")


def read_lines(process, count):
    return [process.stdout.readline() for _ in range(count)]


def asked_in(log):
    return Counter(log.read_text().split())


@pytest.mark.parametrize(("hold", "concurrency"), [(1, 1), (9, 4)], ids=["first", "midst"])
def test_after_kill_9_only_the_cells_in_flight_are_asked_twice(
    tmp_path, undisturbed, go_on, hold, concurrency
):
    workspace = make_workspace(tmp_path / "killed", TASKS)
    log = tmp_path / "log"
    with begin(workspace, log, hold, concurrency) as process:
        assert all(read_lines(process, hold - 1 + concurrency))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = asked_in(log)
    assert before.total() == hold - 1 + concurrency
    headline, now = go_on(workspace)
    assert headline.startswith(f"uniform: {hold - 1} of {TASKS} present")
    asked = before + now
    assert set(asked) == {f"t-{n:03}" for n in range(1, TASKS + 1)}
    assert max(now.values()) == max(before.values()) == 1
    assert asked.total() == TASKS + concurrency
    assert sealed(workspace).root == undisturbed


def test_kill_9_at_any_moment_leaves_every_stored_cell(tmp_path, undisturbed, go_on):
    concurrency = 8
    workspace = make_workspace(tmp_path / "killed", TASKS)
    log = tmp_path / "log"
    with begin(workspace, log, 0, concurrency) as process:
        assert all(read_lines(process, 5))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    asked = asked_in(log) + go_on(workspace)[1]
    assert set(asked) == {f"t-{n:03}" for n in range(1, TASKS + 1)}
    assert asked.total() <= TASKS + concurrency
    assert sealed(workspace).root == undisturbed


@pytest.mark.parametrize(
    ("number", "concurrency"), [(signal.SIGINT, 1), (signal.SIGTERM, 4)], ids=["int", "term"]
)
def test_a_signal_stops_between_cells_with_exit_code_3_and_says_how_to_go_on(
    tmp_path, undisturbed, go_on, number, concurrency
):
    workspace = make_workspace(tmp_path / "stopped", TASKS)
    log = tmp_path / "log"
    with begin(workspace, log, 5, concurrency) as process:
        assert all(read_lines(process, 4 + concurrency))
        process.send_signal(number)
        _, errors = process.communicate("\n")
    assert process.returncode == 3
    assert errors.count("\n") == 1
    assert "Run the same command to go on." in errors
    stopped = asked_in(log)
    assert stopped.total() == 4 + concurrency
    assert f"a stop after {stopped.total()}" in errors
    assert not workspace.artifact("execute", "uniform").exists()
    headline, now = go_on(workspace)
    assert headline.startswith(f"uniform: {stopped.total()} of {TASKS} present")
    assert set((stopped + now).values()) == {1}
    assert (stopped + now).total() == TASKS
    assert sealed(workspace).root == undisturbed
