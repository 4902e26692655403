"""Reads a hub folder: `embeddings.safetensors` beside a bundle's tags and directions.

See docs/bundle.md.

The rows are in the order of the vocabulary, so a row's number is its node id. The format is an
8-byte length, a JSON header and plain bytes, so a few lines read it whole and nothing is executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.errors import ReleaseError
from pipeline.files import parse_json, read_bytes
from pipeline.release.bundle import checked_vector, read_rest
from pipeline.tags import Mistakes

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from pipeline.release.bundle import ReleaseContent

__all__ = ["read_hub"]

_LIMIT = 2**30
_HEADER_LIMIT = 2**20
_LENGTH_BYTES = 8
_KEY = "embeddings"
_AXES = 2


def read_hub(folder: Path) -> ReleaseContent:
    """Ingredients and directions of a hub folder.

    Raises
    ------
    ReleaseError
        A file is missing or unsafe, or the vectors are not those of the tags.
    """
    path = folder / "embeddings.safetensors"
    matrix = _matrix(path)
    vectors = {
        node_id: checked_vector(row, f"{path}, row {node_id}") for node_id, row in enumerate(matrix)
    }
    return read_rest(folder, vectors, Mistakes())


def _matrix(path: Path) -> np.ndarray:
    """The array `embeddings`, float32 (N, D)."""
    import numpy as np

    data = read_bytes(path, _LIMIT, ReleaseError)
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    if len(data) < _LENGTH_BYTES or length > min(_HEADER_LIMIT, len(data) - _LENGTH_BYTES):
        raise _refuse("a safetensors header", f"{length} bytes claimed", path)
    start = _LENGTH_BYTES + length
    header: Any = parse_json(data[_LENGTH_BYTES:start], str(path), ReleaseError)
    entry = header.get(_KEY) if isinstance(header, dict) else None
    if not isinstance(entry, dict) or entry.get("dtype") != "F32":
        raise _refuse(f"an array {_KEY} of F32", "another", path)
    shape, offsets = _pair(entry, "shape", path), _pair(entry, "data_offsets", path)
    body = data[start + offsets[0] : start + offsets[1]]
    if shape[0] * shape[1] * 4 != len(body) or offsets[1] > len(data) - start or not len(body):
        raise _refuse(f"{shape[0]} x {shape[1]} float32", f"{len(body)} bytes", path)
    return np.frombuffer(body, dtype="<f4").reshape(shape)


def _pair(entry: dict[str, Any], name: str, path: Path) -> tuple[int, int]:
    """Two whole numbers of the header."""
    value = entry.get(name)
    if isinstance(value, list) and len(value) == _AXES:
        first, second = value
        if all(type(part) is int and 0 <= part <= _LIMIT for part in value):
            return first, second
    raise _refuse(f"two whole numbers as {name}", repr(value), path)


def _refuse(expected: str, found: str, path: Path) -> ReleaseError:
    return ReleaseError(expected, found, str(path), "Fetch the file again.")
