"""The lexicon: what words carry, clear or leave to the label, and how they change each other.

Two tables of ours lie beside this module. `lexicon.csv` says what a term is: flags, kind, verdict,
mode, language, terms. `modifiers.csv` says what a word does to others. A term may hold `{class}`,
a list of words from `classes.csv`. A term as written beats one made of a class, and both beat a
form that only inflection makes; within one rank the graver verdict holds.
"""

from __future__ import annotations

import itertools
import re
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.errors import ReleaseError
from pipeline.identity import digest
from pipeline.kitchen.scan.inflection import inflections
from pipeline.tags import read_csv
from schemas.folding import tokens
from schemas.kitchen import FLAGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["END", "FOLDER", "MODIFIER", "Inside", "Lexicon", "Row", "Verdict", "read_lexicon"]

FOLDER = Path(__file__).parent
"""Where the tables lie."""

END: Any = None
"""Key of a node's own rows in the tree of terms."""

MODIFIER = len(FLAGS)
"""Place of modifiers beside the flags."""

_MODES = ("word", "exact", "last", "prefix", "suffix", "compound")
_INSIDE = ("prefix", "suffix", "compound")
_CLASS = re.compile(r"\{([a-z_]+)\}")


class Verdict(IntEnum):
    """What a row says of its term; the graver one is the greater."""

    CLEAR = 0
    IF_RAW = 1
    NEEDS_LABEL = 2
    CARRIER = 3


_VERDICTS = {verdict.name.lower(): verdict for verdict in Verdict}


class Row(NamedTuple):
    """One term for one flag, or one modifier.

    Attributes
    ----------
    flag
        Place in `FLAGS`; `MODIFIER` for a modifier.
    kind
        What of the flag it is (wheat, onion …), so that `onion-free` clears no lentil.
    verdict
        What the term says alone.
    mode
        `word` bends, `exact` does not, `last` only ends its phrase; the others lie inside a word.
    rule
        How the term came about: `word`, `phrase`, `form`, `compound` …
    term
        The term as the lexicon has it.
    role, clears
        Of a modifier: what it does, and to which flags and kinds (`*` is every kind).
    """

    flag: int
    kind: str
    verdict: Verdict
    mode: str
    rule: str
    term: str
    role: str = ""
    clears: tuple[tuple[int, str], ...] = ()


class Inside(NamedTuple):
    """One flag's terms inside words: their rows, and what finds them, the longest first."""

    rows: dict[str, Row]
    pattern: re.Pattern[str]


class Lexicon(NamedTuple):
    """The tables, ready for use.

    Attributes
    ----------
    tree
        Token to node; a node maps the next token, and `END` its own rows.
    inside
        Terms inside words, flag by flag.
    adjectives
        Words that may stand between a state and what it is a state of.
    digest
        Of the tables as they stand (hex).
    """

    tree: dict[Any, Any]
    inside: tuple[Inside, ...]
    adjectives: frozenset[str]
    digest: str


@cache
def read_lexicon(folder: Path = FOLDER) -> Lexicon:
    """The lexicon of a folder.

    Raises
    ------
    ReleaseError
        A table is missing or unsafe, a row holds an unknown word, a term is empty, or two rows
        contradict each other; names file and row.
    """
    classes = _read_classes(folder)
    ranked: dict[tuple[tuple[str, ...], int], tuple[int, Row]] = {}
    inside: list[dict[str, Row]] = [{} for _ in FLAGS]
    identity: list[Any] = [[name, list(members)] for name, members in sorted(classes.items())]
    for where, row, term, language in itertools.chain(_words(folder), _modifiers(folder)):
        identity.append(
            [
                row.flag,
                row.kind,
                row.verdict.name,
                row.mode,
                row.role,
                [list(pair) for pair in row.clears],
                term,
                language,
            ]
        )
        made = _CLASS.search(term) is not None
        named = row._replace(rule=_rule(row))
        bent = row._replace(rule="form")
        for words in _expand(term, classes, where):
            if made:
                named = named._replace(term=" ".join(words))
                bent = named._replace(rule="form")
            if row.mode in _INSIDE:
                _graver(inside[row.flag], "".join(words), named)
                continue
            _place(ranked, words, named, 1 + made, where)
            if row.mode == "word":
                for form in inflections(words, language):
                    _place(ranked, form, bent, 3 + made, where)
    return Lexicon(
        _tree(ranked),
        tuple(Inside(rows, _longest_first(rows)) for rows in inside),
        frozenset(classes["adjective"]),
        digest("kitchen-lexicon", identity),
    )


