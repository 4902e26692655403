"""Whether inference keeps its word: benchmarks with known truth (`make calibrate`).

Tasks are drawn, with replacement, from the real score maps of the starter release; routes answer
by chance with weights that are whole numbers, so each one's true score over all tasks is an exact
fraction. For M routes on T tasks, each contract is asked what it asks of real answers, and the
answer is compared with the truth:

* ``equal``: all routes are the same policy. Any resolved pair is an error.
* ``some``: half of the routes have one true score, by two policies of different spread; the others
  stand apart from them. A resolved pair of equals, or one resolved the wrong way, is an error.
* ``close``: true scores a small step apart. Bands and rank sets are checked, pairs are resolved.
* ``guess``: all routes guess but the last, which knows the best answer of one task in ten.

Signs are many enough for Holm's smallest p wherever a usual number of them is.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.worlds import SCENARIOS, field, sample_benchmark, world
from pipeline.inference.attainable import band_possible
from pipeline.inference.bands import Studentizer, studentized_band
from pipeline.inference.bootstrap import rank_intervals, resampled_scores, score_spread
from pipeline.inference.exact import common_weights
from pipeline.inference.fans import chance_fans, fan_rows, pair_fans
from pipeline.inference.flips import cluster_sums, flip_counts
from pipeline.inference.guessers import against_guessers, guesser_scores
from pipeline.inference.multiplicity import holm, resolved
from pipeline.inference.panels import shared_ranks
from pipeline.inference.ranksets import rank_sets, resolved_better
from pipeline.inference.stepdown import order_pairs, step_down
from pipeline.inference.streams import Blake3Stream
from pipeline.inference.workers import Drawing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.worlds import Sample
    from pipeline.inference.exact import Real
    from pipeline.inference.familysums import FamilyDraw
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.results import Interval
    from pipeline.inference.stepdown import PairOrder

_ROUTES = (2, 7, 27, 150)
_TASKS = (30, 132, 534)
_SIMULATIONS = 500
_REPLICATES = 1_000
# For 27 routes more than 20 a pair, so that Holm can resolve; for 150 the usual 100,000 are not.
_SIGNS = {2: 2_000, 7: 2_000, 27: 8_000, 150: 2_000}
_GUESSERS = {2: 2_000, 7: 2_000, 27: 2_000, 150: 4_000}
_CONTRACTS = ("calibrated", "published")
_CHUNK = 10


class _Row(NamedTuple):
    """One line of the table: M routes on T tasks."""

    routes: int
    tasks: int


class _Job(NamedTuple):
    """Some simulations of one row and scenario."""

    row: _Row
    scenario: str
    first: int
    size: int


class _Pairs(NamedTuple):
    """Left minus right of all pairs, and which are resolved by each contract."""

    left: IntArray
    right: IntArray
    found: IntArray
    resolved: dict[str, NDArray[np.bool_]]


def _pairs(matrix: ScoreMatrix, seed: int) -> _Pairs:
    weights = common_weights(matrix.family_sizes)
    fans = pair_fans(matrix.models)
    rows = fan_rows(fans)
    sums = cluster_sums(matrix, weights)
    order: PairOrder = order_pairs(sums, rows.left, rows.right)
    flips = flip_counts(
        matrix, weights, fans, Drawing(Blake3Stream(seed), _SIGNS[matrix.models], threads=1),
        "pairs", order=order,
    )  # fmt: skip
    totals = sums.sum(axis=0)
    adjusted = {
        "calibrated": step_down(flips, order),
        "published": holm(flips.p_numerators, flips.p_denominator),
    }
    apart = {name: resolved(p, flips.p_denominator) for name, p in adjusted.items()}
    return _Pairs(rows.left, rows.right, totals[rows.left] - totals[rows.right], apart)


def _tests(sample: Sample, truths: IntArray, seed: int) -> dict[str, float]:
    """Errors and finds of the tests of pairs."""
    pairs = _pairs(sample.matrix, seed)
    gap = truths[pairs.left] - truths[pairs.right]
    marks: dict[str, float] = {}
    for name, apart in pairs.resolved.items():
        wrong = apart & (np.sign(gap) != np.sign(pairs.found)) & (gap != 0)
        marks[f"error {name}"] = float((apart & (gap == 0)).any() or wrong.any())
        marks[f"wrong {name}"] = float(wrong.sum())
        if (gap != 0).any():
            marks[f"resolved {name}"] = float(apart[gap != 0].mean())
    better = resolved_better(
        pairs.left,
        pairs.right,
        np.where(pairs.resolved["calibrated"], pairs.found, 0),
        sample.matrix.models,
    )
    marks["ranks calibrated"] = float(_held(rank_sets(better), _ranks(truths)))
    return marks


def _bands(sample: Sample, scores: Sequence[Fraction], seed: int) -> dict[str, float]:
    """Whether bands hold all true scores, and published rank intervals all true ranks."""
    matrix = sample.matrix
    studentizer = Studentizer(matrix)
    largest = np.empty(_REPLICATES)

    def studentize(counts: Real, drawn: tuple[FamilyDraw, ...], replicates: slice) -> None:
        largest[replicates] = studentizer.largest(counts, drawn)

    drawing = Drawing(Blake3Stream(seed), _REPLICATES, threads=1)
    drawn = resampled_scores(matrix, drawing, "scores", studentize)
    weights = common_weights(matrix.family_sizes)
    totals = matrix.scores_bps @ weights.per_family[matrix.family]
    observed = [Fraction(int(total), weights.denominator) for total in totals]
    spread = score_spread(drawn[:-1], observed)
    ranks = rank_intervals(drawn[:-1], drawing)
    fit = band_possible(int(matrix.family_sizes.min()), matrix.clusters)
    band = studentized_band(studentizer, observed, largest, printable=fit)
    nano = [round(score * 10**9) for score in scores]
    marks = {
        "band published": float(_held(spread.simultaneous_nanobps, nano)),
        "ranks published": float(_held(ranks, _ranks(np.array(nano)))),
        "printed calibrated": float(band.ends_nanobps is not None),
        "printed published": 1.0,
    }
    if band.ends_nanobps is not None:
        marks["band calibrated"] = float(_held(band.ends_nanobps, nano))
    return marks


def _chance(sample: Sample, seed: int) -> dict[str, float]:
    """Which guessers were taken for more, and whether the one route that is more was found."""
    matrix = sample.matrix
    weights = common_weights(matrix.family_sizes)
    totals = matrix.rows_bps @ weights.per_family[matrix.family]
    flips = flip_counts(
        matrix, weights, chance_fans(matrix.models),
        Drawing(Blake3Stream(seed), _GUESSERS[matrix.models], threads=1), "chance",
    )  # fmt: skip
    signed = resolved(holm(flips.p_numerators, flips.p_denominator), flips.p_denominator)
    signed &= totals[:-1] > totals[-1]
    guessed = guesser_scores(
        matrix, sample.maps, weights, seed, draws=_GUESSERS[matrix.models], threads=1
    )
    own = [Fraction(int(total), weights.denominator) for total in totals[:-1]]
    above = against_guessers(own, guessed, weights.denominator).above
    marks = {}
    for name, found in (("calibrated", above), ("published", signed)):
        marks[f"size {name}"] = float(found[:-1].any())
        marks[f"power {name}"] = float(found[-1])
    return marks


def _ranks(truths: IntArray) -> list[int]:
    return list(shared_ranks([Fraction(int(truth)) for truth in truths]))


def _held(ends: Sequence[Interval], values: Sequence[int]) -> bool:
    return all(low <= value <= high for (low, high), value in zip(ends, values, strict=True))


class _Tally:
    """Sums of marks and of their squares."""

    def __init__(self) -> None:
        self._sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])

    def add(self, marks: dict[str, float]) -> None:
        """Add one simulation's marks, or the sums of several."""
        for name, value in marks.items():
            self.merge(name, [1.0, value, value * value])

    def merge(self, name: str, sums: list[float]) -> None:
        """Add a number of marks, their sum and their sum of squares."""
        self._sums[name] = [a + b for a, b in zip(self._sums[name], sums, strict=True)]

    def sums(self) -> dict[str, list[float]]:
        """Number, sum and sum of squares of each mark."""
        return dict(self._sums)

    def mean(self, name: str) -> tuple[float, float] | None:
        """Mean and its standard error; None without marks."""
        if name not in self._sums:
            return None
        count, total, squares = self._sums[name]
        mean = total / count
        return mean, math.sqrt(max(0.0, squares / count - mean * mean) / max(1.0, count - 1))


