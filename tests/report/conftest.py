"""Runs that the report's tests look at, each done once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from pipeline.report.figures import figures
from pipeline.report.sources import read_sources
from tests.report.hostile import hostile_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.report.sources import Sources
    from pipeline.showing.drawing import Figure
    from pipeline.workspace import Workspace


class Run(NamedTuple):
    """A finished run: its workspace, its tables, its figures, and its page."""

    workspace: Workspace
    sources: Sources
    figures: tuple[Figure, ...]
    page: Path


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Run:
    workspace = hostile_workspace(tmp_path_factory.mktemp("hostile"))
    sources = read_sources(workspace)
    page = workspace.root / "artifacts" / "report" / "index.html"
    return Run(workspace, sources, figures(sources), page)


def restore_cell(cell: str) -> str:
    """The text that `safe_cell` made safe."""
    return cell.removeprefix("'")
