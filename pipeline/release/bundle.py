"""Reads a release from a bundle folder, the layout of the public Epicure server (docs/bundle.md).

`ingredient_tags.csv` and `embeddings.csv` are joined by node id; `supervised_directions.npz` holds
one array a cuisine. Files are data: bounded, regular, without pickles.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import ReleaseError
from pipeline.files import read_bytes
from pipeline.tags import (
    CATEGORIES,
    Mistakes,
    checked_name,
    diet,
    nova,
    placed,
    read_csv,
    regions,
    truth,
    whole_number,
)
from schemas.release import CUISINES, UNIVERSAL, Direction, Ingredient

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np

    from pipeline.tags import CsvRow

__all__ = ["TAG_COLUMNS", "ReleaseContent", "checked_vector", "read_bundle", "read_rest"]

TAG_COLUMNS = (
    "node_id",
    "name",
    "primary_category",
    "is_vegetarian",
    "is_vegan",
    "cuisine_region",
    "nova_level",
)
"""Columns that `ingredient_tags.csv` has to have."""

_NPZ_LIMIT = 64 * 2**20
_FLOAT32_END = 2**128 - 2**103  # what rounds to infinity from here on
_DIMENSIONS_LIMIT = 2047  # what freeze can add up exactly


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
        and column; mistakes are told together.
    """
    mistakes = Mistakes()
    vectors = _read_vectors(folder / "embeddings.csv", mistakes)
    return read_rest(folder, vectors, mistakes)


def read_rest(
    folder: Path, vectors: Mapping[int, np.ndarray], mistakes: Mistakes
) -> ReleaseContent:
    """The tags and directions that belong to vectors by node id. Raises as `read_bundle` does.

    Parameters
    ----------
    folder
        Where `ingredient_tags.csv` and `supervised_directions.npz` lie.
    vectors
        float32 (D,) by node id; none where they could not be read.
    mistakes
        Those of the vectors; it gets the others.
    """
    ingredients = _read_tags(folder / "ingredient_tags.csv", vectors, mistakes)
    dimensions = len(next(iter(vectors.values()))) if vectors else None
    directions = _read_directions(folder / "supervised_directions.npz", dimensions, mistakes)
    mistakes.refuse_any(folder)
    return ReleaseContent(ingredients, directions)


def _read_vectors(path: Path, mistakes: Mistakes) -> dict[int, np.ndarray]:
    """Vectors by node id; one that is a mistake is all zero, so that its row is known."""
    import numpy as np

    vectors: dict[int, np.ndarray] = {}
    names: list[str] = []
    try:
        for row in read_csv(path, ("node_id", "dim_0"), mistakes.note):
            names = names or _dimensions(row, path)
            node_id = mistakes.take(whole_number, row, "node_id", -1)
            if node_id in vectors:
                mistakes.note(_refuse("every node_id once", f"{node_id} twice", row.where))
                continue
            vector = np.array(_numbers(row, names, mistakes), dtype="<f4")
            if node_id >= 0:
                vectors[node_id] = vector
        if not vectors and not mistakes.count:
            raise _refuse("at least one row", "none", str(path))
    except ReleaseError as problem:
        mistakes.note(problem)
        return {}
    return vectors


def _dimensions(row: CsvRow, path: Path) -> list[str]:
    """The columns of a vector, in order; every other column but `node_id` is a mistake."""
    found = [name for name in row.fields if name != "node_id"]
    wanted = [f"dim_{i}" for i in range(len(found))]
    if len(found) > _DIMENSIONS_LIMIT:
        raise _refuse(f"at most {_DIMENSIONS_LIMIT:,} dimensions", f"{len(found):,}", str(path))
    odd = next((pair for pair in zip(wanted, found, strict=True) if pair[0] != pair[1]), None)
    if odd:
        expected = "columns node_id, dim_0, dim_1 and so on, in this order, and no others"
        raise _refuse(expected, f"other columns: {odd[1]!r} in place of {odd[0]}", str(path))
    return wanted


def _numbers(row: CsvRow, names: list[str], mistakes: Mistakes) -> list[float]:
    """A row's vector: finite and not zero in float32, or all zero where it is a mistake."""
    import numpy as np

    before = mistakes.count
    values = [mistakes.take(_finite, row, name, 0.0) for name in names]
    if mistakes.count == before:
        try:
            checked_vector(np.array(values, dtype="<f4"), row.where)
        except ReleaseError as problem:
            mistakes.note(problem)
    return values if mistakes.count == before else [0.0] * len(names)


def _read_tags(
    path: Path, vectors: Mapping[int, np.ndarray], mistakes: Mistakes
) -> tuple[Ingredient, ...]:
    """Ingredients of a table of tags, each with its vector by node id."""
    known = _Known(vectors, dict.fromkeys(vectors), set())
    found, start = [], mistakes.count
    try:
        for row in read_csv(path, TAG_COLUMNS, mistakes.note):
            before = mistakes.count
            ingredient = _ingredient(row, known, mistakes)
            if mistakes.count == before:
                found.append(ingredient)
    except ReleaseError as problem:
        mistakes.note(problem)
    else:
        lacking = len(known.unseen) - 1
        if lacking >= mistakes.count - start:  # else they may be those of rows with mistakes
            said = f"none for node_id {min(known.unseen)}"
            said += f" and {lacking:,} others" if lacking else ""
            mistakes.note(_refuse("a row of tags for every embedding", said, str(path)))
    return tuple(found)