def _run(job: _Job) -> dict[str, list[float]]:
    """Simulate; the marks of a scenario begin with its name."""
    policies = field(job.scenario, job.row.routes)
    scores = [world().truth(policy) for policy in policies]
    # Policies made equal differ by the rounding of a weight: far below a millionth.
    truths = np.array([round(score * 10**6) for score in scores])
    tally = _Tally()
    for number in range(job.first, job.first + job.size):
        rng = np.random.default_rng([*job.row, SCENARIOS.index(job.scenario), number])
        sample = sample_benchmark(policies, job.row.tasks, rng)
        seed = number + 1
        marks = _chance(sample, seed) if job.scenario == "guess" else _tests(sample, truths, seed)
        if job.scenario == "close":
            marks |= _bands(sample, scores, seed)
        tally.add({f"{job.scenario} {name}": value for name, value in marks.items()})
    return tally.sums()


_COLUMNS = (
    ("band", "close band"),
    ("printed", "close printed"),
    ("rank sets", "close ranks"),
    ("FWER equal", "equal error"),
    ("FWER some", "some error"),
    ("resolved", "close resolved"),
    ("wrong way", "close wrong"),
    ("chance size", "guess size"),
    ("chance power", "guess power"),
)
_COUNTED = "close wrong"


def _lines(row: _Row, tally: _Tally) -> Iterator[str]:
    for contract in _CONTRACTS:
        cells = [f"{row.routes:>4} {row.tasks:>4}  {contract:<10}"]
        for _, name in _COLUMNS:
            found = tally.mean(f"{name} {contract}")
            unit = 1 if name == _COUNTED else 100
            shown = "-" if found is None else f"{unit * found[0]:.2f} ±{unit * found[1]:.2f}"
            cells.append(f"{shown:>14}")
        yield "".join(cells)


