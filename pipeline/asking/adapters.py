"""Adapters by the class of their routes: the one place that a new adapter is added to.

An adapter is a module with two functions: `identity`, what can change a route's answers, and
`make`, which builds what answers. A track may bring adapters of its own (built-in answerers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.asking import command, openai, replay
from schemas.routes import CommandRoute, OpenAiRoute, ReplayRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pipeline.asking.adapter import Adapter, Questions
    from pipeline.asking.routes import BoundRoute
    from schemas.record import IdentityValue
    from schemas.routes import ExecutionRoute

__all__ = ["ADAPTERS", "Maker"]


class Maker(NamedTuple):
    """How a kind of route gets its identity and its adapter.

    Attributes
    ----------
    identity
        What can change an answer of such a route, beside its adapter's name.
    make
        Builds the adapter, from the route, what it is asked, and the folder that relative paths
        start from. Raises `ExecuteError` where the route does not fit.
    kept_for
        Why answers cannot be derived again, so that they are lost for good with their tables;
        empty where they can.
    """

    identity: Callable[[Any], dict[str, IdentityValue]]
    make: Callable[[BoundRoute, Questions, Path], Adapter]
    kept_for: str = ""

    @property
    def derivable(self) -> bool:
        """Whether answers can be derived again, so that nothing is lost with them."""
        return not self.kept_for


ADAPTERS: Mapping[type[ExecutionRoute], Maker] = {
    CommandRoute: Maker(command.identity, command.make, command.KEPT_FOR),
    OpenAiRoute: Maker(openai.identity, openai.make, openai.KEPT_FOR),
    ReplayRoute: Maker(replay.identity, replay.make),
}
"""The adapters of every track."""
