"""What `release info`, `tasks show` and the grid of diagnostics show."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from pipeline.errors import InputError
from pipeline.showing.numbers import bps, fixed, place
from pipeline.showing.view import Grid, View
from pipeline.workspace import release_name
from schemas.release import CORE_CATEGORIES, CUISINES, UNIVERSAL, Ingredient, Release
from schemas.taskset import LABELS, Task, TaskSet, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.workspace import Workspace
    from schemas.taskset import Diagnostic

__all__ = ["diagnostics_grid", "find_task", "release_view", "task_view"]

_PREFIX = 8


def release_view(workspace: Workspace) -> View:
    """The release: its digest and how many ingredients of what kind it holds."""
    table = workspace.read("release", Release)
    release, digest = table.rows()[0], table.digests[0]
    ingredients = workspace.read("release", Ingredient).rows()
    categories = Counter(item.category for item in ingredients)
    regions = Counter(region for item in ingredients for region in item.regions)
    novas = Counter(str(item.nova or "unknown") for item in ingredients)
    by_category = tuple(
        (name, str(categories[name]), str(sum(i.vegan for i in ingredients if i.category == name)))
        for name in (*CORE_CATEGORIES, *sorted(set(categories) - set(CORE_CATEGORIES)))
    )
    grids = (
        Grid("By category", ("category", "ingredients", "vegan"), by_category, frozenset({1, 2})),
        Grid(
            "By region",
            ("region", "ingredients"),
            tuple((name, str(regions[name])) for name in (*CUISINES, UNIVERSAL)),
            frozenset({1}),
        ),
        Grid(
            "By NOVA group", ("NOVA", "ingredients"),
            tuple((name, str(novas[name])) for name in sorted(novas)), frozenset({1}),
        ),
    )  # fmt: skip
    name = release_name(workspace.parameters.release)
    document = release.model_dump(mode="json") | {
        "digest": digest,
        "name": name,
        "categories": dict(sorted(categories.items())),
        "regions": dict(sorted(regions.items())),
        "nova": dict(sorted(novas.items())),
    }
    notes = [
        f"{len(ingredients)} ingredients in {release.dimensions} dimensions",
        f"Release {digest}",
    ]
    notes += [f"{entry.name} sha256 {entry.sha256}" for entry in release.provenance]
    return View(f"Release {name}", grids if ingredients else (), tuple(notes), document)


def task_view(workspace: Workspace, name: str) -> View:
    """One task by its id or by 8 or more characters of its digest.

    Raises
    ------
    InputError
        No task, or more than one, has that name.
    """
    table = workspace.read("freeze", Task)
    digest, task = find_task(name, table.digests, table.rows())
    scores = score_map(task)
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    falling = [value for _, value in ranked]
    ranks = [falling.index(value) + 1 for value in falling]
    names = dict(zip(LABELS, task.choices, strict=True))

    def line(at: int) -> tuple[str, ...]:
        labels, value = ranked[at]
        members = ", ".join(names[label].replace("_", " ") for label in labels)
        return (place(ranks[at], ranks), labels, bps(value), members)

    shown = (*range(5), *range(len(ranked) - 3, len(ranked)))
    grids = (
        Grid("Candidates", ("label", "ingredient"), tuple(names.items()), frozenset()),
        Grid("Best five and worst three of 56", ("place", "portfolio", "score", "members"),
             tuple(line(at) for at in shown), frozenset({0, 2})),
    )  # fmt: skip
    taskset = workspace.read("freeze", TaskSet, table).digests[0]
    about = f"{task.panel}, {task.family}, stratum {task.stratum}, anchor {task.anchor}"
    notes = (
        about, f"Chance {bps(task.chance_bps)}, margin {bps(task.margin_bps)}", "Prompt:",
        task.prompt, f"Task {digest}", f"Task set {taskset}",
    )  # fmt: skip
    document = task.model_dump(mode="json") | {
        "digest": digest,
        "taskset_digest": taskset,
        "scores_bps": scores,
        "choices": names,
    }
    return View(task.task_id, grids, notes, document)


def diagnostics_grid(diagnostics: Sequence[Diagnostic]) -> Grid:
    """What the maps of each panel and family look like."""
    return Grid(
        "Task maps",
        ("panel", "family", "tasks", "mean chance", "median margin", "distinct scores", "feasible"),
        tuple(
            (
                d.panel,
                d.family.value,
                str(d.tasks),
                bps(Fraction(d.mean_chance_millibps, 1000)),
                bps(Fraction(d.median_margin_millibps, 1000)),
                fixed(Fraction(d.mean_distinct_milli, 1000), 1),
                f"{fixed(Fraction(d.feasible_ppm, 10_000), 1)}%",
            )
            for d in diagnostics
        ),
        frozenset(range(2, 7)),
    )  # fmt: skip


def find_task(name: str, digests: Sequence[str], tasks: Sequence[Task]) -> tuple[str, Task]:
    """A task with its digest, by its id or by 8 or more characters of the digest.

    Raises
    ------
    InputError
        No task, or more than one, has that name.
    """
    pairs = list(zip(digests, tasks, strict=True))
    found = [pair for pair in pairs if pair[1].task_id == name]
    if not found and len(name) >= _PREFIX:
        found = [pair for pair in pairs if pair[0].startswith(name.lower())]
    if len(found) == 1:
        return found[0]
    what = "no such task" if not found else ", ".join(pair[0][:16] for pair in found[:5])
    raise InputError(
        f"a task id, or {_PREFIX} or more characters of one task's digest", f"{name!r}: {what}",
        "task", f"Ids run like {tasks[0].task_id}." if tasks else "Freeze some tasks first.",
    )  # fmt: skip
