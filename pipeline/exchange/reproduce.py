"""Does this pipeline give what was published? Every figure of an imported data set, compared.

1. Cells: our selection and score of every answer against the published ones.
2. `leaderboard.jsonl`, `pairwise_comparisons.jsonl` and the analysis in `release.json` against the
   analysis of our tables' scores, at its full precision (tables are rounded to whole units).
3. The leaderboard table against that analysis: rank and group of every route.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.asking.replay import read_replay
from pipeline.errors import InputError, ReleaseError
from pipeline.exchange.agreement import Agreement, ComparedFigure, Draws
from pipeline.exchange.dataset import LEADERBOARD, PAIRS, model_slugs
from pipeline.exchange.layout import OurResults, leaderboard_rows, pair_rows, release_analysis
from pipeline.files import read_json
from pipeline.inference import analyse
from pipeline.progress import silent
from pipeline.release.dataset import RELEASE, check_file, read_manifest, read_objects
from pipeline.showing.view import Grid, View
from pipeline.statistics.stage import core_scores, draw_settings
from schemas.parameters import PublishedRelease
from schemas.results import Coverage, Score, Selection, Standing
from schemas.routes import ReplayRoute
from schemas.taskset import Task

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.progress import Progress
    from pipeline.workspace import Workspace

__all__ = ["compare_published", "comparison_view"]

_PUBLISHED_STREAM = "pcg64"
_RELEASE_LIMIT = 2**28


class Comparison(NamedTuple):
    """What was compared, under which stream, and where the published figures lie."""

    agreement: Agreement
    stream: str
    folder: str


class _Published(NamedTuple):
    leaderboard: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    analysis: dict[str, Any]


def compare_published(workspace: Workspace, progress: Progress = silent) -> Comparison:
    """Compare the last run with the data set that it was imported from.

    Raises
    ------
    InputError
        The workspace's release is no published data set, or a model of it is no ranked route.
    ReleaseError, InputError, TableError, InputError
        A published file or one of our tables is not what it says.
    """
    parameters = workspace.parameters
    release = parameters.release
    if not isinstance(release, PublishedRelease) or not release.published.manifest:
        raise InputError(
            "a published data set", f"release source {release.source!r}", "params.yaml: release",
            "Run `flavourbench import` and copy the params.yaml that it writes.",
        )  # fmt: skip
    published = _read_published(workspace.root / release.path / release.published.manifest)
    scores = core_scores(workspace)
    models = _model_ids(published.analysis, scores.slugs)
    analysis = analyse(scores.matrix, draw_settings(parameters.statistics), progress)
    coverage: dict[str, list[Coverage]] = {name: [] for name in models.values()}
    for row in workspace.read("score", Coverage).rows():
        if row.slug in models:
            coverage[models[row.slug]].append(row)
    names = tuple(models[slug] for slug in scores.slugs)
    ours = OurResults(names, scores.matrix, analysis, coverage, parameters.statistics)
    found = Agreement()
    _compare_cells(workspace, found)
    same = parameters.statistics.stream == _PUBLISHED_STREAM
    draws = Draws(same, analysis.pairs.p_denominator)
    found.rows("leaderboard", "model_id", leaderboard_rows(ours), published.leaderboard, draws)
    found.rows("pairs", "left_model_id", pair_rows(ours), published.pairs, draws)
    _compare_release(ours, published.analysis, draws, found)
    for standing in workspace.read("statistics", Standing).rows():
        mine = analysis.standings[scores.slugs.index(standing.slug)]
        found.note("table leaderboard: rank", standing.slug, standing.rank, mine.rank)
        found.note("table leaderboard: group", standing.slug, standing.group, mine.group)
    return Comparison(found, parameters.statistics.stream, release.path)


def comparison_view(comparison: Comparison) -> View:
    """What agrees, and the largest difference of every figure, in groups of figures."""
    figures = comparison.agreement.figures.values()
    groups: dict[str, list[ComparedFigure]] = {}
    for figure in figures:
        groups.setdefault(_group(figure.name), []).append(figure)
    grid = Grid(
        "",
        ("figures", "compared", "differ", "largest difference"),
        tuple(
            (
                name,
                str(sum(f.compared for f in group)),
                str(sum(f.differ for f in group)),
                f"{max(f.largest for f in group):.3g}",
            )
            for name, group in groups.items()
        ),
        frozenset({1, 2, 3}),
    )
    compared = sum(figure.compared for figure in figures)
    differ = sum(figure.differ for figure in figures)
    bound = (
        "whole numbers equal, others within 1e-9"
        if comparison.stream == _PUBLISHED_STREAM
        else "conclusions equal, what is drawn within Monte Carlo error"
    )
    floats = (f for f in figures if not f.name.endswith(("(count)", "interval", "count")))
    largest = max(floats, key=lambda f: f.largest)
    notes = [f"{f.name}: {f.first}" for f in figures if f.differ]
    notes += [
        f"{compared:,} figures compared, {differ:,} differ ({bound}; stream {comparison.stream})",
        f"Largest difference: {largest.largest:.3g} ({largest.where})",
        f"{len(comparison.agreement.unread)} fields are names or prose, not results (see --json)",
    ]
    if comparison.agreement.borderline:
        notes.append(
            f"{comparison.agreement.borderline} contrasts at the level of significance are "
            "resolved by one side's draws alone"
        )
    document = {
        "agrees": comparison.agreement.agrees,
        "stream": comparison.stream,
        "figures": [vars(figure) for figure in figures],
        "not_compared": sorted(comparison.agreement.unread),
    }
    title = "Agrees" if comparison.agreement.agrees else "Differs"
    return View(f"{title} with {comparison.folder}", (grid,), tuple(notes), document)


def _group(name: str) -> str:
    """The first two parts of a figure's name; of the copies in `release.json` the first."""
    parts = name.removesuffix(" (count)").split(": ")
    return parts[0] if parts[0].startswith("release.") else ": ".join(parts[:2])


