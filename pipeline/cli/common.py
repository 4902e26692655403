"""What all commands share: options, the workspace, and how results are said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pipeline.showing.view import View
    from pipeline.workspace import StageSummary, Workspace

__all__ = ["HERE", "Folder", "Json", "open_in_browser", "opened", "say", "show"]

HERE = Path()
"""Where a command works unless it is told otherwise."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Folder = Annotated[
    Path,
    typer.Option("--workspace", "-w", help="Folder that holds params.yaml.", show_default="."),
]


def opened(folder: Path) -> Workspace:
    """The workspace in a folder. Raises `InputError` where its params.yaml is wrong."""
    from pipeline.workspace import open_workspace

    return open_workspace(folder)


def open_in_browser(page: Path) -> None:
    """Open a page from disk; where no browser starts, say where the page lies."""
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        typer.echo(f"No browser here; the page is {page}", err=True)


def say(summary: StageSummary, as_json: bool) -> None:
    """Say what a stage did."""
    if as_json:
        from pipeline.showing.terminal import inert_json

        document = summary._asdict() | {"artifacts": [a._asdict() for a in summary.artifacts]}
        typer.echo(inert_json(document))
        return
    typer.echo(f"{summary.stage}: {summary.headline}")
    for artifact in summary.artifacts:
        typer.echo(f"  {artifact.path}  {artifact.rows} rows  root {artifact.root[:16]}…")


def show(view: View, as_json: bool) -> None:
    """Show a view."""
    from pipeline.showing.terminal import print_view

    print_view(view, as_json)
