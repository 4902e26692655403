"""Parsing, rewarding and importing many answers, against plain implementations of the same.

Answers look as models give them: prose, then the marker, one in fifty spelt in another way. The
plain reward parses every answer by itself and looks it up; the plain import checks every hash and
keeps all rows. ``python -m benchmarks.exchange --scale`` draws the curves up to 10^7 answers.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from benchmarks.measure import Race, main, peak_mb

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from schemas.taskset import Task

TASKS = 534
ANSWERS = 200_000
SEED = 5
_LABELS = "ABCDEFGH"
_PROSE = (
    "Fat wants acid, and acid wants salt, so the three that balance the anchor stand out.\n\n",
    "",
    "Weighing aroma, role and region for each candidate in turn:\n- A carries the base\n- C adds ",
)


class Sample(NamedTuple):
    """Tasks, answers, and the task of each answer."""

    tasks: list[Task]
    answers: list[str]
    rows: NDArray[np.int64]


def make_sample(answers: int, tasks: int = TASKS) -> Sample:
    """Answers of which one in fifty is spelt in a way that needs the parser."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    rows = rng.integers(0, tasks, size=answers)
    picks = np.argsort(rng.random((answers, 8)), axis=1)[:, :3]
    texts = []
    for number, pick in enumerate(picks):
        labels = [_LABELS[place] for place in pick]
        marker = "Final_Selection" if number % 50 == 0 else "FINAL_SELECTION"
        texts.append(f"{_PROSE[number % 3]}{marker}: {', '.join(labels)}")
    return Sample([make_task(number) for number in range(tasks)], texts, rows)


def make_task(number: int) -> Task:
    """A task with a map of its own."""
    from schemas.taskset import Family, Task

    scores = [(number * 37 + place * 181) % 9000 for place in range(56)]
    scores[number % 56] = 10_000
    return Task(
        task_id=f"t-{number}", panel=f"panel_{number % 2}", family=list(Family)[number % 3],
        variant=None, anchor=f"anchor_{number}", category="Herb", region=None, stratum=1,
        choices=tuple(f"name_{number}_{label.lower()}" for label in _LABELS),
        scores_bps=tuple(scores), optimum="ABC", chance_bps=4000, margin_bps=1000, prompt="?",
    )  # fmt: skip


def batch(sample: Sample) -> NDArray[np.int32]:
    from pipeline.exchange.batch import RewardMaps
    from schemas.taskset import CONTRACTS

    maps = RewardMaps.of(sample.tasks, CONTRACTS["selection-set-v3"])
    return maps.rewards(sample.answers, sample.rows)


def one_by_one(sample: Sample) -> list[int]:
    from pipeline.parse.reader import read_selection
    from schemas.taskset import CONTRACTS, PORTFOLIOS

    found = []
    for answer, row in zip(sample.answers, sample.rows.tolist(), strict=True):
        task = sample.tasks[row]
        reading = read_selection(answer, task.choices, CONTRACTS["selection-set-v3"])
        selection = reading.selection
        found.append(-1 if selection is None else task.scores_bps[PORTFOLIOS.index(selection)])
    return found


def _evidence(scores: list[int]) -> str:
    return hashlib.sha256(json.dumps(scores).encode()).hexdigest()


RACE = Race(
    "benchmarks.exchange",
    f"rewards: {ANSWERS:,} answers to {TASKS} tasks, on one core",
    lambda: make_sample(ANSWERS),
    {
        "plain": lambda sample: _evidence(one_by_one(cast("Sample", sample))),
        "ours": lambda sample: _evidence(batch(cast("Sample", sample)).tolist()),
    },
    repeats=3,
)


