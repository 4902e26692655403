"""The third level: the stored answers scored again under both releases' maps.

The answers, the tasks and the eight candidates stay; only the map changes. So a difference is one
of the release and of nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError
from pipeline.freeze.maps import summary
from pipeline.identity import row_digest
from pipeline.inference.analysis import analyse
from pipeline.inference.exact import nano_to_micro, to_micro
from pipeline.inference.matrix import ScoreMatrix
from pipeline.statistics.stage import draw_settings
from schemas.results import CoreTask, Selection
from schemas.taskset import Task, score_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.compare.rescore import RescoredMap
    from pipeline.inference.analysis import Settings
    from pipeline.inference.results import Analysis, InferredStanding
    from pipeline.workspace import Workspace

__all__ = ["Answers", "ConclusionChanges", "RoutePlace",
           "compare_conclusions", "read_answers"]  # fmt: skip


class RoutePlace(NamedTuple):
    """A route's place under one release: score and 95% band in millionths of a basis point."""

    score_microbps: int
    low_microbps: int
    high_microbps: int
    rank: int
    rank_low: int
    rank_high: int


class StandingChange(NamedTuple):
    """A ranked route under both releases."""

    slug: str
    before: RoutePlace
    after: RoutePlace


class ContrastChange(NamedTuple):
    """A pair of routes whose contrast is gained, lost or reversed; left less right."""

    left: str
    right: str
    change: str
    before_microbps: int
    after_microbps: int


class ConclusionChanges(NamedTuple):
    """What becomes of the conclusions.

    Attributes
    ----------
    core, tasks
        Tasks of the run's common core, and those that both releases can score.
    changed
        Tasks among them whose map differs.
    standings
        Every ranked route, by rank under the first release.
    contrasts
        Contrasts that do not survive as they are.
    resolved
        Contrasts resolved under each.
    """

    core: int
    tasks: int
    changed: int
    standings: tuple[StandingChange, ...]
    contrasts: tuple[ContrastChange, ...]
    resolved: tuple[int, int]

    @property
    def empty(self) -> bool:
        """Whether every core task keeps its map."""
        return not self.changed and self.core == self.tasks


class Answers(NamedTuple):
    """The answers of a run to its common core.

    Attributes
    ----------
    tasks
        The core's tasks in the order of the statistics.
    digests
        Their digests (hex).
    selections
        Selection by route and task digest (hex).
    routes
        Ranked routes, in order.
    settings
        How the run drew its intervals and tests.
    """

    tasks: tuple[Task, ...]
    digests: tuple[str, ...]
    selections: Mapping[str, Mapping[str, str]]
    routes: tuple[str, ...]
    settings: Settings


def read_answers(workspace: Workspace, more: Sequence[Task] = ()) -> Answers:
    """The answers of a workspace's run.

    Parameters
    ----------
    workspace
        Where the answers lie.
    more
        Tasks known from elsewhere: after a new freeze, the answers are still to the earlier tasks.

    Raises
    ------
    TableError
        Its tables are not here.
    InputError
        Fewer than two of its routes are ranked.
    InputError
        A task that was answered is not known by its digest.
    InputError
        The core has a family that is not ranked.
    """
    frozen = workspace.read("freeze", Task)
    tasks = {row_digest(task): task for task in more}
    tasks |= dict(zip(frozen.digests, frozen.rows(), strict=True))
    core = workspace.in_core_order(workspace.read("score", CoreTask).rows())
    routes = workspace.ranked_routes()
    found: dict[str, dict[str, str]] = {slug: {} for slug in routes}
    for cell in workspace.read("parse", Selection).rows():
        if cell.slug in found and cell.selection is not None:
            found[cell.slug][cell.task_digest] = cell.selection
    for row in core:
        if row.task_digest not in tasks:
            raise InputError(
                "answers to tasks that one of the sides knows", row.task_id, "score/core",
                "Compare with the revision that the answers are of, or run `dvc repro`.",
            )  # fmt: skip
    settings = draw_settings(workspace.parameters.statistics)
    digests = tuple(row.task_digest for row in core)
    return Answers(tuple(tasks[digest] for digest in digests), digests, found, routes, settings)


class _Asked(NamedTuple):
    """A task and its digest (hex)."""

    task: Task
    digest: str


def compare_conclusions(
    answers: Answers,
    before: Sequence[RescoredMap | None],
    after: Sequence[RescoredMap | None],
) -> ConclusionChanges:
    """Standings and contrasts under both releases, on the tasks that both can score.

    Parameters
    ----------
    answers
        The run's answers.
    before, after
        Maps of its core tasks under each release, in their order.
    """
    asked = zip(answers.tasks, answers.digests, strict=True)
    pairs = [
        (_Asked(*task), one, other)
        for task, one, other in zip(asked, before, after, strict=True)
        if one is not None and other is not None
    ]
    if not pairs:
        return ConclusionChanges(len(answers.tasks), 0, 0, (), (), (0, 0))
    tasks = [task for task, _, _ in pairs]
    ours = _analysis(answers, tasks, [one for _, one, _ in pairs])
    theirs = _analysis(answers, tasks, [other for _, _, other in pairs])
    standings = [
        StandingChange(slug, _place(one), _place(other))
        for slug, one, other in zip(answers.routes, ours.standings, theirs.standings, strict=True)
    ]
    return ConclusionChanges(
        len(answers.tasks),
        len(tasks),
        sum(one.scores_bps != other.scores_bps for _, one, other in pairs),
        tuple(sorted(standings, key=lambda change: change.before.rank)),
        _contrasts(answers.routes, ours, theirs),
        (int(ours.pairs.resolved.sum()), int(theirs.pairs.resolved.sum())),
    )


def _analysis(answers: Answers, asked: Sequence[_Asked], maps: Sequence[RescoredMap]) -> Analysis:
    scores = [
        [
            score_of(scored, answers.selections[slug][task.digest])
            for task, scored in zip(asked, maps, strict=True)
        ]
        for slug in answers.routes
    ]
    matrix = ScoreMatrix.from_labels(
        scores,
        [summary(scored.scores_bps).chance_bps for scored in maps],
        [one.task.family.value for one in asked],
        [one.task.panel for one in asked],
        [one.task.anchor for one in asked],
    )
    return analyse(matrix, answers.settings)


def _place(standing: InferredStanding) -> RoutePlace:
    band = standing.simultaneous_nanobps
    ranks = standing.rank_interval
    return RoutePlace(
        to_micro(standing.score_bps), nano_to_micro(band.lower), nano_to_micro(band.upper),
        standing.rank, ranks.lower, ranks.upper,
    )  # fmt: skip


def _contrasts(
    routes: Sequence[str], ours: Analysis, theirs: Analysis
) -> tuple[ContrastChange, ...]:
    found = []
    for one, other in zip(ours.pairs, theirs.pairs, strict=True):
        change = ""
        if one.resolved and other.resolved:
            change = "reversed" if one.difference_bps * other.difference_bps < 0 else ""
        elif one.resolved != other.resolved:
            change = "lost" if one.resolved else "gained"
        if change:
            found.append(
                ContrastChange(
                    routes[one.left], routes[one.right], change,
                    to_micro(one.difference_bps), to_micro(other.difference_bps),
                )
            )  # fmt: skip
    return tuple(found)
