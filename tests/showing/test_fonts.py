"""Charts are set in the project's own font alone, whatever fonts the machine has."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from importlib import resources
from typing import TYPE_CHECKING

import pytest
from fontTools.ttLib import TTFont

from pipeline.showing.drawing import chart_of, draw, routes_axis, score_axis
from pipeline.showing.fonts import own_family, sets, settable
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

STYLES = ("regular", "bold")
FAMILIES = (
    "Liberation Sans", "FlavourBench-0000000000000000", "FlavourBench", "Arial", "Helvetica",
    "sans-serif", "DejaVu Sans", "Times New Roman",
)  # fmt: skip

_DRAW = """
import hashlib
import altair as alt
from pipeline.showing.drawing import chart_of, draw, picture, routes_axis, score_axis
rows = [
    {"route": f"Crème {name} Ωmega Ярус · 1.", "score": 12.5 * place, "part": f"part {name}"}
    for place, name in enumerate(("WAV", "fi", "±…"))
]
chart = chart_of(rows).mark_point().encode(
    y=routes_axis(rows), x=score_axis("score", "score"), color="part:N", column="part:N",
)
odd = chart_of([{"route": "\\u4e2d \\u0370 \\u0370", "score": 1}]).mark_text().encode(
    x="score:Q", text="route:N"
)
for drawn in (chart, odd):
    svg = draw(drawn)
    print(hashlib.sha256(svg.encode()).hexdigest(), hashlib.sha256(picture(svg)).hexdigest())
"""


def _data(style: str) -> bytes:
    return (resources.files("pipeline.showing") / "typeface" / f"{style}.ttf").read_bytes()


def _rival(style: str, family: str) -> bytes:
    """A font of another family's name, whose letters are larger and wider."""
    font = TTFont(io.BytesIO(_data(style)))
    for name in font.getGlyphOrder():
        glyph = font["glyf"][name]
        if glyph.numberOfContours > 0:
            glyph.coordinates.scale((1.4, 1.4))
    advances = font["hmtx"].metrics
    for name, (advance, side) in advances.items():
        advances[name] = (advance * 7 // 5, side)
    for table in font["cmap"].tables:  # characters that the own font lacks
        table.cmap |= {ord(c): "A" for c in "中\u0370\u0370"}
    for number in (1, 4, 16):
        font["name"].setName(family, number, 3, 1, 0x409)
    data = io.BytesIO()
    font.save(data)
    return data.getvalue()


def _drawn(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _DRAW],
        env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "1", **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def bare() -> list[str]:
    return _drawn(FONTCONFIG_FILE=os.devnull, HOME="/nonexistent")


@pytest.mark.parametrize("place", [".fonts", ".local/share/fonts", "share/fonts"])
def test_no_rival_font_changes_a_byte(tmp_path: Path, place: str, bare: list[str]) -> None:
    folder = tmp_path / place
    folder.mkdir(parents=True)
    for number, family in enumerate(FAMILIES):
        for style in STYLES:
            (folder / f"{number}-{style}.ttf").write_bytes(_rival(style, family))
    assert _drawn(HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "share")) == bare
    assert _drawn(HOME=str(tmp_path)) == bare


def test_the_family_is_drawn_anew_for_each_process_and_reaches_no_chart() -> None:
    line = "from pipeline.showing.fonts import own_family; print(own_family())"
    done = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() != own_family()
    rows = [{"route": 'font-family="Liberation Sans"', "score": 1}]
    svg = draw(chart_of(rows).mark_point().encode(y=routes_axis(rows), x=score_axis("score", "x")))
    assert own_family() not in svg
    assert svg.count("Liberation Sans") == svg.count("<text") + 1


@pytest.mark.parametrize("style", STYLES)
def test_the_font_has_every_character_that_charts_may_hold(style: str) -> None:
    font = TTFont(io.BytesIO(_data(style)))
    has = set(font.getBestCmap())
    assert not [hex(c) for c in range(0x11000) if sets(chr(c)) and c not in has]
    names = {str(record) for record in font["name"].names if record.nameID in {1, 3, 4, 6}}
    assert not [name for name in names for word in ("Liberation", "Arimo") if word in name]


def test_what_the_font_lacks_is_shown_by_its_number() -> None:
    spec = {"a": ["é中", {"b": "\u202e\u0370\x1b"}], "n": 1.5, "t": True}
    assert settable(spec) == {
        "a": ["é\\u4e2d", {"b": "\\u202e\\u0370\\u001b"}],
        "n": 1.5,
        "t": True,
    }
