"""The stages that `dvc.yaml` defines and `dvc.lock` remembers, read as data and bounded."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.files import read_bytes
from pipeline.yaml import YamlBounds, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from pipeline.errors import FlavourbenchError

__all__ = ["dvc_stages", "is_locked", "is_within", "moved_on"]

_LIMIT = 4 * 2**20
_BOUNDS = YamlBounds(values=250_000, depth=16, characters=_LIMIT)
_REMEDY = "Restore it from git."
_PARAMETERS = "params.yaml"
_OUTPUTS = "artifacts/"
_SOURCE = "release.path"
_NAME_LIMIT, _PATH_LIMIT = 255, 1000  # bytes and characters that a file system takes
_HASHED_LIMIT = 16 * 2**20
_IGNORED = ("__pycache__", ".egg-info", ".tmp")
"""Ends of names within a folder of code that `.dvcignore` leaves out."""


class MovedOn(NamedTuple):
    """What has changed since stages ran: sections of `params.yaml`, and inputs that git keeps."""

    sections: tuple[str, ...]
    inputs: tuple[str, ...]


def moved_on(
    root: Path, tables: Collection[str], routes: Collection[str], error: type[FlavourbenchError]
) -> MovedOn:
    """What has changed since `dvc.lock` was written for tables and all that they were made from.

    A release's source outside the workspace is not looked at. An input of more than 16 MB is
    compared by its size alone. Without a lock nothing is known to have changed.

    Parameters
    ----------
    root
        The workspace's folder.
    tables
        Folders of tables, as in `artifacts/score`.
    routes
        Slugs that are asked; what the lock remembers of others is left alone.

    Raises
    ------
    FlavourbenchError
        As `error`: the lock or `params.yaml` cannot be read, or the lock leads elsewhere.
    """
    path = root / "dvc.lock"
    if not (path.exists() or path.is_symlink()):
        return MovedOn((), ())
    stages = _makers(dvc_stages(path, error), tables, routes)
    data = read_bytes(root / _PARAMETERS, _LIMIT, error)
    now = parse_yaml(data, _PARAMETERS, error, _BOUNDS)
    sections: set[str] = set()
    inputs: dict[str, bool] = {}
    for stage in stages:
        for key, value in _mapping(_mapping(stage, "params"), _PARAMETERS).items():
            if _at(now, key) != value:
                sections.add(key.partition(".")[0])
        for dep in _entries(stage, "deps"):
            name = dep["path"]
            if not is_within(name):
                if name == _at(now, _SOURCE):
                    continue
                where = f"{path.name}, an input"
                raise error("paths within the workspace", repr(name), where, _REMEDY)
            if name not in inputs and not name.startswith(_OUTPUTS):
                inputs[name] = _differs(root, dep)
    changed = [name for name, differs in sorted(inputs.items()) if differs]
    return MovedOn(tuple(sorted(sections)), tuple(changed))


def _makers(
    stages: Mapping[str, Any], tables: Collection[str], routes: Collection[str]
) -> list[Mapping[str, Any]]:
    """Stages that write tables, or what those are made from, however far upstream."""
    left = {n: s for n, s in stages.items() if "@" not in n or n.partition("@")[2] in routes}
    wanted, found = set(tables), []
    while names := [n for n, s in left.items() if _writes(s, wanted)]:
        for stage in map(left.pop, names):
            found.append(stage)
            wanted |= {dep["path"] for dep in _entries(stage, "deps")}
    return found


def _writes(stage: Any, wanted: Collection[str]) -> bool:
    """Whether an output of a stage is wanted, lies within what is, or holds it."""
    paths = [out["path"] for out in _entries(stage, "outs")]
    return any(
        f"{a}/".startswith(f"{b}/") or f"{b}/".startswith(f"{a}/") for a in paths for b in wanted
    )


def _differs(root: Path, dep: Mapping[str, Any]) -> bool:
    """Whether a file or folder is not what the lock remembers; DVC hashes both with MD5."""
    path = root / dep["path"]
    if any(link.is_symlink() for link in (path, *path.parents) if root in link.parents):
        return True
    if not path.exists():
        top = str(dep["path"]).partition("/")[0]
        return (root / top).exists()  # else the workspace holds no code of its own
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    files = [f for f in files if not any(p.endswith(_IGNORED) for p in f.relative_to(root).parts)]
    size = sum(file.stat().st_size for file in files)
    if size != dep.get("size", size) or size > _HASHED_LIMIT:
        return bool(size != dep.get("size", size))
    if path.is_file():
        return bool(_md5(path.read_bytes()) != dep.get("md5"))
    listed = [
        {"md5": _md5(f.read_bytes()), "relpath": f.relative_to(path).as_posix()} for f in files
    ]
    listed.sort(key=lambda entry: entry["relpath"])
    found = _md5(json.dumps(listed, sort_keys=True).encode()) + ".dir"
    return bool(found != dep.get("md5"))


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _entries(stage: Any, kind: str) -> list[dict[str, Any]]:
    """Inputs or outputs of a stage that have a path."""
    found = stage.get(kind) if isinstance(stage, dict) else None
    entries = found if isinstance(found, list) else []
    return [e for e in entries if isinstance(e, dict) and isinstance(e.get("path"), str)]


def _mapping(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _at(document: Any, key: str) -> Any:
    """The value at a dotted key."""
    for part in key.split("."):
        document = document.get(part) if isinstance(document, dict) else None
    return document


def is_within(path: str) -> bool:
    """Whether a path of DVC's leads down from the workspace, by one spelling alone."""
    parts = PurePosixPath(path).parts
    plain = bool(parts) and "/".join(parts) == path and path.isprintable()
    if not plain or any(len(part.encode("utf-8")) > _NAME_LIMIT for part in parts):
        return False
    return parts[0] != "/" and len(path) <= _PATH_LIMIT and ".." not in parts


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