def _read_published(path: Path) -> _Published:
    manifest = read_manifest(path)

    def rows(name: str) -> list[dict[str, Any]]:
        entry = manifest.file(name, str(path))
        return list(read_objects(check_file(path.parent / name, entry), entry.rows))

    release = check_file(path.parent / RELEASE, manifest.file(RELEASE, str(path)))
    document = read_json(release, _RELEASE_LIMIT, ReleaseError)
    analysis = document.get("analysis") if isinstance(document, dict) else None
    if not isinstance(analysis, dict):
        raise ReleaseError("an analysis", "none", str(release), "Fetch it again.")
    return _Published(rows(LEADERBOARD), rows(PAIRS), analysis)


def _model_ids(analysis: dict[str, Any], slugs: tuple[str, ...]) -> dict[str, str]:
    """Published model ids by slug, for exactly the ranked routes."""
    ids = [str(model.get("model_id")) for model in analysis.get("models", [])]
    named = {slug: model_id for model_id, slug in model_slugs(ids, "release.json").items()}
    for slug in sorted(set(named) ^ set(slugs)):
        where = "params.yaml: routes"
        if slug in named:
            found = f"none for {named[slug]}"
            raise InputError("a ranked route for every model", found, where, "Import again.")
        raise InputError(
            "ranked routes of published models only", slug, where,
            f"Set ranked: false on {slug} for this comparison.",
        )  # fmt: skip
    return named


def _compare_release(
    ours: OurResults, published: dict[str, Any], draws: Draws, found: Agreement
) -> None:
    """The analysis of `release.json`; what is resolved by draws alone moves its count as well."""
    document, theirs, borderline = release_analysis(ours), dict(published), found.borderline
    for name in ("models", "pairwise_comparisons"):
        found.rows(f"release.{name}", "model_id", document.pop(name), theirs.pop(name, []), draws)
    count = "resolved_pair_count"
    mine, stated = document.pop(count), theirs.pop(count, None)
    found.note(f"release: {count}", "release.json", mine, stated, borderline)
    found.tree("release", "release", document, theirs, draws)
    found.borderline = borderline  # the pairs stand in two files and count once


def _compare_cells(workspace: Workspace, found: Agreement) -> None:
    """Our selection and score of every published answer."""
    tasks = [task.task_id for task in workspace.read("freeze", Task).rows()]
    scores = {
        (row.slug, row.task_id): row.score_bps for row in workspace.read("score", Score).rows()
    }
    cells = {
        (row.slug, row.task_id): row.selection for row in workspace.read("parse", Selection).rows()
    }
    for slug, route in workspace.parameters.routes.items():
        if not isinstance(route, ReplayRoute):
            continue
        for line in read_replay(workspace.root / route.answers, route, tasks).values():
            if line.published:
                cell = (slug, line.task_id)
                place = f"{slug}, {line.task_id}"
                found.note("cells: selection", place, cells.get(cell), line.published.selection)
                found.note("cells: score_bps", place, scores.get(cell), line.published.score_bps)
