"""From a score matrix to standings, contrasts, chance and agreement (docs/statistics.md).

The steps, in order:

1. Scores are means of family means, exact fractions; ranks follow, equal scores share one.
2. One cluster bootstrap of all models and chance gives standard errors, pointwise intervals, the
   simultaneous band, rank intervals and the intervals of all contrasts.
3. Sign-flip tests of all pairs and of every model against chance; Holm within each of the two.
4. Groups of models that the pair tests do not tell apart; agreement of the panels.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.errors import StatisticsError
from pipeline.inference.bootstrap import (
    rank_intervals,
    resampled_scores,
    score_spread,
)
from pipeline.inference.contrasts import build_contrasts
from pipeline.inference.exact import common_weights
from pipeline.inference.fans import chance_fans, pair_fans
from pipeline.inference.flips import flip_counts
from pipeline.inference.intervals import contrast_intervals
from pipeline.inference.multiplicity import ranking_groups
from pipeline.inference.panels import panel_agreements, panel_scores, shared_ranks
from pipeline.inference.results import Analysis, Standing
from pipeline.inference.streams import MAX_ENUMERATED_CLUSTERS, open_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.bootstrap import Spread
    from pipeline.inference.exact import FamilyWeights
    from pipeline.inference.fans import Fan
    from pipeline.inference.flips import FlipCounts
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.results import Contrasts, Interval
    from pipeline.inference.streams import DrawStream, Role, StreamName
    from pipeline.progress import Progress

__all__ = ["Settings", "analyse"]

_MIN_REPLICATES = 2


@dataclass(frozen=True)
class Settings:
    """How the statistics are computed.

    Parameters
    ----------
    seed
        Seed of the stream.
    bootstrap_draws, sign_draws
        Numbers of replicates (2 or more) and of sign rows (1 or more).
    stream
        Name of the stream.
    block
        Draws in floating point at once, per thread; bounds memory, changes no result.
    threads
        Threads; None takes one per processor, at most 8. Changes no result.

    Raises
    ------
    StatisticsError
        A number is out of range.
    """

    seed: int
    bootstrap_draws: int = 50_000
    sign_draws: int = 100_000
    stream: StreamName = "blake3"
    block: int = 500
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("bootstrap_draws", _MIN_REPLICATES),
            ("sign_draws", 1),
            ("block", 1),
            ("threads", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise StatisticsError(
                    f"{least} or more",
                    str(value),
                    f"statistics.{name}",
                    "Set it in params.yaml.",
                )


class _Resampling(NamedTuple):
    """What the draws say: spread and ranks of models, (2, M) and (2, P) ends of intervals."""

    spread: Spread
    ranks: tuple[Interval, ...]
    chance: IntArray
    pairs: IntArray


class _Tests(NamedTuple):
    chance: FlipCounts
    pairs: FlipCounts


def analyse(matrix: ScoreMatrix, settings: Settings, progress: Progress | None = None) -> Analysis:
    """All statistics of a score matrix. The same inputs give the same integers everywhere.

    Parameters
    ----------
    matrix
        M models on T tasks.
    settings
        Seed, numbers of draws, stream.
    progress
        Called with the work done and its total, in draws and contrasts.

    Raises
    ------
    StatisticsError
        Sums would not be exact, some family hardly ever appears in a resample, or the stream or
        seed is not usable.
    """
    stream = open_stream(settings.stream, settings.seed)
    weights = common_weights(matrix.family_sizes)
    scores = _scores(matrix.scores_bps, matrix, weights)
    steps = _Steps(progress, _work(matrix, settings, stream))
    run = _Run(matrix, weights, settings, stream, steps)
    resampling = run.resample(scores)
    tests = run.test()
    pairs = build_contrasts(
        matrix, weights, pair_fans(matrix.models), resampling.pairs, tests.pairs
    )
    chance = build_contrasts(
        matrix, weights, chance_fans(matrix.models), resampling.chance, tests.chance
    )
    by_panel = panel_scores(matrix)
    return Analysis(
        standings=_standings(matrix, scores, by_panel, resampling, pairs),
        critical_nano=resampling.spread.critical_nano,
        pairs=pairs,
        chance=chance,
        chance_score_bps=_scores(matrix.chance_bps[None, :], matrix, weights)[0],
        agreements=panel_agreements(matrix, by_panel),
    )


@dataclass(frozen=True)
class _Run:
    """The steps that draw, with what they all need."""

    matrix: ScoreMatrix
    weights: FamilyWeights
    settings: Settings
    stream: DrawStream
    steps: _Steps

    def resample(self, scores: Sequence[Fraction]) -> _Resampling:
        """One bootstrap for everything, or a second one for pairs when the stream asks for it."""
        count = self.matrix.models
        resampled = self._resampled("scores")
        spread = score_spread(resampled[:count], scores)
        ranks = rank_intervals(
            resampled[:count],
            block=self.settings.block,
            tied_in_order=self.stream.tied_in_order,
            threads=self.settings.threads,
            progress=self.steps.begin(self.settings.bootstrap_draws),
        )
        chance = self._intervals(resampled, chance_fans(count), count)
        if not self.stream.shared:
            resampled = self._resampled("pairs")
        pairs = self._intervals(resampled, pair_fans(count), count * (count - 1) // 2)
        return _Resampling(spread, ranks, chance, pairs)

    def test(self) -> _Tests:
        """Sign-flip tests against chance and of pairs; one pass when they share their draws."""
        count = self.matrix.models
        chance, pairs = chance_fans(count), pair_fans(count)
        if not self.stream.shared:
            return _Tests(self._flips(chance, "chance"), self._flips(pairs, "pairs"))
        both = self._flips(chance + pairs, "pairs")
        return _Tests(
            both._replace(extreme=both.extreme[:count]),
            both._replace(extreme=both.extreme[count:]),
        )

    def _resampled(self, role: Role) -> IntArray:
        draws = self.settings.bootstrap_draws
        return resampled_scores(
            self.matrix,
            self.stream,
            role,
            draws=draws,
            block=self.settings.block,
            threads=self.settings.threads,
            progress=self.steps.begin(draws),
        )

    def _intervals(self, resampled: IntArray, fans: tuple[Fan, ...], contrasts: int) -> IntArray:
        return contrast_intervals(
            resampled,
            fans,
            threads=self.settings.threads,
            progress=self.steps.begin(contrasts),
        )

    def _flips(self, fans: tuple[Fan, ...], role: Role) -> FlipCounts:
        return flip_counts(
            self.matrix,
            self.weights,
            fans,
            self.stream,
            role,
            draws=self.settings.sign_draws,
            block=self.settings.block,
            threads=self.settings.threads,
            progress=self.steps.begin(_sign_rows(self.matrix, self.settings)),
        )


def _scores(rows: IntArray, matrix: ScoreMatrix, weights: FamilyWeights) -> tuple[Fraction, ...]:
    """Exact score of each row, the mean of its family means."""
    totals = rows @ weights.per_family[matrix.family]
    return tuple(Fraction(int(total), weights.denominator) for total in totals)


def _standings(
    matrix: ScoreMatrix,
    scores: Sequence[Fraction],
    by_panel: Sequence[tuple[Fraction, ...]],
    resampling: _Resampling,
    pairs: Contrasts,
) -> tuple[Standing, ...]:
    count = matrix.models
    order = sorted(range(count), key=lambda model: -scores[model])
    ranks = shared_ranks(scores)
    differs = np.zeros((count, count), dtype=np.bool_)
    differs[pairs.left, pairs.right] = pairs.resolved
    groups = ranking_groups(order, differs | differs.T)
    sizes = matrix.family_sizes.tolist()
    sums = [matrix.scores_bps[:, matrix.family == f].sum(axis=1) for f in range(matrix.families)]
    return tuple(
        Standing(
            model=model,
            rank=ranks[model],
            group=groups[model],
            score_bps=scores[model],
            family_scores_bps=tuple(
                Fraction(int(total[model]), size) for total, size in zip(sums, sizes, strict=True)
            ),
            panel_scores_bps=by_panel[model],
            se_nanobps=resampling.spread.se_nanobps[model],
            pointwise_nanobps=resampling.spread.pointwise_nanobps[model],
            simultaneous_nanobps=resampling.spread.simultaneous_nanobps[model],
            rank_interval=resampling.ranks[model],
        )
        for model in range(count)
    )


def _sign_rows(matrix: ScoreMatrix, settings: Settings) -> int:
    if matrix.clusters <= MAX_ENUMERATED_CLUSTERS:
        return 1 << matrix.clusters
    return settings.sign_draws


def _work(matrix: ScoreMatrix, settings: Settings, stream: DrawStream) -> int:
    """Total of all steps that `_Steps` is told of."""
    passes = 1 if stream.shared else 2
    contrasts = matrix.models * (matrix.models + 1) // 2
    signs = passes * _sign_rows(matrix, settings)
    return (passes + 1) * settings.bootstrap_draws + signs + contrasts


class _Steps:
    """Progress of several steps as one."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._begun = 0

    def begin(self, work: int) -> Progress | None:
        """A callback for the next step, of `work` units."""
        before = self._begun
        self._begun += work
        outer = self._progress
        if outer is None:
            return None

        def note(done: int, total: int) -> None:
            del total
            outer(before + done, self._total)

        return note
