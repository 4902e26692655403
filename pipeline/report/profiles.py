"""Figures of what lies behind a score: families, panels, tasks, and answers without a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.showing.drawing import (
    COLORS,
    STEP,
    WIDTH,
    Figure,
    chart_of,
    draw,
    points,
    route_label,
    routes_axis,
    score_axis,
    short,
)
from pipeline.showing.numbers import bps, place, score
from pipeline.showing.view import Grid
from schemas.results import Reason

if TYPE_CHECKING:
    from collections import Counter

    from pipeline.report.leaderboard import Results
    from pipeline.report.sources import Sources
    from schemas.results import PanelAgreement

__all__ = [
    "chart_labels",
    "difficulty_figure",
    "families_figure",
    "panels_figure",
    "unparseable_figure",
]


def chart_labels(results: Results) -> dict[str, str]:
    """`1. label` by slug, short; the slug in place of a label that is not to be set or told apart.

    A chart draws one line for each of these texts, so no two are the same.
    """
    texts = {
        s.slug: f"{results.place(s)}. {route_label(s.slug, s.label)}" for s in results.standings
    }
    shown = list(texts.values())
    slugs = {s.slug: f"{results.place(s)}. {s.slug}" for s in results.standings}
    return {slug: slugs[slug] if shown.count(text) > 1 else text for slug, text in texts.items()}


def families_figure(sources: Sources) -> Figure:
    """Each route's score by family."""
    import altair as alt

    standings, labels = sources.results.standings, chart_labels(sources.results)
    names = [part.family.value for part in standings[0].families]
    rows = [
        {
            "route": labels[s.slug], "family": part.family.value.replace("_", " "),
            "score": points(part.score_microbps), "mean": points(s.score_microbps),
        }
        for s in standings for part in s.families
    ]  # fmt: skip
    grid = Grid(
        "Family scores",
        ("route", "score", *(name.replace("_", " ") for name in names)),
        tuple(
            (s.label, score(s.score_microbps, 2), *(score(p.score_microbps, 2) for p in s.families))
            for s in standings
        ),
        frozenset(range(1, 2 + len(names))),
    )
    base = chart_of(rows)
    title = "score"
    stems = alt.Chart().mark_rule(strokeWidth=2, opacity=0.5).encode(
        y=routes_axis(rows), x=score_axis("mean", title), x2="score:Q"
    )  # fmt: skip
    dots = alt.Chart().mark_point(filled=True, size=55, opacity=1).encode(
        y=routes_axis(rows), x=score_axis("score", title)
    )  # fmt: skip
    layers = alt.layer(stems, dots, data=base.data).properties(
        width=WIDTH // len(names), height=alt.Step(STEP)
    )
    chart = layers.facet(
        column=alt.Column("family:N", sort=[n.replace("_", " ") for n in names], title=None),
        spacing=24,
    )
    about = (
        "A route's score in each family (dot), drawn from its score over all families (where the "
        "line starts). A line to the right: better at this family than at the others."
    )
    return Figure("families", "What each route is good at", about, grid, draw(chart))


def panels_figure(sources: Sources, agreement: PanelAgreement) -> Figure:
    """The scores of two panels against each other."""
    first, second = agreement.first, agreement.second
    scores = {(p.panel, p.slug): p for p in sources.panels}
    results = sources.results
    standings = results.standings
    ranks = [[p.rank for p in sources.panels if p.panel == name] for name in (first, second)]
    pairs = [(s, scores[first, s.slug], scores[second, s.slug]) for s in standings]
    rows = [
        {"rank": results.place(s), "x": points(a.score_microbps), "y": points(b.score_microbps)}
        for s, a, b in pairs
    ]
    grid = Grid(
        f"Panels {first} and {second}",
        ("route", f"{first} score", f"{second} score", f"{first} rank", f"{second} rank"),
        tuple(
            (s.label, score(a.score_microbps, 2), score(b.score_microbps, 2),
             place(a.rank, ranks[0]), place(b.rank, ranks[1]))
            for s, a, b in pairs
        ),
        frozenset({1, 2, 3, 4}),
    )  # fmt: skip
    import altair as alt

    vertical = alt.Y(
        "y:Q", title=f"score on {second}", scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(minExtent=40, maxExtent=40),
    )  # fmt: skip
    base = chart_of(rows).encode(x=score_axis("x", f"score on {first}"), y=vertical)
    line = (
        chart_of([{"x": 0, "y": 0}, {"x": 100, "y": 100}])
        .mark_line(color=COLORS["line"], strokeWidth=1)
        .encode(x="x:Q", y="y:Q")
    )
    dots = base.mark_point(filled=True, size=60, opacity=0.9)
    numbers = base.mark_text(dx=8, dy=8, align="left", fontSize=11).encode(text="rank:N")
    chart = (line + dots + numbers).properties(width=380, height=380)
    about = (
        f"Every route's score on the tasks of {first} (across) and of {second} (up); numbers are "
        "ranks. Panels hold different tasks, so points near the diagonal show that the result does "
        "not hang on one set of tasks."
    )
    title = "Does another set of tasks agree?"
    return Figure(f"panels-{first}-{second}", title, about, grid, draw(chart))


