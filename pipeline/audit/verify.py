"""The whole workspace checked, in numbered steps; a step gives its evidence or its differences.

1. Every table is here, whole, and its rows give its root; no file lies there that no stage writes.
2. Every input root that a table names is the root of that table; routes are those of params.yaml.
3. Every file is the one that `dvc.lock` lists, byte by byte; DVC looks at size and time only.
4. Each stage, derived again in memory, gives the stored tables; the report gives the stored files.
5. A card that lies in the workspace or in `artifacts/` and names this run says what the tables do.
6. Where a card or a run's hash is expected, everything is as it says.

With `quick`, step 4 is said to be left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.card import Card, make_card, write_card
from pipeline.audit.chain import about_differences, input_differences
from pipeline.audit.differences import Difference, compare_lines, compare_tables, damaged_rows
from pipeline.audit.evidence import Mark
from pipeline.audit.expected import (
    Expected,
    card_pairs,
    check_expected,
    check_pair,
    read_expected,
)
from pipeline.audit.foreign import foreign_files, report_names
from pipeline.audit.layout import places, run_digest, stored_headers, table_entries
from pipeline.audit.locked import compare_with_lock
from pipeline.audit.pictures import compare_pictures
from pipeline.audit.rebuild import Derived, derive_stage
from pipeline.errors import FlavourbenchError, InputError, ProofError, TableError
from pipeline.files import read_bytes
from pipeline.progress import silent
from pipeline.tables import read_stored, read_table
from pipeline.tracks import TRACKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipeline.audit.layout import Place
    from pipeline.progress import Progress
    from pipeline.stages import Stage
    from pipeline.tables import Table, TableHeader
    from pipeline.workspace import Workspace

__all__ = ["Verification", "VerifyStep", "seal", "verify"]

_REPORT_LIMIT = 2**28
_NAMED = 10


class VerifyStep(NamedTuple):
    """One numbered step.

    Attributes
    ----------
    title
        What was checked.
    evidence
        What was seen, or why it was not checked.
    differences
        What is not as it has to be.
    otherwise
        How the step stands where nothing differs.
    """

    title: str
    evidence: str
    differences: tuple[Difference, ...]
    otherwise: Mark = Mark.OK

    @property
    def mark(self) -> Mark:
        """How the step ended."""
        return Mark.DIFFERS if self.differences else self.otherwise


class Verification(NamedTuple):
    """All steps, and the identity (hex) of the run as its tables state it."""

    run: str
    steps: tuple[VerifyStep, ...]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences of all steps, in order."""
        return tuple(found for step in self.steps for found in step.differences)


def verify(
    workspace: Workspace,
    quick: bool = False,
    expect: str | None = None,
    progress: Progress = silent,
) -> Verification:
    """Check a workspace.

    Parameters
    ----------
    workspace
        The workspace.
    quick
        Whether to hash only, and derive nothing again.
    expect
        A card's file, or a run's whole hash; none to hold the run against nothing.
    progress
        Told of each step that is done.

    Raises
    ------
    InputError
        There is no table at all, or what is expected is neither card nor hash.
    """
    if not any(place.path(workspace).is_file() for place in places(workspace.parameters)):
        stored_headers(workspace)  # says what to do
        raise InputError("tables", "none that can be read", "artifacts", "Run `dvc checkout`.")
    expected = None if expect is None else read_expected(expect)
    steps: list[VerifyStep] = []
    for step in _steps(workspace, quick):
        steps.append(step)
        progress(len(steps), 4 if quick else 3 + sum(len(track.stages) for track in TRACKS))
    steps += _held_against(workspace, expected)
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
    found = [one for step in _steps(workspace, quick=True) for one in step.differences]
    if found:
        raise ProofError(
            "a run in which nothing differs", str(found[0]), "seal",
            "Run `flavourbench verify` to see all of it.",
        )  # fmt: skip
    card = make_card(workspace)
    write_card(card, folder)
    return card


def _steps(workspace: Workspace, quick: bool) -> Iterator[VerifyStep]:
    stored: dict[Place, Table[Any]] = {}
    sound: set[Place] = set()
    yield _files(workspace, stored if not quick else None, sound)
    yield _chain(workspace, _headers(workspace))
    yield _locked(workspace)
    if quick:
        yield VerifyStep("stages and report", "hashed only, not derived again", (), Mark.UNKNOWN)
    else:
        yield from _stages(workspace, stored, sound)


