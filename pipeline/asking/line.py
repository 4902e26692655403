"""A route's line to its provider: limits, money, retries, and a record of every try."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from pipeline.asking.adapter import Exchange, Reply, response_of
from pipeline.asking.budget import Budget
from pipeline.asking.journal import Journal
from pipeline.asking.ledger import Sending, Settled
from pipeline.asking.outcomes import DECLINING
from pipeline.asking.runner import Job, begun
from pipeline.errors import ExecuteError, ProviderError
from schemas.execution import Attempt, Outcome, Rule

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from tenacity import AsyncRetrying, RetryCallState

    from pipeline.asking.adapter import Provider, Request
    from pipeline.asking.ledger import Ledger
    from pipeline.asking.tally import Tally

__all__ = ["Hosts", "paid_job"]

_ROW = 5
"""Cells in a row without an answer of the right model after which a route stops."""

_UNKNOWN = {"headers": "{}", "detail": ""}
"""What stands where nothing is known; in every other field of an exchange, none does."""

_MINUTE = 60.0
_WASTED = frozenset({Outcome.MODEL_MISMATCH, Outcome.UNKNOWN_FINISH})
"""Stored, and paid for, yet of no use: a row of them is no endpoint to go on with."""

_MAY_CONCERN_ONE = DECLINING | {200, 413}
"""Statuses of which one question can be the reason; gateways put a vendor's error below a 200."""

_REMEDIES = {
    Outcome.QUOTA: "Nothing more was asked; mend the account, or wait, and run again to go on.",
    Outcome.CONFIGURATION: "Mend the route or its key and run again; what is stored stays.",
    Outcome.MODEL_MISMATCH: "Pin the provider, or list the id under accept (another route then).",
    Outcome.UNKNOWN_FINISH: "Its finish reason is no word that we know; what is stored stays.",
    Outcome.NOT_JSON: "Check base_url; what is stored stays.",
}


class Hosts:
    """How many requests may be under way at each host, over all routes of this process."""

    def __init__(self) -> None:
        self._gates: dict[str, asyncio.Semaphore] = {}

    def gate(self, provider: Provider) -> asyncio.Semaphore:
        """The gate of a provider's host; the first route that comes sets its width."""
        width = provider.limits.host_concurrency
        return self._gates.setdefault(provider.host, asyncio.Semaphore(width))


class _Try(NamedTuple):
    """How a try ended; no reply where it was not made, because the run stops."""

    reply: Reply | None
    again: bool
    stored: bool = False

    @property
    def exchange(self) -> Exchange:
        """What is known of the try."""
        return (self.reply and self.reply.exchange) or Exchange()

    @property
    def outcome(self) -> Outcome:
        """The try's outcome."""
        return self.reply.outcome if self.reply else Outcome.LOST


