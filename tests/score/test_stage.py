"""Scores, denominators and the core, over whole small runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pipeline.errors import ExecuteError, InputError, TableError
from schemas.results import CoreTask, Coverage, Score, Selection, Standing
from schemas.taskset import PORTFOLIOS, Task
from tests.mini import mini_workspace, replay_route, run_stages

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.workspace import Workspace

LABELS = "ABC"


def with_route(workspace: Workspace, slug: str, route: dict[str, Any]) -> Workspace:
    def change(parameters: dict[str, Any]) -> None:
        parameters["routes"][slug] = route

    return mini_workspace(workspace.root, change)


@pytest.fixture
def frozen(tmp_path: Path) -> Workspace:
    workspace = mini_workspace(tmp_path)
    run_stages(workspace, "release", "freeze")
    return workspace


def test_a_score_is_the_entry_of_the_map(frozen: Workspace) -> None:
    run_stages(frozen, "execute", "parse", "score")
    tasks = {task.task_id: task for task in frozen.read("freeze", Task).rows()}
    cells = {(c.slug, c.task_id): c.selection for c in frozen.read("parse", Selection).rows()}
    scores = frozen.read("score", Score).rows()
    assert len(scores) == 3 * len(tasks)
    for row in scores:
        place = PORTFOLIOS.index(cells[row.slug, row.task_id] or "")
        assert row.score_bps == tasks[row.task_id].scores_bps[place]
    assert {row.score_bps for row in scores if row.slug == "best"} == {10_000}


def test_failed_and_unparseable_cells_are_counted_and_leave_the_core(frozen: Workspace) -> None:
    ids = [task.task_id for task in frozen.read("freeze", Task).rows()]
    lines = {
        ids[0]: {"answer": None},
        ids[1]: {"answer": "cut off", "outcome": "truncated"},
        ids[2]: {"answer": "no marker here"},
        ids[3]: {"answer": "FINAL_SELECTION: $A, B, C$"},
    }
    workspace = with_route(frozen, "late", replay_route(frozen, "late.jsonl", lines))
    run_stages(workspace, "execute", "parse", "score", "statistics", "report")
    cells = {c.task_id: c for c in workspace.read("parse", Selection).rows() if c.slug == "late"}
    assert [cells[i].status for i in ids[:4]] == ["failed", "failed", "unparseable", "unparseable"]
    assert [cells[i].outcome for i in ids[:4]] == ["failed", "truncated", "ok", "ok"]
    assert [cells[i].reason for i in ids[:4]] == [None, None, "no_marker", "wrapper"]
    assert cells[ids[3]].alternative_selection == "ABC"
    rows = [row for row in workspace.read("score", Coverage).rows() if row.slug == "late"]
    total = {
        name: sum(getattr(row, name) for row in rows)
        for name in ("expected", "completed", "parsed", "failed", "missing", "no_marker", "wrapper")
    }
    assert total == {
        "expected": len(ids), "completed": len(ids) - 2, "parsed": len(ids) - 4, "failed": 2,
        "missing": 0, "no_marker": 1, "wrapper": 1,
    }  # fmt: skip
    core = {row.task_id for row in workspace.read("score", CoreTask).rows()}
    assert not core & set(ids[:4])
    standings = workspace.read("statistics", Standing).rows()
    assert {row.tasks for row in standings} == {len(core)}
    board = (workspace.root / "artifacts/report/leaderboard.md").read_text(encoding="utf-8")
    assert f"| late | {len(ids)} | {len(ids) - 2} | {len(ids) - 4} | 2 | 0 |" in board
    assert "selection-set-v4 would read late \\+1" in board


def test_every_part_of_a_denominator_sums_to_what_was_expected(frozen: Workspace) -> None:
    run_stages(frozen, "execute", "parse", "score")
    reasons = (
        "no_marker", "empty_marker", "wrong_count", "unknown_item", "duplicate_item", "wrapper",
        "conflict",
    )  # fmt: skip
    for row in frozen.read("score", Coverage).rows():
        unparseable = sum(getattr(row, name) for name in reasons)
        assert row.expected == row.parsed + row.failed + row.missing + unparseable
        assert row.completed == row.parsed + unparseable


def test_cells_that_were_never_asked_are_missing_not_zero(tmp_path: Path) -> None:
    def narrow(parameters: dict[str, Any]) -> None:
        parameters["freeze"]["families"] = ["substitution"]
        parameters["score"]["families"] = ["substitution"]

    def wide(parameters: dict[str, Any]) -> None:
        parameters["score"]["families"] = ["substitution"]

    run_stages(mini_workspace(tmp_path, narrow), "release", "freeze", "execute")
    workspace = mini_workspace(tmp_path, wide)
    run_stages(workspace, "freeze", "parse", "score")
    cells = workspace.read("parse", Selection).rows()
    missing = [cell for cell in cells if cell.status == "missing"]
    assert len(missing) == len(cells) // 2
    assert all(cell.selection is None and cell.response_digest is None for cell in missing)
    scored = {(row.slug, row.task_id) for row in workspace.read("score", Score).rows()}
    assert not scored & {(cell.slug, cell.task_id) for cell in missing}
    coverage = workspace.read("score", Coverage).rows()
    assert {row.missing == row.expected for row in coverage if row.family == "pairing"} == {True}


def test_an_empty_core_stratum_is_refused(frozen: Workspace) -> None:
    tasks = frozen.read("freeze", Task).rows()
    lines = {t.task_id: {"answer": "none"} for t in tasks if t.family == "pairing"}
    workspace = with_route(frozen, "mute", replay_route(frozen, "mute.jsonl", lines))
    run_stages(workspace, "execute", "parse")
    with pytest.raises(InputError, match=r"core of panel_1, pairing.*found 0 of 8.*mute lacks 8"):
        run_stages(workspace, "score")
    assert not workspace.artifact("score", "core").exists()


@pytest.mark.parametrize(("unranked", "found"), [({"first"}, r"1 \(dice\)"),
                                                 ({"first", "dice"}, "none")])  # fmt: skip
@pytest.mark.parametrize("stage", ["score", "statistics", "report"])
def test_fewer_than_two_ranked_routes_are_refused_before_a_table_is_read(
    tmp_path: Path, unranked: set[str], found: str, stage: str
) -> None:
    def change(parameters: dict[str, Any]) -> None:
        for slug in unranked:
            parameters["routes"][slug]["ranked"] = False

    with pytest.raises(InputError, match=f"params.yaml: routes.*two ranked.*found {found}"):
        run_stages(mini_workspace(tmp_path, change), stage)


@pytest.mark.parametrize("stage", ["parse", "execute"])
def test_answers_of_another_route_are_never_taken(frozen: Workspace, stage: str) -> None:
    run_stages(frozen, "execute")
    first, dice = (frozen.artifact("execute", slug) for slug in ("first", "dice"))
    first.write_bytes(dice.read_bytes())
    with pytest.raises((TableError, ExecuteError), match=r"the answers of first, found .*dice"):
        run_stages(frozen, stage)


@pytest.mark.parametrize(
    ("stage", "older"), [("score", "parse"), ("statistics", "score"), ("report", "statistics")]
)
def test_tables_of_two_runs_are_never_mixed(frozen: Workspace, stage: str, older: str) -> None:
    run_stages(frozen)
    kept = {path.name: path.read_bytes() for path in (frozen.root / "artifacts" / older).iterdir()}

    def change(parameters: dict[str, Any]) -> None:
        parameters["freeze"]["excluded_anchors"] = ["garlic"]

    other = mini_workspace(frozen.root, change)
    run_stages(other, "freeze", "execute", "parse", "score", "statistics", "report")
    for name, data in kept.items():
        (frozen.root / "artifacts" / older / name).write_bytes(data)
    with pytest.raises(
        TableError, match=r"made from .* root .* of two runs are mixed: run `dvc repro`"
    ):
        run_stages(other, stage)
