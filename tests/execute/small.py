"""A small workspace with invented tasks, and adapters that answer in ways a test decides."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from pipeline.asking.adapter import Question, Reply, Request, request_digest
from pipeline.asking.ledger import open_ledger
from pipeline.asking.runner import plain_job, run_jobs
from pipeline.errors import ProviderError
from pipeline.tables import make_table, read_table, write_table
from pipeline.workspace import Workspace
from schemas.execution import Outcome, Response
from schemas.parameters import Parameters
from schemas.taskset import PORTFOLIOS, Family, Task

REPOSITORY = Path(__file__).parents[2]
CHOICES = ("basil", "olive_oil", "garlic", "soy_sauce", "cream", "lemon", "ginger", "egg")
UNIFORM = {"adapter": "policy", "policy": "uniform", "seed": 1, "label": "Any", "ranked": True}


def make_task(number=1, **changes):
    """A task whose optimum is the portfolio at place `number`."""
    best = number % len(PORTFOLIOS)
    given = {
        "task_id": f"t-{number:03}",
        "panel": "panel_1",
        "family": Family.PAIRING,
        "variant": None,
        "anchor": "tomato",
        "category": "Vegetable",
        "region": None,
        "stratum": 1,
        "choices": CHOICES,
        "scores_bps": tuple(10_000 if i == best else i for i in range(len(PORTFOLIOS))),
        "optimum": PORTFOLIOS[best],
        "chance_bps": 200,
        "margin_bps": 9_000,
        "prompt": f"Question {number}?",
    }
    return Task(**(given | changes))


def make_tasks(count):
    return [make_task(number) for number in range(1, count + 1)]


def make_workspace(root, tasks=12, routes=None):
    """A workspace whose tasks are frozen; `uniform` is its route unless others are given."""
    parameters = {
        "release": {"source": "starter", "path": "starter", "version": 1},
        "freeze": {
            "source": "compiled",
            "families": ["pairing"],
            "panels": {"panel_1": {"seed": "s", "prefix": "t-", "drop_unscoreable": True}},
            "quota": 1,
            "category_cap": 1,
            "minimum_categories": 1,
            "excluded_anchors": [],
        },
        "routes": routes or {"uniform": UNIFORM},
        "parse": {"contract": "selection-set-v3", "alternative": "selection-set-v4"},
        "score": {
            "families": ["pairing"],
            "core": {"source": "rule", "context": "c", "size": None},
        },
        "statistics": {"stream": "blake3", "seed": 1, "bootstrap": 100, "sign_flips": 100},
        "train": {"salt": "split", "validation_bps": 2000, "minimum_gap_bps": 500},
        "report": {"title": "Small"},
    }
    root.mkdir(parents=True, exist_ok=True)
    text = json.dumps(parameters)
    (root / "params.yaml").write_text(text, encoding="utf-8")
    workspace = Workspace(root, Parameters.model_validate_json(text))
    rows = make_tasks(tasks) if isinstance(tasks, int) else tasks
    write_table(workspace.artifact("freeze", "tasks"), make_table(Task, rows))
    return workspace


def make_response(number=1, *, raw=b"FINAL_SELECTION: A, B, C\n", route="2" * 64, **changes):
    """A stored answer to task `number` under an invented route."""
    task = f"{number:064x}"
    given = {
        "request_digest": request_digest(task, route, 0),
        "task_digest": task,
        "route_digest": route,
        "task_id": f"t-{number:03}",
        "repeat": 0,
        "outcome": Outcome.OK,
        "form": "text",
        "raw": raw,
    }
    return Response(**(given | changes))


def make_request(number=1, route="2" * 64):
    task = f"{number:064x}"
    question = Question(f"t-{number:03}", task, "Which?")
    return Request(request_digest(task, route, 0), question, route)


def run_requests(requests, adapter, ledger, concurrency=1):
    """Ask an adapter every request that has no stored response; present before, and asked."""
    job = plain_job("route", requests, adapter, ledger, concurrency)
    (problem,) = run_jobs([job])
    if problem is not None:
        raise problem
    return job.tally.present, job.tally.asked


def sealed_rows(workspace, slug="uniform"):
    return read_table(workspace.artifact("execute", slug), Response).rows()


class Answers:
    """Answers every task with a line of its own; keeps what it was asked, in order."""

    costs_money = False

    def __init__(self, *, fail_at=None, error=None, pace=lambda _: 0):
        self.asked = []
        self.finished = []
        self._fail_at, self._error, self._pace = fail_at, error, pace

    async def ask(self, request):
        self.asked.append(request.question.id)
        if len(self.asked) == self._fail_at:
            raise self._error
        for _ in range(self._pace(request)):
            await asyncio.sleep(0)
        self.finished.append(request.question.id)
        return answer_to(request)


def answer_to(request):
    """The same answer in every process and every order."""
    selection = PORTFOLIOS[int(request.question.digest, 16) % len(PORTFOLIOS)]
    text = f"{request.question.prompt}\nFINAL_SELECTION: {', '.join(selection)}\n"
    return Reply(Outcome.OK, "text", text.encode("utf-8"))


def provider_down():
    return ProviderError("a provider that answers", "none", "route", "Run it again later.")


def run_cli(*arguments, script=None):
    """A real process that has ended: the project's command line, or a script of these tests."""
    with start(*arguments, script=script) as process:
        output, errors = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def start(*arguments, script=None):
    """A real process, its ends in pipes."""
    module = "pipeline" if script is None else f"tests.execute.{script}"
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def openai_route(provider, **changes):
    """A route to a provider of the tests: few and quick attempts, prices that are easy to add."""
    given = {
        "adapter": "openai",
        "base_url": provider if isinstance(provider, str) else provider.url,
        "model": "m-1",
        "label": "M",
        "ranked": True,
        "sampling": {"max_tokens": 1000},
        "price": {"prompt_usd_per_mtok": 1, "completion_usd_per_mtok": 10},
    }
    limits = {"attempts": 3, "backoff_ms": 1, "wait_cap_ms": 50, "timeout_ms": 5000}
    limits |= changes.pop("limits", {})
    return given | {"limits": limits} | changes


def attempts_of(workspace, slug="m"):
    """What a route's ledger holds: attempts by task and number, responses by task."""
    with open_ledger(workspace.ledger(slug)) as ledger:
        tried = sorted(ledger.attempts(), key=lambda row: (row.task_id, row.number))
        return tried, {row.task_id: row for row in ledger.responses()}
