"""The pages say what is so: their output is that of a run, and what they cite is here."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.pages import PAGES, blocks, unseen
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Lab

SOURCES = sorted(
    path
    for folder in ("pipeline", "schemas", "benchmarks", "examples", "tests")
    for path in (ROOT / folder).rglob("*.py")
)
_ELSEWHERE = re.compile(
    r"\b(?:portfolio\s+spec|(?:spec|specification|design)\s*,?\s+(?:section\s+)?\d)", re.IGNORECASE
)
_CITED = re.compile(r"\bdocs/[\w/-]+\.md\b")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pytest.mark.parametrize(
    ("page", "command"),
    [
        ("README.md", "flavourbench leaderboard"),
        ("README.md", "flavourbench audit 470c7cbda8a6"),
        ("README.md", "flavourbench diff starter@1 starter@2"),
        ("docs/audit.md", "flavourbench audit 470c7cbda8a6"),
        ("docs/audit.md", "flavourbench tasks show a1c30c71"),
        ("docs/releases.md", "flavourbench diff starter@1 starter@2"),
    ],
)
def test_a_page_shows_what_a_fresh_run_shows(starter_run: Lab, page: str, command: str) -> None:
    done = starter_run.run(*shlex.split(command))
    assert done.returncode == 0, done.stderr
    assert unseen(page, command, done.stdout) == []


def test_a_line_that_a_run_does_not_show_is_seen() -> None:
    shown = next(text for _, text in blocks("README.md") if "$ flavourbench leaderboard" in text)
    output = shown.split("\n", 1)[1]
    assert unseen("README.md", "flavourbench leaderboard", output) == []
    wrong = output.replace("84.6", "84.7")
    assert unseen("README.md", "flavourbench leaderboard", wrong)


def test_the_readme_has_at_most_250_lines() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 250


@each_page
def test_a_page_links_to_what_is_here(page: Path) -> None:
    links = _LINK.findall(page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    links = {
        (ROOT / link).resolve() for link in _LINK.findall((ROOT / "README.md").read_text("utf-8"))
    }
    assert set(PAGES) - links == {ROOT / "README.md"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_code_cites_is_in_the_repository(path: Path) -> None:
    text = path.read_text("utf-8")
    if path.name != "test_docs.py":
        assert _ELSEWHERE.findall(text) == []
        assert [cited for cited in _CITED.findall(text) if not (ROOT / cited).is_file()] == []


@pytest.mark.parametrize(
    "text",
    ["(spec 3)", "(spec 3a)", "design 4", "spec, section 5", "portfolio spec", "Design 4, 6"],
)
def test_a_citation_of_what_is_elsewhere_is_seen(text: str) -> None:
    assert _ELSEWHERE.search(text)


def test_citations_on_record_are_free() -> None:
    for text in ("RFC 9110, 10.2.3", "Westfall and Young 1993", "decision 056", "docs/core.md"):
        assert _ELSEWHERE.search(text) is None
