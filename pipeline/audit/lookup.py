"""Finds what a hash names, and single rows, by streaming columns: no table is held whole."""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.layout import (
    RUN_KIND,
    entry_digest,
    run_digest,
    stored_headers,
    table_entries,
)
from pipeline.errors import InputError, TableError
from pipeline.identity import (
    InclusionProof,
    check_inclusion,
    digest,
    merkle_proof,
    row_digest,
    streamed_proof,
)
from pipeline.tables import Table, open_table, read_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from pipeline.audit.layout import Place, TableEntry
    from pipeline.tables import TableHeader
    from pipeline.workspace import Workspace
    from schemas.record import Row

__all__ = ["Claim", "Hit", "claim", "find_hash", "find_row", "read_row",
           "run_proof", "values_where"]  # fmt: skip

PREFIX = 8
"""Fewest characters of a digest that find a thing in one's own workspace."""

_PART = 2**16
_ROUTE, _TABLE, _RUN, _REQUEST = "route", "table", "run", "request"
_LISTED = 6
_WHOLE = 64


class Hit(NamedTuple):
    """What a hash names.

    Attributes
    ----------
    kind
        Kind of the thing: that of a row, or `request`, `route`, `table`, `run`.
    digest
        Its whole digest (hex).
    place
        Table that holds it; none for the run.
    row
        Its row there; none for routes, tables and the run.
    """

    kind: str
    digest: str
    place: Place | None
    row: int | None


class Claim(NamedTuple):
    """One row, its digest computed again, and the proof that it belongs to its table.

    Attributes
    ----------
    place, header
        The table.
    row, digest
        The row and its digest (hex).
    proof
        Leads from the digest to the table's root; checked.
    """

    place: Place
    header: TableHeader
    row: Any
    digest: str
    proof: InclusionProof


class RunProof(NamedTuple):
    """A table's entry, and the proof that it belongs to the run."""

    entry: TableEntry
    proof: InclusionProof
    run: str


def find_hash(workspace: Workspace, text: str) -> Hit:
    """The one thing that a digest, or its first 8 or more characters, names.

    Raises
    ------
    InputError
        The text is no prefix of a digest, or names nothing, or more than one thing.
    """
    prefix = text.lower()
    if not re.fullmatch(rf"[0-9a-f]{{{PREFIX},64}}", prefix):
        raise InputError(
            f"{PREFIX} to 64 hexadecimal characters", text, "hash",
            "Longer prefixes name one thing; `--route` and `--task` name a cell without any.",
        )  # fmt: skip
    headers = stored_headers(workspace)
    found = _hits(workspace, headers, prefix)
    if len(prefix) == _WHOLE:  # a whole digest names one thing: the first hit is all
        found = itertools.islice(found, 1)
    hits = {(hit.kind, hit.digest): hit for hit in found}
    if len(hits) == 1:
        return next(iter(hits.values()))
    named = ", ".join(f"{kind} {value[:20]}" for kind, value in sorted(hits)[:_LISTED])
    raise InputError(
        "the hash of one thing of this run",
        f"{text!r}: {named or 'nothing'}" + (" …" if len(hits) > _LISTED else ""),
        "hash",
        "Give more characters." if hits else "Is it of another run? `dvc pull` fetches this one's.",
    )


def find_row(workspace: Workspace, place: Place, **wanted: str) -> int | None:
    """Position of the one row whose fields have these values; none if there is no such row.

    Raises
    ------
    TableError
        There are several, or the table is not in the order of its keys.
    """
    import pyarrow.compute as pc

    found: list[int] = []
    start = 0
    for batch in _ordered(workspace, place, list(wanted)):
        masks = [pc.equal(batch.column(name), value) for name, value in wanted.items()]
        mask = functools.reduce(pc.and_, masks)
        found += [start + index for index in pc.indices_nonzero(mask).to_pylist()]
        start += batch.num_rows
    if len(found) > 1:
        named = ", ".join(wanted.values())
        raise _unreadable(place, f"rows {found[0]} and {found[1]} of {named}", "one row of a name")
    return found[0] if found else None


def values_where(
    workspace: Workspace, place: Place, columns: tuple[str, ...], **wanted: str
) -> list[tuple[Any, ...]]:
    """Values of some columns in the rows whose fields have these values, in key order.

    A column that came after the contract of a table is none in all of its rows.
    """
    import pyarrow.compute as pc

    contract = read_header(place.path(workspace)).contract
    later = {name for name, since in place.model.later.items() if since > contract}
    found: list[tuple[Any, ...]] = []
    for batch in _ordered(workspace, place, sorted({*columns, *wanted} - later)):
        mask = None
        for name, value in wanted.items():
            equal = pc.equal(batch.column(name), value)
            mask = equal if mask is None else pc.and_(mask, equal)
        kept = batch if mask is None else batch.filter(mask)
        absent = [None] * len(kept)
        found += zip(
            *(absent if name in later else kept.column(name).to_pylist() for name in columns),
            strict=True,
        )
    return found


