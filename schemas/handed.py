"""Lines of answers that somebody already has, for the kitchen's checks."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from schemas.record import Record

__all__ = ["HandedAnswer", "ManyIngredients", "Nest", "Pad"]

_MOST = 2**21
"""Enough to pass the longest text that is read."""

_Count = Annotated[int, Field(ge=0, le=_MOST)]


class ManyIngredients(Record):
    """The recipe of `base` with so many ingredients."""

    kind: Literal["many_ingredients"]
    base: str
    count: _Count


class Pad(Record):
    """A text and a character behind it, so many times."""

    kind: Literal["pad"]
    text: str
    char: Annotated[str, Field(min_length=1, max_length=1)]
    count: _Count


class Nest(Record):
    """Objects within objects, so deep."""

    kind: Literal["nest"]
    depth: _Count


class HandedAnswer(Record):
    """One line: an answer's text, or how to write it, or the names of two seasons' answers.

    Other fields are not read.
    """

    model_config = ConfigDict(extra="ignore")

    case_id: str
    name: Annotated[str, Field(min_length=1, max_length=200)]
    text: str | None = None
    rule: Annotated[ManyIngredients | Pad | Nest, Field(discriminator="kind")] | None = None
    pair: Annotated[list[str | None], Field(min_length=2, max_length=2)] | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if [self.text, self.rule, self.pair].count(None) != 2:  # noqa: PLR2004  # all but one
            raise ValueError("exactly one of text, rule and pair")
        return self
