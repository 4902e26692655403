"""The whole workspace checked, in numbered steps; a step gives its evidence or its differences.

1. Every table is here, whole, and its rows give its root; no file lies there that no stage writes.
2. Every input root that a table names is the root of that table; routes are those of params.yaml.
3. Every file is the one that `dvc.lock` lists, byte by byte; DVC looks at size and time only.
4. Each stage, derived again in memory, gives the stored tables; the report gives the stored files.
5. Where a card or a run's hash is expected, the tables are those that it names.

With `quick`, step 4 is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.card import Card, Expected, make_card, read_expected, write_card
from pipeline.audit.differences import Difference, compare_lines, compare_tables, damaged_rows
from pipeline.audit.layout import places, run_digest, stored_headers, table_entries
from pipeline.audit.locked import compare_with_lock
from pipeline.audit.pictures import compare_pictures
from pipeline.audit.rebuild import STAGES, Derived, derive_stage
from pipeline.errors import FlavourbenchError, ProofError, TableError, UsageError
from pipeline.files import read_bytes
from pipeline.identity import digest
from pipeline.progress import silent
from pipeline.tables import read_stored, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipeline.audit.layout import Place
    from pipeline.progress import Progress
    from pipeline.tables import Table, TableHeader
    from pipeline.workspace import Workspace

__all__ = ["Step", "Verification", "seal", "verify"]

_REPORT_LIMIT = 2**28
_OURS = (".gitignore", "README.md")


class Step(NamedTuple):
    """One numbered step.

    Attributes
    ----------
    title
        What was checked.
    evidence
        What was seen, or why it was not checked.
    differences
        What is not as it has to be.
    """

    title: str
    evidence: str
    differences: tuple[Difference, ...]


class Verification(NamedTuple):
    """All steps, and the identity (hex) of the run as its tables state it."""

    run: str
    steps: tuple[Step, ...]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences of all steps, in order."""
        return tuple(found for step in self.steps for found in step.differences)


def verify(
    workspace: Workspace, quick: bool = False, expect: str = "", progress: Progress = silent
) -> Verification:
    """Check a workspace.

    Parameters
    ----------
    workspace
        The workspace.
    quick
        Whether to hash only, and derive nothing again.
    expect
        A card's file, or a run's hash or its first 8 or more characters; none where empty.
    progress
        Told of each step that is done.

    Raises
    ------
    UsageError
        There is no table at all, or what is expected is neither card nor hash.
    """
    if not any(place.path(workspace).is_file() for place in places(workspace.parameters)):
        stored_headers(workspace)  # says what to do
        raise UsageError("tables", "none that can be read", "artifacts", "Run `dvc checkout`.")
    expected = read_expected(expect) if expect else None
    steps: list[Step] = []
    for step in _steps(workspace, quick, expected):
        steps.append(step)
        progress(len(steps), 4 if quick else 4 + len(STAGES))
    headers = _headers(workspace)
    return Verification(run_digest(table_entries(headers)), tuple(steps))


def seal(workspace: Workspace, folder: Path) -> Card:
    """Write a run's card where every row, root and link of it holds.

    Raises
    ------
    ProofError
        Something differs.
    TableError
        The card cannot be written.
    """
    found = verify(workspace, quick=True).differences
    if found:
        raise ProofError(
            "a run in which nothing differs", str(found[0]), "seal",
            "Run `flavourbench verify` to see all of it.",
        )  # fmt: skip
    card = make_card(workspace)
    write_card(card, folder)
    return card


def _steps(workspace: Workspace, quick: bool, expected: Expected | None) -> Iterator[Step]:
    stored: dict[Place, Table[Any]] = {}
    sound: set[Place] = set()
    yield _files(workspace, stored if not quick else None, sound)
    headers = _headers(workspace)
    yield _chain(workspace, headers)
    yield _locked(workspace)
    if not quick:
        yield from _stages(workspace, stored, sound)
    if expected is not None:
        found = expected.differences(headers)
        said = f"run {expected.run[:16]}…" if expected.run else "run"
        yield Step("the expected run", f"{said} is what the tables give", tuple(found))


def _files(workspace: Workspace, stored: dict[Place, Table[Any]] | None, sound: set[Place]) -> Step:
    found: list[Difference] = []
    rows = 0
    for place in places(workspace.parameters):
        path = place.path(workspace)
        try:
            table = read_table(path, place.model)
            sound.add(place)
            rows += table.header.rows
        except TableError as problem:
            named = []
            try:
                table = read_stored(path, place.model)
                named = _guarded(place, lambda t=table, p=place: damaged_rows(p.file(), t))
            except TableError:
                table = None
            found += named or [Difference(place.file(), problem.expected, problem.found)]
        if stored is not None and table is not None:
            stored[place] = table
    found += _orphans(workspace)
    evidence = (
        f"{len(sound)} tables of {rows:,} rows; every row gives its digest, every table its root"
    )
    return Step("rows and roots", evidence, tuple(found))


