"""Commands that show what is there."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.common import HERE, Folder, Json, opened, show
from pipeline.cli.stages import release_commands

__all__ = ["commands"]

PANEL = "Looking"

commands = typer.Typer()
tasks_commands = typer.Typer(no_args_is_help=True, help="Look at frozen tasks.")
commands.add_typer(tasks_commands, name="tasks", rich_help_panel=PANEL)


@release_commands.command("info")
def release_info(context: typer.Context, workspace: Folder = HERE, as_json: Json = False) -> None:
    """Show the release: digest, ingredients by category and region, dimensions."""
    from pipeline.report.contents import release_view

    before = context.parent.params if context.parent else {}  # options before the word `info`
    place = before.get("workspace", HERE) if workspace == HERE else workspace
    show(release_view(opened(place)), as_json or bool(before.get("as_json")))


@commands.command(rich_help_panel=PANEL)
def leaderboard(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Show the leaderboard of the last run."""
    from pipeline.report.bands import drawn_leaderboard
    from pipeline.report.freshness import stale_note
    from pipeline.report.leaderboard import read_results

    place = opened(workspace)
    view = drawn_leaderboard(place.parameters, read_results(place))
    note = stale_note(place)
    show(view._replace(notes=(*view.notes, note)) if note else view, as_json)


@tasks_commands.command("show")
def tasksshow(
    name: Annotated[str, typer.Argument(help="Task id, or 8 or more characters of its digest.")],
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Show a task: its prompt, its candidates, and its best and worst portfolios."""
    from pipeline.report.contents import task_view

    show(task_view(opened(workspace), name), as_json)
