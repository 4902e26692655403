"""What a number of tasks can tell apart, and what it would take to tell more.

A contrast of two routes on n independent clusters has the standard error sd / sqrt(n). It is found
with the wanted power where the true difference is (z of the test + z of the power) times that
(Cohen, Statistical Power Analysis, 2nd ed., 1988, chapter 2). Of several contrasts the first step
of a step-down procedure is planned for, at 0.05 over their number: later steps need less.
`simulated_power` looks whether the sign-flip test keeps what the formula promises. What is planned
is an estimate: figures here are rounded outwards to 10^-6 basis points, and enter no identity.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from pipeline.errors import InputError
from pipeline.inference.exact import ALPHA, product
from pipeline.inference.streams import Blake3Stream, IndexReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pipeline.inference.matrix import ScoreMatrix

__all__ = [
    "Equivalence",
    "Question",
    "RealisedPower",
    "contrasts_asked",
    "equal_within",
    "paired_sds_bps",
    "power_of",
    "sd_with_repeats_bps",
    "simulated_power",
    "smallest_difference_microbps",
    "tasks_needed",
]

Question = Literal["planned_pair", "one_against_all", "all_pairs"]

POWER = 0.8
_MICRO = 1_000_000
_NORMAL = NormalDist()
_MIN_CLUSTERS = 2


class Equivalence(NamedTuple):
    """Two one-sided tests of "the same within a margin" (Schuirmann, 1987).

    Attributes
    ----------
    difference_microbps, se_microbps
        Left minus right, and its standard error.
    margin_bps
        The margin that was asked for.
    p_ppm
        The larger of the two p values, in millionths.
    equal
        It lies below 0.05.
    smallest_margin_microbps
        From which margin on the two would be called the same.
    """

    difference_microbps: int
    se_microbps: int
    margin_bps: int
    p_ppm: int
    equal: bool
    smallest_margin_microbps: int


class RealisedPower(NamedTuple):
    """Simulated benchmarks in which a shifted difference was found, beside the formula's share."""

    found: int
    simulations: int
    predicted: float


def contrasts_asked(question: Question, routes: int) -> int:
    """Number of contrasts that share the 5% of a question about M routes."""
    if question == "planned_pair":
        return 1
    return routes - 1 if question == "one_against_all" else routes * (routes - 1) // 2


def smallest_difference_microbps(
    sd_bps: float, clusters: int, contrasts: int = 1, power: float = POWER
) -> int:
    """Smallest true difference that is found with the wanted power, rounded up.

    Parameters
    ----------
    sd_bps
        Standard deviation of a paired difference, of one cluster.
    clusters
        Independent clusters n.
    contrasts
        Contrasts that share the 5%.
    """
    _check_sd(sd_bps)
    return math.ceil(_MICRO * _quantiles(contrasts, power) * sd_bps / math.sqrt(clusters))


def tasks_needed(
    sd_bps: float, difference_bps: float, contrasts: int = 1, power: float = POWER
) -> int:
    """Independent tasks from which on a true difference is found with the wanted power.

    Raises
    ------
    InputError
        The difference is not above 0: no number of tasks would do.
    """
    _check_sd(sd_bps)
    if not difference_bps > 0:
        raise InputError(
            "a difference above 0",
            f"{difference_bps:g} basis points",
            "planning",
            "Ask for a difference that would matter.",
        )
    return max(
        _MIN_CLUSTERS, math.ceil((_quantiles(contrasts, power) * sd_bps / difference_bps) ** 2)
    )


def power_of(sd_bps: float, clusters: int, difference_bps: float, contrasts: int = 1) -> float:
    """Share of benchmarks that find a true difference, by the formula."""
    _check_sd(sd_bps)
    shift = math.inf if sd_bps == 0 else difference_bps * math.sqrt(clusters) / sd_bps
    limit = _two_sided(contrasts)
    return _NORMAL.cdf(shift - limit) + _NORMAL.cdf(-shift - limit)


def sd_with_repeats_bps(sd_bps: float, within_bps: float | None, repeats: int) -> float | None:
    """Standard deviation of a paired difference where every cell is the mean of K answers.

    Parameters
    ----------
    sd_bps
        With one answer a cell.
    within_bps
        Standard deviation of the difference between two answers' scores and their tasks' means,
        both routes together; None where no task was asked twice, so that nothing is known.
    """
    _check_sd(sd_bps)
    if within_bps is None:
        return None
    if not 0 <= within_bps <= sd_bps:
        raise InputError(
            f"a spread within tasks of 0..{sd_bps:g} basis points",
            f"{within_bps:g}",
            "planning",
            "It is a part of the spread of a paired difference.",
        )
    return math.sqrt(sd_bps**2 - within_bps**2 * (1 - 1 / repeats))


