"""An Epicure release: ingredients, cuisine directions, and what names them (docs/bundle.md)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from schemas.record import Count, Digest, Record, Row

__all__ = [
    "CORE_CATEGORIES",
    "CUISINES",
    "NAME_LENGTH",
    "UNIVERSAL",
    "Direction",
    "Ingredient",
    "Name",
    "PlannedTask",
    "Provenance",
    "PublishedTask",
    "Release",
]

CUISINES = (
    "Japanese",
    "East_Asian",
    "Southeast_Asian",
    "South_Asian",
    "Latin_American",
    "Mediterranean",
    "Eastern_European",
    "Western_Atlantic",
)
"""The eight cuisines, in the order in which every list of regions stands."""

UNIVERSAL = "universal"
"""The region of an ingredient that belongs to every cuisine."""

CORE_CATEGORIES = (
    "Beverage",
    "Dairy",
    "Fat/Oil",
    "Fish",
    "Fruit",
    "Grain",
    "Herb",
    "Legume",
    "Meat",
    "Nut/Seed",
    "Seafood",
    "Spice",
    "Sweet",
    "Vegetable",
)
"""The categories whose ingredients can be anchors and candidates."""

NAME_LENGTH = 200
"""Characters that a name has at most."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_LENGTH)]
Label = Annotated[str, StringConstraints(pattern=r"^[A-H]{3}$")]


class Ingredient(Row):
    """One ingredient with its tags and its vector (little-endian float32)."""

    table: ClassVar[str] = "ingredients"
    kind: ClassVar[str] = "ingredient"
    key: ClassVar[tuple[str, ...]] = ("name",)

    name: Name
    node_id: Count
    category: Name
    regions: tuple[str, ...]
    vegetarian: bool
    vegan: bool
    nova: Annotated[int, Field(ge=1, le=4)] | None
    vector: bytes


class Direction(Row):
    """The direction of one cuisine in the space of the ingredients (little-endian float32)."""

    table: ClassVar[str] = "directions"
    kind: ClassVar[str] = "direction"
    key: ClassVar[tuple[str, ...]] = ("cuisine",)

    cuisine: Name
    vector: bytes


class Provenance(Record):
    """One named hash that a source gives of itself."""

    name: str
    sha256: Digest


class Release(Row):
    """What names a release: the roots of its tables, or the hashes it was published under."""

    table: ClassVar[str] = "release"
    kind: ClassVar[str] = "release"
    key: ClassVar[tuple[str, ...]] = ("ingredients_root",)

    ingredients: Count
    dimensions: Count
    ingredients_root: Digest
    directions_root: Digest
    provenance: tuple[Provenance, ...]


class PublishedTask(Row):
    """A task as a published set states it, after its hashes and its map were checked.

    See docs/published.md.

    `document` is the whole of it as canonical JSON: what training rows repeat field by field.
    """

    table: ClassVar[str] = "published"
    kind: ClassVar[str] = "published-task"
    key: ClassVar[tuple[str, ...]] = ("task_id",)

    task_id: Name
    panel: Name
    family: Name
    variant: str | None
    anchor: Name
    category: Name
    region: str | None
    stratum: Annotated[int, Field(ge=1, le=4)]
    choices: Annotated[tuple[str, ...], Field(min_length=8, max_length=8)]
    scores_bps: Annotated[
        tuple[Annotated[int, Field(ge=0, le=10_000)], ...], Field(min_length=56, max_length=56)
    ]
    optimum: Label
    chance_bps: Count
    margin_bps: Count
    prompt: str
    document: str


class PlannedTask(Row):
    """A task that a published analysis plan puts in the common core, with its place there."""

    table: ClassVar[str] = "plan"
    kind: ClassVar[str] = "planned-task"
    key: ClassVar[tuple[str, ...]] = ("panel", "family", "position")

    panel: Name
    family: Name
    position: Count
    task_id: Name
