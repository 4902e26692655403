"""Benchmarks with known truth, drawn from the real score maps of the starter release."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.freeze.compile import compile_tasks
from pipeline.inference.matrix import ScoreMatrix
from pipeline.release.stage import read_source
from pipeline.workspace import open_workspace
from schemas.parameters import FreezeParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.inference.matrix import IntArray

__all__ = ["SCENARIOS", "Policy", "Sample", "World", "field", "sample_benchmark", "world"]

SCENARIOS = ("equal", "some", "close", "guess")
_ROOT = Path(__file__).parent.parent
# Weights of ranked portfolios are whole numbers over this.
_SCALE = 2**40


class Policy(NamedTuple):
    """Answers the best portfolio with a chance of `best` / 2^40, else one by falling weights.

    The weight of the portfolio of rank r is the whole number nearest to 2^40 * decay^r, at least 1.
    """

    best: int
    decay: float

    def weights(self) -> list[int]:
        """Weight of each rank, best first."""
        return [max(1, round(_SCALE * self.decay**rank)) for rank in range(56)]


class World(NamedTuple):
    """The frozen tasks: maps by family, shape (tasks, 56), best score first."""

    maps: tuple[IntArray, ...]

    def truth(self, policy: Policy) -> Fraction:
        """Exact true score: the mean over families of the mean over all tasks."""
        weights = policy.weights()
        means = []
        for maps in self.maps:
            by_rank = maps.sum(axis=0).tolist()
            ladder = Fraction(
                sum(w * s for w, s in zip(weights, by_rank, strict=True)), sum(weights)
            )
            best = Fraction(policy.best, _SCALE)
            means.append((best * by_rank[0] + (1 - best) * ladder) / len(maps))
        return sum(means, Fraction(0)) / len(means)


@cache
def world() -> World:
    """Tasks of the ranked families of the starter, compiled from its release."""
    parameters = open_workspace(_ROOT).parameters
    content, _ = read_source(parameters.release, _ROOT / parameters.release.path)
    if not isinstance(parameters.freeze, FreezeParameters):
        raise SystemExit("calibrate compiles its tasks: set freeze.source to compiled")
    tasks = compile_tasks(content.ingredients, content.directions, parameters.freeze)
    return World(
        tuple(
            np.array([sorted(t.scores_bps, reverse=True) for t in tasks if t.family == family])
            for family in parameters.score.families
        )
    )


@cache
def field(scenario: str, routes: int) -> tuple[Policy, ...]:
    """The routes of a scenario."""
    uniform = Policy(0, 1.0)
    if scenario == "guess":
        return (uniform,) * (routes - 1) + (Policy(_SCALE // 10, 1.0),)
    steady = Policy(0, 0.9)
    if scenario == "equal":
        return (steady,) * routes
    if scenario == "close":
        span = min(0.5, 0.02 * (routes - 1))
        shares = [0.2 + span * place / (routes - 1) for place in range(routes)]
        return tuple(Policy(round(share * _SCALE), 1.0) for share in shares)
    # As good as the steady one, but now the best and now anything.
    low, high = (world().truth(Policy(best, 1.0)) for best in (0, _SCALE))
    erratic = Policy(round((world().truth(steady) - low) / (high - low) * _SCALE), 1.0)
    same = max(2, routes // 2)
    equals = [steady if place % 2 else erratic for place in range(same)]
    apart = [Policy(round(_SCALE * (0.05 + 0.85 * p / routes)), 1.0) for p in range(routes - same)]
    return (*equals, *apart)


class Sample(NamedTuple):
    """One simulated benchmark."""

    matrix: ScoreMatrix
    maps: IntArray


def sample_benchmark(policies: Sequence[Policy], tasks: int, rng: np.random.Generator) -> Sample:
    """Draw tasks of every family alike, and an answer of every route to each."""
    maps, families = [], []
    for family, known in enumerate(world().maps):
        count = tasks // len(world().maps)
        maps.append(known[rng.integers(0, len(known), count)])
        families += [str(family)] * count
    drawn = np.concatenate(maps)
    scores = np.empty((len(policies), len(drawn)), dtype=np.int64)
    for route, policy in enumerate(policies):
        weights = np.cumsum(np.array(policy.weights(), dtype=np.int64))
        rank = np.searchsorted(weights, rng.integers(0, weights[-1], len(drawn)), side="right")
        rank[rng.integers(0, _SCALE, len(drawn)) < policy.best] = 0
        scores[route] = drawn[np.arange(len(drawn)), rank]
    chance = np.rint(drawn.mean(axis=1)).astype(np.int64)
    anchors = [str(task) for task in range(len(drawn))]
    return Sample(
        ScoreMatrix.from_labels(scores, chance, families, ["all"] * len(drawn), anchors), drawn
    )
