"""Published data in: a folder that holds it, checked, with the parameters that run it.

The folder holds `release/` (the published documents), `answers/` (a replay file a model, where
there are answers) and `params.yaml`. The stages then do what they do with any release and any
route: nothing reads the published data beside them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import InputError
from pipeline.exchange.dataset import MANIFEST, import_dataset
from pipeline.exchange.folder import appearing, refuse_existing
from pipeline.exchange.hub import HUB_PREFIX, fetch, parse_source
from pipeline.exchange.tasksets import import_tasksets
from pipeline.files import write_bytes
from pipeline.progress import silent
from pipeline.showing.view import View
from schemas.parameters import Parameters

if TYPE_CHECKING:
    from pipeline.exchange.dataset import PublishedInference
    from pipeline.progress import Progress

__all__ = ["import_published", "imported_view"]

_TRAIN = {
    "salt": "flavourbench-lab-anchor-split-v1",
    "validation_bps": 2000,
    "minimum_gap_bps": 500,
}
_POLICIES: dict[str, dict[str, Any]] = {
    "uniform": {"policy": "uniform", "seed": 1, "label": "Uniform random", "ranked": True},
    "first-three": {"policy": "first_three", "label": "First three labels", "ranked": True},
    "optimum": {"policy": "optimum", "label": "Optimum", "ranked": False},
}


class Imported(NamedTuple):
    """What an import wrote: the folder, its parameters, and how much is in it."""

    folder: Path
    parameters: Path
    tasks: int
    core: int
    models: int
    answers: int


def import_published(
    source: str, target: Path, root: Path, progress: Progress = silent
) -> Imported:
    """Take published data in.

    Parameters
    ----------
    source
        Folder with a data set's manifest, or with a plan and its task sets; or
        `hub:OWNER/NAME@REVISION`, which is fetched beside the target first and stays there only
        as long as it is not complete.
    target
        Folder to make; it appears complete or not at all.
    root
        The workspace: paths in the parameters start from it where the target lies below it.
    progress
        Called with responses done and their number.

    Raises
    ------
    InputError
        There is no such source, or the target is there already.
    ProviderError
        The Hub stopped answering; the same call goes on where it ended.
    ReleaseError, InputError
        Something is not what it says.
    """
    if source.startswith(HUB_PREFIX):
        hub = parse_source(source)
        download = target.with_name(f".{target.name}.{hub.revision[:12]}.download")
        refuse_existing(target)
        fetch(hub, download, progress)
        imported = import_published(str(download), target, root, progress)
        shutil.rmtree(download)
        return imported
    folder = Path(source)
    if not folder.is_dir():
        raise InputError("a folder", "none", source, "Name the folder of the download.")
    whole = target.resolve()
    inside = whole.is_relative_to(root.resolve())
    place = (whole.relative_to(root.resolve()) if inside else whole).as_posix()
    with appearing(target) as staging:
        if (folder / MANIFEST).exists():
            document, counts = _dataset(folder, staging, place, progress)
        else:
            document, counts = _tasksets(folder, staging, place)
        _write_parameters(staging / "params.yaml", document)
    return Imported(target, target / "params.yaml", *counts)


def imported_view(imported: Imported) -> View:
    """What was taken in, and what to do next."""
    document = imported._asdict() | {
        "folder": str(imported.folder),
        "parameters": str(imported.parameters),
    }
    notes = (
        f"{imported.tasks:,} tasks, {imported.core:,} of them the common core",
        f"{imported.models:,} routes, {imported.answers:,} published answers",
        "Every hash agrees. Next:",
        f"  cp {imported.parameters} params.yaml && dvc repro",
    )
    return View(f"Imported to {imported.folder}", (), notes, document)


class _ImportedCounts(NamedTuple):
    tasks: int
    core: int
    models: int
    answers: int


def _dataset(
    source: Path, staging: Path, place: str, progress: Progress
) -> tuple[dict[str, Any], _ImportedCounts]:
    found = import_dataset(source, staging, place, progress)
    document = _parameters(place, {"manifest": MANIFEST}, found.families, found.inference)
    document["freeze"]["families"] = found.families
    document["routes"] = {
        slug: route.model_dump(mode="json", exclude={"enabled"})
        for slug, route in found.routes.items()
    }
    return document, _ImportedCounts(found.tasks, found.tasks, len(found.routes), found.answers)


def _tasksets(source: Path, staging: Path, place: str) -> tuple[dict[str, Any], _ImportedCounts]:
    found = import_tasksets(source, staging)
    files = found.files.model_dump(exclude_none=True)
    document = _parameters(place, files, found.ranked, found.inference)
    document["freeze"]["families"] = found.families
    document["routes"] = {
        slug: {"adapter": "policy"} | settings for slug, settings in _POLICIES.items()
    }
    return document, _ImportedCounts(found.tasks, found.planned, len(document["routes"]), 0)


def _parameters(
    place: str, files: dict[str, Any], ranked: tuple[str, ...], inference: PublishedInference
) -> dict[str, Any]:
    """Parameters that do what the published analysis did."""
    return {
        "release": {"source": "published", "path": f"{place}/release", "published": files},
        "freeze": {"source": "published"},
        "routes": {},
        "parse": {"contract": "selection-set-v3", "alternative": "selection-set-v4"},
        "score": {"families": ranked, "core": {"source": "plan"}},
        "statistics": {
            "stream": "pcg64",
            "seed": inference.seed,
            "bootstrap": inference.bootstrap_resamples,
            "sign_flips": inference.permutation_resamples,
        },
        "train": _TRAIN,
        "report": {},
    }


def _write_parameters(path: Path, document: dict[str, Any]) -> None:
    """Write parameters that are sure to be read again."""
    import io
    import json

    from ruamel.yaml import YAML

    checked = Parameters.model_validate_json(json.dumps(document))
    stream = io.StringIO()
    YAML().dump(checked.model_dump(mode="json", exclude_defaults=True), stream)
    write_bytes(path, stream.getvalue().encode("utf-8"))
