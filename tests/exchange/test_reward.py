"""Rewards: TRL's calling convention, and the batch that equals the parser for every text."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answer import completion_text
from pipeline.errors import InputError
from pipeline.exchange.batch import UNREADABLE_BPS, RewardMaps
from pipeline.exchange.reward import selection_reward
from pipeline.parse.reader import read_selection
from schemas.taskset import CONTRACTS, LABELS, PORTFOLIOS, Task
from tests.release.test_published import make_set
from tests.schemas.examples import EXAMPLES
from tests.shared import SHARED, needs_shared

TASK = EXAMPLES[Task]
CHOICES = dict(zip(LABELS, TASK.choices, strict=True))
SCORES = dict(zip(PORTFOLIOS, TASK.scores_bps, strict=True))


def rewards(*completions):
    return selection_reward(
        list(completions),
        prompts=["…"] * len(completions),
        task_id=["t"] * len(completions),
        choices=[CHOICES] * len(completions),
        selection_scores_bps=[SCORES] * len(completions),
        trainer_state=None,
    )


def test_texts_and_chats_are_worth_the_same():
    text = "FINAL_SELECTION: A, C, F"
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": text}]
    assert rewards(text, chat) == [1.0, 1.0]
    assert rewards("FINAL_SELECTION: A, B, D") == [SCORES["ABD"] / 10_000]


@pytest.mark.parametrize(
    "completion", ["", "dunno", None, [], [{"role": "assistant", "content": None}]]
)
def test_what_cannot_be_read_is_worth_nothing(completion):
    assert rewards(completion) == [0.0]


@pytest.mark.parametrize("completion", [7, ["x"], [None], [{"content": "x"}], {"role": "user"}])
def test_an_unknown_shape_is_not_worth_nothing_but_refused(completion):
    with pytest.raises(InputError, match="completion: expected a text, null, or a list of mess"):
        rewards(completion)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"choices": [], "selection_scores_bps": [SCORES]}, "as long as the completions"),
        ({"choices": [{"A": "x"}], "selection_scores_bps": [SCORES]}, "choices A to H"),
        ({"choices": [CHOICES], "selection_scores_bps": [{"ABC": 1}]}, "no ACF"),
    ],
)
def test_columns_that_do_not_fit_are_named(columns, said):
    with pytest.raises(InputError, match=said):
        selection_reward(["FINAL_SELECTION: A, C, F"], **columns)


# The batch

PIECES = (
    "FINAL_SELECTION:", "final_selection:", "FINAL_SELECTION :", "Final_Selection",
    "FINAL\\_SELECTION:", "A, C, F", "a,b,c", "A, A, B", "miso, egg, basil", "A", ", ", "B", "H",
    "**", "`", "_", " ", "\n", "\r\n", "\u2028", "\x0b", "\u0131", "\u017f", ".", " and ", "$",
    "<|close|>response", "none", "<think>", "</think>", "[THINK]", "<",
)  # fmt: skip


def expected(texts, contract):
    answers = [completion_text(text) for text in texts]
    found = [read_selection(text, TASK.choices, contract).selection for text in answers]
    return [UNREADABLE_BPS if one is None else SCORES[one] for one in found]


@pytest.mark.parametrize("name", CONTRACTS)
@given(texts=st.lists(st.lists(st.sampled_from(PIECES), max_size=9).map("".join), max_size=8))
def test_a_batch_equals_the_parser(name, texts):
    contract = CONTRACTS[name]
    maps = RewardMaps.of([TASK], contract)
    found = maps.rewards(texts, np.zeros(len(texts), dtype=np.int64))
    assert found.tolist() == expected(texts, contract)


def test_tasks_have_their_own_maps_and_null_is_no_answer():
    other = TASK.model_copy(update={"scores_bps": tuple(range(56))})
    maps = RewardMaps.of([TASK, other], CONTRACTS["selection-set-v3"])
    answers = ["FINAL_SELECTION: F, A, C"] * 2 + [None]
    found = maps.rewards(answers, np.array([0, 1, 1]))
    assert found.tolist() == [10_000, PORTFOLIOS.index("ACF"), UNREADABLE_BPS]


def test_no_answers_have_no_rewards():
    maps = RewardMaps.of([TASK], CONTRACTS["selection-set-v3"])
    assert maps.rewards([], np.zeros(0, dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("tasks", [[0, 0], [1], [-1]])
def test_tasks_out_of_place_are_refused(tasks):
    maps = RewardMaps.of([TASK], CONTRACTS["selection-set-v3"])
    with pytest.raises(InputError, match="task"):
        maps.rewards(["x"], np.array(tasks))


# What was published


@needs_shared
def test_the_published_examples_have_their_published_scores():
    official = SHARED / "official"
    examples = json.loads((official / "published-examples.json").read_text(encoding="utf-8"))
    tasks = {}
    for name in ("taskset-panel-1.json", "taskset-panel-2.json"):
        document = json.loads((official / name).read_text(encoding="utf-8"))
        tasks |= {task["task_id"]: task for task in document["tasks"]}
    assert len(examples["cases"]) >= 3
    for case in examples["cases"]:
        task = tasks[case["task_id"]]
        for side in ("higher_ranked", "lower_ranked"):
            by_labels = "FINAL_SELECTION: " + ", ".join(case[side]["selection"])
            by_names = "FINAL_SELECTION: " + ", ".join(case[side]["ingredients"])
            found = selection_reward(
                [by_labels, by_names],
                choices=[task["choices"]] * 2,
                selection_scores_bps=[task["selection_scores_bps"]] * 2,
            )
            assert [round(100 * one, 2) for one in found] == [case[side]["score"]] * 2


def test_the_small_set_is_what_a_trainer_sees():
    task = make_set()["tasks"][0]
    found = selection_reward(
        ["FINAL_SELECTION: F, G, H"],
        choices=[task["choices"]],
        selection_scores_bps=[task["selection_scores_bps"]],
    )
    assert found == [0.97]
