"""A workspace with the starter run done once, and copies of it to change."""

from __future__ import annotations

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


@pytest.fixture(scope="session")
def starter_run(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """The starter run, done once; look at it, do not change it."""
    lab = make_lab(tmp_path_factory.mktemp("starter") / "lab")
    done = lab.run("dvc", "repro")
    assert done.returncode == 0, done.stdout + done.stderr
    return lab


@pytest.fixture
def lab(starter_run: Lab, tmp_path: Path) -> Lab:
    """A copy of the starter run, to change."""
    shutil.copytree(starter_run.root, tmp_path / "lab", symlinks=True)
    return Lab(tmp_path / "lab")


@pytest.fixture
def small_lab(tmp_path: Path) -> Callable[[str], Lab]:
    """Makes fresh labs with few routes and draws, for runs from end to end."""

    def make(name: str) -> Lab:
        lab = make_lab(tmp_path / name)
        text = (lab.root / "params.yaml").read_text(encoding="utf-8")
        head, rest = text.split("routes:\n", 1)
        _, tail = rest.split("parse:\n", 1)
        routes = (
            "routes:\n"
            "  uniform: {adapter: policy, policy: uniform, seed: 1, label: U, ranked: true}\n"
            "  noisy: {adapter: policy, policy: noisy, seed: 2, skill_bps: 6000, slips_bps: 500,\n"
            "          label: N, ranked: true}\n"
            "  common: {adapter: policy, policy: most_common, dishes: 1, label: C, ranked: true}\n"
        )
        text = f"{head}{routes}parse:\n{tail}".replace("50000", "2000").replace("100000", "3000")
        (lab.root / "params.yaml").write_text(text, encoding="utf-8")
        return lab

    return make
