"""A route with `enabled: false` is asked nothing and shown nowhere, and loses nothing."""

from __future__ import annotations

import json

import pytest

from pipeline.asking.check import check_routes
from pipeline.audit.verify import verify
from pipeline.errors import ExecuteError, InputError
from pipeline.execute import stage
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import read_header
from pipeline.workspace import open_workspace
from tests.execute.provider import Provider, completion, good, reply
from tests.execute.small import make_workspace, openai_route, run_cli, sealed_rows
from tests.mini import mini_parameters, run_stages

_ASKING = PORTFOLIO.stages.index(PORTFOLIO.asking)
AFTER = [stage.word for stage in PORTFOLIO.stages[_ASKING + 1 :]]


def put(root, **routes):
    """The mini workspace with more routes, or with changed ones."""
    parameters = mini_parameters()
    for slug, route in routes.items():
        parameters["routes"][slug] = parameters["routes"].get(slug, {}) | route
    root.mkdir(exist_ok=True)
    (root / "params.yaml").write_text(json.dumps(parameters), encoding="utf-8")
    return open_workspace(root)


def roots(place):
    files = sorted((place.root / "artifacts").rglob("*.parquet"))
    return {path.relative_to(place.root).as_posix(): read_header(path).root for path in files}


def test_a_route_goes_and_comes_back_and_nothing_is_lost(tmp_path):
    with Provider() as provider:
        route = openai_route(provider)
        place = put(tmp_path / "here", m=route)
        run_stages(place)
        whole, asked = roots(place), len(provider.prompts)

        place = put(tmp_path / "here", m=route | {"enabled": False})
        assert (
            "set aside (enabled: false), 0 asked now, 32 stored" in stage.run(place, "m").headline
        )
        run_stages(place, *AFTER)
        without = roots(place)
        assert verify(place).differences == ()
        shown = run_cli("leaderboard", "--json", "-w", place.root).stdout
        assert '"m"' not in shown
        states = json.loads(run_cli("routes", "--json", "-w", place.root).stdout)["routes"]
        assert [line["state"] for line in states if line["slug"] == "m"] == ["set aside"]
        assert run_cli("execute", "--all", "-w", place.root).returncode == 0

        place = put(tmp_path / "here", m=route)
        run_stages(place, "execute", *AFTER)
        assert roots(place) == whole
        assert len(provider.prompts) == asked

    alone = put(tmp_path / "alone")
    run_stages(alone)
    kept = {path: root for path, root in without.items() if "execute/" not in path}
    assert kept == {path: root for path, root in roots(alone).items() if "execute/" not in path}
    assert without["artifacts/execute/m.parquet"] == whole["artifacts/execute/m.parquet"]


def test_an_unfinished_route_that_is_set_aside_blocks_no_result(tmp_path):
    def behave(call):
        return reply(503) if len(provider.prompts) > 3 else good(call)

    with Provider(behave) as provider:
        route = openai_route(provider, limits={"concurrency": 1, "attempts": 1})
        place = put(tmp_path, m=route)
        run_stages(place, "release", "freeze")
        stage.fill(place, ["m"])
        asked = len(provider.prompts)
        place = put(tmp_path, m=route | {"enabled": False})
        run_stages(place, "execute")
        assert "3 stored in all" in stage.run(place, "m").headline
        run_stages(place, *AFTER)
        assert len(provider.prompts) == asked
        provider.behave = good
        place = put(tmp_path, m=route)
        stage.run(place, "m")
    assert len(sealed_rows(place, "m")) == 32
    assert len(provider.prompts) == asked + 29


def test_no_way_to_ask_reaches_a_route_that_is_set_aside(tmp_path):
    with Provider() as provider:
        off = openai_route(provider, enabled=False)
        place = make_workspace(tmp_path, 3, {"off": off, "on": openai_route(provider, system="x")})
        for call in (
            lambda: stage.fill(place, ["off"]),
            lambda: stage.fill(place, ["on", "off"]),
            lambda: check_routes(PORTFOLIO, place, ["off"], ping=True),
        ):
            with pytest.raises(InputError, match="set aside"):
                call()
        assert [check.slug for check in check_routes(PORTFOLIO, place, [], ping=False)] == ["on"]
        assert stage.run(place, "off").artifacts[0].rows == 0
        assert run_cli("execute", "off", "--limit", "1", "-w", tmp_path).returncode == 2
        assert provider.prompts == []


def test_a_lost_table_of_a_route_that_is_set_aside_is_not_replaced(tmp_path):
    with Provider() as provider:
        place = make_workspace(
            tmp_path, 2, {"m": openai_route(provider, enabled=False), "n": openai_route(provider)}
        )
    (tmp_path / "dvc.lock").write_text("stages: {execute@m: {cmd: x}}")
    with pytest.raises(ExecuteError, match="dvc pull"):
        stage.run(place, "m")
    assert not place.artifact("execute", "m").exists()


def test_an_orphan_is_still_refused(tmp_path):
    place = put(tmp_path, best={"enabled": False})
    run_stages(place)
    (tmp_path / "artifacts/execute/first.parquet").rename(tmp_path / "artifacts/execute/x.parquet")
    assert run_cli("parse", "-w", tmp_path).returncode == 2


@pytest.mark.parametrize("value", [0, "no", None, []])
def test_the_key_is_true_or_false(tmp_path, value):
    with pytest.raises(InputError, match="enabled"):
        put(tmp_path, dice={"enabled": value})


def test_one_route_is_left(tmp_path):
    off = {"enabled": False}
    with pytest.raises(InputError, match="at least one route"):
        put(tmp_path, dice=off, first=off, best=off)


def test_a_key_that_says_true_changes_nothing(tmp_path):
    run_stages(put(tmp_path / "a"))
    run_stages(put(tmp_path / "b", dice={"enabled": True}))
    assert roots(open_workspace(tmp_path / "a")) == roots(open_workspace(tmp_path / "b"))


def test_what_a_filter_withheld_comes_back_as_it_was(tmp_path):
    with Provider(lambda _: reply(body=completion("", finish="SAFETY"))) as provider:
        route = openai_route(provider)
        place = make_workspace(tmp_path, 2, {"m": route, "n": openai_route(provider, system="n")})
        stage.run(place, "m")
        before = sealed_rows(place, "m")
        off = {"m": route | {"enabled": False}, "n": openai_route(provider, system="n")}
        stage.run(make_workspace(tmp_path, 2, off), "m")
    assert sealed_rows(place, "m") == before
