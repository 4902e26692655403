"""The bundle reader: what a sound bundle gives, and one clear line for every unsound one."""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pipeline.errors import ReleaseError
from pipeline.identity import table_root
from pipeline.release.bundle import TAG_COLUMNS, read_bundle
from pipeline.tables import make_table
from pipeline.tags import CATEGORIES, UNKNOWN_NOVA
from schemas.release import CUISINES, UNIVERSAL, Direction, Ingredient
from tests.shared import SHARED, needs_shared

if TYPE_CHECKING:
    from collections.abc import Callable

TAGS = """\
node_id,name,food_group,primary_category,is_vegetarian,is_vegan,cuisine_region,nova_level
1,miso,Legume,Legume,True,True,Japanese,3.0
2,butter,Dairy,Dairy,True,False,universal,
3,basil,Herb,Herb,True,True,Mediterranean;Southeast_Asian,1
"""
EMBEDDINGS = """\
node_id,dim_0,dim_1
3,0.5,-1.0
1,1.0,0.25
2,0.0,2.0
"""


def write_directions(path: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(path, **arrays)


def directions() -> dict[str, np.ndarray]:
    return {cuisine: np.array([1.0, i + 1], dtype="<f4") for i, cuisine in enumerate(CUISINES)}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "ingredient_tags.csv").write_text(TAGS, encoding="utf-8")
    (tmp_path / "embeddings.csv").write_text(EMBEDDINGS, encoding="utf-8")
    write_directions(tmp_path / "supervised_directions.npz", directions())
    return tmp_path


def root_of(folder: Path) -> str:
    return make_table(Ingredient, read_bundle(folder).ingredients).root


def test_rows_are_joined_by_node_id(bundle: Path) -> None:
    content = read_bundle(bundle)
    basil = next(item for item in content.ingredients if item.name == "basil")
    assert basil == Ingredient(
        name="basil",
        node_id=3,
        category="Herb",
        regions=("Southeast_Asian", "Mediterranean"),
        vegetarian=True,
        vegan=True,
        nova=1,
        vector=np.array([0.5, -1.0], dtype="<f4").tobytes(),
    )
    assert [item.nova for item in content.ingredients] == [3, None, 1]
    assert {d.cuisine for d in content.directions} == set(CUISINES)
    assert content.directions[0] == Direction(
        cuisine="Japanese", vector=np.array([1.0, 1.0], dtype="<f4").tobytes()
    )


def test_order_of_rows_and_columns_changes_nothing(bundle: Path) -> None:
    before = root_of(bundle)
    for name in ("ingredient_tags.csv", "embeddings.csv"):
        head, *rows = (bundle / name).read_text(encoding="utf-8").splitlines()
        (bundle / name).write_text("\n".join([head, *reversed(rows)]) + "\n", encoding="utf-8")
    columns = [
        line.split(",") for line in (bundle / "ingredient_tags.csv").read_text().splitlines()
    ]
    turned = "\n".join(",".join(reversed(fields)) for fields in columns)
    (bundle / "ingredient_tags.csv").write_text(turned + "\n", encoding="utf-8")
    assert root_of(bundle) == before


def test_every_tag_and_coordinate_counts(bundle: Path) -> None:
    roots = {root_of(bundle)}
    for name, old, new in (
        ("ingredient_tags.csv", "3.0", "2.0"),
        ("ingredient_tags.csv", "True,False,universal", "False,False,universal"),
        ("ingredient_tags.csv", "Mediterranean;Southeast_Asian", "Mediterranean"),
        ("ingredient_tags.csv", "Herb,Herb", "Herb,Spice"),
        ("embeddings.csv", "0.25", "0.25000003"),
    ):
        text = (bundle / name).read_text(encoding="utf-8")
        assert old in text
        (bundle / name).write_text(text.replace(old, new), encoding="utf-8")
        roots.add(root_of(bundle))
        (bundle / name).write_text(text, encoding="utf-8")
    assert len(roots) == 6
    assert table_root("ingredient", []) not in roots


