from __future__ import annotations

import functools
import json
import os
import sqlite3
import stat

import pytest

from pipeline.asking import filling, runner
from pipeline.asking.ledger import open_ledger
from pipeline.errors import ExecuteError, InputError, ProviderError, StoppedError, TableError
from pipeline.execute import stage
from pipeline.identity import digest, row_digest
from pipeline.tables import make_table, read_header, read_table, write_table
from pipeline.workspace import owner_document
from schemas.execution import Response
from schemas.taskset import Task
from tests.execute.small import (
    UNIFORM,
    Answers,
    make_response,
    make_task,
    make_tasks,
    make_workspace,
    provider_down,
    run_cli,
    sealed_rows,
)


@pytest.fixture
def workspace(tmp_path):
    return make_workspace(tmp_path / "here")


@pytest.fixture
def answers(monkeypatch):
    """Puts an adapter of the test in the place of the route's."""

    def put(adapter, concurrency=1):
        monkeypatch.setattr(filling, "bind_route", lambda *_: adapter)
        job = functools.partial(runner.plain_job, concurrency=concurrency)
        monkeypatch.setattr(filling, "plain_job", job)
        return adapter

    return put


def sealed_path(workspace, slug="uniform"):
    return workspace.artifact("execute", slug)


def remove_ledger(workspace, slug="uniform"):
    for path in workspace.ledger(slug).parent.glob(f"{slug}.*"):
        path.unlink()


def seal(workspace, rows, slug="uniform"):
    table = make_table(Response, rows, about={"slug": owner_document("uniform")})
    write_table(sealed_path(workspace, slug), table)
    return table.root


class TestSummary:
    def test_a_first_run_asks_every_task(self, workspace):
        summary = stage.run(workspace, "uniform")
        assert summary.headline == "uniform: 0 of 12 present, 12 asked now, 12 stored in all"
        artifact, attempts = summary.artifacts
        assert (attempts.path, attempts.rows) == ("artifacts/execute/attempts/uniform.parquet", 0)
        assert artifact.path == "artifacts/execute/uniform.parquet"
        assert artifact.rows == 12
        assert artifact.root == read_table(sealed_path(workspace), Response).root

    def test_fb_038_with_all_present_nothing_is_asked(self, workspace, answers):
        stage.run(workspace, "uniform")
        adapter = answers(Answers())
        summary = stage.run(workspace, "uniform")
        assert summary.headline == "uniform: 12 of 12 present, 0 asked now, 12 stored in all"
        assert adapter.asked == []

    def test_fb_038_the_command_says_so_and_exits_0(self, workspace):
        stage.run(workspace, "uniform")
        ended = run_cli("execute", "uniform", "-w", workspace.root)
        assert ended.returncode == 0
        assert "12 of 12 present, 0 asked" in ended.stdout
        assert ended.stderr == ""

    def test_an_unknown_route_is_one_line_with_those_there_are(self, workspace):
        with pytest.raises(InputError, match="uniform") as caught:
            stage.run(workspace, "no\nsuch")
        assert "\n" not in str(caught.value)
        ended = run_cli("execute", "unifrom", "-w", workspace.root)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.count("\n") == 1
        assert "'unifrom'" in ended.stderr
        assert not workspace.ledger("unifrom").exists()

    def test_tasks_that_are_not_frozen_are_one_error_and_leave_no_ledger(self, workspace):
        workspace.artifact("freeze", "tasks").unlink()
        with pytest.raises(TableError, match="dvc repro"):
            stage.run(workspace, "uniform")
        assert not workspace.ledger("uniform").exists()


