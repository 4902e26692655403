"""Races against a plain version, and curves; each measured in a process of its own, for its peak.

`python -m benchmarks.NAME` races; with `--scale` it draws the curve, where there is one.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Curve", "Race", "Result", "main", "peak_mb"]

_SCALE = "--scale"

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


class Curve(NamedTuple):
    """How our version grows: it prepares and runs each size.

    `work` is what the arithmetic says a size costs, in any unit, and `bound` says it in words.
    """

    title: str
    unit: str
    bound: str
    sizes: Sequence[int]
    prepare: Callable[[int], object]
    run: Callable[[object], object]
    work: Callable[[int], float] = float
    repeats: int = 3


def main(race: Race, curve: Curve | None = None) -> None:
    """Do what the command line says: one version, the curve or one size of it, else the race."""
    words = sys.argv[1:]
    if not words:
        _race(race)
    elif words[0] != _SCALE:
        print(json.dumps(_run(race, words[0])._asdict()))
    elif curve is None:
        raise SystemExit(f"{race.module} has no curve")
    elif len(words) == 1:
        _print_curve(race.module, curve)
    else:
        prepare = partial(_warm, curve, int(words[1]))
        one = Race(race.module, "", prepare, {"ours": _silent(curve.run)}, curve.repeats)
        print(json.dumps(_run(one, "ours")._asdict()))


def _race(race: Race) -> None:
    """Run all versions and print how they compare."""
    results = {name: _run_apart(race.module, name) for name in race.versions}
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


def _print_curve(module: str, curve: Curve) -> None:
    """A line a size; the last column is the time per unit of work, the first size's being 1."""
    print(f"{curve.title}; bound: {curve.bound}")
    print(f"{curve.unit:>12} {'seconds':>8} {'peak MB':>8} {'added MB':>9} {'/ bound':>8}")
    first = 0.0
    for size in curve.sizes:
        result = _run_apart(module, _SCALE, str(size))
        each = result.seconds / curve.work(size)
        first = first or each
        print(
            f"{size:>12,} {result.seconds:>8.2f} {result.peak_mb:>8.0f} "
            f"{result.added_mb:>9.0f} {each / first:>8.2f}",
            flush=True,
        )


def _warm(curve: Curve, size: int) -> object:
    """What to work on, after a run of the smallest size, so that no import is timed."""
    curve.run(curve.prepare(curve.sizes[0]))
    return curve.prepare(size)


def _silent(run: Callable[[object], object]) -> Callable[[object], str]:
    """A version without evidence."""

    def version(prepared: object) -> str:
        run(prepared)
        return ""

    return version


def _run(race: Race, name: str) -> Result:
    prepared = race.prepare()
    before = peak_mb()
    seconds, evidence = [], ""
    for _ in range(race.repeats):
        start = time.perf_counter()
        evidence = race.versions[name](prepared)
        seconds.append(time.perf_counter() - start)
    peak = peak_mb()
    return Result(min(seconds), peak, peak - before, evidence)


def _run_apart(module: str, *words: str) -> Result:
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Result(**json.loads(done.stdout))


def peak_mb() -> float:
    """Largest resident size so far; the kernel counts kilobytes, but bytes on macOS."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
