"""The way of one cell, from the release to its standing, each step derived again."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from pipeline.audit.chain import about_differences
from pipeline.audit.evidence import Audit, AuditStep, Mark, attempt, checked, proof_line
from pipeline.audit.layout import Place, run_digest, stored_headers, table_entries
from pipeline.audit.lookup import claim, find_row, run_proof, values_where
from pipeline.errors import InputError
from schemas.execution import Outcome, Response
from schemas.parameters import FreezeParameters
from schemas.release import Direction, Ingredient, Release
from schemas.results import CellStatus, CoreTask, Score, Selection, Standing
from schemas.taskset import CONTRACTS, PORTFOLIOS, Task, score_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipeline.audit.layout import TableEntry
    from pipeline.audit.lookup import Claim
    from pipeline.workspace import Workspace

__all__ = ["SELECTIONS", "STANDINGS", "audit_cell", "family_means", "release_step", "task_steps"]

TASKS = Place("freeze", "tasks", Task)
SELECTIONS = Place("parse", "selections", Selection)
SCORES = Place("score", "scores", Score)
CORE = Place("score", "core", CoreTask)
STANDINGS = Place("statistics", "leaderboard", Standing)

_MICRO = 1_000_000
_SHOWN = 300


class _AuditedCell(NamedTuple):
    """A cell's rows; none where there is no such row or its table is not here."""

    workspace: Workspace
    entries: tuple[TableEntry, ...]
    slug: str
    task: Claim
    selection: Claim
    response: Claim | None
    score: Claim | None
    core: Claim | None
    standing: Claim | None


def audit_cell(workspace: Workspace, slug: str, task_id: str) -> Audit:
    """Derive a cell again, step by step.

    Raises
    ------
    InputError
        There is no such route, task or cell.
    TableError
        Tasks or selections are missing or damaged.
    """
    cell = _find(workspace, slug, task_id)
    titles: list[tuple[str, Callable[[], AuditStep]]] = [
        ("request and route", lambda: _request(cell)),
        ("raw answer", lambda: _raw(cell)),
        ("answer text and selection", lambda: _selection(cell)),
        ("score", lambda: _score(cell)),
        ("common core", lambda: _core(cell)),
        ("share of the score", lambda: _share(cell)),
        ("standing", lambda: _standing(cell)),
        ("proofs", lambda: _proofs(cell)),
    ]
    steps = task_steps(workspace, cell.task)
    steps += [attempt(title, step) for title, step in titles]
    return Audit(
        f"cell of {slug} and {task_id}",
        run_digest(cell.entries),
        cell.entries,
        tuple(steps),
        _claims(cell),
        cell.response.row.raw if cell.response else None,
    )


def task_steps(workspace: Workspace, task: Claim) -> list[AuditStep]:
    """Release, task and prompt of a task."""
    return [
        attempt("release", lambda: release_step(workspace)),
        attempt("task", lambda: _task(workspace, task)),
        attempt("prompt", lambda: _prompt(workspace, task.row)),
    ]


def release_step(workspace: Workspace) -> AuditStep:
    """The release's digest and its tables, every row hashed again."""
    from pipeline.workspace import release_name

    release = workspace.read("release", Release)
    ingredients = workspace.read("release", Ingredient)
    directions = workspace.read("release", Direction)
    row = release.rows()[0]
    holds = (row.ingredients_root, row.directions_root) == (ingredients.root, directions.root)
    return checked(
        "release", holds, f"{release_name(workspace.parameters.release)} {release.digests[0]}",
        f"{row.ingredients} ingredients, root {ingredients.root[:16]}…, all hashed again",
    )  # fmt: skip


