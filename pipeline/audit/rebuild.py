"""Every stage derived again in memory; nothing is asked, paid for or written.

A stage is derived from tables that were themselves derived, so that a forged table is named where
it lies and does not make those behind it look wrong. Answers of routes that cost money are the one
thing that cannot be derived: their sealed tables stand for themselves.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.layout import attempts_place, places
from pipeline.errors import TableError
from pipeline.files import parse_json
from pipeline.identity import digest
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import make_table
from pipeline.workspace import owner_document
from schemas.execution import Attempt, Response
from schemas.parameters import PolicyRoute, ReplayRoute

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.asking.adapter import Adapter, Request
    from pipeline.audit.layout import Place
    from pipeline.stages import Stage
    from pipeline.tables import Table
    from pipeline.workspace import Workspace

__all__ = ["Derived", "derive_answers", "derive_stage", "missing_source"]


class Derived(NamedTuple):
    """What a stage's inputs lead to.

    Attributes
    ----------
    tables
        The tables that could be derived.
    kept
        Why others could not, one line each.
    """

    tables: Mapping[Place, Table[Any]]
    kept: tuple[str, ...]


def derive_stage(workspace: Workspace, stage: Stage, stored: Mapping[Place, Table[Any]]) -> Derived:
    """Derive one stage's tables from what the workspace holds.

    Parameters
    ----------
    workspace
        Holds in memory the tables of earlier stages.
    stage
        One that writes tables.
    stored
        Tables as their files state them; a route's earlier answers are taken from there.

    Raises
    ------
    FlavourbenchError
        An input is missing or does not fit.
    """
    if stage.asks:
        return _execute(workspace, stored)
    absent = missing_source(workspace) if stage.word == "release" else None
    if absent:
        return Derived({}, (f"{absent} is not here, so the release was not read again",))
    tables = {table.header.table: table for table in stage.build(workspace)}
    here = [place for place in places(workspace.parameters) if place.stage == stage.word]
    return Derived({place: tables[place.name] for place in here}, ())


def missing_source(workspace: Workspace) -> Path | None:
    """The release's source folder where it is not here."""
    folder = workspace.root / workspace.parameters.release.path
    return None if folder.is_dir() else folder


def _execute(workspace: Workspace, stored: Mapping[Place, Table[Any]]) -> Derived:
    """Answers of routes that cost nothing, and the reasons why others stand for themselves."""
    tables: dict[Place, Table[Any]] = {}
    kept: list[str] = []
    for place in (p for p in places(workspace.parameters) if p.answers):
        route = workspace.parameters.routes[place.name]
        if isinstance(route, ReplayRoute) and not (workspace.root / route.answers).is_file():
            kept.append(f"{place.name}: {route.answers} is not here, sealed answers were taken")
        elif isinstance(route, PolicyRoute | ReplayRoute):
            tables[place] = derive_answers(workspace, place, stored.get(place))
            tried = attempts_place(place.name)
            tables[tried] = _attempts(tables[place], place, stored.get(tried))
        else:
            kept.append(f"{place.name}: answers cost money, sealed ones were taken as they are")
    return Derived(tables, tuple(kept))


def derive_answers(workspace: Workspace, place: Place, stored: Table[Any] | None) -> Table[Any]:
    """A route's table: the answers of today's tasks derived, those of earlier tasks as sealed."""
    from pipeline.asking.adapter import make_requests
    from pipeline.asking.routes import bind_route, find_route

    questions = PORTFOLIO.questions(workspace)
    bound = find_route(PORTFOLIO, workspace.parameters, place.name)
    adapter = bind_route(bound, questions, workspace.root)
    requests = make_requests(questions, bound.digest)
    answers = asyncio.run(_ask_all(adapter, requests))
    earlier = _earlier(stored, {one.digest for one in questions.asked}, bound.digest)
    about = _documents(stored, bound.document) | {
        "route": bound.document,
        "slug": owner_document(bound.slug),
    }
    return make_table(Response, [*answers, *earlier], {PORTFOLIO.source: questions.root}, about)


async def _ask_all(adapter: Adapter, requests: list[Request]) -> list[Response]:
    from pipeline.asking.adapter import response_of

    return [response_of(request, await adapter.ask(request)) for request in requests]


def _attempts(answers: Table[Any], place: Place, stored: Table[Any] | None) -> Table[Attempt]:
    """A free route makes no attempts; those of its earlier, paid identities stay as sealed."""
    today = digest("route", json.loads(answers.header.about["route"]))
    sealed = stored.rows() if stored else []
    earlier = [row for row in sealed if row.route_digest != today]
    return make_table(Attempt, earlier, {place.input_name: answers.root})


def _documents(stored: Table[Any] | None, today: str) -> dict[str, str]:
    """Documents of the route's earlier identities, each under its own digest."""
    found = {}
    for name, text in (stored.header.about if stored else {}).items():
        if not name.startswith("route/"):
            continue
        document = parse_json(text.encode("utf-8"), f"execute, about {name}", TableError)
        if name == f"route/{digest('route', document)}" and text != today:
            found[name] = text
    return found


def _earlier(stored: Table[Any] | None, today: set[str], route_digest: str) -> list[Response]:
    """Sealed answers that belong to no task of today or to an earlier identity of the route.

    They are taken only where their request key is that of their task and route: a row that was
    put there by hand is no earlier answer.
    """
    from pipeline.asking.adapter import request_digest

    return [
        row
        for row in (stored.rows() if stored else [])
        if (row.task_digest not in today or row.route_digest != route_digest)
        and row.request_digest == request_digest(row.task_digest, row.route_digest, row.repeat)
    ]
