"""Routes to endpoints as a whole: money, limits, sessions, many at once, commands."""

from __future__ import annotations

import hashlib
import json
import signal
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from pipeline.asking import filling, line
from pipeline.asking.ledger import open_ledger
from pipeline.asking.sealing import attempts_path
from pipeline.errors import ExecuteError, ProviderError, TableError
from pipeline.execute import stage
from pipeline.parse import stage as parse
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import read_table
from schemas.execution import Attempt, Response
from tests.execute.provider import Provider, answer_to, completion, good, reply
from tests.execute.small import (
    UNIFORM,
    attempts_of,
    make_workspace,
    openai_route,
    run_cli,
    sealed_rows,
    start,
)


def sealed_attempts(workspace, slug="m"):
    return read_table(attempts_path(PORTFOLIO, workspace, slug), Attempt)


class TestSessions:
    def test_a_sealed_route_names_its_attempts_and_asks_nothing_again(self, tmp_path):
        with Provider() as provider:
            workspace = make_workspace(tmp_path, 5, {"m": openai_route(provider)})
            first = stage.run(workspace, "m")
            before = [workspace.artifact("execute", n).read_bytes() for n in ("m", "attempts/m")]
            stage.run(workspace, "m")
        assert len(provider.prompts) == 5
        assert first.headline == (
            "m: 0 of 5 present, 5 asked now, 5 stored in all; 5 attempts, spent $0.0043"
        )
        table = sealed_attempts(workspace)
        assert table.header.inputs == {
            "responses/m": read_table(workspace.artifact("execute", "m"), Response).root
        }
        after = [workspace.artifact("execute", n).read_bytes() for n in ("m", "attempts/m")]
        assert after == before

    def test_attempts_survive_a_lost_ledger_and_add_up_over_sessions(self, tmp_path):
        def behave(call):
            return good(call) if call.time > 1 else reply(500)

        with Provider(behave) as provider:
            route = openai_route(provider, limits={"attempts": 1, "concurrency": 1})
            workspace = make_workspace(tmp_path, 3, {"m": route})
            with pytest.raises(ProviderError, match="3 cells left open"):
                stage.run(workspace, "m")
            stage.run(workspace, "m")
            for path in workspace.ledger("m").parent.iterdir():
                path.unlink()
            summary = stage.run(workspace, "m")
        assert len(provider.prompts) == 6
        assert "6 attempts, spent $0.0026" in summary.headline
        assert Counter(row.outcome for row in sealed_attempts(workspace).rows()) == {
            "transient": 3,
            "ok": 3,
        }

    def test_a_free_route_has_an_empty_table_of_attempts(self, tmp_path):
        workspace = make_workspace(tmp_path, 3)
        stage.run(workspace, "uniform")
        assert sealed_attempts(workspace, "uniform").header.rows == 0

    def test_attempts_without_a_route_are_an_orphan(self, tmp_path):
        workspace = make_workspace(tmp_path, 3)
        stage.run(workspace, "uniform")
        path = attempts_path(PORTFOLIO, workspace, "uniform")
        path.rename(path.with_name("gone.parquet"))
        with pytest.raises(TableError, match=r"attempts/gone\.parquet"):
            parse.run(workspace)

    def test_answers_are_parsed_from_chat_bodies(self, tmp_path):
        with Provider() as provider:
            workspace = make_workspace(tmp_path, 5, {"m": openai_route(provider)})
            stage.run(workspace, "m")
        assert "5 cells: 5 parsed" in parse.run(workspace).headline

    def test_a_second_process_is_refused_politely(self, tmp_path):
        with Provider() as provider:
            workspace = make_workspace(tmp_path, 5, {"m": openai_route(provider)})
            with open_ledger(workspace.ledger("m")):
                ended = run_cli("execute", "m", "-w", tmp_path)
        assert (ended.returncode, provider.paths) == (2, [])
        assert "another process at work" in ended.stderr
        assert ended.stderr.count("\n") == 1

    @pytest.mark.parametrize("step", [-(10**15), 10**15])
    def test_a_clock_that_jumps_loses_nothing(self, tmp_path, monkeypatch, step):
        real, jumps = time.time_ns, iter(range(10**6))
        monkeypatch.setattr(line.time, "time_ns", lambda: real() + step * next(jumps))
        with Provider() as provider:
            workspace = make_workspace(tmp_path, 6, {"m": openai_route(provider)})
            stage.run(workspace, "m")
        assert (len(provider.prompts), len(sealed_rows(workspace, "m"))) == (6, 6)

    @pytest.mark.parametrize("workers", [1, 8])
    def test_roots_do_not_depend_on_faults_or_concurrency(self, tmp_path, workers):
        def flaky(call):
            return good(call) if call.time > 1 or "3" not in call.prompt else reply(503)

        roots = set()
        with Provider() as provider:
            for place, behave in enumerate((good, flaky)):
                provider.behave = behave
                provider.times.clear()
                route = openai_route(provider, limits={"concurrency": workers if place else 2})
                workspace = make_workspace(tmp_path / str(place), 15, {"m": route})
                roots.add(stage.run(workspace, "m").artifacts[0].root)
        assert len(roots) == 1


