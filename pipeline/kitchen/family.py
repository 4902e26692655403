"""What is constant about the family, and how its quantities are written."""

from __future__ import annotations

from schemas.meals import DAYS

__all__ = ["HOME", "USUAL_MINUTES", "WEEKDAYS", "quantity"]

HOME = (2, 1, 1)
"""Who eats on an ordinary day: adults, children, babies."""

USUAL_MINUTES = 30
"""What an ordinary weekday dinner may take."""

WEEKDAYS = DAYS[:5]


def quantity(hundredths: int) -> str:
    """Hundredths as a decimal number, without closing zeros."""
    whole, places = divmod(abs(hundredths), 100)
    sign = "-" if hundredths < 0 else ""
    return sign + f"{whole}.{places:02}".rstrip("0").rstrip(".")
