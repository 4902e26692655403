"""A folder that appears complete or not at all."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["appearing", "refuse_existing"]


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """A folder beside `target` that takes its name when the block ends well.

    Raises
    ------
    InputError
        The target is there already.
    InputError
        The disk is full or the place cannot be written; nothing stays.
    """
    refuse_existing(target)
    staging = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        staging.mkdir(parents=True)
        yield staging
        staging.rename(target)
    except OSError as problem:
        raise InputError(
            "a writable place with room",
            problem.strerror or str(problem),
            str(target),
            "Nothing was written; make room and run again.",
        ) from problem
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def refuse_existing(target: Path) -> None:
    """Raise `InputError` where something has the name already."""
    if target.exists() or target.is_symlink():
        raise InputError(
            "a folder that is not there yet", "one that is", str(target), "Name another or move it."
        )
