"""Files against `dvc.lock`, byte by byte.

DVC trusts a file whose size and time are those it remembers; here every byte is read. What DVC
hashes is its own affair: MD5 of a file, and for a folder MD5 of the JSON list of its files.

DVC keeps what it knew of a stage when `dvc.yaml` or `params.yaml` defines that stage no more: of a
route that was taken out, or of the run before an import. Nothing makes such outputs now, so none is
missing; the stages are named and left out.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.differences import Difference
from pipeline.dvcfiles import dvc_stages, is_within
from pipeline.errors import FlavourbenchError, TableError
from pipeline.files import open_regular
from pipeline.links import is_foreign_link

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

__all__ = ["compare_with_lock"]

_CHUNK = 2**20
_FOLDER = ".dir"
_OUTPUTS = "artifacts"
_ROUTES = "${routes}"
_REMEDY = "Restore it from git."


class LockedOutput(NamedTuple):
    """An output that `dvc.lock` lists.

    Attributes
    ----------
    path
        Within the workspace.
    md5
        As DVC gave it.
    size
        Bytes, of all its files where it is a folder; none where the lock does not say.
    """

    path: str
    md5: str
    size: int | None


class LockedOutputs(NamedTuple):
    """Outputs of the stages that are defined, and the stages that are not any more."""

    outputs: tuple[LockedOutput, ...]
    gone: tuple[str, ...]


class LockCheck(NamedTuple):
    """What came of the comparison.

    Attributes
    ----------
    files
        How many files the lock covers.
    gone
        Stages that the lock lists and nothing defines.
    differences
        Files that are not those that it lists.
    """

    files: int
    gone: tuple[str, ...]
    differences: tuple[Difference, ...]


def compare_with_lock(root: Path, routes: Collection[str]) -> LockCheck:
    """Read every file that the lock lists.

    Parameters
    ----------
    root
        The workspace's folder.
    routes
        The slugs of `params.yaml`.

    Raises
    ------
    TableError
        `dvc.lock` or `dvc.yaml` is no YAML of DVC's.
    """
    outputs, gone = locked_outputs(root, routes)
    count = 0
    found: list[Difference] = []
    for output in outputs:
        try:
            count += _compare(root, output)
        except FlavourbenchError as problem:
            found.append(Difference(problem.where, problem.expected, problem.found))
    return LockCheck(count, gone, tuple(found))


def locked_outputs(root: Path, routes: Collection[str]) -> LockedOutputs:
    """What `dvc.lock` lists, by stages that are defined. Raises as `compare_with_lock` does."""
    locked = dvc_stages(root / "dvc.lock", TableError)
    path = root / "dvc.yaml"
    defined = dvc_stages(path, TableError) if path.exists() or path.is_symlink() else None
    gone = () if defined is None else tuple(s for s in locked if not _stands(s, defined, routes))
    outputs: list[LockedOutput] = []
    for name, stage in locked.items():
        if name not in gone:
            outputs += _outputs(name, stage)
    return LockedOutputs(tuple(outputs), gone)


def _stands(stage: str, defined: Mapping[str, Any], routes: Collection[str]) -> bool:
    """Whether a stage is one that DVC would run; where it is not ours to tell, it is."""
    name, _, key = stage.partition("@")
    body = defined.get(name)
    over_routes = isinstance(body, dict) and body.get("foreach") == _ROUTES
    return key in routes if over_routes else name in defined


def _outputs(name: str, stage: Any) -> list[LockedOutput]:
    outs = stage.get("outs", []) if isinstance(stage, dict) else None
    where = f"dvc.lock, stage {name}"
    if not isinstance(outs, list):
        raise TableError("a list of outputs", _kind(outs), where, _REMEDY)
    found = []
    for out in outs:
        path, md5, size = (
            (out.get("path"), out.get("md5"), out.get("size"))
            if isinstance(out, dict)
            else (None, None, None)
        )
        if not isinstance(path, str) or not isinstance(md5, str):
            raise TableError("outputs with path and md5", _kind(out), where, _REMEDY)
        if not is_within(path) or not path.startswith(f"{_OUTPUTS}/"):
            raise TableError(f"outputs below {_OUTPUTS}/", repr(path), where, _REMEDY)
        found.append(LockedOutput(path, md5, size if type(size) is int else None))
    return found


def _compare(root: Path, output: LockedOutput) -> int:
    """How many files an output has. Raises `TableError` where they are not those of the lock."""
    path = root / output.path
    for parent in path.relative_to(root).parents:
        if (root / parent).is_symlink() and parent.name:
            raise _differs(parent.as_posix(), "a folder of its own", "a symbolic link")
    if is_foreign_link(path):
        raise _differs(output.path, "a file of its own", "a symbolic link")
    folder = output.md5.endswith(_FOLDER) and path.is_dir()
    if not folder and not path.is_file():
        raise _differs(output.path, "a file that dvc.lock lists", "no such file")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if folder else [path]
    size = sum(file.stat().st_size for file in files)
    if output.size not in (None, size):
        raise _differs(f"{output.path}, bytes", f"{output.size:,}", f"{size:,}")
    actual = _folder_md5(path, files) if folder else _md5(path)
    if actual != output.md5:
        raise _differs(f"{output.path}{'/' if folder else ''}, md5", output.md5, actual)
    return len(files)


def _folder_md5(folder: Path, files: list[Path]) -> str:
    listed = [{"md5": _md5(f), "relpath": f.relative_to(folder).as_posix()} for f in files]
    data = json.dumps(listed, sort_keys=True).encode()
    return hashlib.md5(data, usedforsecurity=False).hexdigest() + _FOLDER


def _md5(path: Path) -> str:
    state = hashlib.md5(usedforsecurity=False)
    with open_regular(path, TableError) as (stream, _):
        while chunk := stream.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()


def _differs(where: str, expected: str, found: str) -> TableError:
    return TableError(expected, found, where, "Run `dvc checkout`.")


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
