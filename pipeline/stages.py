"""What a stage is: the shape of the registries that everything else reads.

A track lists its stages once, in the order of the chain. Help, audit, verify, imports and tests
read that list and hold none of their own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pipeline.workspace import Workspace
    from schemas.parameters import Parameters
    from schemas.record import Row

__all__ = ["Stage"]


class Stage(NamedTuple):
    """One stage of a track.

    Attributes
    ----------
    word
        Names its command, its package, its artifact folder, and its section of `params.yaml`.
    sections
        Keys of `params.yaml` whose values change what it writes.
    shapes
        The module of `schemas` that says what its rows look like.
    rows
        Names of the row models of its tables there, inputs before what is made from them.
    published
        Row models of the tables that it writes beside these from a published release.
    asks
        Whether it asks routes: then it runs once a route, and writes a route's tables.
    """

    word: str
    sections: tuple[str, ...]
    shapes: str = ""
    rows: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    asks: bool = False

    @property
    def module(self) -> str:
        """The module that runs it."""
        return f"pipeline.{self.word.replace('-', '.')}.stage"

    def load(self) -> Any:
        """The module that runs it, imported when it is wanted."""
        return importlib.import_module(self.module)

    @property
    def makes_documents(self) -> bool:
        """Whether it writes documents for people, and no table."""
        return not self.rows and not self.asks

    def models(self, parameters: Parameters) -> tuple[type[Row], ...]:
        """Row models of the tables that it writes with these parameters."""
        if not self.rows:
            return ()
        from schemas.parameters import PublishedRelease

        more = self.published if isinstance(parameters.release, PublishedRelease) else ()
        shapes = importlib.import_module(f"schemas.{self.shapes}")
        return tuple(getattr(shapes, name) for name in (*self.rows, *more))

    def build(self, workspace: Workspace) -> tuple[Any, ...]:
        """What it writes, in memory: tables, or documents.

        Raises
        ------
        FlavourbenchError
            An input is missing or does not fit.
        """
        built: tuple[Any, ...] = self.load().build(workspace)
        return built
