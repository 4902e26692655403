"""What keeps the rooms apart: imports run one way, names carry no version, parts stay small."""

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.portfolio import PORTFOLIO
from tests.imports import imports_of, module_of
from tests.shared import ROOT

SOURCES = sorted([*ROOT.glob("pipeline/**/*.py"), *ROOT.glob("schemas/**/*.py")])
STAGES = {stage.word for stage in PORTFOLIO.stages}
FLOOR = {"asking", "inference", "showing"}
REGISTRIES = {"portfolio", "tracks"}
KITCHEN = "kitchen"
"""The other track: its stages are rooms within one."""
KITCHEN_STAGES = {"cases", "parse", "check"}
"""Rooms of the kitchen that are stages of it, or will be; what lies beside them they share."""
ABOVE_STAGES = {"audit", "compare", "exchange"}
COMMANDS = {"cli", "__main__"}
HEAVY = {
    "altair",
    "dvc",
    "httpx",
    "numpy",
    "pandas",
    "pyarrow",
    "ruamel",
    "scipy",
    "vl_convert",
}


def room_of(module):
    """The part of `pipeline` that a module belongs to: a stage's word, `tables`, `cli` …"""
    parts = module.split(".")
    return parts[1] if parts[0] == "pipeline" and len(parts) > 1 else parts[0]


def kitchen_room_of(module):
    """The part of the kitchen that a module of it belongs to, none for the kitchen itself."""
    return next(iter(module.split(".")[2:3]), None)


ORDER = (
    "errors", "links", "files", "yaml", "identity", "columns", "parquet", "tables", "workspace",
)  # fmt: skip
BASE = frozenset(ORDER[:-1])

RULES = {
    "the product never imports its tests": lambda _, there: there in {"tests", "benchmarks"},
    "schemas import nothing else of ours": lambda here, _: here == "schemas",
    "commands are imported by nobody": lambda here, there: (
        there in COMMANDS and (here, there) != ("__main__", "cli")
    ),
    "only commands import what lies above the stages": lambda here, there: (
        there in ABOVE_STAGES and here not in COMMANDS
    ),
    "a stage never imports another stage": lambda here, there: here in STAGES and there in STAGES,
    "a track never imports the other": lambda here, there: (
        (here == KITCHEN and there in STAGES | {"portfolio"})
        or (here in STAGES and there == KITCHEN)
    ),
    "what lies below the stages never imports one": lambda here, there: (
        here not in STAGES | ABOVE_STAGES | COMMANDS and there in STAGES | {KITCHEN}
    ),
    "the ground imports nothing of the floor above it": lambda here, there: (
        here not in {*FLOOR, *REGISTRIES, *STAGES, KITCHEN, *ABOVE_STAGES, *COMMANDS}
        and there in FLOOR
    ),
    "inference knows no files": lambda here, there: (
        here == "inference" and there in {"files", "tables", "workspace", *FLOOR}
    ),
    "showing knows nothing of asking and inference": lambda here, there: (
        here == "showing" and there in FLOOR
    ),
    "asking knows nothing of inference": lambda here, there: (
        here == "asking" and there == "inference"
    ),
    "from errors to workspace, later ones import earlier ones": (
        lambda here, there: {here, there} <= set(ORDER) and ORDER.index(there) > ORDER.index(here)
    ),
    "what lies below all else imports nothing beside": lambda here, there: (
        here in BASE and there not in {*BASE, "schemas"}
    ),
}


def forbidden(module, imported):
    """The rules that an import breaks; imports of others' packages break none."""
    ours = imported.split(".")[0] in {"pipeline", "schemas", "tests", "benchmarks"}
    here, there = room_of(module), room_of(imported)
    if here == there == KITCHEN:
        rooms = [kitchen_room_of(module), kitchen_room_of(imported)]
        apart = set(rooms) <= KITCHEN_STAGES and len(set(rooms)) > 1
        return ["a stage of the kitchen never imports another"] if apart else []
    if not ours or here == there or imported == "pipeline":
        return []
    return [rule for rule, breaks in RULES.items() if breaks(here, there)]


# Imports run one way