def _orphans(workspace: Workspace) -> list[Difference]:
    """Files that no stage writes, and links out of the workspace."""
    folder = workspace.root / "artifacts"
    known = {place.file() for place in places(workspace.parameters)}
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(workspace.root).as_posix()
        if path.is_symlink():
            found.append(Difference(name, "a file of its own", "a symbolic link"))
        elif path.suffix == ".parquet" and name not in known:
            found.append(Difference(name, "no such file: no stage writes it", "a file"))
    return found


def _headers(workspace: Workspace) -> dict[Place, TableHeader]:
    """Headers of the files that can be read at all."""
    from pipeline.tables import read_header

    found = {}
    for place in places(workspace.parameters):
        try:
            found[place] = read_header(place.path(workspace))
        except TableError:
            continue  # named by the first step
    return found


def _chain(workspace: Workspace, headers: dict[Place, TableHeader]) -> Step:
    by_name = {place.input_name: place for place in places(workspace.parameters)}
    found: list[Difference] = []
    links = 0
    for place, header in headers.items():
        for name, root in header.inputs.items():
            links += 1
            where = f"{place.file()}, header, inputs {name}"
            source = by_name.get(name)
            if source is None:
                found.append(Difference(where, "a table of this run", name))
            elif source in headers and headers[source].root != root:
                found.append(Difference(where, headers[source].root, root))
    routes = [place for place in headers if place.answers]
    for place in routes:
        found += _route(workspace, place, headers[place])
    evidence = f"{links} input roots and {len(routes)} routes are what they name"
    return Step("the chain of inputs", evidence, tuple(found))


def _route(workspace: Workspace, place: Place, header: TableHeader) -> list[Difference]:
    """Whether a table of answers is that of its route: two files swapped are seen here."""
    from pipeline.execute.routes import find_route

    expected = find_route(workspace.parameters.routes, place.name)
    stated = header.about.get("route", "")
    if stated == expected.document:
        return []
    found = digest("route-document", stated)[:16] if stated else "none"
    where = f"{place.file()}, header, about route"
    return [Difference(where, f"route {expected.digest[:16]}…", f"another document, {found}…")]


def _locked(workspace: Workspace) -> Step:
    lock = workspace.root / "dvc.lock"
    if not lock.is_file():
        return Step("files as dvc.lock lists them", "not checked: there is no dvc.lock", ())
    count, found = compare_with_lock(workspace.root)
    evidence = f"{count} files are those that dvc.lock lists, byte by byte"
    return Step("files as dvc.lock lists them", evidence, tuple(found))


def _stages(
    workspace: Workspace, stored: dict[Place, Table[Any]], sound: set[Place]
) -> Iterator[Step]:
    """Each stage derived from those before it; what cannot be derived is taken as it is stored."""
    held = workspace
    for stage in STAGES:
        here = [place for place in places(workspace.parameters) if place.stage == stage]
        found: list[Difference] = []
        result = Derived({}, ())
        try:
            result = derive_stage(held, stage, stored, silent)
        except FlavourbenchError as problem:
            said = f"{problem.where}: expected {problem.expected}"
            found.append(
                Difference(f"stage {stage}, derived again: {said}", "a result", problem.found)
            )
        for place in here:
            if place in result.tables:
                table = result.tables[place]
                held = held.holding(place.path(workspace), table)
                if place in stored:
                    found += _guarded(
                        place, lambda p=place, t=table: compare_tables(p.file(), t, stored[p])
                    )
            elif place in stored and place in sound:
                held = held.holding(place.path(workspace), stored[place])
        roots = f"{len(result.tables)} tables derived again give the stored roots"
        yield Step(
            f"stage {stage}",
            "; ".join([roots, *result.kept] if result.tables else result.kept),
            tuple(found),
        )
    yield _report(held)


def _report(workspace: Workspace) -> Step:
    from pipeline.report import stage as report

    folder = workspace.root / "artifacts" / "report"
    found: list[Difference] = []
    try:
        documents = report.build(workspace)
    except FlavourbenchError as problem:
        documents = ()
        found.append(Difference("stage report, derived again", problem.expected, problem.found))
    for document in documents:
        file = f"artifacts/report/{document.name}"
        found += _document(file, folder / document.name, document.data)
    evidence = f"{len(documents)} files written again are the stored ones, byte by byte"
    return Step("stage report", evidence, tuple(found))


def _document(file: str, path: Path, data: bytes) -> list[Difference]:
    try:
        stored = read_bytes(path, _REPORT_LIMIT, TableError)
    except TableError as problem:
        return [Difference(file, problem.expected, problem.found)]
    compare = compare_pictures if path.suffix == ".png" else compare_lines
    return compare(file, data, stored)


def _guarded(place: Place, compare: Any) -> list[Difference]:
    """Differences of a table whose bytes may be anything."""
    try:
        found: list[Difference] = compare()
    except UnicodeDecodeError as problem:
        return [Difference(place.file(), "text in UTF-8", problem.reason)]
    except FlavourbenchError as problem:
        return [Difference(f"{place.file()}, {problem.where}", problem.expected, problem.found)]
    return found
