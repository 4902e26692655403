"""What can be compared: bundles, hub folders, starters, release artifacts, workspaces, revisions.

A git revision is read through DVC into a temporary folder: the working tree and the artifacts in it
are left as they are, and files that the cache lacks come from the default remote.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError
from pipeline.release.bundle import ReleaseContent, read_bundle
from pipeline.release.starter import read_starter
from pipeline.starter import FOLDER
from pipeline.tables import read_table
from schemas.release import Direction, Ingredient
from schemas.taskset import Task

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Side", "read_side"]

_STARTER = re.compile(r"starter@(\d{1,4})")
_FETCHED = (
    "artifacts/release/ingredients.parquet",
    "artifacts/release/directions.parquet",
    "artifacts/freeze/tasks.parquet",
)
_KINDS = "a bundle, hub or release folder, starter@N, a workspace, or a git revision"


class Side(NamedTuple):
    """One side of a comparison.

    Attributes
    ----------
    name
        What the person typed.
    content
        Ingredients and directions.
    tasks
        The tasks that were frozen from it; none where it is a release alone.
    """

    name: str
    content: ReleaseContent
    tasks: tuple[Task, ...] | None


def read_side(text: str, root: Path) -> Side:
    """Read what a person named.

    Parameters
    ----------
    text
        A folder, `starter@N`, or a git revision.
    root
        The workspace's folder; revisions are of the repository that it lies in.

    Raises
    ------
    InputError
        There is no such thing.
    ReleaseError, TableError
        It is there and not sound.
    """
    starter = _STARTER.fullmatch(text)
    if starter:
        return Side(text, read_starter(int(starter[1]), FOLDER), None)
    folder = Path(text)
    if text and folder.is_dir():
        return _folder(text, folder)
    if not text or folder.exists() or text.startswith("-") or not text.isprintable():
        raise InputError(_KINDS, repr(text), "diff", "Name a folder or a revision.")
    return _revision(text, root)


def _folder(text: str, folder: Path) -> Side:
    readers: tuple[tuple[str, Callable[[], Side]], ...] = (
        ("embeddings.safetensors", lambda: Side(text, _hub(folder), None)),
        ("ingredient_tags.csv", lambda: Side(text, read_bundle(folder), None)),
        ("ingredients.parquet", lambda: Side(text, _release(folder), None)),
        ("params.yaml", lambda: _workspace(text, folder)),
    )
    for name, read in readers:
        if (folder / name).exists() or (folder / name).is_symlink():
            return read()
    names = ", ".join(name for name, _ in readers)
    raise InputError(f"a folder with one of {names}", "none of them", text, "Name another folder.")


def _hub(folder: Path) -> ReleaseContent:
    from pipeline.release.hub import read_hub

    return read_hub(folder)


def _release(folder: Path) -> ReleaseContent:
    ingredients = read_table(folder / "ingredients.parquet", Ingredient)
    directions = read_table(folder / "directions.parquet", Direction)
    return ReleaseContent(tuple(ingredients.rows()), tuple(directions.rows()))


def _workspace(text: str, folder: Path) -> Side:
    release = _release(folder / "artifacts" / "release")
    tasks = folder / "artifacts" / "freeze" / "tasks.parquet"
    return Side(text, release, tuple(read_table(tasks, Task).rows()) if tasks.exists() else None)


def _revision(text: str, root: Path) -> Side:
    commit = _commit(text, root)
    with tempfile.TemporaryDirectory(prefix="flavourbench-") as name:
        folder = Path(name)
        _fetch(text, commit, root, folder)
        return _workspace(text, folder)


def _commit(text: str, root: Path) -> str:
    """The commit that a revision names."""
    command = ["git", "-C", str(root), "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as problem:
        raise InputError("git", str(problem), "diff", "Install git, or name a folder.") from problem
    if done.returncode:
        raise InputError(_KINDS, repr(text), "diff", "Name a folder or a revision that there is.")
    return done.stdout.strip()


def _fetch(text: str, commit: str, root: Path, folder: Path) -> None:
    """Fetch a revision's tables from the cache, or from the default remote."""
    import logging

    from dvc.api import DVCFileSystem

    logging.getLogger("dvc").setLevel(logging.CRITICAL)
    try:
        files = DVCFileSystem(str(_top(root)), rev=commit)
        prefix = root.resolve().relative_to(_top(root)).as_posix()
        for name in _FETCHED:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            files.get_file(f"{prefix}/{name}" if prefix != "." else name, str(target))
    except Exception as problem:  # what DVC and its parts raise has no common root
        raise InputError(
            f"the tables of revision {text}", str(problem) or type(problem).__name__, "diff",
            "`dvc fetch --all-commits` brings old tables into the cache.",
        ) from problem  # fmt: skip


def _top(root: Path) -> Path:
    """The repository's folder."""
    command = ["git", "-C", str(root), "rev-parse", "--show-toplevel"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return Path(done.stdout.strip()).resolve()
