"""A small workspace that runs in this process: the starter release, 16 tasks a panel, few draws."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pipeline.portfolio import PORTFOLIO
from pipeline.starter import FOLDER
from pipeline.workspace import Workspace, open_workspace
from schemas.taskset import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pipeline.release.bundle import ReleaseContent

__all__ = ["mini_parameters", "mini_workspace", "replay_route", "run_stages", "write_bundle"]


def mini_parameters() -> dict[str, Any]:
    """Parameters of a run that takes about a second."""
    panels = {
        f"panel_{i}": {"seed": f"mini-{i}", "prefix": f"mini-{i}-", "drop_unscoreable": True}
        for i in (1, 2)
    }
    policy = {"adapter": "policy", "ranked": True}
    return {
        "release": {"source": "starter", "path": str(FOLDER), "version": 1},
        "freeze": {
            "source": "compiled",
            "panels": panels,
            "families": ["substitution", "pairing"],
            "quota": 2,
            "category_cap": 24,
            "minimum_categories": 2,
            "excluded_anchors": [],
        },
        "routes": {
            "dice": policy | {"policy": "uniform", "seed": 3, "label": "Dice"},
            "first": policy | {"policy": "first_three", "label": "First three"},
            "best": policy | {"policy": "optimum", "label": "Best", "ranked": False},
        },
        "parse": {"contract": "selection-set-v3", "alternative": "selection-set-v4"},
        "score": {
            "families": ["substitution", "pairing"],
            "core": {"source": "rule", "context": "mini-core", "size": None},
        },
        "statistics": {"stream": "blake3", "seed": 1, "bootstrap": 500, "sign_flips": 500},
        "train": {"salt": "split", "validation_bps": 2000, "minimum_gap_bps": 500},
        "report": {"title": "Mini"},
    }


def mini_workspace(root: Path, change: Callable[[dict[str, Any]], None] | None = None) -> Workspace:
    """A folder with `params.yaml` (JSON is YAML), after a change to its parameters."""
    parameters = mini_parameters()
    if change:
        change(parameters)
    root.mkdir(parents=True, exist_ok=True)
    text = json.dumps(parameters, ensure_ascii=False)  # YAML knows no surrogate pairs
    (root / "params.yaml").write_text(text, encoding="utf-8")
    return open_workspace(root)


def run_stages(workspace: Workspace, *stages: str) -> None:
    """Run stages in this process, `execute` for every route; all of them where none is named."""
    for stage in PORTFOLIO.stages:
        if stages and stage.word not in stages:
            continue
        for slug in workspace.parameters.routes if stage.asks else [None]:
            stage.load().run(workspace, *([slug] if slug else []))


def write_bundle(folder: Path, content: ReleaseContent) -> Path:
    """Write a release as a bundle: read far faster than the starter is learned."""
    import numpy as np

    folder.mkdir(parents=True)
    tags = ["node_id,name,primary_category,is_vegetarian,is_vegan,cuisine_region,nova_level"]
    size = len(content.ingredients[0].vector) // 4
    rows = [",".join(["node_id", *(f"dim_{i}" for i in range(size))])]
    for number, item in enumerate(content.ingredients):
        regions = ";".join(item.regions)
        tags.append(
            f"{number},{item.name},{item.category},{item.vegetarian},{item.vegan},{regions},"
            f"{item.nova or ''}"
        )
        values = np.frombuffer(item.vector, dtype="<f4").astype(np.float64).tolist()
        rows.append(",".join([str(number), *map(repr, values)]))
    (folder / "ingredient_tags.csv").write_text("\n".join(tags) + "\n", encoding="utf-8")
    (folder / "embeddings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    arrays = {d.cuisine: np.frombuffer(d.vector, dtype="<f4") for d in content.directions}
    np.savez(folder / "supervised_directions.npz", **arrays)
    return folder


def replay_route(
    workspace: Workspace, name: str, lines: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Write a replay file that answers every frozen task, and give its route.

    Tasks without a line of their own get the answer A, B, C.
    """
    tasks = workspace.read("freeze", Task).rows()
    default = {"answer": "FINAL_SELECTION: A, B, C"}
    rows = [{"task_id": t.task_id} | dict(lines.get(t.task_id, default)) for t in tasks]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode("utf-8")
    (workspace.root / name).write_bytes(data)
    return {
        "adapter": "replay",
        "answers": name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "label": name,
        "ranked": True,
    }
