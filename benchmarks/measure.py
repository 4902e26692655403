"""Races of our code against a plain version, each in a process of its own for its peak memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Race", "Result", "main"]

Prepared = TypeVar("Prepared")


class Result(NamedTuple):
    """What one version took.

    Attributes
    ----------
    seconds
        Best of the repeats.
    peak_mb, added_mb
        Largest resident size of the process, and what of it came after preparation.
    evidence
        What the version computed, as text that both versions must share; empty where they draw
        differently.
    """

    seconds: float
    peak_mb: float
    added_mb: float
    evidence: str


class Race(NamedTuple):
    """What is raced: a title, what both versions work on, and the versions by name.

    The first version is the one that the others are measured against.
    """

    module: str
    title: str
    prepare: Callable[[], object]
    versions: dict[str, Callable[[object], str]]
    repeats: int = 1


def main(race: Race) -> None:
    """Run one version if the command line names it, else all, and print how they compare."""
    if len(sys.argv) > 1:
        print(json.dumps(_run(race, sys.argv[1])._asdict()))
        return
    results = {name: _run_apart(race, name) for name in race.versions}
    assert len({result.evidence for result in results.values()}) == 1, "the versions disagree"
    plain = next(iter(results.values()))
    print(race.title)
    print(f"{'version':<8} {'seconds':>8} {'ratio':>7} {'peak MB':>8} {'added MB':>9}")
    for name, result in results.items():
        ratio = plain.seconds / result.seconds
        print(
            f"{name:<8} {result.seconds:>8.2f} {ratio:>6.1f}x "
            f"{result.peak_mb:>8.0f} {result.added_mb:>9.0f}"
        )


def _run(race: Race, name: str) -> Result:
    prepared = race.prepare()
    before = _peak_mb()
    seconds, evidence = [], ""
    for _ in range(race.repeats):
        start = time.perf_counter()
        evidence = race.versions[name](prepared)
        seconds.append(time.perf_counter() - start)
    peak = _peak_mb()
    return Result(min(seconds), peak, peak - before, evidence)


def _run_apart(race: Race, name: str) -> Result:
    command = [sys.executable, "-m", race.module, name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Result(**json.loads(done.stdout))


def _peak_mb() -> float:
    """Largest resident size so far; the kernel counts kilobytes, but bytes on macOS."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
