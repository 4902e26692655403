"""Answers that somebody already has, graded line by line: what `kitchen check` does.

A pair names a summer and a winter answer of the same file; null is one that was not run.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from pipeline.errors import FlavourbenchError, InputError, wrong_field
from pipeline.files import parse_json, read_lines
from pipeline.kitchen.cases.build import named_case
from pipeline.kitchen.check.checks import SEASONAL, check_answer
from pipeline.kitchen.check.dishes import seasonal_contrast
from pipeline.kitchen.check.results import Status
from pipeline.kitchen.parse.answers import read_answer
from schemas.handed import HandedAnswer, ManyIngredients, Pad
from schemas.meals import Recipe, WeeklyMenu
from schemas.replies import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from pipeline.kitchen.cases.build import Case
    from pipeline.kitchen.check.checks import Tools
    from pipeline.kitchen.check.results import Result
    from pipeline.kitchen.parse.answers import Parsed

__all__ = ["Graded", "grade_file", "to_document"]

_LINE_LIMIT = 16 * 2**20
_REMEDY = "Mend the line."
_SEASONS = ("summer_week", "winter_week")
_VARIANT = re.compile(r"(?:-v(?:0[1-9]|[1-9][0-9]{1,5}))?")


class Graded(NamedTuple):
    """What is said of a line: how its text was read, none for a pair, and each check's result."""

    case_id: str
    name: str
    parsed: Parsed | None
    checks: dict[str, Result]


class _Line(NamedTuple):
    handed: HandedAnswer
    where: str


def grade_file(path: Path, tools: Tools, seed: str) -> list[Graded]:
    """Grade the answers of a file, in its order.

    Parameters
    ----------
    path
        JSON Lines.
    tools
        Food table and scanner.
    seed
        Seed of the cases' variants.

    Raises
    ------
    FlavourbenchError
        The file is unsafe, a line is no answer, names a case that is not there, or pairs what is
        not in the file or stands there with different texts; names the line.
    """
    cases = lru_cache(2**12)(lambda case_id: named_case(case_id, seed))
    lines = [_read_line(line, f"{path}, line {number}") for number, line in _numbered(path)]
    graded: list[Graded] = []
    members: dict[tuple[str, str], set[str]] = {}
    parsed: dict[tuple[str, str], Parsed | None] = {}
    for handed, where in lines:
        key = (handed.case_id, handed.name)
        if handed.pair is None:
            text = _text(handed, where)
            graded.append(_grade(handed, text, _case(cases, handed.case_id, where), tools))
            if handed.case_id.startswith(_SEASONS):
                members.setdefault(key, set()).add(text)
                parsed[key] = graded[-1].parsed
        else:
            graded.append(Graded(*key, None, {}))
    unclear = {key for key, texts in members.items() if len(texts) > 1}
    for place, (handed, where) in enumerate(lines):
        if handed.pair is not None:
            graded[place] = _grade_pair(handed, parsed, unclear, where)
    return graded


def _numbered(path: Path) -> list[tuple[int, bytes]]:
    lines = enumerate(read_lines(path, _LINE_LIMIT, InputError), start=1)
    return [(number, line) for number, line in lines if line.strip()]


def _read_line(line: bytes, where: str) -> _Line:
    try:
        return _Line(HandedAnswer.model_validate(parse_json(line, where, InputError)), where)
    except ValidationError as problem:
        wrong = wrong_field(problem, "line")
        expected = "a case_id, a name, and one of text, rule and pair"
        raise InputError(expected, wrong.expected, f"{where}, {wrong.name}", _REMEDY) from problem


def _case(cases: Any, case_id: str, where: str) -> Case:
    try:
        case: Case = cases(case_id)
    except FlavourbenchError as problem:
        place = f"{where}, case_id"
        raise InputError(problem.expected, problem.found, place, problem.remedy) from problem
    return case


def _grade(handed: HandedAnswer, text: str, case: Case, tools: Tools) -> Graded:
    model: type[WeeklyMenu | Recipe] = WeeklyMenu if case.parameters.format == "menu" else Recipe
    parsed = read_answer(text.encode(), model)
    checks = check_answer(case.parameters, parsed.answer, case.checks, tools)
    return Graded(handed.case_id, handed.name, parsed, checks)


def _text(handed: HandedAnswer, where: str) -> str:
    """The text of a line, written by its rule where it has one."""
    rule = handed.rule
    if rule is None:
        return handed.text or ""
    if isinstance(rule, Pad):
        return rule.text + rule.char * rule.count
    if isinstance(rule, ManyIngredients):
        place = f"{where}, rule.base"
        base = parse_json(rule.base.encode(), place, InputError)
        if not isinstance(base, dict):
            raise InputError("a JSON object", "something else", place, _REMEDY)
        many = [{"name": f"rice {i}", "grams": 1} for i in range(rule.count)]
        return json.dumps(base | {"ingredients": many}, ensure_ascii=False)
    return '{"a":' * rule.depth + "1" + "}" * rule.depth


def _grade_pair(
    handed: HandedAnswer,
    parsed: Mapping[tuple[str, str], Parsed | None],
    unclear: AbstractSet[tuple[str, str]],
    where: str,
) -> Graded:
    """The seasons' contrast of two answers of the file."""
    summer, _, winter = handed.case_id.partition("+")
    variant = winter.removeprefix(_SEASONS[1])
    known = _VARIANT.fullmatch(variant) and winter.startswith(_SEASONS[1])
    if summer != _SEASONS[0] or not known:
        expected = f"{'+'.join(_SEASONS)}, with or without a variant"
        raise InputError(expected, handed.case_id, f"{where}, case_id", _REMEDY)
    found: list[Parsed | None] = []
    for season, name in zip(_SEASONS, handed.pair or (), strict=True):
        key = (season + variant, name or "")
        if name is not None and (key not in parsed or key in unclear):
            expected = f"an answer to {season + variant} of this file, with one text"
            raise InputError(expected, name, f"{where}, pair", _REMEDY)
        found.append(parsed[key] if name is not None else None)
    menus = [
        member.answer if member and isinstance(member.answer, WeeklyMenu) else None
        for member in found
    ]
    failed = any(member is not None and member.answer is None for member in found)
    result = seasonal_contrast(menus[0], menus[1], failed=failed)
    return Graded(handed.case_id, handed.name, None, {SEASONAL: result})


def to_document(graded: Graded, *, evidence: bool = False) -> dict[str, Any]:
    """A graded line for machines; evidence only where it is wanted."""
    document: dict[str, Any] = {"case_id": graded.case_id, "name": graded.name}
    if graded.parsed:
        document["parse"] = _outcome(graded.parsed)
    document["checks"] = {
        name: _result(result, evidence=evidence) for name, result in graded.checks.items()
    }
    return document


def _outcome(parsed: Parsed) -> dict[str, Any]:
    if parsed.fault is None:
        return {"outcome": "parsed", "form": parsed.form}
    outcome: dict[str, Any] = {"outcome": "failed", "reason": parsed.fault}
    return outcome | ({"paths": [*parsed.paths]} if parsed.fault is Fault.SCHEMA else {})


def _result(result: Result, *, evidence: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "numerator": result.numerator,
        "denominator": result.denominator,
        "status": result.status,
    }
    if result.status is Status.ABSTAIN:
        document["reason"] = result.reason
    if evidence:
        document["evidence"] = [line._asdict() for line in result.evidence]
    return document
