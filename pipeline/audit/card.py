"""A run's card: one small file that names everything by digest, with the leaderboard.

The run's hash is the root over its tables, so a card cannot name other tables under the same hash;
a paper prints that one hash. All else that a card says follows from the tables: see `expected`.
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import StringConstraints, ValidationError

from pipeline.audit.layout import TableEntry, run_digest, stored_headers, table_entries
from pipeline.errors import InputError, wrong_field
from pipeline.files import read_json, write_bytes
from pipeline.identity import digest
from pipeline.workspace import release_name
from schemas.parameters import RuleCore
from schemas.record import Digest, Record
from schemas.release import Release
from schemas.results import Inference, Reference, Standing
from schemas.taskset import CONTRACTS, TaskSet

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["CARD", "Card", "card_markdown", "make_card", "read_card", "write_card"]

CARD = "run-card"
"""Name of a card's two files, less their endings."""

_CARD_LIMIT = 16 * 2**20
_PACKAGES = ("blake3", "numpy", "pyarrow", "pydantic", "scipy")

Version = Annotated[str, StringConstraints(pattern=r"^[0-9][0-9A-Za-z.+!_-]{0,39}$")]
"""The one thing that a card says and the tables do not; so it can say nothing else."""


class Card(Record):
    """Everything that a run is, by digest."""

    format: Literal["flavourbench run card"] = "flavourbench run card"
    run: Digest
    release: str
    release_digest: Digest
    taskset_digest: Digest
    parser_contract: str
    parser_contract_digest: Digest
    core_context: str | None
    routes: dict[str, Digest]
    inference: Inference
    standings: tuple[Standing, ...]
    references: tuple[Reference, ...]
    tables: tuple[TableEntry, ...]
    versions: dict[str, Version]


def make_card(workspace: Workspace) -> Card:
    """The card of a workspace's run.

    Raises
    ------
    InputError
        There is no table.
    TableError
        A table that the card quotes is missing or damaged.
    """
    headers = stored_headers(workspace)
    entries = table_entries(headers)
    release = workspace.read("release", Release)
    taskset = workspace.read("freeze", TaskSet)
    standings = workspace.read("statistics", Standing).rows()
    references = workspace.read("statistics", Reference).rows()
    parameters = workspace.parameters
    contract = CONTRACTS[parameters.parse.contract].model_dump(mode="json")
    core = parameters.score.core
    return Card(
        run=run_digest(entries),
        release=release_name(parameters.release),
        release_digest=release.digests[0],
        taskset_digest=taskset.digests[0],
        parser_contract=parameters.parse.contract,
        parser_contract_digest=digest("parser-contract", contract),
        core_context=core.context if isinstance(core, RuleCore) else None,
        routes={row.slug: row.route_digest for row in standings}
        | {row.slug: row.route_digest for row in references},
        inference=workspace.read("statistics", Inference).rows()[0],
        standings=tuple(sorted(standings, key=lambda row: row.rank)),
        references=tuple(references),
        tables=entries,
        versions={"python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
    )


def write_card(card: Card, folder: Path) -> tuple[Path, Path]:
    """Write a card as JSON and as Markdown. Raises `TableError` where the disk refuses."""
    paths = (folder / f"{CARD}.json", folder / f"{CARD}.md")
    text = card.model_dump_json(indent=1) + "\n"
    for path, content in zip(paths, (text, card_markdown(card)), strict=True):
        write_bytes(path, content.encode("utf-8"))
    return paths


def read_card(path: Path) -> Card:
    """A card as its file states it; nothing of it need be true.

    Raises
    ------
    InputError
        The file is no card: names the first field that cannot be one's.
    """
    document = read_json(path, _CARD_LIMIT, InputError)
    try:
        return Card.model_validate_json(json.dumps(document))
    except ValidationError as problem:
        wrong = wrong_field(problem, "top level")
        raise InputError(
            "a run's card",
            wrong.expected,
            f"{path}, {wrong.name}",
            "`flavourbench seal` writes one.",
        ) from None


def card_markdown(card: Card) -> str:
    """A card as people read it."""
    from pipeline.showing.documents import markdown_text
    from pipeline.showing.numbers import place, score
    from pipeline.showing.view import Grid, View

    ranks = [s.rank for s in card.standings]
    standings = tuple(
        (place(s.rank, ranks), str(s.group), s.label, score(s.score_microbps),
         f"{score(s.band_low_microbps)} - {score(s.band_high_microbps)}", s.route_digest[:16])
        for s in card.standings
    )  # fmt: skip
    tables = tuple((entry.path, str(entry.rows), entry.root) for entry in card.tables)
    notes = (
        f"Run {card.run}", f"Release {card.release} {card.release_digest}",
        f"Task set {card.taskset_digest}",
        f"Parser contract {card.parser_contract} {card.parser_contract_digest}",
        (f"Stream {card.inference.stream}, seed {card.inference.seed}, "
        f"{card.inference.bootstrap} draws, {card.inference.sign_flips} sign rows"),
        ", ".join(f"{name} {number}" for name, number in card.versions.items()),
        "Check a workspace against it: flavourbench verify --expect run-card.json",
    )  # fmt: skip
    headings = ("rank", "group", "route", "score", "95% band", "route digest")
    grids = (
        Grid("", headings, standings, frozenset({0, 1, 3, 4})),
        Grid("Tables", ("table", "rows", "root"), tables, frozenset({1})),
    )
    return markdown_text(View("Run card", grids, notes, {}))