UNSOUND_TAGS = {
    "missing_column": (TAGS.replace("nova_level", "nova"), r"no column nova_level \(but nova\)"),
    "column_twice": (TAGS.replace("food_group", "name"), "a column twice"),
    "unknown_id": (TAGS.replace("3,basil", "9,basil"), "row 4, node_id.*found 9"),
    "id_twice": (TAGS.replace("3,basil", "2,basil"), "row 4, node_id.*2 twice"),
    "id_not_whole": (TAGS.replace("3,basil", "3.5,basil"), "whole number, found '3.5'"),
    "id_without_tags": (TAGS.rsplit("3,basil", 1)[0], "none for node_id 3"),
    "name_twice": (TAGS.replace("basil", "miso"), "row 4, name.*'miso'"),
    "name_missing": (TAGS.replace("basil", ""), "row 4, name"),
    "unknown_category": (TAGS.replace("Herb,Herb", "Herb,Weed"), "row 4, primary_category.*'Weed'"),
    "unknown_region": (TAGS.replace("Mediterranean", "Lunar"), "row 4, cuisine_region.*Lunar"),
    "region_twice": (TAGS.replace(";Southeast_Asian", ";Mediterranean"), "row 4, cuisine_region"),
    "universal_beside_region": (
        TAGS.replace("Mediterranean", "universal"),
        "row 4, cuisine_region",
    ),
    "region_missing": (TAGS.replace(",Japanese,", ",,"), "row 2, cuisine_region"),
    "nova_five": (TAGS.replace("3.0", "5.0"), "row 2, nova_level.*'5.0'"),
    "nova_half": (TAGS.replace("3.0", "2.5"), "row 2, nova_level.*'2.5'"),
    "vegan_not_vegetarian": (
        TAGS.replace("True,True,Japanese", "False,True,Japanese"),
        "row 2, is_vegan.*vegan but not vegetarian",
    ),
    "diet_not_boolean": (TAGS.replace("True,False,univ", "yes,False,univ"), "row 3, is_vegetarian"),
    "row_too_short": (TAGS.replace(",3.0", ""), "row 2: expected 8 fields, found 7"),
    "quote_left_open": (TAGS.replace("miso", '"miso'), "CSV"),
    "field_too_long": (TAGS.replace("miso", "m" * 20_000), "row 2.*field larger than field limit"),
    "no_rows": (TAGS.splitlines()[0] + "\n", "none for node_id 1"),
    "empty_file": ("", "no column node_id"),
}


