"""One answer, one reading: a route, `score`, `reward`, the trainer's reward and a batch agree."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.errors import InputError
from pipeline.exchange.batch import UNREADABLE_BPS, RewardMaps
from pipeline.exchange.export import training_rows
from pipeline.exchange.formats import Kind
from pipeline.exchange.own import score_answers
from pipeline.exchange.reward import reward_of, selection_reward
from pipeline.exchange.template import write_template
from schemas.results import Selection
from schemas.taskset import CONTRACTS, LABELS, PORTFOLIOS, Task, TaskSet
from tests.mini import mini_workspace, replay_route, run_stages

LAST = "FINAL_SELECTION: A, C, F"
OTHER = "FINAL_SELECTION: A, B, C"
ACF, NONE = ("ACF", None), (None, "no_marker")
READINGS = (
    (LAST, ACF),
    (f"<think>try\n{OTHER}</think>\n\n{LAST}", ACF),
    (f"\n<Thinking>{OTHER}</Thinking>{LAST}", ACF),
    (f"<think>{OTHER}</think><think>{OTHER}</think>{LAST}", ACF),
    (f"So.\n<think>{OTHER}</think>\n{LAST}", ACF),
    (f"{LAST}\n<think>{OTHER}", ACF),
    (f"try\n{OTHER}\n</think>\n{LAST}", ACF),
    (f"[THINK]{OTHER}[/THINK]{LAST}", ACF),
    (f"\ufeff<think>{OTHER}</think>{LAST}", ACF),
    (f"<think>{LAST}</think>", NONE),
    (f"<think>{LAST}</think>\n\nThe first three.", NONE),
    (f"<think>maybe this one:\n{LAST}\nbut I should check the rest", NONE),
    (f"Sure.\n<think>{LAST}", NONE),
    (f"{LAST}</think>", NONE),
    (f"<think>{OTHER}</think>{OTHER}\n{LAST}", (None, "conflict")),
    ("<think>", NONE),
    ("", NONE),
)
FORGIVEN = "<think>hm</think>FINAL\\_SELECTION: A, C and F."
"""Read by the one contract and not by the other."""


@pytest.fixture(scope="module", params=CONTRACTS)
def run(request, tmp_path_factory):
    """A small run under a contract, and what stands in each task's answer."""
    workspace = mini_workspace(
        tmp_path_factory.mktemp("reading"), lambda p: p["parse"].update(contract=request.param)
    )
    run_stages(workspace, "release", "freeze")
    texts = [*(text for text, _ in READINGS), FORGIVEN]
    tasks = workspace.read("freeze", Task).rows()
    given = {task.task_id: text for task, text in zip(tasks, texts, strict=False)}
    lines = {task_id: {"answer": text} for task_id, text in given.items()}
    route = replay_route(workspace, "told.jsonl", lines) | {"ranked": False}
    told = mini_workspace(
        workspace.root,
        lambda p: (p["parse"].update(contract=request.param), p["routes"].update(told=route)),
    )
    run_stages(told, "execute", "parse", "score", "statistics", "train")
    return told, given


def expected(workspace):
    """Selection and reason of each of the texts."""
    forgiven = workspace.parameters.parse.contract == "selection-set-v4"
    return [*(reading for _, reading in READINGS), ACF if forgiven else NONE]


def test_a_route_reads_so(run):
    workspace, given = run
    rows = {row.task_id: row for row in workspace.read("parse", Selection).rows()
            if row.slug == "told"}  # fmt: skip
    assert [(rows[one].selection, rows[one].reason) for one in given] == expected(workspace)


def test_own_answers_are_read_so(run):
    workspace, given = run
    document = score_answers(workspace, given).document
    lines = {line["task_id"]: line for line in document["tasks"]}
    found = [(lines[one]["selection"], lines[one]["reason"]) for one in given]
    assert found == expected(workspace)
    assert document["contract"] == workspace.parameters.parse.contract


def test_one_reward_is_read_so(run):
    workspace, given = run
    rewards = [reward_of(workspace, one, text)[0] for one, text in given.items()]
    assert [(reward.selection, reward.reason) for reward in rewards] == expected(workspace)


def chats(text):
    """A text as a trainer may hand it over."""
    parts = [{"type": "text", "text": text[:9]}, {"type": "text", "text": text[9:]}]
    return text, [{"role": "assistant", "content": text}], [{"role": "assistant", "content": parts}]


def scores_of(workspace, given, unreadable):
    tasks = {task.task_id: task for task in workspace.read("freeze", Task).rows()}
    return [
        tasks[one].scores_bps[PORTFOLIOS.index(selection)] if selection else unreadable
        for one, (selection, _) in zip(given, expected(workspace), strict=True)
    ]


