"""The leaderboard: its tables, read once, and what the command, the page and papers show of it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import InputError
from pipeline.showing.numbers import fixed, p_value, place, score
from pipeline.showing.view import Grid, View
from schemas import results as rows
from schemas.parameters import BundleRelease, StarterRelease

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.workspace import Workspace
    from schemas.parameters import Parameters

__all__ = [
    "Results",
    "leaderboard_view",
    "read_results",
    "report_title",
]

_SEES_MAP = "†"


class Results(NamedTuple):
    """The tables behind the leaderboard; standings by rank."""

    standings: tuple[rows.Standing, ...]
    references: tuple[rows.Reference, ...]
    chance: Mapping[str, rows.Chance]
    coverage: Mapping[str, Counter[str]]
    usage: Mapping[str, rows.Usage]
    agreements: tuple[rows.PanelAgreement, ...]
    inference: rows.Inference

    def place(self, standing: rows.Standing) -> str:
        """A standing's rank, with `=` where others share it."""
        return place(standing.rank, [other.rank for other in self.standings])


def read_results(workspace: Workspace) -> Results:
    """Everything that the leaderboard shows.

    Raises
    ------
    TableError
        A table is not sound.
    InputError
        `params.yaml` has lost a route that the tables hold.
    InputError
        Fewer than two of its routes are ranked.
    """
    workspace.ranked_routes()
    core = workspace.read("score", rows.CoreTask)
    standings = workspace.read("statistics", rows.Standing, core).rows()
    references = workspace.read("statistics", rows.Reference, core).rows()
    _refuse_lost_routes(
        workspace.parameters, [s.slug for s in standings] + [r.slug for r in references]
    )
    coverage: dict[str, Counter[str]] = {}
    for row in workspace.read("score", rows.Coverage, core).rows():
        counts = {k: v for k, v in row.model_dump().items() if isinstance(v, int)}
        coverage.setdefault(row.slug, Counter()).update(counts)
    return Results(
        tuple(sorted(standings, key=lambda standing: standing.rank)),
        tuple(references),
        {row.slug: row for row in workspace.read("statistics", rows.Chance, core).rows()},
        coverage,
        {row.slug: row for row in workspace.read("parse", rows.Usage).rows()},
        tuple(workspace.read("statistics", rows.PanelAgreement, core).rows()),
        workspace.read("statistics", rows.Inference, core).rows()[0],
    )


def _refuse_lost_routes(parameters: Parameters, slugs: Sequence[str]) -> None:
    """Refuse results of routes that were renamed or removed since."""
    for slug in slugs:
        if slug not in parameters.routes:
            raise InputError(
                "a route in params.yaml for every route of the last run",
                f"{slug} set aside" if slug in parameters.set_aside else f"none for {slug}",
                "artifacts/statistics",
                "Restore the route, or run `dvc repro`.",
            )


def report_title(parameters: Parameters) -> str:
    """The report's title: the one that is set, or else one that follows from the release."""
    release = parameters.release
    if parameters.report.title is not None:
        return parameters.report.title
    if isinstance(release, StarterRelease):
        version = "" if release.version == 1 else f", version {release.version}"
        return f"FlavourBench on the starter release{version}"
    if isinstance(release, BundleRelease):
        return f"FlavourBench on the release {PurePath(release.path).name or release.path}"
    what = "data set" if release.published.manifest else "task sets"
    return f"FlavourBench, the published {what}"


def leaderboard_view(parameters: Parameters, results: Results) -> View:
    """The leaderboard, the unranked references, and every route's denominators."""
    standings = Grid(
        "",
        ("rank", "group", "route", "score", "95% band", "ranks", "above chance (Holm p)"),
        tuple(_standing(s, results, parameters) for s in results.standings),
        frozenset({0, 1, 3, 4, 5}),
    )
    references = Grid(
        "Unranked references",
        ("route", "score", "core tasks answered"),
        tuple(_reference(row, parameters) for row in results.references),
        frozenset({1, 2}),
    )
    coverage = Grid(
        "Denominators, all frozen tasks",
        ("route", "expected", "completed", "parsed", "failed", "missing", "unparseable"),
        tuple(_coverage(slug, counts) for slug, counts in results.coverage.items()),
        frozenset(range(1, 6)),
    )
    grids = (standings, references, coverage) if results.references else (standings, coverage)
    notes = (*_leaderboard_notes(results), *_route_notes(results, parameters))
    document = leaderboard_document(results)
    taskset = f"Task set {results.inference.taskset_digest}"
    return View(report_title(parameters), grids, (*notes, taskset), document)


