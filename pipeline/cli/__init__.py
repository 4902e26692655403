"""The commands that people type. No logic lives here: a command calls a stage or a view.

::

    words -> stages, execute, looking, trust, exchange, kitchen -> common -> what they give
    kitchen_scan: a command of kitchen; common: --json, the workspace, how results are said

$ flavourbench leaderboard --json
"""

from __future__ import annotations

from typing import Any

import typer
import typer.core

from pipeline.cli import exchange, execute, kitchen, looking, stages, trust
from pipeline.portfolio import PORTFOLIO
from pipeline.tracks import TRACKS

__all__ = ["app"]


class _Ordered(typer.core.TyperGroup):
    """Lists the stages in the order of the chain, then the others as they were registered."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # click's signature
        """Names of the commands, stages first."""
        names = list(self.commands)
        chain = [stage.word for track in TRACKS for stage in track.stages]
        return sorted(names, key=lambda name: chain.index(name) if name in chain else len(chain))


app = typer.Typer(
    name="flavourbench",
    cls=_Ordered,
    help=(
        "Ranks language models by culinary decisions with executable ground truth.\n\n"
        "A task shows an anchor and eight candidates; a release has scored all 56 choices of three "
        "beforehand, so an answer is graded by a look-up. The stages run in this order, and "
        "`dvc repro` runs those whose inputs changed:\n\n"
        + " → ".join(stage.word for stage in PORTFOLIO.stages)
    ),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for _module in (stages, execute, looking, trust, exchange, kitchen):
    app.add_typer(_module.commands)
