"""Which rows become a panel's tasks: strata, hash orders, quotas, caps, ids, labels.

See docs/tasks.md.

Hash orders are lower-case hex SHA-256 over the UTF-8 of fields joined by NUL, the first of them the
panel's seed. `HASHED` names the fields.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.errors import InputError
from pipeline.freeze.eligible import Step, told
from pipeline.freeze.maps import MINIMUM_FEASIBLE, MINIMUM_RANGE_PPB
from schemas.release import CORE_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pipeline.freeze.candidates import Candidates
    from pipeline.freeze.eligible import Eligible
    from pipeline.freeze.maps import ScoreMaps
    from schemas.parameters import FreezeParameters, PanelParameters
    from schemas.taskset import Family

__all__ = ["HASHED", "STRATA", "Chosen", "FamilyTable", "label_order", "select_panel", "stratify"]

STRATA = 4
"""Strata of a family, the first the most difficult."""

HASHED = {
    "select": ("seed", "select", "family", "stratum", "anchor"),
    "task": ("seed", "task", "family", "anchor"),
    "choice": ("seed", "choice", "task_id", "name"),
}
"""Fields of the three hash orders; a field called like its order is that very word."""


@dataclass(frozen=True, slots=True)
class FamilyTable:
    """A family's rows and their maps."""

    family: Family
    candidates: Candidates
    maps: ScoreMaps


class Chosen(NamedTuple):
    """A row that became a task.

    Attributes
    ----------
    family
        Its family.
    row
        Its place in the family's table.
    anchor
        Name of its anchor.
    stratum
        1 to 4.
    task_id
        The panel's prefix, the family and a number.
    """

    family: Family
    row: int
    anchor: str
    stratum: int
    task_id: str


class _Panel(NamedTuple):
    """What one panel's selection goes by."""

    name: str
    rules: PanelParameters
    freeze: FreezeParameters
    known: Collection[str]
    eligible: Eligible


_SCOREABLE = "with a map that can be scored"
_UNUSED = "whose anchor no other task of the panel has"
_UNCAPPED = "below freeze.category_cap"


class _Taken(NamedTuple):
    row: int
    anchor: str
    stratum: int


def select_panel(
    name: str,
    tables: Sequence[FamilyTable],
    eligible: Eligible,
    freeze: FreezeParameters,
    known: Collection[str],
) -> tuple[Chosen, ...]:
    """Choose a panel's tasks.

    Parameters
    ----------
    name
        Name of the panel, a key of ``freeze.panels``.
    tables
        One table a family, in the order of compiling.
    eligible
        What the tables' positions mean.
    freeze
        Quotas, caps and the panel's own parameters.
    known
        Anchors that earlier panels use; they come after all others.

    Returns
    -------
    Tasks in the order of families and ids.

    Raises
    ------
    InputError
        A quota cannot be met, a family shows too few categories, or a panel that keeps
        unscoreable rows takes one.
    """
    panel = _Panel(name, freeze.panels[name], freeze, known, eligible)
    used: set[str] = set()
    chosen: list[Chosen] = []
    for table in tables:
        taken = _take_family(panel, table, used)
        seed = panel.rules.seed
        taken.sort(key=lambda one: (one.stratum, _hash(seed, "task", table.family, one.anchor)))
        chosen.extend(
            Chosen(table.family, row, anchor, stratum, _task_id(panel, table.family, number))
            for number, (row, anchor, stratum) in enumerate(taken, start=1)
        )
    return tuple(chosen)


