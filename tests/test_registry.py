"""One registry of stages a track: everything else reads it, and nothing keeps a list of its own."""

from __future__ import annotations

import ast

import pytest
from ruamel.yaml import YAML
from typer.main import get_command

from pipeline.audit.layout import places
from pipeline.cli import app
from pipeline.portfolio import PORTFOLIO
from pipeline.tracks import TRACKS
from pipeline.workspace import open_workspace
from schemas.record import Row
from tests.shared import ROOT

STAGES = [stage for track in TRACKS for stage in track.stages]
WORDS = {stage.word for stage in STAGES}
REGISTRIES = {ROOT / "pipeline/portfolio.py"}
OTHER_LISTS = {ROOT / "benchmarks/__main__.py"}
"""Benchmarks bear the names of what they measure, some of which are stages."""
A_LIST = 4
"""So many words of stages in one literal are a list of stages."""

each_stage = pytest.mark.parametrize("stage", STAGES, ids=[stage.word for stage in STAGES])


@pytest.fixture(scope="module")
def described():
    """What dvc.yaml says of each stage."""
    stages = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
    return {word: block.get("do", block) for word, block in stages.items()}


def test_dvc_runs_the_stages_of_the_registry_in_its_order(described):
    assert list(described) == [stage.word for stage in STAGES]


@each_stage
def test_dvc_reruns_a_stage_when_its_sections_change(described, stage):
    assert tuple(described[stage.word]["params"]) == stage.sections


@each_stage
def test_a_stage_has_a_command_and_a_module_that_builds(stage):
    assert stage.word in get_command(app).commands
    assert (ROOT / f"{stage.module.replace('.', '/')}.py").is_file()
    if not stage.asks:
        module = __import__(stage.module, fromlist=["build", "run"])
        assert callable(module.build)
        assert callable(module.run)


@each_stage
def test_a_stage_writes_below_its_own_folder(described, stage):
    outs = [
        next(iter(out)) if isinstance(out, dict) else out
        for key in ("outs", "metrics", "plots")
        for out in described[stage.word].get(key, [])
    ]
    assert outs
    assert all(f"{out}/".startswith(f"artifacts/{stage.word}/") for out in outs)


@each_stage
def test_row_models_of_a_stage_are_rows(stage):
    models = stage.models(open_workspace(ROOT).parameters)
    assert all(issubclass(model, Row) for model in models)
    assert stage.makes_documents == (not models and not stage.asks)


def test_every_row_model_is_written_by_one_stage():
    named = [(stage.shapes, name) for stage in STAGES for name in (*stage.rows, *stage.published)]
    assert len(set(named)) == len(named)
    tables = {place.model.__name__ for place in places(open_workspace(ROOT).parameters)}
    every = {model.__name__ for model in Row.__subclasses__() if model.__module__[:8] == "schemas."}
    assert every - tables == {"PublishedTask", "PlannedTask"}


def test_help_lists_every_command_stages_first():
    command = get_command(app)
    listed = command.list_commands(None)
    assert sorted(listed) == sorted(command.commands)
    assert listed[: len(STAGES)] == [stage.word for stage in STAGES]


def test_a_new_command_stands_in_help_without_being_listed_anywhere():
    command = get_command(app)
    command.commands["brand-new"] = command.commands["audit"]
    assert command.list_commands(None)[-1] == "brand-new"


def stage_lists(source):
    """Literals of a module that hold several words of stages."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            parts = node.elts
        elif isinstance(node, ast.Dict):  # sections of params.yaml have dicts of their own
            values = zip(node.keys, node.values, strict=True)
            parts = [key for key, value in values if not isinstance(value, ast.Dict)]
        else:
            continue
        words = {p.value for p in parts if isinstance(p, ast.Constant) and p.value in WORDS}
        found += [sorted(words)] if len(words) >= A_LIST else []
    return found


SOURCES = sorted(
    path
    for folder in ("pipeline", "tests", "benchmarks")
    for path in ROOT.glob(f"{folder}/**/*.py")
    if path not in REGISTRIES and path not in OTHER_LISTS | {ROOT / "tests/test_registry.py"}
)


def test_no_other_module_lists_the_stages():
    found = {
        path.relative_to(ROOT).as_posix(): stage_lists(path.read_text("utf-8")) for path in SOURCES
    }
    assert {name: lists for name, lists in found.items() if lists} == {}


@pytest.mark.parametrize(
    "source",
    [
        'S = ("release", "freeze", "parse", "score")',
        'for stage in ["parse", "score", "statistics", "report"]: pass',
        'plain = {"release": 1, "parse": 2, "score": 3, "train": 4}',
        'x = {"release", "freeze", "execute", "report"}',
    ],
)
def test_a_list_of_stages_is_seen(source):
    assert stage_lists(source)


def test_the_portfolio_asks_in_one_stage():
    assert PORTFOLIO.asking.word == "execute"
    assert PORTFOLIO.stage("parse").sections == ("routes", "parse")
