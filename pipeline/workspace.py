"""The workspace: where `params.yaml`, `artifacts/` and the ledgers lie, and how they are read."""

from __future__ import annotations

import json
import math
from collections import deque
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import ValidationError

from pipeline.errors import InputError, TableError
from pipeline.files import read_bytes
from pipeline.tables import read_table, write_table
from pipeline.yaml import YamlBounds, parse_yaml
from schemas.execution import Response
from schemas.parameters import Parameters, StarterRelease

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pipeline.tables import Table
    from schemas.parameters import ReleaseParameters
    from schemas.record import Row
    from schemas.results import CoreTask

__all__ = [
    "Artifact",
    "StageSummary",
    "Workspace",
    "open_workspace",
    "owner_document",
    "parse_parameters",
    "release_name",
]

_PARAMETERS_LIMIT = 2**20
_BOUNDS = YamlBounds(values=40_000, depth=16, characters=_PARAMETERS_LIMIT)
_INTEGERS = 10**4300  # Python writes no longer ones
_TAGS = {("release",): 1, ("freeze",): 1, ("routes",): 2, ("score", "core"): 2}
"""Sections whose shape a tag decides, and where pydantic puts that tag into an error's place."""

_NEAR_SECRETS = {"base_url", "extra_body", "headers_env", "key_env"}
"""Where people type a secret by mistake."""

_LEAST_RANKED = 2
_PLAIN = "Use text, integers, booleans and lists."

R = TypeVar("R", bound="Row")


class Artifact(NamedTuple):
    """One table that a stage wrote: its path within the workspace, its rows and its root (hex)."""

    path: str
    rows: int
    root: str


class StageSummary(NamedTuple):
    """What a stage says when it is done.

    Attributes
    ----------
    stage
        The stage's word.
    headline
        One sentence for a person.
    artifacts
        The tables that it wrote.
    """

    stage: str
    headline: str
    artifacts: tuple[Artifact, ...]


class Workspace(NamedTuple):
    """A folder with `params.yaml`; artifacts and ledgers lie below it.

    Attributes
    ----------
    root, parameters
        The folder and its parameters.
    held
        Tables in memory by path: they are read in place of files, so that a stage can be derived
        again without writing anything.
    """

    root: Path
    parameters: Parameters
    held: Mapping[Path, Table[Any]] = MappingProxyType({})

    def ranked_routes(self) -> tuple[str, ...]:
        """Slugs of the ranked routes, in the order of `params.yaml`.

        Raises
        ------
        InputError
            There are fewer than two, so that there is nothing to compare.
        """
        ranked = tuple(slug for slug, route in self.parameters.routes.items() if route.ranked)
        if len(ranked) < _LEAST_RANKED:
            found = f"{len(ranked)} ({', '.join(ranked)})" if ranked else "none"
            raise InputError(
                "at least two ranked routes", found, "params.yaml: routes",
                "Add a route, or set ranked: true on one more.",
            )  # fmt: skip
        return ranked

    def in_core_order(self, core: Iterable[CoreTask]) -> list[CoreTask]:
        """The core in the order of the statistics: by panel, ranked family, place in its stratum.

        Raises
        ------
        InputError
            A task is of a family that `score.families` does not name.
        """
        entries = list(core)
        families = self.parameters.score.families
        other = next((entry.family for entry in entries if entry.family not in families), None)
        if other is not None:
            raise InputError(
                "a core of the families in score.families", other.value,
                "artifacts/score/core.parquet", "Run `flavourbench score` again.",
            )  # fmt: skip
        return sorted(entries, key=lambda c: (c.panel, families.index(c.family), c.position))

    def artifact(self, stage: str, table: str) -> Path:
        """Path of a stage's table."""
        return self.root / "artifacts" / stage / f"{table}.parquet"

    def read(self, stage: str, model: type[R], *made_from: Table[Any]) -> Table[R]:
        """A stage's table under the model's own table name.

        Raises
        ------
        TableError
            As `tables.read_table` does; or the table names another root of one of the tables that
            it should be made from, so that two runs would be mixed.
        """
        table = self.read_named(stage, model.table, model)
        for source in made_from:
            name, found = source.header.table, table.header.inputs.get(source.header.table)
            if found != source.root:
                raise TableError(
                    f"made from {name} with root {source.root}",
                    f"{found}",
                    self.artifact(stage, model.table).relative_to(self.root).as_posix(),
                    "Tables of two runs are mixed: run `dvc repro`.",
                )
        return table

    def read_named(self, stage: str, name: str, model: type[R]) -> Table[R]:
        """A stage's table under a name of its own. Raises as `tables.read_table` does."""
        path = self.artifact(stage, name)
        held = self.held.get(path)
        return read_table(path, model) if held is None else held

    def read_answers(self, slug: str, stage: str = "execute") -> Table[Response]:
        """A route's sealed answers.

        Raises
        ------
        TableError
            As `tables.read_table` does; or the table holds the answers of another route.
        """
        table = self.read_named(stage, slug, Response)
        owner = table.header.about.get("slug")
        if owner != owner_document(slug):
            raise TableError(
                f"the answers of {slug}",
                f"those of {owner}" if owner else "answers of no route",
                self.artifact(stage, slug).relative_to(self.root).as_posix(),
                "Two files were swapped or renamed: restore them with `dvc checkout`.",
            )
        return table

    def holding(self, path: Path, table: Table[Any]) -> Workspace:
        """The same workspace with a table in memory in place of a file."""
        return self._replace(held={**self.held, path: table})

    def write(self, stage: str, *tables: Table[Any]) -> tuple[Artifact, ...]:
        """Write a stage's tables, each whole or not at all. Raises as `tables.write_table` does."""
        written = []
        for table in tables:
            path = self.artifact(stage, table.header.table)
            write_table(path, table)
            written.append(
                Artifact(path.relative_to(self.root).as_posix(), table.header.rows, table.root)
            )
        return tuple(written)

    def ledger(self, slug: str, folder: str = "") -> Path:
        """Path of a route's ledger; a track's folder stands before it."""
        return self.root / ".ledger" / f"{folder}{slug}.sqlite"


