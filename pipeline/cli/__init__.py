"""The commands that people type. No logic lives here: a command calls a stage or a view."""

from __future__ import annotations

from typing import Any

import typer
import typer.core

from pipeline.cli import exchange, execute, stages, trust, views

__all__ = ["app"]

_ORDER = (
    "release",
    "freeze",
    "execute",
    "parse",
    "score",
    "statistics",
    "train",
    "report",
    "routes",
    "leaderboard",
    "tasks",
    "audit",
    "verify",
    "verify-proof",
    "seal",
    "diff",
    "import",
    "compare-published",
    "template",
    "reward",
    "export",
)
"""Commands in the order in which help lists them."""


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
for _module in (stages, execute, views, trust, exchange):
    app.add_typer(_module.commands)
