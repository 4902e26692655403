"""Before money is spent: key, endpoint, model, price, and what a run costs at most."""

from __future__ import annotations

import asyncio
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from pipeline.asking.budget import in_micros, usd
from pipeline.asking.openai import OpenAiAdapter, most_micros, price_micros
from pipeline.asking.outcomes import judge
from pipeline.asking.runner import make_requests
from pipeline.errors import ExecuteError, FlavourbenchError, UsageError
from pipeline.execute.overview import stored_attempts, stored_keys
from pipeline.execute.routes import find_route
from pipeline.execute.stage import Wish, fill
from pipeline.files import parse_json
from pipeline.showing.view import Grid, View
from schemas.endpoint import Prices
from schemas.parameters import OpenAiRoute
from schemas.taskset import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.asking.adapter import Request
    from pipeline.asking.store import PeekedAttempt
    from pipeline.workspace import Workspace

__all__ = ["Check", "check_routes", "checks_view"]

_MTOK = 1_000_000


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


class _Listing(NamedTuple):
    """What an endpoint's list of models says."""

    endpoint: str
    model: str
    ready: bool
    prices: Prices | None


def check_routes(workspace: Workspace, slugs: Sequence[str], ping: bool) -> list[Check]:
    """Look at routes to endpoints, all of them where none is named; asks a task only for a ping.

    Raises
    ------
    UsageError
        There is no such route, or it is none to an endpoint.
    TableError
        The tasks are not frozen.
    """
    routes = workspace.parameters.routes
    for slug in slugs:
        if not isinstance(find_route(routes, slug).route, OpenAiRoute):
            raise UsageError("a route with adapter openai", slug, "routes check", "Name another.")
    chosen = {
        slug: route
        for slug, route in routes.items()
        if isinstance(route, OpenAiRoute) and (not slugs or slug in slugs)
    }
    listings = asyncio.run(_listings(chosen))
    checks = [
        _check(workspace, slug, chosen[slug], found)
        for slug, found in zip(chosen, listings, strict=True)
    ]
    return [_pinged(workspace, check) for check in checks] if ping else checks


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
        notes.append("No route has the adapter openai.")
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


async def _listings(routes: dict[str, OpenAiRoute]) -> list[_Listing | FlavourbenchError]:
    return list(await asyncio.gather(*(_listing(slug, route) for slug, route in routes.items())))


async def _listing(slug: str, route: OpenAiRoute) -> _Listing | FlavourbenchError:
    """Ask an endpoint for its models; the error where a key is not set."""
    adapter = OpenAiAdapter(route, slug)
    try:
        adapter.unlock()
        wire = await adapter.send("GET", "/models")
    except ExecuteError as problem:
        return problem
    finally:
        await adapter.close()
    if wire.status is None:
        return _Listing(f"no answer: {wire.said}", "-", ready=False, prices=None)
    try:
        entries = parse_json(wire.body, "models", FlavourbenchError)["data"]
        named = {e["id"]: e for e in entries if isinstance(e, dict) and isinstance(e["id"], str)}
    except (FlavourbenchError, KeyError, TypeError):
        said = judge(wire, ()).outcome.value if wire.status in {401, 403} else "no list of models"
        return _Listing(
            f"HTTP {wire.status}", said, ready=wire.status not in {401, 403}, prices=None
        )
    entry = named.get(route.model)
    if entry is None:
        return _Listing("answers", f"not among {len(named)}", ready=False, prices=None)
    return _Listing("answers", "listed", ready=True, prices=_listed_prices(entry))


def _listed_prices(entry: dict[str, Any]) -> Prices | None:
    """Prices that some gateways list: US dollars per token, as text."""
    pricing = entry.get("pricing")
    if not isinstance(pricing, dict):
        return None
    try:
        prompt, completion = (
            Decimal(str(pricing[name])[:40]) * _MTOK for name in ("prompt", "completion")
        )
        return Prices(prompt_usd_per_mtok=prompt, completion_usd_per_mtok=completion)
    except (InvalidOperation, KeyError, ValidationError):
        return None


def _check(
    workspace: Workspace, slug: str, route: OpenAiRoute, found: _Listing | FlavourbenchError
) -> Check:
    missing = _missing(workspace, slug)
    if isinstance(found, FlavourbenchError):
        listing = _Listing("not asked", "-", ready=False, prices=None)
        key = f"not set: {found.expected.rpartition(' ')[2]}"
    else:
        listing = found
        key = "set" if route.key_env else "none needed"
    prices = route.price or listing.prices
    price = "unknown"
    if prices is not None:
        price = f"${prices.prompt_usd_per_mtok:f}/${prices.completion_usd_per_mtok:f}"
        price += "" if route.price else " listed"
    priced = route.model_copy(update={"price": prices})
    costs = [most_micros(priced, request.prompt) for request in missing]
    once = sum(cost or 0 for cost in costs) if None not in costs else None
    most = None if once is None else once * route.limits.attempts
    tried = stored_attempts(workspace, find_route(workspace.parameters.routes, slug))
    left = None
    if route.spend_cap_usd is not None:
        left = in_micros(route.spend_cap_usd) - sum(_booked(attempt) for attempt in tried)
        most = None if most is None else max(0, min(most, left))
    likely = _likely(priced, tried, len(missing))
    check = Check(
        slug,
        key,
        listing.endpoint,
        listing.model,
        price,
        listing.ready,
        len(missing),
        likely,
        once,
        most,
        left,
    )
    return check._replace(ready=check.ready and not check.cap_is_short)


def _booked(attempt: PeekedAttempt) -> int:
    """What an attempt counts for: its cost, else the most that it can have cost."""
    cost = attempt.reserve_micros if attempt.cost_micros is None else attempt.cost_micros
    return cost or 0


def _likely(route: OpenAiRoute, tried: Sequence[PeekedAttempt], missing: int) -> int | None:
    """Cost of the missing cells, each as dear as the answers here: by bill, else by tokens."""
    costs = []
    for attempt in tried:
        cost = attempt.cost_micros
        if cost is None and None not in {attempt.prompt_tokens, attempt.completion_tokens}:
            cost = price_micros(route, attempt.prompt_tokens or 0, attempt.completion_tokens or 0)
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


def _missing(workspace: Workspace, slug: str) -> list[Request]:
    tasks = workspace.read("freeze", Task)
    bound = find_route(workspace.parameters.routes, slug)
    stored = stored_keys(workspace, bound).all
    requests = make_requests(tasks.rows(), tasks.digests, bound.digest)
    return [request for request in requests if request.key not in stored]


def _pinged(workspace: Workspace, check: Check) -> Check:
    """Ask one task, whose answer is stored like any other."""
    if not check.ready or not check.missing:
        return check
    (filled,) = fill(workspace, [check.slug], Wish(limit=1))
    counts = filled.tally and (filled.tally.stored + filled.tally.parked)
    said = ", ".join(counts) if counts else str(filled.problem or "nothing")
    good = filled.problem is None and bool(filled.tally and filled.tally.stored["ok"])
    return check._replace(ping=said, ready=check.ready and good)


def _cost(micros: int | None) -> str:
    return "unknown" if micros is None else usd(micros)
