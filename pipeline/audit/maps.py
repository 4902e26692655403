"""One decision's map computed again from the release: the rule's eight candidates and 56 scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError
from pipeline.freeze.compile import family_table, measure
from pipeline.freeze.eligible import eligible_ingredients
from pipeline.freeze.families import RULES, ConstraintRule, Variant
from pipeline.freeze.maps import with_labels
from pipeline.freeze.prompts import prompt
from schemas.taskset import Family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.freeze.candidates import Candidates
    from schemas.release import Direction, Ingredient
    from schemas.taskset import Task

__all__ = ["derive_map", "derive_prompt"]


class DerivedMap(NamedTuple):
    """What the release says of a task.

    Attributes
    ----------
    candidates
        The eight names that the family's rule takes for the anchor, sorted.
    scores_bps
        The 56 scores under the task's labels.
    """

    candidates: tuple[str, ...]
    scores_bps: tuple[int, ...]


def derive_map(
    ingredients: Sequence[Ingredient],
    directions: Sequence[Direction],
    excluded: Sequence[str],
    task: Task,
) -> DerivedMap:
    """Compute a task's candidates and map as freezing did.

    Raises
    ------
    InputError
        The rule admits no such anchor, or takes other candidates for it.
    """
    eligible = eligible_ingredients(ingredients, excluded)
    cultural = task.family is Family.CULTURAL
    table = family_table(measure(eligible, directions if cultural else None), task.family)
    row = _row(table.candidates, task, eligible.names)
    names = [eligible.names[i] for i in table.candidates.choices[row].tolist()]
    if sorted(names) != sorted(task.choices):
        raise InputError(
            f"candidates {', '.join(sorted(names))}", ", ".join(sorted(task.choices)),
            f"task {task.task_id}", "The task is not of this release.",
        )  # fmt: skip
    scores = with_labels(table.maps.scores_bps[row], [names.index(name) for name in task.choices])
    return DerivedMap(tuple(sorted(names)), scores)


def derive_prompt(task: Task) -> str:
    """Write a task's prompt again."""
    return prompt(task.family, task.anchor, task.choices, _variant(task), task.region)


def _row(candidates: Candidates, task: Task, names: Sequence[str]) -> int:
    for row, anchor in enumerate(candidates.anchors.tolist()):
        variant = candidates.variants[row]
        found = (names[anchor], variant.name if variant else None, candidates.cuisines[row])
        if found == (task.anchor, task.variant, task.region):
            return row
    raise InputError(
        f"an anchor that the rule of {task.family} admits", task.anchor, f"task {task.task_id}",
        "The task is not of this release.",
    )  # fmt: skip


def _variant(task: Task) -> Variant | None:
    rule = RULES[task.family]
    if not isinstance(rule, ConstraintRule):
        return None
    return next((v for v in rule.variants if v.name == task.variant), None)
