"""What a run is held against: its whole hash, or a card.

The start of a hash proves nothing: another run that starts alike is made in minutes. A card names
its tables by digest; whatever else it says is made from the workspace's tables again and compared,
so it cannot say anything else of them. Versions are the exception: they tell what a run was made
with, and another machine has others. The page beside a card, of the same name with `.md`, is
compared in the same way.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.audit.card import CARD, Card, card_markdown, make_card, read_card
from pipeline.audit.differences import Difference, compare_lines, shortened
from pipeline.audit.layout import run_digest, table_entries
from pipeline.errors import FlavourbenchError, InputError, TableError
from pipeline.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.audit.layout import Place, TableEntry
    from pipeline.tables import TableHeader
    from pipeline.workspace import Workspace

__all__ = [
    "Expected",
    "card_pairs",
    "check_expected",
    "check_pair",
    "read_expected",
]

_PAGE_LIMIT = 16 * 2**20
_RUN = re.compile(r"^- Run ([0-9a-f]{64})$", re.MULTILINE)
_VERSIONS = re.compile(r"^- python .+$", re.MULTILINE)
_WHOLE = 64
_NOTHING = "no such field"
_PAGE = ".md"
_SEALS = "`flavourbench seal` writes a card and prints the hash."


class ExpectedCard(NamedTuple):
    """A card and the page beside it, either of which may be missing; what each is called."""

    card: Path | None
    page: Path | None


class Expected(NamedTuple):
    """What a person expects: a run's whole hash, a card with the page beside it, or a page."""

    run: str
    card: Card | None
    pair: ExpectedCard


def read_expected(text: str) -> Expected:
    """What a person expects: a run's whole hash, a card's file, or that of its page.

    A text of the hash's shape is a hash, whatever files there are.

    Raises
    ------
    InputError
        It is none of these.
    """
    path = Path(text)
    if re.fullmatch(rf"[0-9a-f]{{{_WHOLE}}}", text.lower()):
        return Expected(text.lower(), None, ExpectedCard(None, None))
    if path.suffix == _PAGE and _is_file(path):
        named = _RUN.search(_text(path))
        if named is None:
            raise InputError("a card's page", "no run in it", text, _SEALS)
        return Expected(named[1], None, ExpectedCard(None, path))
    if text and _is_file(path):
        card = read_card(path)
        return Expected(card.run, card, _pair(path))
    found, remedy = repr(text), _SEALS
    if re.fullmatch(r"[0-9a-f]+", text.lower()):
        found = f"{len(text)} characters"
        remedy = "The start of a hash proves nothing: another run that starts alike is soon made."
    raise InputError(
        f"a run's whole hash of {_WHOLE} hexadecimal characters, or a card's file",
        found, "--expect", remedy,
    )  # fmt: skip


def card_pairs(workspace: Workspace) -> Iterator[ExpectedCard]:
    """Cards where `seal` puts them: in the workspace, or in `artifacts/`."""
    for folder in (workspace.root, workspace.root / "artifacts"):
        pair = _pair(folder / f"{CARD}.json")
        if pair.card or pair.page:
            yield pair


def check_expected(
    workspace: Workspace, headers: dict[Place, TableHeader], expected: Expected
) -> list[Difference]:
    """Where a workspace's run is not the expected one."""
    entries = table_entries(headers)
    if expected.card is not None:
        return [
            *_card(workspace, entries, expected.card, str(expected.pair.card)),
            *_page(workspace, expected.pair.page),
        ]
    actual = run_digest(entries)
    if actual != expected.run:
        return [Difference("the run's hash", expected.run, actual)]
    return _page(workspace, expected.pair.page)


def check_pair(
    workspace: Workspace, headers: dict[Place, TableHeader], pair: ExpectedCard
) -> list[Difference] | None:
    """Where a card that lies here, or its page, is not this run's; none if of another run.

    A page stands for the run that its card names, or that it names itself where it lies alone.
    """
    entries = table_entries(headers)
    try:
        if pair.card:
            card = read_card(pair.card)
            if run_digest(entries) != card.run == run_digest(card.tables):
                return None
            return [
                *_card(workspace, entries, card, _name(workspace, pair.card)),
                *_page(workspace, pair.page),
            ]
        named = _RUN.search(_text(pair.page)) if pair.page else None
    except FlavourbenchError as problem:
        return [Difference(problem.where, problem.expected, problem.found)]
    if named and named[1] != run_digest(entries):
        return None
    return _page(workspace, pair.page)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def _pair(card: Path) -> ExpectedCard:
    page = card.with_suffix(_PAGE)
    found = [path if path.exists() or path.is_symlink() else None for path in (card, page)]
    return ExpectedCard(*found)


