"""Hypothesis strategies for rows, derived from the fields of their models."""

from __future__ import annotations

import types
import typing
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from schemas.record import SAFE_INTEGER, Row

__all__ = ["rows_of"]

_TEXT = st.characters(exclude_categories=["Cs"])


class _Bounds(NamedTuple):
    """What a field's constraints leave open."""

    ge: int = -SAFE_INTEGER
    le: int = SAFE_INTEGER
    min_length: int = 0
    max_length: int = 4
    pattern: str | None = None


def rows_of(model: type[Row]) -> st.SearchStrategy[Any]:
    """Rows of a model, with every kind of value that its fields allow."""
    return _records(model)


def _records(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    fields = {
        name: _values(field.annotation, _bounds(field.metadata))
        for name, field in model.model_fields.items()
    }
    return st.fixed_dictionaries(fields).map(lambda values: model(**values))


def _bounds(metadata: Any) -> _Bounds:
    found: dict[str, Any] = {}
    for part in metadata:
        if isinstance(part, FieldInfo):
            found |= {k: v for k, v in _bounds(part.metadata)._asdict().items() if v is not None}
        for name in _Bounds._fields:
            if getattr(part, name, None) is not None:
                found[name] = getattr(part, name)
    bounds = _Bounds(**found)
    return bounds._replace(max_length=max(bounds.min_length, min(bounds.max_length, 56)))


def _values(annotation: Any, bounds: _Bounds) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _values(arguments[0], _bounds(arguments[1:]))
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        return st.none() | st.one_of([_values(a, bounds) for a in inner])
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        items = _values(arguments[0], _Bounds())
        sizes = {"min_size": bounds.min_length, "max_size": bounds.max_length}
        return st.lists(items, **sizes).map(tuple)
    return _plain(annotation, bounds)


def _plain(annotation: Any, bounds: _Bounds) -> st.SearchStrategy[Any]:
    if issubclass(annotation, BaseModel):
        return _records(annotation)
    if issubclass(annotation, StrEnum):
        return st.sampled_from(list(annotation))
    if annotation is str:
        return _text(bounds)
    return {
        bool: st.booleans(),
        int: st.integers(bounds.ge, bounds.le),
        bytes: st.binary(max_size=16),
    }[annotation]


def _text(bounds: _Bounds) -> st.SearchStrategy[str]:
    if bounds.pattern == r"^[0-9a-f]{64}$":
        return st.binary(min_size=32, max_size=32).map(bytes.hex)
    if bounds.pattern:
        return st.from_regex(bounds.pattern.removeprefix("^").removesuffix("$"), fullmatch=True)
    return st.text(_TEXT, min_size=bounds.min_length, max_size=max(bounds.min_length, 12))
