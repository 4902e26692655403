"""A picture's differences are told as pixels."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from pipeline.audit.pictures import compare_pictures
from pipeline.audit.verify import _document


def png(*dots: tuple[int, int], size: tuple[int, int] = (40, 30), level: int = 6) -> bytes:
    picture = Image.new("RGBA", size, (255, 255, 254, 255))
    for dot in dots:
        picture.putpixel(dot, (255, 255, 255, 255))
    data = io.BytesIO()
    picture.save(data, "PNG", compress_level=level)
    return data.getvalue()


def said(stored: bytes, derived: bytes | None = None) -> str:
    (found,) = compare_pictures("x.png", png() if derived is None else derived, stored)
    return str(found)


def test_equal_bytes_have_no_difference() -> None:
    assert compare_pictures("x.png", png(), png()) == []


@pytest.mark.parametrize(
    ("dots", "words"),
    [
        ([(7, 3)], "1 of 1,200 pixels that differ, first at (7, 3)"),
        ([(9, 2), (1, 5), (30, 2)], "3 of 1,200 pixels that differ, first at (9, 2)"),
        ([(39, 29)], "1 of 1,200 pixels that differ, first at (39, 29)"),
    ],
)
def test_pixels_are_counted_and_the_first_is_named(dots: list[tuple[int, int]], words: str) -> None:
    assert words in said(png(*dots))


def test_transparency_alone_is_a_difference() -> None:
    clear = io.BytesIO()
    Image.new("RGBA", (40, 30), (255, 255, 254, 254)).save(clear, "PNG")
    assert "1,200 of 1,200 pixels" in said(clear.getvalue())


def test_an_equal_picture_in_other_bytes_says_so() -> None:
    assert "every pixel is equal" in said(png(level=0))


def test_another_size_is_told_as_a_size() -> None:
    assert "expected 40 by 30 pixels, found 40 by 31 pixels" in said(png(size=(40, 31)))


def _bomb() -> bytes:
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)
    chunk = b"IHDR" + head
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"text",
        png()[:60],
        png()[:-30],
        png()[:45] + b"\0" * 30,
        _bomb(),
        b"GIF89a" + b"\0" * 99,
    ],
)
def test_what_is_no_picture_is_told_and_not_drawn(stored: bytes) -> None:
    assert "that are none" in said(stored)


def test_verify_tells_pictures_as_pixels_and_texts_as_lines(tmp_path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(png((7, 3)))
    (found,) = _document("x.png", path, png())
    assert "first at (7, 3)" in found.found
    text = tmp_path / "x.md"
    text.write_bytes(b"a\nc\n")
    (found,) = _document("x.md", text, b"a\nb\n")
    assert found.where == "x.md, line 2"
