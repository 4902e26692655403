"""A file to fill in: every expected task with its prompt, and a null where the answer goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pipeline.exchange.own import expected_tasks
from pipeline.files import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["write_template"]


def write_template(workspace: Workspace, path: Path) -> int:
    """Write the template as JSON Lines and say how many tasks it holds.

    Raises
    ------
    TableError
        No tasks are frozen, or the place cannot be written.
    """
    tasks = expected_tasks(workspace)
    lines = [
        json.dumps(
            {"task_id": task.task_id, "prompt": task.prompt, "answer": None}, ensure_ascii=False
        )
        for task in tasks
    ]
    write_bytes(path, "".join(line + "\n" for line in lines).encode("utf-8"))
    return len(tasks)
