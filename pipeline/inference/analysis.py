"""From a score matrix to standings, contrasts, chance and agreement (docs/statistics.md).

The steps, in order:

1. Scores are means of family means, exact fractions; ranks follow, equal scores share one.
2. One cluster bootstrap of all models and chance gives standard errors, pointwise intervals, the
   simultaneous band, rank intervals and the intervals of all contrasts.
3. Sign-flip tests of all pairs and of every model against chance; Holm within each of the two.
4. Groups of models that the pair tests do not tell apart; agreement of the panels.

The contract ``calibrated`` (inference spec) adds, from the same draws: step-down tests of pairs,
rank sets and letters, a studentized band, routes against guessers, and what could not be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.attainable import band_possible
from pipeline.inference.bands import Studentizer, studentized_band
from pipeline.inference.bootstrap import (
    rank_intervals,
    resampled_scores,
    score_spread,
)
from pipeline.inference.calibrated import build_calibrated
from pipeline.inference.contrasts import build_contrasts
from pipeline.inference.exact import common_weights
from pipeline.inference.fans import chance_fans, fan_rows, pair_fans
from pipeline.inference.flips import cluster_sums, flip_counts
from pipeline.inference.guessers import against_guessers, guesser_scores, sound_maps
from pipeline.inference.intervals import contrast_intervals
from pipeline.inference.multiplicity import ranking_groups
from pipeline.inference.panels import panel_agreements, panel_scores, shared_ranks
from pipeline.inference.results import Analysis, InferredStanding
from pipeline.inference.settings import Settings
from pipeline.inference.stepdown import order_pairs
from pipeline.inference.streams import MAX_ENUMERATED_CLUSTERS, open_stream
from pipeline.inference.workers import Drawing
from pipeline.progress import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.bands import Band
    from pipeline.inference.bootstrap import EachBlock, Spread
    from pipeline.inference.exact import FamilyWeights, Real
    from pipeline.inference.familysums import FamilyDraw
    from pipeline.inference.fans import Fan
    from pipeline.inference.flips import FlipCounts
    from pipeline.inference.matrix import IntArray, ScoreMatrix
    from pipeline.inference.results import Calibrated, Contrasts, Interval
    from pipeline.inference.stepdown import PairOrder
    from pipeline.inference.streams import DrawStream, Role
    from pipeline.progress import Progress

__all__ = ["Settings", "analyse"]


class _Resampling(NamedTuple):
    """What the draws say: spread, ranks, (2, M) and (2, P) ends of intervals, and the band."""

    spread: Spread
    ranks: tuple[Interval, ...]
    chance: IntArray
    pairs: IntArray
    band: Band | None


class _Tests(NamedTuple):
    chance: FlipCounts
    pairs: FlipCounts
    order: PairOrder | None = None


def analyse(
    matrix: ScoreMatrix,
    settings: Settings,
    progress: Progress = silent,
    *,
    maps_bps: IntArray | None = None,
) -> Analysis:
    """All statistics of a score matrix. The same inputs give the same integers everywhere.

    Parameters
    ----------
    matrix
        M models on T tasks.
    settings
        Seed, numbers of draws, stream.
    progress
        Called with the work done and its total, in draws and contrasts.
    maps_bps
        Scores of all portfolios of each task, shape (T, 56); ``calibrated`` needs them.

    Raises
    ------
    InputError
        Sums would not be exact, some family hardly ever appears in a resample, the stream or seed
        is not usable, or ``calibrated`` lacks sound maps.
    """
    published = settings.inference == "published"
    maps = None if published else sound_maps(maps_bps, matrix.tasks)
    stream = open_stream(settings.stream, settings.seed)
    weights = common_weights(matrix.family_sizes)
    scores = _scores(matrix.scores_bps, matrix, weights)
    steps = _Steps(progress, _work(matrix, settings, stream))
    run = _Run(matrix, weights, settings, stream, steps, maps)
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
        calibrated=run.calibrated(scores, resampling.band, tests, pairs),
    )


@dataclass(frozen=True)
class _Run:
    """The steps that draw, with what they all need."""

    matrix: ScoreMatrix
    weights: FamilyWeights
    settings: Settings
    stream: DrawStream
    steps: _Steps
    maps_bps: IntArray | None

    def resample(self, scores: Sequence[Fraction]) -> _Resampling:
        """One bootstrap for everything, or a second one for pairs when the stream asks for it."""
        count = self.matrix.models
        studentizer = None if self.settings.inference == "published" else Studentizer(self.matrix)
        largest = np.empty(self.settings.bootstrap_draws, dtype=np.float64)

        def studentize(counts: Real, drawn: tuple[FamilyDraw, ...], replicates: slice) -> None:
            if studentizer is not None:
                largest[replicates] = studentizer.largest(counts, drawn)

        resampled = self._resampled("scores", studentize)
        band = None
        if studentizer is not None:
            fit = band_possible(int(self.matrix.family_sizes.min()), self.matrix.clusters)
            band = studentized_band(studentizer, scores, largest, printable=fit)
        spread = score_spread(resampled[:count], scores)
        ranks = rank_intervals(resampled[:count], self._replicates())
        chance = self._intervals(resampled, chance_fans(count), count)
        if not self.stream.shared:
            resampled = self._resampled("pairs")
        pairs = self._intervals(resampled, pair_fans(count), count * (count - 1) // 2)
        return _Resampling(spread, ranks, chance, pairs, band)

    def test(self) -> _Tests:
        """Sign-flip tests against chance and of pairs; one pass when they share their draws."""
        count = self.matrix.models
        chance, pairs = chance_fans(count), pair_fans(count)
        if not self.stream.shared:
            return _Tests(self._flips(chance, "chance"), self._flips(pairs, "pairs"))
        order = None
        if self.settings.inference == "calibrated":
            rows = fan_rows(pairs)
            order = order_pairs(cluster_sums(self.matrix, self.weights), rows.left, rows.right)
        both = self._flips(chance + pairs, "pairs", order)
        return _Tests(
            both._replace(extreme=both.extreme[:count]),
            both._replace(extreme=both.extreme[count:]),
            order,
        )

    def calibrated(
        self, scores: Sequence[Fraction], band: Band | None, tests: _Tests, pairs: Contrasts
    ) -> Calibrated | None:
        """What the contract ``calibrated`` adds; None under ``published``."""
        if band is None or tests.order is None or self.maps_bps is None:
            return None
        guessed = guesser_scores(
            self.matrix,
            self.maps_bps,
            self.weights,
            self.settings.seed,
            draws=self.settings.sign_draws,
            threads=self.settings.threads,
            progress=self.steps.begin(self.settings.sign_draws),
        )
        guessers = against_guessers(scores, guessed, self.weights.denominator)
        return build_calibrated(
            self.matrix,
            pairs,
            scores=scores,
            order=tests.order,
            flips=tests.pairs,
            band=band,
            guessers=guessers,
        )

    def _resampled(self, role: Role, also: EachBlock | None = None) -> IntArray:
        return resampled_scores(self.matrix, self._replicates(), role, also)

    def _intervals(self, resampled: IntArray, fans: tuple[Fan, ...], contrasts: int) -> IntArray:
        return contrast_intervals(
            resampled,
            fans,
            threads=self.settings.threads,
            progress=self.steps.begin(contrasts),
        )

    def _flips(
        self, fans: tuple[Fan, ...], role: Role, order: PairOrder | None = None
    ) -> FlipCounts:
        rows = _sign_rows(self.matrix, self.settings)
        return flip_counts(self.matrix, self.weights, fans, self._drawing(rows), role, order=order)

    def _replicates(self) -> Drawing:
        return self._drawing(self.settings.bootstrap_draws)

    def _drawing(self, draws: int) -> Drawing:
        """So many draws as the settings say, as the next step of all."""
        settings = self.settings
        return Drawing(
            self.stream, draws, settings.block, settings.threads, self.steps.begin(draws)
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
) -> tuple[InferredStanding, ...]:
    count = matrix.models
    order = sorted(range(count), key=lambda model: -scores[model])
    ranks = shared_ranks(scores)
    differs = np.zeros((count, count), dtype=np.bool_)
    differs[pairs.left, pairs.right] = pairs.resolved
    groups = ranking_groups(order, differs | differs.T)
    sizes = matrix.family_sizes.tolist()
    sums = [matrix.scores_bps[:, matrix.family == f].sum(axis=1) for f in range(matrix.families)]
    return tuple(
        InferredStanding(
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
    guesses = settings.sign_draws if settings.inference == "calibrated" else 0
    return (passes + 1) * settings.bootstrap_draws + signs + contrasts + guesses


class _Steps:
    """Progress of several steps as one."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._begun = 0

    def begin(self, work: int) -> Progress:
        """A callback for the next step, of `work` units."""
        before = self._begun
        self._begun += work
        outer = self._progress

        def note(done: int, total: int) -> None:
            del total
            outer(before + done, self._total)

        return note
