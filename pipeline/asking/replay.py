"""Replays answers from a JSON Lines file that is bound by its SHA-256.

One object a line: `task_id`, `answer` (text, or null where there was none), and optionally
`outcome` (`ok` by default), `published`, by which a published response goes and what it was scored,
and `prompt`, which is not read: a filled-in template is a replay file. The file must answer every
frozen task once. A byte order mark is fine.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, ValidationError

from pipeline.asking.adapter import Reply
from pipeline.errors import ExecuteError, wrong_field
from pipeline.files import parse_json, read_bytes, unmarked
from schemas.execution import Outcome
from schemas.record import Digest, Record
from schemas.release import Label, Name
from schemas.taskset import Bps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pipeline.asking.adapter import Questions, Request
    from pipeline.asking.routes import BoundRoute
    from schemas.record import IdentityValue
    from schemas.routes import ReplayRoute

__all__ = ["ANSWER_LIMIT", "ReplayAdapter", "ReplayLine", "identity", "make",
           "read_replay"]  # fmt: skip

_FILE_LIMIT = 2**30
ANSWER_LIMIT = 2**20


class PublishedCell(Record):
    """A published response: its own hash, and the selection and score it was given, if any."""

    artifact_sha256: Digest
    selection: Label | None
    score_bps: Bps | None


class ReplayLine(Record):
    """One line of a replay file."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="forbid")

    task_id: Name
    answer: Annotated[str, Field(max_length=ANSWER_LIMIT)] | None
    outcome: Outcome = Outcome.OK
    published: PublishedCell | None = None
    prompt: str | None = None


def identity(route: ReplayRoute) -> dict[str, IdentityValue]:
    """What can change an answer: the replayed bytes."""
    return {"answers_sha256": route.sha256}


def make(bound: BoundRoute, questions: Questions, root: Path) -> ReplayAdapter:
    """The adapter of a replay route. Raises as `read_replay` does."""
    route: Any = bound.route
    names = [question.id for question in questions.asked]
    return ReplayAdapter(read_replay(root / route.answers, route, names))


class ReplayAdapter:
    """Answers with what a file holds."""

    costs_money = False

    def __init__(self, lines: Mapping[str, ReplayLine]) -> None:
        self._lines = lines

    async def ask(self, request: Request) -> Reply:
        """The recorded answer, as UTF-8 text."""
        line = self._lines[request.question.id]
        outcome = (
            Outcome.FAILED if line.answer is None and line.outcome is Outcome.OK else line.outcome
        )
        return Reply(outcome, "text", (line.answer or "").encode("utf-8"))


def read_replay(path: Path, route: ReplayRoute, task_ids: Iterable[str]) -> dict[str, ReplayLine]:
    """Lines of a replay file by task id.

    Raises
    ------
    ExecuteError
        The file is missing or unsafe, has another SHA-256 than the route says, holds a line that
        is no strict JSON object of the right shape, or has duplicate, unknown or missing tasks.
    """
    data = read_bytes(path, _FILE_LIMIT, ExecuteError)
    found = hashlib.sha256(data).hexdigest()
    if found != route.sha256:
        raise ExecuteError(
            f"sha256 {route.sha256}",
            found,
            str(path),
            "If this is the file you mean, set that sha256.",
        )
    wanted = set(task_ids)
    lines: dict[str, ReplayLine] = {}
    plain = unmarked(data, f"{path}, line 1", ExecuteError)
    for number, text in enumerate(plain.split(b"\n"), start=1):
        if text.strip():
            line = _line(text, f"{path}, line {number}")
            if line.task_id in lines or line.task_id not in wanted:
                what = "twice" if line.task_id in lines else "which is no frozen task"
                raise ExecuteError(
                    "every frozen task once",
                    f"{line.task_id}, {what}",
                    f"{path}, line {number}",
                    "Mend the replay file.",
                )
            lines[line.task_id] = line
    missing = sorted(wanted - set(lines))
    if missing:
        raise ExecuteError(
            "every frozen task once",
            f"{len(missing)} missing, first {missing[0]}",
            str(path),
            'Add a line for each; one without an answer is {"task_id": …, "answer": null}.',
        )
    return lines


def _line(text: bytes, where: str) -> ReplayLine:
    value = parse_json(text, where, ExecuteError)
    try:
        return ReplayLine.model_validate(value, strict=False)
    except ValidationError as problem:
        wrong = wrong_field(problem, "line")
        raise ExecuteError(
            wrong.expected, wrong.found, f"{where}, {wrong.name}", "Mend the replay file."
        ) from problem
