"""Figures show the tables' numbers, in bytes that no machine changes."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from pipeline.report.figures import figures, pairs_grid
from pipeline.report.profiles import chart_labels
from pipeline.showing.drawing import (
    COLORS,
    PAPER,
    Figure,
    picture,
    route_label,
    themed,
)
from schemas.results import Coverage, PanelScore, Standing
from tests.report.many import more_routes
from tests.shared import ROOT

if TYPE_CHECKING:
    from pipeline.showing.view import Grid
    from tests.report.conftest import Run


def column(grid: Grid, heading: str) -> list[str]:
    place = grid.headings.index(heading)
    return [row[place] for row in grid.rows]


def named(run: Run, name: str) -> Figure:
    return next(figure for figure in run.figures if figure.name == name)


def points(microbps: int) -> Fraction:
    return round(Fraction(microbps, 10**8), 2)


def test_every_figure_is_there_once(hostile: Run) -> None:
    assert [figure.name for figure in hostile.figures] == [
        "forest", "ranks", "contrasts", "families", "panels-panel_1-panel_2", "difficulty",
        "unparseable",
    ]  # fmt: skip


def test_the_forest_and_the_ranks_hold_the_standings(hostile: Run) -> None:
    rows = sorted(hostile.workspace.read("statistics", Standing).rows(), key=lambda s: s.rank)
    forest, ranks = named(hostile, "forest").grid, named(hostile, "ranks").grid
    for heading, field in (
        ("score", "score_microbps"), ("band low", "band_low_microbps"),
        ("band high", "band_high_microbps"),
    ):  # fmt: skip
        shown = [Fraction(text) for text in column(forest, heading)]
        assert shown == [points(getattr(row, field)) for row in rows]
    assert column(forest, "group") == [str(row.group) for row in rows]
    assert column(ranks, "lowest") == [str(row.rank_low) for row in rows]
    assert column(ranks, "highest") == [str(row.rank_high) for row in rows]


def test_families_and_panels_hold_their_tables(hostile: Run) -> None:
    rows = sorted(hostile.workspace.read("statistics", Standing).rows(), key=lambda s: s.rank)
    grid = named(hostile, "families").grid
    for place, heading in enumerate(("substitution", "pairing")):
        shown = [Fraction(text) for text in column(grid, heading)]
        assert shown == [points(row.families[place].score_microbps) for row in rows]
    panels = {(p.panel, p.slug): p for p in hostile.workspace.read("statistics", PanelScore).rows()}
    grid = named(hostile, "panels-panel_1-panel_2").grid
    for panel in ("panel_1", "panel_2"):
        shown = [Fraction(text) for text in column(grid, f"{panel} score")]
        assert shown == [points(panels[panel, row.slug].score_microbps) for row in rows]


def test_the_matrix_says_of_every_pair_what_its_test_says(hostile: Run) -> None:
    sources = hostile.sources
    grid = pairs_grid(sources, sources.contrasts)
    ranks = {s.slug: s.rank for s in sources.results.standings}
    ordered = sorted(sources.contrasts, key=lambda c: (ranks[c.left], ranks[c.right]))
    verdicts = [
        "unresolved" if not c.resolved else "higher" if c.difference_microbps > 0 else "lower"
        for c in ordered
    ]
    assert column(grid, "left is") == verdicts
    assert set(verdicts) <= {"higher", "lower", "unresolved"}
    counts = [tuple(map(int, text.split("/"))) for text in column(grid, "wins/ties/losses")]
    assert counts == [(c.wins, c.ties, c.losses) for c in ordered]


def test_routes_that_share_rank_and_label_stay_apart(hostile: Run) -> None:
    results = hostile.sources.results
    same = [s.model_copy(update={"rank": 1, "label": "Twin"}) for s in results.standings]
    twins = results._replace(standings=tuple(same))
    labels = chart_labels(twins)
    assert labels == {s.slug: f"1=. {s.slug}" for s in same}
    drawn = figures(hostile.sources._replace(results=twins))
    svg = next(figure.svg for figure in drawn if figure.name == "contrasts")
    whole = next(figure.svg for figure in hostile.figures if figure.name == "contrasts")
    assert svg.count("<path") == whole.count("<path")


def test_a_resolved_pair_is_drawn_up_and_down_and_an_unresolved_one_as_a_dot(hostile: Run) -> None:
    sources = hostile.sources
    one = sources.contrasts[0]
    changed = one.model_copy(update={"resolved": True, "difference_microbps": 1})
    rest = [c.model_copy(update={"resolved": False}) for c in sources.contrasts[1:]]
    drawn = figures(sources._replace(contrasts=(changed, *rest)))
    svg = next(figure.svg for figure in drawn if figure.name == "contrasts")
    assert svg.count(f'fill="{COLORS["up"]}"') == 1
    assert svg.count(f'fill="{COLORS["down"]}"') == 1
    marks = [node for node in ET.fromstring(svg).iter() if node.get("fill") in COLORS.values()]
    shapes = {node.get("fill"): node.get("d") for node in marks if node.get("d")}
    assert len(set(shapes.values())) == 3  # told apart without colour


def test_what_could_not_be_read_is_counted_as_the_coverage_counts_it(hostile: Run) -> None:
    grid = named(hostile, "unparseable").grid
    rows = [r for r in hostile.workspace.read("score", Coverage).rows() if r.slug == "silent"]
    shown = dict(
        zip(grid.headings, next(r for r in grid.rows if r[0] == "silent.jsonl"), strict=True)
    )
    assert shown["parsed"] == "0"
    assert int(shown["no marker"]) == sum(row.no_marker for row in rows) == 32


def test_every_chart_is_well_formed_and_runs_nothing(hostile: Run) -> None:
    for figure in hostile.figures:
        root = ET.fromstring(figure.svg)
        names = {node.tag.rpartition("}")[2] for node in root.iter()}
        assert names <= {"svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath"}
        assert not [k for node in root.iter() for k in node.attrib if k.startswith("on")]
        assert "http" not in figure.svg.replace("http://www.w3.org/", "")


def test_a_theme_reaches_every_colour_of_the_charts(hostile: Run) -> None:
    for figure in hostile.figures:
        svg = themed(figure.svg, figure.name)
        assert 'role="img"' in svg
        assert f'aria-labelledby="{figure.name}-title"' in svg
        assert not [color for color in (*COLORS.values(), PAPER) if f'"{color}"' in svg]
        assert 'fill="var(--paper)"' in svg


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("Plain (1.5)", "Plain (1.5)"),
        ("Crème brûlée", "Crème brûlée"),
        ("模型", "slug"),
        ("🍜", "slug"),
        ("محمد", "slug"),
        ("W" * 60, "W" * 33 + "…"),
        ("a\u202eb", "a\\u202eb"),
    ],
)
def test_a_label_that_the_font_cannot_set_gives_way_to_the_slug(label: str, shown: str) -> None:
    assert route_label("slug", label) == shown


_DRAW = """
import hashlib, sys
from pathlib import Path
from pipeline.report.figures import figures
from pipeline.showing.drawing import picture
from pipeline.report.sources import read_sources
from pipeline.workspace import open_workspace
for figure in figures(read_sources(open_workspace(Path(sys.argv[1])))):
    print(figure.name, hashlib.sha256(figure.svg.encode() + picture(figure.svg)).hexdigest())
