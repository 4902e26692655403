"""README is short, and what it points to is there."""

from __future__ import annotations

import re

import pytest

from tests.shared import ROOT

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
LINES = 250


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= LINES


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)\)", page.read_text("utf-8"))
    here = [target for target in targets if "://" not in target]
    assert [target for target in here if not (page.parent / target).exists()] == []


def test_every_page_is_reached_from_the_readme():
    text = (ROOT / "README.md").read_text("utf-8")
    pages = [path.name for path in ROOT.glob("docs/*.md")]
    assert [name for name in pages if f"docs/{name}" not in text] == []
