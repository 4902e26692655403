from datetime import date
from enum import IntEnum, StrEnum
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
import pytest
from pydantic import Field, ValidationError, create_model

from schemas.record import SAFE_INTEGER, Count, Digest, Record, Row


class Colour(StrEnum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


class Part(Record):
    name: str
    sizes: tuple[int, ...]


class Small(Row):
    table: ClassVar[str] = "small"
    kind: ClassVar[str] = "small"
    key: ClassVar[tuple[str, ...]] = ("second", "first")

    first: int
    second: str
    raw: bytes


def row_with(annotation):
    return create_model("Odd", __base__=Row, value=(annotation, ...))


# One definition: the Arrow schema is the model's


@pytest.mark.parametrize(
    ("annotation", "kind", "nullable"),
    [
        (str, pa.string(), False),
        (int, pa.int64(), False),
        (bool, pa.bool_(), False),
        (bytes, pa.binary(), False),
        (Colour, pa.string(), False),
        (Literal["a", "b"], pa.string(), False),
        (Digest, pa.string(), False),
        (Count, pa.int64(), False),
        (Annotated[int, Field(ge=1, le=4)], pa.int64(), False),
        (int | None, pa.int64(), True),
        (Colour | None, pa.string(), True),
        (Count | None, pa.int64(), True),
        (tuple[str, ...], pa.list_(pa.field("item", pa.string(), nullable=False)), False),
        (tuple[int | None, ...], pa.list_(pa.field("item", pa.int64())), False),
        (
            tuple[Part, ...],
            pa.list_(
                pa.field(
                    "item",
                    pa.struct(
                        [
                            pa.field("name", pa.string(), nullable=False),
                            pa.field(
                                "sizes",
                                pa.list_(pa.field("item", pa.int64(), nullable=False)),
                                nullable=False,
                            ),
                        ]
                    ),
                    nullable=False,
                )
            ),
            False,
        ),
    ],
)
def test_a_field_has_one_arrow_type(annotation, kind, nullable):
    schema = row_with(annotation).arrow_schema()
    assert schema == pa.schema(
        [pa.field("digest", pa.string(), nullable=False), pa.field("value", kind, nullable)]
    )


@pytest.mark.parametrize(
    "annotation",
    [
        float,
        float | None,
        Annotated[float, Field(ge=0)],
        tuple[float, ...],
        tuple[int, int],
        list[int],
        dict[str, int],
        set[str],
        int | str,
        int | str | None,
        Literal[1, 2],
        date,
        complex,
        Any,
    ],
)
def test_a_field_without_an_exact_arrow_type_is_refused(annotation):
    with pytest.raises(TypeError, match="no exact Arrow type for"):
        row_with(annotation).arrow_schema()


def test_a_float_within_a_nested_record_is_refused():
    nested = create_model("Nested", __base__=Record, share=(float, ...))
    with pytest.raises(TypeError, match="float"):
        row_with(tuple[nested, ...]).arrow_schema()


def test_fields_lie_in_the_order_of_their_declaration_behind_the_digest():
    assert Small.columns() == ("first", "second", "raw")
    assert Small.arrow_schema().names == ["digest", "first", "second", "raw"]
    assert Small.bytes_columns() == {"raw"}


def test_a_key_is_in_the_order_of_the_key_and_not_of_the_fields():
    assert Small.key_of(Small(first=1, second="b", raw=b"")) == ("b", 1)


# Strict, frozen, no extra fields


@pytest.mark.parametrize(
    "values",
    [
        {"first": "1", "second": "b", "raw": b""},
        {"first": 1.0, "second": "b", "raw": b""},
        {"first": True, "second": "b", "raw": b""},
        {"first": 1, "second": b"b", "raw": b""},
        {"first": 1, "second": "b", "raw": "text"},
        {"first": 1, "second": "b"},
        {"first": 1, "second": "b", "raw": b"", "third": 1},
        {"first": None, "second": "b", "raw": b""},
    ],
)
def test_a_row_takes_its_own_types_and_fields_only(values):
    with pytest.raises(ValidationError):
        Small(**values)


def test_a_row_never_changes():
    row = Small(first=1, second="b", raw=b"")
    with pytest.raises(ValidationError, match="frozen"):
        row.first = 2


@pytest.mark.parametrize(
    "text",
    ["", "a" * 63, "a" * 65, "A" * 64, "g" * 64, "a" * 64 + "\n", "\n" + "a" * 64, "\u0661" * 64],
)
def test_a_digest_is_64_lower_case_hexadecimal_characters(text):
    with pytest.raises(ValidationError):
        create_model("Odd", __base__=Row, value=(Digest, ...))(value=text)


@pytest.mark.parametrize("number", [-1, SAFE_INTEGER + 1, 2**64])
def test_a_count_is_within_what_an_identity_holds(number):
    with pytest.raises(ValidationError):
        create_model("Odd", __base__=Row, value=(Count, ...))(value=number)
