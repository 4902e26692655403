"""Asking routes, and looking at them before money is spent."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.common import HERE, Folder, Json, opened, say, show
from pipeline.cli.looking import PANEL as LOOKING
from pipeline.cli.stages import PANEL

__all__ = ["commands"]

commands = typer.Typer()
routes_commands = typer.Typer(
    invoke_without_command=True,
    help="List the routes with digest and state. `routes check` looks before money is spent.",
)
commands.add_typer(routes_commands, name="routes", rich_help_panel=LOOKING)

Slugs = Annotated[
    list[str] | None, typer.Argument(help="Routes of params.yaml.", show_default=False)
]


@commands.command(rich_help_panel=PANEL)
def execute(  # noqa: PLR0917  # typer passes by name
    slugs: Slugs = None,
    everything: Annotated[bool, typer.Option("--all", help="Ask every route.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Smoke run: ask so many cells a route at most, seal nothing."),
    ] = None,
    give_up: Annotated[
        bool,
        typer.Option("--give-up", help="Store what fails in every attempt as failed, for good."),
    ] = False,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew", help="Ask and pay although dvc.lock lists a table that is not here."
        ),
    ] = False,
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Ask a route every task, once, ever; what is stored is never asked again.

    One route is asked and sealed into its tables. Several, or --all, are asked at the same time;
    `dvc repro` seals them afterwards. Stop with Ctrl-C between any two cells and run the same
    command again to go on.
    """
    from pipeline.asking.board import filled_view, live_board, wanted, watched_exit
    from pipeline.execute.stage import Wish, fill, run

    place = opened(workspace)
    chosen = wanted(place.parameters.routes, slugs or [], everything)
    wish = Wish(limit, give_up, anew)
    if len(chosen) == 1 and not everything and limit is None:
        say(run(place, chosen[0], wish, live_board), as_json)
        return
    filled = fill(place, chosen, wish, live_board)
    show(filled_view(filled, wish), as_json)
    raise typer.Exit(watched_exit(filled))


@routes_commands.callback()
def routes(context: typer.Context, workspace: Folder = HERE, as_json: Json = False) -> None:
    """List the routes with digest and state."""
    if context.invoked_subcommand is None:
        from pipeline.asking.overview import routes_view
        from pipeline.portfolio import PORTFOLIO

        show(routes_view(PORTFOLIO, opened(workspace)), as_json)


@routes_commands.command("check")
def routescheck(
    slugs: Slugs = None,
    ping: Annotated[
        bool, typer.Option("--ping", help="Ask one task of each; its answer is stored.")
    ] = False,
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Tell whether key, endpoint, model and price are there, and what a run costs at most."""
    from pipeline.asking.check import check_routes, checks_view
    from pipeline.portfolio import PORTFOLIO

    checks = check_routes(PORTFOLIO, opened(workspace), slugs or [], ping)
    show(checks_view(checks), as_json)
    raise typer.Exit(0 if all(check.ready for check in checks) else 1)
