"""Parquet from elsewhere: what a file unpacks to is known before any of it is unpacked.

A few kilobytes of Parquet can hold gigabytes: pages of zeros under zstd, one long value of a
dictionary for thousands of rows, runs of a billion nulls. What a file's footer says of its sizes
can be a lie, so the header of every page is read, which is what a decoder goes by; and texts of a
dictionary stay in it until it is known what they come to. Source: parquet-format, `parquet.thrift`
and `Encodings.md`; Thrift's compact protocol.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    import pyarrow as pa

    from pipeline.errors import FlavourbenchError

__all__ = ["ParquetSource", "open_parquet"]

_SMALL = 16 * 2**20
_RATIO = 256  # 25 times what the tables of a run unpack to
_VALUE = 16  # bytes that a value counts for, however small it is
_FOOTER_LIMIT = 2**20
_LIST_LIMIT = 4096  # row groups, columns, or entries of metadata
_PAGES_LIMIT = 100_000
_BATCH = 4096
_MAGIC = b"PAR1"
_DELTA_BYTE_ARRAY = 7
"""The one encoding in which a few bytes stand for a text as long as the one before."""


class _Refusal(NamedTuple):
    """How a fault of one file is said."""

    path: Path
    error: type[FlavourbenchError]
    remedy: str

    def __call__(self, expected: str, found: str) -> FlavourbenchError:
        return self.error(expected, found, str(self.path), self.remedy)


class _Page(NamedTuple):
    """What a page's header says of it, and where the page ends.

    Attributes
    ----------
    end
        Offset in the file.
    size
        In bytes when unpacked.
    values
        How many, nulls included.
    encoding
        Its number in Parquet's list.
    """

    end: int
    size: int
    values: int
    encoding: int


class ParquetSource:
    """An open file of Parquet. Make one with `open_parquet`.

    Attributes
    ----------
    schema
        Its columns in Arrow's types, with the file's metadata.
    metadata
        Its footer, as pyarrow gives it: claims.
    """

    def __init__(self, source: Any, stream: BinaryIO, limit: int, refuse: _Refusal) -> None:
        self.schema: pa.Schema = source.schema_arrow
        self.metadata = source.metadata
        self._stream, self._limit, self._refuse = stream, limit, refuse

    def batches(
        self,
        columns: Sequence[str] | None = None,
        batch_size: int = _BATCH,
        groups: Sequence[int] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Rows of some columns, or of all.

        Parameters
        ----------
        columns
            Names of columns; all where none are given.
        batch_size
            Rows at most at a time.
        groups
            Numbers of row groups; all where none are given.

        Raises
        ------
        FlavourbenchError
            As `open_parquet` was told: the rows come to more than such a file may hold.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = list(self.schema.names if columns is None else columns)
        chosen = list(range(self.metadata.num_row_groups) if groups is None else groups)
        wanted = pa.schema([_unpacked(self.schema.field(name)) for name in names])
        texts, left = self._weighed(names, chosen)
        with pq.ParquetFile(
            self._stream, metadata=self.metadata, read_dictionary=texts, pre_buffer=False
        ) as source:
            for batch in source.iter_batches(batch_size, row_groups=chosen, columns=names):
                left -= sum(_text_bytes(column) for column in batch.columns)
                if left < 0:
                    raise self._too_large()
                yield batch.cast(wanted)

    def table(self) -> pa.Table:
        """All of the file's data. Raises as `batches` does."""
        import pyarrow as pa

        schema = self.schema.remove_metadata()
        return pa.Table.from_batches([b.cast(schema) for b in self.batches()], schema)

    def _weighed(self, names: Sequence[str], groups: Sequence[int]) -> tuple[list[str], int]:
        """Columns whose texts lie in dictionaries, and what texts out of these may come to."""
        leaves = [
            number
            for number in range(self.metadata.num_columns)
            if self.metadata.schema.column(number).path.split(".")[0] in names
        ]
        left, pages, texts = self._limit, 0, set()
        for group in groups:
            for number in leaves:
                chunk = self.metadata.row_group(group).column(number)
                column = self.metadata.schema.column(number)
                if column.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page:
                    texts.add(column.path)
                for page in self._pages(chunk):
                    pages += 1
                    left -= page.size + _VALUE * page.values
                    if left < 0 or pages > _PAGES_LIMIT:
                        raise self._too_large()
                    if page.encoding == _DELTA_BYTE_ARRAY:
                        raise self._refuse("texts written in full", "encoding DELTA_BYTE_ARRAY")
        return sorted(texts), left

    def _pages(self, chunk: Any) -> Iterator[_Page]:
        """Every page that a decoder of a column's part of a row group could come to."""
        if chunk.num_values <= 0:
            return  # no decoder looks at its pages, and their place may be any
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        end = start + chunk.total_compressed_size
        size = os.fstat(self._stream.fileno()).st_size
        if not 0 <= start <= end <= size:
            raise self._refuse("columns within the file", f"bytes {start} to {end} of {size}")
        while start < end:
            self._stream.seek(start)
            try:
                page = _read_page(self._stream)
            except (KeyError, TypeError, ValueError) as problem:
                expected = "headers of pages"
                raise self._refuse(expected, f"something else at byte {start}") from problem
            yield page
            start = page.end

    def _too_large(self) -> FlavourbenchError:
        return _too_large(self._limit, "more when unpacked", self._refuse)


