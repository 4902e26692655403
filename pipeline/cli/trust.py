"""Commands that audit, prove, verify, seal and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.common import HERE, Folder, Json, opened, show

__all__ = ["commands"]

PANEL = "Trust"

commands = typer.Typer()


@commands.command(rich_help_panel=PANEL)
def audit(
    name: Annotated[
        str, typer.Argument(metavar="[HASH]", help="Any digest, or 8 or more of its characters.")
    ] = "",
    *,
    route: Annotated[str, typer.Option(help="Route of a cell, with --task.")] = "",
    task: Annotated[str, typer.Option(help="Task id of a cell, with --route.")] = "",
    proof: Annotated[str, typer.Option(metavar="FILE", help="Write a portable proof.")] = "",
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Show what is behind a hash, each step derived again and marked; exit 1 if a step differs."""
    from pipeline.audit.proof import write_proof
    from pipeline.audit.subjects import audit_named
    from pipeline.audit.verdicts import audit_view

    found = audit_named(opened(workspace), name, route, task)
    if proof:
        write_proof(found, Path(proof))
    show(audit_view(found), as_json)
    raise typer.Exit(1 if found.differs else 0)


@commands.command("verify-proof", rich_help_panel=PANEL)
def verify_proof(
    file: Annotated[Path, typer.Argument(help="A proof that `audit --proof` wrote.")],
    run: Annotated[
        str | None, typer.Option(help="Whole hash that the run is known by.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a proof with nothing else at hand; `pipeline/audit/verifier.py` does it on its own."""
    from pipeline.audit.subjects import check_proof
    from pipeline.audit.verdicts import proved_view

    show(proved_view(check_proof(file, run)), as_json)


@commands.command(rich_help_panel=PANEL)
def verify(
    workspace: Folder = HERE,
    quick: Annotated[
        bool, typer.Option("--quick", help="Hash only; derive nothing again.")
    ] = False,
    expect: Annotated[
        str | None,
        typer.Option(help="A run's card, or its whole hash, that the tables have to give."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every row, root and link, then derive every stage again; exit 1 if anything differs."""
    from pipeline.audit.verdicts import verification_view
    from pipeline.audit.verify import verify as check
    from pipeline.progress import progress_bar

    with progress_bar("verify") as progress:
        result = check(opened(workspace), quick, expect, progress)
    show(verification_view(result), as_json)
    raise typer.Exit(1 if result.differences else 0)


@commands.command(rich_help_panel=PANEL)
def seal(
    folder: Annotated[Path, typer.Argument(help="Where run-card.json and run-card.md go.")] = HERE,
    workspace: Folder = HERE,
    as_json: Json = False,
) -> None:
    """Write the run's card: everything by digest, with the leaderboard. A paper prints its hash."""
    from pipeline.audit.verdicts import card_view
    from pipeline.audit.verify import seal as seal_run

    show(card_view(seal_run(opened(workspace), folder)), as_json)


@commands.command(rich_help_panel=PANEL)
def diff(
    before: Annotated[
        str,
        typer.Argument(
            help="Bundle, hub or release folder, starter@N, workspace, or git revision."
        ),
    ],
    after: Annotated[str, typer.Argument(help="The same; this workspace if left out.")] = ".",
    *,
    workspace: Folder = HERE,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit 1 if anything differs.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare two releases: ingredients, tasks, and which conclusions survive."""
    from pipeline.compare.changes import changes_view
    from pipeline.compare.releases import compare_named
    from pipeline.showing.documents import markdown_text

    changes = compare_named(before, after, opened(workspace))
    view = changes_view(changes)
    if markdown and not as_json:
        typer.echo(markdown_text(view), nl=False)
    else:
        show(view, as_json)
    raise typer.Exit(1 if exit_code and not changes.empty else 0)