def _rule(row: Row) -> str:
    if row.mode in _INSIDE:
        return "compound"
    if row.mode == "last":
        return "last word"
    if row.verdict is Verdict.CLEAR:
        return "exception"
    return "phrase" if " " in row.term else "word"


def _place(
    ranked: dict[tuple[tuple[str, ...], int], tuple[int, Row]],
    words: tuple[str, ...],
    row: Row,
    rank: int,
    where: str,
) -> None:
    """Enter a row unless a better rank, or a graver row of the same rank, is there."""
    key = (words, row.flag)
    found = ranked.get(key)
    if found is None or rank < found[0]:
        ranked[key] = (rank, row)
    elif rank == found[0] and (row.verdict, row.role) != (found[1].verdict, found[1].role):
        if rank == 1:
            raise ReleaseError(
                "one verdict for a term and flag", " ".join(words), where, "Mend the lexicon."
            )
        if row.verdict > found[1].verdict:
            ranked[key] = (rank, row)


def _graver(rows: dict[str, Row], part: str, row: Row) -> None:
    found = rows.get(part)
    if found is None or row.verdict > found.verdict:
        rows[part] = row


def _longest_first(parts: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(parts, key=lambda part: (-len(part), part))
    return re.compile("|".join(map(re.escape, ordered)) or r"(?!)")


def _tree(ranked: dict[tuple[tuple[str, ...], int], tuple[int, Row]]) -> dict[Any, Any]:
    tree: dict[Any, Any] = {}
    for (words, _), (_, row) in ranked.items():
        node = tree
        for word in words:
            node = node.setdefault(word, {})
        node[END] = (*node.get(END, ()), row)
    return tree


def _read_classes(folder: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for where, row in read_csv(folder / "classes.csv", ("class", "words")):
        members = tuple(" ".join(tokens(word)) for word in row["words"].split("|"))
        if "" in members or row["class"] in found:
            raise _refuse("a class once, of words", row["class"], where)
        found[row["class"]] = members
    return found


def _expand(
    term: str, classes: dict[str, tuple[str, ...]], where: str
) -> Iterator[tuple[str, ...]]:
    """Folded tokens of a term, once for every choice from its classes."""
    parts = _CLASS.split(term)
    unknown = next((name for name in parts[1::2] if name not in classes), None)
    if unknown:
        raise _refuse("a class of classes.csv", unknown, where)
    for chosen in itertools.product(*(classes[name] for name in parts[1::2])):
        text = "".join(itertools.chain(*itertools.zip_longest(parts[::2], chosen, fillvalue="")))
        words = tuple(tokens(text))
        if not words:
            raise _refuse("a term", repr(term), where)
        yield words


def _words(folder: Path) -> Iterator[tuple[str, Row, str, str]]:
    """Rows of lexicon.csv by term and flag, with their place, the term and its language."""
    columns = ("flags", "kind", "verdict", "mode", "language", "terms")
    for where, row in read_csv(folder / "lexicon.csv", columns):
        flags = FLAGS if row["flags"] == "*" else row["flags"].split()
        if not flags or not set(flags) <= set(FLAGS):
            raise _refuse(f"some of {', '.join(FLAGS)}", row["flags"], where)
        if row["verdict"] not in _VERDICTS or row["mode"] not in _MODES:
            raise _refuse("a verdict and a mode", f"{row['verdict']} {row['mode']}", where)
        for term in row["terms"].split("|"):
            for flag in flags:
                yield (
                    where,
                    Row(
                        FLAGS.index(flag),
                        row["kind"],
                        _VERDICTS[row["verdict"]],
                        row["mode"],
                        "",
                        " ".join(term.split()),
                    ),
                    term,
                    row["language"],
                )


def _modifiers(folder: Path) -> Iterator[tuple[str, Row, str, str]]:
    columns = ("role", "clears", "language", "terms")
    for where, row in read_csv(folder / "modifiers.csv", columns):
        clears = tuple(_cleared(pair, where) for pair in row["clears"].split())
        mode = "exact" if row["language"] == "-" else "word"
        for term in row["terms"].split("|"):
            made = Row(MODIFIER, "", Verdict.CLEAR, mode, "", term, row["role"], clears)
            yield where, made, term, row["language"]


def _cleared(pair: str, where: str) -> tuple[int, str]:
    flag, _, kind = pair.partition(":")
    if flag not in FLAGS:
        raise _refuse("flag:kind", pair, where)
    return FLAGS.index(flag), kind or "*"


def _refuse(expected: str, found: str, where: str) -> ReleaseError:
    return ReleaseError(expected, found, where, "Mend the lexicon.")
