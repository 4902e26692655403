"""Runs through DVC, each done once for all workers, and copies of them to change."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# how long a machine takes is no finding of a test
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

_COPIED = (
    ".dvc/config", ".dvcignore", ".gitignore", "dvc.lock", "dvc.yaml", "examples", "params.yaml",
    "pipeline", "schemas",
)  # fmt: skip


class Lab(NamedTuple):
    """A folder with the project's own code and data, to run commands in."""

    root: Path

    def run(
        self, *command: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command with this folder's code; never raises."""
        surroundings = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DVC_NO_ANALYTICS": "1",
        }
        return subprocess.run(
            command,
            cwd=self.root,
            env=surroundings | dict(env or {}),
            capture_output=True,
            text=True,
            check=False,
        )

    def repro(self) -> list[str]:
        """Run `dvc repro` and name the stages that ran.

        The run cache is left alone, so that a stage that is not up to date really runs.
        """
        done = self.run("dvc", "repro", "--no-run-cache")
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        return [line.split("'")[1] for line in lines if line.startswith("Running stage")]

    def roots(self) -> dict[str, str]:
        """Root of every table, by its path."""
        from pipeline.tables import read_header

        folder = self.root / "artifacts"
        return {
            path.relative_to(folder).as_posix(): read_header(path).root
            for path in sorted(folder.rglob("*.parquet"))
        }

    def copy(self, root: Path) -> Lab:
        """A copy with all that was made, to change."""
        shutil.copytree(self.root, root, symlinks=True)
        return Lab(root)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text that has to be there."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


def make_lab(root: Path) -> Lab:
    """A fresh folder as a clone would give it, under git so that DVC finds its root."""
    root.mkdir(parents=True)
    for name in _COPIED:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, target)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    return Lab(root)


@pytest.fixture
def fresh_lab(tmp_path: Path) -> Lab:
    return make_lab(tmp_path / "fresh")


def _shrink(lab: Lab) -> Lab:
    """Leave few routes and few draws."""
    path = lab.root / "params.yaml"
    head, rest = path.read_text(encoding="utf-8").split("routes:\n", 1)
    _, tail = rest.split("parse:\n", 1)
    routes = (
        "routes:\n"
        "  uniform: {adapter: policy, policy: uniform, seed: 1, label: U, ranked: true}\n"
        "  noisy: {adapter: policy, policy: noisy, seed: 2, skill_bps: 6000, slips_bps: 500,\n"
        "          label: N, ranked: true}\n"
        "  common: {adapter: policy, policy: most_common, dishes: 1, label: C, ranked: true}\n"
    )
    text = f"{head}{routes}parse:\n{tail}".replace("50000", "2000").replace("100000", "3000")
    path.write_text(text, encoding="utf-8")
    return lab


@pytest.fixture(scope="session")
def run_once(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str, Callable[[Path], Lab]], Lab]:
    """Makes a lab and runs it; workers share what the first of them has made."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent

    def run(name: str, make: Callable[[Path], Lab]) -> Lab:
        root, done = shared / "runs" / name, shared / "runs" / f"{name}.done"
        root.parent.mkdir(exist_ok=True)
        with done.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(root, ignore_errors=True)  # what a failure left
                made = make(root).run("dvc", "repro", "--no-run-cache")
                assert made.returncode == 0, made.stdout + made.stderr
                done.touch()
        return Lab(root)

    return run


@pytest.fixture(scope="session")
def starter_run(run_once: Callable[[str, Callable[[Path], Lab]], Lab]) -> Lab:
    """The starter run; look at it, do not change it."""
    return run_once("starter", make_lab)


@pytest.fixture
def lab(starter_run: Lab, tmp_path: Path) -> Lab:
    """A copy of the starter run, to change."""
    return starter_run.copy(tmp_path / "lab")


@pytest.fixture(scope="session")
def small_run(run_once: Callable[[str, Callable[[Path], Lab]], Lab]) -> Lab:
    """A run of a small lab; look at it, do not change it."""
    return run_once("small", lambda root: _shrink(make_lab(root)))


@pytest.fixture
def small(small_run: Lab, tmp_path: Path) -> Lab:
    """A copy of the small run, to change."""
    return small_run.copy(tmp_path / "small")


@pytest.fixture
def small_lab(tmp_path: Path) -> Callable[[str], Lab]:
    """Makes fresh labs with few routes and draws, for runs from end to end."""
    return lambda name: _shrink(make_lab(tmp_path / name))