def _find(workspace: Workspace, slug: str, task_id: str) -> _AuditedCell:
    from pipeline.asking.adapter import request_digest

    if slug not in workspace.parameters.routes:
        known = ", ".join(workspace.parameters.routes)
        raise InputError(f"one of {known}", repr(slug), "route", "Routes stand in params.yaml.")
    task = _required(workspace, TASKS, "a task of this run", task_id=task_id)
    selection = _required(workspace, SELECTIONS, "a cell of this run", slug=slug, task_id=task_id)
    answers = Place("execute", slug, Response)
    key = request_digest(selection.row.task_digest, selection.row.route_digest, 0)
    return _AuditedCell(
        workspace,
        table_entries(stored_headers(workspace)),
        slug,
        task,
        selection,
        _optional(workspace, answers, request_digest=key),
        _optional(workspace, SCORES, slug=slug, task_id=task_id),
        _optional(workspace, CORE, task_id=task_id),
        _optional(workspace, STANDINGS, slug=slug),
    )


def _required(workspace: Workspace, place: Place, expected: str, **wanted: str) -> Claim:
    index = find_row(workspace, place, **wanted)
    if index is None:
        said = ", ".join(wanted.values())
        raise InputError(expected, said, place.word, "Check the names; `dvc repro` if it is new.")
    return claim(workspace, place, index)


def _optional(workspace: Workspace, place: Place, **wanted: str) -> Claim | None:
    """A claim, or none where the row or the file is not there; steps say which."""
    if not place.path(workspace).exists():
        return None
    index = find_row(workspace, place, **wanted)
    return None if index is None else claim(workspace, place, index)


def _task(workspace: Workspace, task: Claim) -> AuditStep:
    row = task.row
    about = f"{row.family}{f', {row.variant}' if row.variant else ''}, anchor {row.anchor}"
    names = ", ".join(
        f"{label} {name}" for label, name in zip("ABCDEFGH", row.choices, strict=True)
    )
    said = [f"{row.task_id} {task.digest}", about, names]
    parameters = workspace.parameters.freeze
    if not isinstance(parameters, FreezeParameters):
        from pipeline.freeze.maps import summary

        found = summary(row.scores_bps)
        holds = found == (row.optimum, row.chance_bps, row.margin_bps)
        return checked("task", holds, *said, "published map; its optimum, chance and margin hold")
    from pipeline.audit.maps import derive_map

    ingredients = workspace.read("release", Ingredient).rows()
    directions = workspace.read("release", Direction).rows()
    derived = derive_map(ingredients, directions, parameters.excluded_anchors, row)
    wrong = [
        f"{name} is {ours / 100:.2f}, stored {theirs / 100:.2f}"
        for name, ours, theirs in zip(PORTFOLIOS, derived.scores_bps, row.scores_bps, strict=True)
        if ours != theirs
    ]
    told = wrong[:5] or [
        "the rule takes these eight for the anchor; all 56 scores computed again are equal",
        f"optimum {row.optimum}, chance {row.chance_bps} bps, margin {row.margin_bps} bps",
    ]
    return checked("task", not wrong, *said, *told)


def _prompt(workspace: Workspace, task: Task) -> AuditStep:
    if not isinstance(workspace.parameters.freeze, FreezeParameters):
        return AuditStep("prompt", Mark.UNKNOWN, ("taken as it was published",))
    from pipeline.audit.maps import derive_prompt

    holds = derive_prompt(task) == task.prompt
    said = f"{len(task.prompt)} characters, equal to the template filled again"
    return checked("prompt", holds, said if holds else "the template gives another text")


def _request(cell: _AuditedCell) -> AuditStep:
    from pipeline.asking.adapter import request_digest
    from pipeline.asking.routes import find_route
    from pipeline.portfolio import PORTFOLIO

    row = cell.selection.row
    bound = find_route(PORTFOLIO, cell.workspace.parameters, cell.slug)
    key = request_digest(cell.task.digest, bound.digest, 0)
    holds = bound.digest == row.route_digest and row.task_digest == cell.task.digest
    wrong: list[str] = []
    if cell.response is not None:
        place, header, answered = cell.response.place, cell.response.header, cell.response.row
        wrong = [str(d) for d in about_differences(cell.workspace.parameters, place, header)]
        stated = (answered.task_id, answered.task_digest, answered.route_digest, answered.repeat)
        if stated != (row.task_id, cell.task.digest, bound.digest, 0):
            wrong.append("the response under this key is of another task or route")
    return checked(
        "request and route", holds and not wrong, f"route {bound.digest}",
        f"  {bound.document[:_SHOWN]}", f"request {key} from task, route and repeat 0", *wrong,
    )  # fmt: skip


