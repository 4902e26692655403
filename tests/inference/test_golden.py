"""The published analysis code's results on the golden data set, reproduced entirely."""

import json

import pytest

from pipeline.inference import Settings, analyse
from tests.inference.conftest import GOLDEN, read_lines

SEED = 20_260_820
UNIT = 1e-11  # 10^-9 basis points in score units
CLOSE = 1e-9


@pytest.fixture(scope="module")
def published(golden_matrix):
    return analyse(golden_matrix, Settings(seed=SEED, stream="pcg64"))


@pytest.fixture(scope="module")
def ours(golden_matrix):
    return analyse(golden_matrix, Settings(seed=SEED))


@pytest.fixture(scope="module")
def release(golden_matrix):
    return json.loads((GOLDEN / "release.json").read_text(encoding="utf-8"))["analysis"]


@pytest.fixture(scope="module")
def models(golden_matrix):
    """Leaderboard rows in the order of models.jsonl."""
    rows = {row["model_id"]: row for row in read_lines("leaderboard.jsonl")}
    return [rows[model["model_id"]] for model in read_lines("models.jsonl")]


def close(value):
    return pytest.approx(value, abs=CLOSE, rel=0)


def score_units(interval):
    return [end * UNIT for end in interval]


def test_shape(golden_matrix, release):
    assert golden_matrix.models == 27
    assert golden_matrix.tasks == 534
    assert golden_matrix.clusters == release["inference"]["independent_cluster_count"]


def test_leaderboard_and_release_agree(models, release):
    rows = {row["model_id"]: row for row in release["models"]}
    assert all(rows[m["model_id"]].items() <= m.items() for m in models)
    assert read_lines("pairwise_comparisons.jsonl") == release["pairwise_comparisons"]


def test_scores_ranks_and_groups(golden_matrix, published, models):
    for found, row in zip(published.standings, models, strict=True):
        assert float(found.score_bps) / 100 == close(row["flavourbench_score"])
        for name, score in zip(golden_matrix.family_names, found.family_scores_bps, strict=True):
            assert float(score) / 100 == close(row["family_scores"][name])
        for name, score in zip(golden_matrix.panel_names, found.panel_scores_bps, strict=True):
            assert float(score) / 100 == close(row["panel_replication"][name])
        assert found.rank == row["point_estimate_rank"]
        assert found.group == row["statistical_rank_group"]


def test_intervals(published, models, release):
    critical = release["inference"]["max_t_critical_value"]
    assert published.critical_nano / 1e9 == close(critical)
    for found, row in zip(published.standings, models, strict=True):
        assert found.se_nanobps * UNIT == close(row["score_standard_error"])
        assert score_units(found.pointwise_nanobps) == close(row["score_pointwise_95_ci"])
        assert score_units(found.simultaneous_nanobps) == close(row["score_simultaneous_95_ci"])
        assert list(found.rank_interval) == row["bootstrap_rank_95_interval"]


def test_chance(published, models):
    for found, row in zip(published.chance, models, strict=True):
        expected = row["chance_comparison"]
        assert float(published.chance_score_bps) / 100 == close(expected["exact_chance_score"])
        assert float(found.difference_bps) / 100 == close(expected["mean_difference"])
        assert score_units(found.interval_nanobps) == close(expected["bootstrap_95_ci"])
        assert (1 + found.extreme) / 100_001 == expected["sign_flip_p"]
        assert float(found.p) == expected["sign_flip_p"]
        assert float(found.holm_p) == pytest.approx(expected["holm_p"], abs=1e-15)
        above = found.resolved and found.difference_bps > 0
        assert above == expected["holm_significant_above_chance"]


def test_pairs(published, release):
    for found, row in zip(published.pairs, release["pairwise_comparisons"], strict=True):
        assert (found.left, found.right) == (row["left_index"], row["right_index"])
        assert float(found.difference_bps) / 100 == close(row["mean_difference"])
        assert score_units(found.interval_nanobps) == close(row["bootstrap_95_ci"])
        assert found.dz_nano / 1e9 == close(row["cohen_dz"])
        assert float(found.p) == row["sign_flip_p"]
        assert float(found.holm_p) == pytest.approx(row["holm_p"], abs=1e-15)
        assert found.resolved == row["holm_significant"]
        assert (found.difference_bps > 0) == (row["direction"] == "left_higher")
    assert published.pairs.resolved.sum() == release["resolved_pair_count"]


def test_panel_agreement(published, release):
    (found,) = published.agreements
    expected = release["panel_replication"]
    assert [found.left, found.right] == expected["panels"]
    assert found.pearson_nano / 1e9 == close(expected["score_pearson"])
    assert found.spearman_nano / 1e9 == close(expected["rank_spearman"])


def test_our_stream_tells_the_same_story(published, ours):
    """Draws differ, conclusions do not, beyond what 50,000 and 100,000 draws leave open."""
    assert [s.rank for s in ours.standings] == [s.rank for s in published.standings]
    assert [s.group for s in ours.standings] == [s.group for s in published.standings]
    for a, b in zip(ours.standings, published.standings, strict=True):
        assert a.score_bps == b.score_bps
        assert a.se_nanobps == pytest.approx(b.se_nanobps, rel=0.02)
        assert a.pointwise_nanobps == pytest.approx(b.pointwise_nanobps, abs=0.1 * a.se_nanobps)
        assert a.rank_interval == pytest.approx(b.rank_interval, abs=1)
    for a, b in zip(ours.pairs, published.pairs, strict=True):
        p = float(b.p)
        assert abs(float(a.p) - p) < 5 * (2 * p * (1 - p) / 100_000) ** 0.5 + 1e-5
        if a.resolved != b.resolved:
            assert 0.03 < float(b.holm_p) < 0.08
    assert ours.chance.resolved.tolist() == published.chance.resolved.tolist()
