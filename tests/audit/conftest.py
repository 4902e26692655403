"""A small run, made once, and copies of it to spoil."""

from __future__ import annotations

import shutil

import pytest

from pipeline.release.starter import read_starter
from pipeline.starter import FOLDER
from pipeline.workspace import open_workspace
from tests.mini import mini_workspace, run_stages, write_bundle


def careless(parameters):
    """One ranked route that slips, so that some answers are unparseable and some leave the core."""
    policy = {"adapter": "policy", "policy": "noisy", "seed": 5, "skill_bps": 6000}
    parameters["routes"]["careless"] = policy | {"slips_bps": 3000, "label": "C", "ranked": True}


@pytest.fixture(scope="session")
def sound_run(tmp_path_factory):
    """The run; look at it, do not change it."""
    folder = tmp_path_factory.mktemp("audit")
    bundle = write_bundle(folder / "bundle", read_starter(1, FOLDER))

    def change(parameters):
        careless(parameters)
        parameters["release"] = {"source": "bundle", "path": str(bundle)}

    workspace = mini_workspace(folder / "run", change)
    run_stages(workspace)
    return workspace


@pytest.fixture
def run(sound_run, tmp_path):
    """A copy of the run, to change."""
    shutil.copytree(sound_run.root, tmp_path / "run")
    return open_workspace(tmp_path / "run")