def turned_imports(source):
    return {
        f"{source.module} imports {found.module}: {rule}"
        for found in source.imports
        for rule in forbidden(source.module, found.module)
    }


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("schemas.record", "pipeline.errors"),
        ("pipeline.identity", "pipeline.tables"),
        ("pipeline.errors", "pipeline.files"),
        ("pipeline.tables", "pipeline.starter"),
        ("pipeline.tables", "pipeline.freeze.maps"),
        ("pipeline.tags", "pipeline.release.bundle"),
        ("pipeline.score.stage", "pipeline.parse.reader"),
        ("pipeline.asking.sealing", "pipeline.execute.routes"),
        ("pipeline.kitchen.check", "pipeline.parse.reader"),
        ("pipeline.kitchen.execute.stage", "pipeline.portfolio"),
        ("pipeline.kitchen.names", "pipeline.score"),
        ("pipeline.score.stage", "pipeline.kitchen.check"),
        ("pipeline.asking.line", "pipeline.kitchen.names"),
        ("pipeline.kitchen.check.week", "pipeline.kitchen.cases.templates"),
        ("pipeline.kitchen.check.week", "pipeline.cli.kitchen"),
        ("pipeline.inference.analysis", "pipeline.statistics.stage"),
        ("pipeline.inference.analysis", "pipeline.tables"),
        ("pipeline.showing.drawing", "pipeline.report.leaderboard"),
        ("pipeline.showing.view", "pipeline.asking.tally"),
        ("pipeline.asking.line", "pipeline.inference.exact"),
        ("pipeline.identity", "pipeline.showing.view"),
        ("pipeline.score.stage", "pipeline.cli"),
        ("pipeline.score.stage", "pipeline.audit.cell"),
        ("pipeline.audit.cell", "pipeline.cli"),
        ("pipeline.audit.cell", "pipeline.compare"),
        ("pipeline.cli", "pipeline.__main__"),
        ("pipeline.cli", "tests.shared"),
    ],
)
def test_an_import_against_the_arrows_is_seen(module, imported):
    assert forbidden(module, imported)


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("pipeline.identity", "schemas.record"),
        ("pipeline.tables", "pipeline.identity"),
        ("pipeline.score.stage", "pipeline.tables"),
        ("pipeline.score.stage", "pipeline.score.core"),
        ("pipeline.score.stage", "pipeline.answer"),
        ("pipeline.execute.stage", "pipeline.asking.ledger"),
        ("pipeline.statistics.stage", "pipeline.inference.analysis"),
        ("pipeline.report.page", "pipeline.showing.drawing"),
        ("pipeline.audit.verdicts", "pipeline.showing.view"),
        ("pipeline.kitchen.views", "pipeline.showing.view"),
        ("pipeline.kitchen.check.week", "pipeline.kitchen.names"),
        ("pipeline.kitchen.check.foods", "pipeline.tags"),
        ("pipeline.kitchen.grading", "pipeline.kitchen.check.checks"),
        ("pipeline.cli.kitchen", "pipeline.kitchen.grading"),
        ("pipeline.audit.cell", "pipeline.parse.reader"),
        ("pipeline.cli", "pipeline.audit.cell"),
        ("pipeline.__main__", "pipeline.cli"),
        ("schemas.results", "schemas.taskset"),
        ("pipeline.score.stage", "json"),
    ],
)
def test_an_import_along_the_arrows_is_free(module, imported):
    assert forbidden(module, imported) == []


def test_imports_are_found_wherever_they_stand():
    source = """
import numpy as np
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import scipy
try:
    import httpx
except ImportError:
    httpx = None
class Late:
    import dvc
def call():
    from pyarrow import parquet
from . import maps
from .. import tables
"""
    found = imports_of(source, "pipeline.freeze")
    assert {i.module for i in found if i.at_once} >= {
        "numpy",
        "httpx",
        "dvc",
        "pipeline.freeze.maps",
        "pipeline.tables",
    }
    assert {i.module for i in found if not i.at_once} == {"scipy", "pyarrow", "pyarrow.parquet"}


# Heavy imports are made where they are used


def heavy_at_once(source):
    if room_of(source.module) in {"inference"} | STAGES | ABOVE_STAGES:
        return set()
    return {i.module.split(".")[0] for i in source.imports if i.at_once} & HEAVY


@pytest.mark.parametrize(
    "statement",
    ["import pipeline.cli", "import pipeline.__main__", "import schemas.__main__"],
)
def test_a_fresh_interpreter_loads_nothing_heavy(statement):
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in json.loads(run.stdout)}
    assert {"json", "schemas"} & loaded
    assert loaded & HEAVY == set()


