"""`verify` passes a sound run and names what is wrong with any other."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest
from typer.testing import CliRunner

from pipeline.audit.card import make_card, write_card
from pipeline.audit.cell import audit_cell
from pipeline.audit.foreign import report_names
from pipeline.audit.layout import input_names, stored_headers
from pipeline.audit.verify import verify
from pipeline.cli import app
from pipeline.errors import InputError, TableError
from pipeline.tables import read_header
from pipeline.workspace import open_workspace
from schemas.parameters import Parameters
from schemas.results import Selection
from tests.audit.conftest import careless
from tests.audit.faults import FAULTS, flip, reheader
from tests.exchange.small import import_small, with_results
from tests.mini import mini_parameters, mini_workspace

HASHED = {
    "a_byte_flipped_with_size_and_time_kept",
    "a_row_edited",
    "a_row_removed_under_the_old_header",
    "two_files_swapped",
    "an_input_root_that_lies",
    "a_table_from_another_run",
    "five_gigabytes_claimed_by_a_tiny_file",
    "an_input_left_out",
    "an_input_that_is_no_table",
    "an_input_that_it_was_not_made_from",
    "a_document_that_no_table_has",
    "answers_that_say_they_are_of_another_route",
    "an_earlier_route_under_another_digest",
    "a_pipe_among_the_tables",
    "a_link_in_the_report",
}


def tell(result):
    return [str(difference) for difference in result.differences]


def test_a_sound_run_passes_every_step(sound_run):
    result = verify(sound_run)
    assert tell(result) == []
    assert [step.title for step in result.steps][-1] == "stage report"
    assert len(result.steps) == 11


def test_there_are_at_least_twenty_faults():
    assert len(FAULTS) >= 20


@pytest.mark.parametrize("name", FAULTS)
def test_a_spoilt_run_is_named_to_the_row(name, run):
    spoil, parts = FAULTS[name]
    spoil(run)
    found = tell(verify(run))
    assert any(all(part in line for part in parts) for line in found), found
    assert all(line.isprintable() for line in found), found


@pytest.mark.parametrize("name", sorted(HASHED))
def test_hashing_alone_sees_what_was_not_hashed_again(name, run):
    FAULTS[name][0](run)
    assert tell(verify(run, quick=True)) != []


def places_with_inputs():
    from pipeline.audit.layout import places

    parameters = mini_parameters()
    careless(parameters)
    found = places(Parameters.model_validate_json(json.dumps(parameters)))
    return [place.word for place in found]


@pytest.mark.parametrize("word", places_with_inputs())
def test_hashing_alone_sees_emptied_inputs_of_any_table(word, run):
    path = run.root / "artifacts" / f"{word}.parquet"
    names = sorted(read_header(path).inputs)
    reheader(path, lambda header: header.update(inputs={}))
    found = tell(verify(run, quick=True))
    assert len(found) == len(names)
    for name, line in zip(names, found, strict=True):
        assert line.startswith(f"artifacts/{word}.parquet, header, inputs {name}: expected ")
        assert line.endswith("found no such input")


def test_every_table_names_the_inputs_that_it_must(sound_run):
    for place, header in stored_headers(sound_run).items():
        assert header.inputs.keys() == input_names(sound_run.parameters, place), place.word


def test_a_published_run_passes_every_step_and_names_its_inputs(tmp_path):
    published = import_small(tmp_path / "run", with_results(tmp_path / "published"))
    for place, header in stored_headers(published).items():
        assert header.inputs.keys() == input_names(published.parameters, place), place.word
    result = verify(published)
    assert tell(result) == []
    assert {step.mark.value for step in result.steps} == {"ok", "not checked"}
    task = published.read("parse", Selection).rows()[0]
    assert not audit_cell(published, task.slug, task.task_id).differs


def test_the_report_writes_files_that_it_names_and_no_others(sound_run):
    from pipeline.report.stage import build

    assert {document.name for document in build(sound_run)} == report_names(sound_run)


FOREIGN = [
    "report/best.html", "report/figures/best.svg", "report/figures/index.html",
    "report/paper/best.tex", "report/more/index.html", "report/.hidden", "report/leaderboard.MD",
    "report/paper/panels-a-b.png", "score/notes.txt", "score/deep/er/scores.csv",
    "execute/attempts/none.parquet", "execute/extra.json", "train/more.jsonl", "index.html",
    "report/.gitignore", "more/scores.parquet", "more/run-card.json",
]  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_no_stage_declares_is_named(name, run):
    path = run.root / "artifacts" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"<p>Dice 100</p>")
    assert tell(verify(run, quick=True)) == [
        f"artifacts/{name}: expected no such file: no stage writes it, found a file"
    ]


def test_what_dvc_tells_git_to_ignore_is_no_foreign_file(run):
    (run.root / "artifacts/score/.gitignore").write_text("/scores.parquet\n/core.parquet\n")
    assert tell(verify(run, quick=True)) == []


def test_a_step_has_one_state_and_says_what_was_not_checked(run):
    done = CliRunner().invoke(app, ["verify", "--quick", "-w", str(run.root)])
    shown = [line.rstrip() for line in done.stdout.splitlines() if "dvc.lock" in line]
    assert "not checked" in shown[0]
    assert " ok " not in shown[0]
    assert shown[-1] == "Not checked: files as dvc.lock lists them, stages and report."
    document = json.loads(
        CliRunner().invoke(app, ["verify", "--quick", "--json", "-w", str(run.root)]).stdout
    )
    assert [step["mark"] for step in document["steps"]] == ["ok", "ok", *["not checked"] * 2]


def test_a_byte_that_no_reader_sees_is_found_by_the_lock(run):
    names = [p.relative_to(run.root).as_posix() for p in sorted(run.root.rglob("*.parquet"))]
    outs = {n: hashlib.md5((run.root / n).read_bytes()).hexdigest() for n in names}
    files = [{"path": name, "md5": md5} for name, md5 in outs.items()]
    (run.root / "dvc.lock").write_text(json.dumps({"stages": {"all": {"outs": files}}}), "utf-8")
    assert tell(verify(run, quick=True)) == []
    path = run.root / "artifacts/score/core.parquet"
    flip(path, path.read_bytes().rindex(b"parquet-cpp"))
    assert [line.split(":")[0] for line in tell(verify(run, quick=True))] == [
        "artifacts/score/core.parquet, md5"
    ]


def test_a_lock_of_another_shape_is_refused(run):
    (run.root / "dvc.lock").write_text("stages: [1]", "utf-8")
    done = CliRunner().invoke(app, ["verify", "--quick", "-w", str(run.root)])
    assert done.exit_code != 0
    assert "dvc.lock" in str(done.exception)


def test_a_forged_table_does_not_blame_those_behind_it(run):
    FAULTS["a_score_changed_by_one_basis_point"][0](run)
    steps = {step.title: step.differences for step in verify(run).steps}
    assert steps["stage score"]
    assert steps["stage statistics"] == ()
    assert steps["stage report"] == ()


def test_a_release_that_is_not_here_is_said_and_the_rest_derived(run):
    text = (run.root / "params.yaml").read_text("utf-8")
    parameters = json.loads(text)
    parameters["release"]["path"] = "nowhere"
    (run.root / "params.yaml").write_text(json.dumps(parameters), "utf-8")
    from pipeline.workspace import open_workspace

    result = verify(open_workspace(run.root))
    assert tell(result) == []
    assert "nowhere is not here" in next(s.evidence for s in result.steps if "release" in s.title)


def test_an_empty_workspace_is_no_difference_but_a_wrong_use(tmp_path):
    with pytest.raises(InputError, match="dvc pull"):
        verify(mini_workspace(tmp_path))


@pytest.mark.parametrize(("spoilt", "code"), [(False, 0), (True, 1)])
def test_the_exit_code_tells(run, spoilt, code):
    if spoilt:
        FAULTS["a_row_edited"][0](run)
    done = CliRunner().invoke(app, ["verify", "--quick", "--json", "-w", str(run.root)])
    assert done.exit_code == code
    document = json.loads(done.stdout)
    assert document["ok"] is not spoilt
    assert bool(sum(len(step["differences"]) for step in document["steps"])) is spoilt


def test_a_card_names_everything_by_digest(sound_run, tmp_path):
    card = make_card(sound_run)
    assert {"release/ingredients", "score/scores", "execute/dice"} <= {t.path for t in card.tables}
    assert set(card.routes) == set(sound_run.parameters.routes)
    assert set(card.versions) >= {"python", "numpy", "blake3"}
    _, markdown = write_card(card, tmp_path)
    assert card.run in markdown.read_text("utf-8")


@pytest.mark.parametrize("target", ["/dev/zero", "nowhere", "dvc.lock", "."])
def test_a_lock_that_is_no_file_is_not_taken_for_none(sound_run, tmp_path, target):
    root = tmp_path / "run"
    shutil.copytree(sound_run.root, root)
    (root / "dvc.lock").unlink(missing_ok=True)
    (root / "dvc.lock").symlink_to(target)
    with pytest.raises(TableError, match="a symbolic link"):
        verify(open_workspace(root), quick=True)
