"""The charts' own font, under a name that no font of the machine can bear.

The renderer looks through the machine's fonts first and takes the first of a family's name, and
where a font lacks a character it takes any font that has it. So the font here is given to it under
a family name drawn anew for each process, and `settable` leaves no character that the font lacks.
The glyphs are a part of Liberation Sans 2.00.1, under the SIL Open Font License; see `typeface/`.
"""

from __future__ import annotations

import atexit
import re
import secrets
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

__all__ = ["own_family", "sets", "settable"]

_HAS = (
    " -~\u00a0-\u024f\u0374\u0375\u037a-\u037e\u0384-\u03ce\u03d0-\u03ff\u0400-\u045f"
    "\u2012-\u2022\u2026\u2212"
)
"""What the font has, of printable characters."""

_LACKS = re.compile(f"[^{_HAS}]")
_PLACEHOLDER = "FlavourBench-0000000000000000"
_STYLES = ("regular.ttf", "bold.ttf")


def sets(text: str) -> bool:
    """Whether the font has every character of a text."""
    return all(character.isprintable() for character in text) and not _LACKS.search(text)


def settable(value: Any) -> Any:
    r"""A chart's specification in which no text holds a character that the font lacks.

    Such a character gives way to `\u` and its number.
    """
    if isinstance(value, str):
        return (
            value if sets(value) else "".join(c if sets(c) else f"\\u{ord(c):04x}" for c in value)
        )
    if isinstance(value, dict):
        return {settable(key): settable(item) for key, item in value.items()}
    return [settable(item) for item in value] if isinstance(value, list) else value


@cache
def own_family() -> str:
    """The family under which the renderer knows the font in this process, and no other font."""
    import vl_convert

    folder = tempfile.TemporaryDirectory(prefix="flavourbench-")
    atexit.register(folder.cleanup)  # the renderer reads the files when it draws
    family = _PLACEHOLDER[:-16] + secrets.token_hex(8)
    for style in _STYLES:
        data = (resources.files("pipeline.showing") / "typeface" / style).read_bytes()
        renamed = data.replace(_PLACEHOLDER.encode("utf-16-be"), family.encode("utf-16-be"))
        (Path(folder.name) / style).write_bytes(renamed)
    vl_convert.register_font_directory(folder.name)
    return family
