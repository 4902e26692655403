"""Before money is spent: key, endpoint, model, price, and what a run costs at most."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from pipeline.asking.adapter import Listing, make_requests, provider_of
from pipeline.asking.budget import usd
from pipeline.asking.filling import Wish, fill_routes
from pipeline.asking.openai import price_micros
from pipeline.asking.overview import stored_attempts, stored_keys
from pipeline.asking.routes import bind_route, find_route
from pipeline.errors import ExecuteError, InputError
from pipeline.showing.view import Grid, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.asking.adapter import Provider, Questions, Request
    from pipeline.asking.routes import BoundRoute
    from pipeline.asking.store import PeekedAttempt
    from pipeline.asking.track import Track
    from pipeline.workspace import Workspace
    from schemas.endpoint import Prices

__all__ = ["check_routes", "checks_view"]


class Check(NamedTuple):
    """What was found out about one route to an endpoint.

    Attributes
    ----------
    key, endpoint, model, price
        In words.
    ready
        Whether nothing is known that keeps a run from starting.
    missing
        Cells that would be asked.
    likely_micros
        Their cost by the mean of the answers that are here; none where there are none.
    once_micros, most_micros
        Their cost with one try each at most, and with every attempt used and billed, below the
        cap; none where nobody knows.
    left_micros
        What the cap leaves; none where there is no cap.
    ping
        What one task gave, where it was asked.
    """

    slug: str
    key: str
    endpoint: str
    model: str
    price: str
    ready: bool
    missing: int
    likely_micros: int | None
    once_micros: int | None
    most_micros: int | None
    left_micros: int | None
    ping: str | None = None

    @property
    def pass_micros(self) -> int | None:
        """What asking every missing cell once costs: by answers that are here, else at most."""
        return self.once_micros if self.likely_micros is None else self.likely_micros

    @property
    def cap_is_short(self) -> bool:
        """Whether the cap cannot pay for asking every missing cell once."""
        if self.left_micros is None or not self.missing:
            return False
        return self.left_micros <= 0 or (self.pass_micros or 0) > self.left_micros


def check_routes(
    track: Track, workspace: Workspace, slugs: Sequence[str], ping: bool
) -> list[Check]:
    """Look at routes that ask a provider, all of them where none is named.

    Parameters
    ----------
    ping
        Whether to ask one question of each that is ready; its answer is stored.

    Raises
    ------
    InputError
        There is no such route, or it asks no provider.
    TableError
        The questions are not made yet.
    """
    questions = track.questions(workspace)
    found: list[tuple[BoundRoute, Provider]] = []
    for slug in slugs or track.routes(workspace.parameters):
        bound = find_route(track, workspace.parameters, slug)
        if bound.maker.derivable:
            if slugs:
                raise InputError("a route that asks a provider", slug, "check", "Name another.")
            continue
        provider = provider_of(bind_route(bound, questions, workspace.root))
        if provider is not None:
            found.append((bound, provider))
    listings = asyncio.run(_listings([provider for _, provider in found]))
    checks = [
        _check(
            _missing(track, workspace, questions, bound),
            stored_attempts(track, workspace, bound),
            provider,
            listing,
        )
        for (bound, provider), listing in zip(found, listings, strict=True)
    ]
    return [_pinged(track, workspace, check) for check in checks] if ping else checks


def checks_view(checks: Sequence[Check]) -> View:
    """What was found out, for people and machines."""
    rows = tuple(
        (
            check.slug,
            check.key,
            check.endpoint,
            check.model,
            check.price,
            f"{check.missing}",
            "-" if check.likely_micros is None else usd(check.likely_micros),
            _cost(check.once_micros),
            _cost(check.most_micros),
        )
        for check in checks
    )
    headings = ("route", "key", "endpoint", "model", "price", "to ask", "likely", "once", "at most")
    notes = [f"{check.slug}: one task gave {check.ping}" for check in checks if check.ping]
    notes += [_short_of(check) for check in checks if check.cap_is_short]
    if not checks:
        notes.append("No route asks a provider.")
    elif all(check.ready for check in checks):
        notes.append("Ready: `flavourbench execute --all` asks them at the same time.")
    else:
        named = ", ".join(check.slug for check in checks if not check.ready)
        notes.append(f"Not ready: {named}.")
    notes.append(
        "likely: by the mean of the answers that are here; once: every missing cell tried once, "
        "answers as long as allowed; at most: every attempt used and billed, within spend_cap_usd."
    )
    document = {"routes": [check._asdict() for check in checks]}
    grid = Grid("", headings, rows, frozenset({5, 6, 7, 8}))
    return View("Routes to endpoints", (grid,), tuple(notes), document)


async def _listings(providers: Sequence[Provider]) -> list[Listing]:
    return list(await asyncio.gather(*map(_listing, providers)))


async def _listing(provider: Provider) -> Listing:
    """What a provider says of itself; it is not asked where a secret is not set."""
    if provider.missing_secrets():
        return Listing("not asked", "-", ready=False)
    try:
        return await provider.listing()
    except ExecuteError as problem:
        return Listing(f"not asked: {problem.found}", "-", ready=False)
    finally:
        await provider.close()


def _check(
    missing: Sequence[Request],
    tried: Sequence[PeekedAttempt],
    provider: Provider,
    listing: Listing,
) -> Check:
    unset = provider.missing_secrets()
    key = "set" if provider.secrets else "none needed"
    key = f"not set: {', '.join(unset)}" if unset else key
    prices = provider.prices or listing.prices
    price = "unknown"
    if prices is not None:
        price = f"${prices.prompt_usd_per_mtok:f}/${prices.completion_usd_per_mtok:f}"
        price += "" if provider.prices else " listed"
    costs = [provider.most_micros(request.question, prices) for request in missing]
    once = sum(cost or 0 for cost in costs) if None not in costs else None
    most = None if once is None else once * provider.limits.attempts
    left = None
    if provider.cap_micros is not None:
        left = provider.cap_micros - sum(_booked(attempt) for attempt in tried)
        most = None if most is None else max(0, min(most, left))
    check = Check(
        slug=provider.slug,
        key=key,
        endpoint=listing.endpoint,
        model=listing.model,
        price=price,
        ready=listing.ready,
        missing=len(missing),
        likely_micros=_likely(prices, tried, len(missing)),
        once_micros=once,
        most_micros=most,
        left_micros=left,
    )
    return check._replace(ready=check.ready and not check.cap_is_short)


def _booked(attempt: PeekedAttempt) -> int:
    """What an attempt counts for: its cost, else the most that it can have cost."""
    cost = attempt.reserve_micros if attempt.cost_micros is None else attempt.cost_micros
    return cost or 0


def _likely(prices: Prices | None, tried: Sequence[PeekedAttempt], missing: int) -> int | None:
    """Cost of the missing cells, each as dear as the answers here: by bill, else by tokens."""
    costs = []
    for attempt in tried:
        cost, used = attempt.cost_micros, (attempt.prompt_tokens, attempt.completion_tokens)
        if cost is None and prices is not None and None not in used:
            cost = price_micros(prices, used[0] or 0, used[1] or 0)
        if attempt.stored and cost is not None:
            costs.append(cost)
    return -(-sum(costs) * missing // len(costs)) if costs else None


def _short_of(check: Check) -> str:
    """Why a cap keeps a route from being ready."""
    need = f"{usd(check.pass_micros or 0)} {'likely' if check.likely_micros else 'at most'}"
    return (
        f"{check.slug}: spend_cap_usd leaves {usd(max(0, check.left_micros or 0))}, asking "
        f"{check.missing} cells once costs {need}: raise it, or let a smoke run show what an "
        "answer costs."
    )


def _missing(
    track: Track, workspace: Workspace, questions: Questions, bound: BoundRoute
) -> list[Request]:
    stored = stored_keys(track, workspace, bound).all
    return [one for one in make_requests(questions, bound.digest) if one.key not in stored]


def _pinged(track: Track, workspace: Workspace, check: Check) -> Check:
    """Ask one question, whose answer is stored like any other."""
    if not check.ready or not check.missing:
        return check
    (filled,) = fill_routes(track, workspace, [check.slug], Wish(limit=1))
    counts = filled.tally and (filled.tally.stored + filled.tally.parked)
    said = ", ".join(counts) if counts else str(filled.problem or "nothing")
    good = filled.problem is None and bool(filled.tally and filled.tally.stored["ok"])
    return check._replace(ping=said, ready=check.ready and good)


def _cost(micros: int | None) -> str:
    return "unknown" if micros is None else usd(micros)