def _leaderboard_notes(results: Results) -> list[str]:
    """What the numbers mean, in words."""
    inference = results.inference
    chance = score(next(iter(results.chance.values())).chance_microbps)
    scale = (
        f"Scores run from 0 to 100 over {inference.tasks} common tasks of {inference.clusters} "
        f"anchors; exact chance is {chance}."
    )
    bands = (
        f"Bands hold for all routes at once (95%, {inference.bootstrap:,} anchor-cluster draws)."
    )
    groups = (
        "Routes of one group are not told apart: "
        f"{inference.resolved} of {inference.contrasts} pairs are resolved "
        "(sign-flip tests, Holm, 5%)."
    )
    panels = [
        f"Panels {a.first} and {a.second}: Pearson r {_correlation(a.pearson_ppb)}, "
        f"rank rho {_correlation(a.spearman_ppb)}."
        for a in results.agreements
    ]
    return [scale, bands, groups, *panels]


def _route_notes(results: Results, parameters: Parameters) -> list[str]:
    """What to know of single routes: who saw the scores, and what another parser would read."""
    notes = []
    if any(route.sees_map for route in parameters.routes.values()):
        notes.append(
            f"{_SEES_MAP} is shown the scores first: it calibrates the scale and does not compete."
        )
    more = {
        slug: counts["alternative_parsed"] - counts["parsed"]
        for slug, counts in results.coverage.items()
    }
    gains = ", ".join(f"{slug} {count:+d}" for slug, count in more.items() if count)
    alternative = parameters.parse.alternative
    notes.append(
        f"Parsed under {parameters.parse.contract}; {alternative} would read "
        f"{gains or 'the same answers'}."
    )
    return notes


def leaderboard_document(results: Results) -> dict[str, Any]:
    """The leaderboard for machines: integers with their units, as the tables hold them."""
    return {
        "inference": results.inference.model_dump(mode="json"),
        "leaderboard": [
            standing.model_dump(mode="json")
            | {
                "chance": results.chance[standing.slug].model_dump(mode="json"),
                "coverage": dict(results.coverage[standing.slug]),
                "usage": results.usage[standing.slug].model_dump(mode="json"),
            }
            for standing in results.standings
        ],
        "references": [
            reference.model_dump(mode="json") | {"coverage": dict(results.coverage[reference.slug])}
            for reference in results.references
        ],
        "agreement": [agreement.model_dump(mode="json") for agreement in results.agreements],
    }


def _standing(standing: rows.Standing, results: Results, parameters: Parameters) -> tuple[str, ...]:
    chance = results.chance[standing.slug]
    holm = p_value(chance.holm_numerator, chance.p_denominator)
    return (
        results.place(standing),
        str(standing.group),
        _marked(standing.slug, standing.label, parameters),
        score(standing.score_microbps),
        f"{score(standing.band_low_microbps)} - {score(standing.band_high_microbps)}",
        f"{standing.rank_low}-{standing.rank_high}",
        f"{'yes' if chance.above_chance else 'no'} ({holm})",
    )


def _reference(row: rows.Reference, parameters: Parameters) -> tuple[str, ...]:
    return (
        _marked(row.slug, row.label, parameters),
        "none" if row.score_microbps is None else score(row.score_microbps),
        f"{row.covered} of {row.tasks}",
    )


def _marked(slug: str, label: str, parameters: Parameters) -> str:
    """A route's label, marked where the route is shown the scores."""
    return f"{label} {_SEES_MAP}" if parameters.routes[slug].sees_map else label


def _coverage(slug: str, counts: Counter[str]) -> tuple[str, ...]:
    reasons = ", ".join(f"{counts[r]} {r.replace('_', ' ')}" for r in rows.Reason if counts[r])
    fields = ("expected", "completed", "parsed", "failed", "missing")
    return (slug, *(str(counts[name]) for name in fields), reasons or "none")


def _correlation(ppb: int | None) -> str:
    return "none" if ppb is None else fixed(Fraction(ppb, 1_000_000_000), 3)
