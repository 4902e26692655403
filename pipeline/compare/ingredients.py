"""The first level: which ingredients came, went, changed their tags or moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from schemas.release import Direction, Ingredient

__all__ = [
    "DistanceSpread",
    "IngredientChanges",
    "Move",
    "NeighbourChange",
    "TagChange",
    "compare_ingredients",
]  # fmt: skip

NEIGHBOURS = 10
"""Nearest ingredients that are compared."""

_TAGS = ("category", "regions", "vegetarian", "vegan", "nova")
_PPM = 1_000_000


class TagChange(NamedTuple):
    """One tag of one ingredient, before and after."""

    name: str
    tag: str
    before: str
    after: str


class Move(NamedTuple):
    """An ingredient and how far its vector turned: one less the cosine, in millionths."""

    name: str
    distance_ppm: int


class DistanceSpread(NamedTuple):
    """Least, middle, 90 in 100, and largest of the moves, in millionths."""

    least_ppm: int
    median_ppm: int
    ninety_ppm: int
    largest_ppm: int


class NeighbourChange(NamedTuple):
    """Nearest shared ingredients that an ingredient gained and lost."""

    name: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


class IngredientChanges(NamedTuple):
    """All changes of a release's ingredients.

    Attributes
    ----------
    shared
        Number of ingredients in both.
    added, removed
        Names, sorted.
    tags
        Changed tags by name.
    moved
        Ingredients whose vector differs, most moved first; empty where dimensions differ.
    spread
        Distribution of the moves; none where nothing moved or dimensions differ.
    dimensions
        Dimensions before and after.
    neighbours
        Ingredients whose nearest ten changed, most changed first.
    directions
        Cuisines whose direction differs.
    """

    shared: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    tags: tuple[TagChange, ...]
    moved: tuple[Move, ...]
    spread: DistanceSpread | None
    dimensions: tuple[int, int]
    neighbours: tuple[NeighbourChange, ...]
    directions: tuple[str, ...]

    @property
    def touched(self) -> frozenset[str]:
        """Ingredients of the first release that went, changed or moved."""
        tagged = {change.name for change in self.tags}
        return frozenset({*self.removed, *tagged, *(move.name for move in self.moved)})

    @property
    def empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.touched or self.neighbours or self.directions)


def compare_ingredients(
    before: tuple[Sequence[Ingredient], Sequence[Direction]],
    after: tuple[Sequence[Ingredient], Sequence[Direction]],
) -> IngredientChanges:
    """Changes from one release to another; their order in files does not matter.

    Node ids are left alone: they number rows and say nothing of an ingredient.
    """
    ours, theirs = ({one.name: one for one in side[0]} for side in (before, after))
    shared = sorted(ours.keys() & theirs.keys())
    tags = tuple(
        TagChange(name, tag, *(_said(getattr(side[name], tag)) for side in (ours, theirs)))
        for name in shared
        for tag in _TAGS
        if _plain(getattr(ours[name], tag)) != _plain(getattr(theirs[name], tag))
    )
    dimensions = (_dimensions(ours), _dimensions(theirs))
    pairs = [(ours[name].vector, theirs[name].vector) for name in shared]
    other = [name for name, (a, b) in zip(shared, pairs, strict=True) if a != b]
    moved = _moves(other, ours, theirs) if other and dimensions[0] == dimensions[1] else ()
    arrows = [{one.cuisine: one.vector for one in side[1]} for side in (before, after)]
    return IngredientChanges(
        len(shared),
        tuple(sorted(theirs.keys() - ours.keys())),
        tuple(sorted(ours.keys() - theirs.keys())),
        tags,
        moved,
        _spread(moved),
        dimensions,
        _neighbours(shared, ours, theirs) if other else (),
        tuple(
            name for name in sorted({*arrows[0], *arrows[1]})
            if arrows[0].get(name) != arrows[1].get(name)
        ),
    )  # fmt: skip


def _moves(
    names: list[str], ours: dict[str, Ingredient], theirs: dict[str, Ingredient]
) -> tuple[Move, ...]:
    import numpy as np

    one, other = _units(names, ours), _units(names, theirs)
    cosines = np.einsum("ij,ij->i", one, other)
    moves = [
        Move(name, round((1 - float(c)) * _PPM)) for name, c in zip(names, cosines, strict=True)
    ]
    return tuple(sorted(moves, key=lambda move: (-move.distance_ppm, move.name)))


def _spread(moved: tuple[Move, ...]) -> DistanceSpread | None:
    """Order statistics: the least value that so many in 100 do not exceed."""
    values = sorted(move.distance_ppm for move in moved)
    if not values:
        return None
    last = len(values) - 1
    middle, ninety = (values[-(-len(values) * share // 100) - 1] for share in (50, 90))
    return DistanceSpread(values[0], middle, ninety, values[last])


def _neighbours(
    shared: list[str], ours: dict[str, Ingredient], theirs: dict[str, Ingredient]
) -> tuple[NeighbourChange, ...]:
    one, other = (_nearest(shared, side) for side in (ours, theirs))
    changes = [
        NeighbourChange(name, tuple(sorted(new - old)), tuple(sorted(old - new)))
        for name, old, new in zip(shared, one, other, strict=True)
        if old != new
    ]
    return tuple(sorted(changes, key=lambda change: (-len(change.gained), change.name)))


def _nearest(names: list[str], side: dict[str, Ingredient]) -> list[set[str]]:
    """The nearest of every ingredient among the shared ones, ties by name."""
    import numpy as np

    from pipeline.freeze.geometry import exact_products, rank

    units = _units(names, side)
    cosines = exact_products(units, units)
    np.fill_diagonal(cosines, -np.inf)
    order = rank(cosines)[:, : min(NEIGHBOURS, len(names) - 1)]
    return [{names[i] for i in row} for row in order.tolist()]


def _units(names: list[str], side: dict[str, Ingredient]) -> npt.NDArray[np.float64]:
    from pipeline.freeze.geometry import unit_vectors

    return unit_vectors([side[name].vector for name in names], names)


def _dimensions(side: dict[str, Ingredient]) -> int:
    return len(next(iter(side.values())).vector) // 4 if side else 0


def _plain(value: object) -> object:
    return frozenset(value) if isinstance(value, tuple) else value


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return ";".join(sorted(value))
    return (
        "unknown"
        if value is None
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
