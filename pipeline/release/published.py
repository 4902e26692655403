"""Published task sets and the published plan of the common core, checked by themselves.

See docs/published.md.

Each document is given as parsed JSON. What it says of itself is recomputed and compared: hashes
first, then the shape of every task, then every map. Hashes are SHA-256 of canonical JSON: sorted
keys, no spaces, UTF-8 unescaped.

* `artifact_sha256`: over the document without it.
* `prompt_sha256`: over the prompt's UTF-8; `oracle_reference_sha256`: over that object.
* `task_set_sha256`: over the list, in the document's order, of each task's `task_id`,
  `prompt_sha256`, `oracle_reference_sha256` and `score_map_sha256`, the last being the hash of
  `selection_scores_bps` and not itself in the document.
* `selected_task_ids_sha256` of a plan: over the list of a panel's ids, family after family in the
  order of `included_families`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Field

from pipeline.release.documents import DocumentPlace, Loose, canonical_text, check_artifact
from schemas.record import Count, Digest, Record
from schemas.release import (
    CORE_CATEGORIES,
    CUISINES,
    Label,
    Name,
    PlannedTask,
    Provenance,
    PublishedTask,
)
from schemas.taskset import BEST_BPS, LABELS, PORTFOLIOS, Family

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["plan_core", "read_task", "read_task_set"]


class PublishedSet(NamedTuple):
    """A published task set that agrees with its own hashes.

    `tasks` are in the document's order; `hashes` are its `artifact_sha256` and `task_set_sha256`,
    named after the panel.
    """

    tasks: tuple[PublishedTask, ...]
    hashes: tuple[Provenance, ...]


class _Reference(Record):
    """The `oracle_reference` of a task."""

    all_combinations_scored: Literal[56]
    anchor: Name
    constraint_variant: Literal["vegan", "vegetarian"] | None
    invalid_selection_score_bps: Literal[0]
    maximum_nova: Annotated[int, Field(ge=1, le=4)] | None
    method: str
    normalization: str
    selection_size: Literal[3]
    target_region: str | None


class _Task(Record):
    """A task as the documents spell it."""

    task_id: Name
    family: str
    split: str
    anchor_ingredient: Name
    primary_category: Name
    validation_stratum: Annotated[int, Field(ge=1, le=4)]
    choices: dict[str, Name]
    selection_size: Literal[3]
    selection_scores_bps: dict[str, Annotated[int, Field(ge=0, le=BEST_BPS)]]
    optimal_selection: Label
    chance_score_bps: Count
    optimal_margin_bps: Count
    oracle_reference: _Reference
    oracle_reference_sha256: Digest
    prompt: str
    prompt_sha256: Digest
    prompt_protocol: str | None = None
    scoring: dict[str, str | int]


class _StatedCounts(Record):
    """The `counts` of a task set."""

    choices_per_task: Literal[8]
    human_judgments_required: Literal[0]
    scored_combinations_per_task: Literal[56]
    selection_size: Literal[3]
    tasks: Count
    tasks_per_family: Count
    tasks_per_family_stratum: Count
    total_prefrozen_selection_scores: Count
    unique_anchor_ingredients: Count


class _TaskSet(Loose):
    artifact_sha256: Digest
    task_set_sha256: Digest
    counts: _StatedCounts
    tasks: Annotated[list[dict[str, Any]], Field(min_length=1)]


class _PlannedPanel(Loose):
    selected_task_ids_by_family: dict[str, list[Name]]
    selected_task_ids_sha256: Digest


class _Core(Loose):
    included_families: Annotated[list[str], Field(min_length=1)]
    panels: Annotated[dict[str, _PlannedPanel], Field(min_length=1)]


class _Plan(Loose):
    artifact_sha256: Digest
    common_core: _Core


def read_task_set(document: Mapping[str, Any], panel: str, where: str) -> PublishedSet:
    """Check a published task set against itself and take its tasks.

    Parameters
    ----------
    document
        The parsed JSON.
    panel
        Name that its tasks' panel gets.
    where
        What errors call the document, such as its file name.

    Raises
    ------
    InputError
        A hash, a task's shape, a map or a count is not what it should be; names the document, the
        task and the field.
    """
    place = DocumentPlace(where)
    top = place.valid(_TaskSet, document)
    check_artifact(document, top.artifact_sha256, place)
    tasks = [_read_task(raw, number, where) for number, raw in enumerate(top.tasks, start=1)]
    for task_id, times in Counter(task.task_id for task in tasks).items():
        if times > 1:
            raise DocumentPlace(where, task_id).refusal(
                "task_id", "unique ids", f"{times} of this one"
            )
    _check_counts(top.counts, tasks, place)
    listed = [
        {
            "task_id": task.task_id,
            "prompt_sha256": task.prompt_sha256,
            "oracle_reference_sha256": task.oracle_reference_sha256,
            "score_map_sha256": place.sha256("tasks", task.selection_scores_bps),
        }
        for task in tasks
    ]
    place.equal("task_set_sha256", place.sha256("tasks", listed), top.task_set_sha256)
    return PublishedSet(
        tasks=tuple(
            _published(task, panel, raw) for task, raw in zip(tasks, top.tasks, strict=True)
        ),
        hashes=(
            Provenance(name=f"{panel}.artifact_sha256", sha256=top.artifact_sha256),
            Provenance(name=f"{panel}.task_set_sha256", sha256=top.task_set_sha256),
        ),
    )


def plan_core(document: Mapping[str, Any], where: str) -> tuple[PlannedTask, ...]:
    """Check a published analysis plan against itself and take its common core.

    The result is ordered by panel, by the plan's families, and by position, which counts from 0.

    Parameters
    ----------
    document
        The parsed JSON.
    where
        What errors call the document.

    Raises
    ------
    InputError
        A hash is wrong, families do not fit, or an id stands twice.
    """
    place = DocumentPlace(where)
    plan = place.valid(_Plan, document)
    check_artifact(document, plan.artifact_sha256, place)
    families = plan.common_core.included_families
    for family in families:
        place.among("common_core.included_families", tuple(Family), family)
    planned: list[PlannedTask] = []
    for name, panel in plan.common_core.panels.items():
        field = f"common_core.panels.{name}.selected_task_ids"
        by_family = panel.selected_task_ids_by_family
        place.equal(f"{field}_by_family", sorted(families), sorted(by_family))
        ids = [one for family in families for one in by_family[family]]
        for task_id, times in Counter(ids).items():
            place.equal(f"{field}_by_family, times of {task_id}", 1, times)
        place.equal(f"{field}_sha256", place.sha256(field, ids), panel.selected_task_ids_sha256)
        planned.extend(
            PlannedTask(panel=name, family=family, position=position, task_id=task_id)
            for family in families
            for position, task_id in enumerate(by_family[family])
        )
    return tuple(planned)


def read_task(raw: dict[str, Any], panel: str, number: int, where: str) -> PublishedTask:
    """Check one published task against itself.

    Parameters
    ----------
    raw
        The parsed JSON.
    panel
        Name that the task's panel gets.
    number
        Its place in the document, from 1: what errors call a task without an id.
    where
        What errors call the document.

    Raises
    ------
    InputError
        As `read_task_set` does for a task.
    """
    return _published(_read_task(raw, number, where), panel, raw)


def _read_task(raw: dict[str, Any], number: int, where: str) -> _Task:
    """A task of the right shape, with right hashes, choices, reference and map."""
    named = raw.get("task_id")
    place = DocumentPlace(where, named if isinstance(named, str) else f"number {number}")
    task = place.valid(_Task, raw)
    prompt = hashlib.sha256(task.prompt.encode("utf-8")).hexdigest()
    place.equal("prompt_sha256", prompt, task.prompt_sha256)
    reference = place.sha256("oracle_reference", task.oracle_reference.model_dump())
    place.equal("oracle_reference_sha256", reference, task.oracle_reference_sha256)
    place.among("family", tuple(Family), task.family)
    place.among("primary_category", CORE_CATEGORIES, task.primary_category)
    place.equal("choices (labels)", list(LABELS), sorted(task.choices))
    names = {*task.choices.values(), task.anchor_ingredient}
    place.equal("choices (different names, with the anchor)", len(LABELS) + 1, len(names))
    _check_reference(task, place)
    _check_map(task, place)
    return task


def _check_reference(task: _Task, place: DocumentPlace) -> None:
    """Only what the family asks for is filled."""
    reference = task.oracle_reference
    place.equal("oracle_reference.anchor", task.anchor_ingredient, reference.anchor)
    for field, family in (
        ("constraint_variant", Family.CONSTRAINT),
        ("maximum_nova", Family.CONSTRAINT),
        ("target_region", Family.CULTURAL),
    ):
        value = getattr(reference, field)
        if (value is not None) != (task.family == family):
            expected = f"{'a value' if value is None else 'null'} in family {task.family}"
            raise place.refusal(f"oracle_reference.{field}", expected, str(value))
    if reference.target_region is not None:
        place.among("oracle_reference.target_region", CUISINES, reference.target_region)


def _check_map(task: _Task, place: DocumentPlace) -> None:
    """56 scores, one optimum, chance and margin (docs/published.md)."""
    field, scores = "selection_scores_bps", task.selection_scores_bps
    missing, extra = set(PORTFOLIOS) - set(scores), set(scores) - set(PORTFOLIOS)
    if missing or extra:
        found = f"missing {sorted(missing)[:3]}, unknown {sorted(extra)[:3]}"
        raise place.refusal(field, "all 56 portfolios and no other", found)
    best = [portfolio for portfolio in PORTFOLIOS if scores[portfolio] == BEST_BPS]
    if len(best) != 1:
        raise place.refusal(field, "one portfolio with 10000", f"{len(best)} {best[:3]}")
    place.equal("optimal_selection", best[0], task.optimal_selection)
    chance = round(Fraction(sum(scores.values()), len(scores)))
    place.equal("chance_score_bps", chance, task.chance_score_bps)
    margin = BEST_BPS - sorted(scores.values())[-2]
    place.equal("optimal_margin_bps", margin, task.optimal_margin_bps)


def _check_counts(counts: _StatedCounts, tasks: Sequence[_Task], place: DocumentPlace) -> None:
    """The counts are those of the tasks; all families and all strata are of one size."""
    anchors = {task.anchor_ingredient for task in tasks}
    scores = len(tasks) * len(PORTFOLIOS)
    place.equal("counts.tasks", len(tasks), counts.tasks)
    place.equal("counts.unique_anchor_ingredients", len(anchors), counts.unique_anchor_ingredients)
    field = "counts.total_prefrozen_selection_scores"
    place.equal(field, scores, counts.total_prefrozen_selection_scores)
    for family, size in Counter(task.family for task in tasks).items():
        place.equal(f"counts.tasks_per_family ({family})", size, counts.tasks_per_family)
    strata = Counter((task.family, task.validation_stratum) for task in tasks)
    for (family, stratum), size in strata.items():
        field = f"counts.tasks_per_family_stratum ({family}, {stratum})"
        place.equal(field, size, counts.tasks_per_family_stratum)


def _published(task: _Task, panel: str, raw: dict[str, Any]) -> PublishedTask:
    reference = task.oracle_reference
    diet, maximum = reference.constraint_variant, reference.maximum_nova
    return PublishedTask(
        task_id=task.task_id,
        panel=panel,
        family=task.family,
        variant=None if diet is None else f"{diet}-nova-{maximum}",
        anchor=task.anchor_ingredient,
        category=task.primary_category,
        region=reference.target_region,
        stratum=task.validation_stratum,
        choices=tuple(task.choices[label] for label in LABELS),
        scores_bps=tuple(task.selection_scores_bps[portfolio] for portfolio in PORTFOLIOS),
        optimum=task.optimal_selection,
        chance_bps=task.chance_score_bps,
        margin_bps=task.optimal_margin_bps,
        prompt=task.prompt,
        document=canonical_text(raw),
    )
