"""The design document: what shapes tasks, in one value without floats (docs/tasks.md).

Its digest is part of a task set's identity. It is read off the constants that the code runs on, and
off the parameters; it holds no second copy of either.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from pipeline.freeze.eligible import NAME_PATTERN
from pipeline.freeze.families import COMPLEMENTS, RULES, ConstraintRule, Rule
from pipeline.freeze.maps import MINIMUM_FEASIBLE, MINIMUM_RANGE_PPB, ROUNDING
from pipeline.freeze.prompts import MARKER, TEMPLATES
from pipeline.freeze.selection import HASHED, STRATA
from pipeline.identity import digest
from schemas.release import CORE_CATEGORIES, CUISINES
from schemas.taskset import BEST_BPS, PORTFOLIOS, Family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.parameters import FreezeParameters
    from schemas.record import IdentityValue

__all__ = ["REVISION", "design_document"]

REVISION = 1
"""Rises when the meaning of a rule changes that no constant shows."""


def design_document(parameters: FreezeParameters) -> dict[str, IdentityValue]:
    """Everything that shapes the tasks of these parameters.

    Parameters
    ----------
    parameters
        How tasks come to be.

    Returns
    -------
    A value for ``pipeline.identity.digest("design", …)``. `families` and `panels` are lists, for
    both are compiled in order.
    """
    families = [family for family in Family if family in parameters.families]
    return {
        "revision": REVISION,
        "source": parameters.source,
        "eligible": {
            "categories": _listed(CORE_CATEGORIES),
            "name_pattern": NAME_PATTERN,
            "excluded": _listed(sorted(set(parameters.excluded_anchors))),
        },
        "cuisines": _listed(CUISINES),
        "complements": {category: _listed(goes) for category, goes in COMPLEMENTS.items()},
        "arithmetic": {
            "cosines": "float64 of normalised vectors, exact sums",
            "ties": "by name",
            "rounding": ROUNDING,
        },
        "map": {
            "portfolios": _listed(PORTFOLIOS),
            "best_bps": BEST_BPS,
            "minimum_feasible": MINIMUM_FEASIBLE,
            "minimum_range_ppb": MINIMUM_RANGE_PPB,
        },
        "families": [_family(family) for family in families],
        "panels": [
            {
                "name": name,
                "seed": panel.seed,
                "prefix": panel.prefix,
                "drop_unscoreable": panel.drop_unscoreable,
            }
            for name, panel in parameters.panels.items()
        ],
        "selection": _selection(parameters),
        "marker": MARKER,
    }


def _listed(words: Sequence[str]) -> list[IdentityValue]:
    return [*words]


def _selection(parameters: FreezeParameters) -> dict[str, IdentityValue]:
    return {
        "strata": STRATA,
        "quota": parameters.quota,
        "category_cap": parameters.category_cap,
        "minimum_categories": parameters.minimum_categories,
        "hash": "sha256 of NUL-joined fields",
        "hashed": {order: _listed(fields) for order, fields in HASHED.items()},
        "anchors": "once a panel; new to earlier panels first",
    }


def _family(family: Family) -> dict[str, IdentityValue]:
    return {
        "family": family.value,
        "rule": _rule(RULES[family]),
        "template_digest": digest("prompt-template", TEMPLATES[family]),
    }


def _rule(rule: Rule) -> dict[str, IdentityValue]:
    """A rule's fields by name; nested tuples as objects."""
    fields: dict[str, IdentityValue] = {"form": rule.form}
    for field in dataclasses.fields(rule):
        if field.name not in {"weights", "variants"}:
            fields[field.name] = getattr(rule, field.name)
    fields["weights"] = dict(rule.weights._asdict())
    if isinstance(rule, ConstraintRule):
        fields["variants"] = [
            {**variant._asdict(), "name": variant.name} for variant in rule.variants
        ]
    return fields