def paired_sds_bps(matrix: ScoreMatrix) -> NDArray[np.float64]:
    """Standard deviations of paired differences, symmetric, shape (M, M).

    They are those of one cluster: over the root of the number of clusters they give the standard
    error of the difference of scores, families weighing the same.
    """
    spread = _influences(matrix)
    clusters = matrix.clusters
    gram = product(np.ascontiguousarray(spread.T), spread).astype(np.float64)
    own = np.diagonal(gram)
    squares = np.maximum(own[:, None] + own[None, :] - 2 * gram, 0)
    np.fill_diagonal(squares, 0)
    return np.asarray(np.sqrt(squares * clusters**2 / max(1, clusters - 1)), dtype=np.float64)


def equal_within(matrix: ScoreMatrix, left: int, right: int, margin_bps: int) -> Equivalence:
    """Whether two routes' scores are the same within a margin, with 95% confidence.

    Raises
    ------
    InputError
        The margin is not above 0, or there is a single cluster.
    """
    if margin_bps <= 0 or matrix.clusters < _MIN_CLUSTERS:
        raise InputError(
            f"a margin above 0 and {_MIN_CLUSTERS} or more clusters",
            f"{margin_bps} basis points and {matrix.clusters} cluster(s)",
            "the same within a margin",
            "Ask for the smallest difference that would matter.",
        )
    from scipy.special import stdtr, stdtrit

    degrees = matrix.clusters - 1
    means = [matrix.scores_bps[:, matrix.family == f].mean(axis=1) for f in range(matrix.families)]
    scores = np.mean(means, axis=0)
    difference = float(scores[left] - scores[right])
    error = float(paired_sds_bps(matrix)[left, right]) / math.sqrt(matrix.clusters)
    room = margin_bps - abs(difference)
    apart = room / error if error > 0 else math.inf if room > 0 else -math.inf
    p = 1 - float(stdtr(degrees, apart))
    smallest = abs(difference) + float(stdtrit(degrees, 1 - float(ALPHA))) * error
    return Equivalence(
        difference_microbps=round(_MICRO * difference),
        se_microbps=math.ceil(_MICRO * error),
        margin_bps=margin_bps,
        p_ppm=math.ceil(_MICRO * p),
        equal=p < ALPHA,
        smallest_margin_microbps=math.ceil(_MICRO * smallest),
    )


def simulated_power(
    matrix: ScoreMatrix,
    left: int,
    right: int,
    difference_bps: float,
    *,
    seed: int,
    contrasts: int = 1,
    clusters: int | None = None,
    simulations: int = 200,
    sign_draws: int = 2_000,
) -> RealisedPower:
    """Power of the sign-flip test on resampled clusters with a true difference shifted in.

    Parameters
    ----------
    difference_bps
        The true difference.
    seed
        Of the stream ``blake3``: clusters are words for indices, signs are its signs.
    clusters
        Clusters of a simulated benchmark; None takes as many as there are.
    sign_draws
        Rows of signs; raised so that a p value below 0.05 over the contrasts is possible.
    """
    count = matrix.clusters if clusters is None else clusters
    own = _influences(matrix)
    effects = matrix.clusters * (own[:, left] - own[:, right])
    reader = IndexReader(seed, 0, "bootstrap", matrix.clusters)
    drawn = effects[reader.take(simulations * count).reshape(simulations, count)] + difference_bps
    observed = np.abs(drawn.sum(axis=1))
    draws = max(sign_draws, 10 * contrasts * ALPHA.denominator)
    reached = np.zeros(simulations, dtype=np.int64)
    columns = np.ascontiguousarray(drawn.T)
    for page in Blake3Stream(seed).signs(count, draws, "pairs"):
        signs = 2.0 * page.draw() - 1
        reached += np.count_nonzero(np.abs(product(signs, columns)) >= observed, axis=0)
    found = (1 + reached) * contrasts * ALPHA.denominator < ALPHA.numerator * (draws + 1)
    sd = float(paired_sds_bps(matrix)[left, right])
    predicted = power_of(sd, count, difference_bps, contrasts)
    return RealisedPower(int(found.sum()), simulations, predicted)


def _influences(matrix: ScoreMatrix) -> NDArray[np.float64]:
    """What each cluster adds to each route's score beyond its share of it, shape (C, M)."""
    sizes = matrix.cluster_family_sizes().astype(np.float64)
    sums = matrix.cluster_family_sums()[:, :, : matrix.models].astype(np.float64)
    tasks = matrix.family_sizes.astype(np.float64)
    means = sums.sum(axis=0) / tasks[:, None]
    residuals = (sums - sizes[:, :, None] * means) / (matrix.families * tasks[:, None])
    return np.asarray(residuals.sum(axis=1), dtype=np.float64)


def _two_sided(contrasts: int) -> float:
    return _NORMAL.inv_cdf(1 - float(ALPHA) / (2 * contrasts))


def _quantiles(contrasts: int, power: float) -> float:
    return _two_sided(contrasts) + _NORMAL.inv_cdf(power)


def _check_sd(sd_bps: float) -> None:
    if not 0 <= sd_bps < math.inf:
        raise InputError(
            "a standard deviation of 0 or more basis points",
            f"{sd_bps:g}",
            "planning",
            "Take it from stored scores, or state one.",
        )
