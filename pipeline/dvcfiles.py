"""The stages that `dvc.yaml` defines and `dvc.lock` remembers, read as data and bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.files import read_bytes
from pipeline.yaml import YamlBounds, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from pipeline.errors import FlavourbenchError

__all__ = ["dvc_stages", "is_locked"]

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


def is_locked(
    root: Path, stage: str, outputs: Collection[str], error: type[FlavourbenchError]
) -> bool:
    """Whether `dvc.lock` lists a stage by its name, or any stage with one of the outputs.

    Raises
    ------
    FlavourbenchError
        As `error`: the lock is there and cannot be read, so nobody knows what it lists.
    """
    path = root / "dvc.lock"
    if not (path.exists() or path.is_symlink()):
        return False
    stages = dvc_stages(path, error)
    listed = {out for name, body in stages.items() for out in _outputs(name, body, error)}
    return stage in stages or not listed.isdisjoint(outputs)


def _outputs(name: str, stage: Any, error: type[FlavourbenchError]) -> Iterator[str]:
    outs = stage.get("outs", []) if isinstance(stage, dict) else None
    for out in outs if isinstance(outs, list) else [None]:
        path = out.get("path") if isinstance(out, dict) else None
        if not isinstance(path, str):
            raise error("outputs with a path", "something else", f"dvc.lock, stage {name}", _REMEDY)
        yield path
