import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.inference import ranksets


def ordered(scores, resolved):
    """Places from scores and the pairs that are resolved."""
    better = np.zeros((len(scores), len(scores)), dtype=bool)
    for i, j in resolved:
        better[(i, j) if scores[i] > scores[j] else (j, i)] = True
    return ranksets.places([Fraction(score) for score in scores], better)


def test_equal_scores_share_a_rank_whatever_their_order():
    found = ordered([5, 9, 5, 1, 5], [])
    assert [(place.rank, place.tied) for place in found] == [
        (2, True), (1, False), (2, True), (5, False), (2, True),
    ]  # fmt: skip


def test_nothing_resolved_leaves_every_rank_open_and_one_letter():
    found = ordered([3, 2, 1], [])
    assert [tuple(place.rank_set) for place in found] == [(1, 3)] * 3
    assert [place.letters for place in found] == ["a"] * 3


def test_all_resolved_gives_every_route_its_rank_and_letter():
    found = ordered([1, 3, 2], itertools.combinations(range(3), 2))
    assert [tuple(place.rank_set) for place in found] == [(3, 3), (1, 1), (2, 2)]
    assert [place.letters for place in found] == ["c", "a", "b"]


def test_letters_overlap_where_differences_are_not_transitive():
    found = ordered([3, 2, 1], [(0, 2)])
    assert [place.letters for place in found] == ["a", "ab", "b"]
    assert [tuple(place.rank_set) for place in found] == [(1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(("routes", "named"), [(26, True), (27, False)])
def test_above_26_sets_none_is_lettered(routes, named):
    found = ordered(list(range(routes, 0, -1)), itertools.combinations(range(routes), 2))
    assert [place.letters is not None for place in found] == [named] * routes
    if named:
        assert "".join(place.letters for place in found) == "abcdefghijklmnopqrstuvwxyz"


@given(st.lists(st.integers(0, 5), min_size=2, max_size=9), st.data())
def test_letters_say_what_is_resolved(scores, data):
    pairs = [(i, j) for i, j in itertools.combinations(range(len(scores)), 2)
             if scores[i] != scores[j]]  # fmt: skip
    chosen = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    found = ordered(scores, chosen)
    for i, j in itertools.combinations(range(len(scores)), 2):
        share = set(found[i].letters) & set(found[j].letters)
        assert bool(share) == ((i, j) not in chosen)
    for route, place in enumerate(found):
        beaten = sum(scores[a if b == route else b] > scores[route]
                     for a, b in chosen if route in (a, b))  # fmt: skip
        assert place.rank_set.lower == 1 + beaten
        assert place.rank_set.lower <= place.rank <= place.rank_set.upper
