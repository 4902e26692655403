"""Every room says at its door what goes in, what comes out, and shows it by an example."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Lab

ROOMS = sorted(
    path.parent
    for folder in ("pipeline", "schemas")
    for path in ROOT.glob(f"{folder}/**/__init__.py")
)

each_room = pytest.mark.parametrize(
    "room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix()
)


def door(room: Path) -> str:
    """What a room says of itself."""
    module = importlib.import_module(".".join(room.relative_to(ROOT).parts))
    return module.__doc__ or ""


def commands(text: str) -> list[str]:
    return re.findall(r"^\$ (.+)$", text, re.MULTILINE)


@each_room
def test_a_room_draws_its_flow_with_every_module(room: Path) -> None:
    text = door(room)
    drawing = re.search(r"^::\n\n((?:    .*\n)+)", text, re.MULTILINE)
    assert drawing
    assert "->" in drawing[1]
    words = set(re.findall(r"\w+", drawing[1]))
    modules = {path.stem for path in room.glob("*.py")} - {"__init__"}
    assert modules - words == set()


@each_room
def test_the_example_of_a_room_runs(room: Path, starter_run: Lab) -> None:
    text = door(room)
    examples = doctest.DocTestParser().get_doctest(text, {}, str(room), None, 0)
    result = doctest.DocTestRunner().run(examples)
    assert result.failed == 0
    for command in commands(text):
        done = starter_run.run(*shlex.split(command))
        assert done.returncode == 0, done.stderr
        assert done.stdout
    assert result.attempted or commands(text)
