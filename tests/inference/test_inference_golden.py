"""Every key of the golden values, which an implementation of its own made by enumeration."""

import json
from fractions import Fraction

import numpy as np
import pytest

from pipeline.inference import Settings, analyse
from pipeline.inference.bands import Studentizer, studentized_band
from pipeline.inference.familysums import FamilySums
from tests.inference.conftest import GOLDEN, make_matrix

VALUES = GOLDEN.parent / "inference.json"
DRAWS = 100_000


@pytest.fixture(scope="module")
def golden():
    if not VALUES.is_file():
        pytest.skip(f"golden values not at hand: {VALUES}")
    return json.loads(VALUES.read_text("utf-8"))


@pytest.fixture(scope="module")
def matrix(golden):
    maps = np.array(golden["maps_bps"])
    chance = np.rint(maps.mean(axis=1)).astype(int)
    found = make_matrix(np.array(golden["scores_bps"]), golden["task_family"], chance=chance)
    assert list(found.family_names) == golden["families"]
    return found


@pytest.fixture(scope="module")
def analysis(golden, matrix):
    settings = Settings(seed=7, bootstrap_draws=500, sign_draws=DRAWS, inference="calibrated")
    return analyse(matrix, settings, maps_bps=np.array(golden["maps_bps"]))


def fractions(values):
    return [Fraction(value) for value in values]


def test_no_key_is_left_out(golden):
    assert set(golden) == {
        "families", "task_family", "maps_bps", "scores_bps", "score_bps", "rank_order", "pairs",
        "sign_flip_p", "step_down_p", "holm_p", "resolved", "rank_sets", "letters", "band",
        "guesser_tail",
    }  # fmt: skip


def test_scores_and_ranks(golden, analysis):
    assert [s.score_bps for s in analysis.standings] == fractions(golden["score_bps"])
    ranks = [place.rank for place in analysis.calibrated.places]
    assert [ranks[route] for route in golden["rank_order"]] == [1, 2, 3, 4, 5, 6, 7]
    assert not any(place.tied for place in analysis.calibrated.places)


def test_p_values_and_what_is_resolved(golden, analysis):
    pairs, found = analysis.pairs, analysis.calibrated
    assert [[pair.left, pair.right] for pair in pairs] == golden["pairs"]
    assert pairs.exact
    assert [pair.p for pair in pairs] == fractions(golden["sign_flip_p"])
    assert [pair.holm_p for pair in pairs] == fractions(golden["holm_p"])
    stepped = [Fraction(int(p), pairs.p_denominator) for p in found.step_down_numerators]
    assert stepped == fractions(golden["step_down_p"])
    assert found.resolved.tolist() == golden["resolved"]
    assert found.comparable.all()


def test_rank_sets_and_letters(golden, analysis):
    places = analysis.calibrated.places
    assert [list(place.rank_set) for place in places] == golden["rank_sets"]
    assert [place.letters for place in places] == golden["letters"]


def test_band(golden):
    values = golden["band"]
    matrix = make_matrix(values["scores_bps"], values["task_family"], values["task_cluster"])
    studentizer = Studentizer(matrix)
    assert list(studentizer.variances()) == fractions(values["variance_bps2"])
    counts = np.array(values["bootstrap_counts"], dtype=np.float32)
    largest = studentizer.largest(counts, FamilySums(matrix).draw(counts))
    assert largest == pytest.approx(values["max_t"], abs=1e-9, rel=0)
    scores = fractions(values["score_bps"])
    band = studentized_band(studentizer, scores, largest, printable=True)
    assert band.critical_nano / 1e9 == pytest.approx(values["critical_t"], abs=1e-9, rel=0)
    ends = [[end / 1e9 for end in ends] for ends in band.ends_nanobps]
    assert np.array(ends) == pytest.approx(np.array(values["band_bps"]), abs=1e-9, rel=0)


def test_the_exact_share_of_guessers_is_met(golden, analysis):
    reached = analysis.calibrated.guessers.reached.tolist()
    for count, (low, high) in zip(reached, golden["guesser_tail"]["bounds"], strict=True):
        spread = 5 * (DRAWS * high) ** 0.5
        assert DRAWS * low - spread - 1 < count < DRAWS * high + spread + 1
