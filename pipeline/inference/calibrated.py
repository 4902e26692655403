"""The contract ``calibrated``: what follows from step-down tests, the band and the guessers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipeline.inference.attainable import band_limit, chance_limit, pair_limit
from pipeline.inference.multiplicity import resolved
from pipeline.inference.ranksets import places, resolved_better
from pipeline.inference.results import Calibrated
from pipeline.inference.stepdown import step_down

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from pipeline.inference.bands import Band
    from pipeline.inference.flips import FlipCounts
    from pipeline.inference.guessers import Guessers
    from pipeline.inference.matrix import ScoreMatrix
    from pipeline.inference.results import Contrasts
    from pipeline.inference.stepdown import PairOrder

__all__ = ["build_calibrated"]


def build_calibrated(
    matrix: ScoreMatrix,
    pairs: Contrasts,
    *,
    scores: Sequence[Fraction],
    order: PairOrder,
    flips: FlipCounts,
    band: Band,
    guessers: Guessers,
) -> Calibrated:
    """What the contract says, from what was drawn.

    Parameters
    ----------
    scores
        Exact scores of the matrix's routes.
    pairs, order, flips
        All pairs, the order in which they are stepped through, and their sign flips.
    band, guessers
        The band for all routes at once, and the routes against guessers.
    """
    adjusted = step_down(flips, order)
    apart = resolved(adjusted, pairs.p_denominator)
    comparable = np.zeros(len(pairs), dtype=np.bool_)
    comparable[order.pairs] = True
    smallest = int(matrix.family_sizes.min())
    limits = (
        pair_limit(matrix.clusters, flips.draws),
        band_limit(band, smallest, matrix.tasks, matrix.clusters),
        chance_limit(matrix.models, guessers.draws),
    )
    return Calibrated(
        step_down_numerators=adjusted,
        comparable=comparable,
        resolved=apart,
        places=places(
            scores,
            resolved_better(
                pairs.left,
                pairs.right,
                np.where(apart, pairs.difference_numerators, 0),
                matrix.models,
            ),
        ),
        band=band,
        guessers=guessers,
        limits=tuple(limit for limit in limits if limit is not None),
    )
