"""The statistics stage: scores on the common core to the leaderboard and all that stands behind it.

Routes go in the order of `params.yaml`, tasks by panel, then family in the order of
`score.families`, then place in the core: that order is part of what a stream's draws mean.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import InputError
from pipeline.inference.analysis import Settings, analyse
from pipeline.inference.exact import ALPHA, nano_to_micro, to_micro
from pipeline.inference.matrix import ScoreMatrix
from pipeline.inference.panels import shared_ranks
from pipeline.progress import silent
from pipeline.tables import make_table
from pipeline.workspace import StageSummary
from schemas import results as rows
from schemas.taskset import Task, TaskSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.inference.results import Analysis, Contrasts
    from pipeline.progress import Progress
    from pipeline.tables import Table
    from pipeline.workspace import Workspace
    from schemas.parameters import StatisticsParameters
    from schemas.taskset import Family

__all__ = ["build", "core_scores", "draw_settings", "run"]


class _Inputs(NamedTuple):
    """What the stage works on: ranked and unranked slugs, core tasks in order, scores by slug."""

    workspace: Workspace
    tasks: Table[Task]
    ranked: tuple[str, ...]
    unranked: tuple[str, ...]
    core: tuple[Task, ...]
    scores: Mapping[str, Mapping[str, int]]
    route_digests: Mapping[str, str]
    roots: dict[str, str]

    def label(self, slug: str) -> str:
        """A route's label."""
        return self.workspace.parameters.routes[slug].label


class CoreScores(NamedTuple):
    """Ranked routes (rows of the matrix), core tasks (its columns), and the matrix."""

    slugs: tuple[str, ...]
    tasks: tuple[Task, ...]
    matrix: ScoreMatrix


def run(workspace: Workspace, progress: Progress = silent) -> StageSummary:
    """Infer everything that the leaderboard shows.

    Raises
    ------
    InputError
        A ranked route lacks a score on the core.
    InputError
        Fewer than two routes are ranked.
    TableError
        An input is missing or damaged.
    """
    tables = build(workspace, progress)
    inference = tables[-1].rows()[0]
    headline = (
        f"{inference.routes} ranked routes on {inference.tasks} tasks; "
        f"{inference.resolved} of {inference.contrasts} contrasts resolved"
    )
    return StageSummary("statistics", headline, workspace.write("statistics", *tables))


def build(workspace: Workspace, progress: Progress = silent) -> tuple[Table[Any], ...]:
    """The stage's tables, in memory; the last is `inference`. Raises as `run` does."""
    inputs = _read(workspace)
    matrix = _matrix(inputs)
    parameters = workspace.parameters.statistics
    analysis = analyse(matrix, draw_settings(parameters), progress)
    taskset = workspace.read("freeze", TaskSet, inputs.tasks)
    return (
        make_table(rows.Standing, _standings(inputs, matrix, analysis), inputs.roots),
        make_table(rows.Reference, _references(inputs), inputs.roots),
        make_table(rows.Contrast, _contrasts(inputs, matrix, analysis.pairs), inputs.roots),
        make_table(rows.Chance, _chance(inputs, matrix, analysis), inputs.roots),
        make_table(rows.PanelScore, _panels(inputs, matrix, analysis), inputs.roots),
        make_table(rows.PanelAgreement, _agreements(inputs, analysis), inputs.roots),
        make_table(
            rows.Inference,
            [_inference(taskset.digests[0], parameters, matrix, analysis)],
            inputs.roots | {"taskset": taskset.root},
        ),
    )


def core_scores(workspace: Workspace) -> CoreScores:
    """What the stage analyses: ranked routes, core tasks, and the matrix of their scores.

    Raises
    ------
    InputError, TableError
        As `run` does.
    """
    inputs = _read(workspace)
    return CoreScores(inputs.ranked, inputs.core, _matrix(inputs))


