"""Which tables a workspace holds, in the order of the chain, and the identity of them together.

A run's identity is a Merkle root over its tables, as a table's root is one over its rows: so one
hash names everything, and any table can be proved to belong to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError
from pipeline.identity import digest, table_root
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import read_header
from pipeline.tracks import TRACKS
from schemas.execution import Attempt, Response
from schemas.record import Count, Digest, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pipeline.tables import TableHeader
    from pipeline.workspace import Workspace
    from schemas.parameters import Parameters
    from schemas.record import Row

__all__ = ["RUN_KIND", "Place", "TableEntry", "attempts_place", "entry_digest", "input_names",
           "places", "route_places", "run_digest", "stored_headers", "table_entries"]  # fmt: skip

RUN_KIND = "run-table"
"""Kind of the leaves of a run's identity."""


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
    found: list[Place] = []
    for stage in (stage for track in TRACKS for stage in track.stages):
        for slug in parameters.routes if stage.asks else ():
            found += route_places(slug)
        found += [Place(stage.word, model.table, model) for model in stage.models(parameters)]
    return tuple(found)


def input_names(parameters: Parameters, place: Place) -> frozenset[str]:
    """Names of the tables that a table says it was made from: these, and no others."""
    if place.answers:
        return frozenset({PORTFOLIO.source})
    if place.model is Attempt:
        return frozenset({place.name.replace("attempts/", "responses/", 1)})
    return PORTFOLIO.made_from(parameters)[place.model.table]


def route_places(slug: str) -> tuple[Place, ...]:
    """Where a route's answers and attempts lie, whether it is asked or set aside."""
    return Place(PORTFOLIO.asking.word, slug, Response), attempts_place(slug)


def attempts_place(slug: str) -> Place:
    """Where a route's attempts lie."""
    return Place(PORTFOLIO.asking.word, f"attempts/{slug}", Attempt)


def stored_headers(workspace: Workspace) -> dict[Place, TableHeader]:
    """What every table that is here says of itself.

    Raises
    ------
    InputError
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
        raise InputError(
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
