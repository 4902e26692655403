"""Row digests of columns: what `identity.row_digest` gives, without building a row.

Arrow's types leave only the range of integers open, so values are checked by column; canonical
bytes are put together from columns of JSON text.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from pipeline.errors import InputError
from pipeline.identity import digest_bytes
from schemas.record import SAFE_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from schemas.record import Row

__all__ = ["row_digests"]

_NONE = "null"
_encode_nested = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False, check_circular=False
).encode


def row_digests(model: type[Row], data: pa.Table) -> list[str]:
    """Digests (hex) of the rows of Arrow data in `model`'s columns.

    Raises
    ------
    InputError
        An integer is beyond 2^53 - 1.
    """
    names = sorted(
        name
        for name in model.columns()
        if name not in model.later or data.column(name).null_count < data.num_rows
    )
    _check_integers(data, names)
    hashed = model.bytes_columns()
    columns = []
    for name in names:
        values = data.column(name).to_pylist()
        if name in hashed:
            values = [digest_bytes("bytes", value) for value in values]
        columns.append(_canonical_column(values))
    fields = ",".join(f"{encode_basestring(name)}:%s" for name in names)
    rows = zip(*columns, strict=True)
    if model.later.keys() & set(names):
        texts = (_without_absent(model, names, row) for row in rows)
    else:
        texts = (f"{{{fields}}}" % row for row in rows)
    return [digest_bytes(model.kind, text.encode("utf-8")) for text in texts]


def _without_absent(model: type[Row], names: list[str], row: tuple[str, ...]) -> str:
    """A row's canonical JSON; a later field that is none leaves it."""
    parts = (
        f"{encode_basestring(name)}:{value}"
        for name, value in zip(names, row, strict=True)
        if name not in model.later or value != _NONE
    )
    return f"{{{','.join(parts)}}}"


def _canonical_column(values: list[Any]) -> list[str]:
    """RFC 8785 JSON of every value of a column, the common scalars by the shortest way."""
    return [
        encode_basestring(value)
        if type(value) is str
        else str(value)
        if type(value) is int
        else _encode_nested(value)
        for value in values
    ]


def _check_integers(data: pa.Table, names: list[str]) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    def bounds(values: Any) -> Iterator[int | None]:
        if pa.types.is_list(values.type):
            yield from bounds(pc.list_flatten(values))
        elif pa.types.is_struct(values.type):
            for part in values.flatten():
                yield from bounds(part)
        elif pa.types.is_int64(values.type):
            yield from pc.min_max(values).as_py().values()

    for name in names:
        for chunk in data.column(name).chunks:
            for bound in bounds(chunk):
                if bound is not None and abs(bound) > SAFE_INTEGER:
                    raise InputError(
                        "an integer within 2^53 - 1",
                        str(bound),
                        f"identity field {name}",
                        "Identities hold exact values only.",
                    )
