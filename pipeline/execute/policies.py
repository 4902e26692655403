"""Built-in policies: deterministic answers in real text, without clock, network or cost.

A policy sees the question (anchor, candidates); only `noisy` and `optimum` see the map as well.
Its draws are digests of seed and task, so an answer depends on nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.asking.adapter import Reply
from pipeline.identity import digest
from pipeline.starter import dishes_digest, read_dishes
from schemas.execution import Outcome
from schemas.routes import Policy
from schemas.taskset import LABELS, PORTFOLIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pipeline.asking.adapter import Questions, Request
    from pipeline.asking.routes import BoundRoute
    from schemas.record import IdentityValue
    from schemas.routes import PolicyRoute
    from schemas.taskset import Task

__all__ = ["REVISIONS", "PolicyAdapter", "count_dishes", "identity", "make"]

_FULL_SHARE = 10_000


class DishCounts(NamedTuple):
    """In how many dishes an ingredient stands, alone and beside another."""

    single: Mapping[str, int]
    pair: Mapping[frozenset[str], int]


class _Question(NamedTuple):
    """What a policy that does not see the map is shown."""

    digest: str
    anchor: str
    choices: tuple[str, ...]


REVISIONS: dict[Policy, int] = dict.fromkeys(Policy, 1)
"""Rises when a policy's answers change; part of its route's identity."""


def identity(route: PolicyRoute) -> dict[str, IdentityValue]:
    """What can change an answer: the policy, its settings, and the dishes that it knows."""
    return {
        "dishes": None if route.dishes is None else dishes_digest(route.dishes),
        "policy": route.policy.value,
        "revision": REVISIONS[route.policy],
        "seed": route.seed,
        "skill_bps": route.skill_bps,
        "slips_bps": route.slips_bps,
    }


def make(bound: BoundRoute, questions: Questions, root: Path) -> PolicyAdapter:  # noqa: ARG001  # as all makers
    """The adapter of a built-in policy."""
    route: Any = bound.route
    dishes = None if route.dishes is None else count_dishes(read_dishes(route.dishes))
    return PolicyAdapter(route, questions.rows, dishes)


class PolicyAdapter:
    """Answers as a policy would.

    Parameters
    ----------
    route
        The policy and its settings.
    tasks
        The frozen tasks, looked up by digest.
    dishes
        Dish counts, for the policies that know dishes.
    """

    costs_money = False

    def __init__(
        self, route: PolicyRoute, tasks: Mapping[str, Task], dishes: DishCounts | None
    ) -> None:
        self._route = route
        self._tasks = tasks
        self._dishes = dishes or DishCounts({}, {})

    async def ask(self, request: Request) -> Reply:
        """Answer one request; the same request always gets the same bytes."""
        task = self._tasks[request.question.digest]
        question = _Question(request.question.digest, task.anchor, task.choices)
        selection = self._choose(question, task)
        names = [task.choices[LABELS.index(label)].replace("_", " ") for label in selection]
        text = self._slip(question, selection) or (
            f"{names[0].capitalize()}, {names[1]} and {names[2]} go together best here.\n\n"
            f"FINAL_SELECTION: {', '.join(selection)}\n"
        )
        return Reply(Outcome.OK, "text", text.encode("utf-8"))

    def _choose(self, question: _Question, task: Task) -> str:
        choosers: dict[Policy, Callable[[], str]] = {
            Policy.UNIFORM: lambda: self._any(question),
            Policy.FIRST_THREE: lambda: PORTFOLIOS[0],
            Policy.MOST_COMMON: lambda: self._by_commonness(question),
            Policy.COOCCURRENCE: lambda: self._by_cooccurrence(question),
            Policy.NOISY: lambda: self._noisy(question, task.optimum),
            Policy.OPTIMUM: lambda: task.optimum,
        }
        return choosers[self._route.policy]()

    def _any(self, question: _Question) -> str:
        return PORTFOLIOS[self._draw("portfolio", question, len(PORTFOLIOS))]

    def _noisy(self, question: _Question, optimum: str) -> str:
        skilled = self._draw("skill", question, _FULL_SHARE) < (self._route.skill_bps or 0)
        return optimum if skilled else self._any(question)

    def _by_commonness(self, question: _Question) -> str:
        return _top_three(question, lambda name: (self._dishes.single.get(name, 0),))

    def _by_cooccurrence(self, question: _Question) -> str:
        def shared(name: str) -> tuple[int, int]:
            together = self._dishes.pair.get(frozenset((question.anchor, name)), 0)
            return together, self._dishes.single.get(name, 0)

        return _top_three(question, shared)

    def _slip(self, question: _Question, selection: str) -> str | None:
        """An answer that breaks the format, for the set share of tasks; else none."""
        if self._draw("slip", question, _FULL_SHARE) >= self._route.slips_bps:
            return None
        joined = ", ".join(selection)
        other = ", ".join(PORTFOLIOS[-1] if selection != PORTFOLIOS[-1] else PORTFOLIOS[0])
        slips = (
            f"I would take {joined}.\n",
            "FINAL_SELECTION:\n",
            f"FINAL_SELECTION: {', '.join(selection[:2])}\n",
            f"FINAL_SELECTION: {', '.join(selection[:2])}, Z\n",
            f"FINAL_SELECTION: {selection[0]}, {selection[1]}, {selection[1]}\n",
            f"FINAL_SELECTION: ${joined}$\n",
            f"FINAL_SELECTION: {joined}\nOn second thoughts:\nFINAL_SELECTION: {other}\n",
        )
        return slips[self._draw("slip-kind", question, len(slips))]

    def _draw(self, purpose: str, question: _Question, below: int) -> int:
        """An integer in [0, below): 256 bits modulo `below`, so its bias is below 2^-240."""
        drawn = digest(
            "policy-draw", {"purpose": purpose, "seed": self._route.seed, "task": question.digest}
        )
        return int(drawn, 16) % below


def count_dishes(dishes: Iterable[tuple[str, ...]]) -> DishCounts:
    """Count ingredients and pairs over dishes, each a tuple of distinct names."""
    single: dict[str, int] = {}
    pair: dict[frozenset[str], int] = {}
    for names in dishes:
        for i, name in enumerate(names):
            single[name] = single.get(name, 0) + 1
            for other in names[i + 1 :]:
                both = frozenset((name, other))
                pair[both] = pair.get(both, 0) + 1
    return DishCounts(single, pair)


def _top_three(question: _Question, worth: Callable[[str], tuple[int, ...]]) -> str:
    """Labels of the three worthiest candidates, ties by name."""
    ranked = sorted(
        zip(question.choices, LABELS, strict=True),
        key=lambda pair: ([-value for value in worth(pair[0])], pair[0]),
    )
    return "".join(sorted(label for _, label in ranked[:3]))
