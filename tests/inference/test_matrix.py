import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.inference import ScoreMatrix
from tests.inference.conftest import make_matrix

CODES = {
    "family": [0, 1, 0],
    "panel": [0, 0, 0],
    "cluster": [0, 1, 2],
    "family_names": ("a", "b"),
    "panel_names": ("p",),
    "chance_bps": [10, 20, 30],
    "scores_bps": [[1, 2, 3], [4, 5, 6]],
}


def test_codes_follow_first_appearance():
    matrix = make_matrix([[1, 2, 3, 4]] * 2, "bcab", clusters="yxyz", panels="qqpp")
    assert matrix.family_names == ("b", "c", "a")
    assert matrix.panel_names == ("q", "p")
    assert matrix.family.tolist() == [0, 1, 2, 0]
    assert matrix.cluster.tolist() == [0, 1, 0, 2]
    assert matrix.family_sizes.tolist() == [2, 1, 1]
    assert (matrix.models, matrix.tasks, matrix.families, matrix.clusters) == (2, 4, 3, 3)


def test_cluster_sums_keep_families_apart_and_hold_chance_last():
    matrix = make_matrix([[1, 2, 4], [8, 16, 32]], "aba", clusters="xxy", chance=[5, 6, 7])
    assert matrix.cluster_family_sizes().tolist() == [[1, 1], [1, 0]]
    assert matrix.cluster_family_sums()[0].tolist() == [[1, 8, 5], [2, 16, 6]]
    assert matrix.cluster_family_sums()[1].tolist() == [[4, 32, 7], [0, 0, 0]]


def test_arrays_are_copies_that_cannot_be_written():
    scores = np.array([[1, 2], [3, 4]])
    matrix = make_matrix(scores, "ab")
    scores[0, 0] = 9
    assert matrix.scores_bps[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        matrix.scores_bps[0, 0] = 9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores_bps": [[1, 2, 3]]}, "at least 2 ranked routes, found 1"),
        ({"scores_bps": [[1, 2, 3], [4, 5, 10_001]]}, r"scores_bps\[1, 2\].*found 10001"),
        ({"scores_bps": [[1, -1, 3], [4, 5, 6]]}, r"scores_bps\[0, 1\].*missing cells"),
        ({"scores_bps": [[1, 2, 3.5], [4, 5, 6]]}, "integers, found values of type float64"),
        ({"scores_bps": [[], []]}, "integers|1..100000 tasks"),
        ({"scores_bps": [1, 2, 3]}, "models x tasks"),
        ({"chance_bps": [10, 20]}, r"chance_bps: expected one value for each of 3 tasks"),
        ({"chance_bps": [10, 20, -5]}, r"chance_bps\[2\]"),
        ({"family": [0, 0, 0]}, r"family: expected tasks for every code, found none for \[1\]"),
        ({"family": [0, 1, 2]}, "family: expected codes 0..1"),
        ({"cluster": [1, 0, 2]}, "cluster: expected codes 0..2 in order of first appearance"),
        ({"cluster": [0, 2, 3]}, "cluster: expected codes"),
        ({"panel_names": ("p", "q")}, "panel: expected tasks for every code"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, message):
    values = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in (CODES | change).items()
    }
    with pytest.raises(InputError, match=message):
        ScoreMatrix(**values)


def test_fb_037_a_model_with_missing_cells_is_refused_not_averaged():
    x, y = [1, 1, 0, 0, 0, 0, -1, -1], [1, 1, 0, 0, 0, 0, 0, 0]
    with pytest.raises(InputError, match=r"scores_bps\[0, 6\].*never filled in"):
        make_matrix([x, y], "a" * 8)
