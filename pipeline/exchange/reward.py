"""One answer's reward, and a reward function with the calling convention of TRL's trainers.

A reward is the score of the selection as a share of the optimum, from 0 to 1; an answer that holds
no readable selection is worth 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import ExchangeError
from pipeline.parse.reader import read_selection
from schemas.taskset import CONTRACTS, LABELS, PORTFOLIOS, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.workspace import Workspace
    from schemas.results import Reason

__all__ = ["Reward", "reward_of", "selection_reward"]

_WHOLE_BPS = 10_000
_CONTRACT = CONTRACTS["selection-set-v3"]
_REMEDY = "Use the columns of `flavourbench export grpo`."


class Reward(NamedTuple):
    """A selection and its score in basis points, or the reason why there is none."""

    selection: str | None
    reason: Reason | None
    score_bps: int


def reward_of(workspace: Workspace, name: str, text: str) -> tuple[Reward, Task]:
    """The reward of one answer to a frozen task, under the contract in force.

    Raises
    ------
    UsageError
        No task, or more than one, has that id or start of a digest.
    TableError
        No tasks are frozen, or their table is damaged.
    """
    from pipeline.report.views import find_task

    tasks = workspace.read("freeze", Task)
    _, task = find_task(name, tasks.digests, tasks.rows())
    reading = read_selection(text, task.choices, CONTRACTS[workspace.parameters.parse.contract])
    if reading.selection is None:
        return Reward(None, reading.reason, 0), task
    score = task.scores_bps[PORTFOLIOS.index(reading.selection)]
    return Reward(reading.selection, None, score), task


def selection_reward(
    completions: Sequence[Any],
    *,
    choices: Sequence[Mapping[str, str]],
    selection_scores_bps: Sequence[Mapping[str, int]],
    **_columns: Any,
) -> list[float]:
    """Rewards of completions, as `reward_funcs` of TRL's `GRPOTrainer` takes them.

    Parameters
    ----------
    completions
        Texts, or chats as lists of messages, of which the last one counts.
    choices, selection_scores_bps
        Columns of the rows that the completions belong to, one entry a completion.
    **_columns
        Whatever else the trainer passes.

    Returns
    -------
    list of float
        From 0 to 1, one a completion.

    Raises
    ------
    ExchangeError
        The columns are not as many as the completions, or a map lacks the selection.
    """
    if not len(completions) == len(choices) == len(selection_scores_bps):
        found = f"{len(completions)}, {len(choices)} and {len(selection_scores_bps)}"
        raise ExchangeError("as many choices and maps as completions", found, "reward", _REMEDY)
    rewards = []
    for completion, names, scores in zip(completions, choices, selection_scores_bps, strict=True):
        ordered = [names[label] for label in LABELS if label in names]
        if len(ordered) != len(LABELS):
            raise ExchangeError("choices A to H", ", ".join(names), "reward", _REMEDY)
        reading = read_selection(_text(completion), ordered, _CONTRACT)
        if reading.selection is None:
            rewards.append(0.0)
        elif reading.selection in scores:
            rewards.append(scores[reading.selection] / _WHOLE_BPS)
        else:
            found = f"no {reading.selection}"
            raise ExchangeError("a map of all 56 portfolios", found, "reward", _REMEDY)
    return rewards


def _text(completion: Any) -> str | None:
    """The text of a completion; of a chat the last message's content."""
    if isinstance(completion, str) or completion is None:
        return completion
    last = completion[-1] if isinstance(completion, list | tuple) and completion else None
    content = last.get("content") if isinstance(last, dict) else None
    return content if isinstance(content, str) else None
