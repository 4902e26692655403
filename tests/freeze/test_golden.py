"""Every task that the published algorithm makes of the golden bundle, score by score."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.freeze import compile_tasks
from schemas.parameters import FreezeParameters, PanelParameters
from schemas.release import Direction, Ingredient
from schemas.taskset import LABELS, PORTFOLIOS, Family

BUNDLE = Path(__file__).parents[2].parent / "shared" / "golden" / "bundle"
pytestmark = pytest.mark.skipif(
    not BUNDLE.is_dir(), reason="the golden bundle (../shared/golden/bundle) is not here"
)
PUBLISHED = FreezeParameters(
    source="compiled",
    panels={
        "panel_1": PanelParameters(
            seed="flavourbench-executable-selection-20260811",
            prefix="fb-executable-",
            drop_unscoreable=False,
        ),
        "panel_2": PanelParameters(
            seed="flavourbench-executable-selection-replication-2-20260815",
            prefix="fb-executable-rep2-",
            drop_unscoreable=True,
        ),
    },
    families=tuple(Family),
    quota=40,
    category_cap=24,
    minimum_categories=8,
    excluded_anchors=("sweet_potato_starch", "birds_eye_chili", "perilla_oil", "squid", "adjika"),
)


def read_rows(name):
    with (BUNDLE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def tasks():
    vectors = {
        row.pop("node_id"): np.array(list(row.values()), dtype="<f4").tobytes()
        for row in read_rows("embeddings.csv")
    }
    ingredients = [
        Ingredient(
            name=row["name"],
            node_id=int(row["node_id"]),
            category=row["primary_category"],
            regions=tuple(row["cuisine_region"].split(";")),
            vegetarian=row["is_vegetarian"] == "True",
            vegan=row["is_vegan"] == "True",
            nova=int(float(row["nova_level"])) if row["nova_level"] else None,
            vector=vectors[row["node_id"]],
        )
        for row in read_rows("ingredient_tags.csv")
    ]
    with np.load(BUNDLE / "supervised_directions.npz") as arrays:
        directions = [Direction(cuisine=key, vector=arrays[key].tobytes()) for key in arrays]
    return compile_tasks(ingredients, directions, PUBLISHED)


@pytest.fixture(scope="module")
def expected():
    lines = (BUNDLE / "expected_tasks.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_all_tasks_in_their_order(tasks, expected):
    assert [task.task_id for task in tasks] == [row["task_id"] for row in expected]
    assert len(tasks) == 1_280


def test_every_field_of_every_task(tasks, expected):
    for task, row in zip(tasks, expected, strict=True):
        variant = row["constraint_variant"]
        assert (
            task.panel,
            task.family,
            task.variant,
            task.anchor,
            task.category,
            task.region,
            task.stratum,
            task.choices,
            task.optimum,
            task.chance_bps,
            task.margin_bps,
        ) == (
            row["panel"],
            row["family"],
            f"{variant}-nova-{row['maximum_nova']}" if variant else None,
            row["anchor"],
            row["category"],
            row["target_region"],
            row["stratum"],
            tuple(row["choices"][label] for label in LABELS),
            row["optimal_selection"],
            row["chance_score_bps"],
            row["optimal_margin_bps"],
        ), task.task_id


def test_all_scores(tasks, expected):
    scores = np.array([task.scores_bps for task in tasks])
    wanted = [[row["selection_scores_bps"][key] for key in PORTFOLIOS] for row in expected]
    assert scores.size == 71_680
    assert (scores == np.array(wanted)).all()
