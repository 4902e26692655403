"""Pictures compared by what they show: pixels, then bytes."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from pipeline.audit.differences import Difference

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["compare_pictures"]

_LONGEST_SIDE = 20_000


def compare_pictures(file: str, derived: bytes, stored: bytes) -> list[Difference]:
    """How many pixels of a stored PNG differ from the one drawn again, and where the first is.

    Parameters
    ----------
    file
        What the stored picture's file is called.
    derived, stored
        The pictures as PNG; the stored one may be anything.
    """
    if derived == stored:
        return []
    ours, theirs = _read(derived), _read(stored)
    if ours is None or theirs is None:
        return [Difference(file, "a PNG picture", f"{len(stored):,} bytes that are none")]
    if ours.size != theirs.size:
        return [Difference(file, _size(ours), _size(theirs))]
    from PIL import ImageChops

    bands = ImageChops.difference(ours, theirs).split()
    differs = bands[0]
    for band in bands[1:]:
        differs = ImageChops.lighter(differs, band)
    width, height = ours.size
    count = width * height - differs.histogram()[0]
    if not count:
        said = f"{len(stored):,} bytes, other ones; every pixel is equal"
        return [Difference(file, f"{len(derived):,} bytes", said)]
    _, top, _, _ = differs.getbbox() or (0, 0, 0, 0)
    left, _, _, _ = differs.crop((0, top, width, top + 1)).getbbox() or (0, 0, 0, 0)
    said = f"{count:,} of {width * height:,} pixels that differ, first at ({left}, {top})"
    return [Difference(file, "the picture drawn again", said)]


def _read(data: bytes) -> Image | None:
    """A picture with all four channels; none where the bytes are no PNG of a sane size."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            picture = Image.open(io.BytesIO(data), formats=["PNG"])
            if max(picture.size) > _LONGEST_SIDE:
                return None
            return picture.convert("RGBA")
    except (OSError, SyntaxError, ValueError, Warning, Image.DecompressionBombError):
        return None


def _size(picture: Image) -> str:
    width, height = picture.size
    return f"{width} by {height} pixels"
