"""The starter release is held to its promises and to plain culinary facts."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pipeline.errors import ReleaseError
from pipeline.release.starter import DIMENSIONS, GRID, TrainedSpace, learn_space, read_starter
from pipeline.starter import (
    FOLDER,
    VERSIONS,
    dishes_digest,
    read_dish_rows,
    read_dishes,
    read_ingredients,
)
from pipeline.tables import make_table
from schemas.release import CORE_CATEGORIES, CUISINES, Ingredient

if TYPE_CHECKING:
    from pipeline.release.bundle import ReleaseContent

_FACTS_FILE = Path(__file__).parent / "culinary_facts.csv"
FACTS = [
    tuple(row.values())
    for row in csv.DictReader(_FACTS_FILE.read_text(encoding="utf-8").splitlines())
]


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


PINNED_ROOTS = {
    1: "07e219255c565f15e78f6f948865ce00a23f246b864cec18603a014d0c0acf81",
    2: "3d69f8b28a80963734ebdd20bd2cec6e8ffa387f6ae3f3ae91364c7c222d7c85",
}


@pytest.fixture(scope="module")
def space(version: int) -> TrainedSpace:
    return learn_space(read_ingredients(version), read_dish_rows(version))


@pytest.fixture(scope="module")
def content(version: int) -> ReleaseContent:
    return read_starter(version, FOLDER)


@pytest.fixture(scope="module")
def cosines(content: ReleaseContent) -> dict[tuple[str, str], float]:
    rows = content.ingredients
    vectors = np.array([np.frombuffer(row.vector, dtype="<f4") for row in rows], dtype=np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    table = unit @ unit.T
    return {(a.name, b.name): table[i, j] for i, a in enumerate(rows) for j, b in enumerate(rows)}


def test_there_are_at_least_forty_facts() -> None:
    assert len(FACTS) >= 40


def test_who_is_near_whom_is_plain_cooking(cosines: dict[tuple[str, str], float]) -> None:
    wrong = [
        (anchor, nearer, cosines[anchor, nearer], farther, cosines[anchor, farther])
        for anchor, nearer, farther, _ in FACTS
        if not cosines[anchor, nearer] > cosines[anchor, farther]
    ]
    assert wrong == []


def test_vocabulary_is_large_and_wide(version: int) -> None:
    ingredients = read_ingredients(version)
    categories = Counter(item.category for item in ingredients)
    assert len(ingredients) >= 360
    assert set(categories) == {*CORE_CATEGORIES, "Pantry"}
    assert min(categories[name] for name in CORE_CATEGORIES) >= 20
    for cuisine in CUISINES:
        assert sum(item.regions == (cuisine,) for item in ingredients) >= 8


def test_dishes_are_many_and_hold_every_ingredient(version: int) -> None:
    dishes = read_dish_rows(version)
    cuisines = Counter(dish.cuisine for dish in dishes)
    uses = Counter(name for dish in dishes for name in dish.ingredients)
    assert len(dishes) >= 600
    assert set(cuisines) == set(CUISINES)
    assert min(uses[item.name] for item in read_ingredients(version)) >= 4


def test_the_second_version_gives_a_diff_real_work() -> None:
    first, second = ({i.name: i for i in read_ingredients(version)} for version in VERSIONS)
    dishes = [{dish.name for dish in read_dish_rows(version)} for version in VERSIONS]
    assert len(set(second) - set(first)) == 10
    assert len(set(first) - set(second)) == 3
    assert sum(first[name] != second[name] for name in set(first) & set(second)) >= 12
    assert len(dishes[1] - dishes[0]) >= 60
    assert dishes_digest(1) != dishes_digest(2)


def test_facts_are_sorted_and_written_once() -> None:
    with (FOLDER / "ingredients.csv").open(encoding="utf-8", newline="") as file:
        keys = [(row["name"], row["since"]) for row in csv.DictReader(file)]
    assert all(before < after for before, after in pairwise(keys))
    with (FOLDER / "dishes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    places = [(CUISINES.index(row["cuisine"]), row["name"], row["since"]) for row in rows]
    assert all(before < after for before, after in pairwise(places))


def test_coordinates_lie_far_from_where_rounding_noise_could_move_them(
    version: int, space: TrainedSpace
) -> None:
    assert space.steps.shape == (len(read_ingredients(version)), DIMENSIONS)
    steps = space.coordinates * GRID
    to_boundary = np.abs(np.abs(steps - np.floor(steps)) - 0.5).min()
    assert to_boundary > 1e-7


def test_singular_values_are_far_enough_apart_to_fix_each_component(space: TrainedSpace) -> None:
    lengths = np.linalg.norm(space.coordinates, axis=0)
    assert (np.diff(lengths) < 0).all()
    assert (-np.diff(lengths) / lengths[:-1]).min() > 1e-6


def test_vectors_are_exact_in_float32(content: ReleaseContent) -> None:
    for row in content.ingredients:
        steps = np.frombuffer(row.vector, dtype="<f4").astype(np.float64) * GRID
        assert (steps == np.rint(steps)).all()


def test_the_same_facts_give_the_pinned_release(version: int, content: ReleaseContent) -> None:
    assert make_table(Ingredient, content.ingredients).root == PINNED_ROOTS[version]


def test_order_of_rows_in_the_files_changes_nothing(tmp_path: Path) -> None:
    for name in ("ingredients.csv", "dishes.csv"):
        head, *rows = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        (tmp_path / name).write_text("\n".join([head, *reversed(rows)]) + "\n", encoding="utf-8")
    assert read_starter(1, tmp_path) == read_starter(1, FOLDER)


@pytest.mark.parametrize("version", [0, 3])
def test_an_unknown_version_is_refused(version: int) -> None:
    with pytest.raises(ReleaseError, match="expected version 1 or 2"):
        read_dishes(version)


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("ingredients.csv", "\nolive_oil,", "\nOlive oil,", "snake case, found 'Olive oil'"),
        ("ingredients.csv", "\nolive_oil,", "\nonion,", "onion twice|name and version"),
        ("ingredients.csv", "\nolive_oil,Fat/Oil", "\nolive_oil,Oil", "category.*'Oil'"),
        ("dishes.csv", ",Japanese,", ",Lunar,", "one of the eight cuisines"),
        ("dishes.csv", "miso;", "moon_dust;", "ingredients of version 1, found moon_dust"),
    ],
)
def test_unsound_facts_are_refused(
    tmp_path: Path, name: str, old: str, new: str, says: str
) -> None:
    for file in ("ingredients.csv", "dishes.csv"):
        text = (FOLDER / file).read_text(encoding="utf-8")
        if file == name:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match=says):
        read_starter(1, tmp_path)
