"""Exports the JSON Schemas of all rows and of `params.yaml`: `python -m schemas`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from schemas import execution, parameters, release, results, taskset, training
from schemas.record import Row

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["FOLDER", "documents", "rows"]

FOLDER = Path(__file__).parent / "json"
"""Where the exported schemas lie."""

_MODULES: tuple[ModuleType, ...] = (release, taskset, execution, results, training)


def rows() -> list[type[Row]]:
    """Every kind of row, in the order of their tables' names."""
    found = {
        value
        for module in _MODULES
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Row) and value is not Row
    }
    return sorted(found, key=lambda model: model.table)


def documents() -> dict[str, str]:
    """Schemas as JSON text by file name."""
    models = {model.table: model for model in rows()} | {"params": parameters.Parameters}
    return {
        f"{name}.json": json.dumps(model.model_json_schema(), indent=1, sort_keys=True) + "\n"
        for name, model in models.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for stale in FOLDER.glob("*.json"):
        stale.unlink()
    for name, text in documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
