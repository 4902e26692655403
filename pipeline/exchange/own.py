"""Your own answers scored: coverage first, and a score only where it can be compared.

1. The expected tasks are the common core where the run has one, else all frozen tasks of ranked
   families. Answers to other frozen tasks are counted and left aside; unknown ids are refused.
2. Every expected task is parsed, unparseable with its reason, or missing.
3. A score, its interval and its test against exact chance follow only where every expected task
   parsed: then they stand on the same tasks as every leaderboard score.
4. The report holds every task's line and a digest of its own. It is checked by building it again
   from its own lines, or from the answers.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.answer import completion_text
from pipeline.errors import InputError
from pipeline.exchange.answers import read_answers
from pipeline.files import read_json, write_bytes
from pipeline.identity import canonical_bytes, digest
from pipeline.parse.reader import Reading, read_selection
from schemas.results import CellStatus, CoreTask, Reason
from schemas.taskset import BEST_BPS, PORTFOLIOS, Task, TaskSet, score_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["OwnReport", "check_report", "expected_tasks", "own_report", "score_answers"]

_REPORT_LIMIT = 2**28


class OwnReport(NamedTuple):
    """A report as a JSON document without floats; its `digest` covers all the rest."""

    document: dict[str, Any]

    @property
    def comparable(self) -> bool:
        """Whether it holds a score."""
        return self.document["score"] is not None


class _Expected(NamedTuple):
    """Tasks in the order in which statistics are drawn, and what they are."""

    tasks: tuple[Task, ...]
    scope: str
    root: str


def expected_tasks(workspace: Workspace) -> tuple[Task, ...]:
    """The tasks that a comparable score needs. Raises `TableError` where tables are not sound."""
    return _expected(workspace).tasks


def score_answers(workspace: Workspace, answers: Mapping[str, str | None]) -> OwnReport:
    """Score answers by task id.

    Raises
    ------
    InputError
        A task is unknown.
    TableError
        No tasks are frozen, or a table is damaged.
    """
    frozen = {task.task_id for task in workspace.read("freeze", Task).rows()}
    unknown = [task_id for task_id in answers if task_id not in frozen]
    if unknown:
        raise InputError(
            "ids of frozen tasks", f"{unknown[0]} ({len(unknown)} unknown in all)", "answers",
            "`flavourbench template` writes the ids to answer.",
        )  # fmt: skip
    expected = _expected(workspace)
    contract = workspace.read("freeze", TaskSet).rows()[0].parser
    readings: dict[str, Reading | None] = {}
    for task in expected.tasks:
        text = answers.get(task.task_id)
        if text is not None:
            readings[task.task_id] = read_selection(completion_text(text), task.choices, contract)
    given = {task_id for task_id, text in answers.items() if text is not None}
    aside = len(given - {task.task_id for task in expected.tasks})
    return _report(workspace, expected, readings, aside)


def check_report(
    workspace: Workspace, path: Path, answers: Mapping[str, str | None] | None = None
) -> OwnReport:
    """Build a report again, from its own lines or from answers, and compare.

    Returns
    -------
    OwnReport
        The report that was built, which is the file's.

    Raises
    ------
    InputError
        The file is no report, its digest is not that of its content, or what is built from it
        under this workspace's tasks differs; names the first field that does.
    """
    stated = read_json(path, _REPORT_LIMIT, InputError)
    where = str(path)
    if not isinstance(stated, dict) or not isinstance(stated.get("tasks"), list):
        raise InputError("a report of `flavourbench score`", "another file", where, "")
    rest = {name: value for name, value in stated.items() if name != "digest"}
    found = digest("own-score", rest)
    if found != stated.get("digest"):
        raise InputError(f"digest {found}", str(stated.get("digest")), where, "It was changed.")
    if answers is None:
        readings = dict(_stated_reading(line, where) for line in stated["tasks"])
        aside = stated.get("aside")
        built = _report(workspace, _expected(workspace), readings, aside).document
    else:
        built = score_answers(workspace, answers).document
    for name in sorted(built.keys() | stated.keys()):
        if built.get(name) != stated.get(name):
            expected = f"{name} as it follows from the answers and this run"
            raise InputError(
                expected, _short(stated.get(name), built.get(name)), where,
                "It was made for other answers, tasks or parameters.",
            )  # fmt: skip
    return OwnReport(built)


def own_report(
    workspace: Workspace, answers: Path | None, check: Path | None, to: Path | None
) -> tuple[OwnReport, Path]:
    """Score a file of answers and write its report, or check a report; the report and its path.

    Raises
    ------
    InputError
        As `read_answers`, `score_answers` and `check_report` do.
    """
    given = None if answers is None else read_answers(answers)
    if check is not None:
        return check_report(workspace, check, given), check
    if answers is None or given is None:
        raise InputError("a file of answers", "none", "score", "Name one.")
    report = score_answers(workspace, given)
    path = to or answers.with_name(f"{answers.stem}.score.json")
    write_bytes(path, canonical_bytes(report.document) + b"\n")
    return report, path


def _expected(workspace: Workspace) -> _Expected:
    table = workspace.read("freeze", Task)
    by_id = {task.task_id: task for task in table.rows()}
    families = workspace.parameters.score.families
    if workspace.artifact("score", CoreTask.table).exists():
        core = workspace.read("score", CoreTask, table)
        tasks = tuple(by_id[entry.task_id] for entry in workspace.in_core_order(core.rows()))
        return _Expected(tasks, "common core", core.root)
    ranked = [task for task in by_id.values() if task.family in families]
    ranked.sort(key=lambda task: (task.panel, families.index(task.family), task.task_id))
    return _Expected(tuple(ranked), "all frozen tasks", table.root)


def _report(
    workspace: Workspace, expected: _Expected, readings: Mapping[str, Reading | None], aside: Any
) -> OwnReport:
    lines = [_line(task, readings.get(task.task_id)) for task in expected.tasks]
    statuses = Counter(line["status"] for line in lines)
    reasons = Counter(line["reason"] for line in lines if line["reason"])
    complete = statuses[CellStatus.PARSED.value] == len(lines) > 0
    taskset = workspace.read("freeze", TaskSet)
    statistics = workspace.parameters.statistics
    document: dict[str, Any] = {
        "taskset_digest": taskset.digests[0],
        "scope": expected.scope,
        "scope_root": expected.root,
        "contract": taskset.rows()[0].parser.name,
        "statistics": statistics.model_dump(mode="json"),
        "aside": aside,
        "coverage": {
            "expected": len(lines),
            "parsed": statuses[CellStatus.PARSED.value],
            "missing": statuses[CellStatus.MISSING.value],
            "unparseable": {reason.value: reasons[reason.value] for reason in Reason},
        },
        "score": _score(workspace, expected.tasks, lines) if complete else None,
        "tasks": lines,
    }
    return OwnReport(document | {"digest": digest("own-score", document)})


def _line(task: Task, reading: Reading | None) -> dict[str, Any]:
    """A task's line; a selection that is none of the 56 cannot come from the parser."""
    selection = reading.selection if reading else None
    status = CellStatus.MISSING
    if reading:
        status = CellStatus.PARSED if selection else CellStatus.UNPARSEABLE
    return {
        "task_id": task.task_id,
        "panel": task.panel,
        "family": task.family.value,
        "status": status.value,
        "reason": reading.reason.value if reading and reading.reason else None,
        "selection": selection,
        "score_bps": score_of(task, selection) if selection else None,
        "chance_bps": task.chance_bps,
    }


