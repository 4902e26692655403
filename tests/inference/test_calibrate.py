"""The measurement of inference: its truths are exact, its figures repeatable."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import worlds
from tests.shared import ROOT

WORDS = ("--routes", "2", "--tasks", "30", "--simulations", "12", "--json")


def figures(*words):
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.calibrate", *WORDS, *words],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(run.stdout)


def test_workers_change_no_figure():
    alone = figures("--workers", "1")
    assert alone == figures("--workers", "2")
    (row,) = alone
    assert (row["routes"], row["tasks"], row["simulations"]) == (2, 30, 12)
    for name in ("close band", "close ranks", "equal error", "some error", "guess power"):
        for contract in ("calibrated", "published"):
            assert 0 <= row["figures"][f"{name} {contract}"]["mean"] <= 1


@pytest.mark.parametrize("scenario", worlds.SCENARIOS)
def test_answers_have_the_true_scores(scenario):
    policies = worlds.field(scenario, 5)
    truths = [float(worlds.world().truth(policy)) for policy in policies]
    sample = worlds.sample_benchmark(policies, 60_000, np.random.default_rng(2))
    found = sample.matrix.scores_bps.mean(axis=1)
    assert found == pytest.approx(truths, abs=5 * 5_000 / 60_000**0.5)


def test_two_policies_of_different_spread_are_equal():
    truths = [worlds.world().truth(policy) for policy in worlds.field("some", 6)]
    assert abs(truths[0] - truths[1]) < 1e-6
    assert worlds.field("some", 6)[0] != worlds.field("some", 6)[1]
    assert len({round(truth, 3) for truth in truths}) == 4


def test_a_close_field_has_no_ties():
    truths = [worlds.world().truth(policy) for policy in worlds.field("close", 150)]
    assert truths == sorted(set(truths))
