"""What keeps the rooms apart: imports run one way, names carry no version, parts stay small."""

import ast
import importlib
import json
import re
import subprocess
import sys
from typing import NamedTuple

import pytest

from pipeline.portfolio import PORTFOLIO
from tests.shared import ROOT

SOURCES = sorted([*ROOT.glob("pipeline/**/*.py"), *ROOT.glob("schemas/**/*.py")])
STAGES = {stage.word for stage in PORTFOLIO.stages}
FLOOR = {"asking", "inference", "showing"}
ABOVE_STAGES = {"audit", "compare", "exchange"}
KITCHEN = "kitchen"
KITCHEN_STAGES = {"cases", "parse", "check"}
"""Rooms of the kitchen that are stages of it, or will be."""
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

each_source = pytest.mark.parametrize(
    "path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix()
)


class Import(NamedTuple):
    """One import: the module, and whether it runs when its file is imported."""

    module: str
    at_once: bool


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source, package=""):
    """Every import of a module, also those in functions and under TYPE_CHECKING."""
    found = []

    def walk(node, at_once):
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package.split(".")[: 1 - node.level or None], base]).strip(".")
            # what is imported may be a module itself
            found.append(Import(base, at_once))
            found.extend(Import(f"{base}.{alias.name}", at_once) for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                walk(child, at_once=False)
            for child in node.orelse:
                walk(child, at_once)
        else:
            within = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                walk(child, at_once and not within)

    walk(ast.parse(source), at_once=True)
    return found


def room_of(module):
    """The part of `pipeline` that a module belongs to: a stage's word, `tables`, `cli` …"""
    parts = module.split(".")
    return parts[1] if parts[0] == "pipeline" and len(parts) > 1 else parts[0]


ORDER = ("errors", "files", "identity", "columns", "tables", "workspace")
BASE = frozenset(ORDER[:5])

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
    "what lies below the stages never imports one": lambda here, there: (
        here not in STAGES | ABOVE_STAGES | COMMANDS and there in STAGES
    ),
    "the ground imports nothing of the floor above it": lambda here, there: (
        here not in {*FLOOR, *STAGES, KITCHEN, *ABOVE_STAGES, *COMMANDS} and there in FLOOR
    ),
    "no stage imports the other track": (
        lambda here, there: here in STAGES | FLOOR and there == KITCHEN
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
    "errors, files, identity, columns, tables, workspace: later ones import earlier ones": (
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
        rooms = [module.split(".")[2:3], imported.split(".")[2:3]]
        apart = rooms[0] != rooms[1] and all(set(room) & KITCHEN_STAGES for room in rooms)
        return ["a stage of the kitchen never imports another stage"] if apart else []
    if not ours or here == there or imported == "pipeline":
        return []
    return [rule for rule, breaks in RULES.items() if breaks(here, there)]


# Imports run one way


@each_source
def test_imports_run_one_way(path):
    module = module_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    wrong = {
        f"{module} imports {found.module}: {rule}"
        for found in imports_of(path.read_text("utf-8"), package)
        for rule in forbidden(module, found.module)
    }
    assert wrong == set()


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
        ("pipeline.inference.analysis", "pipeline.statistics.stage"),
        ("pipeline.inference.analysis", "pipeline.tables"),
        ("pipeline.showing.drawing", "pipeline.report.views"),
        ("pipeline.showing.view", "pipeline.asking.tally"),
        ("pipeline.asking.line", "pipeline.inference.exact"),
        ("pipeline.identity", "pipeline.showing.view"),
        ("pipeline.kitchen.names", "pipeline.parse.reader"),
        ("pipeline.score.stage", "pipeline.kitchen.names"),
        ("pipeline.kitchen.check.week", "pipeline.kitchen.cases.templates"),
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
        ("pipeline.kitchen.views", "pipeline.showing.view"),
        ("pipeline.kitchen.check.week", "pipeline.kitchen.names"),
        ("pipeline.audit.views", "pipeline.showing.view"),
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


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCES if room_of(module_of(p)) not in {"inference"} | STAGES | ABOVE_STAGES],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_what_is_no_stage_imports_nothing_heavy_at_once(path):
    found = {i.module.split(".")[0] for i in imports_of(path.read_text("utf-8")) if i.at_once}
    assert found & HEAVY == set()


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


@each_source
def test_a_module_has_at_most_400_lines(path):
    assert len(path.read_text("utf-8").splitlines()) <= 400


@each_source
def test_a_function_has_at_most_60_lines(path):
    functions = (
        node
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    long = {f.name for f in functions if f.end_lineno - f.lineno + 1 > 60}
    assert long == set()


VERSION = re.compile(
    r"(^|[_\-.])v\d|version_?\d|_\d+$|(^|[_\-.])(old|new|legacy|next|final|copy)([_\-.]|$)"
)


@pytest.mark.parametrize(
    "name", ["core_v2", "v3", "reader-v4", "score_2", "legacy_core", "core_old"]
)
def test_a_version_in_a_name_is_seen(name):
    assert VERSION.search(name)


@each_source
def test_no_module_or_folder_carries_a_version(path):
    for part in path.relative_to(ROOT).with_suffix("").parts:
        assert not VERSION.search(part), part


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


# Sections reach a stage through `params`; execute asks no model again because a row's shape moved.
@pytest.mark.parametrize("stage", sorted(STAGES - {"execute"}))
def test_a_stage_depends_on_the_shapes_and_sections_that_it_reads(stage):
    block = stage_block((ROOT / "dvc.yaml").read_text("utf-8"), stage)
    sources = [path.read_text("utf-8") for path in ROOT.glob(f"pipeline/{stage}/*.py")]
    shapes = {
        found.module.split(".")[1]
        for source in sources
        for found in imports_of(source)
        if found.module.startswith("schemas.")
    }
    modules = {path.stem for path in ROOT.glob("schemas/*.py")} - {"parameters"}
    assert shapes & modules <= set(re.findall(r"schemas/(\w+)\.py", block))
    read = {
        section
        for source in sources
        for section in re.findall(r"parameters\.(\w+)\.\w", source)
        if section in STAGES
    }
    named = re.search(r"params: \[(.*?)\]", block)[1]
    assert read <= {name.strip().split(".")[0] for name in named.split(",")}


@each_source
def test_every_public_name_exists_and_is_named_once(path):
    tree = ast.parse(path.read_text("utf-8"))
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    for names in map(ast.literal_eval, lists):
        module = importlib.import_module(module_of(path))
        assert [name for name in names if not hasattr(module, name)] == []
        assert len(set(names)) == len(names)
        assert [name for name in names if name.startswith("_")] == []


@each_source
def test_a_module_says_what_it_is_for_and_what_is_its_face(path):
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree)
    defined = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    }
    if defined:
        assert "__all__" in path.read_text("utf-8")