@pytest.mark.parametrize("defect", UNSOUND_TAGS)
def test_unsound_tags_are_refused(bundle: Path, defect: str) -> None:
    text, says = UNSOUND_TAGS[defect]
    (bundle / "ingredient_tags.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match=f"ingredient_tags.csv.*{says}") as refusal:
        read_bundle(bundle)
    assert "\n" not in str(refusal.value)


UNSOUND_EMBEDDINGS = {
    "nan": (EMBEDDINGS.replace("0.25", "nan"), "row 3, dim_1: expected a finite number"),
    "infinity": (EMBEDDINGS.replace("0.25", "inf"), "row 3, dim_1: expected a finite number"),
    "beyond_float32": (
        EMBEDDINGS.replace("0.25", "1e300"),
        "row 3, dim_1: expected a finite number within float32",
    ),
    "text": (EMBEDDINGS.replace("0.25", "much"), "row 3, dim_1.*'much'"),
    "python_spelling": (EMBEDDINGS.replace("0.25", "2_5"), "row 3, dim_1.*'2_5'"),
    "zero_vector": (EMBEDDINGS.replace("0.0,2.0", "0.0,0.0"), "row 4, vector.*all zero"),
    "rounds_to_zero": (EMBEDDINGS.replace("0.0,2.0", "0.0,1e-60"), "row 4, vector.*all zero"),
    "id_twice": (EMBEDDINGS.replace("3,0.5", "1,0.5"), "every node_id once"),
    "row_too_short": (EMBEDDINGS.replace(",0.25", ""), "row 3: expected 3 fields, found 2"),
    "dimension_missing": (EMBEDDINGS.replace("dim_1", "dim_2"), "other columns"),
    "no_rows": ("node_id,dim_0\n", "at least one row"),
    "id_without_embedding": (EMBEDDINGS.replace("3,0.5", "4,0.5"), "row 4, node_id"),
}


@pytest.mark.parametrize("defect", UNSOUND_EMBEDDINGS)
def test_unsound_embeddings_are_refused(bundle: Path, defect: str) -> None:
    text, says = UNSOUND_EMBEDDINGS[defect]
    (bundle / "embeddings.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match=says):
        read_bundle(bundle)


def missing_cuisine(path: Path) -> None:
    arrays = directions()
    del arrays["Japanese"]
    write_directions(path, arrays)


def unknown_cuisine(path: Path) -> None:
    write_directions(path, directions() | {"Lunar": np.ones(2, dtype="<f4")})


def wrong_length(path: Path) -> None:
    write_directions(path, directions() | {"Japanese": np.ones(3, dtype="<f4")})


def not_finite(path: Path) -> None:
    write_directions(path, directions() | {"Japanese": np.array([1, np.nan], dtype="<f4")})


def zero_direction(path: Path) -> None:
    write_directions(path, directions() | {"Japanese": np.zeros(2, dtype="<f4")})


def whole_numbers(path: Path) -> None:
    write_directions(path, directions() | {"Japanese": np.ones(2, dtype="<i8")})


def pickled_array(path: Path) -> None:
    np.savez(path, **(directions() | {"Japanese": np.array([{}, {}], dtype=object)}))


def pickle_as_file(path: Path) -> None:
    path.write_bytes(pickle.dumps(directions()))


def outside_name(path: Path) -> None:
    write_directions(path, directions())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../evil.npy", b"")


def bomb(path: Path) -> None:
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(20_000_000, dtype="<f4"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for cuisine in CUISINES:
            archive.writestr(f"{cuisine}.npy", zeros.getvalue())


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def patched_directory(path: Path, offset: int, value: int) -> None:
    """Change a byte of the first entry of the archive's central directory."""
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + offset] = value
    path.write_bytes(data)


def encrypted_member(path: Path) -> None:
    patched_directory(path, 8, 1)


def unknown_compression(path: Path) -> None:
    patched_directory(path, 10, 99)


def raw_header(path: Path, header: bytes) -> None:
    write_directions(path, {k: v for k, v in directions().items() if k != "Japanese"})
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("Japanese.npy", array)


def endless_shape(path: Path) -> None:
    raw_header(path, b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999,)}")


def broken_header(path: Path) -> None:
    raw_header(path, b"{{{")


@pytest.mark.parametrize(
    ("defect", "says"),
    [
        (missing_cuisine, "found no Japanese.npy"),
        (unknown_cuisine, "found 'Lunar.npy' besides"),
        (wrong_length, "Japanese: expected 2 floats"),
        (not_finite, "Japanese, vector.*NaN"),
        (zero_direction, "Japanese, vector.*all zero"),
        (whole_numbers, "Japanese: expected 2 floats, found int64"),
        (pickled_array, "npz of plain arrays"),
        (pickle_as_file, "npz of plain arrays"),
        (outside_name, "../evil.npy"),
        (bomb, "bytes unpacked"),
        (cut_short, "npz of plain arrays"),
        (encrypted_member, "npz of plain arrays.*encrypted"),
        (unknown_compression, "npz of plain arrays.*compression"),
        (endless_shape, "npz of plain arrays"),
        (broken_header, "npz of plain arrays"),
    ],
)
def test_unsound_directions_are_refused(
    bundle: Path, defect: Callable[[Path], None], says: str
) -> None:
    defect(bundle / "supervised_directions.npz")
    with pytest.raises(ReleaseError, match=f"supervised_directions.npz.*{says}"):
        read_bundle(bundle)


@pytest.mark.parametrize(
    "name", ["ingredient_tags.csv", "embeddings.csv", "supervised_directions.npz"]
)
def test_missing_linked_and_undecodable_files_are_refused(bundle: Path, name: str) -> None:
    path = bundle / name
    path.rename(bundle / "elsewhere")
    with pytest.raises(ReleaseError, match=f"{name}.*No such file"):
        read_bundle(bundle)
    path.symlink_to(bundle / "elsewhere")
    with pytest.raises(ReleaseError, match=f"{name}.*symbolic link"):
        read_bundle(bundle)
    path.unlink()
    path.mkdir()
    with pytest.raises(ReleaseError, match=f"{name}.*a folder"):
        read_bundle(bundle)
    path.rmdir()
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReleaseError, match=name):
        read_bundle(bundle)


@needs_shared
def test_the_golden_bundle_is_sound() -> None:
    content = read_bundle(SHARED / "golden" / "bundle")
    assert len(content.ingredients) == 1325
    assert len(content.directions) == 8
    assert {len(item.vector) for item in content.ingredients} == {300 * 4}


