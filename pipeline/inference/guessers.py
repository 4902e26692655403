"""Above chance: every route against one crowd of guessers.

A guesser chooses uniformly among the portfolios of every task. All routes meet the same crowd, so
its scores are the one null distribution: no symmetry is asked for, and few tasks are enough. It is
chance against guessing, not against habits such as a liking for the first labels.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.errors import InputError
from pipeline.inference.exact import UPPER, matmul_dtype, quantile, to_nano
from pipeline.inference.multiplicity import holm, resolved
from pipeline.inference.streams import GUESS_PAGE, IndexReader
from pipeline.inference.workers import run_jobs
from pipeline.progress import silent
from schemas.taskset import BEST_BPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pipeline.inference.exact import FamilyWeights, Real
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.progress import Progress

__all__ = ["Guessers", "against_guessers", "guesser_scores", "sound_maps"]

_AXES = 2
_HALF = Fraction(1, 2)
# Choices looked up at once, for a second-level cache; no part of the contract.
_STEP_CHOICES = 2**16


class Guessers(NamedTuple):
    """What R guessers say about M routes.

    Attributes
    ----------
    reached
        Guessers with at least the route's score, shape (M,).
    p_numerators, holm_numerators, p_denominator
        One-sided p = (1 + reached) / (R + 1), and Holm's adjustment over routes.
    above
        Whether the adjusted p lies below 0.05, shape (M,).
    draws
        Guessers R.
    median_nanobps, upper_nanobps
        50% and 97.5% points of their scores.
    highest_bps
        The best guesser's score, exact.
    """

    reached: IntArray
    p_numerators: IntArray
    holm_numerators: IntArray
    p_denominator: int
    above: NDArray[np.bool_]
    draws: int
    median_nanobps: int
    upper_nanobps: int
    highest_bps: Fraction


def sound_maps(maps_bps: IntArray | None, tasks: int) -> IntArray:
    """The maps, if they are whole scores of every portfolio of every task.

    Raises
    ------
    InputError
        There are none, the shape is not (T, portfolios), or a score lies outside 0..10000.
    """
    expected = f"whole scores of 0..{BEST_BPS} basis points of all portfolios of {tasks} tasks"
    found = "none"
    if maps_bps is not None:
        found = f"shape {maps_bps.shape} of {maps_bps.dtype}"
        shaped = maps_bps.shape[:1] == (tasks,) and maps_bps.ndim == _AXES and maps_bps.size > 0
        if shaped and maps_bps.dtype.kind in "iu":
            if maps_bps.min() >= 0 and maps_bps.max() <= BEST_BPS:
                return maps_bps
            found = f"scores of {maps_bps.min()}..{maps_bps.max()}"
    raise InputError(
        expected, found, "score maps for guessers", "Rebuild the matrix from the frozen tasks."
    )


def guesser_scores(
    matrix: ScoreMatrix,
    maps_bps: IntArray,
    weights: FamilyWeights,
    seed: int,
    *,
    draws: int,
    threads: int | None = None,
    progress: Progress = silent,
) -> IntArray:
    """Scores of R guessers, times the weights' denominator, shape (R,).

    Parameters
    ----------
    maps_bps
        Score of every portfolio of every task, shape (T, portfolios).
    seed
        Of the stream ``blake3``.
    draws
        Guessers R.
    """
    maps_bps = sound_maps(maps_bps, matrix.tasks)
    dtype = matmul_dtype(weights.denominator * BEST_BPS)
    table: Real = (maps_bps * weights.per_family[matrix.family][:, None]).astype(dtype)
    scores = np.empty(draws, dtype=np.int64)
    jobs = (
        partial(_fill, table, seed, page, scores[start : start + GUESS_PAGE])
        for page, start in enumerate(range(0, draws, GUESS_PAGE))
    )
    done = 0
    for rows in run_jobs(jobs, threads):
        done += rows
        progress(done, draws)
    return scores


def _fill(table: Real, seed: int, page: int, scores: IntArray) -> int:
    """Write the scores of one page of guessers; returns their number."""
    tasks, choices = table.shape
    reader = IndexReader(seed, page, "guesses", choices)
    first_choice = np.arange(tasks, dtype=np.int64) * choices
    flat, each = table.ravel(), np.ones(tasks, dtype=table.dtype)
    step = max(1, _STEP_CHOICES // tasks)
    for start in range(0, scores.size, step):
        part = scores[start : start + step]
        places = reader.take(part.size * tasks).reshape(part.size, tasks)
        places += first_choice
        part[:] = flat.take(places) @ each
    return scores.size


def against_guessers(
    scores_bps: Sequence[Fraction], guessed: IntArray, denominator: int
) -> Guessers:
    """Tests of routes against guessers.

    Parameters
    ----------
    scores_bps
        Exact scores of routes.
    guessed, denominator
        The guessers' scores are `guessed` / `denominator`.
    """
    ordered = np.sort(guessed)
    own = np.array([int(score * denominator) for score in scores_bps], dtype=np.int64)
    reached = guessed.size - np.searchsorted(ordered, own, side="left")
    over = guessed.size + 1
    adjusted = holm(reached + 1, over)
    points = [quantile(ordered, level) / denominator for level in (_HALF, UPPER)]
    return Guessers(
        reached=reached,
        p_numerators=reached + 1,
        holm_numerators=adjusted,
        p_denominator=over,
        above=resolved(adjusted, over),
        draws=guessed.size,
        median_nanobps=to_nano(points[0]),
        upper_nanobps=to_nano(points[1]),
        highest_bps=Fraction(int(ordered[-1]), denominator),
    )
