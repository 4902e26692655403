"""The stages that `dvc.yaml` defines and `dvc.lock` remembers, read as data and bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.files import read_bytes
from pipeline.yaml import YamlBounds, parse_yaml

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.errors import FlavourbenchError

__all__ = ["dvc_stages", "locked_paths"]

_LIMIT = 4 * 2**20
_BOUNDS = YamlBounds(values=250_000, depth=16, characters=_LIMIT)
_REMEDY = "Restore it from git."


def dvc_stages(path: Path, error: type[FlavourbenchError]) -> dict[str, Any]:
    """The stages of a file of DVC's, by name.

    Raises
    ------
    FlavourbenchError
        As `error`: the file is missing, unsafe, or no YAML of DVC's.
    """
    document = parse_yaml(read_bytes(path, _LIMIT, error), path.name, error, _BOUNDS)
    stages = document.get("stages", {}) if isinstance(document, dict) else None
    if not isinstance(stages, dict) or not all(isinstance(name, str) for name in stages):
        found = "nothing" if stages is None else f"a {type(stages).__name__}"
        raise error("the stages of DVC", found, path.name, _REMEDY)
    return stages


def locked_paths(root: Path, error: type[FlavourbenchError]) -> set[str]:
    """Paths of all outputs that `dvc.lock` lists, none where there is no lock.

    Raises
    ------
    FlavourbenchError
        As `error`: the lock is there and cannot be read, so nobody knows what it lists.
    """
    path = root / "dvc.lock"
    if not (path.exists() or path.is_symlink()):
        return set()
    found: set[str] = set()
    for name, stage in dvc_stages(path, error).items():
        outs = stage.get("outs", []) if isinstance(stage, dict) else None
        whole = isinstance(outs, list) and all(
            isinstance(out, dict) and isinstance(out.get("path"), str) for out in outs
        )
        if not whole:
            raise error("outputs with a path", "something else", f"dvc.lock, stage {name}", _REMEDY)
        found |= {out["path"] for out in outs or ()}
    return found
