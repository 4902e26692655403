"""Two sides compared at all three levels; a level that cannot be compared says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.compare.conclusions import compare_conclusions, read_answers
from pipeline.compare.ingredients import compare_ingredients
from pipeline.compare.rescore import rescore
from pipeline.compare.sources import read_side
from pipeline.compare.tasks import compare_tasks
from pipeline.errors import FlavourbenchError, InputError
from pipeline.freeze.compile import compile_tasks
from pipeline.tables import make_table
from schemas.parameters import FreezeParameters
from schemas.taskset import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.compare.conclusions import ConclusionChanges
    from pipeline.compare.ingredients import IngredientChanges
    from pipeline.compare.rescore import RescoredMap
    from pipeline.compare.sources import Side
    from pipeline.compare.tasks import TaskChanges
    from pipeline.workspace import Workspace

__all__ = ["ReleaseChanges", "compare_named", "compare_releases"]


class ReleaseChanges(NamedTuple):
    """What changes from one side to another.

    Attributes
    ----------
    before, after
        What the sides are called.
    ingredients, tasks, conclusions
        The three levels; none where a level was not compared.
    reasons
        Why a level was not compared, one line each.
    """

    before: str
    after: str
    ingredients: IngredientChanges
    tasks: TaskChanges | None
    conclusions: ConclusionChanges | None
    reasons: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing differs at any level that was compared."""
        levels = (self.ingredients, self.tasks, self.conclusions)
        return all(level is None or level.empty for level in levels)


def compare_named(before: str, after: str, workspace: Workspace) -> ReleaseChanges:
    """Compare what a person named. Raises as `read_side` does."""
    ours = read_side(before, workspace.root)
    return compare_releases(ours, read_side(after, workspace.root), workspace)


def compare_releases(before: Side, after: Side, workspace: Workspace) -> ReleaseChanges:
    """Compare two sides.

    Parameters
    ----------
    before, after
        The sides. Tasks that a side does not bring are compiled from it.
    workspace
        Its parameters say how tasks are compiled; its answers are scored again.
    """
    ingredients = compare_ingredients(before.content, after.content)
    reasons: list[str] = []
    if not ingredients.shared:
        reasons.append("the releases share no ingredient: nothing but names can be compared")
    tasks = conclusions = None
    try:
        tasks = _tasks(before, after, workspace, ingredients.touched)
    except FlavourbenchError as problem:
        reasons.append(f"tasks were not compared: {problem}")
    try:
        answers = read_answers(workspace, [*(before.tasks or ()), *(after.tasks or ())])
        maps = [_rescored(side, answers.tasks) for side in (before, after)]
        conclusions = compare_conclusions(answers, *maps)
        if not conclusions.tasks:
            reasons.append("no task of the common core can be scored under both releases")
    except FlavourbenchError as problem:
        reasons.append(f"conclusions were not compared: {problem}")
    return ReleaseChanges(before.name, after.name, ingredients, tasks, conclusions, tuple(reasons))


def _tasks(before: Side, after: Side, workspace: Workspace, touched: frozenset[str]) -> TaskChanges:
    ours, theirs = _frozen(before, workspace), _frozen(after, workspace)
    roots = (make_table(Task, ours).root, make_table(Task, theirs).root)
    maps = (_rescored(before, ours), _rescored(after, ours))
    return compare_tasks(ours, theirs, roots, maps, touched)


def _frozen(side: Side, workspace: Workspace) -> Sequence[Task]:
    """A side's own tasks, or those that the workspace's parameters make of it."""
    if side.tasks is not None:
        return side.tasks
    parameters = workspace.parameters.freeze
    if not isinstance(parameters, FreezeParameters):
        raise InputError(
            "freeze.source: compiled", parameters.source, "params.yaml",
            "Published tasks cannot be compiled from another release.",
        )  # fmt: skip
    return compile_tasks(side.content.ingredients, side.content.directions, parameters)


def _rescored(side: Side, tasks: Sequence[Task]) -> tuple[RescoredMap | None, ...]:
    return rescore(side.content.ingredients, side.content.directions, tasks)
