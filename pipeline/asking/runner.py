"""Asks what is missing, stores every reply at once, and stops between cells (docs/routes.md)."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pipeline.asking.adapter import response_of
from pipeline.asking.tally import Tally
from pipeline.errors import FlavourbenchError, ProviderError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pipeline.asking.adapter import Adapter, Request
    from pipeline.asking.ledger import Ledger

__all__ = ["Job", "begun", "plain_job", "run_jobs"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TURNS = 3
"""Turns of the event loop until a signal that has come is seen, at most."""


class Asker(Protocol):
    """Asks cells of one route, each until it has ended or is left open, and stores what ended."""

    async def ask(self, request: Request) -> None:
        """Ask a cell. Raises `FlavourbenchError` where the route cannot go on."""

    async def close(self) -> None:
        """Let go of what is held for asking."""


class Job(NamedTuple):
    """A route's work: what is missing, who asks, how many at a time, and the counts.

    `asker` is called once, inside the event loop, with the event that stops the route.
    """

    missing: Sequence[Request]
    asker: Callable[[asyncio.Event], Asker]
    concurrency: int
    tally: Tally


class Begun(NamedTuple):
    """Requests of a route without a stored response, and its counts."""

    missing: list[Request]
    tally: Tally


class _Plain:
    """Asks an adapter that needs no retries and leaves no attempts."""

    def __init__(self, adapter: Adapter, ledger: Ledger, tally: Tally) -> None:
        self._adapter, self._ledger, self._tally = adapter, ledger, tally

    async def ask(self, request: Request) -> None:
        """One response, stored."""
        response = response_of(request, await self._adapter.ask(request))
        self._ledger.add(response)
        self._tally.stored[response.outcome.value] += 1

    async def close(self) -> None:
        """Nothing is held."""


def begun(slug: str, requests: Sequence[Request], ledger: Ledger) -> Begun:
    """What a route has left to do, and its counts so far. Raises as `Ledger.keys` does."""
    stored = ledger.keys()
    missing = [request for request in requests if request.key not in stored]
    return Begun(missing, Tally(slug, len(requests), len(requests) - len(missing)))


def plain_job(
    slug: str, requests: Sequence[Request], adapter: Adapter, ledger: Ledger, concurrency: int = 1
) -> Job:
    """The work of a route whose adapter needs no retries. Raises as `Ledger.keys` does."""
    missing, tally = begun(slug, requests, ledger)
    return Job(missing, lambda _: _Plain(adapter, ledger, tally), concurrency, tally)


def run_jobs(jobs: Sequence[Job]) -> list[FlavourbenchError | None]:
    """Do the work of all routes at once; what stops one leaves the others at work.

    Whatever stops a route, replies under way are awaited and stored. A second signal waits for
    nobody: what is under way is cancelled, and its tries are on record as lost.

    Returns
    -------
    list
        What stopped each route, or none where it came to its end: `StoppedError` after SIGINT or
        SIGTERM, `ProviderError` where the provider or a budget stops it, `ExecuteError` where its
        ledger cannot be written.
    """
    return asyncio.run(_run_all(jobs))


async def _run_all(jobs: Sequence[Job]) -> list[FlavourbenchError | None]:
    stops = [asyncio.Event() for _ in jobs]
    workers: set[asyncio.Task[None]] = set()
    with _set_on_signals(stops, [job.tally for job in jobs], workers) as stopped:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_run(job, stop, stopped, workers))
                for job, stop in zip(jobs, stops, strict=True)
            ]
    return [task.result() for task in tasks]


async def _run(
    job: Job, stop: asyncio.Event, stopped: asyncio.Event, workers: set[asyncio.Task[None]]
) -> FlavourbenchError | None:
    """Workers share one queue; `workers` holds them, for whoever must cancel them.

    What goes wrong in one worker stops the others between cells, as a signal does: a reply that is
    under way is paid for, so nothing is cancelled but by a person who asks a second time.
    """
    queue = iter(job.missing)
    problems: list[FlavourbenchError] = []
    tally = job.tally
    tally.state = "asking"
    asker: Asker | None = None

    async def work(asker: Asker) -> None:
        for request in queue:
            if stop.is_set():
                return
            try:
                await asker.ask(request)
            except Exception as problem:  # noqa: BLE001  # what is stored stays, whatever happens
                problems.append(_one_line(problem, request))
                stop.set()
            await _let_signals_in()

    try:
        if job.missing:
            asker = job.asker(stop)
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(job.concurrency, len(job.missing)))):
                    workers.add(group.create_task(work(asker)))
    except FlavourbenchError as problem:
        problems.append(problem)
    finally:
        if asker is not None:
            await asker.close()
    if not problems and stopped.is_set() and tally.asked + tally.parked.total() < len(job.missing):
        problems.append(StoppedError(tally.done, tally.total))
    tally.state = str(problems[0]) if problems else "done"
    return problems[0] if problems else None


async def _let_signals_in() -> None:
    """Give way, also where the adapter never waits, until a signal that has come is seen."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


def _one_line(problem: Exception, request: Request) -> FlavourbenchError:
    """An adapter's own fault becomes one line, since what is stored stays."""
    if isinstance(problem, FlavourbenchError):
        return problem
    return ProviderError(
        "a reply",
        f"{type(problem).__name__}: {problem}",
        f"task {request.question.id}",
        "What is stored stays; run the same command to go on.",
    )


@contextmanager
def _set_on_signals(
    stops: Sequence[asyncio.Event], tallies: Sequence[Tally], workers: set[asyncio.Task[None]]
) -> Iterator[asyncio.Event]:
    """Events that SIGINT and SIGTERM set, instead of ending the process in mid-cell.

    A second signal cancels the workers.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop_all() -> None:
        if stopped.is_set():
            for worker in workers:
                worker.cancel()
        for stop in (stopped, *stops):
            stop.set()
        for tally in tallies:
            tally.state = "stopping"  # replies under way are awaited

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop_all)
    try:
        yield stopped
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
