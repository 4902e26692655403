"""What lies under `artifacts/` and was declared by no stage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipeline.audit.differences import Difference, shortened
from pipeline.audit.layout import places, route_places
from pipeline.errors import FlavourbenchError, TableError
from pipeline.files import read_bytes
from pipeline.links import is_foreign_link

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["foreign_files", "report_names"]

_BESIDE = ("artifacts/README.md", "artifacts/run-card.json", "artifacts/run-card.md")
"""What people keep there; cards are held against the run by a step of their own."""

_GIT = ".gitignore"
_OUTPUTS = re.compile(rb"(/[\w.-]+\n)*")
"""DVC writes the names of its outputs into one where git does not ignore them yet."""

_GIT_LIMIT = 2**16


def foreign_files(workspace: Workspace) -> list[Difference]:
    """Files that no stage declares, and links out of the workspace, by their paths."""
    kept = [place for slug in workspace.parameters.set_aside for place in route_places(slug)]
    known = {place.file() for place in (*places(workspace.parameters), *kept)} | {*_BESIDE}
    known |= {f"artifacts/report/{name}" for name in report_names(workspace)}
    found = []
    for path in sorted((workspace.root / "artifacts").rglob("*")):
        name = path.relative_to(workspace.root).as_posix()
        if is_foreign_link(path):
            found.append(Difference(_printed(name), "a file of its own", "a symbolic link"))
        elif name not in known and not path.is_dir() and not _lists_outputs(path):
            said = "a file" if path.is_file() else "something else"
            found.append(Difference(_printed(name), "no such file: no stage writes it", said))
    return shortened("artifacts", found)


def _lists_outputs(path: Path) -> bool:
    if path.name != _GIT:
        return False
    try:
        return bool(_OUTPUTS.fullmatch(read_bytes(path, _GIT_LIMIT, TableError)))
    except TableError:
        return False


def report_names(workspace: Workspace) -> frozenset[str]:
    """The report's files; those of pairs of panels are known where their table can be read."""
    from pipeline.report.stage import file_names
    from schemas.results import PanelAgreement

    try:
        rows = workspace.read("statistics", PanelAgreement).rows()
    except FlavourbenchError:
        rows = []  # the table is named by itself
    return file_names([(row.first, row.second) for row in rows])


def _printed(name: str) -> str:
    """A path that may be no text."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name)