class Line:
    """Asks cells of one route until each has ended or is left open.

    Parameters
    ----------
    adapter, ledger, tally
        What asks the route, where its rows go, and its counts.
    gate
        Bounds the requests under way at the route's host.
    stop
        Set when the run or the route stops: no try begins after that.
    give_up
        Whether a cell that has used up its attempts is stored with its last outcome.
    """

    def __init__(
        self,
        adapter: Provider,
        ledger: Ledger,
        tally: Tally,
        gate: asyncio.Semaphore,
        stop: asyncio.Event,
        *,
        give_up: bool,
    ) -> None:
        from aiolimiter import AsyncLimiter

        self._adapter, self._tally, self._gate, self._stop = adapter, tally, gate, stop
        self._limits = limits = adapter.limits
        self._give_up = give_up
        self._ledger, self._journal = ledger, Journal(ledger)
        self._tries = ledger.tries()
        self._budget = Budget(tally.slug, adapter.cap_micros, tally.spent_micros)
        self._requests, self._tokens = (
            None if rate is None else AsyncLimiter(rate, _MINUTE)
            for rate in (limits.requests_per_minute, limits.tokens_per_minute)
        )
        self._in_a_row = 0

    async def ask(self, request: Request) -> None:
        """Ask a cell until it has ended, its attempts are used up, or the run stops.

        Raises
        ------
        ProviderError
            The route cannot go on: quota, configuration, money, or too many failures in a row.
        ExecuteError
            The ledger cannot be written.
        """
        attempts = self._limits.attempts
        tried = _Try(None, again=False)
        async for attempt in self._retrying():
            number = attempt.retry_state.attempt_number
            with attempt:
                tried = await self._try(request, last=number == attempts)
            done = attempt.retry_state.outcome
            if done is not None and not done.failed:
                attempt.retry_state.set_result(tried)
        if tried.reply is not None:
            self._note(tried)

    async def close(self) -> None:
        """Close the connections, and put down as lost what was cancelled while it was under way."""
        await self._journal.drain()
        with suppress(ExecuteError):  # a ledger that is full or broken; the next run puts it down
            lost = self._ledger.recover()
            self._tally.attempts += lost
            self._tally.unknown += lost
        self._tally.spent_micros = self._budget.spent_micros
        await self._adapter.close()

    def _retrying(self) -> AsyncRetrying:
        from tenacity import (
            AsyncRetrying,
            retry_if_result,
            stop_after_attempt,
            wait_exponential_jitter,
        )

        limits = self._limits
        first = limits.backoff_ms / 1000
        backoff = wait_exponential_jitter(
            multiplier=first, max=limits.wait_cap_ms / 1000, jitter=first
        )

        def wait(state: RetryCallState) -> float:
            asked = _last_try(state).exchange.retry_after_ms
            return backoff(state) if asked is None else asked / 1000

        return AsyncRetrying(
            sleep=self._sleep,
            stop=stop_after_attempt(limits.attempts),
            wait=wait,
            retry=retry_if_result(lambda tried: tried.again),
            retry_error_callback=_last_try,
        )

    async def _try(self, request: Request, *, last: bool) -> _Try:
        """One try with all that goes with it; not made where the run stops."""
        reserve = self._adapter.most_micros(request.question)
        await self._admit(request)
        async with self._gate:
            await self._budget.reserve(reserve)
            cost: int | None = 0
            try:
                if self._stop.is_set():
                    return _Try(None, again=False)
                sending = self._next(request, reserve)
                await self._journal.write(sending)
                cost = None
                reply = await self._adapter.ask(request)
                cost = (reply.exchange or Exchange()).cost_micros
            finally:
                await self._budget.settle(reserve, cost)
        return await self._settle(request, sending, reply, last=last)

    async def _settle(
        self, request: Request, sending: Sending, reply: Reply, *, last: bool
    ) -> _Try:
        """Put a try down, and say what follows from it."""
        rule = reply.outcome.rule
        wait_ms = (reply.exchange or Exchange()).retry_after_ms or 0
        again = rule is Rule.RETRY and not last and wait_ms <= self._limits.wait_cap_ms
        stops = rule is Rule.STOP and not self._concerns_one(reply)
        ends = rule is Rule.STORE or (self._give_up and not again and not stops)
        attempt = attempt_of(sending, reply, stored=ends)
        response = response_of(request, reply) if ends else None
        await self._journal.write(Settled(attempt, response))
        self._count(attempt)
        if stops:
            raise self._stopped(reply)
        return _Try(reply, again, ends)

    def _concerns_one(self, reply: Reply) -> bool:
        """Whether what was declined can be one question, in words that we do not know.

        A route that has answered is set up well enough; where it is not any more, five in a row
        stop it.
        """
        status = (reply.exchange or Exchange()).status
        declined = reply.outcome is Outcome.CONFIGURATION and status in _MAY_CONCERN_ONE
        return declined and self._tally.in_all[Outcome.OK.value] > 0

    async def _admit(self, request: Request) -> None:
        """Wait until the rates allow a try, or the run stops."""
        waits: list[Awaitable[None]] = []
        if self._requests is not None:
            waits.append(self._requests.acquire())
        if self._tokens is not None:
            size = max(self._adapter.tokens(request.question), 1)
            waits.append(self._tokens.acquire(min(size, self._tokens.max_rate)))
        if waits:
            await self._before_stop(asyncio.gather(*waits))

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or wake when the run stops."""
        await self._before_stop(asyncio.sleep(seconds))

    async def _before_stop(self, wait: Awaitable[object]) -> None:
        """Wait for something, but not beyond a stop."""
        waiting = {asyncio.ensure_future(wait), asyncio.ensure_future(self._stop.wait())}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _next(self, request: Request, reserve: int | None) -> Sending:
        """The next try of a request, numbered over all sessions."""
        number = self._tries.get(request.key, 0) + 1
        self._tries[request.key] = number
        now = max(0, time.time_ns() // 1_000_000)
        name = request.question.id
        return Sending(request.key, number, request.route_digest, name, now, reserve)

    def _count(self, attempt: Attempt) -> None:
        tally, cost = self._tally, attempt.cost_micros
        tally.attempts += 1
        tally.unknown += cost is None
        tally.spent_micros = self._budget.spent_micros
        tally.prompt_tokens += attempt.prompt_tokens or 0
        tally.completion_tokens += attempt.completion_tokens or 0

    def _note(self, tried: _Try) -> None:
        """Count a cell that has ended or is left open; stop where nothing good comes back."""
        outcome = tried.outcome
        (self._tally.stored if tried.stored else self._tally.parked)[outcome.value] += 1
        if outcome.rule is Rule.STORE and outcome not in _WASTED:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        if self._in_a_row >= _ROW:
            said = f"{self._in_a_row} failures, the last {outcome}: {tried.exchange.detail}"
            raise ProviderError(
                "an endpoint that answers",
                said,
                f"route {self._tally.slug}",
                _REMEDIES.get(outcome, "What is stored stays; run the same command to go on."),
            )

    def _stopped(self, reply: Reply) -> ProviderError:
        detail = (reply.exchange or Exchange()).detail
        remedy = _REMEDIES[reply.outcome]
        found = f"{reply.outcome}: {detail}"
        return ProviderError("a usable endpoint", found, f"route {self._tally.slug}", remedy)


def paid_job(
    adapter: Provider,
    ledger: Ledger,
    requests: Sequence[Request],
    route_digest: str,
    hosts: Hosts,
    *,
    give_up: bool,
) -> Job:
    """The work of a route to a provider. Raises as `Ledger.keys` does."""
    missing, tally = begun(adapter.slug, requests, ledger)
    totals = ledger.totals(route_digest)
    tally.attempts, tally.spent_micros, tally.unknown = totals[:3]
    tally.prompt_tokens, tally.completion_tokens = totals[3:5]
    tally.earlier = tally.sums

    def asker(stop: asyncio.Event) -> Line:
        gate = hosts.gate(adapter)
        return Line(adapter, ledger, tally, gate, stop, give_up=give_up)

    return Job(missing, asker, adapter.limits.concurrency, tally)


def attempt_of(sending: Sending, reply: Reply, *, stored: bool) -> Attempt:
    """The row of a try; bytes that are stored as the response are not kept twice."""
    fields = (reply.exchange or Exchange())._asdict()
    del fields["retry_after_ms"]
    fields |= {"outcome": reply.outcome, "stored": stored, "raw": b"" if stored else reply.raw}
    fields |= sending._asdict()
    try:
        return Attempt(**fields)
    except ValidationError as problem:
        # what a provider says beyond all bounds is unknown; the answer that came with it stays
        odd = {str(fault["loc"][0]) for fault in problem.errors()} & {*Exchange._fields}
        return Attempt(**fields | {name: _UNKNOWN.get(name) for name in odd})


def _last_try(state: RetryCallState) -> _Try:
    """What the last try came to, as the retries hold it."""
    tried: _Try = state.outcome.result() if state.outcome else _Try(None, again=False)
    return tried
