"""How charts are drawn: altair's charts, rendered by Vega while the report is built.

The images hold no script and need no network. Bytes do not depend on the machine: text is measured
and set in the project's own font, labels that this font cannot set give way to the route's slug,
and axes have fixed extents. Colours are a few tokens, so that the page can let a theme choose them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.showing.fonts import own_family, sets, settable
from pipeline.showing.numbers import score
from pipeline.showing.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.showing.view import Grid

__all__ = [
    "COLORS", "PAPER", "STEP", "WIDTH", "Figure", "chart_of", "draw", "picture",
    "points", "route_label", "routes_axis", "score_axis", "short", "themed",
]  # fmt: skip

COLORS = {
    "ink": "#1b1f24",
    "muted": "#5b6570",
    "line": "#d9dee4",
    "accent": "#0b5d8a",
    "up": "#186a3b",
    "down": "#a93f12",
    "soft": "#eef1f4",
}
"""The tokens and their colours on white paper."""

PAPER = "#fffffe"
"""The background; not plain white, so that it can be told from it."""

WIDTH = 560
"""Width of a chart's plane."""

STEP = 22
"""Height of a route's line."""

_CHARACTER = 7
_FAMILY = "Liberation Sans"
"""The family that a drawn chart names: of the same widths as the project's own font, and common."""
_LABEL_CHARACTERS = 34
_SCALE = 2
_TOKENS = {color: f"var(--{name})" for name, color in {**COLORS, "paper": PAPER}.items()}
_TAG = re.compile("<[a-z][^>]*>")
_PARTS = re.compile(' role="graphics-[a-z]+"| aria-roledescription="[^"]*"| font-family="[^"]*"')
_COLORED = re.compile(r'\b(fill|stroke)="(#[0-9a-f]{6})"')


class Figure(NamedTuple):
    """A figure: a name for its files, a title, what it shows in words, its table and its SVG."""

    name: str
    title: str
    about: str
    grid: Grid
    svg: str


def route_label(slug: str, label: str) -> str:
    """A label that charts can set, or else the slug; cut where it is long."""
    text = visible(unicodedata.normalize("NFC", label))
    text = text if sets(text) else slug
    return short(text)


def short(text: str) -> str:
    """Text cut to the characters that a chart has room for."""
    return text if len(text) <= _LABEL_CHARACTERS else f"{text[: _LABEL_CHARACTERS - 1]}…"


def points(value: int) -> float:
    """Millionths of a basis point as a number for a chart."""
    return float(score(value, 4))


def chart_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A chart over rows."""
    import altair as alt

    data: Any = alt.Data
    return alt.Chart(data(values=list(rows)))


def routes_axis(rows: Sequence[Mapping[str, Any]]) -> Any:
    """One line a route; the room for names follows from their characters, not from a font."""
    import altair as alt

    room = 16 + _CHARACTER * max(len(row["route"]) for row in rows)
    axis = alt.Axis(title=None, minExtent=room, maxExtent=room, ticks=False, domain=False)
    return alt.Y("route:N", sort=None, axis=axis)


def score_axis(field: str, title: str) -> Any:
    """A score across, from 0 to 100."""
    import altair as alt

    return alt.X(
        f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 100], nice=False, clamp=True)
    )


def draw(chart: Any) -> str:
    """A chart as SVG in the colours of `COLORS`."""
    import vl_convert

    muted, ink, line = COLORS["muted"], COLORS["ink"], COLORS["line"]
    chart = (
        chart.configure(aria=False, font=own_family(), background=PAPER, padding=12)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=ink, titleColor=muted, gridColor=line, tickColor=line, domainColor=line,
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=8,
            labelLimit=0,
        )
        .configure_header(labelColor=ink, labelFontSize=12, labelFontWeight="bold", title=None)
        .configure_point(color=COLORS["accent"])
        .configure_text(color=ink, fontSize=12)
        .configure_rule(color=COLORS["accent"])
    )  # fmt: skip
    svg = vl_convert.vegalite_to_svg(settable(chart.to_dict()))
    return svg.replace(own_family(), _FAMILY) + "\n"


def picture(svg: str) -> bytes:
    """A drawn chart as PNG, two pixels a unit."""
    import vl_convert

    family = f'font-family="{own_family()}"'
    named = _TAG.sub(lambda tag: tag[0].replace(f'font-family="{_FAMILY}"', family), svg)
    return vl_convert.svg_to_png(named, scale=_SCALE)


def themed(svg: str, name: str) -> str:
    """A drawn chart to stand in the page: colours by the page's theme, named for screen readers.

    The page holds elements `name-title` and `name-about`.
    """
    svg = _TAG.sub(_plain_tag, svg)
    opening = f'<svg role="img" aria-labelledby="{name}-title" aria-describedby="{name}-about" '
    return svg.replace("<svg ", opening, 1)


def _plain_tag(found: re.Match[str]) -> str:
    """A tag in the theme's colours; the image has one name, so its parts have no roles."""
    tag = _PARTS.sub("", found[0])
    return _COLORED.sub(lambda m: f'{m[1]}="{_TOKENS.get(m[2], m[2])}"', tag)
