"""The commands that people type. No logic lives here: a command calls a stage or a view."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

if TYPE_CHECKING:
    from pipeline.report.views import View
    from pipeline.workspace import StageSummary, Workspace

__all__ = ["app"]

_STAGES = "Stages, in order"
_VIEWS = "Looking"
_ORDER = (
    "release",
    "freeze",
    "execute",
    "parse",
    "score",
    "statistics",
    "report",
    "leaderboard",
    "tasks",
)


class _Ordered(typer.core.TyperGroup):
    """Lists commands in the order in which they are used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands, stages first."""
        return sorted(super().list_commands(ctx), key=_ORDER.index)


app = typer.Typer(
    name="flavourbench",
    cls=_Ordered,
    help=(
        "Ranks language models by culinary decisions with executable ground truth.\n\n"
        "A task shows an anchor and eight candidates; a release has scored all 56 choices of three "
        "beforehand, so an answer is graded by a look-up. The stages run in this order, and "
        "`dvc repro` runs those whose inputs changed:\n\n"
        "release → freeze → execute → parse → score → statistics → report"
    ),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
release_app = typer.Typer(
    invoke_without_command=True,
    help="Bring a release in, checked: artifacts/release. `release info` shows what it holds.",
)
tasks_app = typer.Typer(no_args_is_help=True, help="Look at frozen tasks.")
app.add_typer(release_app, name="release", rich_help_panel=_STAGES)
app.add_typer(tasks_app, name="tasks", rich_help_panel=_VIEWS)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Folder = Annotated[
    Path, typer.Option("--workspace", "-w", help="Folder that holds params.yaml.", show_default=".")
]
_HERE = Path()


@release_app.callback()
def release(context: typer.Context, workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Bring a release in, checked: artifacts/release."""
    if context.invoked_subcommand is None:
        from pipeline.release.stage import run

        _say(run(_open(workspace)), as_json)


@release_app.command("info")
def release_info(workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Show the release: digest, ingredients by category and region, dimensions."""
    from pipeline.report.views import release_view

    _show(release_view(_open(workspace)), as_json)


@app.command(rich_help_panel=_STAGES)
def freeze(workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Compile tasks, score all 56 portfolios of each, fix the task-set identity."""
    from pipeline.freeze.stage import run
    from pipeline.progress import progress_bar

    with progress_bar("freeze") as progress:
        summary = run(_open(workspace), progress)
    _say(summary, as_json)


@app.command(rich_help_panel=_STAGES)
def execute(
    slug: Annotated[str, typer.Argument(help="A route of params.yaml.", show_default=False)],
    workspace: Folder = _HERE,
    as_json: Json = False,
) -> None:
    """Ask one route every task, once, ever; what is stored is never asked again.

    Stop it with Ctrl-C between any two cells and run it again to go on.
    """
    from pipeline.execute.stage import run
    from pipeline.progress import progress_bar

    with progress_bar(f"execute {slug}") as progress:
        summary = run(_open(workspace), slug, progress)
    _say(summary, as_json)


@app.command(rich_help_panel=_STAGES)
def parse(workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Read a selection, or the reason why there is none, out of every answer."""
    from pipeline.parse.stage import run

    _say(run(_open(workspace)), as_json)


@app.command(rich_help_panel=_STAGES)
def score(workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Look scores up, count denominators, and choose the score-blind common core."""
    from pipeline.score.stage import run

    _say(run(_open(workspace)), as_json)


@app.command(rich_help_panel=_STAGES)
def statistics(workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Infer intervals, tests, ranks and groups from scores on the common core."""
    from pipeline.progress import progress_bar
    from pipeline.statistics.stage import run

    with progress_bar("statistics") as progress:
        summary = run(_open(workspace), progress)
    _say(summary, as_json)


@app.command(rich_help_panel=_STAGES)
def report(workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Write the leaderboard as Markdown, CSV and JSON, and the forest chart's data."""
    from pipeline.report.stage import run

    _say(run(_open(workspace)), as_json)


@app.command(rich_help_panel=_VIEWS)
def leaderboard(workspace: Folder = _HERE, as_json: Json = False) -> None:
    """Show the leaderboard of the last run."""
    from pipeline.report.views import leaderboard_view, read_results

    opened = _open(workspace)
    _show(leaderboard_view(opened.parameters, read_results(opened)), as_json)


@tasks_app.command("show")
def tasks_show(
    name: Annotated[str, typer.Argument(help="Task id, or 8 or more characters of its digest.")],
    workspace: Folder = _HERE,
    as_json: Json = False,
) -> None:
    """Show a task: its prompt, its candidates, and its best and worst portfolios."""
    from pipeline.report.views import task_view

    _show(task_view(_open(workspace), name), as_json)


def _open(folder: Path) -> Workspace:
    from pipeline.workspace import open_workspace

    return open_workspace(folder)


def _say(summary: StageSummary, as_json: bool) -> None:
    if as_json:
        document = summary._asdict() | {"artifacts": [a._asdict() for a in summary.artifacts]}
        typer.echo(json.dumps(document, ensure_ascii=False))
        return
    typer.echo(f"{summary.stage}: {summary.headline}")
    for artifact in summary.artifacts:
        typer.echo(f"  {artifact.path}  {artifact.rows} rows  root {artifact.root[:16]}…")


def _show(view: View, as_json: bool) -> None:
    from pipeline.report.terminal import print_view

    print_view(view, as_json)
