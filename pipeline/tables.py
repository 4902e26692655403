"""Hashed Parquet: a table is refused when its rows do not give its recorded root.

See docs/identity.md.

A file's schema metadata hold, under the key ``flavourbench``, one JSON object: table, kind,
contract, rows, root, and the roots of the tables that it was made from (`inputs`); `about` holds
documents whose digests stand in the rows. The bytes may change with the writer's version; the
root does not.

A file is written under the oldest contract that can hold its rows, and read under any that is not
newer than the code: fields that came later are none in older rows, which keep their digests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from pipeline.columns import row_digests
from pipeline.errors import InputError, TableError, wrong_field
from pipeline.files import parse_json, replacing
from pipeline.identity import canonical_bytes, row_digest, table_root
from pipeline.parquet import open_parquet
from schemas.record import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa

    from pipeline.parquet import ParquetSource

__all__ = [
    "Table",
    "TableHeader",
    "make_table",
    "open_table",
    "read_header",
    "read_stored",
    "read_table",
    "write_table",
]

_METADATA_KEY = b"flavourbench"
_ROW_GROUP = 65_536
_REMEDY = "The file was changed or cut short; restore it with `dvc checkout` or `dvc repro`."
_MISSING = "Run `dvc repro` to build it or `dvc pull` to fetch it."
_HEADER_FIELDS = {
    "table": str,
    "kind": str,
    "contract": int,
    "rows": int,
    "root": str,
    "inputs": dict,
    "about": dict,
}

R = TypeVar("R", bound=Row)


class TableHeader(NamedTuple):
    """What a file says of itself.

    Attributes
    ----------
    table, kind, contract
        Name of the table, kind of its rows' digests, version of its shape.
    rows, root
        Row count and table root (hex).
    inputs
        Roots (hex) of the tables that it was made from, by table name.
    about
        Canonical JSON documents by name, whose digests stand in the rows.
    """

    table: str
    kind: str
    contract: int
    rows: int
    root: str
    inputs: dict[str, str]
    about: dict[str, str]


class Table(NamedTuple, Generic[R]):
    """A verified table: its row model, its Arrow data (with the digest column) and its header."""

    model: type[R]
    data: pa.Table
    header: TableHeader

    @property
    def root(self) -> str:
        """The table's root (hex)."""
        return self.header.root

    @property
    def digests(self) -> list[str]:
        """Row digests (hex) in key order."""
        return list(self.data.column("digest").to_pylist())

    def rows(self) -> list[R]:
        """All rows as validated models, in key order.

        Raises
        ------
        TableError
            A row breaks its model; names row and field.
        """
        plain = self.data.drop_columns(["digest"]).to_pylist()
        found = []
        for number, values in enumerate(plain):
            try:
                found.append(self.model.model_validate(_tuples(values), strict=False))
            except ValidationError as problem:
                wrong = wrong_field(problem)
                raise TableError(
                    wrong.expected,
                    wrong.found,
                    f"{self.header.table}, row {number}, {wrong.name}",
                    "Build the table again.",
                ) from problem
        return found


def make_table(
    model: type[R],
    rows: Iterable[R],
    inputs: Mapping[str, str] | None = None,
    about: Mapping[str, str] | None = None,
) -> Table[R]:
    """A table in memory: rows sorted by key, digested, with its root.

    Raises
    ------
    TableError
        Two rows share a key.
    InputError
        A row holds what an identity cannot.
    """
    import pyarrow as pa

    ordered = sorted(rows, key=model.key_of)
    schema = model.arrow_schema().remove(0)
    try:
        data = pa.Table.from_pylist([row.model_dump() for row in ordered], schema=schema)
    except (ValueError, OverflowError):  # text that is no Unicode, an integer beyond 64 bits
        for row in ordered:
            row_digest(row)  # names the field
        raise
    _check_keys(model, data)
    digests = row_digests(model, data)
    data = data.add_column(0, model.arrow_schema().field(0), pa.array(digests, pa.string()))
    root = table_root(model.kind, digests)
    shape = (model.table, model.kind, _contract_of(model, data))
    sources, documents = (dict(sorted((given or {}).items())) for given in (inputs, about))
    header = TableHeader(*shape, len(digests), root, sources, documents)
    return Table(model, data, header)


def write_table(path: Path, table: Table[R]) -> None:
    """Write a table as Parquet, whole or not at all.

    Raises
    ------
    TableError
        The disk is full or the folder cannot be written; an older file survives.
    """
    import pyarrow.parquet as pq

    header = canonical_bytes(table.header._asdict())
    columns = ["digest", *table.model.columns_under(table.header.contract)]
    data = table.data.select(columns).replace_schema_metadata({_METADATA_KEY: header})
    with replacing(path) as temporary:
        pq.write_table(
            data, temporary, compression="zstd", write_statistics=False, row_group_size=_ROW_GROUP
        )