class TestMoney:
    def test_a_cap_stops_before_it_is_passed(self, tmp_path):
        # each try reserves 76 + 10,000 micros at most and costs 850
        with Provider() as provider:
            route = openai_route(provider, spend_cap_usd="0.0150", limits={"concurrency": 4})
            workspace = make_workspace(tmp_path, 40, {"m": route})
            (filled,) = stage.fill(workspace, ["m"])
        assert len(provider.prompts) == 6  # 5 x 850 leave room for one more, 6 x 850 do not
        assert provider.most == 1
        assert filled.tally.spent_micros == 5100
        assert "spend_cap_usd" in str(filled.problem)
        assert filled.problem.exit_code == 3

    def test_an_unknown_cost_counts_at_its_reserve_and_is_shown(self, tmp_path):
        body = completion("FINAL_SELECTION: A, B, C")
        del body["usage"]
        with Provider(lambda _: reply(body=body)) as provider:
            route = openai_route(provider, spend_cap_usd="0.0250")
            workspace = make_workspace(tmp_path, 5, {"m": route})
            (filled,) = stage.fill(workspace, ["m"])
        assert len(provider.prompts) == 2
        assert filled.tally.unknown == 2
        assert 20_000 < filled.tally.spent_micros <= 25_000
        with Provider(lambda _: reply(body=body)) as provider:
            workspace = make_workspace(tmp_path / "free", 2, {"m": openai_route(provider)})
            assert "2 of unknown cost" in stage.run(workspace, "m").headline

    def test_what_earlier_sessions_spent_counts(self, tmp_path):
        with Provider() as provider:
            route = openai_route(provider, spend_cap_usd="0.0150")
            workspace = make_workspace(tmp_path, 40, {"m": route})
            for _ in range(3):
                stage.fill(workspace, ["m"])
        assert len(provider.prompts) == 6


class TestLimits:
    def test_no_more_requests_are_under_way_than_route_and_host_allow(self, tmp_path):
        def slow(call):
            return good(call)._replace(pause=0.01)

        with Provider(slow) as provider:
            limits = {"concurrency": 6, "host_concurrency": 4}
            routes = {name: openai_route(provider, seed=1, limits=limits) for name in "ab"}
            for name, route in routes.items():
                route.pop("seed")
                route["system"] = name
            workspace = make_workspace(tmp_path, 12, routes)
            stage.fill(workspace, ["a", "b"])
            both = provider.most
            provider.most = 0
            routes = {"c": openai_route(provider, system="c", limits={"concurrency": 3})}
            stage.fill(make_workspace(tmp_path / "c", 12, routes), ["c"])
        assert (both, provider.most) == (4, 3)

    def test_requests_and_tokens_are_asked_for_before_a_try(self, tmp_path, monkeypatch):
        taken = []

        class Limiter:
            def __init__(self, rate, period):
                self.max_rate = rate
                assert period == 60

            async def acquire(self, amount=1):
                taken.append((self.max_rate, amount))

        monkeypatch.setattr("aiolimiter.AsyncLimiter", Limiter)
        with Provider() as provider:
            limits = {"requests_per_minute": 9, "tokens_per_minute": 500}
            workspace = make_workspace(tmp_path, 2, {"m": openai_route(provider, limits=limits)})
            stage.run(workspace, "m")
        assert sorted(taken) == [(9, 1), (9, 1), (500, 500), (500, 500)]


