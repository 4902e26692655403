"""A route with its identity: what every track binds an adapter to (design 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from schemas.parameters import OpenAiRoute, PolicyRoute, ReplayRoute

__all__ = ["BoundRoute"]


class BoundRoute(NamedTuple):
    """A route with its identity: the canonical document and its digest (hex)."""

    slug: str
    route: PolicyRoute | ReplayRoute | OpenAiRoute
    document: str
    digest: str
