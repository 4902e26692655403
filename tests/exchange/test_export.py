"""Training data out: the published rows from the published sets, and the same rules on our own."""

import hashlib
import json

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.errors import InputError, TableError
from pipeline.exchange.export import Exported, export_rows, export_view, training_rows
from pipeline.exchange.formats import Format, Kind
from pipeline.exchange.importing import import_published
from pipeline.tables import make_table, write_table
from pipeline.workspace import open_workspace
from schemas.release import PlannedTask
from schemas.results import CoreTask
from schemas.taskset import Task
from tests.mini import mini_workspace, run_stages
from tests.shared import SHARED, needs_shared

LAB = SHARED / "official" / "lab"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The small run, with tasks beside its core."""

    def change(parameters):
        parameters["score"]["core"]["size"] = 2
        parameters["score"]["families"] = ["substitution"]

    workspace = mini_workspace(tmp_path_factory.mktemp("own"), change)
    run_stages(workspace)
    return workspace


@pytest.fixture(scope="module")
def official(tmp_path_factory):
    """The published sets with the plan as their core, as `score` would seal it."""
    root = tmp_path_factory.mktemp("official")
    import_published(str(SHARED / "official"), root / "imported", root)
    (root / "params.yaml").write_bytes((root / "imported" / "params.yaml").read_bytes())
    workspace = open_workspace(root)
    run_stages(workspace, "release", "freeze")
    tasks = workspace.read("freeze", Task)
    digests = {row.task_id: d for row, d in zip(tasks.rows(), tasks.digests, strict=True)}
    core = [
        CoreTask.model_validate(
            row.model_dump() | {"task_digest": digests[row.task_id]}, strict=False
        )
        for row in workspace.read("release", PlannedTask).rows()
    ]
    write_table(
        workspace.artifact("score", "core"), make_table(CoreTask, core, {"tasks": tasks.root})
    )
    run_stages(workspace, "train")
    return workspace


@needs_shared
@pytest.mark.parametrize("kind", Kind)
def test_the_published_development_data_come_out_byte_for_byte(tmp_path, official, kind):
    manifest = json.loads((LAB / "DATA_MANIFEST.json").read_text(encoding="utf-8"))
    stated = {entry["name"]: (entry["rows"], entry["sha256"]) for entry in manifest["files"]}
    for file in export_rows(official, kind, Format.JSONL, tmp_path):
        data = file.path.read_bytes()
        assert stated[file.path.name] == (file.rows, hashlib.sha256(data).hexdigest())
        assert data == (LAB / file.path.name).read_bytes()


@needs_shared
def test_nothing_of_the_core_is_in_any_file(official):
    plan = json.loads((SHARED / "official" / "analysis-plan.json").read_text(encoding="utf-8"))
    core = {
        task_id
        for panel in plan["common_core"]["panels"].values()
        for ids in panel["selected_task_ids_by_family"].values()
        for task_id in ids
    }
    anchors = {t.anchor for t in official.read("freeze", Task).rows() if t.task_id in core}
    rows = [row for kind in Kind for part in training_rows(official, kind).values() for row in part]
    assert len(rows) == 3 * 426 - 426 + 283 + 1704 + 426
    assert not {row["task_id"] for row in rows} & core
    assert not {row["anchor_ingredient"] for row in rows} & anchors


def test_parquet_holds_the_rows_of_json_lines(tmp_path, own):
    for kind in Kind:
        for one, two in zip(
            export_rows(own, kind, Format.JSONL, tmp_path),
            export_rows(own, kind, Format.PARQUET, tmp_path),
            strict=True,
        ):
            lines = [json.loads(line) for line in one.path.read_text("utf-8").splitlines()]
            assert pq.read_table(two.path).to_pylist() == lines


def test_own_releases_follow_the_same_rules(own):
    core = {row.task_id for row in own.read("score", CoreTask).rows()}
    files = training_rows(own, Kind.TASKS)
    assert files["train_tasks"]
    assert files["supplemental_pairing"]
    assert not {row["task_id"] for rows in files.values() for row in rows} & core
    assert {row["reward"] for row in training_rows(own, Kind.SFT)["sft_train"]} == {1.0}


def test_the_command_writes_and_says_what(tmp_path, own):
    done = CliRunner().invoke(
        app, ["export", "grpo", "--to", str(tmp_path / "t"), "--json", "-w", str(own.root)]
    )
    assert done.exit_code == 0, done.stdout
    files = json.loads(done.stdout)["files"]
    assert [file["path"] for file in files] == [
        str(tmp_path / "t" / f"grpo_{split}.jsonl") for split in ("train", "validation")
    ]


def test_rows_of_another_core_are_refused(tmp_path):
    def change(parameters):
        parameters["score"]["core"]["size"] = 2

    workspace = mini_workspace(tmp_path, change)
    run_stages(workspace)
    change_again = json.loads((tmp_path / "params.yaml").read_text())
    change_again["score"]["core"]["context"] = "another"
    (tmp_path / "params.yaml").write_text(json.dumps(change_again))
    run_stages(open_workspace(tmp_path), "score")
    with pytest.raises(TableError, match="made from core with root"):
        training_rows(open_workspace(tmp_path), Kind.SFT)


def test_a_file_without_rows_is_named(tmp_path):
    view = export_view((Exported(tmp_path / "a", 3), Exported(tmp_path / "b", 0)))
    assert view.notes == (
        f"No rows in {tmp_path / 'b'}: strata of few tasks have none to spare for it.",
    )


def test_where_all_is_core_there_is_nothing_to_export(tmp_path):
    workspace = mini_workspace(tmp_path / "run")
    run_stages(workspace)
    with pytest.raises(InputError, match="not in the core"):
        export_rows(workspace, Kind.SFT, Format.JSONL, tmp_path / "out")
    assert not (tmp_path / "out").exists()
