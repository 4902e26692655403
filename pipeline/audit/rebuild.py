"""Every stage derived again in memory; nothing is asked, paid for or written.

A stage is derived from tables that were themselves derived, so that a forged table is named where
it lies and does not make those behind it look wrong. Answers of endpoints and programs are the one
thing that cannot be derived: their sealed tables stand for themselves.
"""

from __future__ import annotations

import asyncio
import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.evidence import Mark
from pipeline.audit.layout import attempts_place, places
from pipeline.errors import TableError
from pipeline.files import parse_json
from pipeline.identity import digest
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import make_table
from pipeline.workspace import owner_document
from schemas.execution import Attempt, Response
from schemas.routes import ReplayRoute

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.asking.adapter import Adapter, Questions, Request
    from pipeline.asking.routes import BoundRoute
    from pipeline.audit.layout import Place
    from pipeline.stages import Stage
    from pipeline.tables import Table
    from pipeline.workspace import Workspace
    from schemas.taskset import Task

__all__ = ["Derived", "derive_answer", "derive_stage",
           "underivable"]  # fmt: skip


class Derived(NamedTuple):
    """What a stage's inputs lead to.

    Attributes
    ----------
    tables
        The tables that could be derived.
    kept
        What could not, and why, one line each.
    mark
        How the stage stands if the tables are equal: `ok` where nothing was kept.
    sealed
        Tables taken as sealed, less what even so cannot be in them.
    """

    tables: Mapping[Place, Table[Any]]
    kept: tuple[str, ...] = ()
    mark: Mark = Mark.OK
    sealed: Mapping[Place, Table[Any]] = MappingProxyType({})


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
        said = f"{absent} is not here, so the release was not read again"
        return Derived({}, (said,), Mark.UNKNOWN)
    tables = {table.header.table: table for table in stage.build(workspace)}
    here = [place for place in places(workspace.parameters) if place.stage == stage.word]
    return Derived({place: tables[place.name] for place in here})


def missing_source(workspace: Workspace) -> Path | None:
    """The release's source folder where it is not here."""
    folder = workspace.root / workspace.parameters.release.path
    return None if folder.is_dir() else folder


def _execute(workspace: Workspace, stored: Mapping[Place, Table[Any]]) -> Derived:
    """Answers of routes that cost nothing, and the reasons why others stand for themselves."""
    tables: dict[Place, Table[Any]] = {}
    sealed: dict[Place, Table[Any]] = {}
    kept: list[str] = []
    for place in (p for p in places(workspace.parameters) if p.answers):
        why = underivable(workspace, place.name)
        if why:
            kept.append(f"{place.name}: {why}, taken as sealed")
            sealed |= _sealed(workspace, place, stored)
            continue
        table = derive_answers(workspace, place, stored.get(place))
        tried = attempts_place(place.name)
        tables |= {place: table, tried: _attempts(table, place, stored.get(tried))}
        today = len(PORTFOLIO.questions(workspace).asked)
        older = (table.header.rows - today, tables[tried].header.rows)
        if any(older):
            told = f"{older[0]} earlier answers and {older[1]} earlier attempts"
            kept.append(f"{place.name}: {told} taken as sealed")
    return Derived(tables, tuple(kept), Mark.SEALED if kept else Mark.OK, sealed)


def underivable(workspace: Workspace, slug: str) -> str:
    """Why a route's answers cannot be derived again and are taken as sealed; empty if they can."""
    route = workspace.parameters.routes[slug]
    if isinstance(route, ReplayRoute) and not (workspace.root / route.answers).is_file():
        return f"{route.answers} is not here"
    return PORTFOLIO.adapters[type(route)].kept_for


def derive_answers(workspace: Workspace, place: Place, stored: Table[Any] | None) -> Table[Any]:
    """A route's table: the answers of today's tasks derived, those of earlier tasks as sealed."""
    from pipeline.asking.routes import find_route

    questions = PORTFOLIO.questions(workspace)
    bound = find_route(PORTFOLIO, workspace.parameters, place.name)
    answers = _answers(workspace, bound, questions)
    earlier = _earlier(stored, {one.digest for one in questions.asked}, bound.digest)
    about = _documents(stored, bound.document) | {
        "route": bound.document,
        "slug": owner_document(bound.slug),
    }
    return make_table(Response, [*answers, *earlier], {PORTFOLIO.source: questions.root}, about)


def derive_answer(workspace: Workspace, slug: str, task: Task, task_digest: str) -> Response:
    """A route's answer to one of today's tasks, derived again.

    A policy needs that task alone; a replayed file has to fit all tasks.

    Raises
    ------
    FlavourbenchError
        The tasks or the replayed file are missing or damaged.
    """
    from pipeline.asking.adapter import Question, Questions
    from pipeline.asking.routes import find_route

    bound = find_route(PORTFOLIO, workspace.parameters, slug)
    one = Question(task.task_id, task_digest, task.prompt)
    if not isinstance(bound.route, ReplayRoute):
        return _answers(workspace, bound, Questions("", (one,), {task_digest: task}))[0]
    questions = PORTFOLIO.questions(workspace)
    found = zip(questions.asked, _answers(workspace, bound, questions), strict=True)
    return next(answer for question, answer in found if question.digest == task_digest)


def _answers(workspace: Workspace, bound: BoundRoute, questions: Questions) -> list[Response]:
    """A route's answers to questions."""
    from pipeline.asking.adapter import make_requests
    from pipeline.asking.routes import bind_route

    adapter = bind_route(bound, questions, workspace.root)
    return asyncio.run(_ask_all(adapter, make_requests(questions, bound.digest)))


async def _ask_all(adapter: Adapter, requests: list[Request]) -> list[Response]:
    from pipeline.asking.adapter import response_of

    return [response_of(request, await adapter.ask(request)) for request in requests]


def _attempts(answers: Table[Any], place: Place, stored: Table[Any] | None) -> Table[Attempt]:
    """A free route makes no attempts; those of its earlier, paid identities stay as sealed."""
    today = digest("route", json.loads(answers.header.about["route"]))
    sealed = stored.rows() if stored else []
    earlier = [row for row in sealed if row.route_digest != today]
    return make_table(Attempt, earlier, {place.input_name: answers.root})


def _sealed(
    workspace: Workspace, place: Place, stored: Mapping[Place, Table[Any]]
) -> dict[Place, Table[Any]]:
    """A route's tables as sealed: every answer under its own key, made from the tables below."""
    if place not in stored:
        return {}
    questions, answers = PORTFOLIO.questions(workspace), stored[place]
    rows = [row for row in answers.rows() if _under_its_key(row)]
    table = make_table(Response, rows, {PORTFOLIO.source: questions.root}, answers.header.about)
    tried = attempts_place(place.name)
    found: dict[Place, Table[Any]] = {place: table}
    if tried in stored:
        found[tried] = make_table(Attempt, stored[tried].rows(), {place.input_name: table.root})
    return found


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
    return [
        row
        for row in (stored.rows() if stored else [])
        if (row.task_digest not in today or row.route_digest != route_digest)
        and _under_its_key(row)
    ]


def _under_its_key(row: Response) -> bool:
    from pipeline.asking.adapter import request_digest

    return row.request_digest == request_digest(row.task_digest, row.route_digest, row.repeat)
