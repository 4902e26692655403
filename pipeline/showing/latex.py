"""Tables as LaTeX; text cannot leave its cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipeline.showing.terminal import visible

if TYPE_CHECKING:
    from pipeline.showing.view import Grid

__all__ = ["latex_table", "latex_text"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "-": "{-}",
    "†": r"\dag{}",
    "…": r"\ldots{}",
}
_PLAIN = re.compile(r"[ !(-,./0-9:;=?@A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff*+]")


def latex_table(grid: Grid) -> str:
    """A `tabular` for the package booktabs; text cannot leave its cell."""
    columns = "".join("r" if i in grid.numeric else "l" for i in range(len(grid.headings)))
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in (grid.headings, *grid.rows)]
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{columns}}}",
            r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}", "",
        ]
    )  # fmt: skip


def latex_text(text: str) -> str:
    """Text that LaTeX sets as it is; what its usual fonts lack stands as `U+` and a number."""
    return "".join(_latex_character(character) for character in visible(text))


def _latex_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    return character if _PLAIN.fullmatch(character) else f"{{[}}U+{ord(character):04X}{{]}}"
