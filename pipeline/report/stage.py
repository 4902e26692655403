"""The report stage: the leaderboard as files, each whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.files import write_bytes
from pipeline.report.chart import forest_svg
from pipeline.report.documents import csv_text, json_text, markdown_text
from pipeline.report.views import diagnostics_grid, leaderboard_view, read_results
from pipeline.workspace import StageSummary
from schemas.taskset import Diagnostic, Task

if TYPE_CHECKING:
    from pipeline.workspace import Workspace

__all__ = ["Document", "build", "run"]


class Document(NamedTuple):
    """One file of the report: its name and its bytes."""

    name: str
    data: bytes


def run(workspace: Workspace) -> StageSummary:
    """Write `leaderboard.md`, `.csv`, `.json` and `forest.svg` from the tables.

    Raises
    ------
    TableError
        A table is missing or damaged, or the disk refuses.
    """
    documents = build(workspace)
    folder = workspace.root / "artifacts" / "report"
    for document in documents:
        write_bytes(folder / document.name, document.data)
    names = ", ".join(document.name for document in documents)
    return StageSummary("report", f"artifacts/report/ holds {names}", ())


def build(workspace: Workspace) -> tuple[Document, ...]:
    """The stage's files, in memory. Raises `TableError` where a table is missing or damaged."""
    results = read_results(workspace)
    view = leaderboard_view(workspace.parameters, results)
    tasks = workspace.read("freeze", Task)
    maps = diagnostics_grid(workspace.read("freeze", Diagnostic, tasks).rows())
    view = view._replace(grids=(*view.grids, maps))
    files = {
        "leaderboard.md": markdown_text(view),
        "leaderboard.csv": csv_text(results),
        "leaderboard.json": json_text(results),
        "forest.svg": forest_svg(results, workspace.parameters.report.title),
    }
    return tuple(Document(name, text.encode("utf-8")) for name, text in files.items())
