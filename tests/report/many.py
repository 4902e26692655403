"""The same results for more routes and more tasks, made in memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.report.sources import Sources

__all__ = ["more_routes", "more_tasks"]


def more_routes(sources: Sources, count: int) -> Sources:
    """The same results for more routes: copies of the first, all in one group."""
    first, second = sources.results.standings[:2]
    slugs = [f"r{place}" for place in range(count)]
    standings = tuple(
        first.model_copy(update={"slug": slug, "label": slug, "rank": place, "rank_high": count})
        for place, slug in enumerate(slugs, 1)
    )
    contrast = next(c for c in sources.contrasts if {c.left, c.right} == {first.slug, second.slug})
    pairs = tuple(
        contrast.model_copy(update={"left": a, "right": b, "resolved": False})
        for place, a in enumerate(slugs)
        for b in slugs[place + 1 :]
    )
    old = sources.results
    results = old._replace(
        standings=standings,
        chance=dict.fromkeys(slugs, old.chance[first.slug]),
        coverage=dict.fromkeys(slugs, old.coverage[first.slug])
        | {r.slug: old.coverage[r.slug] for r in old.references},
        usage=dict.fromkeys(slugs, old.usage[first.slug]),
        inference=old.inference.model_copy(
            update={"routes": count, "contrasts": len(pairs), "resolved": 0}
        ),
    )
    route = sources.parameters.routes[first.slug]
    routes = dict.fromkeys(slugs, route) | {
        r.slug: sources.parameters.routes[r.slug] for r in old.references
    }
    panels = [p for p in sources.panels if p.slug == first.slug]
    return sources._replace(
        parameters=sources.parameters.model_copy(update={"routes": routes}),
        results=results,
        contrasts=pairs,
        panels=tuple(p.model_copy(update={"slug": s}) for s in slugs for p in panels),
        selections=dict.fromkeys(slugs, sources.selections[first.slug])
        | {r.slug: sources.selections[r.slug] for r in old.references},
    )


def more_tasks(sources: Sources, count: int) -> Sources:
    """Copies of the tasks under names of their own; every cell has a digest and a text."""
    old = list(sources.tasks.values())
    tasks = {
        _digest(f"task {n}"): old[n % len(old)].model_copy(update={"task_id": f"task-{n:04}"})
        for n in range(count)
    }
    selections, texts = {}, {}
    for slug, cells in sources.selections.items():
        made = []
        for place, (digest, task) in enumerate(tasks.items()):
            response = _digest(f"{slug} {task.task_id}")
            texts[response] = f"{response * 4}\nFINAL_SELECTION: A, B, C"
            named = {"task_id": task.task_id, "task_digest": digest, "response_digest": response}
            made.append(cells[place % len(cells)].model_copy(update=named))
        selections[slug] = tuple(made)
    core = frozenset(task.task_id for task in tasks.values())
    return sources._replace(tasks=tasks, core=core, selections=selections, texts=texts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