@contextmanager
def open_parquet(
    path: Path, error: type[FlavourbenchError], remedy: str, most: int = 4 * 2**30
) -> Iterator[ParquetSource]:
    """A file of Parquet, open; what goes wrong while it is read is raised as `error`, too.

    Parameters
    ----------
    path
        The file.
    error, remedy
        How a fault is raised, and what its reader can do.
    most
        Bytes that may be unpacked at most, however large the file is.

    Raises
    ------
    FlavourbenchError
        As `error`, with `remedy`: the file is missing, no regular file, no whole Parquet, has a
        footer that is too large, or holds more than a file of its size may.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    refuse = _Refusal(path, error, remedy)
    with open_regular(path, error, remedy) as (stream, size):
        try:
            _check_footer(stream, size, refuse)
            with pq.ParquetFile(
                stream,
                pre_buffer=False,
                thrift_string_size_limit=_FOOTER_LIMIT,
                thrift_container_size_limit=_LIST_LIMIT,
            ) as source:
                limit = min(most, _SMALL + _RATIO * size)
                _check_claims(source, limit, refuse)
                yield ParquetSource(source, stream, limit, refuse)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
            raise refuse("a whole Parquet file", str(problem)) from problem


def _check_footer(stream: BinaryIO, size: int, refuse: _Refusal) -> None:
    """The footer is not packed, but becomes many objects: its size bounds these."""
    stream.seek(max(0, size - 8))
    tail = stream.read(8)
    footer = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or footer > size - 12:
        raise refuse("a whole Parquet file", "no footer at its end")
    if footer > _FOOTER_LIMIT:
        raise refuse(f"a footer of at most {_FOOTER_LIMIT:,} bytes", f"{footer:,}")
    stream.seek(0)


def _check_claims(source: Any, limit: int, refuse: _Refusal) -> None:
    metadata, names = source.metadata, source.schema_arrow.names
    if len(set(names)) != len(names):
        raise refuse("columns with names of their own", str(sorted(names)))
    groups = range(metadata.num_row_groups)
    claimed = sum(metadata.row_group(number).total_byte_size for number in groups)
    if claimed > limit:
        raise _too_large(limit, f"{claimed:,} claimed", refuse)


def _too_large(limit: int, found: str, refuse: _Refusal) -> FlavourbenchError:
    return refuse(f"at most {limit:,} bytes of data in a file of this size", found)


def _unpacked(field: pa.Field) -> pa.Field:
    """What a column is unpacked to: itself, but for views, to which Arrow casts no dictionary."""
    import pyarrow as pa

    return field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field


def _text_bytes(column: Any) -> int:
    """What the texts of a column come to that are in dictionaries now."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        if not len(column.dictionary):
            return 0
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        return pc.sum(lengths.take(column.indices)).as_py() or 0
    if pa.types.is_list(kind):
        return _text_bytes(column.flatten())
    if pa.types.is_struct(kind):
        return sum(_text_bytes(part) for part in column.flatten())
    return 0


# Headers of pages, in Thrift's compact protocol

_STRUCT, _BINARY = 12, 8
_TRUE, _FALSE, _BYTE, _DOUBLE = 1, 2, 3, 7
_INTEGERS = {4, 5, 6}
_FIELDS_LIMIT = 32
_DEPTH_LIMIT = 4
_DATA, _DICTIONARY, _DATA_V2 = 5, 7, 8  # fields of `PageHeader`, which hold a page's own header
_ENCODING = {_DATA: 2, _DICTIONARY: 2, _DATA_V2: 4}
_INDEX_PAGE = 1


def _read_page(stream: BinaryIO) -> _Page:
    """Raises `KeyError`, `TypeError` or `ValueError` where there is no page's header."""
    fields = _read_struct(stream, 0)
    size, packed = fields[2], fields[3]
    inner = next((number for number in _ENCODING if number in fields), None)
    values = encoding = 0
    if inner is not None:
        values, encoding = fields[inner][1], fields[inner][_ENCODING[inner]]
    elif fields[1] != _INDEX_PAGE:
        raise ValueError(fields[1])
    if min(size, packed, values) < 0:
        raise ValueError(min(size, packed, values))
    return _Page(stream.tell() + packed, size, values, encoding)


def _read_struct(stream: BinaryIO, depth: int) -> dict[int, Any]:
    """Integers and structs by the number of their field; what else there is, is passed over."""
    found: dict[int, Any] = {}
    number = 0
    for _ in range(_FIELDS_LIMIT):
        head = _read_byte(stream)
        if not head:
            return found
        kind, step = head & 15, head >> 4
        number = number + step if step else _read_integer(stream)
        if kind in _INTEGERS:
            found[number] = _read_integer(stream)
        elif kind == _STRUCT and depth < _DEPTH_LIMIT:
            found[number] = _read_struct(stream, depth + 1)
        elif kind == _BINARY:
            stream.seek(_read_varint(stream), os.SEEK_CUR)
        elif kind in (_BYTE, _DOUBLE):
            stream.seek(1 if kind == _BYTE else 8, os.SEEK_CUR)
        elif kind not in (_TRUE, _FALSE):
            raise ValueError(kind)
    raise ValueError(number)


def _read_integer(stream: BinaryIO) -> int:
    value = _read_varint(stream)
    return (value >> 1) ^ -(value & 1)


def _read_varint(stream: BinaryIO) -> int:
    value = 0
    for shift in range(0, 63, 7):
        byte = _read_byte(stream)
        value |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004  # the last byte of the integer
            return value
    raise ValueError(value)


def _read_byte(stream: BinaryIO) -> int:
    byte = stream.read(1)
    if not byte:
        raise ValueError("the file ends")
    return byte[0]