class _Known(NamedTuple):
    """Vectors by node id, the ids that no row of tags had yet, and the names that were read."""

    vectors: Mapping[int, np.ndarray]
    unseen: dict[int, None]
    names: set[str]

    def new_id(self, text: str, where: str) -> int:
        """A node id that has a vector, met for the first time."""
        node_id = whole_number(text, where)
        if self.vectors and node_id not in self.vectors:
            raise _refuse("a node_id of embeddings.csv", str(node_id), where)
        if self.vectors and node_id not in self.unseen:
            raise _refuse("every node_id once", f"{node_id} twice", where)
        self.unseen.pop(node_id, None)
        return node_id

    def new_name(self, text: str, where: str) -> str:
        """A name, met for the first time."""
        name = checked_name(text, where)
        if name in self.names:
            raise _refuse("a name that stands once", repr(name), where)
        self.names.add(name)
        return name


def _ingredient(row: CsvRow, known: _Known, mistakes: Mistakes) -> Ingredient:
    """A row's ingredient, in which something else stands in place of every mistake."""
    node_id = mistakes.take(known.new_id, row, "node_id", 0)
    vegetarian = mistakes.take(truth, row, "is_vegetarian", otherwise=True)
    vegan = mistakes.take(truth, row, "is_vegan", otherwise=False)
    vector = known.vectors.get(node_id)
    try:
        flags = diet(vegetarian, vegan, f"{row.where}, is_vegan")
    except ReleaseError as problem:
        mistakes.note(problem)
        flags = {"vegetarian": True, "vegan": True}
    return Ingredient(
        name=mistakes.take(known.new_name, row, "name", "unknown"),
        node_id=node_id,
        vector=b"" if vector is None else vector.tobytes(),
        category=mistakes.take(placed, row, "primary_category", CATEGORIES[0]),
        regions=mistakes.take(regions, row, "cuisine_region", (UNIVERSAL,)),
        nova=mistakes.take(nova, row, "nova_level", None),
        **flags,
    )


def checked_vector(vector: np.ndarray, where: str) -> np.ndarray:
    """The vector, finite and not zero in float32. Raises as `read_bundle` does."""
    import numpy as np

    if not np.isfinite(vector).all():
        raise _refuse("finite numbers in float32", "NaN or infinity", f"{where}, vector")
    if not vector.any():
        raise _refuse("a vector that is not zero in float32", "all zero", f"{where}, vector")
    return vector


def _read_directions(
    path: Path, dimensions: int | None, mistakes: Mistakes
) -> tuple[Direction, ...]:
    """Directions of the cuisines out of an npz of plain arrays, of so many dimensions if known."""
    import numpy as np

    try:
        data = read_bytes(path, _NPZ_LIMIT, ReleaseError)
        try:
            arrays = _unpacked(data, path)
        except ReleaseError:
            raise
        except Exception as problem:  # damaged or hostile bytes make zipfile and numpy raise all
            raise _refuse("an npz of plain arrays", str(problem), str(path)) from problem
    except ReleaseError as problem:
        mistakes.note(problem)
        return ()
    found = []
    for cuisine, array in arrays.items():
        where = f"{path}, {cuisine}"
        try:
            if (
                array.ndim != 1
                or array.dtype.kind != "f"
                or len(array) != (dimensions or len(array))
            ):
                expected = f"{dimensions or 'a row of'} floats"
                raise _refuse(expected, f"{array.dtype} {array.shape}", where)
            with np.errstate(over="ignore"):
                vector = checked_vector(array.astype("<f4"), where)
            found.append(Direction(cuisine=cuisine, vector=vector.tobytes()))
        except ReleaseError as problem:
            mistakes.note(problem)
    return tuple(found)


def _unpacked(data: bytes, path: Path) -> dict[str, np.ndarray]:
    """The arrays of an npz by cuisine, no more of it unpacked than the limit."""
    import numpy as np

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        names = sorted(member.filename for member in members)
        wanted = sorted(f"{cuisine}.npy" for cuisine in CUISINES)
        if names != wanted:
            odd = [f"no {name}" for name in wanted if name not in names]
            odd += [f"{name!r} besides" for name in sorted({*names} - {*wanted})]
            odd = odd or ["a member twice"]
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
    """A number finite in float32, in ASCII digits; Python would read 1_0 and others, too."""
    try:
        value = float(text) if "_" not in text and text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not abs(value) < _FLOAT32_END:
        point = " with a decimal point" if "," in text else ""
        raise _refuse(f"a finite number{point} within float32", repr(text), where)
    return value


def _refuse(expected: str, found: str, where: str) -> ReleaseError:
    return ReleaseError(expected, found, where, "Mend the source and run again.")
