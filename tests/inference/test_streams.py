import itertools

import numpy as np
import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import FlavourbenchError, InputError
from pipeline.inference import streams
from tests.inference import reference

SEED = 20_260_820


def all_draws(pages):
    drawn = [(page, page.draw()) for page in pages]
    assert [page.start for page, _ in drawn] == [
        0,
        *itertools.accumulate(page.rows for page, _ in drawn[:-1]),
    ]
    assert all(len(rows) == page.rows for page, rows in drawn)
    return np.concatenate([rows for _, rows in drawn]).astype(np.int64)


def one_family(clusters):
    return np.ones((clusters, 1), dtype=np.int64)


def fingerprint(values, dtype):
    return blake3(values.astype(dtype).tobytes()).hexdigest()[:32]


def test_golden_vector_of_counts():
    counts = all_draws(streams.Blake3Stream(SEED).bootstrap(one_family(5), 502, "scores"))
    assert counts[:3].tolist() == [[1, 1, 0, 0, 3], [3, 1, 0, 0, 1], [1, 2, 0, 1, 1]]
    assert counts[500:].tolist() == [[1, 2, 0, 1, 1], [0, 3, 0, 0, 2]]


def test_golden_vector_of_signs():
    bits = all_draws(streams.Blake3Stream(SEED).signs(10, 2001, "pairs"))
    assert ["".join(map(str, row)) for row in bits[[0, 1, 2000]]] == [
        "0100110111",
        "1000100110",
        "1000101110",
    ]


def test_golden_fingerprints_at_the_published_size():
    stream = streams.Blake3Stream(SEED)
    counts = all_draws(stream.bootstrap(one_family(534), 1000, "scores"))
    bits = all_draws(stream.signs(534, 4000, "pairs"))
    assert fingerprint(counts, "<u2") == "25659713f32a014d39ee0c603a56583f"
    assert fingerprint(bits, "u1") == "59c82bcec20190e7b4ed9ba3a9016218"


def test_golden_vector_of_wide_words():
    counts = all_draws(streams.Blake3Stream(SEED).bootstrap(one_family(70_000), 1, "scores"))
    assert counts.sum() == 70_000
    assert np.flatnonzero(counts[0])[:6].tolist() == [0, 2, 3, 4, 5, 8]
    assert fingerprint(counts, "<u2") == "6587eebd1b6b422d8804069e38b35863"


FAMILIES = [{0}, {0}, {1}, {0, 1}, {2}, {0}, {2}]


def test_contract_read_word_by_word():
    sizes = np.array([[f in held for f in range(3)] for held in FAMILIES], dtype=np.int64)
    counts = all_draws(streams.Blake3Stream(3).bootstrap(sizes, 620, "scores"))
    assert counts.tolist() == reference.bootstrap_counts(3, FAMILIES, 620)
    assert np.all(counts @ sizes > 0)


def test_contract_drops_replicates_with_an_empty_family():
    plain = reference.bootstrap_counts(3, [{0}] * len(FAMILIES), 500)
    kept = reference.bootstrap_counts(3, FAMILIES, 500)
    dropped = [row for row in plain if row not in kept]
    assert dropped
    assert all(sum(row[c] for c in (4, 6)) == 0 or row[2] + row[3] == 0 for row in dropped)


def test_contract_read_bit_by_bit():
    bits = all_draws(streams.Blake3Stream(3).signs(19, 2100, "pairs"))
    assert (2 * bits - 1).tolist() == reference.sign_rows(3, 19, 2100)


def test_words_are_rejected_where_indices_would_be_biased():
    # 2^16 mod 40000 = 25536: more than a third of the words must go.
    reader = streams.IndexReader(1, 0, "bootstrap", 40_000)
    words = np.frombuffer(reference.page_bytes(1, 0, "bootstrap", 2000), dtype="<u2").tolist()
    expected = [x * 40_000 >> 16 for x in words if x * 40_000 % 65_536 >= 25_536]
    assert len(expected) < 750
    got = np.concatenate([reader.take(100), reader.take(1), reader.take(300)])
    assert got.tolist() == expected[:401]


