"""Results compared with published ones: agreement is said only where every figure agrees."""

import json

import pytest
from typer.testing import CliRunner

from pipeline.audit.rebuild import derive_stage
from pipeline.cli import app
from pipeline.errors import InputError
from pipeline.exchange.agreement import Agreement, Draws
from pipeline.exchange.importing import import_published
from pipeline.exchange.reproduce import compare_published
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import write_table
from pipeline.workspace import open_workspace
from tests.exchange.small import import_small, with_results
from tests.mini import mini_workspace, run_stages
from tests.shared import SHARED, needs_shared

SAME = Draws(same=True, counts=1000)
OTHER = Draws(same=False, counts=1000)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return with_results(tmp_path_factory.mktemp("published"))


@pytest.fixture
def small(published):
    copy = type(published)()
    for name in ("leaderboard", "pairs", "analysis"):
        setattr(copy, name, json.loads(json.dumps(getattr(published, name))))
    return copy


def test_a_set_with_its_own_results_agrees(tmp_path, small):
    root = import_small(tmp_path / "run", small).root
    done = CliRunner().invoke(app, ["compare-published", "--json", "-w", str(root)])
    assert done.exit_code == 0, done.stdout
    document = json.loads(done.stdout)
    assert document["agrees"]
    figures = {figure["name"]: figure for figure in document["figures"]}
    assert figures["cells: score_bps"]["compared"] == 24
    assert figures["pairs: sign_flip_p (count)"]["compared"] == 3
    assert max(f["largest"] for f in figures.values()) < 1e-9


def other_score(small):
    small.leaderboard[0]["flavourbench_score"] += 2e-9


def other_interval(small):
    small.pairs[1]["bootstrap_95_ci"][1] += 1e-6


def other_rank(small):
    small.analysis["models"][2]["point_estimate_rank"] = 1


def other_p(small):
    small.pairs[0]["sign_flip_p"] += 1 / 256


def not_resolved(small):
    small.pairs[2]["holm_significant"] = not small.pairs[2]["holm_significant"]


def row_lost(small):
    del small.leaderboard[1]


def other_cell(small):
    small.observations[5]["release_scoring"]["score_bps"] = 1


@pytest.mark.parametrize(
    ("change", "figure"),
    [
        (other_score, "leaderboard: flavourbench_score"),
        (other_interval, "pairs: bootstrap_95_ci"),
        (other_rank, "release.models: point_estimate_rank"),
        (other_p, "pairs: sign_flip_p (count)"),
        (not_resolved, "pairs: holm_significant"),
        (row_lost, "leaderboard: rows"),
        (other_cell, "cells: score_bps"),
    ],
)
def test_one_other_figure_is_found_and_the_exit_says_so(tmp_path, small, change, figure):
    change(small)
    root = import_small(tmp_path / "run", small).root
    done = CliRunner().invoke(app, ["compare-published", "--json", "-w", str(root)])
    assert done.exit_code == 1
    figures = {f["name"]: f for f in json.loads(done.stdout)["figures"]}
    assert figures[figure]["differ"] >= 1
    assert figures[figure]["first"]


def test_a_release_that_is_not_published_cannot_be_compared(tmp_path):
    with pytest.raises(InputError, match="a published data set, found release source 'starter'"):
        compare_published(mini_workspace(tmp_path))


def test_a_model_without_a_ranked_route_is_named(tmp_path, small):
    root = import_small(tmp_path / "run", small).root
    text = (root / "params.yaml").read_text().replace("ranked: true", "ranked: false", 1)
    (root / "params.yaml").write_text(text)
    done = CliRunner().invoke(app, ["compare-published", "-w", str(root)])
    assert "lab/alpha" in str(done.exception)


# The rules of comparison


@pytest.mark.parametrize(
    ("ours", "published", "differ"),
    [
        (1, 1, 0), (1, 2, 1), (1.0, 1.0 + 9e-10, 0), (1.0, 1.0 + 2e-9, 1), (None, None, 0),
        (None, 0, 1), (True, 1, 1), (True, True, 0), ("a", "b", 1), ([1, 2], [1, 2, 3], 1),
    ],
)  # fmt: skip
def test_values_compare_by_kind(ours, published, differ):
    agreement = Agreement()
    agreement.tree("x", "x", {"v": ours}, {"v": published}, SAME)
    assert sum(f.differ for f in agreement.figures.values()) == differ


def row(p, holm, resolved):
    return {"sign_flip_p": p, "holm_p": holm, "holm_significant": resolved}


def test_other_draws_may_move_only_what_is_at_the_level():
    ours = {"sign_flip_p": 20, "holm_p": 60, "holm_significant": False}
    near, far = Agreement(), Agreement()
    near.tree("x", "x", ours, row(0.015, 0.045, resolved=True), OTHER)
    assert near.agrees
    assert near.borderline == 1
    far.tree("x", "x", ours | {"holm_p": 900}, row(0.0001, 0.0003, resolved=True), OTHER)
    assert not far.agrees
    strict = Agreement()
    strict.tree("x", "x", ours, row(0.020, 0.060, resolved=True), SAME)
    assert strict.figures["x: holm_significant"].differ == 1


def test_fields_that_are_no_results_are_listed():
    agreement = Agreement()
    agreement.tree("x", "x", {"a": 1}, {"a": 1, "prose": "…"}, SAME)
    assert agreement.unread == {"x: prose"}


@needs_shared
def test_the_golden_data_set_reproduces_with_its_own_stream(tmp_path):
    """Through import, parse, score and the analysis; answers are sealed without a ledger."""
    import_published(str(SHARED / "golden" / "dataset"), tmp_path / "golden", tmp_path)
    (tmp_path / "params.yaml").write_bytes((tmp_path / "golden" / "params.yaml").read_bytes())
    workspace = open_workspace(tmp_path)
    run_stages(workspace, "release", "freeze")
    seal_replays(workspace)
    run_stages(workspace, "parse", "score", "statistics")
    found = compare_published(workspace).agreement
    assert found.agrees
    assert found.figures["cells: score_bps"].compared == 14_418
    assert found.figures["pairs: sign_flip_p (count)"].compared == 351
    assert found.figures["leaderboard: flavourbench_score"].compared == 27
    assert max(f.largest for f in found.figures.values()) < 1e-9


def seal_replays(workspace):
    """What `execute` seals for replay routes, without one durable commit a cell."""
    for place, table in derive_stage(workspace, PORTFOLIO.stage("execute"), {}).tables.items():
        write_table(place.path(workspace), table)
