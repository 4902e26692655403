"""The page stands alone, shows the tables' numbers, and runs nothing that it did not bring."""

from __future__ import annotations

import base64
import hashlib
import re
from fractions import Fraction
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.errors import InputError
from pipeline.report.figures import figures
from pipeline.report.page import case_studies, page_html
from schemas.results import Standing
from tests.mini import mini_workspace, run_stages
from tests.report.hostile import LABELS, TITLE
from tests.report.many import more_routes, more_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.conftest import Run

_VOID = {"meta", "link", "input", "br", "img", "hr", "circle", "path", "rect", "line"}


class Reader(HTMLParser):
    """Elements, their attributes, the text of scripts and styles, and the cells of tables."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.rows: list[list[tuple[dict[str, str | None], str]]] = []
        self._cell = False
        self._raw = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.raw:
            self._raw = tag
            self.raw[tag].append("")
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self._cell = True
            self.rows[-1].append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._raw = "" if tag in self.raw else self._raw
        self._cell = self._cell and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._raw:
            self.raw[self._raw][-1] += data
        elif self._cell:
            attributes, text = self.rows[-1][-1]
            self.rows[-1][-1] = (attributes, text + data.strip())


@pytest.fixture(scope="module")
def page(hostile: Run) -> Reader:
    reader = Reader()
    reader.feed(hostile.page.read_text("utf-8"))
    return reader


def test_the_page_asks_for_nothing(hostile: Run, page: Reader) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "srcset", "poster", "data", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,")), (tag, name, value)
    style = page.raw["style"][0]
    assert "url(" not in style
    assert "@import" not in style
    assert "innerHTML" not in hostile.page.read_text("utf-8")


def test_the_policy_names_the_style_and_the_script_and_forbids_the_rest(page: Reader) -> None:
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, text in (("style", page.raw["style"][0]), ("script", page.raw["script"][-1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_hostile_text_opens_no_element(page: Reader) -> None:
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    assert [a.get("type") for a in scripts] == ["application/json", None]
    assert "img" not in {tag for tag, _ in page.elements}
    assert not [name for _, a in page.elements for name in a if name.startswith("on")]
    assert not [a for _, a in page.elements if "style" in a]


def test_hostile_text_is_shown_as_it_is(hostile: Run, page: Reader) -> None:
    text = hostile.page.read_text("utf-8")
    cells = [text for row in page.rows for _, text in row]
    assert LABELS["first"] in cells
    assert LABELS["dice"].replace("\u202e", "\\u202e").replace("\x1b", "\\u001b") in cells
    assert "{{ 7*7 }}" in text  # a template in a title is text
    assert TITLE not in text
    visible = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00\x1b]", visible)


def test_the_leaderboard_on_the_page_is_the_table(hostile: Run, page: Reader) -> None:
    standings = sorted(hostile.workspace.read("statistics", Standing).rows(), key=lambda s: s.rank)
    head = next(i for i, row in enumerate(page.rows) if row and row[0][1] == "rank")
    headings = [text for _, text in page.rows[head]]
    for standing, row in zip(standings, page.rows[head + 1 :], strict=False):
        shown = dict(zip(headings, row, strict=True))
        shared = [other.rank for other in standings].count(standing.rank) > 1
        assert shown["rank"][1] == f"{standing.rank}{'=' if shared else ''}"
        assert shown["rank"][0]["data-order"] == str(standing.rank)
        assert shown["group"][1] == str(standing.group)
        assert shown["score"][0]["data-order"] == str(standing.score_microbps)
        assert Fraction(shown["score"][1]) == round(Fraction(standing.score_microbps, 10**8), 1)
        assert shown["95% band"][0]["data-order"] == str(standing.band_low_microbps)
        for part in standing.families:
            assert shown[part.family.value][0]["data-order"] == str(part.score_microbps)


def test_every_figure_on_the_page_has_its_numbers_in_a_table(hostile: Run, page: Reader) -> None:
    rows = [[text for _, text in row] for row in page.rows]
    for figure in hostile.figures:
        head = rows.index(list(figure.grid.headings))
        shown = rows[head + 1 : head + 1 + len(figure.grid.rows)]
        numbers = sorted(figure.grid.numeric)
        for got, wanted in zip(shown, figure.grid.rows, strict=True):
            assert [got[i] for i in numbers] == [wanted[i] for i in numbers]


def test_every_chart_has_a_name_and_words(page: Reader) -> None:
    ids = {a["id"] for _, a in page.elements if "id" in a}
    charts = [a for tag, a in page.elements if tag == "svg" and a.get("role") == "img"]
    assert len(charts) == 7
    for chart in charts:
        assert chart["aria-labelledby"] in ids
        assert chart["aria-describedby"] in ids


def test_case_studies_follow_their_rule_and_hold_the_scores(hostile: Run) -> None:
    sources = hostile.sources
    core = [task for task in sources.tasks.values() if task.task_id in sources.core]
    for case in case_studies(sources):
        family = case.family.replace(" ", "_")
        rivals = [task.task_id for task in core if task.family.value == family]
        lots = {
            name: hashlib.sha256(f"case-study\0{family}\0{name}".encode()).hexdigest()
            for name in rivals
        }
        assert case.task_id == min(lots, key=lots.__getitem__)
        task = next(t for t in core if t.task_id == case.task_id)
        assert len(case.answers) == len(sources.selections)
        assert all(
            Fraction(answer.score) * 100 in task.scores_bps
            for answer in case.answers
            if answer.score
        )


def test_the_page_has_the_same_bytes_again(hostile: Run) -> None:
    assert page_html(hostile.sources, hostile.figures) == hostile.page.read_text("utf-8")


def test_27_routes_and_534_tasks_make_less_than_3_megabytes(hostile: Run) -> None:
    sources = more_tasks(more_routes(hostile.sources, 25), 534)
    assert len(sources.selections) == 28
    page = page_html(sources, figures(sources))
    assert len(page.encode()) < 3_000_000


def test_elements_nest(hostile: Run) -> None:
    class Nesting(HTMLParser):
        open: list[str]

        def handle_starttag(self, tag: str, _: Any) -> None:
            if tag not in _VOID:
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            if tag not in _VOID:
                assert self.open.pop() == tag

    parser = Nesting()
    parser.open = []
    parser.feed(hostile.page.read_text("utf-8"))
    assert parser.open == []


def test_a_route_that_was_not_run_yet_is_named(tmp_path: Path) -> None:
    run_stages(mini_workspace(tmp_path))

    def change(parameters: dict[str, Any]) -> None:
        parameters["routes"]["late"] = parameters["routes"]["dice"] | {"seed": 9}

    with pytest.raises(InputError, match=r"found none of late\. Run `dvc repro`"):
        run_stages(mini_workspace(tmp_path, change), "report")
