"""Published documents: JSON that states its own hashes, and errors that name where one is wrong.

A hash is SHA-256 of canonical JSON: sorted keys, no spaces, UTF-8 unescaped.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.errors import InputError, wrong_field

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["DocumentPlace", "Loose", "canonical_text", "check_artifact"]

_REMEDY = "Fetch the published file again; it is not what it says."

_Model = TypeVar("_Model", bound=BaseModel)


class Loose(BaseModel):
    """Part of a document whose other fields are covered by a hash and not read."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class DocumentPlace(NamedTuple):
    """A document, perhaps a task of it: where errors point to, and how they are raised."""

    document: str
    task_id: str | None = None

    def refusal(self, field: str, expected: str, found: str) -> InputError:
        """The error about a field."""
        task = "" if self.task_id is None else f"task {self.task_id}, "
        return InputError(expected, found, f"{self.document}, {task}field {field}", _REMEDY)

    def equal(self, field: str, expected: object, found: object) -> None:
        """Refuse a field whose value is not the expected one."""
        if expected != found:
            raise self.refusal(field, str(expected), str(found))

    def among(self, field: str, allowed: Collection[str], found: str) -> None:
        """Refuse a field whose value is none of those allowed."""
        if found not in allowed:
            raise self.refusal(field, f"one of {', '.join(allowed)}", found)

    def valid(self, model: type[_Model], raw: object) -> _Model:
        """The raw value as a model, or an error about its first wrong field."""
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            wrong = wrong_field(error, "(all)")
            expected = f"another value ({wrong.expected})"
            raise self.refusal(wrong.name, expected, wrong.found) from None

    def sha256(self, field: str, value: object) -> str:
        """SHA-256 (hex) of a field's canonical JSON."""
        try:
            return hashlib.sha256(canonical_text(value).encode("utf-8")).hexdigest()
        except (ValueError, TypeError, RecursionError) as error:
            raise self.refusal(field, "what canonical JSON can hold", str(error)) from None


def canonical_text(value: object) -> str:
    """Canonical JSON of the published kind. Raises as `json.dumps` does."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def check_artifact(document: Mapping[str, Any], stated: str, place: DocumentPlace) -> None:
    """Refuse a document whose `artifact_sha256` is not that of the rest of it.

    Raises
    ------
    InputError
        Names the document.
    """
    rest = {key: value for key, value in document.items() if key != "artifact_sha256"}
    place.equal("artifact_sha256", place.sha256("(all)", rest), stated)
