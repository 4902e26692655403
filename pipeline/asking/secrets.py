"""Secrets of a route: read from the environment, and cut out of whatever comes back."""

from __future__ import annotations

import base64
import json
import os
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from pipeline.errors import ExecuteError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemas.parameters import OpenAiRoute

__all__ = ["Secrets", "read_headers", "variables"]

_SHORTEST = 8  # `ollama` and `none` are placeholders, not secrets
_MASK = "[redacted]"


class Secrets:
    """Hides secret values, in the forms in which a server may send them back.

    A text shorter than 8 characters is no secret.

    Parameters
    ----------
    values
        What nobody may see.
    """

    def __init__(self, values: Iterable[str]) -> None:
        forms: set[str] = set()
        for value in values:
            for part in {value, value.removeprefix("Bearer ")}:
                if len(part) >= _SHORTEST:
                    forms |= _forms(part)
        self._forms = sorted(forms, key=len, reverse=True)
        self._bytes = [form.encode("utf-8") for form in self._forms]

    def hide(self, text: str) -> str:
        """Text without secrets."""
        for form in self._forms:
            text = text.replace(form, _MASK)
        return text

    def hide_bytes(self, data: bytes) -> bytes:
        """Bytes without secrets, also where the bytes end in the midst of one."""
        for form in self._bytes:
            data = data.replace(form, _MASK.encode())
        for form in self._bytes:
            for length in range(min(len(form) - 1, len(data)), _SHORTEST - 1, -1):
                if data.endswith(form[:length]):
                    return data[:-length] + _MASK.encode()
        return data


def read_headers(route: OpenAiRoute, slug: str) -> dict[str, str]:
    """Headers with secrets, from the environment.

    Raises
    ------
    ExecuteError
        A variable is not set, or holds what no header can; its value is not shown.
    """
    names = dict(route.headers_env)
    found = {name: _value(variable, slug) for name, variable in names.items()}
    if route.key_env is not None:
        found["Authorization"] = f"Bearer {_value(route.key_env, slug)}"
    return found


def variables(route: OpenAiRoute) -> tuple[str, ...]:
    """Names of the environment variables that hold a route's secrets."""
    names = [*route.headers_env.values(), *([route.key_env] if route.key_env else [])]
    return tuple(dict.fromkeys(names))


def _value(variable: str, slug: str) -> str:
    value = os.environ.get(variable, "")
    if not value or value != value.strip() or not all(" " <= c <= "~" for c in value):
        raise ExecuteError(
            f"the environment variable {variable}",
            "a value that no header can hold (not shown)" if value else "none",
            f"route {slug}",
            f"Set {variable} and run again; nothing was asked.",
        )
    return value


def _forms(value: str) -> set[str]:
    """The value as it is, in JSON, in a URL, in base64."""
    inner = json.dumps(value)[1:-1]
    encoded = base64.b64encode(value.encode()).decode().rstrip("=")
    return {
        value,
        inner,
        inner.replace("/", "\\/"),
        quote(value, safe=""),
        quote_plus(value),
        encoded,
    }
