"""The command line: help that teaches, one line for a mistake, JSON for machines."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pipeline.portfolio import PORTFOLIO
from tests.mini import mini_workspace, run_stages

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

STAGES = tuple(stage.word for stage in PORTFOLIO.stages)
COMMANDS = (*STAGES, "release info", "routes", "routes check", "leaderboard", "tasks show")


def flavourbench(
    *words: str, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    import os

    from tests.shared import ROOT

    return subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = mini_workspace(tmp_path_factory.mktemp("cli"))
    run_stages(workspace)
    return workspace


def test_help_lists_the_stages_in_order() -> None:
    said = flavourbench("--help").stdout
    places = [said.index(f"│ {name} ") for name in COMMANDS if " " not in name]
    assert places == sorted(places)
    assert " → ".join(STAGES) in said


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    done = flavourbench(*command.split(), "--help")
    assert done.returncode == 0
    assert "--json" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    "words", [("leaderboard",), ("release", "info"), ("tasks", "show", "mini-1-pairing-001")]
)
def test_views_fit_100_columns_without_colour_and_speak_json(
    done: Workspace, words: tuple[str, ...]
) -> None:
    shown = flavourbench(*words, cwd=done.root, NO_COLOR="1")
    assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 100
    assert [line for line in shown.stdout.splitlines() if line != line.rstrip()] == []
    document = json.loads(flavourbench(*words, "--json", cwd=done.root).stdout)
    assert document


def test_options_before_the_word_info_count(done: Workspace, tmp_path: Path) -> None:
    after = flavourbench("release", "info", "--json", "-w", str(done.root), cwd=tmp_path)
    before = flavourbench("release", "--json", "-w", str(done.root), "info", cwd=tmp_path)
    assert json.loads(before.stdout) == json.loads(after.stdout)


def test_views_survive_a_locale_without_unicode(done: Workspace) -> None:
    shown = flavourbench("leaderboard", cwd=done.root, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0, shown.stderr
    assert "Dice" in shown.stdout


def test_stages_speak_json(done: Workspace) -> None:
    said = json.loads(flavourbench("parse", "--json", cwd=done.root).stdout)
    assert said["stage"] == "parse"
    artifact = said["artifacts"][0]
    assert artifact["path"] == "artifacts/parse/selections.parquet"
    assert artifact["rows"] == 96


def test_the_drawing_of_bands_survives_a_terminal_without_unicode(done: Workspace) -> None:
    shown = flavourbench("leaderboard", cwd=done.root, LC_ALL="C", PYTHONIOENCODING="ascii")
    drawing = shown.stdout.split("Scores (o), bands and chance (:)")[1].split("Unranked")[0]
    lines = [line for line in drawing.splitlines() if "(" in line]
    assert len(lines) == 2
    assert all(line.index("(") < line.index("o", line.index("(")) for line in lines)
    assert max(map(len, shown.stdout.splitlines())) <= 100


def test_report_opens_its_page(done: Workspace, tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{seen}"\n')
    browser.chmod(0o755)
    said = flavourbench("report", "--open", "--json", cwd=done.root, BROWSER=str(browser))
    assert said.returncode == 0, said.stderr
    page = done.root / "artifacts" / "report" / "index.html"
    assert seen.read_text().strip() == page.resolve().as_uri()
    assert json.loads(said.stdout)["stage"] == "report"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("execute", "nope"), "route: expected one of dice, first, best, found 'nope'"),
        (("tasks", "show", "nope"), "expected a task id"),
        (("leaderboard", "-w", "elsewhere"), "elsewhere/params.yaml: expected a regular"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_2(
    done: Workspace, words: tuple[str, ...], says: str
) -> None:
    failed = flavourbench(*words, cwd=done.root)
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1
    assert says in failed.stderr


@pytest.mark.parametrize("words", [("leaderboard",), ("report",)])
@pytest.mark.parametrize("slug", ["first", "best"])
def test_a_route_renamed_since_the_run_gets_one_line(
    done: Workspace, tmp_path: Path, words: tuple[str, ...], slug: str
) -> None:
    text = (done.root / "params.yaml").read_text("utf-8")
    (tmp_path / "params.yaml").write_text(text.replace(f'"{slug}":', '"other":'), "utf-8")
    (tmp_path / "artifacts").symlink_to(done.root / "artifacts")
    failed = flavourbench(*words, cwd=tmp_path)
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1
    assert f"found none for {slug}" in failed.stderr


def test_a_folder_whose_name_is_no_text_gets_one_line(done: Workspace, tmp_path: Path) -> None:
    (tmp_path / "l\udce9").symlink_to(done.root)
    failed = flavourbench("leaderboard", "-w", str(tmp_path / "l\udce9"))
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1
    assert "a path in UTF-8" in failed.stderr


def test_a_closed_pipe_is_no_traceback(done: Workspace) -> None:
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    assert reader.stdin is not None
    import os

    from tests.shared import ROOT

    failed = subprocess.run(
        [sys.executable, "-m", "pipeline", "leaderboard", "--json"],
        cwd=done.root,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=reader.stdin,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    reader.stdin.close()
    assert "Traceback" not in failed.stderr