def claim(workspace: Workspace, place: Place, index: int) -> Claim:
    """A row with its proof.

    Raises
    ------
    TableError
        The row does not give its recorded digest, the digests do not give the table's root, or a
        key of the table stands twice.
    """
    header = read_header(place.path(workspace))
    row = read_row(workspace, place, index)
    found = row_digest(row)
    proof = streamed_proof(place.model.kind, _digest_parts(workspace, place), index)
    where = f"{place.file()}, row {index}"
    if proof.leaf != found:
        raise TableError(f"digest {proof.leaf}", found, where, "Run `flavourbench verify`.")
    check_inclusion(proof, header.root)
    return Claim(place, header, row, found, proof)


def run_proof(entries: Sequence[TableEntry], place: Place) -> RunProof:
    """The proof that a table belongs to the run of these tables."""
    digests = [entry_digest(entry) for entry in entries]
    index = next(i for i, entry in enumerate(entries) if entry.path == place.word)
    proof = merkle_proof(RUN_KIND, digests, index)
    run = run_digest(entries)
    check_inclusion(proof, run)
    return RunProof(entries[index], proof, run)


def _hits(workspace: Workspace, headers: dict[Place, TableHeader], prefix: str) -> Iterator[Hit]:
    run = run_digest(table_entries(headers))
    if run.startswith(prefix):
        yield Hit(_RUN, run, None, None)
    for place, header in headers.items():
        if header.root.startswith(prefix):
            yield Hit(_TABLE, header.root, place, None)
        kinds = {"digest": place.model.kind}
        if place.answers:
            kinds["request_digest"] = _REQUEST
            route = digest(_ROUTE, _document(header, place))
            if route.startswith(prefix):
                yield Hit(_ROUTE, route, place, None)
        yield from _starting(workspace, place, kinds, prefix)


def _document(header: TableHeader, place: Place) -> Any:
    from pipeline.files import parse_json

    return parse_json(header.about.get("route", "{}").encode(), place.file(), TableError)


def _starting(
    workspace: Workspace, place: Place, kinds: dict[str, str], prefix: str
) -> Iterator[Hit]:
    """Rows whose digests, in columns of these kinds, start with the prefix."""
    import pyarrow.compute as pc

    start = 0
    for batch in _batches(workspace, place, list(kinds)):
        for column, kind in kinds.items():
            values = batch.column(column)
            for index in pc.indices_nonzero(pc.starts_with(values, prefix)).to_pylist():
                yield Hit(kind, values[index].as_py(), place, start + index)
        start += batch.num_rows


def _digest_parts(workspace: Workspace, place: Place) -> Iterator[list[str]]:
    """Row digests in parts of 65,536, whatever the file's row groups are."""
    waiting: list[str] = []
    for batch in _ordered(workspace, place, ["digest"]):
        waiting += batch.column("digest").to_pylist()
        while len(waiting) >= _PART:
            yield waiting[:_PART]
            waiting = waiting[_PART:]
    if waiting:
        yield waiting


def _ordered(workspace: Workspace, place: Place, columns: list[str]) -> Iterator[Any]:
    """Batches with their keys, each of which has to be above the one before it.

    Whoever reads a row or a sum from a table relies on it: a key that stands twice would give
    either row, or count twice.
    """
    import pyarrow as pa

    keys = place.model.key
    last: pa.RecordBatch | None = None
    start = 0
    for batch in _batches(workspace, place, sorted({*columns, *keys})):
        if not batch.num_rows:
            continue
        pair = [batch] if last is None else [last, batch]
        below = pa.Table.from_batches(pair).select(list(keys)).combine_chunks()
        wrong = _first_unordered(below)
        if wrong is not None:
            number = start + wrong + 1 - (last is not None)
            raise _unreadable(place, f"row {number}, whose key is not above the one before it",
                              "each key once, in order")  # fmt: skip
        yield batch
        last = batch.slice(batch.num_rows - 1)
        start += batch.num_rows


def _first_unordered(keys: pa.Table) -> int | None:
    """Position of the first row that the next row's key is not above; none if all are in order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = len(keys) - 1
    above, equal = pa.nulls(size, pa.bool_()).fill_null(False), pa.nulls(size, pa.bool_())
    equal = equal.fill_null(True)
    for column in keys.columns:
        one, other = column.slice(0, size), column.slice(1)
        above = pc.or_(above, pc.and_(equal, pc.greater(other, one)))
        equal = pc.and_(equal, pc.equal(other, one))
    found = pc.index(above, False).as_py() if size else -1
    return None if found < 0 else int(found)


def _batches(workspace: Workspace, place: Place, columns: list[str]) -> Iterator[Any]:
    with open_table(place.path(workspace)) as source:
        yield from source.batches(columns, _PART)


def read_row(workspace: Workspace, place: Place, index: int) -> Any:
    """One row, from its row group alone; unproved. Raises `TableError` where it cannot be read."""
    import pyarrow as pa

    header = read_header(place.path(workspace))
    with open_table(place.path(workspace)) as source:
        start = 0
        for group in range(source.metadata.num_row_groups):
            size = source.metadata.row_group(group).num_rows
            if index < start + size:
                batches = list(source.batches(groups=[group]))
                data = pa.Table.from_batches(batches).slice(index - start, 1)
                table: Table[Row] = Table(place.model, data, header)
                return table.rows()[0]
            start += size
    raise _unreadable(place, f"{header.rows} rows")


def _unreadable(place: Place, found: str, expected: str = "a whole table") -> TableError:
    return TableError(
        expected, found, place.file(), "Run `dvc checkout`, then `flavourbench verify`."
    )
