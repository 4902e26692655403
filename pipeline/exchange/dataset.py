"""A published data set taken in: its files checked, its answers as replay files.

See docs/published.md.

Everything that the data set says of itself is checked before it is used: the manifest's hash, size
and SHA-256 of every file, the release file, every task, every response's own `artifact_sha256`, and
the hash of each panel's set of responses. An answer keeps the published hash in its line, so it
stands beside ours wherever the answer goes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import Field

from pipeline.asking.replay import ANSWER_LIMIT
from pipeline.errors import InputError, ReleaseError
from pipeline.files import hash_file, read_bytes, read_json
from pipeline.release.dataset import (
    RELEASE,
    TASKS,
    check_file,
    read_dataset,
    read_manifest,
    read_objects,
)
from pipeline.release.documents import DocumentPlace, Loose, check_artifact
from schemas.record import Count, Digest
from schemas.release import Label, Name
from schemas.routes import ReplayRoute
from schemas.taskset import Bps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from pipeline.progress import Progress
    from pipeline.release.dataset import Manifest
    from schemas.release import PublishedTask

__all__ = [
    "FILES",
    "LEADERBOARD",
    "MANIFEST",
    "MODELS",
    "PAIRS",
    "PublishedInference",
    "import_dataset",
    "model_slugs",
]

MANIFEST = "DATA_MANIFEST.json"
MODELS = "models.jsonl"
LEADERBOARD = "leaderboard.jsonl"
PAIRS = "pairwise_comparisons.jsonl"
_OBSERVATIONS = "primary_observations.jsonl"
_COPIED = (TASKS, MODELS, LEADERBOARD, PAIRS, RELEASE)
FILES = (*_COPIED, _OBSERVATIONS)
_COPY_LIMIT = 2**30
_RELEASE_LIMIT = 2**28
_OPEN_FILES = 128
_COMPLETED = "completed"
_REMEDY = "The data set contradicts itself: fetch it again, or report it to its publisher."


class ModelLine(Loose):
    """A model as `models.jsonl` lists it. A model without a route was never asked."""

    model_id: Name
    model_name: Name
    route: dict[str, Any]


class PublishedInference(Loose):
    """How a published analysis drew."""

    seed: Count
    bootstrap_resamples: Count
    permutation_resamples: Count


class _Responses(Loose):
    count: Count
    artifact_set_sha256: Digest


class _Analysis(Loose):
    inference: PublishedInference


class ReleaseFile(Loose):
    """What an import needs of `release.json`."""

    analysis: _Analysis
    inputs: dict[str, dict[str, Any]] = Field(default_factory=dict)


class _Generation(Loose):
    answer_markdown: Annotated[str, Field(max_length=ANSWER_LIMIT)] | None


class _Response(Loose):
    artifact_sha256: Digest
    model_id: Name
    task_id: Name
    status: str
    prompt_sha256: Digest
    generation: _Generation | None


class _Scoring(Loose):
    observed_selection: Label | None
    score_bps: Bps | None


class _Observation(Loose):
    release_panel: str
    release_scoring: _Scoring
    response_artifact_sha256: Digest
    response: dict[str, Any]


class ImportedSet(NamedTuple):
    """What was taken in: models in their order with their answer files, families, how it drew."""

    routes: dict[str, ReplayRoute]
    families: tuple[str, ...]
    inference: PublishedInference
    tasks: int
    answers: int


def import_dataset(source: Path, staging: Path, place: str, progress: Progress) -> ImportedSet:
    """Check a data set and write `release/` and `answers/` below a folder.

    Parameters
    ----------
    source
        Folder that holds the manifest.
    staging
        Folder to write to.
    place
        The name that the folder will have, as `params.yaml` shall call it.
    progress
        Called with responses done and their number.

    Raises
    ------
    ReleaseError, InputError
        Something is not what it says; names the file, the row and the field.
    """
    manifest = read_manifest(source / MANIFEST)
    release = staging / "release"
    release.mkdir()
    for name in (MANIFEST, *_COPIED):
        (release / name).write_bytes(read_bytes(source / name, _COPY_LIMIT, ReleaseError))
        if name != MANIFEST:
            check_file(release / name, manifest.file(name, str(source / MANIFEST)))
    tasks = read_dataset(release / MANIFEST).tasks
    models = _read_models(release / MODELS, manifest)
    answers = staging / "answers"
    answers.mkdir()
    document = read_json(release / RELEASE, _RELEASE_LIMIT, ReleaseError)
    said = DocumentPlace(str(source / RELEASE)).valid(ReleaseFile, document)
    entry = manifest.file(_OBSERVATIONS, str(source / MANIFEST))
    observations = check_file(source / _OBSERVATIONS, entry)
    taken = _Intake(observations, tasks, models, answers)
    with taken:
        for number, raw in enumerate(read_objects(observations, entry.rows), start=1):
            taken.take(number, raw)
            progress(number, manifest.primary_observation_count)
    taken.finish(manifest.primary_observation_count, said.inputs, str(source / RELEASE))
    routes = {
        slug: ReplayRoute(
            adapter="replay",
            answers=f"{place}/answers/{slug}.jsonl",
            sha256=hash_file(answers / f"{slug}.jsonl", InputError).sha256,
            answer_rule="verbatim",
            label=model.model_name,
            ranked=True,
        )
        for slug, model in models.items()
    }
    families = tuple(dict.fromkeys(task.family for task in tasks))
    return ImportedSet(routes, families, said.analysis.inference, len(tasks), taken.count)


def model_slugs(model_ids: Sequence[str], where: str) -> dict[str, str]:
    """Slugs by model id: other characters than letters, digits, `_` and `-` become `-`.

    What stands before the first letter or digit falls away, as in `@host/model`.

    Raises
    ------
    InputError
        Two ids would share a slug but for case, or one's slug has no or too many characters.
    """
    slugs: dict[str, str] = {}
    for model_id in model_ids:
        slug = re.sub(r"[^A-Za-z0-9_-]", "-", model_id).lstrip("-_")
        taken = {other.lower() for other in slugs.values()}
        if slug.lower() in taken or not 0 < len(slug) <= 64:  # noqa: PLR2004  # as `Slug` has it
            found = f"{model_id}, which gives {slug}"
            raise InputError("model ids that give slugs of their own", found, where, _REMEDY)
        slugs[model_id] = slug
    return slugs


def _read_models(path: Path, manifest: Manifest) -> dict[str, ModelLine]:
    """Models by slug, in their order."""
    rows = manifest.file(MODELS, str(path)).rows
    models = [
        DocumentPlace(str(path), f"number {number}").valid(ModelLine, raw)
        for number, raw in enumerate(read_objects(path, rows), start=1)
    ]
    DocumentPlace(str(path)).equal("model_count", manifest.model_count, len(models))
    ids = [model.model_id for model in models]
    for model_id in ids:
        if ids.count(model_id) > 1:
            raise InputError("every model once", f"{model_id} twice", str(path), _REMEDY)
    slugs = model_slugs(ids, str(path))
    return {slugs[model.model_id]: model for model in models}


class _Intake:
    """Responses one by one into the answer files of their models; each cell once."""

    def __init__(
        self,
        path: Path,
        tasks: Sequence[PublishedTask],
        models: Mapping[str, ModelLine],
        folder: Path,
    ) -> None:
        self.count = 0
        self._path = path
        self._folder = folder
        self._tasks = {task.task_id: number for number, task in enumerate(tasks)}
        self._prompts = [json.loads(task.document)["prompt_sha256"] for task in tasks]
        self._panels = [task.panel for task in tasks]
        self._slugs = {model.model_id: slug for slug, model in models.items()}
        self._seen = {slug: bytearray(len(tasks)) for slug in models}
        self._hashes: dict[str, list[str]] = {panel: [] for panel in dict.fromkeys(self._panels)}
        self._open: dict[str, IO[str]] = {}

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._close()

    def take(self, number: int, raw: dict[str, Any]) -> None:
        """Check one observation and write its answer."""
        place = DocumentPlace(str(self._path), f"row {number}")
        row = place.valid(_Observation, raw)
        response = place.valid(_Response, row.response)
        check_artifact(row.response, response.artifact_sha256, place)
        place.equal(
            "response_artifact_sha256", response.artifact_sha256, row.response_artifact_sha256
        )
        place.among("model_id", self._slugs, response.model_id)
        if response.task_id not in self._tasks:
            raise place.refusal("task_id", "a task of tasks.jsonl", response.task_id)
        slug, task = self._slugs[response.model_id], self._tasks[response.task_id]
        if self._seen[slug][task]:
            cell = f"{response.model_id} on {response.task_id} again"
            raise place.refusal("response", "every cell once", cell)
        place.equal("prompt_sha256", self._prompts[task], response.prompt_sha256)
        place.equal("release_panel", self._panels[task], row.release_panel)
        self._seen[slug][task] = 1
        self._hashes[row.release_panel].append(response.artifact_sha256)
        self.count += 1
        self._write(slug, response, row.release_scoring)

    def finish(self, expected: int, inputs: Mapping[str, Any], where: str) -> None:
        """Refuse a data set with missing cells, or with other responses than it says."""
        for slug, seen in self._seen.items():
            if not all(seen):
                first = next(name for name, number in self._tasks.items() if not seen[number])
                found = f"{seen.count(0)} missing for {slug}, first {first}"
                raise InputError("a response in every cell", found, str(self._path), _REMEDY)
        place = DocumentPlace(where)
        place.equal("primary_observation_count", expected, self.count)
        for panel, hashes in self._hashes.items():
            field = f"inputs.{panel}_responses"
            if f"{panel}_responses" in inputs:
                said = place.valid(_Responses, inputs[f"{panel}_responses"])
                place.equal(f"{field}.count", len(hashes), said.count)
                found = place.sha256(field, sorted(hashes))
                place.equal(f"{field}.artifact_set_sha256", found, said.artifact_set_sha256)

    def _write(self, slug: str, response: _Response, scoring: _Scoring) -> None:
        done = response.status == _COMPLETED and response.generation is not None
        line: dict[str, Any] = {
            "task_id": response.task_id,
            "answer": response.generation.answer_markdown if response.generation else None,
            "outcome": "ok" if done else "failed",
            "published": {
                "artifact_sha256": response.artifact_sha256,
                "selection": scoring.observed_selection,
                "score_bps": scoring.score_bps,
            },
        }
        if slug not in self._open:
            if len(self._open) == _OPEN_FILES:
                self._close()
            path = self._folder / f"{slug}.jsonl"
            self._open[slug] = path.open("a", encoding="utf-8", newline="\n")
        self._open[slug].write(json.dumps(line, ensure_ascii=False) + "\n")

    def _close(self) -> None:
        for stream in self._open.values():
            stream.close()
        self._open.clear()