def difficulty_figure(sources: Sources) -> Figure:
    """Chance against margin, one dot a task."""
    import altair as alt

    tasks = sources.tasks.values()
    names = list(dict.fromkeys(t.family.value.replace("_", " ") for t in tasks))
    rows: list[dict[str, Any]] = [
        {"family": t.family.value.replace("_", " "), "chance": float(bps(t.chance_bps)),
         "margin": float(bps(t.margin_bps))}
        for t in tasks
    ]  # fmt: skip
    most: float = max(row["margin"] for row in rows)
    grid = Grid(
        "Tasks: chance and margin",
        ("family", "tasks", "lowest chance", "highest chance", "lowest margin", "highest margin"),
        tuple(_span(sources, name) for name in names),
        frozenset(range(1, 6)),
    )
    across = alt.X(
        "chance:Q", title="chance", scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(values=[0, 25, 50, 75, 100]),
    )  # fmt: skip
    up = alt.Y(
        "margin:Q", title="margin of the best choice", axis=alt.Axis(minExtent=40, maxExtent=40),
        scale=alt.Scale(domain=[0, max(10, -(-int(most + 1) // 10) * 10)], nice=False),
    )  # fmt: skip
    chart = (
        chart_of(rows)
        .mark_point(filled=True, size=22, opacity=0.45)
        .encode(x=across, y=up, column=alt.Column("family:N", sort=names, title=None, spacing=24))
        .properties(width=(WIDTH + 140) // len(names), height=220)
    )
    about = (
        "Each dot is a task. Chance is the mean score of all 56 choices: further left, a guess "
        "earns less. The margin is how far the second-best choice falls behind: near zero, two "
        "choices are almost equally good."
    )
    return Figure("difficulty", "How hard the tasks are", about, grid, draw(chart))


def _span(sources: Sources, family: str) -> tuple[str, ...]:
    tasks = [t for t in sources.tasks.values() if t.family.value.replace("_", " ") == family]
    chances, margins = [t.chance_bps for t in tasks], [t.margin_bps for t in tasks]
    ends = (min(chances), max(chances), min(margins), max(margins))
    return (family, str(len(tasks)), *(bps(value) for value in ends))


def unparseable_figure(sources: Sources) -> Figure:
    """Cells without a selection, by what became of them."""
    import altair as alt

    results = sources.results
    kinds = ("failed", "missing", *(reason.value for reason in Reason))
    headings = tuple(kind.replace("_", " ") for kind in kinds)
    known: dict[str, Counter[str]] = dict(results.coverage)
    labels = chart_labels(results)
    ranked = {s.slug: (s.label, labels[s.slug]) for s in results.standings}
    others = {r.slug: (r.label, f"{short(r.slug)} (unranked)") for r in results.references}
    routes = ranked | others
    grid = Grid(
        "Answers without a selection",
        ("route", "expected", "parsed", *headings),
        tuple(
            (label, *(str(known[slug][kind]) for kind in ("expected", "parsed", *kinds)))
            for slug, (label, _) in routes.items()
        ),
        frozenset(range(1, 3 + len(kinds))),
    )
    rows: list[dict[str, Any]] = [
        {"route": drawn, "kind": heading, "count": known[slug][kind],
         "text": str(known[slug][kind] or "·")}
        for slug, (_, drawn) in routes.items()
        for kind, heading in zip(kinds, headings, strict=True)
    ]  # fmt: skip
    most = max(1, *(row["count"] for row in rows))
    axis = alt.Axis(title=None, orient="top", labelAngle=-30, ticks=False, domain=False)
    base = chart_of(rows).encode(y=routes_axis(rows), x=alt.X("kind:N", sort=None, axis=axis))
    tint = alt.Opacity("count:Q", legend=None, scale=alt.Scale(domain=[0, most], range=[0, 0.45]))
    tiles = base.mark_rect(color=COLORS["down"]).encode(opacity=tint)
    texts = base.mark_text(fontSize=11).encode(text="text:N")
    chart = (tiles + texts).properties(width=alt.Step(56), height=alt.Step(STEP))
    about = (
        "Cells without a selection, over all frozen tasks, by what became of them. They are "
        "neither zeros nor dropped from one route alone: where a ranked route has one, the task "
        "leaves the common core for every route."
    )
    return Figure("unparseable", "Answers that could not be read", about, grid, draw(chart))
