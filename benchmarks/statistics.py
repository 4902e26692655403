"""Statistics of 27 models x 534 tasks: this project's code against a plain implementation.

Ours runs under both contracts; ``calibrated`` adds step-down tests, a studentized band and as many
guessers as there are sign rows. The plain one does what ``published`` does, on the same random
scores: 50,000 bootstrap replicates, 100,000 sign rows, all 351 pairs with intervals. It is NumPy as
one would first write it: library draws in batches, float64 throughout, one pair at a time
(`python -m benchmarks.statistics`).
`--scale` goes to 100,000 tasks with the same models and a tenth of the draws.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from benchmarks.measure import Curve, Race, main

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pipeline.inference import InferenceName, ScoreMatrix

MODELS, TASKS, FAMILIES = 27, 534, 3
REPLICATES, SIGN_ROWS = 50_000, 100_000
SEED = 20_260_820


class Plain(NamedTuple):
    """What the plain implementation finds; score units, pairs i < j in order."""

    scores: NDArray[np.float64]
    errors: NDArray[np.float64]
    intervals: NDArray[np.float64]
    bands: NDArray[np.float64]
    ranks: NDArray[np.float64]
    pair_intervals: list[NDArray[np.float64]]
    effect_sizes: list[float]
    p_values: NDArray[np.float64]
    holm: NDArray[np.float64]


def make_matrix(models: int, count: int = TASKS) -> ScoreMatrix:
    """Random scores with differences between models, one cluster per task."""
    import numpy as np

    from pipeline.inference import ScoreMatrix

    rng = np.random.default_rng(SEED)
    skill = np.linspace(8500, 3500, models)[:, None]
    scores = np.clip(skill + rng.normal(0, 2500, size=(models, count)), 0, 10_000)
    tasks = range(count)
    return ScoreMatrix.from_labels(
        scores.astype(np.int64),
        np.full(count, 3100),
        [f"family {task % FAMILIES}" for task in tasks],
        [f"panel {task // (count // 2)}" for task in tasks],
        [f"anchor {task}" for task in tasks],
    )


def run_ours(prepared: object, share: int = 1, inference: InferenceName = "published") -> str:
    import numpy as np

    from pipeline.inference import Settings, analyse

    matrix = cast("ScoreMatrix", prepared)
    settings = Settings(
        seed=SEED,
        bootstrap_draws=REPLICATES // share,
        sign_draws=SIGN_ROWS // share,
        inference=inference,
    )
    maps = None
    if inference == "calibrated":
        maps = np.random.default_rng(SEED).integers(0, 10_001, (matrix.tasks, 56))
    found = analyse(matrix, settings, maps_bps=maps)
    return _evidence([float(standing.score_bps / 100) for standing in found.standings])


def run_plain(prepared: object) -> str:
    found = plain_statistics(cast("ScoreMatrix", prepared))
    return _evidence(found.scores[:-1].tolist())


def _evidence(scores: list[float]) -> str:
    """Scores, which do not depend on draws; the golden tests compare all that does."""
    return " ".join(f"{score:.6f}" for score in scores)


def plain_statistics(matrix: ScoreMatrix) -> Plain:
    """Everything the report needs, written down as the method is described."""
    import numpy as np

    rows = matrix.rows_bps / 100
    weights = 1 / (matrix.families * matrix.family_sizes[matrix.family])
    scores = rows @ weights
    resampled = _plain_bootstrap(matrix, rows)
    models = resampled[:, :-1]
    errors = models.std(axis=0, ddof=1)
    critical = np.percentile(np.max(np.abs(models - scores[:-1]) / errors, axis=1), 95)
    order = np.argsort(-models, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, matrix.models + 1)[None, :], axis=1)
    rank_ends = np.percentile(ranks, [2.5, 97.5], axis=0)
    pairs = [(i, j) for i in range(matrix.models) for j in range(i + 1, matrix.models)]
    chance = [(i, matrix.models) for i in range(matrix.models)]
    gaps = [rows[i] - rows[j] for i, j in pairs + chance]
    p_values = _plain_signs(matrix, np.array(gaps) * weights)[: len(pairs)]
    return Plain(
        scores=scores,
        errors=errors,
        intervals=np.percentile(models, [2.5, 97.5], axis=0),
        bands=np.stack([scores[:-1] - critical * errors, scores[:-1] + critical * errors]),
        ranks=np.stack([np.floor(rank_ends[0]), np.ceil(rank_ends[1])]),
        pair_intervals=[
            np.percentile(resampled[:, i] - resampled[:, j], [2.5, 97.5]) for i, j in pairs + chance
        ],
        effect_sizes=[float(gap.mean() / gap.std(ddof=1)) for gap in gaps],
        p_values=p_values,
        holm=_plain_holm(p_values),
    )


def _plain_bootstrap(matrix: ScoreMatrix, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Resampled scores, shape (replicates, rows)."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    count = matrix.clusters
    batches = []
    for _ in range(REPLICATES // 250):
        drawn = rng.multinomial(count, [1 / count] * count, size=250)[:, matrix.cluster]
        means = []
        for family in range(matrix.families):
            mask = matrix.family == family
            taken = drawn[:, mask].astype(np.float64)
            means.append(taken @ rows[:, mask].T / taken.sum(axis=1, keepdims=True))
        batches.append(np.mean(means, axis=0))
    return np.concatenate(batches)


def _plain_signs(matrix: ScoreMatrix, terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sign-flip p values of contrasts whose weighted task differences are `terms`, shape (P, T)."""
    import numpy as np

    rng = np.random.default_rng(SEED + 1)
    observed = np.abs(terms.sum(axis=1)) - 1e-12
    extreme = np.zeros(len(terms), dtype=np.int64)
    for _ in range(SIGN_ROWS // 1000):
        bits = rng.integers(0, 2, size=(1000, matrix.clusters), dtype=np.int8)
        signs = (2.0 * bits - 1)[:, matrix.cluster]
        extreme += np.count_nonzero(np.abs(signs @ terms.T) >= observed, axis=0)
    p_values: NDArray[np.float64] = (1 + extreme) / (1 + SIGN_ROWS)
    return p_values


def _plain_holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty_like(p_values)
    largest = 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * float(p_values[index])))
        adjusted[index] = largest
    return adjusted


RACE = Race(
    "benchmarks.statistics",
    f"statistics: {MODELS} models x {TASKS} tasks, {REPLICATES:,} replicates, {SIGN_ROWS:,} signs",
    lambda: make_matrix(MODELS),
    {
        "plain": run_plain,
        "ours": run_ours,
        "calibrated": partial(run_ours, inference="calibrated"),
    },
    repeats=3,
)
CURVE = Curve(
    f"statistics: {MODELS} models, {REPLICATES // 10:,} replicates, {SIGN_ROWS // 10:,} signs",
    "tasks", "tasks", (500, 5_000, 50_000, 100_000), partial(make_matrix, MODELS),
    partial(run_ours, share=10), repeats=1,
)  # fmt: skip

if __name__ == "__main__":
    main(RACE, CURVE)
