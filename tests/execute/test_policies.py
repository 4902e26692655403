from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.asking.adapter import Question, Request
from pipeline.execute.policies import REVISIONS, PolicyAdapter, count_dishes
from pipeline.parse.reader import read_selection
from schemas.execution import Outcome
from schemas.results import Reason
from schemas.routes import Policy, PolicyRoute
from schemas.taskset import CONTRACTS, LABELS, PORTFOLIOS
from tests.execute.small import CHOICES, make_task

CONTRACT = CONTRACTS["selection-set-v3"]
DISHES = (
    ("basil", "garlic", "tomato"),
    ("garlic", "ginger", "soy_sauce"),
    ("cream", "garlic", "tomato"),
    ("egg", "ginger"),
    ("lemon", "tomato"),
    ("cream", "egg"),
)
"""garlic 3; cream, egg, ginger 2; basil, lemon, soy_sauce 1; beside tomato: garlic 2, then
basil, cream, lemon 1."""

GOLDEN = {
    "uniform": (1, "CDF DGH DFG BEF BEH CFH BCH CDF"),
    "first_three": (1, "ABC ABC ABC ABC ABC ABC ABC ABC"),
    "most_common": (1, "BDG ACF BEH ADG CFH BEG ADF CEH"),
    "cooccurrence": (1, "BDH ACG BFH AEG DFH CEG BDF ACE"),
    "noisy": (1, "ABD ABE ABF BEF ABH ACD ACE ACF"),
    "optimum": (1, "ABD ABE ABF ABG ABH ACD ACE ACF"),
}
"""Each policy's revision, and what it takes of tasks 1 to 8 with their candidates rotated. Where a
selection changes, the revision must rise with it."""


def make_route(policy, **changes):
    policy = Policy(policy)
    given = {
        "adapter": "policy",
        "policy": policy,
        "seed": 7,
        "skill_bps": 5000 if policy is Policy.NOISY else None,
        "dishes": 1 if policy in {Policy.MOST_COMMON, Policy.COOCCURRENCE} else None,
        "label": "A policy",
        "ranked": policy is not Policy.OPTIMUM,
    }
    return PolicyRoute(**(given | changes))


def task_digest(number):
    return f"{number:064x}"


def ask(route, numbers=range(1, 9), tasks=None, dishes=DISHES):
    """Answer texts of a policy to tasks, by number."""
    tasks = tasks or {task_digest(n): make_task(n) for n in numbers}
    adapter = PolicyAdapter(route, tasks, count_dishes(dishes))

    async def answers():
        found = []
        for digest, task in tasks.items():
            reply = await adapter.ask(
                Request("0" * 64, Question(task.task_id, digest, task.prompt), "0" * 64)
            )
            assert (reply.outcome, reply.form) == (Outcome.OK, "text")
            found.append(reply.raw.decode("utf-8"))
        return found

    return asyncio.run(answers())


def selections(route, numbers=range(1, 9), **given):
    found = [read_selection(text, CHOICES, CONTRACT) for text in ask(route, numbers, **given)]
    assert {reading.reason for reading in found} == {None}
    return [reading.selection for reading in found]


def rotated(route):
    tasks = {task_digest(n): make_task(n, choices=CHOICES[n:] + CHOICES[:n]) for n in range(1, 9)}
    return selections(route, tasks=tasks)


class TestGolden:
    def test_every_policy_is_pinned(self):
        assert set(GOLDEN) == set(Policy) == set(REVISIONS)

    @pytest.mark.parametrize("policy", Policy)
    def test_selections_are_pinned(self, policy):
        assert (REVISIONS[policy], " ".join(rotated(make_route(policy)))) == GOLDEN[policy]

    def test_the_text_of_an_answer_is_pinned(self):
        (text,) = ask(make_route("cooccurrence"), [1])
        assert text == (
            "Basil, garlic and cream go together best here.\n\nFINAL_SELECTION: A, C, E\n"
        )

    def test_slips_are_pinned(self):
        assert ask(make_route("first_three", slips_bps=10_000), range(1, 13)) == [
            "FINAL_SELECTION: A, B, B\n",
            "FINAL_SELECTION: A, B\n",
            "FINAL_SELECTION: A, B, B\n",
            "FINAL_SELECTION: $A, B, C$\n",
            "FINAL_SELECTION: A, B, B\n",
            "I would take A, B, C.\n",
            "FINAL_SELECTION: $A, B, C$\n",
            "I would take A, B, C.\n",
            "FINAL_SELECTION:\n",
            "FINAL_SELECTION: A, B, C\nOn second thoughts:\nFINAL_SELECTION: F, G, H\n",
            "FINAL_SELECTION:\n",
            "FINAL_SELECTION: A, B\n",
        ]


