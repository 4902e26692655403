"""A small data set in the published layout: 8 tasks in 2 panels and 2 families, 3 models."""

import hashlib
import json
from pathlib import Path

from pipeline.exchange.dataset import LEADERBOARD, MANIFEST, MODELS, PAIRS
from pipeline.exchange.importing import import_published
from pipeline.exchange.layout import OurResults, leaderboard_rows, pair_rows, release_analysis
from pipeline.inference import analyse
from pipeline.statistics.stage import core_scores, draw_settings
from pipeline.workspace import open_workspace
from schemas.results import Coverage
from tests.mini import run_stages
from tests.release.test_published import make_task, seal, sha

OBSERVATIONS = "primary_observations.jsonl"
MODEL_IDS = ("lab/alpha", "lab/beta", "lab/gamma")
ANSWERS = {
    "lab/alpha": ("ABC", "ABC", "ABC", "FGH", "ABC", "FGH", "ABC", "ABC"),
    "lab/beta": ("FGH", "DEF", "ABC", "FGH", "FGH", "DEF", "FGH", "AAA"),
    "lab/gamma": ("DEF", "BCD", "DEF", "BCD", "FGH", "DEF", "BCD", "DEF"),
}
"""Selections by model and task; AAA stands for one that is given another valid set."""


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def make_tasks():
    tasks = []
    for panel in ("panel_1", "panel_2"):
        for family in ("substitution", "pairing"):
            for number in range(2):
                task = make_task(family) | {"task_id": f"{panel}-{family}-{number}"}
                anchor = f"{panel}_{family}_{number}"
                task["anchor_ingredient"] = task["oracle_reference"]["anchor"] = anchor
                task["oracle_reference_sha256"] = sha(task["oracle_reference"])
                tasks.append(task | {"release_panel": panel})
    return tasks


def make_observation(model_id, task, selection):
    selection = "BCD" if selection == "AAA" else selection
    score = task["selection_scores_bps"][selection]
    response = {
        "model_id": model_id,
        "task_id": task["task_id"],
        "status": "completed",
        "prompt_sha256": task["prompt_sha256"],
        "generation": {"answer_markdown": f"Fat, acid…\n\nFINAL_SELECTION: {', '.join(selection)}"},
    }
    response["artifact_sha256"] = sha(response)
    return {
        "release_panel": task["release_panel"],
        "release_scoring": {"observed_selection": selection, "score_bps": score},
        "response": response,
        "response_artifact_sha256": response["artifact_sha256"],
    }


class SmallSet:
    """The data set as documents that a test can change before it is written."""

    def __init__(self):
        self.tasks = make_tasks()
        self.models = [
            {"model_id": name, "model_name": name.title(), "route": {"model_id": name}}
            for name in MODEL_IDS
        ]
        self.observations = [
            make_observation(model_id, task, selection)
            for model_id, selections in ANSWERS.items()
            for task, selection in zip(self.tasks, selections, strict=True)
        ]
        self.analysis = {
            "inference": {"seed": 7, "bootstrap_resamples": 300, "permutation_resamples": 200}
        }
        self.leaderboard = []
        self.pairs = []

    def release(self):
        inputs = {}
        for panel in ("panel_1", "panel_2"):
            hashes = sorted(
                row["response_artifact_sha256"]
                for row in self.observations
                if row["release_panel"] == panel
            )
            inputs[f"{panel}_responses"] = {
                "count": len(hashes),
                "artifact_set_sha256": sha(hashes),
            }
        return seal({"analysis": self.analysis, "inputs": inputs})

    def files(self):
        release = self.release()
        return release, {
            "tasks.jsonl": lines(self.tasks),
            MODELS: lines(self.models),
            OBSERVATIONS: lines(self.observations),
            LEADERBOARD: lines(self.leaderboard),
            PAIRS: lines(self.pairs),
            "release.json": json.dumps(release).encode(),
        }

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        release, files = self.files()
        entries = []
        for name, data in files.items():
            (folder / name).write_bytes(data)
            entry = {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            if name.endswith("l"):
                entry["rows"] = data.count(b"\n")
            entries.append(entry)
        manifest = {
            "files": entries,
            "release_artifact_sha256": release["artifact_sha256"],
            "model_count": len(self.models),
            "task_count": len(self.tasks),
            "primary_observation_count": len(self.observations),
            "pairwise_comparison_count": len(self.pairs),
        }
        (folder / MANIFEST).write_text(json.dumps(seal(manifest)), encoding="utf-8")
        return folder


def import_small(root, small, name="imported"):
    """Import a set into a fresh workspace and run all stages."""
    root.mkdir(parents=True, exist_ok=True)
    import_published(str(small.write(root / f"source-{name}")), root / name, root)
    text = (root / name / "params.yaml").read_text(encoding="utf-8")
    (root / "params.yaml").write_text(text, encoding="utf-8")
    workspace = open_workspace(Path(root))
    run_stages(workspace)
    return workspace


def with_results(root):
    """A small set whose published results are those of the analysis code."""
    small = SmallSet()
    workspace = import_small(root / "first", small)
    scores = core_scores(workspace)
    parameters = workspace.parameters.statistics
    coverage = {name: [] for name in MODEL_IDS}
    slugs = dict(zip(scores.slugs, MODEL_IDS, strict=True))
    for row in workspace.read("score", Coverage).rows():
        coverage[slugs[row.slug]].append(row)
    analysis = analyse(scores.matrix, draw_settings(parameters))
    results = OurResults(MODEL_IDS, scores.matrix, analysis, coverage, parameters)

    def with_p(rows):
        for row in rows:
            for part in (row, row.get("chance_comparison", {})):
                for key in ("sign_flip_p", "holm_p"):
                    if key in part:
                        part[key] /= analysis.pairs.p_denominator
        return rows

    small.leaderboard = with_p(leaderboard_rows(results))
    small.pairs = with_p(pair_rows(results))
    small.analysis = release_analysis(results)
    with_p(small.analysis["models"])
    with_p(small.analysis["pairwise_comparisons"])
    return small
