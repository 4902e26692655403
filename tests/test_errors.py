import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from pipeline import errors
from pipeline.errors import (
    Cause,
    ExecuteError,
    FlavourbenchError,
    InputError,
    ProofError,
    ProviderError,
    StoppedError,
    wrong_field,
)
from pipeline.files import parse_json, read_bytes
from tests.shared import ROOT

TREE = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]


def test_the_message_says_where_what_was_expected_what_was_found_and_what_to_do():
    error = FlavourbenchError("a whole number", "'x'", "tags.csv, row 3, nova", "Mend the file.")
    assert str(error) == (
        "tags.csv, row 3, nova: expected a whole number, found 'x'. Mend the file."
    )
    assert (error.expected, error.found) == ("a whole number", "'x'")
    assert (error.where, error.remedy) == ("tags.csv, row 3, nova", "Mend the file.")


def test_a_message_without_a_remedy_ends_with_what_was_found():
    assert str(FlavourbenchError("a", "b", "c", "")) == "c: expected a, found b."


@pytest.mark.parametrize("part", ["expected", "found", "where", "remedy"])
@pytest.mark.parametrize(
    "hostile",
    ["two\nlines", "\x1b[31mred", "\r", "a\x00b", "\u202edrow", "\u2028", "\ud800", "\x9b"],
)
def test_a_hostile_text_stays_one_printable_line(part, hostile):
    parts = dict.fromkeys(("expected", "found", "where", "remedy"), "fine") | {part: hostile}
    said = str(FlavourbenchError(**parts))
    assert said.isprintable()
    assert len(said.splitlines()) == 1
    for character in hostile:
        if not character.isprintable():
            assert f"\\u{ord(character):04x}" in said


def test_letters_of_all_languages_stay_as_they_are():
    said = str(FlavourbenchError("a name", "jalapeño, 味噌, 🌶", "params.yaml", ""))
    assert "jalapeño, 味噌, 🌶" in said


def test_what_was_found_is_shortened_at_its_end():
    error = FlavourbenchError("a", "x" * 300, "c", "")
    assert error.found == "x" * 200 + "…"
    assert FlavourbenchError("a", "x" * 200, "c", "").found == "x" * 200


def test_a_long_place_keeps_its_row_and_field():
    error = FlavourbenchError("a", "b", "/folder" * 100 + "/tags.csv, row 3, nova", "")
    assert error.where.startswith("…")
    assert error.where.endswith("/tags.csv, row 3, nova")
    assert len(error.where) == 301


def test_a_huge_text_is_not_worked_through():
    """Only what is shown is looked at: the rest never passes the filter."""
    error = FlavourbenchError("a", "x" * 200 + "\n" * 1000, "c", "")
    assert "\\u000a" not in error.found


@pytest.mark.parametrize("error", TREE)
def test_every_error_has_the_root_of_the_tree(error):
    assert issubclass(error, FlavourbenchError)
    assert not issubclass(error, ValueError | OSError)


@pytest.mark.parametrize("error", TREE)
def test_checks_exit_with_1_providers_and_stops_with_3_and_all_else_with_2(error):
    codes = {ProofError: 1, ProviderError: 3, StoppedError: 3}
    assert error.exit_code == codes.get(error, 2)


def test_a_stop_says_how_many_cells_are_stored():
    error = StoppedError(3, 120)
    assert isinstance(error, ExecuteError)
    assert str(error) == (
        "execute: expected 120 cells, found a stop after 3. Run the same command to go on."
    )


def test_the_tree_is_drawn_as_it_is():
    drawn = re.findall(r"^\s*([│ ├└─]*)(\w+Error)\b", errors.__doc__, re.MULTILINE)
    parents, found = {}, {}
    for branch, name in drawn:
        depth = len(branch) // 4
        parents[depth] = name
        found[name] = parents.get(depth - 1)
    assert found == {
        error.__name__: None if error is FlavourbenchError else error.__base__.__name__
        for error in TREE
    }


