import hashlib

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.freeze.candidates import Candidates
from pipeline.freeze.eligible import eligible_ingredients
from pipeline.freeze.maps import ScoreMaps
from pipeline.freeze.selection import FamilyTable, label_order, select_panel, stratify
from schemas.taskset import Family
from tests.freeze.small import ingredient, parameters


def sha(*fields):
    return hashlib.sha256("\0".join(map(str, fields)).encode()).hexdigest()


def pantry(count, categories=("Fruit", "Grain")):
    names = [f"n{i:02d}" for i in range(count)]
    kinds = [categories[i % len(categories)] for i in range(count)]
    return eligible_ingredients(list(map(ingredient, names, kinds)), ())


def table(difficulties, scoreable=None, family=Family.SUBSTITUTION, anchors=None):
    count = len(difficulties)
    usable = np.ones(count, dtype=bool) if scoreable is None else np.array(scoreable)
    rows = Candidates(
        anchors=np.arange(count) if anchors is None else np.array(anchors),
        choices=np.zeros((count, 8), dtype=np.int64),
        fits=np.zeros((count, 8)),
        difficulties=np.array(difficulties, dtype=np.float64),
        feasible=np.ones((count, 56), dtype=bool),
        variants=(None,) * count,
        cuisines=(None,) * count,
    )
    return FamilyTable(family, rows, ScoreMaps(np.zeros((count, 56), dtype=np.int64), usable))


def chosen(tables, eligible, known=(), panel="first", **changes):
    freeze = parameters(**{"quota": 1, "minimum_categories": 1, "category_cap": 9, **changes})
    return select_panel(panel, tables, eligible, freeze, known)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, (1,)),
        (4, (1, 2, 3, 4)),
        (6, (1, 1, 2, 3, 3, 4)),
        (9, (1, 1, 1, 2, 2, 3, 3, 4, 4)),
        (0, ()),
    ],
)
def test_strata_by_hand(count, expected):
    assert stratify(count) == expected


def test_strata_go_from_hard_to_easy_with_ties_by_anchor():
    found = chosen([table([1, 5, 3, 3])], pantry(4))
    assert [(one.anchor, one.stratum) for one in found] == [
        ("n01", 1), ("n02", 2), ("n03", 3), ("n00", 4),
    ]  # fmt: skip


def test_a_stratum_is_taken_in_hash_order():
    found = chosen([table([1] * 12)], pantry(12), quota=2)
    first = [f"n{i:02d}" for i in range(3)]  # all tie, so strata go by name
    first.sort(key=lambda name: sha("seed-one", "select", "substitution", 1, name))
    assert {one.anchor for one in found if one.stratum == 1} == set(first[:2])


def test_tasks_are_numbered_by_stratum_and_hash():
    found = chosen([table([1] * 12)], pantry(12), quota=3)
    keys = [(one.stratum, sha("seed-one", "task", "substitution", one.anchor)) for one in found]
    assert keys == sorted(keys)
    assert [one.task_id for one in found] == [f"one-substitution-{i:03d}" for i in range(1, 13)]


def test_an_anchor_is_used_once_a_panel():
    pairing = table([1] * 12, family=Family.PAIRING)
    found = chosen([table([1] * 12), pairing], pantry(12))
    assert len({one.anchor for one in found}) == len(found) == 8
    again = chosen([pairing], pantry(12))
    assert {one.anchor for one in again} & {one.anchor for one in found[:4]}


def test_variants_of_one_anchor_keep_their_order():
    rows = table([3] * 2 + [2] * 2 + [1] * 2 + [0] * 2, anchors=[0, 0, 1, 1, 2, 2, 3, 3])
    assert [one.row for one in chosen([rows], pantry(4))] == [0, 2, 4, 6]


def test_a_category_stops_at_its_cap():
    eligible = pantry(16, ("Fruit", "Grain", "Herb", "Meat"))
    found = chosen([table([1] * 16)], eligible, quota=2, category_cap=2)
    kinds = [eligible.categories[eligible.names.index(one.anchor)] for one in found]
    assert sorted(map(kinds.count, set(kinds))) == [2, 2, 2, 2]


def test_a_later_panel_takes_new_anchors_first():
    rows = [table([1] * 12)]
    free = {one.anchor for one in chosen(rows, pantry(12), panel="second")}
    found = {one.anchor for one in chosen(rows, pantry(12), known=free, panel="second")}
    assert not free & found
    both = chosen(rows, pantry(12), known=free, panel="second", quota=3)
    assert len(both) == 12


def test_dropping_happens_before_stratifying():
    rows = [table([6, 5, 4, 3, 2, 1], [False, False, True, True, True, True])]
    found = chosen(rows, pantry(6))
    assert [(one.anchor, one.stratum) for one in found] == [
        ("n02", 1), ("n03", 2), ("n04", 3), ("n05", 4),
    ]  # fmt: skip


def keeping():
    first = parameters().panels["first"].model_copy(update={"drop_unscoreable": False})
    return {"first": first}


def test_a_panel_that_keeps_unscoreable_rows_may_pass_them_by():
    order = sorted(
        ("n00", "n01"), key=lambda name: sha("seed-one", "select", "substitution", 1, name)
    )
    flags = [name == order[0] for name in ("n00", "n01")] + [True] * 6
    found = chosen([table([1] * 8, flags)], pantry(8), panels=keeping())
    assert found[0].anchor == order[0]


def test_a_panel_that_keeps_unscoreable_rows_fails_on_taking_one():
    with pytest.raises(InputError) as raised:
        chosen([table([1] * 8, [False] * 8)], pantry(8), panels=keeping())
    assert "panel first, family substitution, stratum 1: expected a map" in str(raised.value)
    assert "Set freeze.panels.first.drop_unscoreable to true." in str(raised.value)


def test_an_unmet_quota_says_how_many_there_are():
    with pytest.raises(InputError) as raised:
        chosen([table([1] * 8)], pantry(8), quota=3)
    assert str(raised.value).startswith(
        "panel first, family substitution, stratum 1: "
        "expected a quota of 3 anchors, found 2: only 8 are left with a map that can be scored. "
        "Left by each rule: 8 with a map that can be scored, 2 in stratum 1, 2 whose anchor no "
        "other task of the panel has, 2 below freeze.category_cap. Lower freeze.quota to 2 or less"
    )


def test_the_cap_and_other_families_are_named_where_they_leave_too_few():
    with pytest.raises(InputError, match=r"none is left below freeze\.category_cap.* Raise fr"):
        chosen([table([1] * 16)], pantry(16), quota=2, category_cap=1)
    twice = [table([1] * 4), table([1] * 4, family=Family.PAIRING)]
    with pytest.raises(InputError, match=r"pairing.*none is left whose anchor no other task of"):
        chosen(twice, pantry(4), quota=1)


def test_no_rows_at_all_is_an_unmet_quota():
    with pytest.raises(InputError, match="found 0: none is left with a map"):
        chosen([table([])], pantry(1))


def test_too_few_categories_are_named():
    with pytest.raises(InputError) as raised:
        chosen([table([1] * 8)], pantry(8), minimum_categories=3)
    assert "panel first, family substitution: expected anchors of at least 3" in str(raised.value)
    assert "found 2 (Fruit, Grain)" in str(raised.value)


def test_labels_go_by_hash():
    names = [f"n{i}" for i in range(8)]
    positions = label_order("s", "id-1", names)
    hashes = [sha("s", "choice", "id-1", names[i]) for i in positions]
    assert hashes == sorted(hashes)
    assert sorted(positions) == list(range(8))
