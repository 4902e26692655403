"""The project's pages: what they show of a command, and what the command shows."""

from __future__ import annotations

import re

from tests.shared import ROOT

__all__ = ["PAGES", "blocks", "unseen"]

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GAP = "…"


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of every block of code in a page."""
    return _BLOCK.findall((ROOT / page).read_text("utf-8"))


def unseen(page: str, command: str, output: str) -> list[str]:
    """Lines that a page shows under `$ command` and the output does not hold, in order.

    A line of `…` alone stands for any number of lines; else one line follows the other.
    """
    prompt = f"$ {command}\n"
    shown = next(text for _, text in blocks(page) if prompt in text).split(prompt)[1]
    lines = [line.rstrip() for line in output.splitlines()]
    text = "\n".join(["", *lines, ""])
    missing = []
    for part in re.split(
        rf"^\s*{_GAP}$", re.split(r"^\$ ", shown, flags=re.MULTILINE)[0], flags=re.MULTILINE
    ):
        wanted = "\n".join(line.rstrip() for line in part.strip("\n").splitlines())
        at = text.find(f"\n{wanted}\n") if wanted else 0
        if at < 0:
            missing.append(wanted)
        else:
            text = text[at + len(wanted) + 1 :] if wanted else text
    return missing
