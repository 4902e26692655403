"""What is behind any hash: a cell's parts lead to the cell, all else to its own steps."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from pipeline.audit.cell import (
    SELECTIONS,
    STANDINGS,
    audit_cell,
    family_means,
    release_step,
    task_steps,
)
from pipeline.audit.chain import about_differences, input_differences
from pipeline.audit.evidence import Audit, AuditStep, Mark, attempt, checked, proof_line
from pipeline.audit.layout import run_digest, stored_headers, table_entries
from pipeline.audit.lookup import claim, find_hash, find_row, read_row, run_proof, values_where
from pipeline.audit.verifier import NotAHashError, NotAProofError, ProofFailedError, check_file
from pipeline.errors import InputError, ProofError, TableError
from pipeline.tables import read_header, read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipeline.audit.layout import Place
    from pipeline.audit.lookup import Claim, Hit
    from pipeline.audit.verifier import Proved
    from pipeline.workspace import Workspace
    from schemas.execution import Response

__all__ = ["audit_hash", "audit_named", "check_proof"]

_CELL_KINDS = ("request", "response", "score", "selection")
_MICRO = 1_000_000
_SHOWN = 160


def audit_named(workspace: Workspace, name: str, route: str, task: str) -> Audit:
    """Audit a hash, or the cell of a route and a task.

    Raises
    ------
    InputError
        Neither or both are given, or there is no such thing.
    TableError
        As `audit_hash` does.
    """
    if name and not route and not task:
        return audit_hash(workspace, name)
    if route and task and not name:
        return audit_cell(workspace, route, task)
    raise InputError(
        "a hash, or a route and a task", "another combination", "audit",
        "`flavourbench audit HASH`, or `flavourbench audit --route SLUG --task ID`.",
    )  # fmt: skip


def check_proof(path: Path, run: str | None) -> Proved:
    """Check a proof by the stand-alone verifier.

    Raises
    ------
    InputError
        The file is no proof, or the run's hash is not whole.
    ProofError
        It is one, and does not hold.
    """
    try:
        return check_file(path, run)
    except NotAHashError as problem:
        raise InputError(
            "a run's whole hash of 64 hexadecimal characters", f"{len(run or '')} characters",
            "--run", str(problem),
        ) from problem  # fmt: skip
    except NotAProofError as problem:
        raise InputError("a proof", str(problem), str(path), "Ask for it again.") from problem
    except ProofFailedError as problem:
        raise ProofError(
            "a proof that holds", str(problem), str(path), "Do not trust it."
        ) from problem


def audit_hash(workspace: Workspace, text: str) -> Audit:
    """Audit what a digest, or its first 8 or more characters, names.

    Raises
    ------
    InputError
        It names nothing or more than one thing.
    TableError
        A table on the way is missing or damaged.
    """
    hit = find_hash(workspace, text)
    if hit.kind in _CELL_KINDS and hit.place is not None and hit.row is not None:
        row = read_row(workspace, hit.place, hit.row)
        slug = hit.place.name if hit.place.answers else row.slug
        if not hit.place.answers or _of_today(workspace, slug, row):
            return audit_cell(workspace, slug, row.task_id)
    entries = table_entries(stored_headers(workspace))
    found = (
        claim(workspace, hit.place, hit.row)
        if hit.place is not None and hit.row is not None
        else None
    )
    steps = _steps(workspace, hit, found)
    subject = f"{hit.kind} {hit.digest}"
    claims = (found,) if found else ()
    return Audit(subject, run_digest(entries), entries, tuple(steps), claims, None)


def _steps(workspace: Workspace, hit: Hit, found: Claim | None) -> list[AuditStep]:
    if found is None:
        plain: dict[str, Callable[[], AuditStep]] = {
            "route": lambda: _route(workspace, hit),
            "table": lambda: _table(workspace, hit),
            "run": lambda: _run(workspace),
        }
        return [attempt(hit.kind, plain[hit.kind])]
    special: dict[str, list[Callable[[], AuditStep]]] = {
        "task": [lambda: _answers(workspace, found)],
        "response": [lambda: _earlier(found)],
        "request": [lambda: _earlier(found)],
        "release": [lambda: release_step(workspace)],
        "ingredient": [lambda: _uses(workspace, found)],
        "taskset": [lambda: _taskset(workspace, found)],
        "standing": [lambda: _standing(workspace, found)],
        "contrast": [lambda: _contrast(workspace, found)],
    }
    steps = task_steps(workspace, found) if hit.kind == "task" else [_fields(found)]
    steps += [attempt(hit.kind, step) for step in special.get(hit.kind, [])]
    return [*steps, attempt("proof", lambda: _proof(workspace, found))]


def _of_today(workspace: Workspace, slug: str, response: Response) -> bool:
    """Whether a response is a cell's of today's tasks and route; sealed tables keep all others."""
    from pipeline.asking.adapter import request_digest

    index = find_row(workspace, SELECTIONS, slug=slug, task_id=response.task_id)
    if index is None:
        return False
    cell = read_row(workspace, SELECTIONS, index)
    return response.request_digest == request_digest(cell.task_digest, cell.route_digest, 0)


def _earlier(found: Claim) -> AuditStep:
    lines = (f"an earlier answer of {found.place.name}, of no cell of this run: taken as sealed",)
    return AuditStep("raw answer", Mark.SEALED, lines)


def _fields(found: Claim) -> AuditStep:
    lines = [f"{name} {_short(value)}" for name, value in found.row.model_dump().items()]
    digest = f"digest {found.digest}, computed again from the fields"
    return checked("row", True, digest, *lines)


def _proof(workspace: Workspace, found: Claim) -> AuditStep:
    run = run_proof(table_entries(stored_headers(workspace)), found.place)
    return checked("proof", True, proof_line(found), f"the table belongs to run {run.run}")


def _answers(workspace: Workspace, found: Claim) -> AuditStep:
    columns = ("slug", "status", "selection", "digest")
    rows = values_where(workspace, SELECTIONS, columns, task_id=found.row.task_id)
    lines = [
        f"{slug}: {status} {selection or ''} {digest[:16]}…"
        for slug, status, selection, digest in rows
    ]
    return checked("answers to it", True, *lines)


def _uses(workspace: Workspace, found: Claim) -> AuditStep:
    from schemas.taskset import Task

    tasks = workspace.read("freeze", Task).rows()
    name = found.row.name
    anchors = [task.task_id for task in tasks if task.anchor == name]
    choices = [task.task_id for task in tasks if name in task.choices]
    return checked(
        "where it is used", True, f"anchor of {len(anchors)} tasks: {_some(anchors)}",
        f"candidate in {len(choices)} tasks: {_some(choices)}",
    )  # fmt: skip


def _taskset(workspace: Workspace, found: Claim) -> AuditStep:
    from pipeline.identity import digest
    from schemas.release import Release
    from schemas.taskset import Task

    tasks, release = workspace.read("freeze", Task), workspace.read("release", Release)
    row = found.row
    parts = {
        "release": (row.release_digest, release.digests[0]),
        "tasks": (list(row.task_digests), tasks.digests),
        "design": (row.design_digest, digest("design", _parsed(row.design))),
        "parser contract": (
            row.parser_contract_digest,
            digest("parser-contract", _parsed(row.parser_contract)),
        ),
    }
    lines = [f"{name} {'equal' if a == b else 'differs'}" for name, (a, b) in parts.items()]
    return checked("task set", all(a == b for a, b in parts.values()), *lines)


def _standing(workspace: Workspace, found: Claim) -> AuditStep:
    row = found.row
    means = family_means(workspace, row.slug)
    if means is None:
        raise TableError("a score on every core task", "fewer", "score/scores", "Run verify.")
    stored = {f.family: (f.tasks, f.score_microbps) for f in row.families}
    derived = {k: (count, round(value * _MICRO)) for k, (count, value) in means.items()}
    mean = sum(value for _, value in means.values()) / len(means)
    holds = stored == derived and round(mean * _MICRO) == row.score_microbps
    return checked(
        "score", holds, *(f"{k}: {n} tasks, {v / 1e8:.4f}" for k, (n, v) in derived.items()),
        f"mean of the family means {float(mean) / 100:.4f}, stored {row.score_microbps / 1e8:.4f}",
        "intervals and tests: `flavourbench verify` draws them again",
    )  # fmt: skip


def _contrast(workspace: Workspace, found: Claim) -> AuditStep:
    from pipeline.audit.cell import CORE, SCORES

    row = found.row
    left, right = (
        dict(values_where(workspace, SCORES, ("task_id", "score_bps"), slug=slug))
        for slug in (row.left, row.right)
    )
    core = [task for (task,) in values_where(workspace, CORE, ("task_id",))]
    gaps = [left[task] - right[task] for task in core]
    counts = tuple(sum(test(gap) for gap in gaps) for test in (_above, _equal, _below))
    means = [family_means(workspace, slug) or {} for slug in (row.left, row.right)]
    parts = [means[0][family][1] - means[1][family][1] for family in means[0]]
    difference = round(sum(parts) / len(parts) * _MICRO)
    holds = (difference, *counts) == (row.difference_microbps, row.wins, row.ties, row.losses)
    return checked(
        "difference", holds, f"{row.left} less {row.right}: {difference / 1e8:.4f}",
        f"wins {counts[0]}, ties {counts[1]}, losses {counts[2]} on {len(core)} tasks",
        "interval and p-values: `flavourbench verify` draws them again",
    )  # fmt: skip


def _route(workspace: Workspace, hit: Hit) -> AuditStep:
    from pipeline.asking.routes import find_route
    from pipeline.portfolio import PORTFOLIO

    place = hit.place
    if place is None:
        raise TableError("a route's table", "none", "execute", "Run `dvc pull`.")
    bound = find_route(PORTFOLIO, workspace.parameters, place.name)
    header = read_header(place.path(workspace))
    lines = [
        f"{place.name}: {header.rows} answers sealed, root {header.root[:16]}…",
        bound.document,
    ]
    index = find_row(workspace, STANDINGS, slug=place.name)
    if index is not None:
        lines.append(f"standing {claim(workspace, STANDINGS, index).digest}")
    return checked("route", bound.digest == hit.digest, *lines)


def _table(workspace: Workspace, hit: Hit) -> AuditStep:
    place: Place | None = hit.place
    if place is None:
        raise TableError("a table", "none", "artifacts", "Run `dvc pull`.")
    table = read_table(place.path(workspace), place.model)
    headers = stored_headers(workspace)
    wrong = [
        *input_differences(workspace.parameters, headers, place),
        *about_differences(workspace.parameters, place, table.header),
    ]
    lines = [
        f"{place.file()}: {table.header.rows} rows, all hashed again",
        *(f"made from {name} {root[:16]}…" for name, root in table.header.inputs.items()),
        *map(str, wrong),
    ]
    proof = run_proof(table_entries(headers), place)
    return checked("table", not wrong, *lines, f"belongs to run {proof.run}")


def _run(workspace: Workspace) -> AuditStep:
    entries = table_entries(stored_headers(workspace))
    lines = [f"{entry.path} {entry.rows} rows {entry.root[:16]}…" for entry in entries]
    return checked("run", True, *lines)


def _parsed(text: str) -> Any:
    from pipeline.files import parse_json

    return parse_json(text.encode("utf-8"), "task set", TableError)


def _short(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _some(names: list[str]) -> str:
    shown = ", ".join(itertools.islice(names, 5))
    return (shown + (" …" if len(names) > 5 else "")) or "none"  # noqa: PLR2004  # a few


def _above(gap: int) -> bool:
    return gap > 0


def _equal(gap: int) -> bool:
    return gap == 0


def _below(gap: int) -> bool:
    return gap < 0
