"""What a stage and a track are: the shape of the registries that everything else reads.

A track lists its stages once, in the order of the chain. Help, audit, verify, imports and tests
read that list and hold none of their own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.asking.adapter import Questions
    from pipeline.asking.adapters import Maker
    from pipeline.workspace import Workspace
    from schemas.parameters import ExecutionRoute, Parameters
    from schemas.record import Row

__all__ = ["Stage", "Track"]


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


class Track(NamedTuple):
    """A track: its stages in the order of the chain, where its files lie, what it asks.

    The module of its asking stage says what is asked of whom: `questions(workspace)`,
    `routes(parameters)`, and `ADAPTERS` by the class of their routes.

    Attributes
    ----------
    name, stages
        Its name and its stages.
    folder
        Stands before the names of its artifact folders and ledgers: empty, or ends with a slash.
    source, source_stage
        The table that its questions come from, and the stage that writes it.
    """

    name: str
    stages: tuple[Stage, ...]
    folder: str
    source: str
    source_stage: str

    def stage(self, word: str) -> Stage:
        """The stage of a word."""
        return next(stage for stage in self.stages if stage.word == word)

    @property
    def asking(self) -> Stage:
        """The stage that asks routes."""
        return next(stage for stage in self.stages if stage.asks)

    def place(self, stage: Stage) -> str:
        """The artifact folder of a stage."""
        return self.folder + stage.word.rpartition("-")[2]

    def questions(self, workspace: Workspace) -> Questions:
        """All that it asks. Raises `TableError` where its questions are not made yet."""
        asked: Questions = self.asking.load().questions(workspace)
        return asked

    def routes(self, parameters: Parameters) -> Mapping[str, ExecutionRoute]:
        """The routes that it asks, by slug."""
        routes: Mapping[str, ExecutionRoute] = self.asking.load().routes(parameters)
        return routes

    @property
    def adapters(self) -> Mapping[type[ExecutionRoute], Maker]:
        """Who answers for its routes, by their class."""
        adapters: Mapping[type[ExecutionRoute], Maker] = self.asking.load().ADAPTERS
        return adapters
