"""The release stage: a source in, checked tables out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import ReleaseError
from pipeline.files import read_json
from pipeline.release.bundle import ReleaseContent, read_bundle
from pipeline.release.dataset import read_dataset
from pipeline.release.published import plan_core, read_task_set
from pipeline.release.starter import read_starter
from pipeline.tables import make_table
from pipeline.workspace import StageSummary, release_name
from schemas.parameters import BundleRelease, PublishedRelease
from schemas.release import (
    Direction,
    Ingredient,
    PlannedTask,
    Provenance,
    PublishedTask,
    Release,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.tables import Table
    from pipeline.workspace import Workspace
    from schemas.parameters import PublishedFiles, ReleaseParameters

__all__ = ["build", "read_source", "run"]

_FLOAT32_BYTES = 4
_JSON_LIMIT = 256 * 2**20


class PublishedContent(NamedTuple):
    """A published release: its tasks, the plan of its core, and the hashes it goes by."""

    tasks: Table[PublishedTask]
    plan: Table[PlannedTask]
    provenance: tuple[Provenance, ...]


def run(workspace: Workspace) -> StageSummary:
    """Read the release that `params.yaml` names and write its tables.

    Raises
    ------
    ReleaseError
        The source is not a sound release.
    TableError
        A table cannot be written; older ones survive.
    """
    tables = build(workspace)
    headline = _headline(workspace.parameters.release, tables)
    return StageSummary("release", headline, workspace.write("release", *tables))


def build(workspace: Workspace) -> tuple[Table[Any], ...]:
    """The stage's tables, in memory: ingredients, directions, release, and what is published.

    Raises
    ------
    ReleaseError
        The source is not a sound release.
    """
    parameters = workspace.parameters.release
    folder = workspace.root / parameters.path
    content, published = read_source(parameters, folder)
    ingredients = make_table(Ingredient, content.ingredients)
    directions = make_table(Direction, content.directions)
    first = content.ingredients[0].vector if content.ingredients else b""
    row = Release(
        ingredients=len(content.ingredients),
        dimensions=len(first) // _FLOAT32_BYTES,
        ingredients_root=ingredients.root,
        directions_root=directions.root,
        provenance=published.provenance if published else (),
    )
    inputs = {"ingredients": ingredients.root, "directions": directions.root}
    more = (published.tasks, published.plan) if published else ()
    release = make_table(Release, [row], inputs)
    return (ingredients, directions, release, *more)


def read_source(
    parameters: ReleaseParameters, folder: Path
) -> tuple[ReleaseContent, PublishedContent | None]:
    """Content of a release source, and its published tasks where it has them.

    Raises
    ------
    ReleaseError
        The folder is missing or its content is unsound.
    """
    if not folder.is_dir():
        raise ReleaseError("a folder", "none", str(folder), "Set release.path in params.yaml.")
    if isinstance(parameters, BundleRelease):
        return read_bundle(folder), None
    if isinstance(parameters, PublishedRelease):
        return ReleaseContent((), ()), _read_published(parameters.published, folder)
    return read_starter(parameters.version, folder), None


def _read_published(files: PublishedFiles, folder: Path) -> PublishedContent:
    """Published tasks and plan, checked against their own hashes."""
    if files.manifest:
        dataset = read_dataset(folder / files.manifest)
        return PublishedContent(
            make_table(PublishedTask, dataset.tasks),
            make_table(PlannedTask, dataset.planned),
            dataset.hashes,
        )
    sets = [
        read_task_set(
            read_json(folder / name, _JSON_LIMIT, ReleaseError), panel, str(folder / name)
        )
        for panel, name in files.panels.items()
    ]
    planned: tuple[PlannedTask, ...] = ()
    if files.plan:
        path = folder / files.plan
        planned = plan_core(read_json(path, _JSON_LIMIT, ReleaseError), str(path))
    return PublishedContent(
        make_table(PublishedTask, [task for found in sets for task in found.tasks]),
        make_table(PlannedTask, planned),
        tuple(entry for found in sets for entry in found.hashes),
    )


def _headline(parameters: ReleaseParameters, tables: tuple[Table[Any], ...]) -> str:
    _, _, release, *published = tables
    if published:
        tasks, plan = published
        return f"{tasks.header.rows} published tasks, {plan.header.rows} planned"
    row = release.rows()[0]
    return (
        f"{release_name(parameters)}: {row.ingredients} ingredients in {row.dimensions} dimensions"
    )
