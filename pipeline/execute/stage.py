"""The execute stage: a route's ledger is filled from its table, completed, and sealed into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.errors import ExecuteError
from pipeline.execute.ledger import open_ledger
from pipeline.execute.routes import bind_route, find_route
from pipeline.execute.runner import make_requests, run_requests
from pipeline.files import parse_json, read_bytes
from pipeline.identity import digest
from pipeline.progress import silent
from pipeline.tables import make_table, read_table, write_table
from pipeline.workspace import Artifact, StageSummary
from schemas.execution import Response
from schemas.taskset import Task

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.execute.ledger import Ledger
    from pipeline.progress import Progress
    from pipeline.workspace import Workspace

__all__ = ["run"]

_LOCK_LIMIT = 2**28


def run(workspace: Workspace, slug: str, progress: Progress = silent) -> StageSummary:
    """Ask one route every task that it has not answered, and seal what it ever answered.

    Raises
    ------
    UsageError
        There is no such route.
    ExecuteError
        The ledger or a replay file is unusable, another process holds the route, or answers that
        cost money are on record but not at hand.
    StoppedError
        A signal came between cells; nothing stored is lost.
    """
    bound = find_route(workspace.parameters.routes, slug)
    tasks = workspace.read("freeze", Task)
    rows, digests = tasks.rows(), tasks.digests
    adapter = bind_route(bound, dict(zip(digests, rows, strict=True)), workspace.root)
    sealed = workspace.artifact("execute", slug)
    with open_ledger(workspace.ledger(slug)) as ledger:
        if adapter.costs_money and not ledger.keys():
            _refuse_to_pay_twice(workspace, slug, sealed)
        documents = _hydrate(ledger, sealed)
        requests = make_requests(rows, digests, bound.digest)
        count = run_requests(requests, adapter, ledger, progress=progress)
        documents = {k: v for k, v in documents.items() if v != bound.document}
        about = documents | {"route": bound.document}
        table = make_table(Response, ledger.responses(), {"tasks": tasks.root}, about)
        write_table(sealed, table)
    artifact = Artifact(
        sealed.relative_to(workspace.root).as_posix(), table.header.rows, table.root
    )
    headline = (
        f"{slug}: {count.present} of {len(requests)} present, {count.asked} asked now, "
        f"{table.header.rows} stored in all"
    )
    return StageSummary("execute", headline, (artifact,))


def _hydrate(ledger: Ledger, sealed: Path) -> dict[str, str]:
    """Take every sealed response into the ledger, each digest of both checked before any ask.

    Returns the documents of the routes that gave these responses, as `route/<digest>`.
    """
    stored = {response.request_digest: response for response in ledger.responses()}
    if not (sealed.exists() or sealed.is_symlink()):
        return {}
    table = read_table(sealed, Response)
    for response in table.rows():
        if stored.get(response.request_digest) != response:
            ledger.add(response)
    return {
        f"route/{digest('route', parse_json(text.encode(), str(sealed), ExecuteError))}": text
        for text in table.header.about.values()
    }


def _refuse_to_pay_twice(workspace: Workspace, slug: str, sealed: Path) -> None:
    """Stop where `dvc.lock` says that paid answers exist, the ledger is empty and no table here."""
    lock = workspace.root / "dvc.lock"
    if sealed.exists() or not lock.exists():
        return
    if f"execute@{slug}:".encode() in read_bytes(lock, _LOCK_LIMIT, ExecuteError):
        raise ExecuteError(
            f"the answers of {slug} that dvc.lock lists",
            "neither table nor filled ledger",
            sealed.relative_to(workspace.root).as_posix(),
            "Run `dvc pull` first, so that nothing is paid for twice.",
        )