def test_mistakes_of_all_files_are_told_together(bundle: Path) -> None:
    tags = TAGS.replace("Herb,Herb", "Herb,Weed").replace("3.0", "9").replace("miso", "m" * 201)
    (bundle / "ingredient_tags.csv").write_text(tags.replace("False,u", "maybe,u"))
    (bundle / "embeddings.csv").write_text(EMBEDDINGS.replace("0.25", "0,25").replace("2.0", "x"))
    wrong_length(bundle / "supervised_directions.npz")
    with pytest.raises(ReleaseError) as refusal:
        read_bundle(bundle)
    first, *others = str(refusal.value).splitlines()
    assert first.startswith(f"{bundle}: expected a sound source, found 8 mistakes.")
    assert "docs/bundle.md" in first
    assert [line.split(":")[0] for line in others] == [
        "  embeddings.csv, row 3",  # 1.0,0,25 has a field too many, so its node_id 1 is not known
        "  embeddings.csv, row 4, dim_1",
        "  ingredient_tags.csv, row 2, node_id",
        "  ingredient_tags.csv, row 2, name",
        "  ingredient_tags.csv, row 2, nova_level",
        "  ingredient_tags.csv, row 3, is_vegan",
        "  ingredient_tags.csv, row 4, primary_category",
        "  supervised_directions.npz, Japanese",
    ]


def test_of_many_mistakes_twenty_are_told(bundle: Path) -> None:
    head = TAGS.splitlines()[0]
    rows = [f"{i},a{i},Herb,Weed,true,true,universal,1" for i in range(30)]
    (bundle / "ingredient_tags.csv").write_text("\n".join([head, *rows]))
    vectors = [f"{i},1,{i}" for i in range(30)]
    (bundle / "embeddings.csv").write_text("\n".join(["node_id,dim_0,dim_1", *vectors]))
    with pytest.raises(ReleaseError) as refusal:
        read_bundle(bundle)
    first, *others = str(refusal.value).splitlines()
    assert "found 30 mistakes" in first
    assert len(others) == 21
    assert others[19].startswith("  ingredient_tags.csv, row 21, primary_category: ")
    assert others[20] == "  and 10 more"


def test_what_spreadsheets_save_is_the_same_bundle(bundle: Path) -> None:
    before = root_of(bundle)
    tags = (
        TAGS.replace("True", "TRUE")
        .replace("False", "FALSE")
        .replace("universal,", "universal,NaN")
    )
    tags = tags.replace("\n", ",,\r\n") + ",,,,,,,,,\r\n\r\n"
    (bundle / "ingredient_tags.csv").write_bytes(b"\xef\xbb\xbf" + tags.encode())
    (bundle / "embeddings.csv").write_text(
        EMBEDDINGS.replace(",", ";").replace("\n", ";\r\n") + ";;;\r\n"
    )
    assert root_of(bundle) == before


@pytest.mark.parametrize("length", [201, 1_000, 10_000])
def test_a_long_name_is_refused_with_file_row_and_column(bundle: Path, length: int) -> None:
    (bundle / "ingredient_tags.csv").write_text(TAGS.replace("miso", "m" * length))
    said = f"ingredient_tags.csv, row 2, name: expected at most 200 characters, found {length:,}"
    with pytest.raises(ReleaseError, match=said):
        read_bundle(bundle)


def test_directions_beyond_float32_are_refused_without_a_warning(bundle: Path) -> None:
    path = bundle / "supervised_directions.npz"
    write_directions(path, directions() | {"Japanese": np.array([1.0, 1e300])})
    with pytest.raises(ReleaseError, match="Japanese, vector: expected finite numbers in float32"):
        read_bundle(bundle)


def test_the_page_on_bundles_says_what_the_reader_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "bundle.md").read_text(encoding="utf-8")
    for word in (*TAG_COLUMNS, *CATEGORIES, *CUISINES, UNIVERSAL):
        assert f"`{word}`" in page
    spelt = [word.lower() for word in re.findall(r"`([^`]+)`", page)]
    assert all(word in spelt for word in UNKNOWN_NOVA if word)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})  # our own page
    content = read_bundle(tmp_path / "my-bundle")
    assert sorted(item.name for item in content.ingredients) == ["basil", "butter", "miso"]
