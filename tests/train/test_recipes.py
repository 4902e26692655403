"""The recipes of `examples`, where what they need is installed (`pip install -e '.[train]'`)."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.taskset import LABELS, PORTFOLIOS

ROOT = Path(__file__).parents[2]
TRAINED = importlib.util.find_spec("trl") and importlib.util.find_spec("torch")
ROW = {
    "prompt": "Choose three.",
    "completion": "FINAL_SELECTION: A,C,F",
    "chosen": "FINAL_SELECTION: A,C,F",
    "rejected": "FINAL_SELECTION: A,B,D",
    "choices": {label: f"name_{label}" for label in LABELS},
    "selection_scores_bps": dict.fromkeys(PORTFOLIOS, 5000),
}


def recipe(folder, *words):
    """Run a recipe with the training files of a folder."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "examples" / "train.py"), *words, "--data", "."]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(not TRAINED, reason="trl and torch are not installed")
@pytest.mark.parametrize("method", ["sft", "dpo", "grpo"])
@pytest.mark.parametrize("validated", [0, 4])
def test_a_recipe_trains_with_and_without_validation_rows(tmp_path, method, validated):
    for split, count in (("train", 4), ("validation", validated)):
        text = (json.dumps(ROW) + "\n") * count
        (tmp_path / f"{method}_{split}.jsonl").write_text(text, encoding="utf-8")
    done = recipe(tmp_path, method, "--steps", "1")
    assert done.returncode == 0, done.stderr
    assert ("nothing is validated" in done.stdout) == (validated == 0)
    assert ("eval_loss" in done.stdout) == (validated > 0)


@pytest.mark.skipif(not TRAINED, reason="trl and torch are not installed")
def test_nothing_to_train_on_is_said_in_one_line(tmp_path):
    done = recipe(tmp_path, "sft")
    assert done.returncode == 2
    assert "no rows in sft_train.jsonl: run `flavourbench export sft`" in done.stderr
    assert "Traceback" not in done.stderr