def test_help_loads_no_stage():
    code = (
        "import sys\nfrom pipeline.__main__ import main\nsys.argv = ['flavourbench', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "import json\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = set(json.loads(run.stdout.splitlines()[-1]))
    assert "pipeline.cli" in modules
    assert {name.split(".")[0] for name in modules} & HEAVY == set()
    assert {room_of(name) for name in modules if name.startswith("pipeline.")} & STAGES == set()


# Parts stay small, names stay true


def lines_too_many(source):
    return len(source.text.splitlines()) > 400


def functions_too_long(source):
    functions = (
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {f.name for f in functions if f.end_lineno - f.lineno + 1 > 60}


VERSION = re.compile(
    r"(^|[_\-.])v\d|version_?\d|_\d+$|(^|[_\-.])(old|new|legacy|next|final|copy)([_\-.]|$)"
)


@pytest.mark.parametrize(
    "name", ["core_v2", "v3", "reader-v4", "score_2", "legacy_core", "core_old"]
)
def test_a_version_in_a_name_is_seen(name):
    assert VERSION.search(name)


def versions_in_names(source):
    parts = source.path.relative_to(ROOT).with_suffix("").parts
    return {part for part in parts if VERSION.search(part)}


def test_no_stage_section_or_artifact_carries_a_version():
    text = (ROOT / "dvc.yaml").read_text("utf-8")
    names = re.findall(r"^  ([\w-]+):", text, re.MULTILINE)
    names += re.findall(r"artifacts/([\w/.-]+)", text)
    assert set(names) >= STAGES
    assert [name for name in names if VERSION.search(name)] == []


def test_a_stage_has_one_word_in_every_room():
    from typer.main import get_command

    from pipeline.cli import app
    from schemas.parameters import Parameters

    commands = set(get_command(app).commands)
    text = (ROOT / "dvc.yaml").read_text("utf-8")
    assert commands >= STAGES
    assert {path.parent.name for path in ROOT.glob("pipeline/*/stage.py")} >= STAGES
    assert STAGES - {"execute"} <= set(Parameters.model_fields)
    assert set(re.findall(r"^  (\w+):$", text, re.MULTILINE)) >= STAGES
    assert set(re.findall(r"artifacts/(\w+)", text)) >= STAGES


def stage_block(text, stage):
    return re.search(rf"^  {stage}:\n(.*?)(?=^  \w+:\n|\Z)", text, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize("stage", sorted(STAGES - {"execute"}))
def test_a_stage_depends_on_the_sections_that_it_reads(stage):
    block = stage_block((ROOT / "dvc.yaml").read_text("utf-8"), stage)
    sources = [path.read_text("utf-8") for path in ROOT.glob(f"pipeline/{stage}/*.py")]
    read = {
        section
        for source in sources
        for section in re.findall(r"parameters\.(\w+)\.\w", source)
        if section in STAGES
    }
    named = re.search(r"params: \[(.*?)\]", block)[1]
    assert read <= {name.strip().split(".")[0] for name in named.split(",")}


def public_names_amiss(source):
    """Names in `__all__` that do not exist, stand twice, or are no public ones."""
    lists = [
        node.value
        for node in source.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    names = [name for given in lists for name in ast.literal_eval(given)]
    module = importlib.import_module(source.module) if names else None
    return {
        name
        for name in names
        if not hasattr(module, name) or names.count(name) > 1 or name.startswith("_")
    }


def no_docstring(source):
    return not ast.get_docstring(source.tree)


def no_face(source):
    """Whether a module defines public names and has no `__all__`."""
    defined = {
        node.name
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    }
    return bool(defined) and "__all__" not in source.text


FAULTS = {
    "imports run one way": turned_imports,
    "what is no stage imports nothing heavy at once": heavy_at_once,
    "a module has at most 400 lines": lines_too_many,
    "a function has at most 60 lines": functions_too_long,
    "no module or folder carries a version": versions_in_names,
    "every public name exists and is named once": public_names_amiss,
    "a module says what it is for": no_docstring,
    "a module says what is its face": no_face,
}


class Source(NamedTuple):
    """A module of ours, read once for all rules."""

    path: Path
    text: str

    @property
    def module(self):
        return module_of(self.path)

    @property
    def tree(self):
        return ast.parse(self.text)

    @property
    def imports(self):
        package = self.module if self.path.name == "__init__.py" else self.module.rpartition(".")[0]
        return imports_of(self.text, package)


def faults_of(source):
    """What is wrong with a module, by the rule that it breaks."""
    found = {rule: fault(source) for rule, fault in FAULTS.items()}
    return {rule: wrong for rule, wrong in found.items() if wrong}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_keeps_every_rule(path):
    assert faults_of(Source(path, path.read_text("utf-8"))) == {}


SPOILT = {
    "imports run one way": ("pipeline/identity.py", "import pipeline.tables"),
    "what is no stage imports nothing heavy at once": ("pipeline/identity.py", "import numpy"),
    "a module has at most 400 lines": ("pipeline/identity.py", "\n" * 400),
    "a function has at most 60 lines": ("pipeline/identity.py", "def _f():" + "\n    1" * 60),
    "no module or folder carries a version": ("pipeline/core_v2/__init__.py", ""),
    "every public name exists and is named once": ("pipeline/identity.py", "__all__ = ['nobody']"),
    "a module says what is its face": ("pipeline/identity.py", "def face(): ..."),
}


@pytest.mark.parametrize("rule", SPOILT)
def test_a_module_that_breaks_a_rule_is_seen(rule):
    name, text = SPOILT[rule]
    assert set(faults_of(Source(ROOT / name, f'"""Said."""\n{text}\n'))) == {rule}


def test_a_module_that_says_nothing_is_seen():
    assert set(faults_of(Source(ROOT / "pipeline/x.py", "_A = 1\n"))) == {
        "a module says what it is for"
    }
