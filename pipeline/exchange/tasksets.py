"""Published task sets and their plan taken in, without any answers (docs/published.md).

The plan names the task sets that it was made for by their `artifact_sha256`, so it says which of
the documents in a folder belong together, and which panel each is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import InputError, ReleaseError
from pipeline.exchange.dataset import PublishedInference
from pipeline.files import read_bytes, read_json
from pipeline.release.documents import DocumentPlace, Loose
from pipeline.release.published import plan_core, read_task_set
from schemas.parameters import PublishedFiles
from schemas.taskset import Family

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["import_tasksets"]

_DOCUMENT_LIMIT = 2**28
_MOST_DOCUMENTS = 100


class ImportedTasks(NamedTuple):
    """What was taken in: the files by their use, ranked and all families, how the plan draws."""

    files: PublishedFiles
    ranked: tuple[str, ...]
    families: tuple[str, ...]
    inference: PublishedInference
    tasks: int
    planned: int


class _Input(Loose):
    semantic_sha256: str | None = None


class _PlanInference(Loose):
    inputs: dict[str, _Input]
    inference: dict[str, Any]


def import_tasksets(source: Path, staging: Path) -> ImportedTasks:
    """Check the plan of a folder and the task sets that it names, and copy them to `release/`.

    Raises
    ------
    InputError
        The folder holds no plan or more than one, or not all task sets that it names.
    ReleaseError, InputError
        A document is not what it says of itself.
    """
    documents = _documents(source)
    plans = [name for name, document in documents.items() if "common_core" in document]
    if len(plans) != 1:
        raise InputError(
            "a data set's DATA_MANIFEST.json, or one analysis plan beside its task sets",
            f"{len(plans)} plans" if plans else "neither",
            str(source),
            "Name the folder that holds them.",
        )
    plan = plans[0]
    where = str(source / plan)
    planned = plan_core(documents[plan], where)
    said = DocumentPlace(where).valid(_PlanInference, documents[plan])
    panels = {
        panel: _find_set(documents, panel, said.inputs, where)
        for panel in dict.fromkeys(task.panel for task in planned)
    }
    sets = [
        read_task_set(documents[name], panel, str(source / name)) for panel, name in panels.items()
    ]
    frozen = {task.task_id: task for found in sets for task in found.tasks}
    for entry in planned:
        task = frozen.get(entry.task_id)
        if task is None or (task.panel, task.family) != (entry.panel, entry.family):
            expected = "planned tasks in the task sets, under the same panel and family"
            raise InputError(expected, entry.task_id, where, "Fetch the plan and sets again.")
    release = staging / "release"
    release.mkdir()
    for name in (plan, *panels.values()):
        (release / name).write_bytes(read_bytes(source / name, _DOCUMENT_LIMIT, ReleaseError))
    present = {task.family for task in frozen.values()}
    return ImportedTasks(
        PublishedFiles(panels=panels, plan=plan),
        tuple(dict.fromkeys(entry.family for entry in planned)),
        tuple(family.value for family in Family if family in present),
        DocumentPlace(where).valid(PublishedInference, said.inference),
        len(frozen),
        len(planned),
    )


def _documents(source: Path) -> dict[str, dict[str, Any]]:
    """JSON objects of a folder that may be task sets or plans, by file name."""
    paths = sorted(source.glob("*.json"))
    if len(paths) > _MOST_DOCUMENTS:
        expected = f"at most {_MOST_DOCUMENTS} JSON files"
        raise InputError(expected, str(len(paths)), str(source), "Name a smaller folder.")
    found = {}
    for path in paths:
        value = read_json(path, _DOCUMENT_LIMIT, ReleaseError)
        if isinstance(value, dict) and {"task_set_sha256", "common_core"} & set(value):
            found[path.name] = value
    return found


def _find_set(
    documents: dict[str, dict[str, Any]], panel: str, inputs: dict[str, _Input], where: str
) -> str:
    named = {
        entry.semantic_sha256 for key, entry in inputs.items() if key.endswith(f"{panel}_taskset")
    }
    found = [
        name
        for name, document in documents.items()
        if "task_set_sha256" in document and document.get("artifact_sha256") in named
    ]
    if len(found) != 1:
        raise InputError(
            f"one task set of {panel} with the artifact_sha256 that the plan names",
            f"{len(found)} of them",
            where,
            "Put the plan's own task sets beside it.",
        )
    return found[0]