def read_table(path: Path, model: type[R]) -> Table[R]:
    """Read a table and refuse it unless its rows give the recorded digests and root.

    Raises
    ------
    TableError
        The file is missing, no Parquet, of another table or shape, or was changed.
    """
    _, data, header = stored = read_stored(path, model)
    if data.num_rows != header.rows:
        raise _changed(f"{header.rows} rows", str(data.num_rows), path)
    try:
        _check_keys(model, data)
        digests = row_digests(model, data.drop_columns(["digest"]))
        recorded = data.column("digest").to_pylist()
    except (InputError, TableError) as problem:
        raise _changed(problem.expected, problem.found, path) from problem
    except UnicodeDecodeError as problem:
        raise _changed("text in UTF-8", problem.reason, path) from problem
    for number, (stated, found) in enumerate(zip(recorded, digests, strict=True)):
        if stated != found:
            raise _changed(f"row {number} with digest {stated}", found, path)
    root = table_root(model.kind, digests)
    if root != header.root:
        raise _changed(f"root {header.root}", root, path)
    return stored


def read_stored(path: Path, model: type[R]) -> Table[R]:
    """A table as its file states it, digests and root unverified: to name what was changed.

    Raises
    ------
    TableError
        The file is missing, no Parquet, or of another table or shape.
    """
    with open_table(path) as source:
        header = _header(source.schema, path)
        _check_model(header, model, source.schema, path)
        return Table(model, _upgraded(source.table().combine_chunks(), model), header)


def read_header(path: Path) -> TableHeader:
    """What a file says of itself, unverified. Raises as `read_table` does."""
    with open_table(path) as source:
        return _header(source.schema, path)


def open_table(path: Path) -> AbstractContextManager[ParquetSource]:
    """A table's file, open, for what reads it in parts. Raises as `read_header` does."""
    return open_parquet(path, TableError, _MISSING if not path.exists() else _REMEDY)


def _check_keys(model: type[Row], data: pa.Table) -> None:
    columns = [data.column(name).to_pylist() for name in model.key]
    keys = list(zip(*columns, strict=True))
    for number in range(1, len(keys)):
        if not keys[number - 1] < keys[number]:
            what = "a repeated key" if keys[number - 1] == keys[number] else "a key out of order"
            raise TableError(
                "rows in key order, each key once",
                f"{what} {keys[number]!r} at row {number}",
                f"table {model.table}",
                "Give every row its own key.",
            )


def _header(schema: pa.Schema, path: Path) -> TableHeader:
    raw = (schema.metadata or {}).get(_METADATA_KEY)
    if raw is None:
        raise TableError(
            "a table of this project", "no header", str(path), "Name one of its tables."
        )
    value = parse_json(raw, str(path), TableError)
    if not isinstance(value, dict) or set(value) != set(_HEADER_FIELDS):
        raise _changed(f"header fields {sorted(_HEADER_FIELDS)}", repr(value), path)
    for name, kind in _HEADER_FIELDS.items():
        if type(value[name]) is not kind:
            raise _changed(f"header field {name} as {kind.__name__}", repr(value[name]), path)
    for name in ("inputs", "about"):
        if not all(isinstance(text, str) for text in value[name].values()):
            raise _changed(f"header field {name} with texts", repr(value[name]), path)
    for root in (value["root"], *value["inputs"].values()):
        if not re.fullmatch(r"[0-9a-f]{64}", root):
            raise _changed("roots of 64 lower-case hexadecimal characters", repr(root), path)
    return TableHeader(**value)


def _check_model(header: TableHeader, model: type[Row], schema: pa.Schema, path: Path) -> None:
    expected, found = (model.table, model.kind), (header.table, header.kind)
    if expected != found:
        raise TableError(
            f"a table {expected[0]} of {expected[1]} rows", f"{found[0]} of {found[1]} rows",
            str(path), "Two files were swapped: restore them with `dvc checkout`.",
        )  # fmt: skip
    if header.contract > model.contract:
        raise TableError(
            f"{model.table} of contract {model.contract} or older",
            f"contract {header.contract}, written by a newer version",
            str(path),
            "Keep the file and read it with that version, or a newer one.",
        )
    if header.contract < 1 or not schema.remove_metadata().equals(
        model.arrow_schema(header.contract)
    ):
        raise _changed(
            f"columns of {model.table}, contract {header.contract}", str(schema.names), path
        )


def _contract_of(model: type[Row], data: pa.Table) -> int:
    """The oldest contract that can hold the data: that of its latest field with a value."""
    used = [
        contract
        for name, contract in model.later.items()
        if data.column(name).null_count < data.num_rows
    ]
    return max(used, default=1)


def _upgraded(data: pa.Table, model: type[Row]) -> pa.Table:
    """Data of any contract in the columns of today's; what came later is none."""
    import pyarrow as pa

    schema = model.arrow_schema()
    for place, field in enumerate(schema):
        if field.name not in data.column_names:
            data = data.add_column(place, field, pa.nulls(data.num_rows, field.type))
    return data


def _changed(expected: str, found: str, path: Path) -> TableError:
    return TableError(
        expected,
        found,
        str(path),
        _REMEDY,
    )


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return value
