"""Commands of the kitchen track."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003  # typer reads it
from typing import Annotated

import typer

from pipeline.cli.common import Json, show
from pipeline.cli.kitchen_scan import scan as scan_command

__all__ = ["commands"]

PANEL = "Kitchen"

commands = typer.Typer()
kitchen_commands = typer.Typer(no_args_is_help=True, help="Menus and recipes, checked by code.")
commands.add_typer(kitchen_commands, name="kitchen", rich_help_panel=PANEL)

kitchen_commands.command("scan")(scan_command)

Seed = Annotated[str, typer.Option("--seed", help="Seed of the variants.")]
SEED = "kitchen-2026"


@kitchen_commands.command()
def suites(as_json: Json = False) -> None:
    """List the suites: what each holds, and how many cases its powered set has."""
    from pipeline.kitchen.views import suites_view

    show(suites_view(), as_json)


@kitchen_commands.command()
def cases(
    powered: Annotated[
        bool, typer.Option("--powered", help="The variants of the powered set instead.")
    ] = False,
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """List the cases with their checks and digests."""
    from pipeline.kitchen.cases.build import base_cases, powered_cases
    from pipeline.kitchen.views import cases_view

    show(cases_view(powered_cases(seed) if powered else base_cases()), as_json)


@kitchen_commands.command()
def check(
    file: Annotated[Path, typer.Argument(help="JSON Lines of {case_id, name, text}.")],
    foods: Annotated[
        Path | None,
        typer.Option("--foods", help="Food table, CSV in hundredths, instead of the built-in one."),
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="With --json: each check with its evidence.")
    ] = False,
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """Grade answers that you have; with --json one line an answer."""
    from pipeline.kitchen.check.checks import Tools
    from pipeline.kitchen.check.foods import read_foods
    from pipeline.kitchen.foods import FOODS
    from pipeline.kitchen.grading import grade_file, to_document
    from pipeline.kitchen.scan import scan
    from pipeline.kitchen.views import graded_view

    graded = grade_file(file, Tools(read_foods(foods or FOODS), scan), seed)
    if not as_json:
        show(graded_view(graded), as_json)
        return
    for line in graded:
        typer.echo(json.dumps(to_document(line, evidence=evidence), ensure_ascii=False))
