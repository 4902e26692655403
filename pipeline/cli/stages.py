"""One command a stage."""

from __future__ import annotations

import typer

from pipeline.cli.common import HERE, Folder, Json, opened, say

__all__ = ["commands", "release_commands"]

PANEL = "Stages, in order"

commands = typer.Typer()
release_commands = typer.Typer(
    invoke_without_command=True,
    help="Bring a release in, checked: artifacts/release. `release info` shows what it holds.",
)
commands.add_typer(release_commands, name="release", rich_help_panel=PANEL)


@release_commands.callback()
def release(context: typer.Context, workspace: Folder = HERE, as_json: Json = False) -> None:
    """Bring a release in, checked: artifacts/release."""
    if context.invoked_subcommand is None:
        from pipeline.release.stage import run

        say(run(opened(workspace)), as_json)


@commands.command(rich_help_panel=PANEL)
def freeze(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Compile tasks, score all 56 portfolios of each, fix the task-set identity."""
    from pipeline.freeze.stage import run
    from pipeline.progress import progress_bar

    with progress_bar("freeze") as progress:
        summary = run(opened(workspace), progress)
    say(summary, as_json)


@commands.command(rich_help_panel=PANEL)
def parse(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Read a selection, or the reason why there is none, out of every answer."""
    from pipeline.parse.stage import run

    say(run(opened(workspace)), as_json)


@commands.command(rich_help_panel=PANEL)
def score(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Look scores up, count denominators, and choose the score-blind common core."""
    from pipeline.score.stage import run

    say(run(opened(workspace)), as_json)


@commands.command(rich_help_panel=PANEL)
def statistics(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Infer intervals, tests, ranks and groups from scores on the common core."""
    from pipeline.progress import progress_bar
    from pipeline.statistics.stage import run

    with progress_bar("statistics") as progress:
        summary = run(opened(workspace), progress)
    say(summary, as_json)


@commands.command(rich_help_panel=PANEL)
def report(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Write the leaderboard as Markdown, CSV and JSON, and the forest chart as SVG."""
    from pipeline.report.stage import run

    say(run(opened(workspace)), as_json)
