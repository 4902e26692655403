"""The base of every row: strict, frozen, no extra fields; key, Arrow schema and canonical form.

One definition serves everything: a row is a pydantic model, its Arrow schema is derived from the
model's fields, and its identity is the model's fields less the digest itself (docs/identity.md).
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Mapping  # pydantic reads it
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SAFE_INTEGER", "Count", "Digest", "IdentityValue", "Record", "Row"]

SAFE_INTEGER = 2**53 - 1
"""Largest magnitude of an integer in an identity (RFC 8785, section 3.2.2.3)."""

IdentityValue = str | int | bool | None | list["IdentityValue"] | dict[str, "IdentityValue"]

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A BLAKE3 digest: 64 lower-case hexadecimal characters."""

Count = Annotated[int, Field(ge=0, le=SAFE_INTEGER)]
"""A non-negative integer that an identity can hold."""


class Record(BaseModel):
    """Strict, frozen, no extra fields: what any of our documents and rows is."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Row(Record):
    """One row of a hashed table.

    Class variables
    ---------------
    table
        Name of the table that holds such rows.
    kind
        Kind of the row's digest; no two kinds share a digest (docs/identity.md).
    key
        Fields of the primary key, in order. Rows lie in key order.
    contract
        Version of the row's shape: a value, never part of a name.
    later
        Fields that came after contract 1, and the contract that added each. Such a field may be
        none, and is none in every row that was made before it. While it is none it leaves the
        row's identity, so a row keeps the digest of the contract under which it was made.
    """

    table: ClassVar[str]
    kind: ClassVar[str]
    key: ClassVar[tuple[str, ...]]
    contract: ClassVar[int] = 1
    later: ClassVar[Mapping[str, int]] = MappingProxyType({})

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Refuse a later field that older rows could not have, or of no contract.

        Raises
        ------
        TypeError
            A field of `later` has another default than none, or a contract that is none of ours.
        """
        for name, contract in cls.later.items():
            if cls.model_fields[name].default is not None or not 1 < contract <= cls.contract:
                message = f"{cls.__name__}.{name} came later: its default is none, its contract 2 "
                raise TypeError(f"{message}to {cls.contract}")

    @classmethod
    def key_of(cls, row: Self) -> tuple[Any, ...]:
        """Return the row's primary key."""
        return tuple(getattr(row, name) for name in cls.key)

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the names of the row's fields, in the order in which they are declared."""
        return tuple(cls.model_fields)

    @classmethod
    def columns_under(cls, contract: int) -> tuple[str, ...]:
        """Return the names of the fields that rows of a contract, this one or older, have."""
        return tuple(name for name in cls.columns() if cls.later.get(name, 1) <= contract)

    @classmethod
    def bytes_columns(cls) -> frozenset[str]:
        """Fields of type ``bytes``, which enter an identity as the digest of their bytes."""
        return frozenset(
            name for name, field in cls.model_fields.items() if field.annotation is bytes
        )

    @classmethod
    def arrow_schema(cls, contract: int | None = None) -> pa.Schema:
        """Derive a table's Arrow schema: a contract's fields, else all, behind ``digest``."""
        import pyarrow as pa

        wanted = cls.columns_under(cls.contract if contract is None else contract)

        fields = [pa.field("digest", pa.string(), nullable=False)]
        for name in wanted:
            kind, nullable = _arrow_type(cls.model_fields[name].annotation)
            fields.append(pa.field(name, kind, nullable=nullable))
        return pa.schema(fields)


_SCALARS: tuple[tuple[type, str], ...] = (
    (bool, "bool_"),
    (int, "int64"),
    (str, "string"),
    (enum.StrEnum, "string"),
    (bytes, "binary"),
)


def _arrow_type(annotation: Any) -> tuple[pa.DataType, bool]:
    """Arrow type and nullability of a field's annotation.

    Raises
    ------
    TypeError
        The annotation has no exact Arrow counterpart (floats among them: docs/identity.md).
    """
    import pyarrow as pa

    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _arrow_type(arguments[0])
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        if len(inner) == 1:
            return _arrow_type(inner[0])[0], True
    if origin is typing.Literal and all(isinstance(a, str) for a in arguments):
        return pa.string(), False
    if origin is tuple and arguments[1:] == (Ellipsis,):
        kind, nullable = _arrow_type(arguments[0])
        return pa.list_(pa.field("item", kind, nullable=nullable)), False
    return _named_type(annotation), False


def _named_type(annotation: Any) -> pa.DataType:
    """Arrow type of a plain class: a nested record or a scalar."""
    import pyarrow as pa

    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel):
            nested = {n: _arrow_type(f.annotation) for n, f in annotation.model_fields.items()}
            return pa.struct([pa.field(n, k, nullable=m) for n, (k, m) in nested.items()])
        for python, arrow in _SCALARS:
            if issubclass(annotation, python):
                return getattr(pa, arrow)()
    message = f"no exact Arrow type for {annotation!r}"
    raise TypeError(message)
