"""Commands that exchange data with elsewhere: published data in, comparison with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.common import HERE, Folder, Json, opened, show
from pipeline.exchange.formats import Format, Kind

__all__ = ["commands"]

PANEL = "Published data and training"

commands = typer.Typer()


@commands.command("import", rich_help_panel=PANEL)
def import_(
    source: Annotated[
        str, typer.Argument(help="A folder, or hub:OWNER/NAME@REVISION.", show_default=False)
    ],
    to: Annotated[Path, typer.Option("--to", help="Folder to make.")] = Path("imported"),
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Take published data in, every hash checked, with the params.yaml that runs it."""
    from pipeline.exchange.importing import import_published, imported_view
    from pipeline.progress import progress_bar

    with progress_bar("import") as progress:
        found = import_published(source, to, workspace, progress)
    show(imported_view(found), as_json)


@commands.command("compare-published", rich_help_panel=PANEL)
def compare_published(workspace: Folder = HERE, as_json: Json = False) -> None:
    """Compare the last run with the published results, figure by figure; exit 1 if one differs."""
    from pipeline.exchange.reproduce import compare_published, comparison_view
    from pipeline.progress import progress_bar

    with progress_bar("compare-published") as progress:
        found = compare_published(opened(workspace), progress)
    show(comparison_view(found), as_json)
    if not found.agreement.agrees:
        raise typer.Exit(1)


@commands.command(rich_help_panel=PANEL)
def export(
    kind: Annotated[Kind, typer.Argument(help="What to train with.", show_default=False)],
    form: Annotated[Format, typer.Option("--format", help="Kind of file.")] = Format.JSONL,
    to: Annotated[Path, typer.Option("--to", help="Folder for the files.")] = Path("training"),
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Write training data: sft, dpo and grpo rows, or the tasks that they are made of."""
    from pipeline.exchange.export import export_rows, export_view

    show(export_view(export_rows(opened(workspace), kind, form, to)), as_json)


@commands.command(rich_help_panel=PANEL)
def template(
    to: Annotated[Path, typer.Option("--to", help="File to write.")] = Path("answers.jsonl"),
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Write a file to fill in with your own answers, for `flavourbench score`."""
    from pipeline.exchange.template import template_view, write_template

    show(template_view(to, write_template(opened(workspace), to)), as_json)


@commands.command(rich_help_panel=PANEL)
def reward(
    text: Annotated[str, typer.Argument(help="The answer's text.", show_default=False)],
    task: Annotated[str, typer.Option("--task", help="Task id or start of its digest.")],
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Score one answer to one task."""
    from pipeline.exchange.reward import reward_of, reward_view

    show(reward_view(*reward_of(opened(workspace), task, text)), as_json)
