"""What the statistics stage gets: standings, contrasts and panel agreement, at full precision.

Scores and differences are exact fractions of basis points. What is not rational or comes from
resampling is an integer in the unit of its name: ``_nanobps`` is 10^-9 basis points, ``_nano`` is
10^-9. p values are numerators over a common denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from pipeline.inference.attainable import Limit
    from pipeline.inference.bands import Band
    from pipeline.inference.guessers import Guessers
    from pipeline.inference.matrix import IntArray
    from pipeline.inference.panels import PanelCorrelations
    from pipeline.inference.ranksets import RankPlace

__all__ = [
    "Analysis",
    "Calibrated",
    "Contrasts",
    "InferredContrast",
    "InferredStanding",
    "Interval",
]


class Interval(NamedTuple):
    """A closed interval in the unit of what it belongs to."""

    lower: int
    upper: int


class InferredStanding(NamedTuple):
    """One model's place.

    Attributes
    ----------
    model
        Row of the model in the matrix.
    rank
        1 is best; equal scores share a rank, and the next ones are left out.
    group
        Group of models that are not told apart, from 1 down the ranking.
    score_bps, family_scores_bps, panel_scores_bps
        Exact means; families and panels in the matrix's order.
    se_nanobps
        Bootstrap standard error.
    pointwise_nanobps, simultaneous_nanobps
        95% intervals of the score, for this model and for all models together.
    rank_interval
        95% interval of the rank.
    """

    model: int
    rank: int
    group: int
    score_bps: Fraction
    family_scores_bps: tuple[Fraction, ...]
    panel_scores_bps: tuple[Fraction, ...]
    se_nanobps: int
    pointwise_nanobps: Interval
    simultaneous_nanobps: Interval
    rank_interval: Interval


class InferredContrast(NamedTuple):
    """Left minus right.

    Attributes
    ----------
    left, right
        Rows of the matrix; in chance contrasts `right` is the number of models.
    difference_bps
        Mean difference, families equal, exact.
    interval_nanobps
        95% percentile interval of the difference.
    dz_nano
        Cohen's dz (mean over standard deviation, ddof 1, of task differences); None if all task
        differences are equal, where it has no value.
    wins, ties, losses
        Tasks on which left scores higher, the same, lower.
    extreme
        Flipped differences at least as large as the observed one.
    p, holm_p
        Two-sided sign-flip p and its Holm adjustment.
    resolved
        `holm_p` is below 0.05.
    """

    left: int
    right: int
    difference_bps: Fraction
    interval_nanobps: Interval
    dz_nano: int | None
    wins: int
    ties: int
    losses: int
    extreme: int
    p: Fraction
    holm_p: Fraction
    resolved: bool


@dataclass(frozen=True, eq=False)
class Contrasts:
    """P contrasts of one Holm family, by column; iterate or index for single ones.

    Attributes
    ----------
    left, right, wins, ties, losses, extreme, resolved
        As in `InferredContrast`, shape (P,).
    difference_numerators, difference_denominator
        Differences in basis points.
    lower_nanobps, upper_nanobps
        Ends of the percentile intervals, shape (P,).
    dz_nano, dz_defined
        Cohen's dz where it is defined, shape (P,) each.
    p_numerators, holm_numerators, p_denominator
        p values.
    draws, exact
        Sign rows seen, and whether they were all there are.
    """

    left: IntArray
    right: IntArray
    difference_numerators: IntArray
    difference_denominator: int
    lower_nanobps: IntArray
    upper_nanobps: IntArray
    dz_nano: IntArray
    dz_defined: NDArray[np.bool_]
    wins: IntArray
    ties: IntArray
    losses: IntArray
    extreme: IntArray
    p_numerators: IntArray
    holm_numerators: IntArray
    p_denominator: int
    resolved: NDArray[np.bool_]
    draws: int
    exact: bool

    def __len__(self) -> int:
        return self.left.size

    def __iter__(self) -> Iterator[InferredContrast]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int) -> InferredContrast:
        return InferredContrast(
            left=int(self.left[place]),
            right=int(self.right[place]),
            difference_bps=Fraction(
                int(self.difference_numerators[place]), self.difference_denominator
            ),
            interval_nanobps=Interval(
                int(self.lower_nanobps[place]), int(self.upper_nanobps[place])
            ),
            dz_nano=int(self.dz_nano[place]) if self.dz_defined[place] else None,
            wins=int(self.wins[place]),
            ties=int(self.ties[place]),
            losses=int(self.losses[place]),
            extreme=int(self.extreme[place]),
            p=Fraction(int(self.p_numerators[place]), self.p_denominator),
            holm_p=Fraction(int(self.holm_numerators[place]), self.p_denominator),
            resolved=bool(self.resolved[place]),
        )


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What the contract ``calibrated`` says of the same scores and draws.

    Attributes
    ----------
    step_down_numerators
        Adjusted p values of all pairs, in their order, over the pairs' `p_denominator`; shape (P,).
    comparable
        Whether the routes of a pair differ on any cluster; else p = 1 and it takes no part.
    resolved
        Whether the adjusted p lies below 0.05.
    places
        Rank, rank set and letters of each route, in the matrix's order.
    band
        The band for all routes at once.
    guessers
        Every route against guessers.
    limits
        What cannot be told with these clusters, draws and tasks, and what it would take.
    """

    step_down_numerators: IntArray
    comparable: NDArray[np.bool_]
    resolved: NDArray[np.bool_]
    places: tuple[RankPlace, ...]
    band: Band
    guessers: Guessers
    limits: tuple[Limit, ...]


@dataclass(frozen=True, eq=False)
class Analysis:
    """Everything that follows from one score matrix.

    Attributes
    ----------
    standings
        One per model, in the matrix's order.
    critical_nano
        Critical value of the simultaneous bands, times 10^9.
    pairs
        All pairs i < j of models, ordered by i, then j.
    chance
        Every model minus chance, in model order; a Holm family of its own.
    chance_score_bps
        Score of chance, exact.
    agreements
        Agreement of every two panels.
    calibrated
        Under the contract ``calibrated`` what it says; there groups, rank intervals, simultaneous
        bands, Holm's p and sign-flip tests of chance are no claims, and stand for comparison.
    """

    standings: tuple[InferredStanding, ...]
    critical_nano: int
    pairs: Contrasts
    chance: Contrasts
    chance_score_bps: Fraction
    agreements: tuple[PanelCorrelations, ...]
    calibrated: Calibrated | None = None