def _raw(cell: _AuditedCell) -> AuditStep:
    from pipeline.audit.answers import answer_step

    place = Place("execute", cell.slug, Response)
    if cell.response is None and not place.path(cell.workspace).exists():
        return _gone("raw answer", cell.workspace, place)
    return answer_step(cell.workspace, cell.task, cell.selection.row, cell.response)


def _selection(cell: _AuditedCell) -> AuditStep:
    from pipeline.answer import answer_text
    from pipeline.parse.reader import Reading, read_selection

    row = cell.selection.row
    title = "answer text and selection"
    parameters = cell.workspace.parameters
    contract = CONTRACTS[parameters.parse.contract]
    if cell.response is None and row.response_digest is not None:
        return _gone(title, cell.workspace, Place("execute", cell.slug, Response))
    reading = other = Reading(None, None)
    status = CellStatus.FAILED if cell.response else CellStatus.MISSING
    if cell.response is not None and cell.response.row.outcome is Outcome.OK:
        rule = parameters.routes[cell.slug].read_by
        text = answer_text(cell.response.row.raw, cell.response.row.form, rule)
        reading = read_selection(text, cell.task.row.choices, contract)
        alternative = CONTRACTS[parameters.parse.alternative]
        other = read_selection(text, cell.task.row.choices, alternative)
        status = CellStatus.PARSED if reading.selection else CellStatus.UNPARSEABLE
    outcome = cell.response.row.outcome.value if cell.response else None
    derived = (status, outcome, reading.reason, reading.selection, other.selection)
    stored = (row.status, row.outcome, row.reason, row.selection, row.alternative_selection)
    said = f"{row.status}: " + (row.selection or row.reason or row.outcome or "no answer")
    told = f"{contract.name} reads {reading.selection or reading.reason or 'nothing'}"
    return checked(
        title, derived == stored, f"selection {cell.selection.digest}", said, told,
        *([] if derived == stored else [f"stored {stored}, derived {derived}"]),
    )  # fmt: skip


def _score(cell: _AuditedCell) -> AuditStep:
    choice = cell.selection.row.selection
    if choice is None:
        holds = cell.score is None
        return checked("score", holds, "no selection, so no score: neither zero nor dropped alone")
    if cell.score is None:
        return _gone("score", cell.workspace, SCORES)
    derived = score_of(cell.task.row, choice)
    row = cell.score.row
    holds = (derived, cell.selection.digest, cell.task.digest) == (
        row.score_bps, row.selection_digest, row.task_digest
    )  # fmt: skip
    said = f"the map's score of {choice} is {derived / 100:.2f}, stored {row.score_bps / 100:.2f}"
    return checked("score", holds, f"score {cell.score.digest}", said)


def _core(cell: _AuditedCell) -> AuditStep:
    workspace, task = cell.workspace, cell.task.row
    if not CORE.path(workspace).exists():
        return _gone("common core", workspace, CORE)
    if cell.core is not None:
        holds = cell.core.row.task_digest == cell.task.digest
        said = f"in the core: place {cell.core.row.position} of {task.panel}, {task.family}"
        return checked("common core", holds, said)
    if task.family not in workspace.parameters.score.families:
        return checked("common core", True, f"outside: {task.family} is supplemental, not ranked")
    statuses = dict(values_where(workspace, SELECTIONS, ("slug", "status"), task_id=task.task_id))
    ranked = [slug for slug, route in workspace.parameters.routes.items() if route.ranked]
    lacking = [f"{slug} {statuses.get(slug)}" for slug in ranked if statuses.get(slug) != "parsed"]
    if lacking:
        told = f"no valid answer of every ranked route: {', '.join(lacking)}"
    else:
        told = "every ranked route answered; its place in the hash order is behind the last taken"
    return checked("common core", True, f"outside: {told}")