def draw_settings(parameters: StatisticsParameters) -> Settings:
    """How parameters say to draw."""
    return Settings(
        seed=parameters.seed,
        bootstrap_draws=parameters.bootstrap,
        sign_draws=parameters.sign_flips,
        stream=parameters.stream,
    )


def _read(workspace: Workspace) -> _Inputs:
    ranked = workspace.ranked_routes()
    tasks = workspace.read("freeze", Task)
    selections = workspace.read("parse", rows.Selection, tasks)
    core = workspace.read("score", rows.CoreTask, tasks, selections)
    scores = workspace.read("score", rows.Score, tasks, selections)
    by_id = {task.task_id: task for task in tasks.rows()}
    found: dict[str, dict[str, int]] = {}
    for score in scores.rows():
        found.setdefault(score.slug, {})[score.task_id] = score.score_bps
    routes = workspace.parameters.routes
    return _Inputs(
        workspace,
        tasks,
        ranked,
        tuple(slug for slug, route in routes.items() if not route.ranked),
        tuple(by_id[entry.task_id] for entry in workspace.in_core_order(core.rows())),
        found,
        {cell.slug: cell.route_digest for cell in selections.rows()},
        {"tasks": tasks.root, "core": core.root, "scores": scores.root},
    )


def _matrix(inputs: _Inputs) -> ScoreMatrix:
    for slug in inputs.ranked:
        scored = inputs.scores.get(slug, {})
        missing = [task.task_id for task in inputs.core if task.task_id not in scored]
        if missing:
            raise InputError(
                "a score of every ranked route on every core task",
                f"none of {slug} on {missing[0]}",
                "artifacts/score",
                "Run `flavourbench score` again.",
            )
    return ScoreMatrix.from_labels(
        [[inputs.scores[slug][task.task_id] for task in inputs.core] for slug in inputs.ranked],
        [task.chance_bps for task in inputs.core],
        [task.family.value for task in inputs.core],
        [task.panel for task in inputs.core],
        [task.anchor for task in inputs.core],
    )


def _standings(inputs: _Inputs, matrix: ScoreMatrix, analysis: Analysis) -> list[rows.Standing]:
    sizes = matrix.family_sizes
    return [
        rows.Standing(
            slug=slug,
            label=inputs.label(slug),
            route_digest=inputs.route_digests[slug],
            rank=standing.rank,
            group=standing.group,
            tasks=matrix.tasks,
            score_microbps=to_micro(standing.score_bps),
            se_microbps=nano_to_micro(standing.se_nanobps),
            pointwise_low_microbps=nano_to_micro(standing.pointwise_nanobps.lower),
            pointwise_high_microbps=nano_to_micro(standing.pointwise_nanobps.upper),
            band_low_microbps=nano_to_micro(standing.simultaneous_nanobps.lower),
            band_high_microbps=nano_to_micro(standing.simultaneous_nanobps.upper),
            rank_low=standing.rank_interval.lower,
            rank_high=standing.rank_interval.upper,
            families=tuple(
                _family(name, int(size), score)
                for name, size, score in zip(
                    matrix.family_names, sizes, standing.family_scores_bps, strict=True
                )
            ),
        )
        for slug, standing in zip(inputs.ranked, analysis.standings, strict=True)
    ]


def _references(inputs: _Inputs) -> list[rows.Reference]:
    """Unranked routes: the same mean of family means, where every core task has a score."""
    found = []
    for slug in inputs.unranked:
        scores = inputs.scores.get(slug, {})
        families: dict[Family, list[int]] = {}
        for task in inputs.core:
            if task.task_id in scores:
                families.setdefault(task.family, []).append(scores[task.task_id])
        covered = sum(map(len, families.values()))
        means = {name: Fraction(sum(values), len(values)) for name, values in families.items()}
        complete = covered == len(inputs.core)
        mean = sum(means.values(), Fraction()) / len(means) if complete else None
        found.append(
            rows.Reference(
                slug=slug,
                label=inputs.label(slug),
                route_digest=inputs.route_digests[slug],
                tasks=len(inputs.core),
                covered=covered,
                score_microbps=None if mean is None else to_micro(mean),
                families=tuple(
                    _family(name, len(families[name]), part)
                    for name, part in means.items()
                    if complete
                ),
            )
        )
    return found


