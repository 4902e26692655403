"""An answer's text as a menu or a recipe, or why it is none, with the path of every fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from pipeline.kitchen.parse.reader import read_object
from schemas.replies import Fault

if TYPE_CHECKING:
    from schemas.meals import Recipe, WeeklyMenu
    from schemas.replies import Form

__all__ = ["Parsed", "read_answer"]


class Parsed(NamedTuple):
    """A parsed answer with its form, or the reason why there is none.

    Attributes
    ----------
    paths
        Where a `schema` fault lies: one path a fault, sorted, each once.
    """

    answer: WeeklyMenu | Recipe | None
    form: Form | None
    fault: Fault | None
    paths: tuple[str, ...] = ()


def read_answer(data: bytes, model: type[WeeklyMenu | Recipe], *, cut: bool = False) -> Parsed:
    """Read an answer.

    Parameters
    ----------
    data
        The answer's text in UTF-8.
    model
        What the case asks for.
    cut
        Whether the provider cut the reply.
    """
    value, form, fault = read_object(data, cut=cut)
    if value is None:
        return Parsed(None, None, fault)
    try:
        return Parsed(model.model_validate(value), form, None)
    except ValidationError as problem:
        places = problem.errors(include_url=False, include_context=False, include_input=False)
        paths = {".".join(map(str, place["loc"])) for place in places}
        return Parsed(None, None, Fault.SCHEMA, tuple(sorted(paths)))