class TestSeal:
    def test_the_table_names_its_tasks_and_its_route(self, workspace):
        stage.run(workspace, "uniform")
        header = read_header(sealed_path(workspace))
        assert header.inputs == {"tasks": workspace.read("freeze", Task).root}
        assert set(header.about) == {"route", "slug"}
        assert '"policy":"uniform"' in header.about["route"]

    def test_fb_025_bytes_are_the_same_for_every_order_and_concurrency(self, tmp_path, answers):
        seen = set()
        orders = []
        for place, (concurrency, pace) in enumerate(
            [
                (1, lambda _: 0),
                (8, lambda _: 0),
                (8, lambda request: 40 - 3 * int(request.question.id[2:])),
                (3, lambda request: int(request.question.id[2:]) * 7 % 5),
            ]
        ):
            workspace = make_workspace(tmp_path / str(place))
            adapter = answers(Answers(pace=pace), concurrency)
            stage.run(workspace, "uniform")
            orders.append(tuple(adapter.finished))
            seen.add(sealed_path(workspace).read_bytes())
        assert len(seen) == 1
        assert len(set(orders)) >= 3

    def test_fb_025_bytes_are_the_same_for_every_order_of_storing(self, tmp_path):
        whole = make_workspace(tmp_path / "whole")
        stage.run(whole, "uniform")
        rows = sealed_rows(whole)
        for place, order in enumerate((rows[::-1], rows[5:] + rows[:5], rows[:3])):
            workspace = make_workspace(tmp_path / str(place))
            with open_ledger(workspace.ledger("uniform")) as ledger:
                for row in order:
                    ledger.add(row)
            stage.run(workspace, "uniform")
            assert sealed_path(workspace).read_bytes() == sealed_path(whole).read_bytes()

    def test_fb_039_bytes_do_not_depend_on_file_times_umask_or_place(self, tmp_path):
        first = make_workspace(tmp_path / "first")
        stage.run(first, "uniform")
        second = make_workspace(tmp_path / "elsewhere" / "second")
        for path in second.root.rglob("*"):
            os.utime(path, (1, 1))
        before = os.umask(0o027)
        try:
            stage.run(second, "uniform")
        finally:
            os.umask(before)
        assert stat.S_IMODE(sealed_path(second).stat().st_mode) == 0o640
        assert sealed_path(first).read_bytes() == sealed_path(second).read_bytes()

    def test_fb_040_a_forced_second_run_leaves_table_and_ledger_bytes(self, workspace, answers):
        stage.run(workspace, "uniform")
        paths = (sealed_path(workspace), workspace.ledger("uniform"))
        before = [path.read_bytes() for path in paths]
        for path in paths:
            os.utime(path, (1, 1))
        adapter = answers(Answers())
        stage.run(workspace, "uniform")
        assert adapter.asked == []
        assert [path.read_bytes() for path in paths] == before

    def test_a_lost_ledger_comes_back_from_the_table(self, workspace, answers):
        stage.run(workspace, "uniform")
        before = sealed_path(workspace).read_bytes()
        remove_ledger(workspace)
        adapter = answers(Answers())
        stage.run(workspace, "uniform")
        assert adapter.asked == []
        assert sealed_path(workspace).read_bytes() == before
        with open_ledger(workspace.ledger("uniform")) as ledger:
            assert len(ledger.responses()) == 12

    def test_a_lost_table_comes_back_from_the_ledger(self, workspace, answers):
        stage.run(workspace, "uniform")
        before = sealed_path(workspace).read_bytes()
        sealed_path(workspace).unlink()
        adapter = answers(Answers())
        stage.run(workspace, "uniform")
        assert adapter.asked == []
        assert sealed_path(workspace).read_bytes() == before


