"""Secrets of a route: read from the environment, and cut out of whatever comes back."""

from __future__ import annotations

import base64
import binascii
import os
from typing import TYPE_CHECKING
from urllib.parse import unquote
from urllib.request import getproxies

from pipeline.asking.spellings import Spellings
from pipeline.errors import ExecuteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemas.parameters import OpenAiRoute

__all__ = ["Secrets", "read_headers", "read_proxies", "variables"]

_SHORTEST = 8  # `ollama` and `none` are placeholders, not secrets
_MASK = b"[secret]"  # no longer than what it stands for, so a bound on a text stays true


class Secrets:
    """Hides secret values, however a server spells them when it sends them back.

    A text shorter than 8 characters is no secret.

    Parameters
    ----------
    values
        What nobody may see: values of headers, of which the credentials after a scheme, and a
        user's password, are secrets too.
    """

    def __init__(self, values: Iterable[str]) -> None:
        texts = {part for value in values for part in _parts(value) if len(part) >= _SHORTEST}
        self._spellings = Spellings(sorted(texts), _SHORTEST)

    def hide(self, text: str) -> str:
        """Text without secrets."""
        hidden = self.hide_bytes(text.encode("utf-8", "surrogatepass"))
        return hidden.decode("utf-8", "surrogatepass")

    def hide_bytes(self, data: bytes) -> bytes:
        """Bytes without secrets, also where the bytes end in the midst of one.

        JSON stays JSON: what is cut out of it is characters of a text.
        """
        pieces: list[bytes] = []
        last = 0
        for start, end in self._spellings.spans(data):
            pieces += (data[last:start], _MASK)
            last = end
        return b"".join(pieces) + data[last:]


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


def read_proxies() -> list[str]:
    """Users and passwords of the proxies that the environment names."""
    found = []
    for url in getproxies().values():
        credentials, at, _ = url.rpartition("@")
        if at:
            pair = unquote(credentials.rpartition("//")[2])
            found += [pair, pair.partition(":")[2]]
    return [text for text in found if text.isascii()]


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


def _parts(value: str) -> Iterator[str]:
    """A header's value, its credentials where a scheme stands before them, a user's password."""
    yield value
    scheme, _, credentials = value.partition(" ")
    yield credentials
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(credentials, validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            return
        yield pair
        yield pair.partition(":")[2]
