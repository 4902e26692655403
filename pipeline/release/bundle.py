"""Reads a release from a bundle folder, the layout of the public Epicure server (spec 1).

`ingredient_tags.csv` and `embeddings.csv` are joined by node id; `supervised_directions.npz` holds
one array a cuisine. Files are data: bounded, regular, without pickles.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import ReleaseError
from pipeline.files import read_bytes, read_csv
from pipeline.tags import diet, nova, placed, regions, whole_number
from schemas.release import CUISINES, Direction, Ingredient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np

__all__ = ["ReleaseContent", "checked_vector", "read_bundle", "read_directions", "read_tags"]

_TAG_COLUMNS = (
    "node_id",
    "name",
    "primary_category",
    "is_vegetarian",
    "is_vegan",
    "cuisine_region",
    "nova_level",
)
_NPZ_LIMIT = 64 * 2**20
_DIMENSIONS_LIMIT = 8192


class ReleaseContent(NamedTuple):
    """The rows of a release, in no particular order."""

    ingredients: tuple[Ingredient, ...]
    directions: tuple[Direction, ...]


def read_bundle(folder: Path) -> ReleaseContent:
    """Ingredients and directions of a bundle.

    Raises
    ------
    ReleaseError
        A file is missing or unsafe, a column is missing, an id or name is unknown or repeated, a
        tag is out of range, or a vector is not finite, zero or of another length. Names file, row
        and field.
    """
    vectors = _read_vectors(folder / "embeddings.csv")
    dimensions = len(next(iter(vectors.values())))
    ingredients = read_tags(folder / "ingredient_tags.csv", vectors)
    directions = read_directions(folder / "supervised_directions.npz", dimensions)
    return ReleaseContent(tuple(ingredients), directions)


def _read_vectors(path: Path) -> dict[int, np.ndarray]:
    import numpy as np

    vectors: dict[int, np.ndarray] = {}
    for where, row in read_csv(path, ("node_id", "dim_0"), ReleaseError):
        node_id = whole_number(row.pop("node_id"), f"{where}, node_id")
        names = [f"dim_{i}" for i in range(len(row))]
        if list(row) != names or len(names) > _DIMENSIONS_LIMIT:
            raise _refuse(
                f"columns node_id, dim_0 … dim_{len(row) - 1}", "other columns", str(path)
            )
        if node_id in vectors:
            raise _refuse("every node_id once", f"{node_id} twice", where)
        values = [_finite(text, f"{where}, {name}") for name, text in row.items()]
        with np.errstate(over="ignore"):
            vector = np.array(values, dtype="<f4")
        vectors[node_id] = checked_vector(vector, where)
    if not vectors:
        raise _refuse("at least one row", "none", str(path))
    return vectors


def read_tags(path: Path, vectors: dict[int, np.ndarray]) -> Iterator[Ingredient]:
    """Ingredients of a table of tags, each with its vector by node id. Raises as `read_bundle`."""
    names: set[str] = set()
    unseen = dict(vectors)
    for where, row in read_csv(path, _TAG_COLUMNS, ReleaseError):
        node_id = whole_number(row["node_id"], f"{where}, node_id")
        if node_id not in vectors:
            raise _refuse("a node_id of embeddings.csv", str(node_id), f"{where}, node_id")
        if node_id not in unseen:
            raise _refuse("every node_id once", f"{node_id} twice", f"{where}, node_id")
        name = row["name"]
        if not name or name in names:
            raise _refuse("a name that stands once", repr(name), f"{where}, name")
        names.add(name)
        yield Ingredient(
            name=name,
            node_id=node_id,
            vector=unseen.pop(node_id).tobytes(),
            category=placed(row["primary_category"], where),
            regions=regions(row["cuisine_region"], where),
            **diet(row["is_vegetarian"], row["is_vegan"], where),
            nova=nova(row["nova_level"], where),
        )
    if unseen:
        raise _refuse(
            "a row of tags for every embedding", f"none for node_id {min(unseen)}", str(path)
        )


def checked_vector(vector: np.ndarray, where: str) -> np.ndarray:
    """The vector, finite and not zero in float32. Raises as `read_bundle` does."""
    import numpy as np

    if not np.isfinite(vector).all():
        raise _refuse("finite numbers", "NaN or infinity", f"{where}, vector")
    if not vector.any():
        raise _refuse("a vector that is not zero", "all zero", f"{where}, vector")
    return vector


def read_directions(path: Path, dimensions: int) -> tuple[Direction, ...]:
    """Directions of the cuisines out of an npz of plain arrays. Raises as `read_bundle` does."""
    data = read_bytes(path, _NPZ_LIMIT, ReleaseError)
    try:
        arrays = _unpacked(data, path)
    except ReleaseError:
        raise
    except Exception as problem:  # damaged or hostile bytes make zipfile and numpy raise anything
        raise _refuse("an npz of plain arrays", str(problem), str(path)) from problem
    for cuisine, array in arrays.items():
        where = f"{path}, {cuisine}"
        if array.shape != (dimensions,) or array.dtype.kind != "f":
            raise _refuse(f"{dimensions} floats", f"{array.dtype} {array.shape}", where)
        checked_vector(array.astype("<f4"), where)
    return tuple(
        Direction(cuisine=cuisine, vector=array.astype("<f4").tobytes())
        for cuisine, array in arrays.items()
    )


def _unpacked(data: bytes, path: Path) -> dict[str, np.ndarray]:
    """The arrays of an npz by cuisine, no more of it unpacked than the limit."""
    import numpy as np

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        names = sorted(member.filename for member in members)
        wanted = sorted(f"{cuisine}.npy" for cuisine in CUISINES)
        if names != wanted:
            odd = sorted(set(names) ^ set(wanted)) or ["a member twice"]
            raise _refuse("one array for each of the eight cuisines", ", ".join(odd), str(path))
        if sum(member.file_size for member in members) > _NPZ_LIMIT:
            raise _refuse(f"at most {_NPZ_LIMIT:,} bytes unpacked", "more", str(path))
        return {
            cuisine: np.lib.format.read_array(
                io.BytesIO(archive.read(f"{cuisine}.npy")), allow_pickle=False
            )
            for cuisine in CUISINES
        }


def _finite(text: str, where: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan  # Python reads 1_0 as 10
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refuse("a finite number", repr(text), where)
    return value


def _refuse(expected: str, found: str, where: str) -> ReleaseError:
    return ReleaseError(expected, found, where, "Mend the source and run again.")