class TestHydration:
    def test_table_and_ledger_are_joined(self, workspace, answers):
        stage.run(workspace, "uniform")
        rows = sealed_rows(workspace)
        remove_ledger(workspace)
        seal(workspace, rows[:7])
        with open_ledger(workspace.ledger("uniform")) as ledger:
            for row in rows[4:9]:
                ledger.add(row)
        adapter = answers(Answers())
        summary = stage.run(workspace, "uniform")
        assert summary.headline == "uniform: 9 of 12 present, 3 asked now, 12 stored in all"
        assert set(adapter.asked) == {row.task_id for row in rows[9:]}
        assert {row_digest(row) for row in rows[:9]} <= {
            row_digest(row) for row in sealed_rows(workspace)
        }

    def test_another_response_under_one_key_stops_it_before_any_ask(self, workspace, answers):
        stage.run(workspace, "uniform")
        rows = sealed_rows(workspace)
        changed = rows[5].model_copy(update={"raw": b"FINAL_SELECTION: F, G, H\n"})
        seal(workspace, [*rows[:5], changed])
        before = sealed_path(workspace).read_bytes()
        adapter = answers(Answers())
        with pytest.raises(ExecuteError, match=changed.request_digest) as caught:
            stage.run(workspace, "uniform")
        assert "\n" not in str(caught.value)
        assert adapter.asked == []
        assert sealed_path(workspace).read_bytes() == before
        with open_ledger(workspace.ledger("uniform")) as ledger:
            assert rows[5] in ledger.responses()

    def test_a_changed_row_of_the_table_stops_it_before_any_ask(self, workspace, answers):
        stage.run(workspace, "uniform")
        remove_ledger(workspace)
        table = read_table(sealed_path(workspace), Response)
        raw = table.data.column("raw").to_pylist()
        raw[3] = b"FINAL_SELECTION: F, G, H\n"
        place = table.data.schema.get_field_index("raw")
        field = table.data.schema.field(place)
        write_table(
            sealed_path(workspace), table._replace(data=table.data.set_column(place, field, [raw]))
        )
        adapter = answers(Answers())
        with pytest.raises(TableError, match="row 3"):
            stage.run(workspace, "uniform")
        assert adapter.asked == []

    @pytest.mark.parametrize("defect", ["truncated", "text", "link", "empty", "folder"])
    def test_a_table_that_cannot_be_read_stops_it_before_any_ask(
        self, workspace, answers, defect, tmp_path
    ):
        stage.run(workspace, "uniform")
        remove_ledger(workspace)
        path = sealed_path(workspace)
        data = path.read_bytes()
        path.unlink()
        if defect == "link":
            (tmp_path / "target").write_bytes(data)
            path.symlink_to(tmp_path / "target")
        elif defect == "folder":
            path.mkdir()
        else:
            path.write_bytes({"truncated": data[:-40], "text": b"no table", "empty": b""}[defect])
        adapter = answers(Answers())
        with pytest.raises(TableError) as caught:
            stage.run(workspace, "uniform")
        assert "\n" not in str(caught.value)
        assert adapter.asked == []

    def test_a_changed_ledger_stops_it_before_any_ask_and_seals_nothing(self, workspace, answers):
        with open_ledger(workspace.ledger("uniform")) as ledger:
            ledger.add(make_response(1))
        connection = sqlite3.connect(workspace.ledger("uniform"))
        connection.execute("DROP TRIGGER responses_hold")
        connection.execute("UPDATE responses SET raw = x'00'")
        connection.commit()
        connection.close()
        adapter = answers(Answers())
        with pytest.raises(ExecuteError, match="changed"):
            stage.run(workspace, "uniform")
        assert adapter.asked == []
        assert not sealed_path(workspace).exists()

    def test_answers_to_tasks_no_longer_in_the_plan_are_kept(self, workspace):
        stage.run(workspace, "uniform")
        before = sealed_rows(workspace)
        fewer = [*make_tasks(5), make_task(13)]
        write_table(workspace.artifact("freeze", "tasks"), make_table(Task, fewer))
        for lost in (False, True):
            summary = stage.run(workspace, "uniform")
            assert summary.headline.endswith("13 stored in all")
            rows = sealed_rows(workspace)
            assert len(rows) == 13
            assert all(row in rows for row in before)
            if not lost:
                remove_ledger(workspace)

    def test_answers_under_an_older_route_are_kept(self, tmp_path):
        workspace = make_workspace(tmp_path, 4)
        stage.run(workspace, "uniform")
        before = sealed_rows(workspace)
        other = make_workspace(tmp_path, 4, {"uniform": UNIFORM | {"seed": 2}})
        summary = stage.run(other, "uniform")
        assert summary.headline == "uniform: 0 of 4 present, 4 asked now, 8 stored in all"
        rows = sealed_rows(other)
        assert len({row.route_digest for row in rows}) == 2
        assert all(row in rows for row in before)
        documents = dict(read_header(sealed_path(other)).about)
        assert documents.pop("slug") == '"uniform"'
        assert {digest("route", json.loads(text)) for text in documents.values()} == {
            row.route_digest for row in rows
        }
        back = make_workspace(tmp_path, 4)
        assert stage.run(back, "uniform").headline.startswith("uniform: 4 of 4 present, 0 asked")


