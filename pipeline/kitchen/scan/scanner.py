"""What a text says for each flag: carrier, clear, or a question for the label.

A scan looks for names; that it finds none proves nothing about a dish.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from pipeline.kitchen.scan.finder import cut, find
from pipeline.kitchen.scan.lexicon import Verdict
from pipeline.kitchen.scan.modifiers import Judged, judge
from schemas.folding import fold
from schemas.kitchen import FLAGS, Flag

__all__ = ["NONE_FOUND", "Answer", "Scan", "Span", "scan", "scan_all", "to_document"]

NONE_FOUND = "none found"
"""What is said where no term decides."""

_REMEMBERED = 2**14


class Answer(StrEnum):
    """What a scan says of a text and a flag."""

    FLAG = "flag"
    CLEAR = "clear"
    NEEDS_LABEL = "needs_label"


_ANSWERS = {Verdict.CARRIER: Answer.FLAG, Verdict.NEEDS_LABEL: Answer.NEEDS_LABEL}


class Span(NamedTuple):
    """A term in a text.

    Attributes
    ----------
    start, end
        Tokens from `start` up to `end`, counted from 0.
    term
        The lexicon's term.
    verdict, rule
        What it says here, and which kind of rule decided.
    """

    start: int
    end: int
    term: str
    verdict: Answer
    rule: str


class Scan(NamedTuple):
    """A text scanned for one flag: the verdict, the rule that decided, and every term found."""

    verdict: Answer
    rule: str
    spans: tuple[Span, ...]

    @property
    def value(self) -> str:
        """The verdict's name."""
        return self.verdict.value


def scan(text: str, flag: Flag) -> Scan:
    """Scan a text for one flag."""
    return scan_all(text)[FLAGS.index(flag)]


@lru_cache(_REMEMBERED)
def scan_all(text: str) -> tuple[Scan, ...]:
    """Scan a text for all flags, in the order of `FLAGS`, in one pass."""
    pieces = cut(text)
    found = find(pieces)
    if not found.hits:
        return _NOTHING
    by_flag: list[list[Judged]] = [[] for _ in FLAGS]
    for judged in judge(pieces, found):
        by_flag[judged.hit.row.flag].append(judged)
    return tuple(_summed(part) for part in by_flag)


def _summed(judged: list[Judged]) -> Scan:
    """The gravest verdict decides; the first term that gives it names the rule."""
    if not judged:
        return _NONE
    deciding = max(judged, key=lambda item: item.verdict)
    verdict = _ANSWERS.get(deciding.verdict, Answer.CLEAR)
    spans = tuple(
        Span(item.hit.start, item.hit.end, item.hit.row.term,
             _ANSWERS.get(item.verdict, Answer.CLEAR), item.rule)
        for item in judged
        if item.hit.row.verdict is not Verdict.IF_RAW or item.verdict is Verdict.CARRIER
    )  # fmt: skip
    return Scan(verdict, deciding.rule, spans) if spans else _NONE


_NONE = Scan(Answer.CLEAR, NONE_FOUND, ())
_NOTHING = (_NONE,) * len(FLAGS)


def to_document(text: str) -> dict[str, Any]:
    """A text, its verdict and deciding rule for each flag, and every term found.

    Spans are places in the text as it was given (code points, the end not included).
    """
    places = _places(text)
    scans = dict(zip(FLAGS, scan_all(text), strict=True))
    spans = [
        {
            "flag": flag,
            "start": places[span.start][0],
            "end": places[span.end - 1][1],
            "text": text[places[span.start][0] : places[span.end - 1][1]],
            "term": span.term,
            "verdict": span.verdict.value,
            "rule": span.rule,
        }
        for flag, found in scans.items()
        for span in found.spans
    ]
    verdicts: dict[str, str] = {flag: found.verdict.value for flag, found in scans.items()}
    rules = {flag: found.rule for flag, found in scans.items()}
    return {"text": text} | verdicts | {"rules": rules, "spans": spans}


def _places(text: str) -> list[tuple[int, int]]:
    """Where each token starts and ends in the text as given (code points)."""
    places: list[tuple[int, int]] = []
    within = False
    for place, character in enumerate(text):
        for folded in fold(character):
            if not folded.isalnum():
                within = False
            elif within:
                places[-1] = (places[-1][0], place + 1)
            else:
                places.append((place, place + 1))
                within = True
        # a mark or an invisible character folds to nothing and belongs to the letter before it
        if within and not fold(character):
            places[-1] = (places[-1][0], place + 1)
    return places