class TestMany:
    def test_one_route_that_stops_leaves_the_others_at_work(self, tmp_path):
        with Provider(lambda _: reply(401)) as shut, Provider() as provider:
            routes = {
                "shut": openai_route(shut),
                "good": openai_route(provider),
                "uniform": UNIFORM,
                "keyless": openai_route(provider, key_env="NOT_SET_ANYWHERE"),
            }
            workspace = make_workspace(tmp_path, 6, routes)
            filled = stage.fill(workspace, list(routes))
        problems = {one.slug: one.problem for one in filled}
        assert [problems[name] for name in ("good", "uniform")] == [None, None]
        assert "configuration" in str(problems["shut"])
        assert "NOT_SET_ANYWHERE" in str(problems["keyless"])
        assert len(provider.prompts) == 6
        assert not workspace.artifact("execute", "good").exists()
        stage.run(workspace, "good")
        assert len(provider.prompts) == 6

    def test_all_as_a_command(self, tmp_path):
        with Provider() as provider:
            routes = {"a": openai_route(provider), "b": openai_route(provider, system="b")}
            make_workspace(tmp_path, 4, routes | {"uniform": UNIFORM})
            ended = run_cli("execute", "--all", "-w", tmp_path)
            assert (ended.returncode, ended.stderr) == (0, "")
            assert max(map(len, ended.stdout.splitlines())) <= 100
            assert "dvc repro" in ended.stdout
            document = json.loads(run_cli("execute", "a", "b", "--json", "-w", tmp_path).stdout)
        assert len(provider.prompts) == 8
        assert [one["counts"]["present"] for one in document["routes"]] == [4, 4]

    def test_a_stopped_route_is_exit_3_and_one_line(self, tmp_path):
        with Provider(lambda _: reply(402)) as provider:
            make_workspace(tmp_path, 4, {"m": openai_route(provider), "uniform": UNIFORM})
            ended = run_cli("execute", "--all", "-w", tmp_path)
            alone = run_cli("execute", "m", "-w", tmp_path)
        assert (ended.returncode, alone.returncode) == (3, 3)
        assert "quota" in ended.stdout
        assert alone.stderr.count("\n") == 1

    @pytest.mark.parametrize("words", [(), ("m", "--all"), ("nope",)])
    def test_a_wrong_choice_of_routes_is_one_line(self, tmp_path, words):
        make_workspace(tmp_path, 2)
        ended = run_cli("execute", *words, "-w", tmp_path)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "uniform" in ended.stderr
        assert ended.stderr.count("\n") == 1

    def test_a_smoke_run_seals_nothing_and_its_answers_are_not_asked_again(self, tmp_path):
        with Provider() as provider:
            workspace = make_workspace(tmp_path, 20, {"m": openai_route(provider)})
            ended = run_cli("execute", "m", "--limit", "8", "-w", tmp_path)
            assert ended.returncode == 0
            assert "nothing is sealed" in ended.stdout
            assert len(provider.prompts) == 8
            assert not workspace.artifact("execute", "m").exists()
            with pytest.raises(TableError):
                parse.run(workspace)
            stage.run(workspace, "m")
        assert sorted(provider.times.values()) == [1] * 20