def _jobs(rows: Sequence[_Row], simulations: int) -> Iterator[_Job]:
    for row in rows:
        for scenario in SCENARIOS:
            for first in range(0, simulations, _CHUNK):
                yield _Job(row, scenario, first, min(_CHUNK, simulations - first))


def _progress(done: int, total: int, begun: float) -> None:
    if sys.stderr.isatty():
        left = (time.monotonic() - begun) / done * (total - done)
        print(f"\r{done}/{total} parts, {left / 60:.0f} min left ", end="", file=sys.stderr)


def calibrate(rows: Sequence[_Row], simulations: int, workers: int, *, quiet: bool) -> list[Any]:
    """Simulate all rows, printing each as it is done; returns what `--json` prints."""
    jobs = list(_jobs(rows, simulations))
    tallies = {row: _Tally() for row in rows}
    documents = []
    begun = time.monotonic()
    with ProcessPoolExecutor(workers) as pool:
        for number, (job, sums) in enumerate(zip(jobs, pool.map(_run, jobs), strict=True), 1):
            for name, parts in sums.items():
                tallies[job.row].merge(name, parts)
            _progress(number, len(jobs), begun)
            if number == len(jobs) or jobs[number].row != job.row:
                document = _document(job.row, simulations, tallies[job.row])
                documents.append(document)
                if not quiet:
                    print(*_lines(job.row, tallies[job.row]), sep="\n", flush=True)
    return documents


def _document(row: _Row, simulations: int, tally: _Tally) -> dict[str, Any]:
    figures = {}
    for name in sorted(tally.sums()):
        mean, error = tally.mean(name) or (0.0, 0.0)
        figures[name] = {"mean": round(mean, 6), "standard_error": round(error, 6)}
    return {
        "routes": row.routes,
        "tasks": row.tasks,
        "simulations": simulations,
        "replicates": _REPLICATES,
        "signs": _SIGNS[row.routes],
        "guessers": _GUESSERS[row.routes],
        "figures": figures,
    }


def main() -> None:
    """Read the command line, simulate and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibrate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--routes", type=int, nargs="*", choices=_ROUTES, default=_ROUTES)
    parser.add_argument("--tasks", type=int, nargs="*", choices=_TASKS, default=_TASKS)
    parser.add_argument("--simulations", type=int, default=_SIMULATIONS)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print one document at the end")
    words = parser.parse_args()
    if words.simulations < 1 or words.workers < 1:
        parser.error("--simulations and --workers take 1 or more")
    rows = [_Row(routes, tasks) for routes in words.routes for tasks in words.tasks]
    if not words.json:
        print(
            f"{words.simulations} benchmarks a row and scenario, {_REPLICATES:,} replicates; in %"
        )
        print(f"{'M':>4} {'T':>4}  {'contract':<10}" + "".join(f"{c:>14}" for c, _ in _COLUMNS))
    documents = calibrate(rows, words.simulations, words.workers, quiet=words.json)
    if words.json:
        print(json.dumps(documents, indent=1))


if __name__ == "__main__":
    main()
