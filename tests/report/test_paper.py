"""Tables for papers: the same numbers, and text that cannot leave its cell."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.paper import paper_files
from pipeline.showing.latex import latex_table, latex_text
from pipeline.showing.terminal import visible
from tests.report.conftest import restore_cell

if TYPE_CHECKING:
    from tests.report.conftest import Run

_COMMANDS = {
    "\\textbackslash", "\\textasciicircum", "\\textasciitilde", "\\textless", "\\textgreater",
    "\\textbar", "\\textquotedbl", "\\textquotesingle", "\\textasciigrave", "\\dag", "\\ldots",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50% & $5_a", r"50\% \& \$5\_a"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("^^41", r"\textasciicircum{}\textasciicircum{}41"),
        ("a--b", "a{-}{-}b"),
        ("Crème", "Crème"),
        ("🍜", "{[}U+1F35C{]}"),
        ("\u202e", r"\textbackslash{}u202e"),
    ],
)
def test_text_is_set_as_it_is(text: str, latex: str) -> None:
    assert latex_text(text) == latex


@given(st.text())
def test_no_text_is_a_command(text: str) -> None:
    latex = latex_text(text)
    assert set(re.findall(r"\\[A-Za-z]+", latex)) <= _COMMANDS
    bare = re.sub(r"\\[{}$&#_%]", "", latex)
    assert not set("$&#_%^~") & set(bare)
    assert bare.count("{") == bare.count("}")
    assert "\n" not in latex


def test_every_table_and_figure_has_its_files(hostile: Run) -> None:
    files = paper_files(hostile.sources, hostile.figures)
    for figure in hostile.figures:
        assert {f"{figure.name}.{end}" for end in ("tex", "md", "csv", "png")} <= set(files)
        assert files[f"{figure.name}.png"].startswith(b"\x89PNG")
    for name in ("leaderboard", "denominators", "task-maps"):
        assert {f"{name}.tex", f"{name}.md", f"{name}.csv"} <= set(files)
    assert files == paper_files(hostile.sources, hostile.figures)


def test_the_same_numbers_stand_in_latex_and_csv(hostile: Run) -> None:
    files = paper_files(hostile.sources, hostile.figures)
    for figure in hostile.figures:
        rows = list(csv.reader(io.StringIO(files[f"{figure.name}.csv"].decode())))
        body = [
            [cell if i in figure.grid.numeric else restore_cell(cell) for i, cell in enumerate(row)]
            for row in rows[1:]
        ]
        assert body == [[visible(cell) for cell in row] for row in figure.grid.rows]
        latex = latex_table(figure.grid)
        assert latex.count(r" \\") == len(figure.grid.rows) + 1
        lines = latex.splitlines()[2:-2]
        wanted = len(figure.grid.headings) - 1
        assert {line.count(" & ") for line in lines if line.endswith(r"\\")} == {wanted}


def test_no_text_cell_of_a_csv_starts_a_formula(hostile: Run) -> None:
    files = paper_files(hostile.sources, hostile.figures)
    for name in (name for name in files if name.endswith(".csv")):
        for row in csv.reader(io.StringIO(files[name].decode())):
            for cell in row:
                assert not cell.startswith(("=", "@", "+", "\t", "\r"))
                assert not cell.startswith("-") or re.fullmatch(r"-[\d.]+", cell)