@settings(max_examples=20, deadline=None)
@given(st.integers(-(2**53) + 1, 2**53 - 1), st.integers(1, 700), st.integers(1, 30))
def test_fewer_draws_are_the_first_ones(seed, draws, clusters):
    stream = streams.Blake3Stream(seed)
    sizes = one_family(clusters)
    more = all_draws(stream.bootstrap(sizes, 1000, "scores"))
    assert np.array_equal(all_draws(stream.bootstrap(sizes, draws, "scores")), more[:draws])
    signs = all_draws(stream.signs(clusters, 1000, "pairs"))
    assert np.array_equal(all_draws(stream.signs(clusters, draws, "pairs")), signs[:draws])


def test_pages_come_in_any_order():
    pages = list(streams.Blake3Stream(9).bootstrap(one_family(11), 1600, "scores"))
    backwards = [page.draw() for page in reversed(pages)][::-1]
    assert np.array_equal(np.concatenate(backwards), np.concatenate([p.draw() for p in pages]))


def test_draws_look_fair():
    stream = streams.Blake3Stream(2)
    counts = all_draws(stream.bootstrap(one_family(50), 4000, "scores"))
    totals = counts.sum(axis=0)
    chi_square = float(((totals - 4000) ** 2 / 4000).sum())
    assert 20 < chi_square < 90
    assert counts.var() == pytest.approx(0.98, abs=0.02)
    assert all_draws(stream.signs(50, 4000, "pairs")).mean() == pytest.approx(0.5, abs=0.005)


def test_seed_purpose_and_page_each_change_the_bytes():
    a = all_draws(streams.Blake3Stream(1).signs(64, 4000, "pairs"))
    b = all_draws(streams.Blake3Stream(2).signs(64, 4000, "pairs"))
    assert not np.array_equal(a[:2000], b[:2000])
    assert not np.array_equal(a[:2000], a[2000:])
    assert reference.page_bytes(1, 0, "signs", 8) != reference.page_bytes(1, 0, "bootstrap", 8)


def test_pcg64_is_numpy_in_batches_and_seeds_of_the_published_release():
    stream = streams.Pcg64Stream(7)
    for role, seed in (("scores", 7), ("chance", 7), ("pairs", 10)):
        rng = np.random.default_rng(seed)
        rows = [rng.multinomial(9, [1 / 9] * 9, size=size) for size in (250, 250, 100)]
        drawn = all_draws(stream.bootstrap(one_family(9), 600, role))
        assert np.array_equal(drawn, np.concatenate(rows))
    for role, seed in (("chance", 8), ("pairs", 9)):
        rng = np.random.default_rng(seed)
        bits = [rng.integers(0, 2, size=(size, 9), dtype=np.int8) for size in (1000, 500)]
        assert np.array_equal(all_draws(stream.signs(9, 1500, role)), np.concatenate(bits))


def test_pcg64_redraws_replicates_with_an_empty_family():
    sizes = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    counts = all_draws(streams.Pcg64Stream(1).bootstrap(sizes, 700, "scores"))
    assert len(counts) == 700
    assert np.all(counts @ sizes > 0)


@pytest.mark.parametrize("name", ["blake3", "pcg64"])
def test_hopeless_families_stop_the_draw(name):
    pages = streams.open_stream(name, 1).bootstrap(np.eye(20, dtype=np.int64), 100, "scores")
    with pytest.raises(InputError, match="resamples with an empty family"):
        all_draws(pages)


def test_all_sign_rows_of_few_clusters():
    bits = all_draws(streams.enumerate_signs(3))
    assert ["".join(map(str, row)) for row in bits] == [
        "000", "100", "010", "110", "001", "101", "011", "111",
    ]  # fmt: skip
    many = all_draws(streams.enumerate_signs(13))
    assert len({tuple(row) for row in many}) == 2**13


def test_unknown_streams_and_unusable_seeds_are_refused():
    with pytest.raises(InputError, match="stream blake3 or pcg64"):
        streams.open_stream("mt19937", 1)
    with pytest.raises(InputError, match="seed -1"):
        streams.open_stream("pcg64", -1)
    with pytest.raises(FlavourbenchError, match="2\\^53"):
        all_draws(streams.open_stream("blake3", 2**53).signs(3, 1, "pairs"))
