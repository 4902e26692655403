"""The forest chart: scores with their simultaneous bands, drawn by Vega without any network.

An image rather than a Vega template, since the page that `dvc plots` makes would fetch Vega from a
content network. Axis extents are fixed, so that fonts on the machine move nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.report.numbers import score
from pipeline.report.terminal import visible

if TYPE_CHECKING:
    from pipeline.report.views import Results

__all__ = ["forest_svg"]

_LABEL_PIXELS = 260
_LABEL_CHARACTERS = 40
_WIDTH = 560
_STEP = 24


def forest_svg(results: Results, title: str) -> str:
    """The forest chart as SVG: one line a route, best first; chance as a dashed rule."""
    import altair as alt
    import vl_convert

    data: Any = alt.Data

    rows = [
        {
            "route": _short(f"{s.rank}. {visible(s.label)}"),
            "score": float(score(s.score_microbps, 4)),
            "low": float(score(s.band_low_microbps, 4)),
            "high": float(score(s.band_high_microbps, 4)),
            "group": f"group {s.group}",
        }
        for s in results.standings
    ]
    chance = float(score(next(iter(results.chance.values())).chance_microbps, 4))
    axis = alt.Axis(
        title=None, minExtent=_LABEL_PIXELS, maxExtent=_LABEL_PIXELS, labelLimit=_LABEL_PIXELS,
        ticks=False, domain=False,
    )  # fmt: skip
    base = alt.Chart(data(values=rows)).encode(y=alt.Y("route:N", sort=None, axis=axis))
    scale = alt.Scale(domain=[0, 100], nice=False)
    color = alt.Color("group:N", sort=None, legend=None, scale=alt.Scale(scheme="dark2"))
    bands = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="FlavourBench score, simultaneous 95% band", scale=scale),
        x2="high:Q",
        color=color,
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("score:Q", scale=scale), color=color
    )
    rule: Any = (
        alt.Chart(data(values=[{"chance": chance}]))
        .mark_rule(strokeDash=[4, 4], color="#777777")
        .encode(x=alt.X("chance:Q", scale=scale))
    )
    chart = (rule + bands + points).properties(
        width=_WIDTH, height=alt.Step(_STEP), title=_short(visible(title))
    )
    return vl_convert.vegalite_to_svg(chart.to_dict()) + "\n"


def _short(text: str) -> str:
    return text if len(text) <= _LABEL_CHARACTERS else text[: _LABEL_CHARACTERS - 1] + "…"
