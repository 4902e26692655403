"""`flavourbench kitchen scan`: what a cook asks of a text."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003  # typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import Json, show

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["scan"]


def scan(
    texts: Annotated[
        list[str] | None, typer.Argument(help="What to scan: a dish, an ingredient, a label.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Scan the lines of a text file as well.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say for each text which flags it carries; with --json one object a text.

    A scan finds names. That it finds none proves nothing about a dish.
    """
    from pipeline.errors import InputError
    from pipeline.kitchen.scan import to_document
    from pipeline.kitchen.scan.views import lines_of, scan_view

    if not texts and file is None:
        raise InputError("a text, or --file", "neither", "kitchen scan", "Name what to scan.")
    found: Iterator[str] = lines_of(texts or [], file)
    if not as_json:
        show(scan_view(list(found)), as_json)
        return
    for text in found:
        typer.echo(json.dumps(to_document(text), ensure_ascii=False))
