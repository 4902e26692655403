"""What a cook answers: a week's menu or a recipe, every field strict.

Quantities are kept as whole hundredths (`_c`): 12.5 g is 1250. They are read from the digits that
were written, never through binary floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from annotated_types import Ge, GroupedMetadata, Le, MaxLen
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from schemas.folding import tokens
from schemas.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DAYS",
    "Day",
    "Dinner",
    "Group",
    "Ingredient",
    "Macros",
    "Portions",
    "Prep",
    "Recipe",
    "ServedDinner",
    "Step",
    "Stored",
    "WeeklyMenu",
    "WrittenNumber",
]

Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
DAYS: tuple[Day, ...] = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Group = Literal[
    "vegetable", "fruit", "whole_grain", "refined_grain", "legume", "fish", "poultry", "red_meat",
    "egg", "dairy", "nuts_seeds", "potato",
]  # fmt: skip
"""Food groups of a dinner."""

_PLACES = 2
_MAX_DIGITS = 12
"""Far more digits than any bound of a quantity has."""
_SUGARS_OVER_CARBS = 50
"""Hundredths by which sugars may pass carbohydrates: published tables round each on its own."""
_DINNERS = 7


class WrittenNumber(NamedTuple):
    """A JSON number with a point or an exponent, as it was written: its exact value."""

    text: str


def _hundredths(value: Any) -> int:
    """A JSON number as whole hundredths.

    Raises
    ------
    ValueError
        It is no number, has more than two places, or is far out of every range.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value * 100
    if not isinstance(value, WrittenNumber):
        raise ValueError("a JSON number")  # noqa: TRY004  # pydantic takes it for a fault
    mantissa, _, exponent = value.text.lower().partition("e")
    whole, _, places = mantissa.lstrip("-").partition(".")
    written = (whole + places).lstrip("0")
    digits = written.rstrip("0")
    if not digits:
        return 0
    shift = exponent.lstrip("+-").lstrip("0") or "0"
    if len(shift) > _MAX_DIGITS:  # no text is long enough to bring such a number back
        raise ValueError("a number within its bounds")
    power = -int(shift) if exponent.startswith("-") else int(shift)
    power += len(written) - len(digits) - len(places) + _PLACES
    if power < 0 or len(digits) + power > _MAX_DIGITS:
        raise ValueError("a number within its bounds, with at most two decimal places")
    size = int(digits + "0" * power)
    return -size if mantissa.startswith("-") else size


def _spoken(text: str) -> str:
    """The text, where it says anything.

    Raises
    ------
    ValueError
        It holds U+0000, or no letter and no digit.
    """
    if "\0" in text or not tokens(text):
        raise ValueError("text with at least one letter or digit, and without U+0000")
    return text


@dataclass(frozen=True)
class _Text(GroupedMetadata):
    """Text of up to so many code points that says something."""

    limit: int

    def __iter__(self) -> Iterator[Any]:
        return iter((MaxLen(self.limit), AfterValidator(_spoken)))


@dataclass(frozen=True)
class _Whole(GroupedMetadata):
    """A JSON number without point and exponent, bounds included."""

    low: int
    high: int

    def __iter__(self) -> Iterator[Any]:
        return iter((Ge(self.low), Le(self.high)))


@dataclass(frozen=True)
class _Quantity(GroupedMetadata):
    """A JSON number of at most two places as hundredths, bounds included."""

    low_c: int
    high_c: int

    def __iter__(self) -> Iterator[Any]:
        return iter((Ge(self.low_c), Le(self.high_c), BeforeValidator(_hundredths)))


@dataclass(frozen=True)
class _Listed(GroupedMetadata):
    """A JSON list of so many items: one of another length is one fault, whatever it holds."""

    low: int
    high: int

    def __iter__(self) -> Iterator[Any]:
        return iter((BeforeValidator(self._listed),))

    def _listed(self, value: Any) -> tuple[Any, ...]:
        if type(value) is not list or not self.low <= len(value) <= self.high:
            raise ValueError(f"a list of {self.low} to {self.high}")
        return tuple(value)


def _absent(default: Any) -> BeforeValidator:
    """Null where a field may be absent is as good as no field."""
    return BeforeValidator(lambda value: default if value is None else value)


_Name = Annotated[str, _Text(120)]
_Note = Annotated[str, _Text(600)]
_Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
_Grams = Annotated[int, _Quantity(0, 100_000)]
_Groups = Annotated[tuple[Group, ...], _Listed(0, 12)]


