"""What two names have in common, and foods by their forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ReleaseError
from pipeline.kitchen import names
from pipeline.kitchen.check.foods import Food, FoodTable, form, read_foods
from pipeline.kitchen.check.words import IRON, SEASONING, words_digest
from schemas.folding import fold, tokens
from tests.kitchen.meals import FOODS


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("KIRMIZI MERCİMEK", "kirmizi mercimek"),
        ("kırmızı mercimek", "kirmizi mercimek"),
        ("p\u200bork chops", "pork chops"),
        ("Lamb's lettuce", "lambs lettuce"),
        ("Köfte, Purée & GRIEẞ", "kofte puree griess"),
        ("cafe\u0301_noir", "cafe noir"),
        ("\u0440ork", "\u0440ork"),
        ("½ cup", "1 2 cup"),
        ("—", ""),
    ],
)
def test_a_name_is_its_tokens(text, want):
    assert names.name(text) == want


@given(st.text())
def test_folding_is_done_once_and_ascii_takes_no_other_way(text):
    assert tokens(fold(text)) == tokens(text)
    assert fold(text.encode("ascii", "ignore").decode() + "\u200b") == fold(
        text.encode("ascii", "ignore").decode()
    )


@pytest.mark.parametrize(
    ("tokens_", "stems"),
    [
        ("tomatoes cherries radishes couscous", "tomato cherry radish couscous"),
        ("asparagus eggs gas molasses", "asparagus egg gas molass"),
        ("ties boxes peaches sizes glasses peas", "tie box peach siz glass pea"),
    ],
)
def test_a_stem(tokens_, stems):
    assert [names.stem(token) for token in tokens_.split()] == stems.split()


def test_words_cores_hits_and_phrases():
    found = names.words("Grilled sea bass and rocket salad")
    assert sorted(found) == ["bass", "grilled", "rocket", "salad", "sea"]
    assert names.core("Plain white rice") == {"rice"}
    assert names.core("chicken curry") == {"chicken", "curry"}
    assert names.core("grilled chicken strips") == {"chicken"}
    assert names.core("patates") <= names.SAFE
    assert names.hits("Ekşili köftesi", ("köfte",))
    assert not names.hits("no kofte here"[::-1], ("köfte",))
    assert names.phrase("Set aside before  SALTING it", "before salting")
    assert not names.phrase("before the salting", "before salting")
    assert names.characters("  a \n b ") == 3


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("Boneless skinless chicken thighs", ("chicken", "thigh")),
        ("2 chicken thighs", ("2", "chicken", "thigh")),
        ("Olive oil (extra virgin)", ("oil", "olive")),
        ("Potatoes (peeled", ("potato",)),
        ("freshly chopped", ()),
    ],
)
def test_the_form_of_a_food(name, want):
    assert form(name) == want


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("2 chicken thighs", "chicken thigh"),
        ("PİRİNÇ", "white rice"),
        ("rice, white", "white rice"),
        ("vegan salt", None),
        ("rice", None),
        ("fresh", None),
        ("500", None),
    ],
)
def test_a_name_matches_a_food_of_its_form_and_no_other(name, key):
    found = FOODS.match(name)
    assert (found.key if found else None) == key


@pytest.mark.parametrize("alias", ["salts", "fresh salt", "chopped"])
def test_two_foods_of_one_form_make_no_table(alias):
    food = Food("pepper", 1, 1, 1, 1, (alias,))
    with pytest.raises(ReleaseError, match="one food"):
        FoodTable([*FOODS.foods, food])


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("egg,1.5,0,0,0,", "row 2, kcal_c"),
        ("egg,-1,0,0,0,", "row 2, kcal_c"),
        ("egg,1,0,0,,", "row 2, sodium_c"),
        ("egg,1,0,0,0,\negg,1,0,0,0,", "row 3, key"),
        ("egg,1,0,0,0,eggs\neggs,1,0,0,0,", "one food"),
        ("egg,1,0,0,0", "6 fields"),
    ],
)
def test_a_table_that_is_none_is_refused_by_row(tmp_path, row, found):
    path = tmp_path / "foods.csv"
    path.write_text(f"key,kcal_c,protein_c,fat_c,sodium_c,aliases\n{row}\n", "utf-8")
    with pytest.raises(ReleaseError, match=found):
        read_foods(path)


def test_a_table_has_one_digest_whatever_its_order():
    assert FoodTable(reversed(FOODS.foods)).digest == FOODS.digest
    assert FoodTable(FOODS.foods[1:]).digest != FOODS.digest
    assert len(words_digest()) == 64


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("minced beef", {"beef"}),
        ("green beans", set()),
        ("green beans with white beans", {"bean"}),
        ("Lamb's lettuce", set()),
        ("2 chicken thighs", {"chicken thigh"}),
        ("chicken breast", set()),
        ("Taze fasulye, kuru fasulye", {"fasulye"}),
        ("egg noodles and eggs", {"egg"}),
    ],
)
def test_terms_are_found_longest_first(text, found):
    assert IRON.found(text) == found


def test_listed_words_are_stems_where_stems_are_compared():
    listed = [names.SAFE, names.PLAIN, names.NEUTRAL, names.LINK, SEASONING]
    listed.append({word for term in (*IRON.terms, *IRON.exceptions) for word in term.split()})
    assert [w for part in listed for w in part if names.stem(w) != w or fold(w) != w] == []