class TestSimplePolicies:
    def test_first_three_takes_the_first_three_labels(self):
        assert set(selections(make_route("first_three"), range(20))) == {"ABC"}

    def test_optimum_takes_the_best_portfolio(self):
        numbers = range(len(PORTFOLIOS))
        assert tuple(selections(make_route("optimum"), numbers)) == PORTFOLIOS

    def test_most_common_takes_what_most_dishes_hold_with_ties_by_name(self):
        # garlic (C) 3; then cream (E), egg (H) and ginger (G) 2 each: cream and egg by name
        assert selections(make_route("most_common"), [1]) == ["CEH"]

    def test_cooccurrence_takes_what_shares_most_dishes_with_the_anchor(self):
        # beside tomato: garlic (C) 2; basil (A), cream (E), lemon (F) 1 each; cream is in 2
        # dishes, basil and lemon in 1 each: basil by name
        assert selections(make_route("cooccurrence"), [1]) == ["ACE"]

    def test_cooccurrence_falls_back_on_commonness_where_nothing_is_shared(self):
        tasks = {task_digest(1): make_task(1, anchor="unheard_of")}
        assert selections(make_route("cooccurrence"), tasks=tasks) == ["CEH"]

    def test_without_dishes_ties_fall_by_name_and_not_by_label(self):
        # basil (A), cream (E), egg (H) come first by name
        for policy in ("most_common", "cooccurrence"):
            assert selections(make_route(policy), [1], dishes=()) == ["AEH"]

    @pytest.mark.parametrize("policy", ["most_common", "cooccurrence"])
    @settings(deadline=None, max_examples=30)
    @given(order=st.permutations(CHOICES), dishes=st.permutations(DISHES))
    def test_the_order_of_candidates_and_dishes_does_not_count(self, policy, order, dishes):
        task = make_task(1, choices=tuple(order))
        (text,) = ask(make_route(policy), tasks={task_digest(1): task}, dishes=dishes)
        chosen = read_selection(text, order, CONTRACT).selection
        names = {order[LABELS.index(label)] for label in chosen}
        assert names == (
            {"garlic", "cream", "egg"} if policy == "most_common" else {"garlic", "cream", "basil"}
        )

    def test_dishes_are_counted_alone_and_in_pairs(self):
        counts = count_dishes([("a", "b", "c"), ("b", "a"), ("c",)])
        assert counts.single == {"a": 2, "b": 2, "c": 2}
        assert counts.pair == {frozenset("ab"): 2, frozenset("ac"): 1, frozenset("bc"): 1}


class TestDraws:
    def test_uniform_is_near_uniform_over_the_56_portfolios(self):
        each = 100
        counts = Counter(selections(make_route("uniform"), range(56 * each)))
        assert set(counts) == set(PORTFOLIOS)
        chi_square = sum((count - each) ** 2 / each for count in counts.values())
        # 55 degrees of freedom: mean 55, standard deviation 10.5
        assert 20 < chi_square < 100

    def test_seeds_draw_apart(self):
        one, two = (selections(make_route("uniform", seed=s), range(560)) for s in (1, 2))
        same = sum(a == b for a, b in zip(one, two, strict=True))
        assert same < 30  # 10 expected

    @pytest.mark.parametrize(
        ("skill_bps", "low", "high"),
        [(0, 0, 40), (2500, 220, 320), (7500, 710, 810), (9999, 990, 1000)],
    )
    def test_noisy_takes_the_optimum_as_often_as_its_skill_says(self, skill_bps, low, high):
        numbers = range(1000)
        found = selections(make_route("noisy", skill_bps=skill_bps), numbers)
        best = [make_task(n).optimum for n in numbers]
        assert low <= sum(a == b for a, b in zip(found, best, strict=True)) <= high

    def test_noisy_without_skill_is_uniform(self):
        noisy = make_route("noisy", skill_bps=0)
        assert selections(noisy, range(200)) == selections(make_route("uniform"), range(200))

    def test_noisy_with_full_skill_is_the_optimum(self):
        noisy = make_route("noisy", skill_bps=10_000)
        assert selections(noisy, range(200)) == [make_task(n).optimum for n in range(200)]

    def test_skill_and_portfolio_are_drawn_apart(self):
        numbers = range(2000)
        pairs = zip(
            selections(make_route("noisy", skill_bps=5000), numbers),
            selections(make_route("uniform"), numbers),
            [make_task(n).optimum for n in numbers],
            strict=True,
        )
        drawn = [(noisy, uniform) for noisy, uniform, best in pairs if noisy != best]
        assert all(noisy == uniform for noisy, uniform in drawn)
        unskilled = [PORTFOLIOS.index(noisy) for noisy, _ in drawn]
        assert 24 < sum(unskilled) / len(unskilled) < 31  # 27.5 expected

    def test_an_answer_does_not_depend_on_the_other_tasks_nor_on_their_order(self):
        for policy in Policy:
            route = make_route(policy, slips_bps=3000)
            together = ask(route, range(10))
            assert [ask(route, [n])[0] for n in range(10)] == together
            assert ask(route, range(9, -1, -1)) == together[::-1]


