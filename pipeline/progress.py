"""Progress of long work on standard error, with the time left; nothing where no one watches."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Progress", "progress_bar", "silent"]


class Progress(Protocol):
    """Called with what is done and what there is to do, in the same unit."""

    def __call__(self, done: int, total: int) -> None:
        """Take note."""


def silent(done: int, total: int) -> None:
    """Take no note."""


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar with the time left on a terminal, and nothing in a pipe or a log."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def note(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield note
