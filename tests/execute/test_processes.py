"""Real processes that are killed or stopped in the middle and started again."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from pipeline.tables import read_table
from schemas.execution import Response
from tests.execute.small import make_workspace, run_cli, start

TASKS = 24


def asked_in(log):
    return Counter(log.read_text().split())


def sealed(workspace):
    return read_table(workspace.artifact("execute", "uniform"), Response)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    workspace = make_workspace(folder, TASKS)
    ended = execute(folder, folder / "log")
    assert ended.returncode == 0, ended.stderr
    assert set(asked_in(folder / "log").values()) == {1}
    return sealed(workspace).root


def execute(folder, log, hold=0, concurrency=1):
    return run_cli(log, hold, concurrency, "execute", "uniform", "-w", folder, script="child")


def begin(folder, log, hold=0, concurrency=1):
    arguments = (log, hold, concurrency, "execute", "uniform", "-w", folder)
    return start(*arguments, script="child")


def read_lines(process, count):
    return [process.stdout.readline() for _ in range(count)]


@pytest.mark.parametrize(
    ("hold", "concurrency"), [(1, 1), (9, 1), (9, 4), (TASKS, 1)], ids=lambda value: str(value)
)
def test_after_kill_9_only_the_cells_in_flight_are_asked_twice(
    tmp_path, undisturbed, hold, concurrency
):
    workspace = make_workspace(tmp_path, TASKS)
    log = tmp_path / "log"
    with begin(tmp_path, log, hold, concurrency) as process:
        assert all(read_lines(process, hold - 1 + concurrency))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = asked_in(log)
    assert before.total() == hold - 1 + concurrency
    ended = execute(tmp_path, log)
    assert ended.returncode == 0, ended.stderr
    assert f"uniform: {hold - 1} of {TASKS} present" in ended.stdout
    after = asked_in(log)
    assert set(after) == {f"t-{n:03}" for n in range(1, TASKS + 1)}
    assert after.total() == TASKS + concurrency
    assert max(after.values()) == 2
    assert sealed(workspace).root == undisturbed


@pytest.mark.parametrize("concurrency", [1, 8])
def test_kill_9_again_and_again_at_any_moment_asks_no_stored_cell(
    tmp_path, undisturbed, concurrency
):
    workspace = make_workspace(tmp_path, TASKS)
    log = tmp_path / "log"
    kills = 0
    for _ in range(2):
        with begin(tmp_path, log, 0, concurrency) as process:
            read_lines(process, 5)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        kills += process.returncode == -signal.SIGKILL
    ended = execute(tmp_path, log)
    assert ended.returncode == 0, ended.stderr
    asked = asked_in(log)
    assert len(asked) == TASKS
    assert asked.total() <= TASKS + kills * concurrency
    assert sealed(workspace).root == undisturbed


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_between_cells_with_exit_code_3_and_says_how_to_go_on(
    tmp_path, undisturbed, number, concurrency
):
    workspace = make_workspace(tmp_path, TASKS)
    log = tmp_path / "log"
    with begin(tmp_path, log, 5, concurrency) as process:
        assert all(read_lines(process, 4 + concurrency))
        process.send_signal(number)
        _, errors = process.communicate("\n" * 2 * TASKS)
    assert process.returncode == 3
    assert errors.count("\n") == 1
    assert "Run the same command to go on." in errors
    stopped = asked_in(log)
    assert set(stopped.values()) == {1}
    assert f"a stop after {stopped.total()}" in errors
    assert stopped.total() < TASKS
    assert not workspace.artifact("execute", "uniform").exists()
    ended = execute(tmp_path, log)
    assert ended.returncode == 0, ended.stderr
    assert set(asked_in(log).values()) == {1}
    assert asked_in(log).total() == TASKS
    assert sealed(workspace).root == undisturbed
