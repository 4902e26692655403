"""Training tasks as an environment of the `verifiers` package: `pip install -e '.[verifiers]'`.

`FlavourTaskset` reads what `flavourbench export grpo` wrote; a task's reward is its map's score of
the selection in the last reply. `python examples/environment.py` scores two replies to try it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import verifiers.v1 as vf

from pipeline.exchange.reward import selection_reward
from schemas.taskset import PUBLISHED_CONTRACT

if TYPE_CHECKING:
    from collections.abc import Iterator


class FlavourData(vf.TaskData):
    """A row of `flavourbench export grpo`."""

    choices: dict[str, str]
    selection_scores_bps: dict[str, int]
    parser_contract: str = PUBLISHED_CONTRACT


class FlavourTask(vf.Task[FlavourData]):
    """One decision, graded by look-up."""

    @vf.reward
    async def selection(self, trace: vf.Trace) -> float:
        """Score of the selection as a share of the optimum."""
        return selection_reward(
            [trace.last_reply],
            choices=[self.data.choices],
            selection_scores_bps=[self.data.selection_scores_bps],
            parser_contract=[self.data.parser_contract],
        )[0]


class FlavourConfig(vf.TasksetConfig):
    """Where the rows lie."""

    rows: Path = Path("training/grpo_train.jsonl")


class FlavourTaskset(vf.Taskset[FlavourTask, FlavourConfig]):
    """Every row as a task."""

    def load(self) -> Iterator[FlavourTask]:
        """Tasks in the order of the file."""
        with self.config.rows.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                names = ("prompt", "choices", "selection_scores_bps", "parser_contract")
                fields = {name: row[name] for name in names if name in row}
                yield FlavourTask(FlavourData(id=row["task_id"], **fields), self.config.task)


async def main() -> None:
    """Score the best reply and an unreadable one to the first task."""
    if not FlavourConfig().rows.is_file():
        sys.exit(f"no rows in {FlavourConfig().rows}: run `flavourbench export grpo`")
    task = next(iter(FlavourTaskset(FlavourConfig())))
    scores = task.data.selection_scores_bps
    best = max(scores, key=lambda name: scores[name])
    for reply in (f"FINAL_SELECTION: {', '.join(best)}", "The first three."):
        trace = vf.Trace(
            task=vf.TraceTask(type="FlavourTask", data=task.data),
            agent=vf.AgentInfo(config=vf.AgentConfig()),
            root_reply=reply,
        )
        await task.score(trace)
        print(f"{task.data.id}: {reply!r} is worth {trace.reward}")  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
