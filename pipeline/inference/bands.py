"""A band for all routes at once that is studentized: every replicate brings its own variance.

The band of the published method divides by one standard error for all replicates, which is too
small where tasks are few. Here a replicate's deviation is divided by the cluster variance of the
same replicate (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5).
With counts c, N_f = sum(c * n_f), P_f = sum(c * s_f) and C clusters,

    V = C / (C - 1) * sum over k of c_k * (sum over f of (s_kf - n_kf * P_f / N_f) / (F * N_f))^2.

Multiplied out, this takes sums of products of two families' columns over the clusters they share:
whole numbers from one matrix product each, then a few operations elementwise. Scores are taken
from a whole number near their family mean, which changes no residual and keeps products small.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import LEVEL, matmul_dtype, product, to_nano
from pipeline.inference.results import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pipeline.inference.exact import Real
    from pipeline.inference.familysums import FamilyDraw
    from pipeline.inference.matrix import IntArray, ScoreMatrix

__all__ = ["MIN_FAMILY_TASKS", "Band", "Studentizer", "studentized_band"]

MIN_FAMILY_TASKS = 10


class Band(NamedTuple):
    """The band for all routes at once, or what it lacks.

    Attributes
    ----------
    se_nanobps
        Root of each route's cluster variance.
    critical_nano
        The band is score ± critical value * root; None where there is no band.
    ends_nanobps
        The band of each route, not clipped to 0..100; None where there is no band.
    unbounded
        Replicates in which some route's scores do not vary, yet its score is off.
    replicates
        Number of replicates.
    """

    se_nanobps: tuple[int, ...]
    critical_nano: int | None
    ends_nanobps: tuple[Interval, ...] | None
    unbounded: int
    replicates: int


class _Term(NamedTuple):
    """Products of two families' columns over the clusters that hold tasks of both.

    `table` has shape (clusters, 3 M + 1): s_f * s_g, s_f * n_g, s_g * n_f of each route, n_f * n_g.
    Within one family of one task a cluster these are s^2, s, s and 1, and the last three are the
    family's own sums: `table` is s^2 `alone`.
    """

    first: int
    second: int
    clusters: IntArray
    table: NDArray[np.float64]
    alone: bool


class Studentizer:
    """Largest studentized deviation over the M routes of a matrix.

    Parameters
    ----------
    matrix
        M routes on T tasks, in C clusters.

    Raises
    ------
    InputError
        Sums of squares would not be exact.
    """

    def __init__(self, matrix: ScoreMatrix) -> None:
        self._families = matrix.families
        self._clusters = matrix.clusters
        self._routes = matrix.models
        sizes = matrix.cluster_family_sizes()
        sums = matrix.cluster_family_sums()[:, :, : matrix.models]
        tasks = matrix.family_sizes
        totals = sums.sum(axis=0)
        self._centres = (2 * totals + tasks[:, None]) // (2 * tasks[:, None])
        self._centred = sums - sizes[:, :, None] * self._centres
        self._sizes = sizes
        matmul_dtype(matrix.clusters * max(1, int(np.abs(self._centred).max())) ** 2)
        self._means = (self._centred.sum(axis=0) / tasks[:, None].astype(np.float64)).astype(
            np.float64
        )
        self._terms = [
            term
            for f in range(self._families)
            for g in range(f, self._families)
            if (term := self._term(f, g)).clusters.size
        ]

    def _term(self, f: int, g: int) -> _Term:
        n_f, n_g = self._sizes[:, f], self._sizes[:, g]
        rows = np.flatnonzero(n_f * n_g)
        s_f, s_g, n_f, n_g = self._centred[rows, f], self._centred[rows, g], n_f[rows], n_g[rows]
        columns = [s_f * s_g]
        alone = f == g and not np.any(n_f > 1)
        if not alone:
            columns += [s_f * n_g[:, None], s_g * n_f[:, None], (n_f * n_g)[:, None]]
        return _Term(f, g, rows, np.concatenate(columns, axis=1).astype(np.float64), alone)

    def variances(self) -> tuple[Fraction, ...]:
        """Exact cluster variance V of each route's score, in squared basis points."""
        n = [int(size) for size in self._sizes.sum(axis=0)]
        s = self._centred.sum(axis=0).tolist()
        found = [Fraction(0)] * self._routes
        for term in self._terms:
            f, g = term.first, term.second
            n_f, n_g = self._sizes[term.clusters, f], self._sizes[term.clusters, g]
            s_f, s_g = self._centred[term.clusters, f], self._centred[term.clusters, g]
            parts = ((s_f * s_g), s_f * n_g[:, None], s_g * n_f[:, None])
            both, left, right = (part.sum(axis=0).tolist() for part in parts)
            shared = int((n_f * n_g).sum())
            for i in range(self._routes):
                whole = n[f] * n[g] * both[i] - n[f] * s[g][i] * left[i]
                whole += s[f][i] * (s[g][i] * shared - n[g] * right[i])
                weight = (1 if f == g else 2) * self._clusters
                scale = (self._families * n[f] * n[g]) ** 2 * max(1, self._clusters - 1)
                found[i] += Fraction(weight * whole, scale)
        return tuple(found)

    def largest(self, counts: Real, drawn: Sequence[FamilyDraw]) -> NDArray[np.float64]:
        """Largest abs(score* - score) / root(V*) over routes in each replicate, shape (B,).

        Infinite where V* = 0 and the score is off; a route with neither takes no part.

        Parameters
        ----------
        counts
            How often each cluster was drawn, shape (B, C).
        drawn
            Their family sums.
        """
        deviation = np.zeros((len(counts), self._routes))
        sums, sizes = [], []
        for family, (_, plain, size) in enumerate(drawn):
            sizes.append(size.astype(np.float64))
            sums.append(plain[:, : self._routes] - sizes[-1] * self._centres[family])
            deviation += sums[-1] / sizes[-1] - self._means[family]
        deviation /= self._families
        variance = np.zeros_like(deviation)
        for term in self._terms:
            own = drawn[term.first].counts if term.alone else counts.take(term.clusters, axis=1)
            found = product(own.astype(np.float64), term.table)
            variance += self._variance_term(term, found, sums, sizes)
        variance *= self._clusters / max(1, self._clusters - 1)
        np.maximum(variance, 0, out=variance)
        np.abs(deviation, out=deviation)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = deviation / np.sqrt(variance, out=variance)
        ratio[deviation == 0] = 0
        return np.asarray(ratio.max(axis=1), dtype=np.float64)

    def _variance_term(
        self, term: _Term, found: Real, sums: Sequence[Real], sizes: Sequence[Real]
    ) -> NDArray[np.float64]:
        """What a pair of families adds to the variance, without C / (C - 1), shape (B, M)."""
        f, g, width = term.first, term.second, self._routes
        both = found[:, :width]
        if term.alone:
            # (N A - P^2) / N^3 is the general form with B = P and a last sum of N.
            part = sizes[f] * both
            part -= sums[f] * sums[f]
            part /= sizes[f] ** 3 * float(self._families**2)
            return np.asarray(part, dtype=np.float64)
        left, right, shared = (
            found[:, width : 2 * width], found[:, 2 * width : -1], found[:, -1:],
        )  # fmt: skip
        part = sizes[f] * (sizes[g] * both - sums[g] * left)
        part += sums[f] * (sums[g] * shared - sizes[g] * right)
        part /= (sizes[f] * sizes[g]) ** 2 * float(self._families**2)
        return np.asarray(part if f == g else 2 * part, dtype=np.float64)


def studentized_band(
    studentizer: Studentizer,
    scores_bps: Sequence[Fraction],
    largest: NDArray[np.float64],
    *,
    printable: bool,
) -> Band:
    """The band from the largest studentized deviations of all replicates.

    Parameters
    ----------
    scores_bps
        Exact scores.
    largest
        Of each replicate, shape (B,).
    printable
        Whether there are enough tasks and clusters for a band at all.
    """
    place = -(-largest.size * LEVEL.numerator // LEVEL.denominator) - 1
    critical = float(np.partition(largest, place)[place])
    roots = [math.sqrt(float(variance)) for variance in studentizer.variances()]
    errors = tuple(to_nano(Fraction(root)) for root in roots)
    unbounded = int(np.isinf(largest).sum())
    if not printable or math.isinf(critical):
        return Band(errors, None, None, unbounded, largest.size)
    halves = [Fraction(critical * root) for root in roots]
    ends = tuple(
        Interval(to_nano(score - half), to_nano(score + half))
        for score, half in zip(scores_bps, halves, strict=True)
    )
    return Band(errors, to_nano(Fraction(critical)), ends, unbounded, largest.size)
