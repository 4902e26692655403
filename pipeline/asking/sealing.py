"""Between a route's ledger and its sealed tables: rows go in checked, and out whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.errors import ExecuteError
from pipeline.files import parse_json
from pipeline.identity import digest
from pipeline.tables import make_table, read_table, write_table
from pipeline.workspace import Artifact, owner_document
from schemas.execution import Attempt, Response

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.asking.ledger import Ledger
    from pipeline.asking.routes import BoundRoute
    from pipeline.asking.track import Track
    from pipeline.workspace import Workspace

__all__ = ["attempts_path", "hydrate", "seal"]


def attempts_path(track: Track, workspace: Workspace, slug: str) -> Path:
    """Where a route's attempts are sealed, beside its responses."""
    return workspace.artifact(track.place(track.asking), f"attempts/{slug}")


def hydrate(track: Track, ledger: Ledger, workspace: Workspace, slug: str) -> dict[str, str]:
    """Take every sealed row into the ledger, each digest of both checked before any ask.

    Returns
    -------
    dict
        The documents of the routes that gave these responses, as `route/<digest>`.

    Raises
    ------
    TableError
        A sealed table is damaged.
    ExecuteError
        The ledger is damaged, or holds another row under a key.
    """
    documents: dict[str, str] = {}
    responses = {row.request_digest: row for row in ledger.responses()}
    stage = track.place(track.asking)
    path = workspace.artifact(stage, slug)
    if _stands(path):
        table = workspace.read_answers(slug, stage)
        for row in table.rows():
            if responses.get(row.request_digest) != row:
                ledger.add(row)
        for text in (t for name, t in table.header.about.items() if name.startswith("route")):
            document = parse_json(text.encode(), str(path), ExecuteError)
            documents[f"route/{digest('route', document)}"] = text
    attempts = {Attempt.key_of(row): row for row in ledger.attempts()}
    path = attempts_path(track, workspace, slug)
    if _stands(path):
        for attempt in read_table(path, Attempt).rows():
            if attempts.get(Attempt.key_of(attempt)) != attempt:
                ledger.add(attempt)
    return documents


def seal(
    track: Track,
    workspace: Workspace,
    bound: BoundRoute,
    *,
    ledger: Ledger,
    documents: Mapping[str, str],
    source_root: str,
) -> tuple[Artifact, ...]:
    """Write the ledger into the route's two tables.

    Raises
    ------
    ExecuteError
        The ledger is damaged.
    TableError
        The disk refuses; an older table survives.
    """
    older = {name: text for name, text in documents.items() if text != bound.document}
    about = older | {"route": bound.document, "slug": owner_document(bound.slug)}
    responses = make_table(Response, ledger.responses(), {track.source: source_root}, about)
    inputs = {f"responses/{bound.slug}": responses.root}
    attempts = make_table(Attempt, ledger.attempts(), inputs)
    answered, tried = (
        workspace.artifact(track.place(track.asking), bound.slug),
        attempts_path(track, workspace, bound.slug),
    )
    write_table(answered, responses)
    write_table(tried, attempts)
    return tuple(
        Artifact(path.relative_to(workspace.root).as_posix(), header.rows, header.root)
        for path, header in ((answered, responses.header), (tried, attempts.header))
    )


def _stands(path: Path) -> bool:
    return path.exists() or path.is_symlink()
