"""The leaderboard's files: exact numbers, inert text, fixed bytes."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.contents import release_view, task_view
from pipeline.report.documents import (
    csv_text,
    json_text,
    metrics_text,
)
from pipeline.report.leaderboard import (
    leaderboard_view,
    read_results,
    report_title,
)
from pipeline.showing.documents import (
    csv_table,
    markdown_text,
    pipe_table,
    safe_cell,
)
from pipeline.showing.drawing import chart_of, draw
from pipeline.showing.latex import latex_table
from pipeline.showing.numbers import bps, fixed, p_value, score
from pipeline.showing.terminal import inert_json, visible
from pipeline.showing.view import Grid, View
from pipeline.tables import make_table
from pipeline.workspace import parse_parameters
from schemas.results import Chance, Standing
from schemas.taskset import Task, TaskSet
from tests.mini import mini_parameters, mini_workspace, run_stages
from tests.report.conftest import restore_cell

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

HOSTILE = '=HYPERLINK("x")|<script>alert(1)</script>*b*\u202e\x1b[31m`\\n&amp;'


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    def change(parameters: dict[str, Any]) -> None:
        parameters["routes"]["dice"]["label"] = HOSTILE

    workspace = mini_workspace(tmp_path_factory.mktemp("report"), change)
    run_stages(workspace)
    return workspace


@pytest.mark.parametrize(
    ("microbps", "places", "shown"),
    [
        (10_000_000_000, 1, "100.0"),
        (0, 1, "0.0"),
        (3_120_082_397, 1, "31.2"),
        (3_120_082_397, 6, "31.200824"),
        (5_000_000, 1, "0.0"),
        (15_000_000, 1, "0.2"),
        (-5_100_000, 1, "-0.1"),
        (-1, 1, "0.0"),
    ],
)
def test_scores_are_rounded_half_to_even_from_integers(
    microbps: int, places: int, shown: str
) -> None:
    assert score(microbps, places) == shown


def test_other_numbers_have_one_form() -> None:
    assert bps(10_000) == "100.00"
    assert bps(Fraction(1, 2)) == "0.00"
    assert bps(Fraction(3, 2)) == "0.02"
    assert p_value(1, 100_001) == "<0.0001"
    assert p_value(10_001, 100_001) == "0.1000"
    assert p_value(1, 1) == "1.0000"
    assert fixed(Fraction(5, 2), 0) == "2"


@pytest.mark.parametrize(
    "text",
    ['=HYPERLINK("http://example.invalid","open")', "+1", "-2+3", "@x", "'x", "-0.25"],
)
def test_a_text_cell_that_a_spreadsheet_would_run_is_made_text(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert restore_cell(safe_cell(text)) == text


@given(st.text())
def test_reading_a_cell_back_restores_any_text_as_it_is_shown(text: str) -> None:
    assert restore_cell(safe_cell(text)) == visible(text)
    assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))


_HIDDEN = "a\x1b[31m\x9b\x00\r\n\t\u202e\u2066\u200b\u2028\ufeff\u00ad\U000e0041b"


def _hidden_grid() -> Grid:
    return Grid(_HIDDEN, ("route", _HIDDEN), ((_HIDDEN, _HIDDEN),), frozenset({1}))


@pytest.mark.parametrize(
    "shown",
    [
        csv_table(_hidden_grid()),
        pipe_table(_hidden_grid()),
        latex_table(_hidden_grid()),
        markdown_text(View(_HIDDEN, (_hidden_grid(),), (_HIDDEN,), {})),
        inert_json({_HIDDEN: [_HIDDEN]}, indent=1),
        draw(chart_of([{"t": _HIDDEN, "n": 1}]).mark_text().encode(x="n:Q", text="t:N")),
    ],
    ids=["csv", "pipes", "latex", "markdown", "json", "svg"],
)
def test_nothing_hidden_is_left_in_what_is_written(shown: str) -> None:
    assert [hex(ord(c)) for c in shown if not c.isprintable() and c != "\n"] == []


def test_json_with_escapes_means_the_same() -> None:
    assert json.loads(inert_json({_HIDDEN: [_HIDDEN, "é…"]})) == {_HIDDEN: [_HIDDEN, "é…"]}
    assert inert_json("é…") == '"é…"'


def test_a_hidden_label_is_shown_in_the_leaderboards_files(done: Workspace) -> None:
    results = read_results(done)
    odd = results.standings[0].model_copy(update={"label": _HIDDEN})
    odd_results = results._replace(standings=(odd, *results.standings[1:]))
    for text in (csv_text(odd_results), json_text(odd_results)):
        assert [hex(ord(c)) for c in text if not c.isprintable() and c != "\n"] == []
    assert "a\\u001b[31m\\u009b" in csv_text(odd_results)


def test_csv_holds_the_tables_numbers_and_the_label_as_text(done: Workspace) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(read_results(done)))))
    standings = {s.slug: s for s in done.read("statistics", Standing).rows()}
    chance = {c.slug: c for c in done.read("statistics", Chance).rows()}
    assert [int(row["rank"]) for row in rows] == [1, 2]
    for row in rows:
        standing = standings[row["slug"]]
        assert Fraction(row["score"]) == round(Fraction(standing.score_microbps, 10**8), 6)
        assert Fraction(row["band_low"]) == round(Fraction(standing.band_low_microbps, 10**8), 6)
        assert int(row["chance_holm_p_numerator"]) == chance[row["slug"]].holm_numerator
        assert restore_cell(row["label"]) == visible(standing.label)
    assert {row["label"] for row in rows} == {f"'{visible(HOSTILE)}", "First three"}


def test_negative_numbers_stay_numbers_in_csv(done: Workspace) -> None:
    results = read_results(done)
    low = results.standings[0].model_copy(update={"pointwise_low_microbps": -25_000_000})
    text = csv_text(results._replace(standings=(low, *results.standings[1:])))
    assert next(csv.DictReader(io.StringIO(text)))["pointwise_low"] == "-0.250000"


def test_json_is_keyed_by_slug_and_holds_integers(done: Workspace) -> None:
    document = json.loads(json_text(read_results(done)))
    assert set(document["leaderboard"]) == {"dice", "first"}
    assert document["references"]["best"]["score_microbps"] == 10_000_000_000
    assert not re.search(r"\d\.\d", json_text(read_results(done)).replace(HOSTILE, ""))


def test_markdown_shows_hostile_text_and_runs_none_of_it(done: Workspace) -> None:
    text = markdown_text(leaderboard_view(done.parameters, read_results(done)))
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\<script\\>" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows[:4]} == {8}


def test_metrics_are_few_numbers_keyed_by_slug(done: Workspace) -> None:
    document = json.loads(metrics_text(read_results(done)))
    standings = {s.slug: s for s in done.read("statistics", Standing).rows()}
    assert set(document["routes"]) == set(standings)
    for slug, shown in document["routes"].items():
        assert set(shown) == {"score", "rank", "group", "parsed"}
        assert Fraction(str(shown["score"])) == round(
            Fraction(standings[slug].score_microbps, 10**8), 2
        )
        assert (shown["rank"], shown["group"]) == (standings[slug].rank, standings[slug].group)
    assert document["pairs"] == 1


def test_visible_text_is_printable() -> None:
    assert visible("a\tb\x1b\u202e\u200bz") == "a    b\\u001b\\u202e\\u200bz"


def test_views_name_what_they_show(done: Workspace) -> None:
    release = release_view(done)
    assert release.title == "Release starter@1"
    assert release.document["ingredients"] == 465
    assert len(str(release.document["digest"])) == 64


@pytest.mark.parametrize(
    ("release", "title"),
    [
        ({"source": "starter", "path": "x", "version": 1}, "FlavourBench on the starter release"),
        (
            {"source": "starter", "path": "x", "version": 2},
            "FlavourBench on the starter release, version 2",
        ),
        ({"source": "bundle", "path": "/data/my-bundle/"}, "FlavourBench on the release my-bundle"),
        ({"source": "bundle", "path": "."}, "FlavourBench on the release ."),
        (
            {"source": "published", "path": "x", "published": {"manifest": "m.json"}},
            "FlavourBench, the published data set",
        ),
        (
            {"source": "published", "path": "x", "published": {"panels": {"one": "a.json"}}},
            "FlavourBench, the published task sets",
        ),
    ],
)
def test_a_title_follows_the_release_unless_one_is_set(release: dict[str, Any], title: str) -> None:
    def titled(report: dict[str, str | None]) -> str:
        document = mini_parameters() | {"release": release, "report": report}
        if release["source"] == "published":
            document["freeze"] = {"source": "published", "families": ["substitution", "pairing"]}
        return report_title(parse_parameters(json.dumps(document).encode(), "params.yaml"))

    assert titled({}) == titled({"title": None}) == title
    assert titled({"title": "Mine"}) == "Mine"


def test_shared_ranks_and_places_are_shown_as_such(done: Workspace) -> None:
    results = read_results(done)
    tied = [s.model_copy(update={"rank": 1}) for s in results.standings]
    shown = leaderboard_view(done.parameters, results._replace(standings=tuple(tied)))
    assert [row[0] for row in shown.grids[0].rows] == ["1="] * len(tied)
    tasks = done.read("freeze", Task)
    for task in tasks.rows():
        falling = sorted(task.scores_bps, reverse=True)
        for place, _, value, _ in task_view(done, task.task_id).grids[1].rows:
            score_bps = round(Fraction(value) * 100)
            shared = "=" if falling.count(score_bps) > 1 else ""
            assert place == f"{falling.index(score_bps) + 1}{shared}"


def test_worst_portfolios_that_all_score_nothing_share_their_place(done: Workspace) -> None:
    tasks = done.read("freeze", Task)
    task, *others = tasks.rows()
    flat = [0] * 56
    flat[3], flat[7] = 10_000, 5_000
    changed = make_table(Task, [task.model_copy(update={"scores_bps": tuple(flat)}), *others])
    taskset = done.read("freeze", TaskSet)
    moved = done.holding(done.artifact("freeze", "tasks"), changed).holding(
        done.artifact("freeze", "taskset"),
        make_table(TaskSet, taskset.rows(), {"tasks": changed.root}),
    )
    rows = task_view(moved, task.task_id).grids[1].rows
    assert [row[0] for row in rows] == ["1", "2", *["3="] * 6]


def test_a_task_is_found_by_id_and_by_prefix(done: Workspace) -> None:
    by_id = task_view(done, "mini-1-pairing-001")
    digest = str(by_id.document["digest"])
    assert task_view(done, digest) == by_id
    assert task_view(done, digest[:8].upper()) == by_id
    assert max(by_id.document["scores_bps"].values()) == 10_000


@pytest.mark.parametrize("name", ["nope", "1234567", "", "zzzzzzzz"])
def test_an_unknown_task_is_refused_with_a_hint(done: Workspace, name: str) -> None:
    from pipeline.errors import InputError

    with pytest.raises(InputError, match="Ids run like mini-1-pairing-001"):
        task_view(done, name)


def test_a_second_report_has_the_same_bytes(done: Workspace, tmp_path: Path) -> None:
    folder = done.root / "artifacts" / "report"

    def files() -> dict[str, bytes]:
        found = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

    before = files()
    (folder / "figures" / "stray.svg").write_text("from an earlier run")
    run_stages(done, "report")
    assert files() == before
    assert {name for name in before if "/" not in name} == {
        "index.html", "leaderboard.md", "leaderboard.csv", "leaderboard.json", "metrics.json",
    }  # fmt: skip
