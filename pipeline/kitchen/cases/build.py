"""Cases with their digests, one by one and as a set."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.identity import digest
from pipeline.kitchen.cases.brief import SYSTEM_PROMPT
from pipeline.kitchen.cases.prompts import case_prompt
from pipeline.kitchen.cases.templates import SUITES, TEMPLATES
from pipeline.kitchen.cases.variants import (
    DEFAULT_SEED,
    case_id_of,
    find_variant,
    powered_variants,
    variant_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.kitchen.cases.templates import Template
    from schemas.kitchen import Parameters
    from schemas.record import IdentityValue

__all__ = ["Case", "base_cases", "case_set_digest", "make_case", "named_case", "powered_cases"]


class Case(NamedTuple):
    """One case: what it manipulates, what it asks, and the checks that apply.

    Attributes
    ----------
    digest
        Covers the parameters and the words, the family brief among them.
    """

    case_id: str
    parameters: Parameters
    checks: tuple[str, ...]
    prompt: str
    params_digest: str
    digest: str


def make_case(template: Template, variant: int, seed: str = DEFAULT_SEED) -> Case:
    """A variant of a template; variant 0 is the template itself."""
    parameters = variant_parameters(template, variant, seed)
    prompt = case_prompt(parameters)
    params_digest = digest("kitchen-params", parameters.model_dump(mode="json"))
    covered: IdentityValue = {"params": params_digest, "system": SYSTEM_PROMPT, "prompt": prompt}
    return Case(
        case_id_of(template.name, variant),
        parameters,
        template.checks,
        prompt,
        params_digest,
        digest("kitchen-case", covered),
    )


def named_case(case_id: str, seed: str = DEFAULT_SEED) -> Case:
    """The case of a name. Raises `InputError` where there is none."""
    return make_case(*find_variant(case_id), seed)


def base_cases() -> tuple[Case, ...]:
    """The 23 templates as they are."""
    return tuple(make_case(template, 0) for template in TEMPLATES)


def powered_cases(seed: str = DEFAULT_SEED) -> tuple[Case, ...]:
    """Enough variants of every template for a paired test within each suite."""
    return tuple(
        make_case(template, variant, seed)
        for suite, templates in SUITES.items()
        for template in templates
        for variant in powered_variants(suite)
    )


def case_set_digest(cases: Sequence[Case]) -> str:
    """Digest (hex) of a set of cases in their order."""
    digests: list[IdentityValue] = [case.digest for case in cases]
    return digest("kitchen-caseset", digests)