class TestFailing:
    @pytest.mark.parametrize(
        ("error", "kind"),
        [(provider_down(), ProviderError), (RuntimeError("lost"), ProviderError)],
        ids=["provider", "fault"],
    )
    @pytest.mark.parametrize("concurrency", [1, 4])
    def test_an_adapter_that_raises_leaves_what_was_stored(
        self, tmp_path, answers, error, kind, concurrency
    ):
        whole = make_workspace(tmp_path / "whole")
        answers(Answers())
        stage.run(whole, "uniform")
        workspace = make_workspace(tmp_path / "broken")
        adapter = answers(Answers(fail_at=6, error=error, pace=lambda _: 1), concurrency)
        with pytest.raises(kind):
            stage.run(workspace, "uniform")
        assert not sealed_path(workspace).exists()
        with open_ledger(workspace.ledger("uniform")) as ledger:
            stored = {row.task_id for row in ledger.responses()}
        assert stored == set(adapter.finished)
        again = answers(Answers())
        stage.run(workspace, "uniform")
        assert not stored & set(again.asked)
        assert sealed_path(workspace).read_bytes() == sealed_path(whole).read_bytes()

    def test_a_stop_leaves_an_older_table_as_it_was(self, workspace, answers, monkeypatch):
        answers(Answers())
        stage.run(workspace, "uniform")
        before = sealed_path(workspace).read_bytes()
        more = make_tasks(14)
        write_table(workspace.artifact("freeze", "tasks"), make_table(Task, more))

        monkeypatch.setattr(filling, "run_jobs", lambda _: [StoppedError(12, 14)])
        with pytest.raises(StoppedError):
            stage.run(workspace, "uniform")
        assert sealed_path(workspace).read_bytes() == before


class Paid(Answers):
    costs_money = True


LOCK = "schema: '2.0'\nstages:\n  execute@uniform:\n    cmd: flavourbench execute uniform\n"


class TestMoney:
    def test_paid_answers_on_record_but_not_at_hand_are_not_paid_for_twice(
        self, workspace, answers
    ):
        (workspace.root / "dvc.lock").write_text(LOCK)
        adapter = answers(Paid())
        for _ in range(2):
            with pytest.raises(ExecuteError, match="dvc pull") as caught:
                stage.run(workspace, "uniform")
            assert "\n" not in str(caught.value)
            assert "artifacts/execute/uniform.parquet" in str(caught.value)
        assert adapter.asked == []

    @pytest.mark.parametrize("at_hand", ["table", "ledger"])
    def test_with_table_or_ledger_at_hand_the_rest_is_asked(self, workspace, answers, at_hand):
        adapter = answers(Paid())
        stage.run(workspace, "uniform")
        (workspace.root / "dvc.lock").write_text(LOCK)
        if at_hand == "table":
            remove_ledger(workspace)
        else:
            sealed_path(workspace).unlink()
        stage.run(workspace, "uniform")
        assert len(adapter.asked) == 12

    def test_an_empty_ledger_is_none(self, workspace, answers):
        (workspace.root / "dvc.lock").write_text(LOCK)
        with open_ledger(workspace.ledger("uniform")):
            pass
        adapter = answers(Paid())
        with pytest.raises(ExecuteError, match="dvc pull"):
            stage.run(workspace, "uniform")
        assert adapter.asked == []

    @pytest.mark.parametrize(
        "lock",
        [
            None,
            "schema: '2.0'\n",
            LOCK.replace("execute@uniform:", "execute@uniform-2:"),
            LOCK.replace("execute@uniform:", "execute@not-uniform:"),
        ],
        ids=["no-lock", "no-stages", "longer-slug", "other-slug"],
    )
    def test_without_the_stage_on_record_it_is_asked(self, workspace, answers, lock):
        if lock is not None:
            (workspace.root / "dvc.lock").write_text(lock)
        adapter = answers(Paid())
        stage.run(workspace, "uniform")
        assert len(adapter.asked) == 12

    def test_free_answers_are_asked_whatever_is_on_record(self, workspace):
        (workspace.root / "dvc.lock").write_text(LOCK)
        assert stage.run(workspace, "uniform").artifacts[0].rows == 12

    def test_a_lock_that_is_no_text_is_no_crash(self, workspace, answers):
        (workspace.root / "dvc.lock").write_bytes(b"\xff\xfe execute@uniform:")
        answers(Paid())
        with pytest.raises(ExecuteError, match="dvc pull"):
            stage.run(workspace, "uniform")