def _score(
    workspace: Workspace, tasks: tuple[Task, ...], lines: list[dict[str, Any]]
) -> dict[str, Any]:
    """Score, families, interval and test, as the statistics stage would have them.

    The answers are one row of a matrix; the best of every task is the other, which is constant
    and so takes no part in any interval or test of the first. One hypothesis needs no Holm.
    """
    from pipeline.inference import ScoreMatrix, analyse
    from pipeline.inference.exact import nano_to_micro, to_micro
    from pipeline.statistics.stage import draw_settings

    matrix = ScoreMatrix.from_labels(
        [[line["score_bps"] for line in lines], [BEST_BPS] * len(lines)],
        [task.chance_bps for task in tasks],
        [task.family.value for task in tasks],
        [task.panel for task in tasks],
        [task.anchor for task in tasks],
    )
    analysis = analyse(matrix, draw_settings(workspace.parameters.statistics))
    standing, chance = analysis.standings[0], analysis.chance[0]
    families = zip(matrix.family_names, standing.family_scores_bps, strict=True)
    return {
        "score_microbps": to_micro(standing.score_bps),
        "se_microbps": nano_to_micro(standing.se_nanobps),
        "low_microbps": nano_to_micro(standing.pointwise_nanobps.lower),
        "high_microbps": nano_to_micro(standing.pointwise_nanobps.upper),
        "families": [
            {"family": name, "score_microbps": to_micro(score)} for name, score in families
        ],
        "chance": {
            "chance_microbps": to_micro(analysis.chance_score_bps),
            "difference_microbps": to_micro(chance.difference_bps),
            "low_microbps": nano_to_micro(chance.interval_nanobps.lower),
            "high_microbps": nano_to_micro(chance.interval_nanobps.upper),
            "p_numerator": int(analysis.chance.p_numerators[0]),
            "p_denominator": analysis.chance.p_denominator,
        },
    }


def _stated_reading(line: Any, where: str) -> tuple[str, Reading | None]:
    """What a report's line says was read."""
    try:
        status, task_id = CellStatus(line["status"]), line["task_id"]
        reason = None if line["reason"] is None else Reason(line["reason"])
        selection = line["selection"]
        if (selection is None or selection in PORTFOLIOS) and isinstance(task_id, str):
            known = Reading(selection, reason)
            return task_id, None if status is CellStatus.MISSING else known
    except (KeyError, TypeError, ValueError):
        pass
    raise InputError("lines of tasks", f"{line!r}", where, "It was changed.")


def _short(stated: Any, built: Any) -> str:
    """The first difference of two values, in a few words."""
    if isinstance(stated, list) and isinstance(built, list) and len(stated) == len(built):
        return next(_short(a, b) for a, b in zip(stated, built, strict=True) if a != b)
    if isinstance(stated, dict) and isinstance(built, dict):
        name = next(
            k for k in sorted(built.keys() | stated.keys()) if stated.get(k) != built.get(k)
        )
        return f"{name} {_short(stated.get(name), built.get(name))}"
    return f"{stated!r} in place of {built!r}"
