"""The statistics stage by hand, where what lies there does not fit `params.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipeline.errors import InputError
from pipeline.statistics.stage import run
from pipeline.workspace import open_workspace
from tests.mini import mini_workspace, run_stages

if TYPE_CHECKING:
    from pathlib import Path


def test_a_core_of_other_families_is_refused(tmp_path: Path) -> None:
    run_stages(mini_workspace(tmp_path), "release", "freeze", "execute", "parse", "score")
    path = tmp_path / "params.yaml"
    text = path.read_text("utf-8")
    old = '"score": {"families": ["substitution", "pairing"]'
    assert old in text
    path.write_text(text.replace(old, old.replace(', "pairing"', "")), "utf-8")
    with pytest.raises(InputError, match=r"families in score\.families, found pairing"):
        run(open_workspace(tmp_path))
    assert not (tmp_path / "artifacts/statistics").exists()
