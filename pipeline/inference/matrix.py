"""The table that statistics are computed on: every ranked route's score on every task of the core.

A family's tasks are its strata's common core, a cluster holds the tasks of one anchor (they move
together), and a panel is one selection of tasks. Codes follow the order of first appearance, which
is what makes a resampled result a function of the table alone.

The chance of a task is its published ``chance_score_bps``: the mean of the task's 56 portfolio
scores rounded half to even to a whole basis point. The golden release uses these rounded values,
not the unrounded means (31.200824 against 31.200922 score units over its 534 tasks).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError
from schemas.taskset import BEST_BPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

__all__ = ["IntArray", "ScoreMatrix"]

IntArray = NDArray[np.int64]

_AXES = 2
_MIN_MODELS = 2
# Keeps T * (sum of squared differences) within int64.
_MAX_TASKS = 100_000


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of M models on T tasks, with the family, panel and cluster of each task.

    Build it with `from_labels`; arrays are copied and made read-only.

    Parameters
    ----------
    scores_bps
        Scores in basis points, 0..10000, shape (M, T), models in ranking-tie order.
    chance_bps
        Chance score of each task in basis points, shape (T,).
    family, panel, cluster
        Codes 0, 1, … of each task, shape (T,), numbered in order of first appearance.
    family_names, panel_names
        What the family and panel codes stand for.

    Raises
    ------
    InputError
        Fewer than two models, no tasks, shapes that do not fit, a score outside 0..10000 (a missing
        cell is one: the caller completes the core first), or codes that are not as described.
    """

    scores_bps: IntArray
    chance_bps: IntArray
    family: IntArray
    panel: IntArray
    cluster: IntArray
    family_names: tuple[str, ...]
    panel_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("scores_bps", "chance_bps", "family", "panel", "cluster"):
            object.__setattr__(self, name, _frozen_integers(name, getattr(self, name)))
        _check_shapes(self)
        _check_scores("scores_bps", self.scores_bps)
        _check_scores("chance_bps", self.chance_bps)
        _check_codes("family", self.family, len(self.family_names))
        _check_codes("panel", self.panel, len(self.panel_names))
        _check_codes("cluster", self.cluster, None)

    @classmethod
    def from_labels(
        cls,
        scores_bps: ArrayLike,
        chance_bps: ArrayLike,
        families: Sequence[str],
        panels: Sequence[str],
        clusters: Sequence[str],
    ) -> ScoreMatrix:
        """A matrix whose codes are taken from labels, one per task, in order of first appearance.

        Raises
        ------
        InputError
            As the class does.
        """
        names = [tuple(dict.fromkeys(labels)) for labels in (families, panels, clusters)]
        codes = [
            _codes(labels, known)
            for labels, known in zip((families, panels, clusters), names, strict=True)
        ]
        return cls(
            scores_bps=np.asarray(scores_bps),
            chance_bps=np.asarray(chance_bps),
            family=codes[0],
            panel=codes[1],
            cluster=codes[2],
            family_names=names[0],
            panel_names=names[1],
        )

    @property
    def models(self) -> int:
        """Number of models M."""
        return len(self.scores_bps)

    @property
    def tasks(self) -> int:
        """Number of tasks T."""
        return len(self.chance_bps)

    @property
    def families(self) -> int:
        """Number of families F."""
        return len(self.family_names)

    @property
    def clusters(self) -> int:
        """Number of independent clusters C."""
        return int(self.cluster.max()) + 1

    @property
    def family_sizes(self) -> IntArray:
        """Tasks per family, shape (F,)."""
        return np.bincount(self.family, minlength=self.families).astype(np.int64)

    @property
    def rows_bps(self) -> IntArray:
        """Scores with the chance of each task as one more row, shape (M+1, T).

        Chance is compared with a model exactly as another model is.
        """
        return np.concatenate([self.scores_bps, self.chance_bps[None, :]])

    def cluster_family_sizes(self) -> IntArray:
        """Tasks of each cluster in each family, shape (C, F)."""
        sizes = np.zeros((self.clusters, self.families), dtype=np.int64)
        np.add.at(sizes, (self.cluster, self.family), 1)
        return sizes

    def cluster_family_sums(self) -> IntArray:
        """Sums of `rows_bps` in each cluster and family, shape (C, F, M+1), in basis points."""
        rows = self.rows_bps
        sums = np.zeros((self.clusters, self.families, rows.shape[0]), dtype=np.int64)
        np.add.at(sums, (self.cluster, self.family), rows.T)
        return sums


def _codes(labels: Sequence[str], known: Sequence[str]) -> IntArray:
    number = {name: i for i, name in enumerate(known)}
    return np.array([number[label] for label in labels], dtype=np.int64)


def _frozen_integers(name: str, values: ArrayLike) -> IntArray:
    array = np.array(values)
    if array.dtype.kind not in "iu":
        raise _refusal("integers", f"values of type {array.dtype}", name)
    array = array.astype(np.int64)
    array.flags.writeable = False
    return array


def _check_shapes(matrix: ScoreMatrix) -> None:
    scores = matrix.scores_bps
    if scores.ndim != _AXES or not 0 < scores.shape[1] <= _MAX_TASKS:
        raise _refusal(
            f"models x tasks, with 1..{_MAX_TASKS} tasks", f"shape {scores.shape}", "scores_bps"
        )
    if scores.shape[0] < _MIN_MODELS:
        raise InputError(
            f"at least {_MIN_MODELS} ranked routes",
            f"{scores.shape[0]}",
            "score matrix",
            "Add a route to `routes` in params.yaml and execute it.",
        )
    for name in ("chance_bps", "family", "panel", "cluster"):
        shape = getattr(matrix, name).shape
        if shape != (scores.shape[1],):
            raise _refusal(f"one value for each of {scores.shape[1]} tasks", f"shape {shape}", name)


def _check_scores(name: str, values: IntArray) -> None:
    wrong = np.argwhere((values < 0) | (values > BEST_BPS))
    if wrong.size:
        place = tuple(int(i) for i in wrong[0])
        raise InputError(
            f"scores of 0..{BEST_BPS} basis points",
            str(int(values[place])),
            f"score matrix, {name}{list(place)}",
            "Every cell of the common core needs a score; missing cells are never filled in.",
        )


def _check_codes(name: str, codes: IntArray, expected: int | None) -> None:
    present, first = np.unique(codes, return_index=True)
    count = present.size if expected is None else expected
    if expected is not None and present.size < expected and set(present) <= set(range(expected)):
        absent = sorted(set(range(expected)) - set(present.tolist()))
        raise _refusal("tasks for every code", f"none for {absent}", name)
    if not np.array_equal(present, np.arange(count)) or np.any(np.diff(first) < 0):
        raise _refusal(
            f"codes 0..{count - 1} in order of first appearance", f"{present[:8].tolist()}", name
        )


def _refusal(expected: str, found: str, name: str) -> InputError:
    return InputError(
        expected, found, f"score matrix, {name}", "Rebuild the matrix from scores and core."
    )