def _held_against(workspace: Workspace, expected: Expected | None) -> Iterator[VerifyStep]:
    """Cards that lie here, and what a person expects."""
    headers = _headers(workspace)
    for pair in card_pairs(workspace):
        title, found = "the card that lies here", check_pair(workspace, headers, pair)
        name = (pair.card or pair.page or workspace.root).relative_to(workspace.root).as_posix()
        if found is None:
            yield VerifyStep(title, f"{name} is of another run", (), Mark.UNKNOWN)
        else:
            yield VerifyStep(
                title, f"{name} says what the tables say; versions aside", tuple(found)
            )
    if expected is not None:
        said = "is what the tables give" if expected.card is None else "is as its card says"
        differences = check_expected(workspace, headers, expected)
        yield VerifyStep("the expected run", f"run {expected.run} {said}", tuple(differences))


def _files(
    workspace: Workspace, stored: dict[Place, Table[Any]] | None, sound: set[Place]
) -> VerifyStep:
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
    found += foreign_files(workspace)
    evidence = (
        f"{len(sound)} tables of {rows:,} rows; every row gives its digest, every table its root"
    )
    return VerifyStep("rows and roots", evidence, tuple(found))


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


def _chain(workspace: Workspace, headers: dict[Place, TableHeader]) -> VerifyStep:
    parameters = workspace.parameters
    found: list[Difference] = []
    for place, header in headers.items():
        found += input_differences(parameters, headers, place)
        found += about_differences(parameters, place, header)
    links = sum(len(header.inputs) for header in headers.values())
    routes = sum(place.answers for place in headers)
    evidence = f"{links} input roots and {routes} routes are what they name"
    return VerifyStep("the chain of inputs", evidence, tuple(found))


def _locked(workspace: Workspace) -> VerifyStep:
    lock = workspace.root / "dvc.lock"
    if not (lock.exists() or lock.is_symlink()):
        return VerifyStep("files as dvc.lock lists them", "there is no dvc.lock", (), Mark.UNKNOWN)
    files, gone, found = compare_with_lock(workspace.root, workspace.parameters.all_routes)
    evidence = f"{files} files are those that dvc.lock lists, byte by byte"
    if gone:
        named = ", ".join(gone[:_NAMED]) + (", …" if len(gone) > _NAMED else "")
        evidence += f"; it also remembers {len(gone)} stages that are not defined now: {named}"
    return VerifyStep("files as dvc.lock lists them", evidence, found)


def _stages(
    workspace: Workspace, stored: dict[Place, Table[Any]], sound: set[Place]
) -> Iterator[VerifyStep]:
    """Each stage derived from those before it; what cannot be derived is taken as it is stored."""
    held = workspace
    for stage in (stage for track in TRACKS for stage in track.stages):
        if stage.makes_documents:
            yield _documents(held, stage)
            continue
        here = [place for place in places(workspace.parameters) if place.stage == stage.word]
        found: list[Difference] = []
        result = Derived({})
        try:
            result = derive_stage(held, stage, stored)
        except FlavourbenchError as problem:
            said = f"{problem.where}: expected {problem.expected}"
            found.append(
                Difference(f"stage {stage.word}, derived again: {said}", "a result", problem.found)
            )
        for place in here:
            table = result.tables.get(place, result.sealed.get(place))
            if table is not None:
                held = held.holding(place.path(workspace), table)
                if place in stored:
                    found += _guarded(
                        place, lambda p=place, t=table: compare_tables(p.file(), t, stored[p])
                    )
            elif place in stored and place in sound:
                held = held.holding(place.path(workspace), stored[place])
        roots = f"{len(result.tables)} tables derived again give the stored roots"
        said = "; ".join([roots, *result.kept] if result.tables else result.kept)
        yield VerifyStep(f"stage {stage.word}", said, tuple(found), result.mark)


def _documents(workspace: Workspace, stage: Stage) -> VerifyStep:
    """What a stage writes for people, written again in memory and compared."""
    folder = workspace.root / "artifacts" / stage.word
    found: list[Difference] = []
    try:
        documents = stage.build(workspace)
    except FlavourbenchError as problem:
        documents = ()
        where = f"stage {stage.word}, derived again"
        found.append(Difference(where, problem.expected, problem.found))
    for document in documents:
        file = f"artifacts/{stage.word}/{document.name}"
        found += _document(file, folder / document.name, document.data)
    built = {document.name for document in documents}
    for name in sorted(report_names(workspace) - built) if built else ():
        if (folder / name).is_file():
            said = "no such file: this run has none"
            found.append(Difference(f"artifacts/report/{name}", said, "a file"))
    evidence = f"{len(documents)} files written again are the stored ones, byte by byte"
    return VerifyStep(f"stage {stage.word}", evidence, tuple(found))


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
