"""How draws are worked through: in blocks, by a few threads, results in order, progress told."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pipeline.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from pipeline.inference.streams import DrawStream
    from pipeline.progress import Progress

__all__ = ["Drawing", "run_jobs"]

Result = TypeVar("Result")

_MAX_THREADS = 8


class Drawing(NamedTuple):
    """Where draws come from, and how they are worked through.

    Attributes
    ----------
    stream, draws
        Their source and their number.
    block
        Draws in floating point at once, per thread; bounds memory, changes no result.
    threads
        See `run_jobs`; changes no result.
    progress
        Called with draws done and their number.
    """

    stream: DrawStream
    draws: int
    block: int = 500
    threads: int | None = None
    progress: Progress = silent


def run_jobs(jobs: Iterable[Callable[[], Result]], threads: int | None) -> Iterator[Result]:
    """Results of jobs in the order of the jobs.

    NumPy and BLAKE3 release the interpreter lock in their long calls, so threads share the work
    without copies of the data.

    Parameters
    ----------
    jobs
        Called once each; the iterable is advanced in the caller's thread, a few jobs ahead.
    threads
        Number of threads; None takes one per processor, at most 8.
    """
    count = threads if threads is not None else min(os.cpu_count() or 1, _MAX_THREADS)
    if count <= 1:
        for job in jobs:
            yield job()
        return
    pool = ThreadPoolExecutor(count)
    window: deque[Future[Result]] = deque()
    try:
        for job in jobs:
            window.append(pool.submit(job))
            if len(window) > 2 * count:
                yield window.popleft().result()
        while window:
            yield window.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
