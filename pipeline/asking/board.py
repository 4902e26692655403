"""What a run shows: one live table of its routes while it goes on, one line a route at its end."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import InputError, StoppedError
from pipeline.showing.view import Grid, View

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.table import Table

    from pipeline.asking.filling import Filled, Wish
    from pipeline.asking.tally import Spent, Tally

__all__ = ["filled_view", "live_board", "wanted", "watched_exit"]

_HEADINGS = ("route", "cells", "failed", "open", "cell/s", "tokens", "spent", "left", "state")
_REFRESH = 4
_ROUTE, _STATE = 13, 8
_COMPACT = 1_000_000
_MINUTE, _HOUR = 60, 3600


def wanted(routes: Mapping[str, object], slugs: Sequence[str], everything: bool) -> list[str]:
    """The routes that a command names.

    Raises
    ------
    InputError
        None is named, or some are named beside --all.
    """
    if bool(slugs) == everything:
        raise InputError(
            "names of routes, or --all",
            "both" if slugs else "neither",
            "execute",
            f"The routes are {', '.join(routes)}.",
        )
    return list(slugs) or list(routes)


@contextmanager
def live_board(tallies: Sequence[Tally]) -> Iterator[None]:
    """A table on a terminal that follows the counts, and nothing in a pipe or a log."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    begun = time.monotonic()

    def picture() -> Table:
        return _table(tallies, time.monotonic() - begun)

    with Live(get_renderable=picture, console=console, refresh_per_second=_REFRESH, transient=True):
        yield


def filled_view(filled: Sequence[Filled], wish: Wish) -> View:
    """What a run over several routes came to: this run, all runs, and failures by reason."""
    now = tuple(_row(one, _now) for one in filled)
    in_all = tuple(_row(one, _in_all) for one in filled)
    headings = ("route", "ended", "answers", "failed", "open", "attempts", "tokens", "spent")
    numbers = frozenset(range(1, 8))
    reasons = tuple(row for one in filled if one.tally for row in _reasons(one.tally))
    grids = [
        Grid("This run", headings, now, numbers),
        Grid("In all", headings, in_all, numbers),
    ]
    if reasons:
        columns = ("route", "without an answer", "this run", "in all")
        grids.append(Grid("Reasons", columns, reasons, frozenset({2, 3})))
    notes = [f"{one.slug}: {one.problem}" for one in filled if one.problem is not None]
    if wish.limit is not None:
        notes.append("A smoke run: its answers are kept, nothing is sealed, no score is made.")
    elif not notes:
        notes.append("All cells are stored; `dvc repro` seals them and goes on from there.")
    document = {
        "routes": [_document(one) for one in filled],
        "smoke": wish.limit is not None,
    }
    return View("execute", tuple(grids), tuple(notes), document)


def watched_exit(filled: Sequence[Filled]) -> int:
    """Exit code of a run over several routes: the gravest of its problems."""
    codes = [one.problem.exit_code for one in filled if one.problem is not None]
    return max(codes, default=0)


class _Counts(NamedTuple):
    """What one line of a table counts: cells by how they ended, those left, and the attempts."""

    ended: str
    stored: Counter[str]
    open: int
    sums: Spent


def _now(tally: Tally) -> _Counts:
    return _Counts(f"{tally.asked}", tally.stored, tally.parked.total(), tally.now)


def _in_all(tally: Tally) -> _Counts:
    left = tally.total - tally.done
    return _Counts(f"{tally.done}/{tally.total}", tally.in_all, left, tally.sums)


def _row(one: Filled, count: Callable[[Tally], _Counts]) -> tuple[str, ...]:
    if one.tally is None:
        return (one.slug, *("-" * 7))
    counts = count(one.tally)
    answers, sums = counts.stored["ok"], counts.sums
    return (
        one.slug,
        counts.ended,
        str(answers),
        str(counts.stored.total() - answers),
        str(counts.open),
        str(sums.attempts),
        f"{sums.prompt_tokens + sums.completion_tokens:,}",
        sums.money,
    )


def _reasons(tally: Tally) -> Iterator[tuple[str, ...]]:
    """Why cells have no answer: by outcome, and left open by their last one."""
    for name in sorted(tally.in_all.keys() - {"ok"}):
        yield tally.slug, name, str(tally.stored[name]), str(tally.in_all[name])
    for name, count in sorted(tally.parked.items()):
        yield tally.slug, f"{name}, left open", str(count), "-"


def _document(one: Filled) -> dict[str, Any]:
    tally = one.tally
    counts = None
    if tally is not None:
        counts = {
            "total": tally.total,
            "present": tally.present,
            "stored": dict(sorted(tally.stored.items())),
            "stored_in_all": dict(sorted(tally.in_all.items())),
            "left_open": dict(sorted(tally.parked.items())),
            "this_run": tally.now._asdict(),
            "attempts": tally.attempts,
            "unknown_cost": tally.unknown,
            "spent_micros": tally.spent_micros,
            "prompt_tokens": tally.prompt_tokens,
            "completion_tokens": tally.completion_tokens,
        }
    stopped = isinstance(one.problem, StoppedError)
    problem = None if one.problem is None else str(one.problem)
    return {"slug": one.slug, "counts": counts, "problem": problem, "stopped": stopped}


def _table(tallies: Sequence[Tally], seconds: float) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(_HEADINGS):
        words = place in {0, len(_HEADINGS) - 1}
        table.add_column(heading, justify="left" if words else "right", no_wrap=True)
    for tally in tallies:
        rate = tally.asked / seconds if seconds else 0.0
        left = (tally.total - tally.done) / rate if rate else None
        cells = (
            _cut(tally.slug, _ROUTE),
            f"{tally.done}/{tally.total}",
            str(tally.failed),
            str(tally.parked.total()),
            f"{rate:.1f}",
            _compact(tally.prompt_tokens + tally.completion_tokens),
            tally.spent,
            "-" if left is None else _duration(left),
            _cut(tally.state, _STATE),
        )
        table.add_row(*map(Text, cells))
    return table


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _compact(number: int) -> str:
    return f"{number / _COMPACT:.1f}M" if number >= _COMPACT else f"{number:,}"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE}:{whole % _MINUTE:02}"
    return f"{whole // _HOUR}:{whole % _HOUR // _MINUTE:02}:{whole % _MINUTE:02}"