class TestLooking:
    def test_routes_are_listed_with_digest_and_state(self, tmp_path):
        with Provider() as provider:
            routes = {"m": openai_route(provider), "uniform": UNIFORM}
            workspace = make_workspace(tmp_path, 4, routes)
            stage.fill(workspace, ["m"], stage.Wish(limit=1))
            stage.run(workspace, "uniform")
            shown = run_cli("routes", "-w", tmp_path)
            document = json.loads(run_cli("routes", "--json", "-w", tmp_path).stdout)
        states = {line["slug"]: (line["stored"], line["state"]) for line in document["routes"]}
        assert states == {"m": (1, "begun"), "uniform": (4, "sealed")}
        assert document["routes"][0]["digest"][:12] in shown.stdout
        assert max(map(len, shown.stdout.splitlines())) <= 100

    def listing(self, *ids, **more):
        entries = [{"id": name, "object": "model"} | more for name in ids]
        body = reply(body={"object": "list", "data": entries})
        return lambda call: good(call) if call.prompt else body

    def test_a_check_asks_no_task(self, tmp_path):
        with Provider(self.listing("m-0", "m-1")) as provider:
            make_workspace(tmp_path, 4, {"m": openai_route(provider), "uniform": UNIFORM})
            ended = run_cli("routes", "check", "-w", tmp_path)
            document = json.loads(run_cli("routes", "check", "--json", "-w", tmp_path).stdout)
        assert (ended.returncode, provider.prompts) == (0, [])
        assert provider.paths == ["/v1/models"] * 2
        (check,) = document["routes"]
        assert (check["key"], check["endpoint"], check["model"]) == (
            "none needed",
            "answers",
            "listed",
        )
        assert check["missing"] == 4
        assert check["once_micros"] == 4 * 10_075
        assert check["most_micros"] == 3 * 4 * 10_075
        assert max(map(len, ended.stdout.splitlines())) <= 100

    @pytest.mark.parametrize(
        ("behave", "route", "says"),
        [
            ("other", {}, "not among 1"),
            (lambda _: reply(401), {}, "HTTP 401"),
            (good, {"key_env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE"),
            (good, {"base_url": "http://127.0.0.1:9/v1"}, "no answer"),
        ],
        ids=["model", "refused", "key", "nobody"],
    )
    def test_what_would_fail_is_told_and_exits_1(self, tmp_path, behave, route, says):
        behave = self.listing("m-0") if behave == "other" else behave
        with Provider(behave) as provider:
            make_workspace(tmp_path, 2, {"m": openai_route(provider) | route})
            ended = run_cli("routes", "check", "--json", "-w", tmp_path)
        assert (ended.returncode, provider.prompts) == (1, [])
        assert says in ended.stdout

    def test_an_endpoint_without_a_list_of_models_may_be_good(self, tmp_path):
        with Provider(lambda call: good(call) if call.prompt else reply(404)) as provider:
            make_workspace(tmp_path, 2, {"m": openai_route(provider)})
            ended = run_cli("routes", "check", "--ping", "-w", tmp_path)
        assert ended.returncode == 0
        assert "one task gave ok" in ended.stdout
        assert len(provider.prompts) == 1

    def test_listed_prices_are_used_where_we_name_none(self, tmp_path):
        pricing = {"prompt": "0.000001", "completion": "0.00001"}
        with Provider(self.listing("m-1", pricing=pricing)) as provider:
            make_workspace(tmp_path, 2, {"m": openai_route(provider, price=None)})
            ended = run_cli("routes", "check", "--json", "-w", tmp_path)
        (check,) = json.loads(ended.stdout)["routes"]
        assert check["once_micros"] == 2 * 10_075
        assert check["price"].endswith("listed")

    def test_a_ping_is_stored_and_not_asked_again(self, tmp_path):
        with Provider(self.listing("m-1")) as provider:
            workspace = make_workspace(tmp_path, 3, {"m": openai_route(provider)})
            assert run_cli("routes", "check", "m", "--ping", "-w", tmp_path).returncode == 0
            stage.run(workspace, "m")
        assert sorted(provider.times.values()) == [1, 1, 1]

    def test_a_route_that_is_no_endpoint_is_one_line(self, tmp_path):
        make_workspace(tmp_path, 2)
        ended = run_cli("routes", "check", "uniform", "-w", tmp_path)
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)


def test_money_that_was_spent_is_not_spent_again_without_a_pull(tmp_path):
    (tmp_path / "dvc.lock").write_text("stages:\n  execute@m:\n    cmd: x\n")
    with Provider() as provider:
        workspace = make_workspace(tmp_path, 2, {"m": openai_route(provider)})
        with pytest.raises(ExecuteError, match="dvc pull"):
            stage.run(workspace, "m")
    assert provider.paths == []


