"""The food table of ours: enough foods, one meaning a name, and equal to its source."""

from __future__ import annotations

import csv

import pytest

from pipeline.errors import ProofError, ReleaseError
from pipeline.kitchen.check.foods import form, read_foods
from pipeline.kitchen.foods import FOODS, NAMES
from pipeline.kitchen.foods import rebuild as module
from pipeline.kitchen.foods.rebuild import check, rebuild
from tests.shared import SHARED, needs_shared

SOURCE = SHARED / "kitchen/food_table.csv"
GOLDEN = SHARED / "golden/kitchen/foods.csv"
HEADER = (
    "key,kcal,protein_g,carb_g,sugars_g,fat_g,fibre_g,iron_mg,sodium_mg,source,source_name,note"
)
ROW = "leek,61,1.5,14.15,3.9,0.3,1.8,2.1,20,usda:sr_legacy_food,Leeks,"


def table():
    with FOODS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_there_are_foods_enough_each_with_its_source():
    assert len(read_foods(FOODS).foods) >= 300
    assert {row["source"].split(",")[0] for row in table()} == {"USDA FoodData Central"}
    assert all(row["source_name"] for row in table())


def test_a_name_means_one_food():
    forms = [form(name) for row in table() for name in [row["key"], *row["aliases"].split("|")]]
    forms = [found for found in forms if found]
    assert len(forms) == len(set(forms))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("250 g kırmızı mercimek", None),
        ("kırmızı mercimek", "lentils, red, dry"),
        ("Yoğurt", "plain yogurt, whole"),
        ("freshly chopped parsley (a handful)", "parsley"),
        ("huile d\u2019olive", "olive oil"),
        ("un", "wheat flour, white"),
        ("courgettes", "courgette"),
        ("2 eggs", "egg"),
        ("vegan butter", None),
        ("cashew cream", None),
        ("buttermilk", "buttermilk"),
        ("pirinç", "white rice, long grain"),
        ("poireaux", None),
        ("su", "water"),
    ],
)
def test_a_name_finds_its_food_or_none(name, key):
    found = read_foods(FOODS).match(name)
    assert (found.key if found else None) == key


def test_names_that_share_a_form_make_a_table_invalid(tmp_path):
    path = tmp_path / "foods.csv"
    path.write_text(FOODS.read_text("utf-8").replace("yenibahar", "leek"), "utf-8")
    with pytest.raises(ReleaseError, match="leek"):
        read_foods(path)


@needs_shared
def test_the_table_is_what_its_source_gives():
    assert rebuild(SOURCE) == FOODS.read_text("utf-8")
    assert read_foods(FOODS).digest in check(SOURCE)


@needs_shared
def test_the_facts_are_those_of_the_golden_table():
    golden = {food.key: food[1:5] for food in read_foods(GOLDEN).foods}
    assert golden == {food.key: food[1:5] for food in read_foods(FOODS).foods}


@needs_shared
def test_what_was_not_checked_is_left_out_by_reason():
    with SOURCE.open(encoding="utf-8", newline="") as file:
        doubtful = {row["key"] for row in csv.DictReader(file) if row["note"] == "verify"}
    with NAMES.open(encoding="utf-8", newline="") as file:
        reasons = {row["key"]: row["left_out"] for row in csv.DictReader(file)}
    assert doubtful
    assert all(reasons[key] for key in doubtful)
    assert not doubtful & {row["key"] for row in table()}


def made(tmp_path, *rows, names=("leek,pırasa,",)):
    source, ours = tmp_path / "source.csv", tmp_path / "names.csv"
    source.write_text("\n".join([HEADER, *rows]) + "\n", "utf-8")
    ours.write_text("\n".join(["key,aliases,left_out", *names]) + "\n", "utf-8")
    return rebuild(source, ours)


def test_quantities_become_hundredths(tmp_path):
    assert "leek,6100,150,1415,390,30,180,210,2000," in made(tmp_path, ROW)
    assert "leek,6101," in made(tmp_path, ROW.replace("61,", "61.005,", 1))


def test_a_zero_for_want_of_a_value_is_blank(tmp_path):
    assert "leek,6100,150,1415,,30,180," in made(tmp_path, ROW + "zero-filled sugars_g")


@pytest.mark.parametrize(
    "rows",
    [
        [ROW, ROW],
        [ROW.replace("61,", "-61,", 1)],
        [ROW.replace("61,", "6.1e1,", 1)],
        [ROW.replace("61,", ",", 1)],
        [ROW.replace("61,", "nan,", 1)],
        [ROW.replace("usda:sr_legacy_food", "hand:memory")],
        [ROW + "verify"],
        [ROW + "zero-filled taste"],
        [ROW.replace("leek", "onion")],
    ],
)
def test_a_wrong_source_is_refused(tmp_path, rows):
    with pytest.raises(ReleaseError):
        made(tmp_path, *rows)


@needs_shared
def test_another_table_is_a_difference(tmp_path, monkeypatch):
    other = tmp_path / "foods.csv"
    other.write_text(FOODS.read_text("utf-8").replace("26300", "26301", 1), "utf-8")
    monkeypatch.setattr(module, "FOODS", other)
    with pytest.raises(ProofError):
        check(SOURCE)
