"""Own answers: coverage first, a score only where it can be compared, a report to check."""

import json

import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.errors import InputError
from pipeline.exchange.own import check_report, expected_tasks, own_report, score_answers
from pipeline.identity import digest
from pipeline.workspace import open_workspace
from schemas.results import Chance, Score, Standing
from schemas.taskset import Task
from tests.mini import mini_workspace, run_stages

FIRST = "FINAL_SELECTION: A, B, C"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    workspace = mini_workspace(tmp_path_factory.mktemp("own"))
    run_stages(workspace)
    return workspace


def answers_of(workspace, text=FIRST):
    return {task.task_id: text for task in expected_tasks(workspace)}


def write_answers(path, answers):
    rows = [{"task_id": name, "response": text} for name, text in answers.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_score_is_that_of_a_route_with_these_answers(run):
    document = score_answers(run, answers_of(run)).document
    standing = next(s for s in run.read("statistics", Standing).rows() if s.slug == "first")
    chance = next(c for c in run.read("statistics", Chance).rows() if c.slug == "first")
    found = document["score"]
    assert found["score_microbps"] == standing.score_microbps
    assert found["se_microbps"] == standing.se_microbps
    assert found["low_microbps"] == standing.pointwise_low_microbps
    assert found["high_microbps"] == standing.pointwise_high_microbps
    assert [f["score_microbps"] for f in found["families"]] == [
        family.score_microbps for family in standing.families
    ]
    assert found["chance"]["p_numerator"] == chance.p_numerator
    assert found["chance"]["low_microbps"] == chance.low_microbps
    assert found["chance"]["chance_microbps"] == chance.chance_microbps
    scores = {row.task_id: row.score_bps for row in run.read("score", Score).rows()
              if row.slug == "first"}  # fmt: skip
    assert all(scores[line["task_id"]] == line["score_bps"] for line in document["tasks"])


@pytest.mark.parametrize(
    ("text", "part"),
    [(None, "missing"), ("no idea", "no_marker"), ("FINAL_SELECTION: A, B", "wrong_count")],
)
def test_one_answer_short_is_no_score(run, text, part):
    answers = answers_of(run)
    answers[next(iter(answers))] = text
    document = score_answers(run, answers).document
    coverage = document["coverage"]
    assert document["score"] is None
    assert coverage["parsed"] == coverage["expected"] - 1
    counted = coverage if part == "missing" else coverage["unparseable"]
    assert counted[part] == 1


def test_an_unknown_task_is_refused(run):
    with pytest.raises(InputError, match=r"found t-9 \(1 unknown in all\)"):
        score_answers(run, answers_of(run) | {"t-9": FIRST})


def test_without_a_core_all_frozen_tasks_are_expected(tmp_path):
    workspace = mini_workspace(tmp_path)
    run_stages(workspace, "release", "freeze")
    frozen = {task.task_id for task in workspace.read("freeze", Task).rows()}
    assert set(answers_of(workspace)) == frozen
    document = score_answers(workspace, answers_of(workspace)).document
    assert document["scope"] == "all frozen tasks"
    assert document["score"]["score_microbps"] > 0


def test_answers_beside_the_core_are_counted_and_left_aside(tmp_path):
    workspace = mini_workspace(tmp_path, lambda p: p["score"]["core"].update(size=1))
    run_stages(workspace)
    frozen = [task.task_id for task in workspace.read("freeze", Task).rows()]
    document = score_answers(workspace, dict.fromkeys(frozen, FIRST)).document
    assert document["aside"] == len(frozen) - document["coverage"]["expected"] > 0
    assert document["score"] is not None


@pytest.mark.parametrize("complete", [True, False])
def test_a_report_is_built_again_from_itself_and_from_the_answers(run, tmp_path, complete):
    answers = answers_of(run)
    if not complete:
        answers[next(iter(answers))] = "?"
    path = write_answers(tmp_path / "mine.jsonl", answers)
    report, written = own_report(run, path, None, None)
    assert written == tmp_path / "mine.score.json"
    assert check_report(run, written) == report
    assert check_report(run, written, answers) == report


def better(document):
    document["score"]["score_microbps"] += 1


def other_selection(document):
    document["tasks"][3]["selection"] = "DEF"


def other_score(document):
    document["tasks"][3]["score_bps"] = 10_000


def task_lost(document):
    document["tasks"].pop()


def other_taskset(document):
    document["taskset_digest"] = "0" * 64


def more_coverage(document):
    document["coverage"]["expected"] = 3


def no_line(document):
    document["tasks"][0] = 7


def no_portfolio(document):
    document["tasks"][0]["selection"] = "XYZ"


def more_fields(document):
    document["model"] = "best"


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        better, other_selection, other_score, task_lost, other_taskset, more_coverage, no_line,
        no_portfolio, more_fields,
    ],
)  # fmt: skip
def test_a_changed_report_is_refused_even_with_a_fitting_digest(run, tmp_path, change, signed):
    report, path = own_report(run, write_answers(tmp_path / "a.jsonl", answers_of(run)), None, None)
    document = json.loads(json.dumps(report.document))
    change(document)
    if signed:
        rest = {name: value for name, value in document.items() if name != "digest"}
        document["digest"] = digest("own-score", rest)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError):
        check_report(run, path)


def test_a_report_under_other_parameters_is_another(run, tmp_path):
    _, path = own_report(run, write_answers(tmp_path / "a.jsonl", answers_of(run)), None, None)
    text = (run.root / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(text.replace('"seed": 1,', '"seed": 2,'))
    (tmp_path / "artifacts").symlink_to(run.root / "artifacts")
    with pytest.raises(InputError, match="as it follows from the answers and this run"):
        check_report(open_workspace(tmp_path), path)


def test_the_commands(run, tmp_path):
    def call(*words):
        return CliRunner().invoke(app, [*words, "--json", "-w", str(run.root)])

    blank = tmp_path / "blank.jsonl"
    assert call("template", "--to", str(blank)).exit_code == 0
    done = call("score", str(blank))
    assert done.exit_code == 1
    assert json.loads(done.stdout)["coverage"]["missing"] == len(expected_tasks(run))
    filled = [json.loads(line) | {"answer": FIRST} for line in blank.read_text().splitlines()]
    blank.write_text("".join(json.dumps(row) + "\n" for row in filled))
    assert call("score", str(blank)).exit_code == 0
    assert call("score", "--check", str(tmp_path / "blank.score.json")).exit_code == 0
    assert call("score", str(blank), "--check", str(tmp_path / "blank.score.json")).exit_code == 0
    task = expected_tasks(run)[0]
    best = ", ".join(task.optimum)
    done = call("reward", f"FINAL_SELECTION: {best}", "--task", task.task_id)
    assert json.loads(done.stdout)["score_bps"] == 10_000
    done = call("reward", "dunno", "--task", task.task_id)
    assert (json.loads(done.stdout)["score_bps"], json.loads(done.stdout)["reason"]) == (
        0, "no_marker",
    )  # fmt: skip
