"""What a track is to those who ask: its stages, where its files lie, what it asks of whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipeline.asking.adapter import Questions
    from pipeline.asking.adapters import Maker
    from pipeline.stages import Stage
    from pipeline.workspace import Workspace
    from schemas.parameters import Parameters
    from schemas.routes import ExecutionRoute

__all__ = ["Track"]


class Track(NamedTuple):
    """A track: its stages in the order of the chain, where its files lie, what it asks.

    The module of its asking stage says what is asked of whom: `questions(workspace)`,
    `routes(parameters)`, `all_routes(parameters)`, and `ADAPTERS` by the class of their routes.

    Attributes
    ----------
    name, stages
        Its name and its stages.
    folder
        Stands before the names of its artifact folders and ledgers: empty, or ends with a slash.
    source, source_stage
        The table that its questions come from, and the stage that writes it.
    made_from
        Names of the tables that each of its tables says it was made from, by table.
    """

    name: str
    stages: tuple[Stage, ...]
    folder: str
    source: str
    source_stage: str
    made_from: Callable[[Parameters], Mapping[str, frozenset[str]]]

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

    def all_routes(self, parameters: Parameters) -> Mapping[str, ExecutionRoute]:
        """Its routes, also those that are set aside."""
        routes: Mapping[str, ExecutionRoute] = self.asking.load().all_routes(parameters)
        return routes

    @property
    def adapters(self) -> Mapping[type[ExecutionRoute], Maker]:
        """Who answers for its routes, by their class."""
        adapters: Mapping[type[ExecutionRoute], Maker] = self.asking.load().ADAPTERS
        return adapters
