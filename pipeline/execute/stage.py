"""The execute stage: every route is asked every frozen task, once, ever (docs/routes.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.asking.adapter import Question, Questions
from pipeline.asking.adapters import ADAPTERS as COMMON
from pipeline.asking.adapters import Maker
from pipeline.asking.filling import EVERYTHING, Wish, fill_routes, run_route
from pipeline.asking.tally import unwatched
from pipeline.execute import policies
from pipeline.portfolio import PORTFOLIO
from schemas.routes import PolicyRoute
from schemas.taskset import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.asking.filling import Filled
    from pipeline.asking.tally import Watch
    from pipeline.workspace import StageSummary, Workspace
    from schemas.parameters import Parameters
    from schemas.routes import ExecutionRoute

__all__ = ["ADAPTERS", "Wish", "all_routes", "fill", "questions", "routes", "run"]

ADAPTERS: Mapping[type[ExecutionRoute], Maker] = {
    **COMMON,
    PolicyRoute: Maker(policies.identity, policies.make),
}
"""Who answers for the portfolio's routes."""


def run(
    workspace: Workspace, slug: str, wish: Wish = EVERYTHING, watch: Watch = unwatched
) -> StageSummary:
    """Ask one route every task that it has not answered. Raises as `filling.run_route` does."""
    return run_route(PORTFOLIO, workspace, slug, wish, watch)


def fill(
    workspace: Workspace,
    slugs: Sequence[str],
    wish: Wish = EVERYTHING,
    watch: Watch = unwatched,
) -> list[Filled]:
    """Fill the ledgers of many routes at once. Raises as `filling.fill_routes` does."""
    return fill_routes(PORTFOLIO, workspace, slugs, wish, watch)


def questions(workspace: Workspace) -> Questions:
    """Every frozen task as a question. Raises `TableError` where no tasks are frozen."""
    tasks = workspace.read("freeze", Task)
    rows = dict(zip(tasks.digests, tasks.rows(), strict=True))
    asked = tuple(Question(task.task_id, digest, task.prompt) for digest, task in rows.items())
    return Questions(tasks.root, asked, rows)


def routes(parameters: Parameters) -> Mapping[str, ExecutionRoute]:
    """The routes of the portfolio, by slug."""
    return parameters.routes


def all_routes(parameters: Parameters) -> Mapping[str, ExecutionRoute]:
    """The routes of the portfolio, also those that are set aside."""
    return parameters.all_routes
