"""How numbers are shown: one rule each, rounded half to even from exact integers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.results import Usage

__all__ = ["bps", "cost", "fixed", "p_value", "place", "score"]

_MICROBPS_PER_POINT = 100 * 1_000_000
_SMALLEST_P = Fraction(1, 10_000)


def score(microbps: int, places: int = 1) -> str:
    """Millionths of a basis point as a score from 0 to 100."""
    return fixed(Fraction(microbps, _MICROBPS_PER_POINT), places)


def bps(value: Fraction | int) -> str:
    """Basis points as a score from 0 to 100."""
    return fixed(Fraction(value) / 100, 2)


def cost(usage: Usage) -> str:
    """What a route cost in US dollars; what nobody knows is counted, never taken for zero."""
    if not usage.attempts:
        return "none"
    unknown = f" and {usage.unknown_cost} unknown" if usage.unknown_cost else ""
    return f"${fixed(Fraction(usage.cost_micros, 1_000_000), 2)}{unknown}"


def p_value(numerator: int, denominator: int) -> str:
    """A p-value, or its bound where it is tiny."""
    value = Fraction(numerator, denominator)
    return "<0.0001" if value < _SMALLEST_P else fixed(value, 4)


def place(rank: int, ranks: Sequence[int]) -> str:
    """A rank among all, with `=` where it is shared."""
    return f"{rank}=" if ranks.count(rank) > 1 else str(rank)


def fixed(value: Fraction, places: int) -> str:
    """A fraction with a fixed number of decimals, rounded half to even, without floats."""
    scaled = round(value * 10**places)
    sign = "-" if scaled < 0 else ""
    whole, rest = divmod(abs(scaled), 10**places)
    return f"{sign}{whole}.{rest:0{places}d}" if places else f"{sign}{whole}"
