"""Files against `dvc.lock`, byte by byte.

DVC trusts a file whose size and time are those it remembers; here every byte is read. What DVC
hashes is its own affair: MD5 of a file, and for a folder MD5 of the JSON list of its files.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.differences import Difference
from pipeline.errors import TableError
from pipeline.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LockedOutput", "compare_with_lock", "locked_outputs"]

_LOCK_LIMIT = 2**28
_CHUNK = 2**20
_FOLDER = ".dir"


class LockedOutput(NamedTuple):
    """A path within the workspace and the MD5 that DVC gave it."""

    path: str
    md5: str


def compare_with_lock(root: Path) -> tuple[int, list[Difference]]:
    """How many files the lock covers, and which of them are not those that it lists.

    Raises
    ------
    TableError
        `dvc.lock` is no YAML of DVC's.
    """
    count = 0
    found: list[Difference] = []
    for name, md5 in locked_outputs(root):
        path = root / name
        if path.is_symlink():
            found.append(Difference(name, "a file of its own", "a symbolic link"))
        elif md5.endswith(_FOLDER) and path.is_dir():
            files = sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink())
            count += len(files)
            listed = [
                {"md5": _md5(file), "relpath": file.relative_to(path).as_posix()} for file in files
            ]
            actual = hashlib.md5(
                json.dumps(listed, sort_keys=True).encode(), usedforsecurity=False
            ).hexdigest()
            if actual + _FOLDER != md5:
                found.append(Difference(f"{name}/, md5", md5, actual + _FOLDER))
        elif path.is_file():
            count += 1
            actual = _md5(path)
            if actual != md5:
                found.append(Difference(f"{name}, md5", md5, actual))
        else:
            found.append(Difference(name, "a file that dvc.lock lists", "no such file"))
    return count, found


def locked_outputs(root: Path) -> Iterator[LockedOutput]:
    """Path and MD5 of every output that `dvc.lock` lists. Raises as `compare_with_lock` does."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    data = read_bytes(root / "dvc.lock", _LOCK_LIMIT, TableError)
    try:
        value: Any = YAML(typ="safe", pure=True).load(data.decode("utf-8"))
        stages = value["stages"].values()
        outs = [(out["path"], out["md5"]) for stage in stages for out in stage.get("outs", ())]
    except (AttributeError, KeyError, TypeError, ValueError, YAMLError) as problem:
        raise TableError(
            "the stages and outputs of DVC", str(problem), "dvc.lock", "Restore it from git."
        ) from problem
    for name, md5 in outs:
        if not isinstance(name, str) or not isinstance(md5, str) or ".." in name.split("/"):
            raise TableError(
                "paths within the folder", repr(name), "dvc.lock", "Restore it from git."
            )
        yield LockedOutput(name, md5)


def _md5(path: Path) -> str:
    state = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()
