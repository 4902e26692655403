"""How long to wait: `Retry-After` in both of its forms, and nothing guessed (RFC 9110, 10.2.3)."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime

__all__ = ["retry_after_ms"]

_SECONDS = re.compile(r"[0-9]{1,12}")


def retry_after_ms(value: str | None, date: str | None = None) -> int | None:
    """Milliseconds that a provider asks to wait, or none where it does not say so properly.

    Parameters
    ----------
    value
        The header `Retry-After`: whole seconds or an HTTP date.
    date
        The header `Date`: a date is read by the provider's own clock where it tells it, since
        ours may be wrong.
    """
    if value is None:
        return None
    if _SECONDS.fullmatch(value):
        return int(value) * 1000
    until = _unix(value)
    if until is None:
        return None
    now = _unix(date) if date else None
    return max(0, until - (int(time.time()) if now is None else now)) * 1000


def _unix(text: str) -> int | None:
    """Unix time of an HTTP date; none where the text is none, or not in GMT."""
    if not text.endswith(" GMT"):
        return None
    try:
        return int(parsedate_to_datetime(text).timestamp())
    except ValueError:
        return None
