"""How well the panels agree about the models: Pearson and Spearman correlation of their scores."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import NANO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.matrix import ScoreMatrix

__all__ = [
    "PanelCorrelations",
    "correlation_nano",
    "panel_agreements",
    "panel_scores",
    "rank_correlation_nano",
    "shared_ranks",
]


class PanelCorrelations(NamedTuple):
    """Agreement of two panels over models, as correlations times 10^9.

    A correlation is None when a panel gives all models the same score, or when the panels do not
    hold the same families, so that their scores are not the same quantity.
    """

    left: str
    right: str
    pearson_nano: int | None
    spearman_nano: int | None


def panel_scores(matrix: ScoreMatrix) -> tuple[tuple[Fraction, ...], ...]:
    """Scores in basis points, per model and panel: the mean over the panel's families."""
    columns = []
    for panel in range(len(matrix.panel_names)):
        masks = [(matrix.panel == panel) & (matrix.family == f) for f in range(matrix.families)]
        present = [mask for mask in masks if mask.any()]
        sums = [matrix.scores_bps[:, mask].sum(axis=1).tolist() for mask in present]
        sizes = [int(mask.sum()) for mask in present]
        columns.append([_mean_of_means(parts, sizes) for parts in zip(*sums, strict=True)])
    return tuple(zip(*columns, strict=True))


def panel_agreements(
    matrix: ScoreMatrix, scores: Sequence[Sequence[Fraction]]
) -> tuple[PanelCorrelations, ...]:
    """Agreement of every two panels; none for a single panel.

    Parameters
    ----------
    scores
        Per model and panel, as `panel_scores` gives them.
    """
    families = [
        set(matrix.family[matrix.panel == p].tolist()) for p in range(len(matrix.panel_names))
    ]
    found = []
    for left, right in itertools.combinations(range(len(matrix.panel_names)), 2):
        pearson = spearman = None
        if families[left] == families[right]:
            x = [row[left] for row in scores]
            y = [row[right] for row in scores]
            pearson = correlation_nano(x, y)
            spearman = rank_correlation_nano(x, y)
        found.append(
            PanelCorrelations(
                matrix.panel_names[left], matrix.panel_names[right], pearson, spearman
            )
        )
    return tuple(found)


def rank_correlation_nano(
    x: Sequence[int] | Sequence[Fraction], y: Sequence[int] | Sequence[Fraction]
) -> int | None:
    """Spearman's rank correlation times 10^9, ties at their mean rank; None without variance."""
    return correlation_nano(_mean_ranks(x), _mean_ranks(y))


def correlation_nano(x: Sequence[Fraction], y: Sequence[Fraction]) -> int | None:
    """Pearson's correlation times 10^9, rounded; None without variance."""
    xs, ys = _whole(x), _whole(y)
    count = len(xs)
    sx, sy = sum(xs), sum(ys)
    cross = count * sum(a * b for a, b in zip(xs, ys, strict=True)) - sx * sy
    square = (count * sum(a * a for a in xs) - sx * sx) * (count * sum(b * b for b in ys) - sy * sy)
    if square == 0:
        return None
    root = math.isqrt(4 * (cross * NANO) ** 2 // square)
    return (1 if cross >= 0 else -1) * ((root + 1) // 2)


def shared_ranks(scores: Sequence[Fraction]) -> tuple[int, ...]:
    """Rank of each score: 1 and one for every higher score, so that equal ones share it."""
    falling = sorted(scores, reverse=True)
    first = {score: place for place, score in reversed([*enumerate(falling, start=1)])}
    return tuple(first[score] for score in scores)


def _mean_of_means(sums: Sequence[int], sizes: Sequence[int]) -> Fraction:
    means = (Fraction(total, size) for total, size in zip(sums, sizes, strict=True))
    return sum(means, Fraction(0)) / len(sizes)


def _whole(values: Sequence[int] | Sequence[Fraction]) -> list[int]:
    """Values times their common denominator, which no correlation can see."""
    common = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (common // value.denominator) for value in values]


def _mean_ranks(values: Sequence[int] | Sequence[Fraction]) -> list[Fraction]:
    """Ranks from 1, tied values at the mean of their places."""
    whole = np.array(_whole(values), dtype=object)
    _, inverse, counts = np.unique(whole, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return [Fraction(int(2 * last[i] - counts[i] + 1), 2) for i in inverse]
