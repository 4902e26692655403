"""The leaderboard as Markdown, CSV and JSON. Text from elsewhere is made inert in each."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

from pipeline.report.numbers import score
from pipeline.report.terminal import visible
from pipeline.report.views import leaderboard_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.report.views import Grid, Results, View

__all__ = ["csv_text", "json_text", "markdown_text", "restore_cell", "safe_cell"]

_FORMULA_START = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&:])")


def markdown_text(view: View) -> str:
    """A view as Markdown, its tables as pipe tables."""
    parts = [f"# {_inert(view.title)}"]
    for grid in view.grids:
        heading = [f"## {_inert(grid.title)}"] if grid.title else []
        parts.append("\n\n".join([*heading, _pipe_table(grid)]))
    parts.append("\n".join(f"- {_inert(note)}" for note in view.notes))
    return "\n\n".join(parts) + "\n"


def csv_text(results: Results) -> str:
    """The leaderboard as CSV: numbers are numbers, text that a spreadsheet would run is quoted.

    Scores are points from 0 to 100 with six decimals.
    """
    families = [part.family.value for part in results.standings[0].families]
    header = [
        "rank", "group", "slug", "label", "score", "se", "pointwise_low", "pointwise_high",
        "band_low", "band_high", "rank_low", "rank_high", *families, "above_chance",
        "chance_holm_p_numerator", "p_denominator", "expected", "completed", "parsed", "core_tasks",
        "route_digest",
    ]  # fmt: skip
    lines: list[list[str]] = [header]
    for s in results.standings:
        chance, coverage = results.chance[s.slug], results.coverage[s.slug]
        values = (
            s.score_microbps, s.se_microbps, s.pointwise_low_microbps, s.pointwise_high_microbps,
            s.band_low_microbps, s.band_high_microbps,
        )  # fmt: skip
        lines.append(
            [
                str(s.rank), str(s.group), safe_cell(s.slug), safe_cell(s.label),
                *(score(value, 6) for value in values), str(s.rank_low), str(s.rank_high),
                *(score(part.score_microbps, 6) for part in s.families),
                "true" if chance.above_chance else "false", str(chance.holm_numerator),
                str(chance.p_denominator), str(coverage["expected"]), str(coverage["completed"]),
                str(coverage["parsed"]), str(s.tasks), s.route_digest,
            ]
        )  # fmt: skip
    return _csv(lines)


def json_text(results: Results) -> str:
    """The leaderboard as JSON: rows as the tables hold them, and what `dvc metrics` compares.

    `dvc metrics` shows whatever stands under a key and passes over lists. So rows stand in lists,
    and by key only what a person compares between two commits: points from 0 to 100 by slug.
    """
    rows = leaderboard_document(results)
    points = {s.slug: s.score_microbps for s in results.standings} | {
        r.slug: r.score_microbps for r in results.references if r.score_microbps is not None
    }
    metrics = {
        "score": {slug: _points(value) for slug, value in points.items()},
        "chance": _points(next(iter(results.chance.values())).chance_microbps),
        "core_tasks": results.inference.tasks,
    }
    document = metrics | rows | {"inference": [rows["inference"]]}
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def safe_cell(text: str) -> str:
    """A text cell that a spreadsheet shows as text; `restore_cell` gives the text back."""
    return f"'{text}" if text.startswith((*_FORMULA_START, "'")) else text


def restore_cell(cell: str) -> str:
    """The text that `safe_cell` made safe."""
    return cell.removeprefix("'")


def _csv(lines: Sequence[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _pipe_table(grid: Grid) -> str:
    ruler = ["---:" if i in grid.numeric else ":---" for i in range(len(grid.headings))]
    rows = [grid.headings, ruler, *grid.rows]
    return "\n".join(
        "| " + " | ".join(cell if row is ruler else _inert(cell) for cell in row) + " |"
        for row in rows
    )


def _inert(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


def _points(microbps: int) -> float:
    """Points from 0 to 100, as a number with at most six decimals."""
    return float(score(microbps, 6))
