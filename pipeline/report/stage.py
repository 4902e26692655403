"""The report stage: the leaderboard as files, each whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.files import write_bytes
from pipeline.report.contents import diagnostics_grid
from pipeline.report.documents import csv_text, json_text, metrics_text
from pipeline.report.figures import figures
from pipeline.report.leaderboard import leaderboard_view
from pipeline.report.page import page_html
from pipeline.report.paper import paper_files
from pipeline.report.sources import read_sources
from pipeline.showing.documents import markdown_text
from pipeline.workspace import StageSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["build", "file_names", "page_path", "run"]

_FOLDERS = ("figures", "paper")
_PLAIN = (
    "index.html", "leaderboard.csv", "leaderboard.json", "leaderboard.md", "metrics.json",
)  # fmt: skip
_FIGURES = ("contrasts", "difficulty", "families", "forest", "ranks", "unparseable")
_TABLES = ("denominators", "leaderboard", "task-maps")


class Document(NamedTuple):
    """One file of the report: its name within the folder, and its bytes."""

    name: str
    data: bytes


def page_path(workspace: Workspace) -> Path:
    """Where the page is written."""
    return _folder(workspace) / "index.html"


def run(workspace: Workspace) -> StageSummary:
    """Write the page, the leaderboard's documents, the metrics, figures and papers' tables.

    Raises
    ------
    TableError
        A table is missing or damaged, or the disk refuses.
    """
    documents = build(workspace)
    for document in documents:
        write_bytes(_folder(workspace) / document.name, document.data)
    _remove_others(_folder(workspace), documents)
    names = ", ".join(document.name for document in documents if "/" not in document.name)
    folders = " and ".join(f"{name}/" for name in _FOLDERS)
    return StageSummary("report", f"artifacts/report/ holds {names}, {folders}", ())


def build(workspace: Workspace) -> tuple[Document, ...]:
    """The stage's files, in memory. Raises `TableError` where a table is missing or damaged."""
    sources = read_sources(workspace)
    results = sources.results
    view = leaderboard_view(workspace.parameters, results)
    maps = diagnostics_grid(sources.diagnostics)
    drawn = figures(sources)
    texts = {
        "index.html": page_html(sources, drawn),
        "leaderboard.md": markdown_text(view._replace(grids=(*view.grids, maps))),
        "leaderboard.csv": csv_text(results),
        "leaderboard.json": json_text(results),
        "metrics.json": metrics_text(results),
        **{f"figures/{figure.name}.svg": figure.svg for figure in drawn},
    }
    papers = paper_files(sources, drawn)
    return (
        *(Document(name, text.encode("utf-8")) for name, text in texts.items()),
        *(Document(f"paper/{name}", data) for name, data in papers.items()),
    )


def file_names(panels: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Every file that the stage can write, without drawing any.

    Parameters
    ----------
    panels
        Pairs of panels that are compared: each has a figure.
    """
    figures_of = (*_FIGURES, *(f"panels-{first}-{second}" for first, second in panels))
    drawn = {f"figures/{name}.svg" for name in figures_of}
    drawn |= {f"paper/{name}.png" for name in figures_of}
    tables = (*figures_of, *_TABLES)
    return frozenset(
        {
            *_PLAIN,
            *drawn,
            *(f"paper/{name}.{end}" for name in tables for end in ("csv", "md", "tex")),
        }
    )


def _folder(workspace: Workspace) -> Path:
    return workspace.root / "artifacts" / "report"


def _remove_others(folder: Path, documents: Sequence[Document]) -> None:
    """Remove what an earlier run wrote into the folders that are outputs as a whole."""
    kept = {folder / document.name for document in documents}
    for part in _FOLDERS:
        for path in (folder / part).iterdir():
            if path not in kept:
                path.unlink()
