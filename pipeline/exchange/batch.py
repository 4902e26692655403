"""Rewards of many answers at once: the parser's own results, at the speed of a look-up.

Most answers end with one marker in its plain spelling and three labels. Such an ending means the
same in every text that holds no other marker and no think tag, so it is read once and remembered.
Anything else goes to `completion_text` and `read_selection`. The result is theirs for every
completion (a test draws texts to show it).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.answer import completion_text
from pipeline.errors import InputError
from pipeline.parse.reader import read_selection
from schemas.taskset import PORTFOLIOS, Forgiveness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from schemas.taskset import ParserContract, Task

__all__ = ["UNREADABLE_BPS", "RewardMaps"]

UNREADABLE_BPS = -1
"""In place of the score of an answer without a readable selection."""

_WORD = "FINAL_SELECTION"
_MARKER = f"{_WORD}:"
_LONGEST_ENDING = 64
_MOST_ENDINGS = 65_536
_NO_CODE = -1
_LABELS = re.compile(
    r"[ \t]*([A-Ha-h])[ \t]*,[ \t]*([A-Ha-h])[ \t]*,[ \t]*([A-Ha-h])[`*_ \t]*[ \t\r\n]*"
)
_CODES = {portfolio: code for code, portfolio in enumerate(PORTFOLIOS)}


class RewardMaps(NamedTuple):
    """The maps of T tasks, ready for any number of answers.

    Attributes
    ----------
    scores_bps
        Scores of the portfolios, shape (T, 56), and `UNREADABLE_BPS` behind them: shape (T, 57).
    choices
        Candidates of each task.
    contract
        How answers are read.
    """

    scores_bps: NDArray[np.int32]
    choices: tuple[tuple[str, ...], ...]
    contract: ParserContract

    @classmethod
    def of(cls, tasks: Sequence[Task], contract: ParserContract) -> RewardMaps:
        """Maps of tasks, in their order."""
        scores = np.full((len(tasks), len(PORTFOLIOS) + 1), UNREADABLE_BPS, dtype=np.int32)
        for place, task in enumerate(tasks):
            scores[place, :-1] = task.scores_bps
        return cls(scores, tuple(task.choices for task in tasks), contract)

    def rewards(self, answers: Sequence[object], tasks: NDArray[np.int64]) -> NDArray[np.int32]:
        """Scores of N answers in basis points, or `UNREADABLE_BPS`, shape (N,).

        Parameters
        ----------
        answers
            Texts, chats or None, as `completion_text` takes them.
        tasks
            Row of each answer's task in `scores_bps`, shape (N,).

        Raises
        ------
        InputError
            There are not as many tasks as answers, a task is out of range, or an answer has an
            unknown shape.
        """
        if tasks.shape != (len(answers),):
            found = f"shape {tasks.shape}"
            raise InputError(f"a task for each of {len(answers)} answers", found, "tasks", "")
        if len(tasks) and not 0 <= tasks.min() <= tasks.max() < len(self.choices):
            expected = f"tasks from 0 to {len(self.choices) - 1}"
            raise InputError(expected, f"{tasks.min()} to {tasks.max()}", "tasks", "")
        codes = np.array(self._codes(answers, tasks), dtype=np.int64)
        found_scores: NDArray[np.int32] = self.scores_bps[tasks, codes]
        return found_scores

    def _codes(self, answers: Sequence[object], tasks: NDArray[np.int64]) -> list[int]:
        """Portfolio of each answer; -1, the column behind them, where there is none."""
        plain = Forgiveness.ESCAPED_UNDERSCORE not in self.contract.forgives
        known: dict[str, int | None] = {}
        codes = []
        for place, answer in enumerate(answers):
            code = None
            if isinstance(answer, str) and plain:
                head, marker, ending = answer.rpartition(_MARKER)
                marked = "_" in head and _WORD in head.upper()
                if marker and not marked and "<" not in head and "[" not in head:
                    try:
                        code = known[ending]
                    except KeyError:
                        code = _ending_code(ending)
                        if len(ending) <= _LONGEST_ENDING and len(known) < _MOST_ENDINGS:
                            known[ending] = code
            codes.append(self._read(answer, int(tasks[place])) if code is None else code)
        return codes

    def _read(self, answer: object, task: int) -> int:
        reading = read_selection(completion_text(answer), self.choices[task], self.contract)
        return _NO_CODE if reading.selection is None else _CODES[reading.selection]


def _ending_code(ending: str) -> int | None:
    """The portfolio that an ending names in every task, or none where that is not certain."""
    match = _LABELS.fullmatch(ending)
    if match is None:
        return None
    return _CODES.get("".join(sorted("".join(match.groups()).upper())))
