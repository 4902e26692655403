"""Routes: what their identity covers, and the adapter that answers for each (design 4).

Identity covers what can change an answer: the adapter and its settings, what a policy knows, the
replayed bytes, and the answer-text rule; of an endpoint its address, the model asked for, the ids
that may come back, the system prompt and everything else in the request's body. Never a label, a
rank, where a file lies, a secret, a price or a limit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pipeline.answer import answer_rule_digest
from pipeline.asking.openai import OpenAiAdapter
from pipeline.asking.replay import ReplayAdapter, read_replay
from pipeline.asking.routes import BoundRoute
from pipeline.errors import UsageError
from pipeline.execute.policies import REVISIONS, PolicyAdapter, count_dishes
from pipeline.identity import canonical_bytes, digest
from pipeline.starter import dishes_digest, read_dishes
from schemas.parameters import OpenAiRoute, PolicyRoute

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.asking.adapter import Adapter
    from schemas.parameters import ReplayRoute, Route
    from schemas.record import IdentityValue
    from schemas.taskset import Task

__all__ = ["bind_route", "find_route", "route_identity"]


def find_route(routes: Mapping[str, Route], slug: str) -> BoundRoute:
    """The route of a slug.

    Raises
    ------
    UsageError
        There is no such slug.
    """
    if slug not in routes:
        raise UsageError(
            f"one of {', '.join(routes)}",
            repr(slug),
            "route",
            "Routes stand in params.yaml; one with enabled: false is set aside.",
        )
    route = routes[slug]
    identity = route_identity(route)
    return BoundRoute(
        slug, route, canonical_bytes(identity).decode("utf-8"), digest("route", identity)
    )


def route_identity(route: PolicyRoute | ReplayRoute | OpenAiRoute) -> dict[str, IdentityValue]:
    """What a route's digest covers."""
    if isinstance(route, PolicyRoute):
        return {
            "adapter": route.adapter,
            "answer_rule": answer_rule_digest("message"),
            "dishes": None if route.dishes is None else dishes_digest(route.dishes),
            "policy": route.policy.value,
            "revision": REVISIONS[route.policy],
            "seed": route.seed,
            "skill_bps": route.skill_bps,
            "slips_bps": route.slips_bps,
        }
    if isinstance(route, OpenAiRoute):
        body = route.sampling.model_dump(exclude_none=True) | route.extra_body
        return {
            "accept": [*sorted(set(route.accept or (route.model,)))],
            "adapter": route.adapter,
            "answer_rule": answer_rule_digest("message"),
            "base_url": route.base_url,
            "body": json.dumps(_exact(body), sort_keys=True, ensure_ascii=False),
            "model": route.model,
            "system": route.system,
        }
    return {
        "adapter": route.adapter,
        "answer_rule": answer_rule_digest(route.answer_rule),
        "answers_sha256": route.sha256,
    }


def _exact(value: Any) -> Any:
    """JSON in which 1.0 and 1 are the same number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    return [_exact(item) for item in value] if isinstance(value, list | tuple) else value


def bind_route(bound: BoundRoute, tasks: Mapping[str, Task], root: Path) -> Adapter:
    """The adapter that answers for a route.

    Parameters
    ----------
    bound
        The route.
    tasks
        Frozen tasks by digest.
    root
        Folder that relative paths of a route start from.

    Raises
    ------
    ExecuteError
        A replay file does not fit; see `read_replay`.
    """
    route = bound.route
    if isinstance(route, PolicyRoute):
        dishes = None if route.dishes is None else count_dishes(read_dishes(route.dishes))
        return PolicyAdapter(route, tasks, dishes)
    if isinstance(route, OpenAiRoute):
        return OpenAiAdapter(route, bound.slug)
    names = [task.task_id for task in tasks.values()]
    return ReplayAdapter(read_replay(root / route.answers, route, names))
