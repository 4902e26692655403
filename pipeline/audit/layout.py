"""Which tables a workspace holds, in the order of the chain, and the identity of them together.

A run's identity is a Merkle root over its tables, as a table's root is one over its rows: so one
hash names everything, and any table can be proved to belong to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import UsageError
from pipeline.identity import digest, table_root
from pipeline.tables import read_header
from schemas import release, results, taskset, training
from schemas.execution import Attempt, Response
from schemas.parameters import PublishedRelease
from schemas.record import Count, Digest, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pipeline.tables import TableHeader
    from pipeline.workspace import Workspace
    from schemas.parameters import Parameters
    from schemas.record import Row

__all__ = ["RUN_KIND", "Place", "TableEntry", "attempts_place", "entry_digest", "places",
           "route_places", "run_digest", "stored_headers", "table_entries"]  # fmt: skip

RUN_KIND = "run-table"
"""Kind of the leaves of a run's identity."""

_RELEASE: tuple[type[Row], ...] = (release.Ingredient, release.Direction, release.Release)
_PUBLISHED: tuple[type[Row], ...] = (release.PublishedTask, release.PlannedTask)
_FREEZE: tuple[type[Row], ...] = (taskset.Task, taskset.TaskSet, taskset.Diagnostic)
_SCORE: tuple[type[Row], ...] = (results.Score, results.CoreTask, results.Coverage)
_STATISTICS: tuple[type[Row], ...] = (
    results.Standing,
    results.Reference,
    results.Contrast,
    results.Chance,
    results.PanelScore,
    results.PanelAgreement,
    results.Inference,
)


_TRAIN: tuple[type[Row], ...] = (
    training.DevelopmentTask,
    training.SftRow,
    training.DpoRow,
    training.GrpoRow,
)


class Place(NamedTuple):
    """Where one table lies: its stage, its name there, and what its rows are."""

    stage: str
    name: str
    model: type[Row]

    @property
    def word(self) -> str:
        """What people call it: `score/scores`."""
        return f"{self.stage}/{self.name}"

    @property
    def answers(self) -> bool:
        """Whether it holds a route's answers; its name is the route's slug then."""
        return self.model is Response

    @property
    def input_name(self) -> str:
        """What tables made from it call it in their header."""
        return f"responses/{self.name}" if self.answers else self.name

    def path(self, workspace: Workspace) -> Path:
        """Its file."""
        return workspace.artifact(self.stage, self.name)

    def file(self) -> str:
        """Its file within the workspace."""
        return f"artifacts/{self.stage}/{self.name}.parquet"


class TableEntry(Record):
    """What a run's identity covers of one table."""

    path: str
    kind: str
    rows: Count
    root: Digest
    inputs: dict[str, Digest]


def places(parameters: Parameters) -> tuple[Place, ...]:
    """Every table of a run with these parameters, inputs before what is made from them."""
    published = isinstance(parameters.release, PublishedRelease)
    plain: tuple[tuple[str, Sequence[type[Row]]], ...] = (
        ("release", (*_RELEASE, *_PUBLISHED) if published else _RELEASE),
        ("freeze", _FREEZE),
        ("execute", ()),
        ("parse", (results.Selection, results.Answer, results.Usage)),
        ("score", _SCORE),
        ("statistics", _STATISTICS),
        ("train", _TRAIN),
    )
    found: list[Place] = []
    for stage, models in plain:
        if stage == "execute":
            for slug in parameters.routes:
                found += route_places(slug)
        found += [Place(stage, model.table, model) for model in models]
    return tuple(found)


def route_places(slug: str) -> tuple[Place, ...]:
    """Where a route's answers and attempts lie, whether it is asked or set aside."""
    return Place("execute", slug, Response), attempts_place(slug)


def attempts_place(slug: str) -> Place:
    """Where a route's attempts lie."""
    return Place("execute", f"attempts/{slug}", Attempt)


def stored_headers(workspace: Workspace) -> dict[Place, TableHeader]:
    """What every table that is here says of itself.

    Raises
    ------
    UsageError
        There is no table at all.
    TableError
        A file is no table.
    """
    found = {
        place: read_header(place.path(workspace))
        for place in places(workspace.parameters)
        if place.path(workspace).exists() or place.path(workspace).is_symlink()
    }
    if not found:
        raise UsageError(
            "tables of a run",
            "none",
            str(workspace.root / "artifacts"),
            "Run `dvc repro` to make them or `dvc pull` to fetch them.",
        )
    return found


def table_entries(headers: Mapping[Place, TableHeader]) -> tuple[TableEntry, ...]:
    """Every table's entry, in the order of a run's identity: by path."""
    ordered = sorted(headers, key=lambda place: place.word)
    return tuple(
        TableEntry(
            path=place.word,
            kind=headers[place].kind,
            rows=headers[place].rows,
            root=headers[place].root,
            inputs=headers[place].inputs,
        )
        for place in ordered
    )


def entry_digest(entry: TableEntry) -> str:
    """Digest (hex) of one table's entry."""
    return digest(RUN_KIND, entry.model_dump(mode="json"))


def run_digest(entries: Sequence[TableEntry]) -> str:
    """Identity (hex) of a run: the root over its tables."""
    return table_root(RUN_KIND, [entry_digest(entry) for entry in entries])
