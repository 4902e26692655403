"""A stage depends on the code that it runs, all of it: `dvc.yaml` says what imports say."""

from __future__ import annotations

import pytest

from tests.imports import closure, code_deps, entries, file_of, with_deps
from tests.shared import ROOT

ENTRIES = entries()


def test_stages_depend_on_what_they_import():
    """Where this fails, `python -m tests.imports` writes what is expected."""
    text = (ROOT / "dvc.yaml").read_text("utf-8")
    assert text == with_deps(text, ENTRIES)


def test_every_stage_has_an_entry():
    stages = {path.relative_to(ROOT) for path in ROOT.glob("pipeline/**/stage.py")}
    assert {file_of(entry).relative_to(ROOT) for entry in ENTRIES.values()} == stages


@pytest.mark.parametrize("stage", ENTRIES)
def test_what_every_stage_stands_on_is_among_its_modules(stage):
    ground = {"errors", "files", "identity", "links", "parquet", "tables", "workspace", "yaml"}
    assert closure(ENTRIES[stage]) >= {
        "pipeline",
        "schemas.record",
        *(f"pipeline.{g}" for g in ground),
    }


def test_no_edit_of_the_parser_or_the_report_asks_a_model():
    deps = code_deps(ENTRIES["execute"])
    rooms = {dep.split("/")[1].removesuffix(".py") for dep in deps if dep.startswith("pipeline/")}
    assert "execute" in rooms
    assert rooms.isdisjoint(ENTRIES.keys() - {"execute"} | {"audit", "compare", "exchange", "cli"})


@pytest.fixture
def project(tmp_path):
    """A room that runs as a whole, one that runs in part, and one that does not."""
    files = {
        "pipeline/__init__.py": "",
        "pipeline/ground.py": "",
        "pipeline/late.py": "from pipeline.part import used",
        "pipeline/shape.py": "",
        "pipeline/cli/__init__.py": "import pipeline.unused",
        "pipeline/a/__init__.py": "from pipeline import ground",
        "pipeline/a/stage.py": (
            "from typing import TYPE_CHECKING\nfrom . import other\nimport pipeline.cli\n"
            "if TYPE_CHECKING:\n    from pipeline.shape import Shape\n"
            "def run():\n    import pipeline.late\n"
        ),
        "pipeline/a/other.py": "from schemas.row import Row",
        "pipeline/a/page/style.css": "",
        "pipeline/part/__init__.py": "",
        "pipeline/part/used.py": "",
        "pipeline/part/unused.py": "",
        "pipeline/part/data.csv": "",
        "pipeline/unused/__init__.py": "",
        "schemas/__init__.py": "",
        "schemas/row.py": "import json",
        "schemas/unused.py": "",
        "dvc.yaml": "stages:\n  a:\n    deps:\n      - x\n      - pipeline/old.py\n    outs: [y]\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


EXPECTED = [
    "pipeline/__init__.py",
    "pipeline/a",
    "pipeline/ground.py",
    "pipeline/late.py",
    "pipeline/part/__init__.py",
    "pipeline/part/data.csv",
    "pipeline/part/used.py",
    "schemas/__init__.py",
    "schemas/row.py",
]


def test_imports_in_functions_packages_and_data_beside_them_count(project):
    assert code_deps("pipeline.a.stage", project) == EXPECTED


def test_code_is_written_behind_what_a_stage_reads(project):
    text = with_deps((project / "dvc.yaml").read_text("utf-8"), {"a": "pipeline.a.stage"}, project)
    code = "".join(f"      - {dep}\n" for dep in EXPECTED)
    assert text == f"stages:\n  a:\n    deps:\n      - x\n{code}    outs: [y]\n"
