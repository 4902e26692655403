"""Routes: what their identity covers, and the adapter that answers for each (docs/identity.md).

Identity covers what can change an answer: the adapter and its settings, what a policy knows, the
replayed bytes, and the answer-text rule; of an endpoint its address, the model asked for, the ids
that may come back, the system prompt and everything else in the request's body; of a local program
its arguments and the digest of its weights. Never a label, a rank, where a file lies, a secret, a
price or a limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.answer import answer_rule_digest
from pipeline.errors import InputError
from pipeline.identity import canonical_bytes, digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.asking.adapter import Adapter, Questions
    from pipeline.asking.adapters import Maker
    from pipeline.asking.track import Track
    from schemas.parameters import Parameters
    from schemas.record import IdentityValue
    from schemas.routes import ExecutionRoute

__all__ = ["BoundRoute", "bind_route", "bound_route", "find_route"]


class BoundRoute(NamedTuple):
    """A route with its identity: the canonical document and its digest (hex)."""

    slug: str
    route: ExecutionRoute
    document: str
    digest: str
    maker: Maker


def find_route(
    track: Track, parameters: Parameters, slug: str, *, aside: bool = False
) -> BoundRoute:
    """The route of a slug; with `aside`, one that is set aside as well.

    Raises
    ------
    InputError
        There is no such slug.
    """
    routes = track.all_routes(parameters) if aside else track.routes(parameters)
    if slug not in routes:
        raise InputError(
            f"one of {', '.join(routes)}",
            repr(slug),
            "route",
            "Routes stand in params.yaml; one with enabled: false is set aside.",
        )
    return bound_route(slug, routes[slug], track.adapters)


def bound_route(
    slug: str, route: ExecutionRoute, adapters: Mapping[type[ExecutionRoute], Maker]
) -> BoundRoute:
    """A route with its identity, under the adapters at hand."""
    maker = adapters[type(route)]
    identity: dict[str, IdentityValue] = {
        "adapter": route.adapter,
        "answer_rule": answer_rule_digest(route.read_by),
        **maker.identity(route),
    }
    document = canonical_bytes(identity).decode("utf-8")
    return BoundRoute(slug, route, document, digest("route", identity), maker)


def bind_route(bound: BoundRoute, questions: Questions, root: Path) -> Adapter:
    """The adapter that answers for a route.

    Parameters
    ----------
    bound
        The route.
    questions
        All that it will be asked.
    root
        Folder that relative paths of a route start from.

    Raises
    ------
    ExecuteError
        A replay file or a program does not fit.
    """
    return bound.maker.make(bound, questions, root)
