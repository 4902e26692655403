"""Audit and verify beside just reading and hashing the files (``python -m benchmarks.audit``).

A run of 75 built-in routes on the starter's tasks has 14,400 cells. With a number after the command
every task stands in so many copies under other ids: 70 give 1,008,000 cells, which take minutes to
make, and whose copies `verify` would rightly find. Each command runs in a process of its own, for
its start-up and its peak memory; the plain figure is pyarrow reading every table and BLAKE3 going
over every file's bytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pipeline.workspace import Workspace

_ROUTES = 75
_PLAIN = """
import sys
from pathlib import Path
import pyarrow.parquet as pq
from blake3 import blake3
for path in sorted(Path(sys.argv[1]).rglob("*.parquet")):
    blake3(path.read_bytes()).hexdigest()
    for _ in pq.ParquetFile(path).iter_batches():
        pass
"""


class Cost(NamedTuple):
    """Seconds and peak memory of one process."""

    seconds: float
    mebibytes: float


def main(copies: int) -> None:
    """Make a run in another process, then time what a reviewer does with it."""
    with tempfile.TemporaryDirectory() as name:
        bench = [sys.executable, "-m", "benchmarks.audit"]
        maker = [*bench, "make", name, str(copies)]
        made = subprocess.run(maker, check=True, stdout=subprocess.PIPE)
        cells, task, digest = made.stdout.decode().split()
        place = ["-w", name]
        command = [sys.executable, "-m", "pipeline"]
        plain = _cost([sys.executable, "-c", _PLAIN, name])
        cell = ["--route", "noisy-40", "--task", task]
        costs = {
            "read and hash the files": plain,
            "flavourbench --help": _cost([*command, "--help"]),
            "audit of one cell": _cost([*command, "audit", *cell, *place]),
            "audit of one hash": _cost([*command, "audit", digest, *place]),
            "verify --quick": _cost([*command, "verify", "--quick", *place]),
        }
        if copies == 1:
            report = [*command, "report", *place]
            subprocess.run(report, check=True, stdout=subprocess.DEVNULL)
            costs["verify"] = _cost([*command, "verify", *place])
        size = sum(path.stat().st_size for path in Path(name).rglob("*.parquet"))
        print(f"{int(cells):,} cells in {size / 2**20:.1f} MiB of tables\n")
        for what, cost in costs.items():
            ratio = cost.seconds / plain.seconds
            print(f"{what:26} {cost.seconds:7.2f} s  {cost.mebibytes:6.0f} MiB  {ratio:6.2f}")


def _workspace(root: Path) -> Workspace:
    """Seventy-five routes of rising skill on the starter."""
    from pipeline.starter import FOLDER
    from pipeline.workspace import open_workspace

    route = {"adapter": "policy", "policy": "noisy", "ranked": True}
    routes = {
        f"noisy-{i}": route | {"seed": i, "skill_bps": 100 * i, "slips_bps": 0, "label": f"N {i}"}
        for i in range(_ROUTES)
    }
    panels = {f"panel_{i}": {"seed": f"bench-{i}", "prefix": "fb-" if i == 1 else "fb-rep2-",
                             "drop_unscoreable": True} for i in (1, 2)}  # fmt: skip
    families = ["substitution", "pairing", "constraint", "cultural_composition"]
    parameters = {
        "release": {"source": "starter", "path": str(FOLDER), "version": 1},
        "freeze": {"source": "compiled", "panels": panels, "families": families, "quota": 6,
                   "category_cap": 24, "minimum_categories": 8, "excluded_anchors": []},
        "routes": routes,
        "parse": {"contract": "selection-set-v3", "alternative": "selection-set-v4"},
        "score": {"families": families[:3],
                  "core": {"source": "rule", "context": "bench", "size": 20}},
        "statistics": {"stream": "blake3", "seed": 1, "bootstrap": 2_000, "sign_flips": 2_000},
        "train": {"salt": "bench", "validation_bps": 2_000, "minimum_gap_bps": 500},
        "report": {"title": "Bench"},
    }  # fmt: skip
    (root / "params.yaml").write_text(json.dumps(parameters), encoding="utf-8")
    return open_workspace(root)


def make(root: Path, copies: int) -> None:
    """All stages, without ledgers; prints cells, a task and the digest of some selection."""
    from pipeline.audit.rebuild import derive_stage
    from pipeline.portfolio import PORTFOLIO
    from pipeline.tables import make_table, read_table, write_table
    from schemas.results import Selection
    from schemas.taskset import Diagnostic, Task, TaskSet

    workspace = _workspace(root)
    asking = PORTFOLIO.stages.index(PORTFOLIO.asking)
    for stage in PORTFOLIO.stages[:asking]:
        stage.load().run(workspace)
    tasks = workspace.read("freeze", Task)
    rows = tasks.rows()
    if copies > 1:
        rows = [
            task.model_copy(update={"task_id": f"{task.task_id}-c{i}"})
            for task in rows
            for i in range(copies)
        ]
        copied = make_table(Task, rows, tasks.header.inputs)
        write_table(workspace.artifact("freeze", "tasks"), copied)
        for model in (TaskSet, Diagnostic):
            path = workspace.artifact("freeze", model.table)
            held = read_table(path, model)
            inputs = held.header.inputs | {"tasks": copied.root}
            write_table(path, make_table(model, held.rows(), inputs))
    for place, table in derive_stage(workspace, PORTFOLIO.asking, {}).tables.items():
        write_table(place.path(workspace), table)
    for stage in PORTFOLIO.stages[asking + 1 :]:
        if not stage.makes_documents:
            stage.load().run(workspace)
    digests = workspace.read("parse", Selection).digests
    print(len(digests), rows[len(rows) // 2].task_id, digests[len(digests) // 2])


def _cost(command: list[str]) -> Cost:
    """Run a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Cost(time.perf_counter() - start, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 1)
