"""Where shared material lies beside the project, and the mark of tests that need it."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["ROOT", "SHARED", "needs_shared"]

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared material is not beside the project"
)
