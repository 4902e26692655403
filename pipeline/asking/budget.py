"""Money: what a route may spend, reserved before a try goes out and settled when it comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pipeline.errors import ProviderError

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = ["Budget", "in_micros", "usd"]

_MICROS = 1_000_000


def in_micros(amount: Decimal) -> int:
    """A sum in US dollars as whole millionths."""
    return int(amount * _MICROS)


def usd(micros: int) -> str:
    """Millionths of a US dollar for people: `$0.0042`."""
    return f"${micros / _MICROS:.4f}"


class Budget:
    """A route's account.

    Parameters
    ----------
    slug
        The route, for errors.
    cap_micros
        The most that it may spend over all sessions; none is no cap.
    spent_micros
        What earlier attempts have cost, those of unknown cost at their reserve.
    """

    def __init__(self, slug: str, cap_micros: int | None, spent_micros: int) -> None:
        self._slug, self._cap = slug, cap_micros
        self.spent_micros = spent_micros
        self._reserved = 0
        self._under_way = 0
        self._changed = asyncio.Condition()

    async def reserve(self, amount: int | None) -> None:
        """Set money aside for a try, waiting for others to settle where that can make room.

        Raises
        ------
        ProviderError
            The cap leaves no room.
        """
        wanted = amount or 0
        async with self._changed:
            while self._cap is not None and self.spent_micros + self._reserved + wanted > self._cap:
                if not self._under_way:
                    raise ProviderError(
                        f"at most {usd(self._cap)} spent",
                        f"{usd(self.spent_micros)} spent and {usd(wanted)} for the next try",
                        f"route {self._slug}, spend_cap_usd",
                        "Raise spend_cap_usd and run again; what is stored stays.",
                    )
                await self._changed.wait()
            self._reserved += wanted
            self._under_way += 1

    async def settle(self, amount: int | None, cost: int | None) -> None:
        """Give the reserve back and book the cost; an unknown cost is booked at the reserve."""
        async with self._changed:
            self._reserved -= amount or 0
            self._under_way -= 1
            self.spent_micros += (amount or 0) if cost is None else cost
            self._changed.notify_all()
