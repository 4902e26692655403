"""What our modules import, and which files a stage runs because of it.

`python -m tests.imports` writes the code that each stage depends on into `dvc.yaml`.

A stage's code is the closure of its entry, the module that its registry names: what runs when the
stage runs, imports in functions too, with the packages on the way and the data beside them. What it
leaves out:

- `pipeline.cli` and `pipeline.__main__`. They pass options on and print; no table depends on them.
- Imports under TYPE_CHECKING. They do not run.

Nothing else is left out, for no stage. `execute` asks no model again because its code moved: it
takes every sealed answer in and asks what is missing.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pipeline.tracks import TRACKS
from tests.shared import ROOT

__all__ = ["Import", "closure", "code_deps", "imports_of", "module_of", "with_deps"]

_OURS = {"pipeline", "schemas"}
_LEFT_OUT = {"pipeline.cli", "pipeline.__main__"}
_DEP = re.compile(r" +- (?:pipeline|schemas)/.*\n")


class Import(NamedTuple):
    """One import: the module, whether it runs with its file, and whether it ever runs."""

    module: str
    at_once: bool
    runs: bool = True


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source, package=""):
    """Every import of a module, also those in functions and under TYPE_CHECKING."""
    found = []

    def walk(node, at_once, runs):
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, at_once, runs) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package.split(".")[: 1 - node.level or None], base]).strip(".")
            # what is imported may be a module itself
            found.append(Import(base, at_once, runs))
            found.extend(Import(f"{base}.{alias.name}", at_once, runs) for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                walk(child, at_once=False, runs=False)
            for child in node.orelse:
                walk(child, at_once, runs)
        else:
            within = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                walk(child, at_once and not within, runs)

    walk(ast.parse(source), at_once=True, runs=True)
    return found


def file_of(module, root=ROOT):
    """A module's file; none where it is not ours, or is a name in a module."""
    path = root / module.replace(".", "/")
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    if module.split(".")[0] not in _OURS:
        return None
    return next((file for file in candidates if file.is_file()), None)


@cache
def closure(entry, root=ROOT):
    """Our modules that run when `entry` does, itself and the packages around them included."""
    found, waiting = set(), [entry]
    while waiting:
        module = waiting.pop()
        if module in found or module in _LEFT_OUT:
            continue
        path = file_of(module, root)
        if path is None:
            continue
        found.add(module)
        parent = module.rpartition(".")[0]
        package = module if path.name == "__init__.py" else parent
        imports = imports_of(path.read_text("utf-8"), package)
        waiting += [parent, *(found.module for found in imports if found.runs)]
    return frozenset(found)


def code_deps(entry, root=ROOT):
    """Files and folders that `entry` runs, sorted: a room as a folder where all of it runs.

    A stage's own room is one, whoever else reads in it. Data that lie in a room belong to whatever
    runs of it.
    """
    own = file_of(entry, root).parent
    files = {file_of(module, root) for module in closure(entry, root)}
    deps = set()
    for folder in {file.parent for file in files}:
        held = {p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"}
        data = {p for p in held if p.suffix != ".py"}
        top = folder.parent == root
        if not top and (folder == own or held - data <= files):
            deps.add(folder)
        else:
            deps |= {file for file in files if file.parent == folder} | (set() if top else data)
    inner = {dep for dep in deps if any(parent in deps for parent in dep.parents)}
    return sorted(dep.relative_to(root).as_posix() for dep in deps - inner)


def with_deps(text, entries, root=ROOT):
    """The text of a `dvc.yaml` whose stages depend on the code that they run.

    Parameters
    ----------
    text
        The `dvc.yaml` as it is.
    entries
        The entry of each stage, by the stage's name.
    """
    for stage, entry in entries.items():
        start = re.search(rf"^  {stage}:\n", text, re.MULTILINE).end()
        end = re.compile(r"^  [\w-]+:\n", re.MULTILINE).search(text, start)
        block = text[start : end.start() if end else len(text)]
        head, deps, rest = re.match(r"(?s)(.*? deps:\n)((?: +- [^\n]*\n)+)(.*)", block).groups()
        indent = re.match(" *", deps)[0]
        kept = "".join(line for line in deps.splitlines(True) if not _DEP.fullmatch(line))
        code = "".join(f"{indent}- {dep}\n" for dep in code_deps(entry, root))
        text = text.replace(block, f"{head}{kept}{code}{rest}", 1)
    return text


def entries():
    """The entry of every stage of every track, by the stage's word."""
    return {stage.word: stage.module for track in TRACKS for stage in track.stages}


if __name__ == "__main__":
    described = Path(ROOT / "dvc.yaml")
    described.write_text(with_deps(described.read_text("utf-8"), entries()), "utf-8")
