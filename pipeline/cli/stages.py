"""One command a stage."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # typer reads it
from typing import Annotated

import typer

from pipeline.cli.common import HERE, Folder, Json, open_in_browser, opened, say, show

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
def score(
    answers: Annotated[
        Path | None,
        typer.Argument(
            help="Your own answers: .jsonl, .json, .csv or .parquet.", show_default=False
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Build this report again and compare.", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Where the report goes.", show_default="beside the answers"),
    ] = None,
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Look scores up, count denominators, and choose the score-blind common core.

    With a file of your own answers, score these against the frozen tasks, and leave the stage.
    """
    place = opened(workspace)
    if answers is None and check is None:
        from pipeline.score.stage import run

        say(run(place), as_json)
        return
    from pipeline.exchange.own import own_report
    from pipeline.exchange.own_view import own_view

    report, path = own_report(place, answers, check, to)
    show(own_view(report, path, checked=check is not None), as_json)
    if not report.comparable:
        raise typer.Exit(1)


@commands.command(rich_help_panel=PANEL)
def statistics(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Infer intervals, tests, ranks and groups from scores on the common core."""
    from pipeline.progress import progress_bar
    from pipeline.statistics.stage import run

    with progress_bar("statistics") as progress:
        summary = run(opened(workspace), progress)
    say(summary, as_json)


@commands.command(rich_help_panel=PANEL)
def train(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Make rows to train on, from tasks and anchors that are not in the core."""
    from pipeline.train.stage import run

    say(run(opened(workspace)), as_json)


@commands.command(rich_help_panel=PANEL)
def report(
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Write the page, the leaderboard's documents, the figures, and tables for papers."""
    from pipeline.report.stage import page_path, run

    place = opened(workspace)
    say(run(place), as_json)
    if open_page:
        open_in_browser(page_path(place))