def owner_document(slug: str) -> str:
    """What a table of sealed answers says of whose they are."""
    return json.dumps(slug)


def open_workspace(root: Path) -> Workspace:
    """The workspace in a folder.

    Raises
    ------
    InputError
        `params.yaml` is missing, no YAML, or holds a wrong key or value; names it. Or the folder's
        name is no text, which Arrow cannot open.
    """
    if not _is_text(str(root)):
        raise InputError("a path in UTF-8", repr(str(root)), "workspace", "Rename the folder.")
    path = root / "params.yaml"
    data = read_bytes(path, _PARAMETERS_LIMIT, InputError)
    return Workspace(root, parse_parameters(data, "params.yaml"))


def parse_parameters(data: bytes, where: str) -> Parameters:
    """Parameters from the bytes of a YAML file. Raises as `open_workspace` does."""
    value: Any = parse_yaml(data, where, InputError, _BOUNDS)
    _check_plain(value, where)
    try:
        return Parameters.model_validate_json(json.dumps(value))
    except ValidationError as problem:
        raise _parameter_error(problem, where) from problem


def release_name(parameters: ReleaseParameters) -> str:
    """What people call a release: `starter@1`, or its source."""
    if isinstance(parameters, StarterRelease):
        return f"starter@{parameters.version}"
    return parameters.source


def _check_plain(document: Any, where: str) -> None:
    """Refuse what YAML can say and JSON cannot, with its key."""
    waiting: deque[tuple[tuple[str, ...], Any]] = deque([((), document)])
    while waiting:
        place, value = waiting.popleft()
        spot = f"{where}: {'.'.join(place) or 'top level'}"
        if isinstance(value, dict):
            odd = next((key for key in value if not _is_text(key)), None)
            if odd is not None or None in value:
                raise InputError("a key that is text", repr(odd), spot, "Put it in quotes.")
            waiting.extend(((*place, key), item) for key, item in value.items())
        elif isinstance(value, list):
            waiting.extend(((*place, str(i)), item) for i, item in enumerate(value))
        elif isinstance(value, int) and abs(value) >= _INTEGERS:
            raise InputError("an integer of at most 4,300 digits", "a longer one", spot, _PLAIN)
        elif isinstance(value, float) and not math.isfinite(value):
            raise InputError("a finite number", str(value), spot, _PLAIN)
        elif not (value is None or isinstance(value, int | float) or _is_text(value)):
            found = f"{type(value).__name__} {value!r}"
            raise InputError("a plain value", found, spot, f"{_PLAIN} Put text in quotes.")


def _is_text(value: Any) -> bool:
    """Whether a value is text that UTF-8 can hold."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _parameter_error(problem: ValidationError, where: str) -> InputError:
    """One of the faults that pydantic found, as one line that names its key.

    An unknown key goes first: where a key is misspelt, another is missing because of it.
    """
    faults = problem.errors()
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    place = [str(part) for part in first["loc"]]
    tag = next((at for section, at in _TAGS.items() if place[: len(section)] == list(section)), 0)
    if 0 < tag < len(place):
        del place[tag]
    said = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    expected = said[:1].lower() + said[1:]
    context = first.get("ctx", {})
    if first["type"] == "extra_forbidden":
        expected, found = "a known key", f"unknown key {place[-1]!r}"
    elif first["type"] == "missing":
        expected, found = f"a key {place[-1]!r}", "none"
    elif first["type"] == "union_tag_not_found":
        expected, found = f"a key {context['discriminator']}", "none"
    elif first["type"] == "union_tag_invalid":
        place.append(context["discriminator"].strip("'"))
        expected, found = f"one of {context['expected_tags']}", repr(context["tag"])
    else:
        combined = first["type"] == "value_error" and not place
        found = "other sections" if combined else json.dumps(first["input"], default=str)
        if _NEAR_SECRETS.intersection(place):
            found = "another text (not shown, it may be a secret)"
    more = len(faults) - 1
    remedy = "Mend params.yaml and run again." + (f" ({more} more like it.)" if more else "")
    return InputError(expected, found, f"{where}: {'.'.join(place) or 'top level'}", remedy)
