"""Our results in the published data set's words, so that the two can be compared figure by figure.

Scores are in score units (0 to 100) as floats, as published; a p value is its numerator, the count
behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.inference.exact import ALPHA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from pipeline.inference import Analysis, InferredContrast, Interval, ScoreMatrix
    from schemas.parameters import StatisticsParameters
    from schemas.results import Coverage

__all__ = ["OurResults", "leaderboard_rows", "pair_rows", "release_analysis"]

_BPS = 100
_NANO = 1_000_000_000


class OurResults(NamedTuple):
    """An analysis with the names of its rows: published model ids, in the matrix's order."""

    models: tuple[str, ...]
    matrix: ScoreMatrix
    analysis: Analysis
    coverage: Mapping[str, Sequence[Coverage]]
    parameters: StatisticsParameters

    @property
    def order(self) -> list[int]:
        """Models by rank."""
        standings = self.analysis.standings
        return sorted(range(len(standings)), key=lambda model: standings[model].rank)

    @property
    def places(self) -> dict[int, int]:
        """Published rank of each model: equal scores rank in the order of the matrix."""
        return {model: place for place, model in enumerate(self.order, start=1)}


def leaderboard_rows(results: OurResults) -> list[dict[str, Any]]:
    """Rows of `leaderboard.jsonl`, by rank."""
    return [_standing(results, model) for model in results.order]


def pair_rows(results: OurResults) -> list[dict[str, Any]]:
    """Rows of `pairwise_comparisons.jsonl`."""
    sizes = _sizes(results.matrix)
    return [
        {
            "bootstrap_95_ci": _interval(pair.interval_nanobps),
            "cohen_dz": None if pair.dz_nano is None else pair.dz_nano / _NANO,
            "direction": _direction(pair),
            "holm_p": int(results.analysis.pairs.holm_numerators[place]),
            "holm_significant": pair.resolved,
            "left_index": pair.left,
            "left_model_id": results.models[pair.left],
            "mean_difference": _points(pair.difference_bps),
            "right_index": pair.right,
            "right_model_id": results.models[pair.right],
            "shared_valid_tasks": results.matrix.tasks,
            "shared_valid_tasks_per_family": sizes,
            "sign_flip_p": int(results.analysis.pairs.p_numerators[place]),
        }
        for place, pair in enumerate(results.analysis.pairs)
    ]


def release_analysis(results: OurResults) -> dict[str, Any]:
    """The `analysis` of `release.json`."""
    analysis, matrix, parameters = results.analysis, results.matrix, results.parameters
    rows = {row["model_id"]: row for row in leaderboard_rows(results)}
    replication = [rows[name].pop("panel_replication") for name in results.models]
    return {
        "definitive_top_model_id": _definitive_top(results),
        "inference": {
            "bootstrap_resamples": parameters.bootstrap,
            "chance_hypotheses": len(analysis.chance),
            "complete_case_matrix": True,
            "familywise_alpha": float(ALPHA),
            "independent_cluster_count": matrix.clusters,
            "max_t_critical_value": analysis.critical_nano / _NANO,
            "pairwise_hypotheses": len(analysis.pairs),
            "permutation_resamples": parameters.sign_flips,
            "seed": parameters.seed,
        },
        "models": [rows[name] for name in results.models],
        "pairwise_comparisons": pair_rows(results),
        "panel_replication": _replication(results, replication),
        "resolved_pair_count": int(analysis.pairs.resolved.sum()),
    }


def _standing(results: OurResults, model: int) -> dict[str, Any]:
    standing, matrix = results.analysis.standings[model], results.matrix
    name = results.models[model]
    families = zip(matrix.family_names, standing.family_scores_bps, strict=True)
    return {
        "bootstrap_rank_95_interval": list(standing.rank_interval),
        "chance_comparison": _chance(results, model),
        "coverage": _coverage(results.coverage[name], matrix.tasks, _sizes(matrix)),
        "family_scores": {family: _points(score) for family, score in families},
        "flavourbench_score": _points(standing.score_bps),
        "model_id": name,
        "panel_replication": _panels(results, model),
        "point_estimate_rank": results.places[model],
        "score_pointwise_95_ci": _interval(standing.pointwise_nanobps),
        "score_simultaneous_95_ci": _interval(standing.simultaneous_nanobps),
        "score_standard_error": standing.se_nanobps / (_NANO * _BPS),
        "statistical_rank_group": standing.group,
    }


def _chance(results: OurResults, model: int) -> dict[str, Any]:
    chance = results.analysis.chance
    contrast = chance[model]
    return {
        "bootstrap_95_ci": _interval(contrast.interval_nanobps),
        "exact_chance_score": _points(results.analysis.chance_score_bps),
        "holm_p": int(chance.holm_numerators[model]),
        "holm_significant_above_chance": contrast.resolved and contrast.difference_bps > 0,
        "mean_difference": _points(contrast.difference_bps),
        "sign_flip_p": int(chance.p_numerators[model]),
    }


def _coverage(rows: Iterable[Coverage], core: int, sizes: dict[str, int]) -> dict[str, Any]:
    """Counts of a model over the core; an imported set's tasks are the core and no other."""
    parts = list(rows)
    valid = sum(row.core for row in parts)
    return {
        "completed": sum(row.completed for row in parts),
        "parseable": sum(row.parsed for row in parts),
        "scheduled": sum(row.expected for row in parts),
        "valid_scored": valid,
        "valid_scored_per_family": sizes,
        "valid_scored_rate": valid / core,
    }


def _panels(results: OurResults, model: int) -> dict[str, Any]:
    scores = [_points(score) for score in results.analysis.standings[model].panel_scores_bps]
    named = dict(zip(results.matrix.panel_names, scores, strict=True))
    pair = len(scores) == 2  # noqa: PLR2004  # the published layout knows two panels
    difference = {"difference": scores[1] - scores[0]} if pair else {}
    return named | difference | {"model_id": results.models[model]}


def _replication(results: OurResults, models: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "models": models,
        "panels": list(results.matrix.panel_names),
    }
    for agreement in results.analysis.agreements[:1]:
        pearson, spearman = agreement.pearson_nano, agreement.spearman_nano
        found["score_pearson"] = None if pearson is None else pearson / _NANO
        found["rank_spearman"] = None if spearman is None else spearman / _NANO
    return found


def _definitive_top(results: OurResults) -> str | None:
    """The first model, where it differs from every other."""
    top = results.order[0]
    pairs = [pair for pair in results.analysis.pairs if top in (pair.left, pair.right)]
    return results.models[top] if all(pair.resolved for pair in pairs) else None


def _direction(pair: InferredContrast) -> str:
    if not pair.difference_bps:
        return "tied"
    return "left_higher" if pair.difference_bps > 0 else "right_higher"


def _sizes(matrix: ScoreMatrix) -> dict[str, int]:
    return dict(zip(matrix.family_names, matrix.family_sizes.tolist(), strict=True))


def _points(bps: Fraction) -> float:
    return float(bps / _BPS)


def _interval(ends: Interval) -> list[float]:
    return [end / (_NANO * _BPS) for end in ends]
