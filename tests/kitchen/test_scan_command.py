"""`flavourbench kitchen scan`: one object a text, plain words, one line for a mistake."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from schemas.kitchen import FLAGS
from tests.shared import ROOT


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "pipeline", "kitchen", "scan", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_texts_and_lines_give_one_object_each(tmp_path):
    path = tmp_path / "menu.txt"
    path.write_bytes("\ufeffcr\u0065\u0300me br\u00fbl\u00e9e\r\n\n  \nplain rice\n".encode())
    done = run("sausages", "--file", str(path), "--json")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [document["text"] for document in found] == [
        "sausages", "cre\u0300me br\u00fbl\u00e9e", "plain rice"
    ]  # fmt: skip
    assert [document["pork"] for document in found] == ["needs_label", "clear", "clear"]
    assert [document["lactose"] for document in found] == ["clear", "flag", "clear"]
    assert all(set(FLAGS) <= set(document) for document in found)
    span = next(s for s in found[1]["spans"] if s["flag"] == "lactose")
    assert span["text"] == found[1]["text"][span["start"] : span["end"]] == found[1]["text"]
    assert found[2]["rules"]["gluten"] == "none found"


def test_people_read_words_and_no_promise():
    done = run("plain rice", "beef stock cube")
    assert done.returncode == 0
    assert "none found" in done.stdout
    assert "safe" not in done.stdout.lower()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a text, or --file"),
        (["  "], "blank"),
        (["x" * 2_001], "2,001"),
        (["--file", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_a_mistake_is_one_line(arguments, said):
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_line_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "menu.txt"
    path.write_bytes(b"rice\n\xff\xfe\n")
    done = run("--file", str(path), "--json")
    assert done.returncode == 2
    assert "line 2" in done.stderr
