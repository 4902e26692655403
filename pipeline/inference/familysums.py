"""Family sums of resampled clusters: the one product behind scores and their variances."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.exact import matmul_dtype, product
from schemas.taskset import BEST_BPS

if TYPE_CHECKING:
    from pipeline.inference.exact import Real
    from pipeline.inference.matrix import IntArray, ScoreMatrix

__all__ = ["FamilyDraw", "FamilySums"]


class FamilyDraw(NamedTuple):
    """One family in some replicates.

    Attributes
    ----------
    counts
        How often each of its clusters was drawn, shape (B, its clusters).
    sums
        Sums of all rows over its drawn tasks, in basis points, shape (B, M+1).
    sizes
        Number of its drawn tasks, shape (B, 1).
    """

    counts: Real
    sums: Real
    sizes: Real


class FamilySums:
    """What counts of clusters are multiplied with, family by family: only its clusters count.

    Parameters
    ----------
    matrix
        M routes on T tasks in C clusters; chance is one more row.

    Raises
    ------
    InputError
        Sums would not be exact.

    Attributes
    ----------
    clusters
        Clusters that hold tasks of each family.
    """

    def __init__(self, matrix: ScoreMatrix) -> None:
        sizes = matrix.cluster_family_sizes()
        sums = matrix.cluster_family_sums()
        dtype = matmul_dtype(matrix.clusters * int(sizes.max()) * BEST_BPS)
        self.clusters: tuple[IntArray, ...] = tuple(np.flatnonzero(column) for column in sizes.T)
        self._tables: list[Real] = [
            np.column_stack([sums[rows, f], sizes[rows, f]]).astype(dtype)
            for f, rows in enumerate(self.clusters)
        ]

    def draw(self, counts: Real) -> tuple[FamilyDraw, ...]:
        """All families in replicates with these counts of clusters, shape (B, C)."""
        drawn = []
        for rows, table in zip(self.clusters, self._tables, strict=True):
            own = counts.take(rows, axis=1).astype(table.dtype, copy=False)
            found = product(own, table)
            drawn.append(FamilyDraw(own, found[:, :-1], found[:, -1:]))
        return tuple(drawn)