def test_a_trainers_reward_is_read_so(run):
    workspace, given = run
    tasks = {task.task_id: task for task in workspace.read("freeze", Task).rows()}
    wanted = [score / 10_000 for score in scores_of(workspace, given, 0)]
    for completions in zip(*map(chats, given.values()), strict=True):
        found = selection_reward(
            completions,
            choices=[dict(zip(LABELS, tasks[one].choices, strict=True)) for one in given],
            selection_scores_bps=[
                dict(zip(PORTFOLIOS, tasks[one].scores_bps, strict=True)) for one in given
            ],
            parser_contract=[workspace.parameters.parse.contract] * len(given),
        )
        assert found == wanted


def test_a_batch_is_read_so(run):
    workspace, given = run
    tasks = {task.task_id: task for task in workspace.read("freeze", Task).rows()}
    maps = RewardMaps.of(
        [tasks[one] for one in given], workspace.read("freeze", TaskSet).rows()[0].parser
    )
    wanted = scores_of(workspace, given, UNREADABLE_BPS)
    for completions in zip(*map(chats, given.values()), strict=True):
        assert maps.rewards(completions, np.arange(len(given))).tolist() == wanted


def test_a_batch_refuses_an_unknown_shape(run):
    workspace, _ = run
    maps = RewardMaps.of(workspace.read("freeze", Task).rows(), CONTRACTS["selection-set-v3"])
    with pytest.raises(InputError, match="found a list with text in it"):
        maps.rewards([LAST, [LAST]], np.zeros(2, dtype=np.int64))


def test_a_row_that_is_not_read_as_published_ones_says_so(tmp_path):
    for name in CONTRACTS:
        workspace = mini_workspace(
            tmp_path / name,
            lambda p, name=name: (
                p["parse"].update(contract=name),
                p["score"].update(families=["substitution"]),
                p["score"]["core"].update(size=2),
            ),
        )
        run_stages(workspace, "release", "freeze", "execute", "parse", "score", "train")
        row = training_rows(workspace, Kind.GRPO)["grpo_train"][0]
        assert ("parser_contract" in row) == (name == "selection-set-v4")
        columns = {column: [value] for column, value in row.items()}
        worth = row["selection_scores_bps"]["ACF"] / 10_000
        found = selection_reward(["FINAL_SELECTION: A, C and F."], **columns)
        assert found == [worth if name == "selection-set-v4" else 0.0]


def test_a_contract_that_nobody_knows_is_refused():
    with pytest.raises(InputError, match="one of selection-set-v3, selection-set-v4"):
        selection_reward(
            [LAST], choices=[{}], selection_scores_bps=[{}], parser_contract=["selection-set-v9"]
        )


def test_a_template_filled_in_is_a_replay_file(tmp_path):
    workspace = mini_workspace(tmp_path, lambda p: p["score"]["core"].update(size=1))
    run_stages(workspace)
    template = write_template(workspace, tmp_path / "mine.jsonl")
    assert template.needed < template.tasks == len(workspace.read("freeze", Task).rows())
    rows = [json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    filled = [row | {"answer": LAST} for row in rows[: template.needed]] + rows[template.needed :]
    lines = {row["task_id"]: row for row in filled}
    route = replay_route(workspace, "mine.jsonl", lines) | {"ranked": False}
    scored = CliRunner().invoke(
        app, ["score", str(tmp_path / "mine.jsonl"), "-w", str(tmp_path), "--json"]
    )
    assert scored.exit_code == 0
    assert json.loads(scored.stdout)["aside"] == 0
    told = mini_workspace(
        tmp_path, lambda p: (p["score"]["core"].update(size=1), p["routes"].update(mine=route))
    )
    run_stages(told, "execute", "parse")
    statuses = [row.status for row in told.read("parse", Selection).rows() if row.slug == "mine"]
    assert statuses.count("parsed") == template.needed
    assert statuses.count("failed") == template.tasks - template.needed


def test_a_template_is_json_lines_and_never_takes_the_place_of_answers(tmp_path):
    workspace = mini_workspace(tmp_path, lambda p: p["score"]["core"].update(size=1))
    run_stages(workspace)
    path = tmp_path / "mine.jsonl"
    write_template(workspace, path)
    write_template(workspace, path)  # as it was written: nothing is lost
    path.write_bytes(filled := path.read_bytes().replace(b"null", b'"mine"', 1))
    with pytest.raises(InputError, match="answers are kept"):
        write_template(workspace, path)
    assert path.read_bytes() == filled
    for name in ("mine.csv", "mine.parquet", "mine"):
        with pytest.raises(InputError, match=r"ends in \.jsonl or \.ndjson"):
            write_template(workspace, tmp_path / name)
        assert not (tmp_path / name).exists()
