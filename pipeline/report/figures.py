"""The figures: each is a table, words, and a chart of that table's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.report.profiles import (
    chart_labels,
    difficulty_figure,
    families_figure,
    panels_figure,
    unparseable_figure,
)
from pipeline.showing.drawing import (
    COLORS,
    STEP,
    WIDTH,
    Figure,
    chart_of,
    draw,
    points,
    routes_axis,
    score_axis,
)
from pipeline.showing.numbers import p_value, score
from pipeline.showing.view import Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipeline.report.sources import Sources
    from schemas.results import Contrast, Standing

__all__ = ["Figure", "figures", "pairs_grid"]

_MOST = 40
"""Routes that the matrix shows, best first; its table and the papers' table hold every pair."""

_VERDICTS = {True: "higher", False: "lower", None: "unresolved"}


def figures(sources: Sources) -> tuple[Figure, ...]:
    """All figures, in the order in which the page shows them."""
    found = [_forest(sources), _ranks(sources)]
    if sources.contrasts:
        found.append(_contrasts(sources))
    found.append(families_figure(sources))
    found += [panels_figure(sources, agreement) for agreement in sources.results.agreements]
    found += [difficulty_figure(sources), unparseable_figure(sources)]
    return tuple(found)


def _forest(sources: Sources) -> Figure:
    import altair as alt

    results = sources.results
    labels = chart_labels(results)
    rows = [
        {
            "route": labels[s.slug], "score": points(s.score_microbps),
            "low": points(s.band_low_microbps), "high": points(s.band_high_microbps),
            "group": f"group {s.group}",
        }
        for s in results.standings
    ]  # fmt: skip
    grid = Grid(
        "Scores and bands",
        ("rank", "route", "score", "band low", "band high", "group"),
        tuple(
            (results.place(s), s.label, score(s.score_microbps, 2), score(s.band_low_microbps, 2),
             score(s.band_high_microbps, 2), str(s.group))
            for s in results.standings
        ),
        frozenset({0, 2, 3, 4, 5}),
    )  # fmt: skip
    chance = next(iter(results.chance.values())).chance_microbps
    base = chart_of(rows).encode(y=routes_axis(rows))
    title = "FlavourBench score with the simultaneous 95% band"
    bands = base.mark_rule(strokeWidth=3, strokeCap="round", opacity=0.45).encode(
        x=score_axis("low", title), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(x=score_axis("score", title))
    groups = base.mark_text(align="left", color=COLORS["muted"], fontSize=11).encode(
        x=alt.value(WIDTH + 10), text="group:N"
    )
    rule = chart_of([{"chance": points(chance)}]).mark_rule(
        strokeDash=[4, 4], color=COLORS["muted"]
    ).encode(x=score_axis("chance", title))  # fmt: skip
    chart = (rule + bands + dots + groups).properties(width=WIDTH, height=alt.Step(STEP))
    about = (
        "Each dot is a route's mean score on the common core; the bar is its band, which holds for "
        f"all routes at once. The dashed line is exact chance, {score(chance)}. Two routes whose "
        "bands overlap may still be told apart, since they answered the same tasks: see the pairs."
    )
    return Figure("forest", "Scores and how sure they are", about, grid, draw(chart))


def _ranks(sources: Sources) -> Figure:
    import altair as alt

    results = sources.results
    standings, labels = results.standings, chart_labels(results)
    rows = [
        {"route": labels[s.slug], "rank": s.rank, "low": s.rank_low, "high": s.rank_high}
        for s in standings
    ]
    grid = Grid(
        "Rank intervals",
        ("route", "rank", "lowest", "highest", "group"),
        tuple(
            (s.label, results.place(s), str(s.rank_low), str(s.rank_high), str(s.group))
            for s in standings
        ),
        frozenset({1, 2, 3, 4}),
    )
    scale = alt.Scale(domain=[0.5, len(rows) + 0.5], nice=False)
    axis = alt.Axis(tickMinStep=1, format="d")
    base = chart_of(rows).encode(y=routes_axis(rows))
    bars = base.mark_rule(strokeWidth=8, strokeCap="round", opacity=0.3).encode(
        x=alt.X("low:Q", title="Rank, 95% interval", scale=scale, axis=axis), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X("rank:Q", scale=scale))
    chart = (bars + dots).properties(width=WIDTH, height=alt.Step(STEP))
    about = (
        "The rank that each route takes when anchors are drawn anew: the dot is its rank here, the "
        "bar holds 95% of the draws. A long bar means that the order around it is not settled."
    )
    return Figure("ranks", "How settled each rank is", about, grid, draw(chart))


def _verdict(contrast: Contrast, row: str) -> bool | None:
    """Whether the row's route is resolved as the higher one; none where nothing is resolved."""
    if not contrast.resolved:
        return None
    return (contrast.difference_microbps > 0) == (contrast.left == row)


def _matrix_rows(
    shown: Sequence[Standing],
    pairs: Mapping[frozenset[str], Contrast],
    labels: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    for row in shown:
        for number, column in enumerate(shown, start=1):
            if row is not column:
                verdict = _verdict(pairs[frozenset((row.slug, column.slug))], row.slug)
                yield {
                    "route": labels[row.slug],
                    "other": str(number),  # a shared rank would be one column
                    "verdict": _VERDICTS[verdict],
                }


def _contrasts(sources: Sources) -> Figure:
    import altair as alt

    results = sources.results
    pairs = {frozenset((c.left, c.right)): c for c in sources.contrasts}
    shown = results.standings[:_MOST]
    rows = list(_matrix_rows(shown, pairs, chart_labels(results)))
    axis = alt.Axis(title="against the route of rank", orient="top", labelAngle=0, ticks=False,
                    domain=False, labelOverlap=False)  # fmt: skip
    domain = list(_VERDICTS.values())
    base = chart_of(rows).encode(
        y=routes_axis(rows),
        x=alt.X("other:N", sort=[str(number) for number in range(1, len(shown) + 1)], axis=axis),
    )
    marks = base.mark_point(filled=True, opacity=1).encode(
        shape=alt.Shape(
            "verdict:N", legend=None,
            scale=alt.Scale(domain=domain, range=["triangle-up", "triangle-down", "circle"]),
        ),
        size=alt.condition("datum.verdict == 'unresolved'", alt.value(12), alt.value(80)),
        color=alt.Color(
            "verdict:N", legend=None,
            scale=alt.Scale(domain=domain, range=[COLORS["up"], COLORS["down"], COLORS["muted"]]),
        ),
    )  # fmt: skip
    chart = marks.properties(width=alt.Step(STEP), height=alt.Step(STEP))
    inference = results.inference
    about = (
        "▲ the route of the row is higher than the route of the column; ▼ it is lower; a small "
        "dot: unresolved. Unresolved does not mean equal: these tasks cannot tell the two apart. "
        f"{inference.resolved} of {inference.contrasts} pairs are resolved."
    )
    if len(results.standings) > len(shown):
        about += f" The first {_MOST} of {len(results.standings)} routes are shown."
    kept = {s.slug for s in shown}
    grid = pairs_grid(sources, [c for c in sources.contrasts if {c.left, c.right} <= kept])
    return Figure("contrasts", "Which pairs are told apart", about, grid, draw(chart))


def pairs_grid(sources: Sources, contrasts: Sequence[Contrast]) -> Grid:
    """Pairs of routes in the order of their ranks."""
    labels = {s.slug: s.label for s in sources.results.standings}
    ranks = {s.slug: s.rank for s in sources.results.standings}

    def line(c: Contrast) -> tuple[str, ...]:
        verdict = _VERDICTS[_verdict(c, c.left)]
        values = (c.difference_microbps, c.low_microbps, c.high_microbps)
        return (
            labels[c.left], labels[c.right], *(score(value, 2) for value in values),
            f"{c.wins}/{c.ties}/{c.losses}", p_value(c.holm_numerator, c.p_denominator), verdict,
        )  # fmt: skip

    ordered = sorted(contrasts, key=lambda c: (ranks[c.left], ranks[c.right]))
    headings = (
        "left",
        "right",
        "difference",
        "low",
        "high",
        "wins/ties/losses",
        "Holm p",
        "left is",
    )
    return Grid("Pairs", headings, tuple(line(c) for c in ordered), frozenset({2, 3, 4, 5, 6}))
