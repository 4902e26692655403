"""Whether the tables behind a report are those of today's parameters and code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.dvcfiles import moved_on
from pipeline.errors import InputError

if TYPE_CHECKING:
    from pipeline.workspace import Workspace

__all__ = ["stale_note"]

_TABLES = ("artifacts/parse", "artifacts/score", "artifacts/statistics")
_NAMED = 3


def stale_note(workspace: Workspace) -> str:
    """One line on what has moved on since the leaderboard's tables were made; empty if nothing."""
    try:
        moved = moved_on(workspace.root, _TABLES, workspace.parameters.routes, InputError)
    except InputError as problem:
        return f"Nobody knows whether these tables are of today: {problem}"
    changed = []
    if moved.sections:
        changed.append(f"params.yaml ({_named(moved.sections)})")
    if moved.inputs:
        changed.append(f"code or inputs ({_named(moved.inputs)})")
    if not changed:
        return ""
    return f"Changed since these tables were made: {' and '.join(changed)}. Next: `dvc repro`."


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
