"""Where `dvc.lock` lists answers that are not here, nothing is paid for a second time."""

from __future__ import annotations

import shutil

import pytest

from pipeline.asking.check import check_routes
from pipeline.errors import ExecuteError
from pipeline.execute import stage
from pipeline.portfolio import PORTFOLIO
from tests.execute.provider import Provider, good, reply
from tests.execute.small import UNIFORM, make_workspace, openai_route, run_cli

OUT = "artifacts/execute/m.parquet"
LOCKS = {
    "plain": f"stages:\n  execute@m:\n    cmd: x\n    outs:\n    - path: {OUT}\n      md5: a\n",
    "quoted": f'{{"stages": {{"execute@m": {{"outs": [{{"path": "{OUT}"}}]}}}}}}',
    "escaped": f'stages: {{"execute\\u0040m": {{outs: [{{path: "{OUT}"}}]}}}}',
    "no-outs": "stages:\n  execute@m:\n    cmd: x\n",
    "attempts": "stages: {execute@m: {outs: [{path: artifacts/execute/attempts/m.parquet}]}}",
    "other-stage": f"stages: {{ask@m: {{outs: [{{path: {OUT}}}]}}}}",
    "anchor": f"stages:\n  a: &a {{outs: [{{path: {OUT}}}]}}\n  execute@m: *a\n",
}
BROKEN = {
    "no-yaml": "stages: [",
    "no-text": b"\xff\xfe",
    "list": "[]",
    "no-stages": "stages: 3",
    "no-outs": "stages: {execute@m: {outs: 3}}",
    "no-path": "stages: {execute@m: {outs: [3]}}",
    "text-stage": "stages: {execute@m: lost}",
    "twice": "stages: {a: {}, a: {}}",
}
OTHERS = {
    "none": None,
    "another-route": "stages: {execute@mm: {outs: [{path: artifacts/execute/mm.parquet}]}}",
    "a-comment": f"# execute@m: {OUT}\nstages: {{}}",
    "in-a-value": 'stages: {report: {cmd: "execute@m: now"}}',
}


def run(place, **wish):
    return stage.fill(place, ["m"], stage.Wish(**wish))[0]


def write(place, text):
    data = text if isinstance(text, bytes) else text.encode()
    (place.root / "dvc.lock").write_bytes(data)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_that_lists_the_table_stops_the_route(tmp_path, name):
    with Provider() as provider:
        place = make_workspace(tmp_path, 3, {"m": openai_route(provider)})
        write(place, LOCKS[name])
        with pytest.raises(ExecuteError, match="dvc pull") as caught:
            stage.run(place, "m")
        assert "--anew" in str(caught.value)
    assert provider.paths == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_lock_that_nobody_can_read_stops_the_route(tmp_path, name):
    with Provider() as provider:
        place = make_workspace(tmp_path, 3, {"m": openai_route(provider)})
        write(place, BROKEN[name])
        with pytest.raises(ExecuteError, match=r"(?s)dvc\.lock.*dvc pull"):
            stage.run(place, "m")
    assert provider.paths == []


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_lock_that_is_no_file_stops_the_route(tmp_path, kind):
    with Provider() as provider:
        place = make_workspace(tmp_path, 3, {"m": openai_route(provider)})
        lock = place.root / "dvc.lock"
        lock.mkdir() if kind == "folder" else lock.symlink_to("nowhere")
        assert "dvc.lock" in str(run(place).problem)
    assert provider.paths == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_lock_that_does_not_list_it_stops_nobody(tmp_path, name):
    with Provider() as provider:
        place = make_workspace(tmp_path, 3, {"m": openai_route(provider)})
        if OTHERS[name] is not None:
            write(place, OTHERS[name])
        assert run(place).problem is None
    assert len(provider.prompts) == 3


def test_a_smoke_answer_in_the_ledger_does_not_open_the_gate(tmp_path):
    with Provider() as provider:
        place = make_workspace(tmp_path, 5, {"m": openai_route(provider)})
        run(place, limit=1)
        write(place, LOCKS["plain"])
        for wish in ({}, {"limit": 1}, {"give_up": True}):
            assert "dvc pull" in str(run(place, **wish).problem)
        assert len(provider.prompts) == 1


def test_answers_of_an_older_route_do_not_open_the_gate(tmp_path):
    with Provider() as provider:
        stage.run(make_workspace(tmp_path, 4, {"m": openai_route(provider)}), "m")
        place = make_workspace(tmp_path, 4, {"m": openai_route(provider, system="Now you cook.")})
        write(place, LOCKS["plain"])
        place.artifact("execute", "m").unlink()
        assert place.artifact("execute", "attempts/m").exists()
        assert "dvc pull" in str(run(place).problem)
    assert len(provider.prompts) == 4


def test_every_way_to_ask_is_closed(tmp_path):
    def behave(call):
        return good(call) if call.prompt else reply(body={"data": [{"id": "m-1"}]})

    with Provider(behave) as provider:
        routes = {"m": openai_route(provider), "uniform": UNIFORM}
        place = make_workspace(tmp_path, 3, routes)
        write(place, LOCKS["plain"])
        for words in (["m"], ["m", "--limit", "1"], ["--all"], ["m", "uniform"]):
            ended = run_cli("execute", *words, "-w", tmp_path)
            assert ended.returncode == 2
            assert "dvc pull" in ended.stdout + ended.stderr
        (check,) = check_routes(PORTFOLIO, place, ["m"], ping=True)
        assert "dvc pull" in check.ping
        assert not check.ready
        assert provider.prompts == []
        ended = run_cli("execute", "m", "--anew", "-w", tmp_path)
        assert ended.returncode == 0
    assert len(provider.prompts) == 3


def test_with_every_cell_at_hand_the_ledger_is_sealed_anew(tmp_path):
    with Provider() as provider:
        place = make_workspace(tmp_path, 3, {"m": openai_route(provider)})
        stage.run(place, "m")
        shutil.rmtree(place.root / "artifacts" / "execute")
        write(place, LOCKS["plain"])
        stage.run(place, "m")
    assert len(provider.prompts) == 3


def test_what_costs_nothing_is_answered_again(tmp_path):
    place = make_workspace(tmp_path, 3, {"m": UNIFORM})
    write(place, BROKEN["no-yaml"])
    assert run(place).problem is None
