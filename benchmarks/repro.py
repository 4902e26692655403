"""A whole `dvc repro` of the starter, beside its stage commands run without DVC.

Each has a fresh copy of the tracked files, under git as a clone is. DVC runs three times: on the
copy as it is, with nothing changed, and after an edit of the report's code; its run cache is left
alone, so that a stage that is not up to date really runs (``python -m benchmarks.repro``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from ruamel.yaml import YAML

_ROOT = Path(__file__).parent.parent
_EDITED = "pipeline/report/stage.py"
_REPRO = ("dvc", "repro", "--no-run-cache")


class _Cost(NamedTuple):
    """Seconds, and how many stages ran."""

    seconds: float
    stages: int


def main() -> None:
    """Time both and print them side by side."""
    with tempfile.TemporaryDirectory() as name:
        plain, ours = _copy(Path(name) / "plain"), _copy(Path(name) / "ours")
        direct = {command: _timed(plain, *command.split()) for command in _commands(plain)}
        first, second = _repro(ours), _repro(ours)
        with (ours / _EDITED).open("a", encoding="utf-8") as stream:
            stream.write("# Edited.\n")
        third = _repro(ours)
    print(f"repro: {len(direct)} stages of the starter")
    print(f"{'dvc repro':<24} {'stages':>6} {'seconds':>8} {'without DVC':>12}")
    _line("all of it", first, sum(direct.values()))
    _line("nothing changed", second, 0)
    _line("the report's code edited", third, direct["flavourbench report"])


def _line(what: str, cost: _Cost, direct: float) -> None:
    print(f"{what:<24} {cost.stages:>6} {cost.seconds:>8.1f} {direct:>12.1f}")


def _copy(target: Path) -> Path:
    """The tracked files in a new folder, under git so that DVC finds its root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=_ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(_ROOT / name, target / name)
    subprocess.run(["git", "init", "--quiet", str(target)], check=True)
    return target


def _commands(root: Path) -> list[str]:
    """The command of every stage, in the order of dvc.yaml."""
    routes = YAML(typ="safe").load(root / "params.yaml")["routes"]
    found: list[str] = []
    for stage in YAML(typ="safe").load(root / "dvc.yaml")["stages"].values():
        if "foreach" in stage:
            found += (stage["do"]["cmd"].replace("${key}", route) for route in routes)
        else:
            found.append(stage["cmd"])
    return found


def _repro(root: Path) -> _Cost:
    start = time.perf_counter()
    said = _run(root, *_REPRO)
    seconds = time.perf_counter() - start
    return _Cost(seconds, sum(line.startswith("Running stage") for line in said.splitlines()))


def _timed(root: Path, *command: str) -> float:
    start = time.perf_counter()
    _run(root, *command)
    return time.perf_counter() - start


def _run(root: Path, *command: str) -> str:
    """What a command says, run with the copy's own code."""
    surroundings = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "DVC_NO_ANALYTICS": "1",
    }
    done = subprocess.run(
        command, cwd=root, env=surroundings, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
