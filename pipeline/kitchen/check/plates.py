"""Checks of what declared macros say of a plate."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.kitchen.check.results import Evidence, Tally
from pipeline.kitchen.family import quantity

if TYPE_CHECKING:
    from pipeline.kitchen.check.results import Result
    from pipeline.kitchen.check.sheets import MenuSheet, RecipeSheet
    from schemas.meals import Macros

__all__ = [
    "PORTION_KCAL_C",
    "atwater_consistency",
    "calorie_cap",
    "calorie_plausibility",
    "protein_floor",
    "sugar_budget",
]

PORTION_KCAL_C = (35_000, 90_000)
"""What a plausible dinner has for an adult, in hundredths of a kcal."""

_ROUNDING_KCAL_C = 500
_TOLERANCE_PERCENT = 15
_KJ_PER_KCAL = (390, 450)
"""Hundredths; a kilocalorie is 4.184 kJ."""


class _Energy(NamedTuple):
    """Energy that macros imply: as 4-4-9-7 counts it, and with fibre counted at 2."""

    plain_c: int
    with_fibre_c: int


def _implied(macros: Macros) -> _Energy:
    plain = 4 * macros.protein_c + 4 * macros.carbs_c + 9 * macros.fat_c + 7 * macros.alcohol_c
    fibre = 2 * macros.fiber_c
    return _Energy(plain, plain - fibre if macros.carb_basis == "total" else plain + fibre)


def _fits(kcal_c: int, energy_c: int) -> bool:
    off = abs(kcal_c - energy_c)
    close = 100 * off <= _TOLERANCE_PERCENT * energy_c or off <= _ROUNDING_KCAL_C
    return energy_c > 0 and close


def _energy_fault(macros: Macros, path: str) -> Evidence | None:
    """Why neither reading of the energy fits the macros; none where one does."""
    plain, with_fibre = energy = _implied(macros)
    if any(_fits(macros.kcal_c, reading) for reading in energy):
        return None
    code = "energy"
    if max(energy) <= 0:
        code = "no_energy"
    elif plain > 0 and _KJ_PER_KCAL[0] * plain <= 100 * macros.kcal_c <= _KJ_PER_KCAL[1] * plain:
        code = "kj_for_kcal"
    want = f"{quantity(plain)} kcal, or {quantity(with_fibre)} with fibre counted, within 15 %"
    return Evidence(f"{path}.kcal", code, f"{quantity(macros.kcal_c)} kcal", want)


def atwater_consistency(sheet: MenuSheet | RecipeSheet) -> Result:
    """Declared energy fits the declared macros, with or without fibre counted."""
    tally = Tally()
    for path, macros in sheet.plates:
        fault = _energy_fault(macros, path)
        if fault:
            tally.fails(*fault)
            continue
        tally.counts()
        plain, with_fibre = _implied(macros)
        if not _fits(macros.kcal_c, plain):
            got, want = f"{quantity(macros.kcal_c)} kcal", f"{quantity(plain)} kcal"
            note = f"{want} as 4-4-9; it counts by {quantity(with_fibre)} kcal with fibre counted"
            tally.notes(f"{path}.kcal", "by_fibre", got, note)
    return tally.result()


def _portion(tally: Tally, path: str, macros: Macros, high_c: int) -> None:
    """One item: the energy lies between the least of a dinner and a limit."""
    low_c = PORTION_KCAL_C[0]
    if low_c <= macros.kcal_c <= high_c:
        tally.counts()
        return
    code = "portion_small" if macros.kcal_c < low_c else "portion_large"
    want = f"{quantity(low_c)} to {quantity(high_c)} kcal"
    tally.fails(f"{path}.kcal", code, f"{quantity(macros.kcal_c)} kcal", want)


def calorie_plausibility(sheet: MenuSheet | RecipeSheet) -> Result:
    """A portion is a dinner, neither a bite nor a feast."""
    tally = Tally()
    for path, macros in sheet.plates:
        _portion(tally, path, macros, PORTION_KCAL_C[1])
    return tally.result()


def calorie_cap(sheet: MenuSheet) -> Result:
    """A portion keeps the case's limit, and is a dinner all the same."""
    tally = Tally()
    limit_c = sheet.asked.kcal_limit_c or 0
    for path, macros in sheet.plates:
        _portion(tally, path, macros, limit_c)
    return tally.result()


def sugar_budget(sheet: MenuSheet) -> Result:
    """A portion keeps the case's limit of sugars, and is a dinner all the same."""
    tally = Tally()
    limit_c, least_c = sheet.asked.sugar_limit_c or 0, PORTION_KCAL_C[0]
    for path, macros in sheet.plates:
        if macros.sugars_c > limit_c:
            got, want = f"{quantity(macros.sugars_c)} g", f"at most {quantity(limit_c)} g"
            tally.fails(f"{path}.sugars_g", "sugar", got, want)
        elif macros.kcal_c < least_c:
            got, want = f"{quantity(macros.kcal_c)} kcal", f"at least {quantity(least_c)} kcal"
            tally.fails(f"{path}.kcal", "portion_small", got, want)
        else:
            tally.counts()
    return tally.result()


def protein_floor(sheet: MenuSheet | RecipeSheet) -> Result:
    """The guest's plate has the protein that the case asks for, and macros that fit together."""
    tally = Tally()
    floor_c = sheet.asked.protein_floor_c or 0
    want = f"at least {quantity(floor_c)} g"
    for path, macros in sheet.guest_plates:
        if macros is None:
            tally.fails(path, "absent", "nothing", "the macros of the guest's plate")
            continue
        fault = _energy_fault(macros, path)
        if macros.protein_c < floor_c:
            tally.fails(f"{path}.protein_g", "protein", f"{quantity(macros.protein_c)} g", want)
        elif fault:
            tally.fails(*fault)
        else:
            tally.counts()
    return tally.result()
