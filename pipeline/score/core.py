"""The common core: tasks that every ranked route answered validly, chosen without any score.

`choose_core` is given which cells are valid and nothing else; it cannot see selections or scores.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["CoreChoice", "CoreEntry", "Stratum", "check_plan", "choose_core", "core_order"]


class Stratum(NamedTuple):
    """One panel and family."""

    panel: str
    family: str


class CoreEntry(NamedTuple):
    """One task of the core and its place in its stratum's order."""

    stratum: Stratum
    position: int
    task_id: str


class CoreChoice(NamedTuple):
    """The core, and how many tasks of each stratum could have been taken."""

    entries: tuple[CoreEntry, ...]
    eligible: dict[Stratum, int]


def core_order(context: str, stratum: Stratum, task_ids: Iterable[str]) -> list[str]:
    r"""Task ids by the hex SHA-256 of `context \0 panel \0 family \0 task id` (docs/core.md)."""

    def place(task_id: str) -> str:
        text = f"{context}\0{stratum.panel}\0{stratum.family}\0{task_id}"
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    return sorted(task_ids, key=place)


def choose_core(
    strata: Mapping[Stratum, Sequence[str]],
    valid: Mapping[str, frozenset[str]],
    context: str,
    size: int | None,
) -> CoreChoice:
    """Take the first tasks of every stratum among those valid for every ranked route.

    Parameters
    ----------
    strata
        Task ids of every ranked panel and family.
    valid
        Task ids with a valid cell, by ranked route.
    context
        Text that fixes the hash order.
    size
        Tasks to take of each stratum; none takes as many as the smallest has.

    Raises
    ------
    InputError
        No route is ranked, a stratum has no eligible task, or fewer than `size`.
    """
    if not valid:
        raise InputError(
            "at least one ranked route", "none", "params.yaml: routes", "Set ranked: true on some."
        )
    everywhere = frozenset.intersection(*valid.values())
    eligible = {
        stratum: [task for task in core_order(context, stratum, ids) if task in everywhere]
        for stratum, ids in strata.items()
    }
    counts = {stratum: len(ids) for stratum, ids in eligible.items()}
    taken = min(counts.values(), default=0) if size is None else size
    for stratum, count in counts.items():
        if count < max(taken, 1):
            raise InputError(
                f"{max(taken, 1)} tasks that every ranked route answered validly",
                f"{count} of {len(strata[stratum])}",
                f"core of {stratum.panel}, {stratum.family}",
                _remedy(strata[stratum], valid),
            )
    entries = [
        CoreEntry(stratum, position, task_id)
        for stratum, ids in eligible.items()
        for position, task_id in enumerate(ids[:taken])
    ]
    return CoreChoice(tuple(entries), counts)


def check_plan(
    planned: Sequence[CoreEntry],
    strata: Mapping[Stratum, Sequence[str]],
    valid: Mapping[str, frozenset[str]],
) -> CoreChoice:
    """Take a published plan's tasks as the core.

    Raises
    ------
    InputError
        A planned task is not frozen, or not validly answered by every ranked route.
    """
    known = {task for ids in strata.values() for task in ids}
    for entry in planned:
        if entry.task_id not in known:
            raise InputError(
                "planned tasks among the frozen tasks of ranked families", entry.task_id,
                "published plan", "Check score.families and the release.",
            )  # fmt: skip
        for slug, tasks in valid.items():
            if entry.task_id not in tasks:
                raise InputError(
                    "a valid answer of every ranked route to every planned task",
                    f"none of {slug} to {entry.task_id}",
                    "published plan",
                    "Set ranked: false on that route, or use the rule instead of the plan.",
                )
    everywhere = frozenset.intersection(*valid.values())
    counts = {stratum: sum(t in everywhere for t in ids) for stratum, ids in strata.items()}
    return CoreChoice(tuple(planned), counts)


def _remedy(task_ids: Sequence[str], valid: Mapping[str, frozenset[str]]) -> str:
    """Which route costs the stratum most."""
    lost = {slug: sum(task not in tasks for task in task_ids) for slug, tasks in valid.items()}
    worst = max(lost, key=lambda slug: (lost[slug], slug))
    if not lost[worst]:
        return "The panel has no more: lower score.core.size."
    return f"{worst} lacks {lost[worst]} of them: lower score.core.size or set it ranked: false."
