"""Family-wise error: Holm's adjustment in whole numbers, and the groups that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipeline.inference.exact import ALPHA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pipeline.inference.matrix import IntArray

__all__ = ["holm", "ranking_groups", "resolved"]


def holm(numerators: IntArray, denominator: int) -> IntArray:
    """Numerators of Holm's adjusted p values over the same denominator.

    The r-th smallest of m (from r = 0) is multiplied by m - r; values are made monotone and capped
    at 1 (Holm, Scandinavian Journal of Statistics 6(2), 1979).

    Parameters
    ----------
    numerators
        p values times `denominator`, shape (m,).
    """
    order = np.argsort(numerators, kind="stable")
    factors = np.arange(numerators.size, 0, -1, dtype=np.int64)
    adjusted = np.empty_like(numerators)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * numerators[order]), denominator)
    return adjusted


def resolved(numerators: IntArray, denominator: int) -> NDArray[np.bool_]:
    """Which adjusted p values lie below `ALPHA`, compared exactly, shape (m,)."""
    return numerators * ALPHA.denominator < ALPHA.numerator * denominator


def ranking_groups(order: Sequence[int], differs: NDArray[np.bool_]) -> tuple[int, ...]:
    """Groups 1, 2, … of models, walking down the ranking.

    A model joins the current group if it differs from none of its members, else opens the next.

    Parameters
    ----------
    order
        Models from the first rank down.
    differs
        Whether two models differ (resolved), symmetric, shape (M, M).

    Returns
    -------
    tuple of int
        Group of each model, in model order.
    """
    groups = [0] * len(order)
    members: list[int] = []
    current = 0
    for model in order:
        if not members or differs[model, members].any():
            members = []
            current += 1
        members.append(model)
        groups[model] = current
    return tuple(groups)
