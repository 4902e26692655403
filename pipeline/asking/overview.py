"""Routes as they stand: digest, cells stored, sealed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.asking.routes import find_route
from pipeline.asking.sealing import attempts_path
from pipeline.asking.store import PeekedAttempt, peek_attempts, peek_keys
from pipeline.showing.view import Grid, View
from pipeline.tables import read_table
from schemas.execution import Attempt, Response

if TYPE_CHECKING:
    from pipeline.asking.routes import BoundRoute
    from pipeline.asking.track import Track
    from pipeline.workspace import Workspace

__all__ = ["routes_view", "stored_attempts", "stored_keys"]

_SHOWN = 12


class StoredKeys(NamedTuple):
    """Request keys (hex) of a route that have a response: in its ledger, in its sealed table."""

    ledger: set[str]
    sealed: set[str]

    @property
    def all(self) -> set[str]:
        """Both together."""
        return self.ledger | self.sealed

    def state(self, total: int) -> str:
        """In words, for a number of tasks."""
        if not total:
            return "no tasks yet"
        if not self.all:
            return "not asked"
        if len(self.all) < total:
            return "begun"
        return "sealed" if len(self.sealed) >= total else "complete, not sealed"


def stored_keys(track: Track, workspace: Workspace, bound: BoundRoute) -> StoredKeys:
    """What is stored of a route; opens nothing for writing and waits for nobody.

    Raises
    ------
    TableError
        Its table is damaged.
    ExecuteError
        Its ledger is damaged.
    """
    path = workspace.artifact(track.place(track.asking), bound.slug)
    sealed: set[str] = set()
    if path.exists():
        data = read_table(path, Response).data
        keys = data.column("request_digest").to_pylist()
        routes = data.column("route_digest").to_pylist()
        sealed = {key for key, route in zip(keys, routes, strict=True) if route == bound.digest}
    return StoredKeys(peek_keys(workspace.ledger(bound.slug, track.folder), bound.digest), sealed)


def stored_attempts(track: Track, workspace: Workspace, bound: BoundRoute) -> list[PeekedAttempt]:
    """Attempts of a route, in its ledger or its sealed table. Raises as `stored_keys` does."""
    found: list[PeekedAttempt] = []
    path = attempts_path(track, workspace, bound.slug)
    if path.exists():
        data = read_table(path, Attempt).data
        columns = [data.column(name).to_pylist() for name in PeekedAttempt._fields]
        routes = data.column("route_digest").to_pylist()
        rows = zip(routes, zip(*columns, strict=True), strict=True)
        found += [PeekedAttempt(*values) for route, values in rows if route == bound.digest]
    found += peek_attempts(workspace.ledger(bound.slug, track.folder), bound.digest)
    return [*{(tried.request_digest, tried.number): tried for tried in found}.values()]


class _Line(NamedTuple):
    """What is shown of a route."""

    slug: str
    adapter: str
    asks: str
    digest: str
    stored: int
    tasks: int
    state: str


def routes_view(track: Track, workspace: Workspace) -> View:
    """All routes with digest and state.

    Raises
    ------
    TableError
        A table is damaged.
    ExecuteError
        A ledger is damaged.
    """
    made = workspace.artifact(track.folder + track.source_stage, track.source).exists()
    total = len(track.questions(workspace).asked) if made else 0
    documents = [
        _document(track, workspace, slug, total) for slug in track.all_routes(workspace.parameters)
    ]
    rows = tuple(
        (d.slug, d.adapter, d.asks, d.digest[:_SHOWN], f"{d.stored}/{total}", d.state)
        for d in documents
    )
    headings = ("route", "adapter", "asks", "digest", "stored", "state")
    grid = Grid("", headings, rows, frozenset({4}))
    note = "" if total else "No tasks are frozen yet: run `flavourbench release` and `freeze`."
    return View(
        "Routes", (grid,), (note,) if note else (), {"routes": [d._asdict() for d in documents]}
    )


def _document(track: Track, workspace: Workspace, slug: str, total: int) -> _Line:
    bound = find_route(track, workspace.parameters, slug, aside=True)
    keys = stored_keys(track, workspace, bound)
    return _Line(
        slug,
        bound.route.adapter,
        bound.route.asks,
        bound.digest,
        len(keys.all),
        total,
        keys.state(total) if bound.route.enabled else "set aside",
    )