def test_every_error_is_in_the_tree_and_in_all():
    classes = [n.name for n in ast.parse(inspect.getsource(errors)).body if type(n) is ast.ClassDef]
    errors_here = [name for name in classes if name.endswith("Error")]
    assert sorted(errors_here) == sorted(error.__name__ for error in TREE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["freeze"], "params.yaml: expected a regular, readable file, found No such file"),
        (["release", "info"], "params.yaml: expected a regular, readable file"),
        (["leaderboard"], "params.yaml: expected a regular, readable file"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(tmp_path, arguments, said):
    run = subprocess.run(
        [sys.executable, "-m", "pipeline", *arguments, "--workspace", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("flavourbench: ")
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1


GONE = re.compile(r"(?<!BEFORE )\b(?:remov|delet|eras|discard|rm\b|throw)", re.IGNORECASE)
KEPT = re.compile(r"\b(?:file|ledger|table|answers|artifacts|sqlite|parquet)", re.IGNORECASE)


def told():
    """Every text that a person can be told: strings of the code, paragraphs of the README."""
    root = Path(errors.__file__).parents[1]
    for path in sorted((root / "pipeline").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if text and id(node) not in silent:  # docstrings
                yield f"{path.name}, line {node.lineno}", node.value
    for text in re.split(r"(?<=[.:])\s", (root / "README.md").read_text(encoding="utf-8")):
        yield "README.md", text


def test_nobody_is_told_to_remove_what_may_hold_answers():
    assert [where for where, text in told() if GONE.search(text) and KEPT.search(text)] == []


# A model's first fault


class _Inner(BaseModel):
    size: int


class _Outer(BaseModel):
    parts: list[_Inner] = []

    @model_validator(mode="after")
    def _has_parts(self):
        if not self.parts:
            raise ValueError("no parts")
        return self


@pytest.mark.parametrize(
    ("document", "whole", "wrong"),
    [
        ({"parts": [{"size": 1}, {"size": "x"}]}, "line",
         ("parts.1.size", "Input should be a valid integer, unable to parse string as an integer",
          "'x'")),
        ({"parts": [{}, {"size": "x"}]}, "line", ("parts.0.size", "Field required", "{}")),
        ({}, "line", ("line", "Value error, no parts", "{}")),
        ({}, None, ("all fields", "Value error, no parts", "{}")),
    ],
)  # fmt: skip
def test_the_first_wrong_field_is_named_and_a_whole_document_has_a_name_of_its_own(
    document, whole, wrong
):
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate(document)
    assert wrong_field(caught.value, *([whole] if whole else [])) == wrong


def test_the_first_fault_of_a_model_is_told_in_one_place():
    taken = re.compile(r"\.errors\([^)]*\)\[0\]")
    found = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("pipeline/**/*.py")
        if taken.search(path.read_text("utf-8"))
    ]
    assert found == ["pipeline/errors.py"]


# Code never decides by words


WORDS = {"expected", "found", "where", "remedy"}


def decisions_by_words(source):
    """Comparisons and searches in the words of an error."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            searching = node.func.attr in {"startswith", "endswith", "find", "fullmatch", "match"}
            parts = [node.func.value, *node.args] if searching else []
        else:
            continue
        found += [
            ast.unparse(node)
            for part in parts
            if (isinstance(part, ast.Attribute) and part.attr in WORDS)
            and isinstance(part.value, ast.Name)
            and part.value.id in {"problem", "error", "refused", "caught", "reason"}
        ]
        found += [
            ast.unparse(node)
            for part in parts
            if ast.unparse(part) in {"str(problem)", "str(error)", "str(refused)"}
        ]
    return found


@pytest.mark.parametrize(
    "source",
    [
        "if problem.expected in {'JSON'}: pass",
        "gone = problem.found == 'no such file'",
        "if str(problem).startswith('x'): pass",
        "x = 'no such' in str(error)",
        "re.match('x', problem.where)",
    ],
)
def test_a_decision_by_words_is_seen(source):
    assert decisions_by_words(source)


def test_no_code_decides_by_the_words_of_an_error():
    sources = [*ROOT.glob("pipeline/**/*.py"), *ROOT.glob("benchmarks/*.py")]
    found = {path.name: decisions_by_words(path.read_text("utf-8")) for path in sources}
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"<html>", Cause.NO_JSON),
        (b"\xff", Cause.NO_JSON),
        (b'{"a": 1, "a": 2}', Cause.INVALID),
        (b"[" * 100 + b"]" * 100, Cause.INVALID),
    ],
)
def test_what_is_no_json_is_told_from_json_that_is_refused(data, cause):
    with pytest.raises(InputError) as caught:
        parse_json(data, "body", InputError)
    assert caught.value.cause is cause


def test_a_missing_file_is_told_from_one_that_is_unsafe(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    for name, cause in (("none", Cause.MISSING), ("link", Cause.INVALID), ("", Cause.INVALID)):
        with pytest.raises(InputError) as caught:
            read_bytes(tmp_path / name, 10, InputError)
        assert caught.value.cause is cause
