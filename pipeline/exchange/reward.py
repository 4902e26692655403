"""One answer's reward, and a reward function with the calling convention of TRL's trainers.

A reward is the score of the selection as a share of the optimum, from 0 to 1; an answer that holds
no readable selection is worth 0. Answers are read as a route's are, under the parser contract of
their task set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.answer import completion_text
from pipeline.errors import InputError
from pipeline.parse.reader import read_selection
from pipeline.showing.numbers import bps
from pipeline.showing.view import View
from schemas.taskset import BEST_BPS, CONTRACTS, LABELS, PUBLISHED_CONTRACT, Task, TaskSet, score_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.workspace import Workspace
    from schemas.results import Reason
    from schemas.taskset import ParserContract

__all__ = ["reward_of", "reward_view", "selection_reward"]

_REMEDY = "Use the columns of `flavourbench export grpo`."


class Reward(NamedTuple):
    """A selection and its score in basis points, or the reason why there is none."""

    selection: str | None
    reason: Reason | None
    score_bps: int


def reward_of(workspace: Workspace, name: str, text: str) -> tuple[Reward, Task]:
    """The reward of one answer to a frozen task.

    Raises
    ------
    InputError
        No task, or more than one, has that id or start of a digest.
    TableError
        No tasks are frozen, or their table is damaged.
    """
    from pipeline.report.contents import find_task

    tasks = workspace.read("freeze", Task)
    _, task = find_task(name, tasks.digests, tasks.rows())
    contract = workspace.read("freeze", TaskSet).rows()[0].parser
    reading = read_selection(completion_text(text), task.choices, contract)
    if reading.selection is None:
        return Reward(None, reading.reason, 0), task
    return Reward(reading.selection, None, score_of(task, reading.selection)), task


def reward_view(reward: Reward, task: Task) -> View:
    """What one answer is worth."""
    document = {
        "task_id": task.task_id,
        "selection": reward.selection,
        "reason": reward.reason.value if reward.reason else None,
        "score_bps": reward.score_bps,
        "chance_bps": task.chance_bps,
        "optimum": task.optimum,
    }
    said = (
        f"{reward.selection}: {bps(reward.score_bps)}"
        if reward.selection
        else f"Unreadable ({document['reason']}): worth 0"
    )
    notes = (said, f"Chance {bps(task.chance_bps)}, optimum {task.optimum} 100.00")
    return View(task.task_id, (), notes, document)


def selection_reward(
    completions: Sequence[Any],
    *,
    choices: Sequence[Mapping[str, str]],
    selection_scores_bps: Sequence[Mapping[str, int]],
    parser_contract: Sequence[str] | None = None,
    **_columns: Any,
) -> list[float]:
    """Rewards of completions, as `reward_funcs` of TRL's `GRPOTrainer` takes them.

    Parameters
    ----------
    completions
        Texts, or chats as lists of messages, as `completion_text` takes them.
    choices, selection_scores_bps, parser_contract
        Columns of the rows that the completions belong to, one entry a completion. Rows without
        `parser_contract` are read as published ones are.
    **_columns
        Whatever else the trainer passes.

    Returns
    -------
    list of float
        From 0 to 1, one a completion.

    Raises
    ------
    InputError
        A completion has an unknown shape, the columns are not as many as the completions, a
        contract is unknown, or a map lacks the selection.
    """
    contracts = [PUBLISHED_CONTRACT] * len(choices) if parser_contract is None else parser_contract
    counts = [len(column) for column in (completions, choices, selection_scores_bps, contracts)]
    if len(set(counts)) != 1:
        found = ", ".join(map(str, counts))
        raise InputError("columns as long as the completions", found, "reward", _REMEDY)
    return [
        _score_of(completion_text(completion), names, scores, _contract(contract)) / BEST_BPS
        for completion, names, scores, contract in zip(
            completions, choices, selection_scores_bps, contracts, strict=True
        )
    ]


def _contract(name: str) -> ParserContract:
    if name not in CONTRACTS:
        raise InputError(f"one of {', '.join(CONTRACTS)}", repr(name), "reward", _REMEDY)
    return CONTRACTS[name]


def _score_of(
    text: str | None, names: Mapping[str, str], scores: Mapping[str, int], contract: ParserContract
) -> int:
    """The score of an answer text in basis points; 0 where it holds no selection."""
    ordered = [names[label] for label in LABELS if label in names]
    if len(ordered) != len(LABELS):
        raise InputError("choices A to H", ", ".join(names), "reward", _REMEDY)
    selection = read_selection(text, ordered, contract).selection
    if selection is None:
        return 0
    if selection not in scores:
        raise InputError("a map of all 56 portfolios", f"no {selection}", "reward", _REMEDY)
    return scores[selection]
