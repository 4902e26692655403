"""The drawing in plain characters: in its place, within its width, for any label."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from rich.cells import cell_len

from pipeline.report.bands import bands_grid

if TYPE_CHECKING:
    from tests.report.conftest import Run


def test_the_drawing_is_ascii_and_puts_scores_where_they_are(hostile: Run) -> None:
    results = hostile.sources.results
    for standing, (rank, _, line) in zip(results.standings, bands_grid(results).rows, strict=True):
        assert rank == results.place(standing)
        assert line.isascii()
        assert abs(line.index("o") - standing.score_microbps * 60 / 10**10) <= 0.5
        low = max(standing.band_low_microbps, 0)
        assert line.index("(") <= line.index("o")
        assert abs(line.index("(") - low * 60 / 10**10) <= 1
        assert len(line) <= 61


def test_chance_is_drawn_where_no_band_covers_it(hostile: Run) -> None:
    results = hostile.sources.results
    high = {f"{end}_microbps": 9 * 10**9 for end in ("band_low", "band_high", "score")}
    first = results.standings[0].model_copy(update=high)
    (row, *_) = bands_grid(results._replace(standings=(first,))).rows
    chance = next(iter(results.chance.values())).chance_microbps
    assert abs(row[2].index(":") - chance * 60 / 10**10) <= 0.5
    assert row[2][54] == "o"


def test_labels_are_cut_by_the_cells_that_they_take(hostile: Run) -> None:
    for _, label, _ in bands_grid(hostile.sources.results).rows:
        assert cell_len(label) <= 24
        assert not [c for c in label if unicodedata.category(c) == "Cf"]


def test_the_ends_of_the_scale_are_drawn_at_its_ends(hostile: Run) -> None:
    results = hostile.sources.results
    ends = {"band_low_microbps": -5 * 10**8, "band_high_microbps": 2 * 10**10}
    first = results.standings[0].model_copy(update={**ends, "score_microbps": 10**10})
    (row, *_) = bands_grid(results._replace(standings=(first,))).rows
    assert row[2] == "(" + "-" * 59 + "o"
    assert (
        bands_grid(results).headings[2]
        == "0             25             50             75             100"
    )
