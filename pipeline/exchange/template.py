"""A file to fill in: every frozen task with its prompt, and a null where the answer goes.

The tasks that a comparable score needs stand first. `score` reads the file, and so does a replay
route, which has to answer all of them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError
from pipeline.exchange.own import expected_tasks
from pipeline.files import write_bytes
from pipeline.showing.view import View
from schemas.taskset import Task

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["template_view", "write_template"]

_ENDINGS = (".jsonl", ".ndjson")


class Template(NamedTuple):
    """How many tasks a template holds, and how many of them, the first, a score needs."""

    tasks: int
    needed: int


def write_template(workspace: Workspace, path: Path) -> Template:
    """Write the template as JSON Lines; what was filled in is never written over.

    Raises
    ------
    InputError
        The file's name is not one of JSON Lines, or another file has it already.
    TableError
        No tasks are frozen, or the place cannot be written.
    """
    if path.suffix.lower() not in _ENDINGS:
        ending = f"a file that ends in {' or '.join(_ENDINGS)}"
        raise InputError(ending, path.suffix or "none", str(path), "Name such a file.")
    expected = expected_tasks(workspace)
    needed = {task.task_id for task in expected}
    others = [t for t in workspace.read("freeze", Task).rows() if t.task_id not in needed]
    rows = [
        {"task_id": task.task_id, "prompt": task.prompt, "answer": None}
        for task in (*expected, *others)
    ]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    data = "".join(lines).encode("utf-8")
    if path.is_file() and path.read_bytes() != data:
        found, remedy = "another file", "Its answers are kept: name a new file."
        raise InputError("a new file, or an untouched template", found, str(path), remedy)
    write_bytes(path, data)
    return Template(len(rows), len(expected))


def template_view(path: Path, template: Template) -> View:
    """Where the template is, and what to do with it."""
    tasks, needed = template
    notes = (
        f"{tasks} tasks; a score needs the first {needed}, a replay route takes the whole file.",
        "Put an answer's whole text in place of each null, then:",
        f"  flavourbench score {path}",
    )
    return View(f"Written {path}", (), notes, {"path": str(path), "tasks": tasks, "needed": needed})