def timed(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


def write_set(folder: Path, models: int, tasks: int = TASKS) -> int:
    """A data set in the published layout, with all its hashes."""
    published = [_published_task(make_task(number)) for number in range(tasks)]
    published.sort(key=lambda task: (task["release_panel"], _FAMILIES.index(task["family"])))
    names = [f"lab/model-{number}" for number in range(models)]
    hashes: dict[str, list[str]] = {}
    with (folder / "primary_observations.jsonl").open("w", encoding="utf-8") as stream:
        for name in names:
            for task in published:
                row = _observation(name, task)
                hashes.setdefault(task["release_panel"], []).append(row["response_artifact_sha256"])
                stream.write(json.dumps(row) + "\n")
    inputs = {
        f"{panel}_responses": {"count": len(found), "artifact_set_sha256": _sha(sorted(found))}
        for panel, found in hashes.items()
    }
    inference = {"seed": 1, "bootstrap_resamples": 1000, "permutation_resamples": 1000}
    release = _sealed({"analysis": {"inference": inference}, "inputs": inputs})
    listed: dict[str, list[Any]] = {
        "tasks.jsonl": published,
        "models.jsonl": [{"model_id": n, "model_name": n, "route": {}} for n in names],
        "leaderboard.jsonl": [],
        "pairwise_comparisons.jsonl": [],
    }
    for file, rows in listed.items():
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "release.json").write_text(json.dumps(release))
    entries = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        entry = {"name": path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        entries.append(entry)
    counts = {
        "model_count": models, "task_count": tasks, "primary_observation_count": models * tasks,
        "pairwise_comparison_count": 0, "release_artifact_sha256": release["artifact_sha256"],
    }  # fmt: skip
    (folder / "DATA_MANIFEST.json").write_text(json.dumps(_sealed({"files": entries} | counts)))
    return models * tasks


_FAMILIES = ("substitution", "pairing", "constraint")


def _published_task(task: Task) -> dict[str, Any]:
    from schemas.taskset import PORTFOLIOS

    constraint = task.family == "constraint"
    scores = dict(zip(PORTFOLIOS, task.scores_bps, strict=True))
    ranked = sorted(task.scores_bps)
    reference = {
        "all_combinations_scored": 56, "anchor": task.anchor, "invalid_selection_score_bps": 0,
        "constraint_variant": "vegan" if constraint else None, "method": "m",
        "maximum_nova": 2 if constraint else None, "normalization": "n", "selection_size": 3,
        "target_region": None,
    }  # fmt: skip
    return {
        "task_id": task.task_id, "family": task.family.value, "split": "s",
        "anchor_ingredient": task.anchor, "primary_category": "Herb", "validation_stratum": 1,
        "choices": dict(zip(_LABELS, task.choices, strict=True)), "selection_size": 3,
        "selection_scores_bps": scores, "optimal_selection": max(scores, key=lambda p: scores[p]),
        "chance_score_bps": round(sum(ranked) / 56), "optimal_margin_bps": 10_000 - ranked[-2],
        "oracle_reference": reference, "oracle_reference_sha256": _sha(reference), "prompt": "?",
        "prompt_sha256": hashlib.sha256(b"?").hexdigest(), "scoring": {},
        "release_panel": task.panel,
    }  # fmt: skip


def _observation(model: str, task: dict[str, Any]) -> dict[str, Any]:
    answer = f"{_PROSE[0]}FINAL_SELECTION: A, B, C"
    response = _sealed(
        {
            "model_id": model, "task_id": task["task_id"], "status": "completed",
            "prompt_sha256": task["prompt_sha256"], "generation": {"answer_markdown": answer},
        }
    )  # fmt: skip
    scoring = {
        "observed_selection": "ABC",
        "score_bps": task["selection_scores_bps"]["ABC"],
    }
    return {
        "release_panel": task["release_panel"], "release_scoring": scoring, "response": response,
        "response_artifact_sha256": response["artifact_sha256"],
    }  # fmt: skip


def _sealed(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"artifact_sha256": _sha(document)}


def _sha(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def plain_import(folder: Path) -> int:
    """Every hash checked with the standard library, all rows in memory, answers by model."""
    rows = [json.loads(line) for line in (folder / "primary_observations.jsonl").open()]
    answers: dict[str, dict[str, str]] = {}
    for row in rows:
        response = dict(row["response"])
        stated = response.pop("artifact_sha256")
        if _sha(response) != stated:
            raise AssertionError(stated)
        answer = response["generation"]["answer_markdown"]
        answers.setdefault(response["model_id"], {})[response["task_id"]] = answer
    return sum(map(len, answers.values()))


def imports(models: int) -> None:
    """Import a made-up data set, then check the same hashes with all rows in memory."""
    from pipeline.exchange.importing import import_published

    with tempfile.TemporaryDirectory() as name:
        folder, target = Path(name) / "set", Path(name) / "imported"
        folder.mkdir()
        answers = write_set(folder, models)
        before = peak_mb()
        ours = timed(lambda: import_published(str(folder), target, Path(name)))
        ours_mb = peak_mb() - before
        plain = timed(lambda: plain_import(folder))
        plain_mb = peak_mb() - before
    print(f"{answers:>10,}{ours:>9.1f}{ours_mb:>9.0f}{plain:>9.1f}{plain_mb:>9.0f}", flush=True)


def scale() -> None:
    """Curves: rewards of 10^4 to 10^7 answers, imports of 10 to 1,000 models."""
    print(f"{'rewards':>10}{'CPU s':>9}{'a second of one core':>22}")
    for answers in (10**4, 10**5, 10**6, 10**7):
        sample = make_sample(min(answers, 10**6))
        clock = time.process_time
        batches = range(max(1, answers // 10**6))
        seconds = sum(timed(partial(batch, sample), clock) for _ in batches)
        print(f"{answers:>10,}{seconds:>9.2f}{answers / seconds:>22,.0f}", flush=True)
    print("\nimport; the plain version writes no files")
    print(f"{'answers':>10}{'seconds':>9}{'MB more':>9}{'plain':>9}{'MB more':>9}")
    for models in (10, 27, 100, 1000):
        imports(models)


if __name__ == "__main__":
    if "--scale" in sys.argv:
        scale()
    else:
        main(RACE)
