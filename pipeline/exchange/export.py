"""Training data out: the train stage's tables as files that trainers read (docs/training.md).

Fields, names and order are those of the published development data, so for the published task sets
the files are the published ones, byte for byte as JSON Lines. A file of the core never leaves: a
table that was made for another core than the present one is refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pipeline.errors import InputError
from pipeline.exchange.formats import Format, Kind
from pipeline.files import replacing, write_bytes
from pipeline.release.documents import canonical_text
from pipeline.showing.view import Grid, View
from schemas.release import PublishedTask
from schemas.results import CoreTask
from schemas.taskset import BEST_BPS, LABELS, PUBLISHED_CONTRACT, Family, Task, TaskSet, score_map
from schemas.training import DevelopmentTask, DpoRow, GrpoRow, SftRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pipeline.workspace import Workspace

__all__ = ["Exported", "export_rows", "export_view", "training_rows"]

_FAMILIES = list(Family)

_TrainingRow = TypeVar("_TrainingRow", DevelopmentTask, SftRow, DpoRow, GrpoRow)


class Exported(NamedTuple):
    """A file and its number of rows."""

    path: Path
    rows: int


def export_rows(
    workspace: Workspace, kind: Kind, form: Format, folder: Path
) -> tuple[Exported, ...]:
    """Write the files of a kind, one a split, each whole or not at all.

    Raises
    ------
    InputError
        There is nothing to train on.
    TableError
        A table is missing, damaged or made for another core, or the place cannot be written.
    """
    files = training_rows(workspace, kind)
    if not any(files.values()):
        raise InputError(
            "tasks whose anchors are not in the core", "none", "artifacts/train",
            "Freeze more tasks than the core takes; params.yaml: score.core.size.",
        )  # fmt: skip
    written = []
    for name, rows in files.items():
        path = folder / f"{name}.{form.value}"
        if form is Format.JSONL:
            write_bytes(path, "".join(canonical_text(row) + "\n" for row in rows).encode("utf-8"))
        else:
            _write_parquet(path, rows)
        written.append(Exported(path, len(rows)))
    return tuple(written)


def training_rows(workspace: Workspace, kind: Kind) -> dict[str, list[dict[str, Any]]]:
    """Rows of a kind by file name without its ending. Raises as `export_rows` does."""
    tasks = workspace.read("freeze", Task)
    core = workspace.read("score", CoreTask, tasks)
    development = workspace.read("train", DevelopmentTask, tasks, core)
    if kind is Kind.TASKS:
        return _task_files(workspace, development.rows())
    if kind is Kind.SFT:
        rows = [_sft(row) for row in _ordered(workspace.read("train", SftRow, development).rows())]
    elif kind is Kind.DPO:
        rows = [_dpo(row) for row in _ordered(workspace.read("train", DpoRow, development).rows())]
    else:
        contract = workspace.read("freeze", TaskSet).rows()[0].parser.name
        rows = [
            _grpo(row, contract)
            for row in _ordered(workspace.read("train", GrpoRow, development).rows())
        ]
    return {
        f"{kind.value}_{split}": [row for row in rows if row["split"] == split]
        for split in ("train", "validation")
    }


def export_view(exported: Iterable[Exported]) -> View:
    """Which files were written."""
    files = tuple((str(file.path), str(file.rows)) for file in exported)
    document = {"files": [{"path": path, "rows": int(rows)} for path, rows in files]}
    notes = tuple(
        f"No rows in {path}: strata of few tasks have none to spare for it."
        for path, rows in files
        if rows == "0"
    )
    return View("Written", (Grid("", ("file", "rows"), files, frozenset({1})),), notes, document)


def _ordered(rows: Iterable[_TrainingRow]) -> list[_TrainingRow]:
    """By split, family and task id; pairs of a task stay in their order."""
    return sorted(rows, key=lambda row: (row.split, _FAMILIES.index(row.family), row.task_id))


def _task_files(
    workspace: Workspace, development: Iterable[DevelopmentTask]
) -> dict[str, list[dict[str, Any]]]:
    documents = _documents(workspace)
    files: dict[str, list[dict[str, Any]]] = {"train_tasks": [], "validation_tasks": []}
    for entry in _ordered(development):
        document = documents[entry.task_id]
        row = document | {
            "lab_split": entry.split,
            "official_leaderboard_eligible": False,
            "official_test_anchor_overlap": False,
            "official_test_task_overlap": False,
            "source_panel": entry.panel,
            "source_split": document.get("split"),
            "split": entry.split,
        }
        name = f"{entry.split}_tasks"
        if entry.track == "supplemental":
            name = f"supplemental_{entry.family.value}"
            row["track"] = name
        files.setdefault(name, []).append(row)
    return files


def _documents(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Tasks by id as published, or ours in the same words."""
    tasks = workspace.read("freeze", Task)
    if workspace.parameters.release.source == "published":
        published = workspace.read("release", PublishedTask).rows()
        return {row.task_id: json.loads(row.document) for row in published}
    return {
        task.task_id: {
            "anchor_ingredient": task.anchor,
            "chance_score_bps": task.chance_bps,
            "choices": dict(zip(LABELS, task.choices, strict=True)),
            "family": task.family.value,
            "optimal_margin_bps": task.margin_bps,
            "optimal_selection": task.optimum,
            "primary_category": task.category,
            "prompt": task.prompt,
            "selection_scores_bps": score_map(task),
            "task_id": task.task_id,
            "validation_stratum": task.stratum,
        }
        for task in tasks.rows()
    }


def _shared(row: SftRow | DpoRow | GrpoRow) -> dict[str, Any]:
    return {
        "anchor_ingredient": row.anchor,
        "family": row.family.value,
        "prompt": row.prompt,
        "split": row.split,
        "task_id": row.task_id,
    }


def _sft(row: SftRow) -> dict[str, Any]:
    return _shared(row) | {
        "completion": row.completion,
        "optimal_margin_bps": row.margin_bps,
        "reward": row.reward_bps / BEST_BPS,
    }


def _dpo(row: DpoRow) -> dict[str, Any]:
    return _shared(row) | {
        "chosen": row.chosen,
        "chosen_reward": row.chosen_bps / BEST_BPS,
        "pair_id": f"{row.task_id}-p{row.pair}",
        "rejected": row.rejected,
        "rejected_reward": row.rejected_bps / BEST_BPS,
        "reward_margin": row.gap_bps / BEST_BPS,
    }


def _grpo(row: GrpoRow, contract: str) -> dict[str, Any]:
    """A row as published; one that is read otherwise says so to the reward."""
    read = {} if contract == PUBLISHED_CONTRACT else {"parser_contract": contract}
    return (
        _shared(row)
        | {
            "choices": dict(zip(LABELS, row.choices, strict=True)),
            "selection_scores_bps": score_map(row),
        }
        | read
    )


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with replacing(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows), temporary, compression="zstd")
