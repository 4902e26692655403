"""What the kitchen's commands show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.kitchen.cases.build import case_set_digest
from pipeline.kitchen.cases.templates import SUITES
from pipeline.kitchen.cases.variants import powered_variants
from pipeline.kitchen.check.results import Status
from pipeline.kitchen.grading import to_document
from pipeline.showing.view import Grid, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.kitchen.cases.build import Case
    from pipeline.kitchen.grading import Graded

__all__ = ["cases_view", "graded_view", "suites_view"]


def suites_view() -> View:
    """The suites, what each holds, and how many cases give a paired test enough to work with."""
    document = {
        suite: {
            "templates": [template.name for template in templates],
            "variants": len(powered_variants(suite)),
            "cases": len(templates) * len(powered_variants(suite)),
        }
        for suite, templates in SUITES.items()
    }
    rows = tuple(
        (
            suite,
            ", ".join(template.name for template in templates),
            str(len(powered_variants(suite))),
            str(len(templates) * len(powered_variants(suite))),
        )
        for suite, templates in SUITES.items()
    )
    grid = Grid("", ("suite", "templates", "variants of each", "cases"), rows, frozenset({2, 3}))
    return View("Suites of the kitchen", (grid,), (), document)


def cases_view(cases: Sequence[Case]) -> View:
    """Cases with their checks and digests."""
    rows = tuple(
        (
            case.case_id,
            case.parameters.suite,
            case.parameters.format,
            str(len(case.checks)),
            f"{case.digest[:16]}…",
        )
        for case in cases
    )
    grid = Grid("", ("case", "suite", "asks for", "checks", "digest"), rows, frozenset({3}))
    set_digest = case_set_digest(cases)
    document = {
        "case_set_digest": set_digest,
        "cases": [
            {
                "case_id": case.case_id,
                "suite": case.parameters.suite,
                "format": case.parameters.format,
                "checks": [*case.checks],
                "params_digest": case.params_digest,
                "digest": case.digest,
            }
            for case in cases
        ],
    }
    return View("Cases of the kitchen", (grid,), (f"Case set {set_digest}",), document)


def graded_view(graded: Sequence[Graded]) -> View:
    """Graded answers: how each was read, and the checks that say more than that all is well."""
    rows = tuple(
        (line.case_id, line.name, _read(line), told)
        for line in graded
        for told in _told(line) or ("all checks pass",)
    )
    grid = Grid("", ("case", "answer", "read as", "what the checks say"), rows, frozenset())
    document = {"answers": [to_document(line, evidence=True) for line in graded]}
    return View(f"Answers checked: {len(graded)}", (grid,), (), document)


def _read(line: Graded) -> str:
    if line.parsed is None:
        return "pair"
    if line.parsed.fault is None:
        return str(line.parsed.form)
    return ": ".join([line.parsed.fault, ", ".join(line.parsed.paths)]).removesuffix(": ")


def _told(line: Graded) -> list[str]:
    """Lines on checks that abstain or where something does not count."""
    told = []
    for name, result in line.checks.items():
        if result.status is Status.SCORED and result.numerator == result.denominator:
            continue
        score = f"{result.numerator}/{result.denominator}"
        if result.status is Status.ABSTAIN:
            score = f"abstains, {result.reason}"
        told.append(f"{name} {score}")
        told += [
            f"  {found.path}: {found.code}, {found.got} (wanted {found.want})"
            for found in result.evidence
        ]
    return told
