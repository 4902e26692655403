"""The published data set's layout: its manifest, and the tasks of its common core.

See docs/published.md.

A manifest states size, SHA-256 and rows of every file beside it, and its own `artifact_sha256`.
`tasks.jsonl` holds the common core and nothing else, in the order in which the published analysis
drew: panel after panel, family after family. A task there is a task of a published set with its
panel in `release_panel`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import Field

from pipeline.errors import ReleaseError
from pipeline.files import hash_file, parse_json, read_json, read_lines
from pipeline.release.documents import DocumentPlace, Loose, check_artifact
from pipeline.release.published import read_task
from schemas.parameters import FileName
from schemas.record import Count, Digest
from schemas.release import PlannedTask, Provenance
from schemas.routes import Slug

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from schemas.release import PublishedTask

__all__ = [
    "RELEASE",
    "TASKS",
    "Manifest",
    "ManifestFile",
    "check_file",
    "read_dataset",
    "read_manifest",
    "read_objects",
]

TASKS = "tasks.jsonl"
RELEASE = "release.json"
_DOCUMENT_LIMIT = 64 * 2**20
_LINE_LIMIT = 16 * 2**20
_REMEDY = "Fetch it again; it is not what its manifest says."


class ManifestFile(Loose):
    """What a manifest says of one file."""

    name: FileName
    bytes: Count
    sha256: Digest
    rows: Count | None = None


class Manifest(Loose):
    """A data set's manifest, after its own hash was checked."""

    artifact_sha256: Digest
    release_artifact_sha256: Digest
    model_count: Count
    task_count: Count
    primary_observation_count: Count
    pairwise_comparison_count: Count
    files: Annotated[tuple[ManifestFile, ...], Field(min_length=1, max_length=1000)]

    def file(self, name: str, where: str) -> ManifestFile:
        """The entry of a file.

        Raises
        ------
        ReleaseError
            There is none, or more than one.
        """
        found = [entry for entry in self.files if entry.name == name]
        if len(found) != 1:
            raise ReleaseError(f"one entry for {name}", str(len(found)), where, _REMEDY)
        return found[0]


class Dataset(NamedTuple):
    """Tasks of a data set, the plan that their order is, and the hashes it goes by."""

    tasks: tuple[PublishedTask, ...]
    planned: tuple[PlannedTask, ...]
    hashes: tuple[Provenance, ...]


class _Tagged(Loose):
    release_panel: Slug


def read_manifest(path: Path) -> Manifest:
    """A manifest that agrees with its own hash.

    Raises
    ------
    ReleaseError
        The file is missing, unsafe or no JSON.
    InputError
        It has another shape, or another hash than it says.
    """
    document = read_json(path, _DOCUMENT_LIMIT, ReleaseError)
    place = DocumentPlace(str(path))
    listed = isinstance(document, dict) and isinstance(document.get("files"), list)
    manifest = place.valid(
        Manifest, document | {"files": tuple(document["files"])} if listed else document
    )
    check_artifact(document, manifest.artifact_sha256, place)
    return manifest


def check_file(path: Path, entry: ManifestFile) -> Path:
    """The path of a file whose size and SHA-256 are those of its entry.

    Raises
    ------
    ReleaseError
        The file is missing, unsafe, or another.
    """
    found = hash_file(path, ReleaseError)
    if found.size != entry.bytes:
        raise ReleaseError(f"{entry.bytes:,} bytes", f"{found.size:,}", str(path), _REMEDY)
    if found.sha256 != entry.sha256:
        raise ReleaseError(f"sha256 {entry.sha256}", found.sha256, str(path), _REMEDY)
    return path


def read_objects(path: Path, rows: int | None) -> Iterator[dict[str, Any]]:
    """Objects of a JSON Lines file, one in memory at a time; blank lines do not count.

    Raises
    ------
    ReleaseError
        A line is too long, no JSON object, or there are not as many as `rows` says.
    """
    count = 0
    for number, line in enumerate(read_lines(path, _LINE_LIMIT, ReleaseError), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            value = parse_json(line, where, ReleaseError)
            if not isinstance(value, dict):
                raise ReleaseError("a JSON object", type(value).__name__, where, _REMEDY)
            count += 1
            yield value
    if rows is not None and count != rows:
        raise ReleaseError(f"{rows:,} rows", f"{count:,}", str(path), _REMEDY)


def read_dataset(path: Path) -> Dataset:
    """Tasks of the data set that a manifest describes, after every hash was checked.

    Raises
    ------
    ReleaseError
        A file is not what the manifest says, or the tasks stand in another order than the
        analysis drew in.
    InputError
        A task, the release file or the manifest is not what it says of itself.
    """
    manifest, folder = read_manifest(path), path.parent
    entries = {name: manifest.file(name, str(path)) for name in (TASKS, RELEASE)}
    files = {name: check_file(folder / name, entry) for name, entry in entries.items()}
    release = read_json(files[RELEASE], _DOCUMENT_LIMIT, ReleaseError)
    stated = release.get("artifact_sha256") if isinstance(release, dict) else None
    place = DocumentPlace(str(files[RELEASE]))
    place.equal("artifact_sha256", manifest.release_artifact_sha256, stated)
    check_artifact(release, manifest.release_artifact_sha256, place)
    tasks = tuple(_tasks(files[TASKS], entries[TASKS].rows))
    DocumentPlace(str(path)).equal("task_count", len(tasks), manifest.task_count)
    return Dataset(
        tasks,
        _planned(tasks, str(files[TASKS])),
        (
            Provenance(name="manifest.artifact_sha256", sha256=manifest.artifact_sha256),
            Provenance(name="release.artifact_sha256", sha256=manifest.release_artifact_sha256),
            Provenance(name=f"{TASKS}.sha256", sha256=entries[TASKS].sha256),
        ),
    )


def _tasks(path: Path, rows: int | None) -> Iterator[PublishedTask]:
    seen: set[str] = set()
    for number, raw in enumerate(read_objects(path, rows), start=1):
        panel = DocumentPlace(str(path), f"number {number}").valid(_Tagged, raw).release_panel
        document = {name: value for name, value in raw.items() if name != "release_panel"}
        task = read_task(document, panel, number, str(path))
        if task.task_id in seen:
            raise DocumentPlace(str(path), task.task_id).refusal(
                "task_id", "unique ids", "this one twice"
            )
        seen.add(task.task_id)
        yield task


def _planned(tasks: Sequence[PublishedTask], where: str) -> tuple[PlannedTask, ...]:
    """Every task with its place in its panel and family, the order being the analysis's own."""
    families = list(dict.fromkeys(task.family for task in tasks))
    order = [(task.panel, families.index(task.family)) for task in tasks]
    if order != sorted(order):
        at = next(i for i in range(1, len(order)) if order[i] < order[i - 1])
        expected = "tasks by panel, then family, families in one order"
        raise ReleaseError(expected, tasks[at].task_id, where, "Sort the file as it was published.")
    places: Counter[tuple[str, str]] = Counter()
    planned = []
    for task in tasks:
        stratum = (task.panel, task.family)
        planned.append(
            PlannedTask(
                panel=task.panel,
                family=task.family,
                position=places[stratum],
                task_id=task.task_id,
            )
        )
        places[stratum] += 1
    return tuple(planned)
