"""Matrices that several tests read."""

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.inference import ScoreMatrix

GOLDEN = Path(__file__).parents[2].parent / "shared" / "golden" / "dataset"


def make_matrix(scores, families, clusters=None, panels=None, chance=None):
    tasks = len(families)
    return ScoreMatrix.from_labels(
        scores,
        [3000] * tasks if chance is None else chance,
        list(families),
        ["p"] * tasks if panels is None else list(panels),
        [str(t) for t in range(tasks)] if clusters is None else list(clusters),
    )


@pytest.fixture(scope="session")
def mixed():
    """Four models; three unequal families; clusters that hold one to three tasks over families."""
    rng = np.random.default_rng(5)
    families = ["a", "b", "a", "c", "a", "b", "a", "c", "a", "b", "a", "a"] * 3
    clusters = [f"{t % 12}-{t // 24}" for t in range(36)]
    base = rng.integers(2000, 8000, size=36)
    skill = np.array([[0], [100], [600], [1400]])
    scores = np.clip(base + skill + rng.integers(-1500, 1500, size=(4, 36)), 0, 10_000)
    chance = np.clip(base + rng.integers(-1000, 1000, size=36), 0, 10_000)
    panels = ["x"] * 18 + ["y"] * 18
    return make_matrix(scores, families, clusters, panels, chance)


def read_lines(name):
    with (GOLDEN / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def golden_matrix():
    if not GOLDEN.is_dir():
        pytest.skip(f"golden data set not at hand: {GOLDEN}")
    tasks, models = read_lines("tasks.jsonl"), read_lines("models.jsonl")
    row = {model["model_id"]: i for i, model in enumerate(models)}
    column = {task["task_id"]: i for i, task in enumerate(tasks)}
    scores = np.full((len(models), len(tasks)), -1)
    for cell in read_lines("primary_observations.jsonl"):
        place = row[cell["response"]["model_id"]], column[cell["response"]["task_id"]]
        scores[place] = cell["release_scoring"]["score_bps"]
    return ScoreMatrix.from_labels(
        scores,
        [task["chance_score_bps"] for task in tasks],
        [task["family"] for task in tasks],
        [task["release_panel"] for task in tasks],
        [task["anchor_ingredient"] for task in tasks],
    )