def _contrasts(inputs: _Inputs, matrix: ScoreMatrix, contrasts: Contrasts) -> list[rows.Contrast]:
    return [
        rows.Contrast(
            left=inputs.ranked[contrast.left],
            right=inputs.ranked[contrast.right],
            tasks=matrix.tasks,
            difference_microbps=to_micro(contrast.difference_bps),
            low_microbps=nano_to_micro(contrast.interval_nanobps.lower),
            high_microbps=nano_to_micro(contrast.interval_nanobps.upper),
            dz_ppb=contrast.dz_nano,
            wins=contrast.wins,
            ties=contrast.ties,
            losses=contrast.losses,
            p_numerator=int(contrasts.p_numerators[place]),
            holm_numerator=int(contrasts.holm_numerators[place]),
            p_denominator=contrasts.p_denominator,
            resolved=contrast.resolved,
        )
        for place, contrast in enumerate(contrasts)
    ]


def _chance(inputs: _Inputs, matrix: ScoreMatrix, analysis: Analysis) -> list[rows.Chance]:
    chance = analysis.chance
    return [
        rows.Chance(
            slug=inputs.ranked[contrast.left],
            tasks=matrix.tasks,
            chance_microbps=to_micro(analysis.chance_score_bps),
            difference_microbps=to_micro(contrast.difference_bps),
            low_microbps=nano_to_micro(contrast.interval_nanobps.lower),
            high_microbps=nano_to_micro(contrast.interval_nanobps.upper),
            p_numerator=int(chance.p_numerators[place]),
            holm_numerator=int(chance.holm_numerators[place]),
            p_denominator=chance.p_denominator,
            above_chance=contrast.resolved and contrast.difference_bps > 0,
        )
        for place, contrast in enumerate(chance)
    ]


def _panels(inputs: _Inputs, matrix: ScoreMatrix, analysis: Analysis) -> list[rows.PanelScore]:
    found = []
    for place, panel in enumerate(matrix.panel_names):
        scores = [standing.panel_scores_bps[place] for standing in analysis.standings]
        ranks = shared_ranks(scores)
        found += [
            rows.PanelScore(
                panel=panel,
                slug=slug,
                tasks=int((matrix.panel == place).sum()),
                score_microbps=to_micro(scores[model]),
                rank=ranks[model],
            )
            for model, slug in enumerate(inputs.ranked)
        ]
    return found


def _agreements(inputs: _Inputs, analysis: Analysis) -> list[rows.PanelAgreement]:
    return [
        rows.PanelAgreement(
            first=agreement.left,
            second=agreement.right,
            routes=len(inputs.ranked),
            pearson_ppb=agreement.pearson_nano,
            spearman_ppb=agreement.spearman_nano,
        )
        for agreement in analysis.agreements
    ]


def _inference(
    taskset: str, parameters: StatisticsParameters, matrix: ScoreMatrix, analysis: Analysis
) -> rows.Inference:
    return rows.Inference(
        taskset_digest=taskset,
        stream=parameters.stream,
        seed=parameters.seed,
        bootstrap=parameters.bootstrap,
        sign_flips=analysis.pairs.draws,
        exact=analysis.pairs.exact,
        alpha_ppm=to_micro(ALPHA),
        routes=matrix.models,
        tasks=matrix.tasks,
        clusters=matrix.clusters,
        critical_value_ppb=analysis.critical_nano,
        contrasts=len(analysis.pairs),
        resolved=int(analysis.pairs.resolved.sum()),
    )


def _family(name: str, tasks: int, score_bps: Fraction) -> rows.FamilyScore:
    return rows.FamilyScore.model_validate(
        {"family": name, "tasks": tasks, "score_microbps": to_micro(score_bps)}, strict=False
    )