def _share(cell: _AuditedCell) -> AuditStep:
    workspace, title = cell.workspace, "share of the score"
    if not CORE.path(workspace).exists() or not SCORES.path(workspace).exists():
        return _gone(title, workspace, CORE)
    means = family_means(workspace, cell.slug)
    if means is None:
        return checked(title, True, "this route has no score on every task of the core")
    mean = sum((value for _, value in means.values()), Fraction()) / len(means)
    lines = [
        f"{family}: mean of {count} tasks {float(value) / 100:.4f}"
        for family, (count, value) in means.items()
    ]
    if cell.core is not None and cell.score is not None:
        count = means[cell.task.row.family][0]
        part = Fraction(cell.score.row.score_bps, count * len(means))
        lines.append(
            f"this cell adds {float(part) / 100:.4f}: {cell.score.row.score_bps / 100:.2f} / "
            f"{count} tasks / {len(means)} families"
        )
    else:
        lines.append("this cell adds nothing: it is not in the core")
    holds = True
    if cell.standing is not None:
        row = cell.standing.row
        stored = {f.family: (f.tasks, f.score_microbps) for f in row.families}
        derived = {k: (count, round(value * _MICRO)) for k, (count, value) in means.items()}
        holds = stored == derived and round(mean * _MICRO) == row.score_microbps
    lines.append(f"score {float(mean) / 100:.4f}, mean of the family means")
    return checked(title, holds, *lines)


def family_means(workspace: Workspace, slug: str) -> dict[str, tuple[int, Fraction]] | None:
    """Number of core tasks and mean score of each family; none where a task has no score."""
    scores = dict(values_where(workspace, SCORES, ("task_id", "score_bps"), slug=slug))
    found: dict[str, list[int]] = {}
    for family, task_id in values_where(workspace, CORE, ("family", "task_id")):
        if task_id not in scores:
            return None
        found.setdefault(family, []).append(scores[task_id])
    return {
        family: (len(values), Fraction(sum(values), len(values)))
        for family, values in sorted(found.items())
    }


def _standing(cell: _AuditedCell) -> AuditStep:
    route = cell.workspace.parameters.routes[cell.slug]
    if cell.standing is None:
        if route.ranked or not STANDINGS.path(cell.workspace).exists():
            return _gone("standing", cell.workspace, STANDINGS)
        return checked("standing", True, "an unranked reference: no standing")
    row = cell.standing.row
    others = list(values_where(cell.workspace, STANDINGS, ("score_microbps", "rank")))
    above = sum(other > row.score_microbps for other, _ in others)
    ties = sum(other == row.score_microbps for other, _ in others)
    shared = "=" if sum(rank == row.rank for _, rank in others) > 1 else ""
    holds = above < row.rank <= above + ties and row.route_digest == cell.selection.row.route_digest
    holds &= route.ranked and row.label == route.label
    band = f"{row.band_low_microbps / 1e8:.1f} - {row.band_high_microbps / 1e8:.1f}"
    return checked(
        "standing", holds, f"standing {cell.standing.digest}",
        f"{row.label}: rank {row.rank}{shared} of {len(others)}, group {row.group}, "
        f"score {row.score_microbps / 1e8:.1f}, 95% band {band}",
        "band and group: `flavourbench verify` draws them again",
    )  # fmt: skip


def _claims(cell: _AuditedCell) -> tuple[Claim, ...]:
    rows = (cell.task, cell.response, cell.selection, cell.score, cell.core, cell.standing)
    return tuple(row for row in rows if row is not None)


def _proofs(cell: _AuditedCell) -> AuditStep:
    claims = _claims(cell)
    tables = {found.place: run_proof(cell.entries, found.place) for found in claims}
    run = next(iter(tables.values())).run
    lines = [proof_line(found) for found in claims]
    return checked("proofs", True, *lines, f"{len(tables)} tables belong to run {run}")


def _gone(title: str, workspace: Workspace, place: Place) -> AuditStep:
    if place.path(workspace).exists():
        return checked(title, False, f"{place.file()} has no such row")
    lines = (f"{place.file()} is not here", "`dvc pull` fetches it, `dvc repro` makes it")
    return AuditStep(title, Mark.UNKNOWN, lines)