def stratify(count: int) -> tuple[int, ...]:
    """Stratum of each of `count` rows, hardest first: min(4, i * 4 // count + 1)."""
    return tuple(min(STRATA, i * STRATA // count + 1) for i in range(count))


def label_order(seed: str, task_id: str, names: Sequence[str]) -> tuple[int, ...]:
    """Positions of the eight names in the order of the labels A to H."""
    return tuple(sorted(range(len(names)), key=lambda i: _hash(seed, "choice", task_id, names[i])))


def _task_id(panel: _Panel, family: Family, number: int) -> str:
    return f"{panel.rules.prefix}{family}-{number:03d}"


def _take_family(panel: _Panel, table: FamilyTable, used: set[str]) -> list[_Taken]:
    """Take every stratum's quota; `used` grows by the anchors taken."""
    names, categories = panel.eligible.names, panel.eligible.categories
    shown: Counter[int] = Counter()
    taken: list[_Taken] = []
    strata = _strata(table, names, drop_unscoreable=panel.rules.drop_unscoreable)
    for stratum in range(1, STRATA + 1):
        order = _hash_order(panel, table.family, stratum, strata.get(stratum, []))
        found, known = 0, 0
        for row, anchor in order:
            if found == panel.freeze.quota:
                break
            category = int(categories[table.candidates.anchors[row]])
            if anchor in used:
                known += 1
                continue
            if shown[category] >= panel.freeze.category_cap:
                continue
            if not table.maps.scoreable[row]:
                raise _unscoreable(panel, table.family, stratum, anchor)
            used.add(anchor)
            shown[category] += 1
            taken.append(_Taken(row, anchor, stratum))
            found += 1
        if found < panel.freeze.quota:
            here = (
                Step(f"in stratum {stratum}", len(order)),
                Step(_UNUSED, len(order) - known),
                Step(_UNCAPPED, found),
            )
            raise _short(panel, table, stratum, (*_steps(panel, table), *here))
    if len(shown) < panel.freeze.minimum_categories:
        raise _narrow(panel, table.family, shown)
    return taken


def _strata(
    table: FamilyTable, names: Sequence[str], *, drop_unscoreable: bool
) -> Mapping[int, list[tuple[int, str]]]:
    """Rows and anchors by stratum, hardest first, then by anchor."""
    rows = table.candidates
    order = np.lexsort((rows.anchors, -rows.difficulties))
    if drop_unscoreable:
        order = order[table.maps.scoreable[order]]
    strata: dict[int, list[tuple[int, str]]] = {}
    for row, stratum in zip(order.tolist(), stratify(len(order)), strict=True):
        strata.setdefault(stratum, []).append((row, names[rows.anchors[row]]))
    return strata


def _hash_order(
    panel: _Panel, family: Family, stratum: int, rows: Sequence[tuple[int, str]]
) -> list[tuple[int, str]]:
    """Anchors unknown to earlier panels first, then by hash; variants keep their order."""
    seed = panel.rules.seed
    return sorted(
        rows,
        key=lambda one: (one[1] in panel.known, _hash(seed, "select", family, stratum, one[1])),
    )


def _hash(*fields: object) -> str:
    return hashlib.sha256("\0".join(map(str, fields)).encode()).hexdigest()


def _where(panel: _Panel, family: Family) -> str:
    return f"panel {panel.name}, family {family}"


def _steps(panel: _Panel, table: FamilyTable) -> tuple[Step, ...]:
    """How many rows each rule left before the strata."""
    if not panel.rules.drop_unscoreable:
        return table.candidates.steps
    return (*table.candidates.steps, Step(_SCOREABLE, int(table.maps.scoreable.sum())))


def _short(panel: _Panel, table: FamilyTable, stratum: int, steps: tuple[Step, ...]) -> InputError:
    """The refusal of a stratum that is too small: names the first rule that left nothing.

    Where every rule left something, it is the first that left fewer than all strata need.
    """
    quota = panel.freeze.quota
    needed = dict.fromkeys(_steps(panel, table), quota * STRATA)
    empty = [step for step in steps if not step.left]
    short = (empty or [step for step in steps if step.left < needed.get(step, quota)])[0]
    left = f"only {short.left:,} are left" if short.left else "none is left"
    if short.rule == _UNUSED:
        advice = "Lower freeze.quota, or take a larger release: an anchor stands once in a panel."
    elif short.rule == _UNCAPPED:
        advice = "Raise freeze.category_cap, or lower freeze.quota."
    elif short.left < STRATA:
        advice = (
            "No quota is low enough: take a release with more such ingredients, or leave "
            f"{table.family} out of freeze.families and score.families."
        )
    else:
        lower = min(short.left // STRATA, quota - 1)
        advice = f"Lower freeze.quota to {lower} or less, or take a larger release."
    return InputError(
        f"a quota of {quota} anchors",
        f"{steps[-1].left}: {left} {short.rule}",
        f"{_where(panel, table.family)}, stratum {stratum}",
        f"{told(steps)} {advice}",
    )


def _narrow(panel: _Panel, family: Family, shown: Counter[int]) -> InputError:
    names = ", ".join(CORE_CATEGORIES[code] for code in sorted(shown))
    return InputError(
        f"anchors of at least {panel.freeze.minimum_categories} categories",
        f"{len(shown)} ({names})",
        _where(panel, family),
        "Lower freeze.minimum_categories or freeze.category_cap.",
    )


def _unscoreable(panel: _Panel, family: Family, stratum: int, anchor: str) -> InputError:
    return InputError(
        f"a map with {MINIMUM_FEASIBLE} feasible portfolios, a range of "
        f"{MINIMUM_RANGE_PPB} billionths and one optimum",
        f"none for anchor {anchor}",
        f"{_where(panel, family)}, stratum {stratum}",
        f"Set freeze.panels.{panel.name}.drop_unscoreable to true.",
    )