class TestSight:
    @pytest.mark.parametrize("policy", Policy)
    @pytest.mark.parametrize("slips_bps", [0, 10_000])
    def test_only_a_policy_that_sees_the_map_answers_by_the_scores(self, policy, slips_bps):
        def answers(best):
            scores = tuple(10_000 if i == best else 0 for i in range(56))
            changes = {"scores_bps": scores, "optimum": PORTFOLIOS[best], "chance_bps": 179}
            return ask(
                make_route(policy, slips_bps=slips_bps),
                tasks={task_digest(n): make_task(n, **changes) for n in range(40)},
            )

        assert (answers(3) != answers(50)) == policy.sees_map


class TestSlips:
    @pytest.mark.parametrize("policy", Policy)
    def test_with_slips_for_all_no_answer_is_read_and_every_kind_gives_its_reason(self, policy):
        texts = ask(make_route(policy, slips_bps=10_000), range(200))
        reasons = Counter(read_selection(text, CHOICES, CONTRACT).reason for text in texts)
        assert set(reasons) == set(Reason)

    @pytest.mark.parametrize(
        ("shape", "reason"),
        [
            ("I would take {a}, {b}, {c}.\n", Reason.NO_MARKER),
            ("FINAL_SELECTION:\n", Reason.EMPTY_MARKER),
            ("FINAL_SELECTION: {a}, {b}\n", Reason.WRONG_COUNT),
            ("FINAL_SELECTION: {a}, {b}, Z\n", Reason.UNKNOWN_ITEM),
            ("FINAL_SELECTION: {a}, {b}, {b}\n", Reason.DUPLICATE_ITEM),
            ("FINAL_SELECTION: ${a}, {b}, {c}$\n", Reason.WRAPPER),
            (
                "FINAL_SELECTION: {a}, {b}, {c}\nOn second thoughts:\nFINAL_SELECTION: {other}\n",
                Reason.CONFLICT,
            ),
        ],
        ids=lambda value: value.value if isinstance(value, Reason) else "",
    )
    def test_each_kind_of_slip_is_this_text_for_this_reason_on_every_portfolio(self, shape, reason):
        numbers = range(56 * 20)  # each optimum some twenty times
        texts = ask(make_route("optimum", slips_bps=10_000), numbers)
        seen = set()
        for number, text in zip(numbers, texts, strict=True):
            selection = make_task(number).optimum
            a, b, c = selection
            other = "A, B, C" if selection == "FGH" else "F, G, H"
            read = read_selection(text, CHOICES, CONTRACT)
            assert read.selection is None
            expected = text == shape.format(a=a, b=b, c=c, other=other)
            assert expected == (read.reason == reason)
            seen |= {selection} if expected else set()
        assert len(seen) > 40

    @pytest.mark.parametrize(("slips_bps", "low", "high"), [(0, 0, 0), (600, 40, 85)])
    def test_slips_come_as_often_as_their_share_says(self, slips_bps, low, high):
        plain = ask(make_route("uniform"), range(1000))
        careless = ask(make_route("uniform", slips_bps=slips_bps), range(1000))
        slipped = [a != b for a, b in zip(plain, careless, strict=True)]
        assert low <= sum(slipped) <= high

    def test_a_larger_share_keeps_every_slip_of_a_smaller_one(self):
        plain = ask(make_route("uniform"), range(300))
        few, many = (ask(make_route("uniform", slips_bps=s), range(300)) for s in (500, 3000))
        for unslipped, small, large in zip(plain, few, many, strict=True):
            assert small in {unslipped, large}


class TestText:
    @pytest.mark.parametrize("policy", Policy)
    def test_answers_are_sentences_that_name_what_they_choose(self, policy):
        for text in ask(make_route(policy), range(60)):
            prose, _, last = text.rstrip("\n").rpartition("\n\n")
            assert text.endswith("\n")
            assert text.replace("\n", "").isprintable()
            labels = last.removeprefix("FINAL_SELECTION: ").split(", ")
            names = [CHOICES[LABELS.index(label)].replace("_", " ") for label in labels]
            assert prose == (
                f"{names[0].capitalize()}, {names[1]} and {names[2]} go together best here."
            )
            assert labels == sorted(labels)

    def test_names_beyond_ascii_are_utf8(self):
        task = make_task(0, choices=("piñón", "jalapeño", "crème_fraîche", "d", "e", "f", "g", "h"))
        (text,) = ask(make_route("first_three"), tasks={task_digest(0): task})
        assert text.startswith("Piñón, jalapeño and crème fraîche go together")

    def test_policies_cost_nothing(self):
        assert not PolicyAdapter(make_route("uniform"), {}, None).costs_money
