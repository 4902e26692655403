"""Asks what is missing, stores every reply at once, and stops between cells (design 6)."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import FlavourbenchError, ProviderError, StoppedError
from pipeline.execute.adapter import Request, request_digest
from pipeline.progress import silent
from schemas.execution import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.execute.adapter import Adapter
    from pipeline.execute.ledger import Ledger
    from pipeline.progress import Progress
    from schemas.taskset import Task

__all__ = ["RunCount", "make_requests", "run_requests"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class RunCount(NamedTuple):
    """Cells that were there before, and cells that were asked now."""

    present: int
    asked: int


def make_requests(tasks: Sequence[Task], digests: Sequence[str], route: str) -> list[Request]:
    """One request a task, in task order.

    Parameters
    ----------
    tasks, digests
        Frozen tasks and their digests (hex).
    route
        Route digest (hex).
    """
    return [
        Request(request_digest(digest, route, 0), task.task_id, digest, route, 0, task.prompt)
        for task, digest in zip(tasks, digests, strict=True)
    ]


def run_requests(
    requests: Sequence[Request],
    adapter: Adapter,
    ledger: Ledger,
    concurrency: int = 1,
    progress: Progress = silent,
) -> RunCount:
    """Ask every request that has no stored response.

    Raises
    ------
    StoppedError
        SIGINT or SIGTERM came; every reply that had arrived is stored.
    ExecuteError
        The ledger cannot be written.
    ProviderError
        The adapter cannot go on. Whatever stops a run, replies under way are awaited and stored.
    """
    stored = ledger.keys()
    missing = [request for request in requests if request.key not in stored]
    present = len(requests) - len(missing)
    asked = asyncio.run(_ask_all(missing, adapter, ledger, concurrency, (present, progress)))
    return RunCount(present, asked)


async def _ask_all(
    missing: Sequence[Request],
    adapter: Adapter,
    ledger: Ledger,
    concurrency: int,
    report: tuple[int, Progress],
) -> int:
    """Workers share one queue; the event loop alone writes to the ledger.

    What goes wrong in one worker stops the others between cells, as a signal does: a reply that is
    under way is paid for, so nothing is cancelled.
    """
    present, progress = report
    total = present + len(missing)
    queue = iter(missing)
    asked = 0
    problems: list[FlavourbenchError] = []

    async def work() -> None:
        nonlocal asked
        for request in queue:
            if stop.is_set():
                return
            try:
                ledger.add(await _ask(adapter, request))
            except FlavourbenchError as problem:
                problems.append(problem)
                stop.set()
            else:
                asked += 1
                progress(present + asked, total)
            await asyncio.sleep(0)  # lets a signal in, also where the adapter never waits

    with _stop_on_signals() as stop:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(concurrency, len(missing)))):
                group.create_task(work())
    if problems:
        raise problems[0]
    if stop.is_set() and asked < len(missing):
        raise StoppedError(present + asked, total)
    return asked


async def _ask(adapter: Adapter, request: Request) -> Response:
    """One response; an adapter's own fault becomes one line, since what is stored stays."""
    try:
        return _response(request, *await adapter.ask(request))
    except FlavourbenchError:
        raise
    except Exception as problem:
        raise ProviderError(
            "a reply",
            f"{type(problem).__name__}: {problem}",
            f"task {request.task_id}",
            "What is stored stays; run the same command to go on.",
        ) from problem


@contextmanager
def _stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set, instead of ending the process in mid-cell."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _response(request: Request, outcome: str, form: str, raw: bytes) -> Response:
    fields = {
        "request_digest": request.key,
        "task_digest": request.task_digest,
        "route_digest": request.route_digest,
        "task_id": request.task_id,
        "repeat": request.repeat,
        "outcome": outcome,
        "form": form,
        "raw": raw,
    }
    return Response.model_validate(fields)