"""


def test_fonts_locale_and_time_zone_change_no_byte_of_a_chart(hostile: Run) -> None:
    import hashlib

    bare = {
        "FONTCONFIG_FILE": os.devnull, "HOME": "/nonexistent", "LC_ALL": "C", "TZ": "Pacific/Apia",
        "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", _DRAW, str(hostile.workspace.root)],
        env=bare, capture_output=True, text=True, check=True,
    )  # fmt: skip
    here = [
        f"{f.name} {hashlib.sha256(f.svg.encode() + picture(f.svg)).hexdigest()}"
        for f in hostile.figures
    ]
    assert done.stdout.splitlines() == here


@pytest.mark.parametrize("count", [2, 100])
def test_two_routes_and_a_hundred_tied_ones_make_a_page(hostile: Run, count: int) -> None:
    from pipeline.report.page import page_html

    sources = more_routes(hostile.sources, count)
    drawn = figures(sources)
    contrasts = next(figure for figure in drawn if figure.name == "contrasts")
    shown = min(count, 40)
    assert len(contrasts.grid.rows) == shown * (shown - 1) // 2
    assert ("The first 40 of 100 routes are shown" in contrasts.about) == (count == 100)
    assert len(pairs_grid(sources, sources.contrasts).rows) == count * (count - 1) // 2
    page = page_html(sources, drawn)
    assert f"<b>{count}</b> ranked routes" in page
    assert len(page.encode()) < 3_000_000


def test_one_panel_has_no_agreement_to_draw(hostile: Run) -> None:
    sources = hostile.sources
    alone = sources._replace(results=sources.results._replace(agreements=()))
    assert not [f for f in figures(alone) if f.name.startswith("panels")]


def test_the_same_chart_drawn_twice_is_the_same(hostile: Run) -> None:
    again = figures(hostile.sources)
    assert [figure.svg for figure in again] == [figure.svg for figure in hostile.figures]
