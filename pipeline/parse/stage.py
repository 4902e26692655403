"""The parse stage: every cell of every route, read under the contract in force and one more."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.answer import answer_text, find_answer_rule
from pipeline.errors import TableError
from pipeline.files import parse_json
from pipeline.identity import digest
from pipeline.parse.reader import read_selection
from pipeline.tables import make_table
from pipeline.workspace import StageSummary
from schemas.execution import Attempt, Outcome, Response
from schemas.results import Answer, CellStatus, Selection, Usage
from schemas.taskset import CONTRACTS, Task

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.answer import AnswerRule
    from pipeline.tables import Table
    from pipeline.workspace import Workspace
    from schemas.taskset import ParserContract

__all__ = ["build", "run"]


class _Cell(NamedTuple):
    """A stored response with its digest (hex)."""

    digest: str
    response: Response


class _Sealed(NamedTuple):
    """A route's sealed answers: its digest, its answer rule, and its cells by task digest."""

    route_digest: str
    rule: AnswerRule
    cells: dict[str, _Cell]
    root: str


def run(workspace: Workspace) -> StageSummary:
    """Read every answer of every route.

    Raises
    ------
    TableError
        A route's table is missing or damaged, or a table lies there without a route.
    """
    tables = build(workspace)
    selections = tables[0]
    counts = Counter(selections.data.column("status").to_pylist())
    said = ", ".join(f"{counts[status]} {status}" for status in CellStatus if counts[status])
    headline = f"{selections.header.rows} cells: {said}"
    written = workspace.write("parse", *tables)
    return StageSummary("parse", headline, written)


def build(workspace: Workspace) -> tuple[Table[Any], ...]:
    """The stage's tables, in memory: selections, answers, usage. Raises as `run` does."""
    parameters = workspace.parameters
    tasks = workspace.read("freeze", Task)
    contracts = (CONTRACTS[parameters.parse.contract], CONTRACTS[parameters.parse.alternative])
    _refuse_orphans(workspace)
    rows: list[Selection] = []
    answers: dict[str, Answer] = {}
    usage: list[Usage] = []
    inputs, attempted = {"tasks": tasks.root}, {"tasks": tasks.root}
    for slug in parameters.routes:
        sealed = _sealed(workspace, slug)
        inputs[f"responses/{slug}"] = sealed.root
        read = _read_route(slug, sealed, tasks, contracts)
        shown = {row.response_digest for row in read}
        cells = sealed.cells.values()
        answers |= {cell.digest: _answer(cell) for cell in cells if cell.digest in shown}
        rows += read
        attempts = workspace.read_named("execute", f"attempts/{slug}", Attempt)
        attempted[f"attempts/{slug}"] = attempts.root
        usage.append(_usage(slug, sealed.route_digest, attempts.rows()))
    return (
        make_table(Selection, rows, inputs),
        make_table(Answer, answers.values(), inputs),
        make_table(Usage, usage, attempted),
    )


def _usage(slug: str, route_digest: str, attempts: Iterable[Attempt]) -> Usage:
    """Sums over the attempts of a route as it is now; those of earlier identities do not count."""
    own = [attempt for attempt in attempts if attempt.route_digest == route_digest]
    return Usage(
        slug=slug,
        route_digest=route_digest,
        attempts=len(own),
        prompt_tokens=sum(attempt.prompt_tokens or 0 for attempt in own),
        completion_tokens=sum(attempt.completion_tokens or 0 for attempt in own),
        cost_micros=sum(attempt.cost_micros or 0 for attempt in own),
        unknown_cost=sum(attempt.cost_micros is None for attempt in own),
    )


def _answer(cell: _Cell) -> Answer:
    """The text of an answer with its reasoning; where there is none, the bytes as they came."""
    text = answer_text(cell.response.raw, cell.response.form, "verbatim")
    if text is None:
        text = cell.response.raw.decode("utf-8", "backslashreplace")
    return Answer(response_digest=cell.digest, text=text)


def _refuse_orphans(workspace: Workspace) -> None:
    """Refuse tables of routes that are gone; `attempts/` holds one a route, too."""
    folder = workspace.artifact("execute", "any").parent
    routes = workspace.parameters.all_routes  # those that are set aside keep their tables
    orphans = sorted(path for path in folder.rglob("*.parquet") if path.stem not in routes)
    if orphans:
        raise TableError(
            "a route in params.yaml for every table",
            f"none for {orphans[0].stem}",
            orphans[0].relative_to(workspace.root).as_posix(),
            "Restore the route; `enabled: false` sets it aside. To do without its answers, move "
            "the file out of artifacts/ and keep it, since nothing else may hold them.",
        )


def _sealed(workspace: Workspace, slug: str) -> _Sealed:
    table = workspace.read_answers(slug)
    where = str(workspace.artifact("execute", slug))
    document = parse_json(table.header.about.get("route", "{}").encode(), where, TableError)
    route_digest = digest("route", document)
    stated = str(document.get("answer_rule")) if isinstance(document, dict) else ""
    rule = find_answer_rule(stated)
    if rule is None:
        raise TableError(
            "a route with a known answer rule",
            "another",
            where,
            "Run the route again.",
        )
    cells = {
        response.task_digest: _Cell(row, response)
        for row, response in zip(table.digests, table.rows(), strict=True)
        if response.route_digest == route_digest and response.repeat == 0
    }
    return _Sealed(route_digest, rule, cells, table.root)


def _read_route(
    slug: str,
    sealed: _Sealed,
    tasks: Table[Task],
    contracts: tuple[ParserContract, ParserContract],
) -> list[Selection]:
    """One selection row a task, in task order."""
    return [
        _read_cell(slug, sealed, task_digest, task, contracts)
        for task_digest, task in zip(tasks.digests, tasks.rows(), strict=True)
    ]


def _read_cell(
    slug: str,
    sealed: _Sealed,
    task_digest: str,
    task: Task,
    contracts: tuple[ParserContract, ParserContract],
) -> Selection:
    cell = sealed.cells.get(task_digest)
    status, reading, alternative = CellStatus.MISSING, None, None
    if cell is not None:
        status = CellStatus.FAILED
        if cell.response.outcome is Outcome.OK:
            text = answer_text(cell.response.raw, cell.response.form, sealed.rule)
            reading, alternative = (
                read_selection(text, task.choices, contract) for contract in contracts
            )
            status = CellStatus.PARSED if reading.selection else CellStatus.UNPARSEABLE
    return Selection(
        slug=slug,
        task_id=task.task_id,
        task_digest=task_digest,
        route_digest=sealed.route_digest,
        response_digest=cell.digest if cell else None,
        status=status,
        outcome=cell.response.outcome.value if cell else None,
        reason=reading.reason if reading else None,
        selection=reading.selection if reading else None,
        alternative_selection=alternative.selection if alternative else None,
    )
