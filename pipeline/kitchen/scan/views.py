"""What `kitchen scan` reads and shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.errors import InputError
from pipeline.files import read_lines
from pipeline.kitchen.scan.scanner import NONE_FOUND, Answer, scan_all, to_document
from pipeline.showing.view import Grid, View
from schemas.kitchen import FLAGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipeline.kitchen.scan.scanner import Scan

__all__ = ["LIMIT", "lines_of", "scan_view"]

LIMIT = 2_000
"""The most code points of one text."""

_BYTES = 4 * LIMIT


def lines_of(texts: Sequence[str], file: Path | None) -> Iterator[str]:
    """Texts to scan: those given, then the lines of a file that are not blank.

    Raises
    ------
    InputError
        A text given is blank, too long, or no Unicode.
    InputError
        The file is unsafe, or a line of it is too long or no UTF-8; names the line.
    """
    for number, text in enumerate(texts, start=1):
        where = f"kitchen scan, text {number}"
        if not text.strip() or len(text) > LIMIT or not _is_unicode(text):
            found = f"{len(text):,} characters" if text.strip() else "a blank text"
            expected = f"1 to {LIMIT:,} characters of Unicode"
            raise InputError(expected, found, where, "Use --file for longer lists.")
        yield text
    if file is None:
        return
    for number, line in enumerate(read_lines(file, _BYTES, InputError), start=1):
        where = f"{file}, line {number}"
        try:
            text = line.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as problem:
            found = f"byte {problem.start}: {problem.reason}"
            raise InputError("UTF-8", found, where, "Save the file as UTF-8.") from problem
        if len(text) > LIMIT:
            expected = f"at most {LIMIT:,} characters"
            raise InputError(expected, f"{len(text):,}", where, "Split the line.")
        if text.strip():
            yield text


def scan_view(texts: Sequence[str]) -> View:
    """Texts by flags, with the words that decided."""
    documents = [to_document(text) for text in texts]
    rows = tuple((text, *map(_cell, scan_all(text))) for text in texts)
    grid = Grid("", ("text", *FLAGS), rows, frozenset())
    notes = (
        f"`{NONE_FOUND}`: no such word is in the text; what it does not name, no scan finds.",
        "`read the label`: products of this name differ from brand to brand.",
    )
    return View("Allergens by name", (grid,), notes, {"texts": documents})


def _cell(found: Scan) -> str:
    deciding = [span.term for span in found.spans if span.verdict is found.verdict]
    if found.verdict is Answer.CLEAR:
        return f"{NONE_FOUND} ({found.rule}: {deciding[0]})" if deciding else NONE_FOUND
    said = "contains" if found.verdict is Answer.FLAG else "read the label"
    return f"{said}: {', '.join(dict.fromkeys(deciding))}"


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
