"""What a route cost is shown with what nobody knows of it, and never as zero."""

from __future__ import annotations

import pytest

from pipeline.showing.numbers import cost
from schemas.results import Usage


@pytest.mark.parametrize(
    ("attempts", "cost_micros", "unknown", "shown"),
    [
        (0, 0, 0, "none"),
        (3, 0, 0, "$0.00"),
        (3, 1_255_000, 0, "$1.26"),
        (3, 1_245_000, 0, "$1.24"),
        (3, 20_000, 2, "$0.02 and 2 unknown"),
        (3, 0, 3, "$0.00 and 3 unknown"),
    ],
)
def test_a_cost_says_what_is_unknown(
    attempts: int, cost_micros: int, unknown: int, shown: str
) -> None:
    usage = Usage(
        slug="m",
        route_digest="0" * 64,
        attempts=attempts,
        prompt_tokens=1,
        completion_tokens=1,
        cost_micros=cost_micros,
        unknown_cost=unknown,
    )
    assert cost(usage) == shown