def test_raw_bytes_are_stored_as_they_came(tmp_path):
    raw = b'{ "choices":[ {"message":{"content":"\\u00e9"}} ],\n"model" : "m-1" }\n'
    with Provider(lambda _: reply(body=raw)) as provider:
        workspace = make_workspace(tmp_path, 1, {"m": openai_route(provider)})
        stage.run(workspace, "m")
    (row,) = sealed_rows(workspace, "m")
    assert hashlib.sha256(row.raw).digest() == hashlib.sha256(raw).digest()
    tried, _ = attempts_of(workspace)
    assert tried[0].cost_micros is None


class TestStopping:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_awaits_what_is_under_way_and_another_run_goes_on(self, tmp_path, number):
        def behave(call):
            if len(provider.prompts) == 5:
                process.send_signal(number)
                return good(call)._replace(pause=0.3)
            return good(call)._replace(pause=0.02)

        with Provider(behave) as provider:
            route = openai_route(provider, limits={"concurrency": 2})
            workspace = make_workspace(tmp_path, 30, {"m": route})
            with start("execute", "m", "-w", tmp_path) as process:
                _, errors = process.communicate()
            assert process.returncode == 3
            assert errors.count("\n") == 1
            assert "Run the same command to go on" in errors
            stopped = len(provider.prompts)
            assert 5 <= stopped <= 7
            assert not workspace.artifact("execute", "m").exists()
            provider.behave = good
            stage.run(workspace, "m")
        assert sorted(provider.times.values()) == [1] * 30

    def test_a_stop_does_not_wait_for_a_back_off(self, tmp_path):
        with Provider(lambda _: reply(503)) as provider:
            limits = {"backoff_ms": 60_000, "wait_cap_ms": 60_000, "concurrency": 1}
            make_workspace(tmp_path, 3, {"m": openai_route(provider, limits=limits)})
            with start("execute", "m", "-w", tmp_path) as process:
                while not provider.prompts:
                    time.sleep(0.01)
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=20)
            assert process.returncode == 3
            assert len(provider.prompts) == 1


class TestProxies:
    @pytest.mark.parametrize("env_proxy", [False, True])
    def test_proxies_of_the_environment_count_only_where_the_route_says_so(
        self, tmp_path, monkeypatch, env_proxy
    ):
        with Provider() as proxy, Provider() as provider:
            for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            for name in ("no_proxy", "NO_PROXY"):
                monkeypatch.delenv(name, raising=False)
            route = openai_route(provider, env_proxy=env_proxy)
            stage.run(make_workspace(tmp_path, 2, {"m": route}), "m")
        assert (len(proxy.prompts), len(provider.prompts)) == ((2, 0) if env_proxy else (0, 2))


def test_a_disk_that_fills_up_stops_the_route_and_another_run_goes_on(tmp_path, monkeypatch):
    @contextmanager
    def small_disk(path):
        with open_ledger(path) as ledger:
            ledger._connection.execute("PRAGMA max_page_count = 60")
            yield ledger

    with Provider(lambda call: reply(body=completion(answer_to(call.prompt) * 300))) as provider:
        workspace = make_workspace(tmp_path, 40, {"m": openai_route(provider)})
        with monkeypatch.context() as patch:
            patch.setattr(filling, "open_ledger", small_disk)
            (filled,) = stage.fill(workspace, ["m"])
        assert "make room" in str(filled.problem)
        tried, stored = attempts_of(workspace)
        asked = len(provider.prompts)
        assert 0 < len(stored) < asked < 40
        (filled,) = stage.fill(workspace, ["m"])
        assert filled.problem is None
        again = provider.prompts[asked:]
        assert not {f"Question {int(name[2:])}?" for name in stored} & set(again)
        tried, stored = attempts_of(workspace)
    assert len(stored) == 40
    # a reply that found no room was sent, and stays on record as lost
    lost = [row for row in tried if row.outcome == "lost"]
    assert 0 < len(lost) == len(provider.prompts) - 40
    assert filled.tally.spent_micros == 40 * 850 + sum(row.reserve_micros for row in lost)
