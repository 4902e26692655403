"""Writes a ledger from an event loop: what waits together is committed together.

A commit that reaches the disk takes milliseconds, whatever it holds; so the entries of all workers
that wait share one. The loop goes on meanwhile, and each worker goes on when its own entry is on
the disk.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import FlavourbenchError

if TYPE_CHECKING:
    from pipeline.asking.ledger import Ledger, Sending, Settled

__all__ = ["Journal"]


class _Waiting(NamedTuple):
    """An entry and the worker that waits for it."""

    entry: Sending | Settled
    done: asyncio.Future[None]


class Journal:
    """Entries on their way into a ledger.

    Parameters
    ----------
    ledger
        Where they go.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: list[_Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    async def write(self, entry: Sending | Settled) -> None:
        """Return when the entry is on the disk.

        Raises
        ------
        ExecuteError
            The disk refuses; nothing of the entry was written.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(entry, done))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())
        await done

    async def drain(self) -> None:
        """Return when nothing waits any more."""
        if self._writer is not None:
            await self._writer

    async def _write_all(self) -> None:
        """Commit until nothing waits; one commit at a time."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            problem: FlavourbenchError | None = None
            try:
                await asyncio.to_thread(self._ledger.commit, [item.entry for item in batch])
            except FlavourbenchError as refused:
                problem = refused
            for item in batch:
                if item.done.cancelled():  # its worker was; the entry is on the disk all the same
                    continue
                if problem is not None:
                    item.done.set_exception(problem)
                else:
                    item.done.set_result(None)