def _name(workspace: Workspace, path: Path) -> str:
    return path.relative_to(workspace.root).as_posix()


def _card(
    workspace: Workspace, entries: tuple[TableEntry, ...], card: Card, name: str
) -> list[Difference]:
    """Tables first; what else a card says is of them, so it is compared where they are equal."""
    own, actual = run_digest(card.tables), run_digest(entries)
    found = list(_tables(card.tables, entries))
    if own != card.run:
        found.insert(0, Difference(f"{name}, run", own, card.run))
    elif own != actual:
        found.insert(0, Difference("the run's hash", card.run, actual))
    if own == actual:
        try:
            made = make_card(workspace)
        except FlavourbenchError as problem:
            return [*found, Difference(problem.where, problem.expected, problem.found)]
        derived, stated = (one.model_dump(mode="json") for one in (made, card))
        for document in (derived, stated):
            del document["run"], document["tables"]
            document["versions"] = dict.fromkeys(document["versions"])
        found += _fields(derived, stated, f"{name}, ")
    return shortened(name, found)


def _tables(
    stated: tuple[TableEntry, ...], entries: tuple[TableEntry, ...]
) -> Iterator[Difference]:
    ours = {entry.path: entry for entry in entries}
    for entry in stated:
        where = f"artifacts/{entry.path}.parquet"
        stored = ours.pop(entry.path, None)
        if stored is None:
            yield Difference(where, f"root {entry.root} of {entry.rows} rows", "no such table")
        else:
            yield from _fields(entry.model_dump(), stored.model_dump(), f"{where}, ")
    for path, entry in ours.items():
        found = f"root {entry.root} of {entry.rows} rows"
        yield Difference(f"artifacts/{path}.parquet", "no such table", found)


def _fields(expected: Any, found: Any, where: str) -> Iterator[Difference]:
    """The leaves in which two JSON documents differ, each by its path."""
    if isinstance(expected, dict) and isinstance(found, dict):
        stem = where if where.endswith(", ") else f"{where}."
        for key in sorted(expected.keys() | found.keys()):
            one, other = (document.get(key, _NOTHING) for document in (expected, found))
            yield from _fields(one, other, f"{stem}{key}")
    elif isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        if len(expected) != len(found):
            yield Difference(where, f"{len(expected)} entries", f"{len(found)} entries")
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from _fields(one, other, f"{where}[{number}]")
    elif type(expected) is not type(found) or expected != found:
        yield Difference(where, str(expected), str(found))


def _page(workspace: Workspace, page: Path | None) -> list[Difference]:
    """Where a card's page is not the one that the tables give; its versions are its own."""
    if page is None:
        return []
    name = str(page)
    try:
        text = _text(page)
        derived = card_markdown(make_card(workspace))
    except FlavourbenchError as problem:
        return [Difference(problem.where, problem.expected, problem.found)]
    ours, theirs = _VERSIONS.search(derived), _VERSIONS.search(text)
    if ours and theirs and _names(ours[0]) == _names(theirs[0]):
        derived = derived.replace(ours[0], theirs[0])
    return compare_lines(name, derived.encode("utf-8"), text.encode("utf-8"))


def _names(line: str) -> list[str]:
    """Packages of a line of versions; the line itself where it says anything else."""
    parts = [re.fullmatch(r"(\w+) [0-9][0-9A-Za-z.+\\!_-]{0,60}", part) for part in
             line.removeprefix("- ").split(", ")]  # fmt: skip
    return [part[1] if part else line for part in parts]


def _text(page: Path) -> str:
    data = read_bytes(page, _PAGE_LIMIT, TableError)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise TableError("text in UTF-8", problem.reason, str(page), "Seal again.") from problem
