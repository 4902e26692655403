"""Four routes at once, mixed faults, kill -9 at random moments: every cell ends exactly once."""

from __future__ import annotations

import hashlib
import os
import random
import signal
from collections import Counter

from pipeline.asking.ledger import open_ledger
from pipeline.execute import stage
from pipeline.tables import read_table
from schemas.execution import Response
from tests.execute.provider import Act, Provider, completion, good, reply
from tests.execute.small import make_workspace, openai_route, start

TASKS, ROUTES, KILLS = int(os.environ.get("CHAOS_TASKS", "50")), ("a", "b", "c", "d"), 5
"""The published number is 534; 50 take a few seconds."""

FAULTS = (
    reply(429, {"error": {"message": "slow down"}}, headers={"Retry-After": "0"}),
    reply(500, b"oops", kind="text/plain"),
    reply(502, b"<html>bad gateway</html>", kind="text/html"),
    reply(200, {"error": {"code": 503, "message": "overloaded"}}),
    reply(200, b"<html>hello</html>", kind="text/html"),
    reply(body={"choices": []}),
    reply(body=b'{"id": "x', length=900),
    Act(reset=True),
    Act(close=True),
    reply(body=completion("x", finish="error")),
)


def faulty(call):
    """8% of tries fail, chosen by prompt, route and count."""
    name = f"{call.prompt} {call.document['messages'][0]['content']} {call.time}"
    draw = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    return FAULTS[draw // 100 % len(FAULTS)] if draw % 100 < 8 else good(call)


class Watcher:
    """Kills a process at set counts of requests, and keeps what the server has seen by route."""

    def __init__(self, behave):
        self.seen, self.victim, self.kill_at, self._behave = Counter(), None, None, behave
        self.total = 0

    def __call__(self, call):
        route = call.document["messages"][0]["content"]
        self.seen[route, call.prompt] += 1
        self.total += 1
        if self.victim is not None and self.total >= self.kill_at:
            os.kill(self.victim.pid, signal.SIGKILL)
            self.victim = None
        return self._behave(call._replace(time=self.seen[route, call.prompt]))


def routes(provider):
    limits = {"attempts": 6, "concurrency": 16, "host_concurrency": 64, "wait_cap_ms": 5}
    return {name: openai_route(provider, system=name, limits=limits) for name in ROUTES}


def stored(workspace):
    """Cells that are on the disk, by route and prompt, without waiting for anyone."""
    found = set()
    for name in ROUTES:
        with open_ledger(workspace.ledger(name)) as ledger:
            numbers = (int(row.task_id[2:]) for row in ledger.responses())
            found |= {(name, f"Question {number}?") for number in numbers}
    return found


def roots(workspace):
    for name in ROUTES:
        stage.run(workspace, name)
    return [read_table(workspace.artifact("execute", name), Response).root for name in ROUTES]


def test_every_cell_ends_once_whatever_happens(tmp_path):
    moments = random.Random(3).sample(range(30, TASKS * 4 - 40), KILLS)
    watcher = Watcher(faulty)
    with Provider(watcher) as provider:
        workspace = make_workspace(tmp_path / "wild", TASKS, routes(provider))
        for moment in sorted(moments):
            watcher.kill_at = moment
            before, there = watcher.seen.copy(), stored(workspace)
            with start("execute", "--all", "-w", workspace.root) as process:
                watcher.victim = process
                process.communicate()
            watcher.victim = None
            assert process.returncode == -signal.SIGKILL
            assert not there & set(watcher.seen - before)
        before, there = watcher.seen.copy(), stored(workspace)
        filled = stage.fill(workspace, ROUTES)
        assert {one.problem for one in filled} == {None}
        assert not there & set(watcher.seen - before)
        wild = roots(workspace)
        answered = stored(workspace)
        assert len(answered) == TASKS * len(ROUTES) == len(watcher.seen)
        tried = Counter()
        for name in ROUTES:
            with open_ledger(workspace.ledger(name)) as ledger:
                assert len(ledger.keys()) == TASKS
                for row in ledger.attempts():
                    tried[name, f"Question {int(row.task_id[2:])}?"] += 1
        # what the server saw is on record; what a kill caught before it went out is, too
        assert all(tried[cell] >= count for cell, count in watcher.seen.items())
        assert tried.total() - watcher.total <= KILLS * 64
    with Provider(port=provider.port) as quiet:
        calm = make_workspace(tmp_path / "quiet", TASKS, routes(quiet))
        stage.fill(calm, ROUTES)
        assert roots(calm) == wild
        assert len(quiet.prompts) == TASKS * len(ROUTES)