class Macros(Record):
    """What an adult portion declares: energy in kcal, the rest in grams, all as hundredths."""

    kcal_c: Annotated[int, _Quantity(0, 500_000), Field(alias="kcal")]
    protein_c: Annotated[_Grams, Field(alias="protein_g")]
    carbs_c: Annotated[_Grams, Field(alias="carbs_g")]
    sugars_c: Annotated[_Grams, Field(alias="sugars_g")]
    fat_c: Annotated[_Grams, Field(alias="fat_g")]
    fiber_c: Annotated[_Grams, Field(alias="fiber_g")]
    carb_basis: Annotated[Literal["total", "available"], _absent("total")] = "total"
    alcohol_c: Annotated[int, _Quantity(0, 20_000), _absent(0), Field(alias="alcohol_g")] = 0

    @model_validator(mode="after")
    def _sugars_are_carbohydrates(self) -> Self:
        if self.sugars_c > self.carbs_c + _SUGARS_OVER_CARBS:
            raise ValueError("sugars within the carbohydrates")
        return self


class Portions(Record):
    """How many eat."""

    adult: Annotated[int, _Whole(0, 30)]
    child: Annotated[int, _Whole(0, 30)]
    baby: Annotated[int, _Whole(0, 10)]


class Dinner(Record):
    """One dinner of a week."""

    day: Day
    dish_name: Annotated[str, _Text(200)]
    cuisine: Annotated[str, _Text(80)]
    main_protein: Annotated[str, _Text(80)]
    components: Annotated[tuple[_Name, ...], _Listed(1, 12)]
    total_minutes: Annotated[int, _Whole(1, 600)]
    portions: Portions
    food_groups: _Groups
    macros: Macros
    son_safe_component: _Name
    baby_adaptation: _Note
    sunday_prep_used: Annotated[tuple[_Identifier, ...], _Listed(0, 10)]
    special_adaptation: _Note | None = None
    special_components: Annotated[tuple[_Name, ...], _Listed(0, 12), _absent([])] = ()
    special_macros: Macros | None = None


class Prep(Record):
    """One task of the Sunday session."""

    id: _Identifier
    task: Annotated[str, _Text(300)]
    minutes: Annotated[int, _Whole(1, 240)]


class WeeklyMenu(Record):
    """Seven dinners and the Sunday session that prepares them."""

    dinners: Annotated[tuple[Dinner, ...], _Listed(_DINNERS, _DINNERS)]
    sunday_prep: Annotated[tuple[Prep, ...], _Listed(0, 20)]
    rationale: Annotated[str, _Text(4000)]

    @model_validator(mode="after")
    def _prep_ids_differ(self) -> Self:
        if len({prep.id for prep in self.sunday_prep}) != len(self.sunday_prep):
            raise ValueError("prep ids that differ")
        return self


class Ingredient(Record):
    """One line of a recipe: everyone's, the family's, the guest's or the baby's alone."""

    name: _Name
    grams_c: Annotated[int, _Quantity(1, 2_000_000), Field(alias="grams")]
    household_measure: Annotated[str, _Text(80)] | None = None
    for_whom: Annotated[Literal["all", "family", "guest", "baby"], _absent("all")] = "all"


class Step(Record):
    """One step of a recipe, on its own or beside an earlier one."""

    n: Annotated[int, _Whole(1, 60)]
    text: Annotated[str, _Text(1000)]
    minutes: Annotated[int, _Whole(1, 600)]
    parallel_with: Annotated[int, _Whole(1, 60)] | None = None


class Stored(Record):
    """How a component keeps."""

    component: _Name
    method: Annotated[str, _Text(300)]
    days: Annotated[int, _Whole(0, 365)]


class ServedDinner(Record):
    """The day that a component is for."""

    component: _Name
    day: Day


class Recipe(Record):
    """A recipe with weights; `adult_equivalents_c` adult portions come of all and family lines."""

    title: Annotated[str, _Text(200)]
    adult_equivalents_c: Annotated[int, _Quantity(50, 10_000), Field(alias="adult_equivalents")]
    total_minutes: Annotated[int, _Whole(1, 600)]
    ingredients: Annotated[tuple[Ingredient, ...], _Listed(1, 100)]
    steps: Annotated[tuple[Step, ...], _Listed(1, 60)]
    macros: Macros
    food_groups: _Groups
    baby_adaptation: _Note
    iron_component: _Name | None = None
    salt_handling: _Note | None = None
    special_adaptation: _Note | None = None
    special_macros: Macros | None = None
    storage: Annotated[tuple[Stored, ...], _Listed(0, 20), _absent([])] = ()
    serves_dinners: Annotated[tuple[ServedDinner, ...], _Listed(0, 30), _absent([])] = ()

    @model_validator(mode="after")
    def _steps_in_order(self) -> Self:
        alone: set[int] = set()
        for place, step in enumerate(self.steps, start=1):
            if step.n != place:
                raise ValueError("steps numbered 1, 2, 3 in order")
            if step.parallel_with is None:
                alone.add(place)
            elif step.parallel_with not in alone:
                raise ValueError("companions of an earlier step that is none itself")
        return self
