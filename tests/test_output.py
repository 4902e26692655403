"""A standard output or error that takes nothing ends a command in one line, not in a traceback."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.mini import mini_workspace, run_stages
from tests.shared import ROOT

if TYPE_CHECKING:
    from pipeline.workspace import Workspace

COMMANDS = (
    "", "--help", "leaderboard --help", "leaderboard", "leaderboard --json", "verify --quick",
    "release info", "tasks show mini-1-pairing-001 --json", "parse", "routes --json",
)  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = mini_workspace(tmp_path_factory.mktemp("output"))
    run_stages(workspace)
    return workspace


def shell(workspace: Workspace, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which FB stands for the command."""
    start = f'FB() {{ {shlex.quote(sys.executable)} -m pipeline "$@"; }}; '
    return subprocess.run(
        ["bash", "-c", start + line],
        cwd=workspace.root, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", [">&-", ">/dev/full", "<&- >&-"])
def test_an_output_that_takes_nothing_is_told_in_one_line(
    done: Workspace, command: str, place: str
) -> None:
    ended = shell(done, f"FB {command} {place}")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("flavourbench: standard output: ")


@pytest.mark.parametrize("place", ["2>&-", "2>/dev/full"])
def test_lost_messages_change_neither_result_nor_exit_code(done: Workspace, place: str) -> None:
    good = shell(done, f"FB leaderboard --json {place}")
    assert good.returncode == 0
    assert json.loads(good.stdout)
    for wrong in ("audit zz", "nonsense", "leaderboard -w nowhere", "leaderboard >/dev/full"):
        ended = shell(done, f"FB {wrong} {place}")
        assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_left_ends_a_command_in_silence(done: Workspace, command: str) -> None:
    ended = shell(done, f"{{ sleep 0.1; FB {command}; echo $? >code; }} | true; cat code")
    assert (ended.stdout, ended.stderr) == ("141\n", "")


def test_nothing_is_done_where_nothing_can_be_said(done: Workspace) -> None:
    table = done.artifact("parse", "selections")
    before = table.stat().st_mtime_ns
    assert shell(done, "FB parse >&-").returncode == 2
    assert table.stat().st_mtime_ns == before
    assert shell(done, "FB parse").returncode == 0
    assert table.stat().st_mtime_ns != before
