"""The leaderboard as CSV and JSON, and the numbers that `dvc metrics diff` compares."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pipeline.report.leaderboard import leaderboard_document
from pipeline.showing.documents import csv_lines, safe_cell
from pipeline.showing.numbers import fixed, score
from pipeline.showing.terminal import inert_json

if TYPE_CHECKING:
    from pipeline.report.leaderboard import Results

__all__ = ["csv_text", "json_text", "metrics_text"]


def csv_text(results: Results) -> str:
    """The leaderboard as CSV: numbers are numbers, text that a spreadsheet would run is quoted.

    Scores are points from 0 to 100 with six decimals.
    """
    families = [part.family.value for part in results.standings[0].families]
    header = [
        "rank", "group", "slug", "label", "score", "se", "pointwise_low", "pointwise_high",
        "band_low", "band_high", "rank_low", "rank_high", *families, "above_chance",
        "chance_holm_p_numerator", "p_denominator", "expected", "completed", "parsed", "core_tasks",
        "attempts", "cost_usd", "unknown_cost", "route_digest",
    ]  # fmt: skip
    lines: list[list[str]] = [header]
    for s in results.standings:
        chance, coverage = results.chance[s.slug], results.coverage[s.slug]
        usage = results.usage[s.slug]
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
                str(coverage["parsed"]), str(s.tasks), str(usage.attempts),
                fixed(Fraction(usage.cost_micros, 1_000_000), 6), str(usage.unknown_cost),
                s.route_digest,
            ]
        )  # fmt: skip
    return csv_lines(lines)


def json_text(results: Results) -> str:
    """The leaderboard as JSON for machines, keyed by slug."""
    document = leaderboard_document(results)
    for part in ("leaderboard", "references"):
        document[part] = {row["slug"]: _without_slug(row) for row in document[part]}
    document["agreement"] = {
        f"{row['first']}/{row['second']}": row for row in document["agreement"]
    }
    return inert_json(document, indent=1, sort_keys=True) + "\n"


def metrics_text(results: Results) -> str:
    """What `dvc metrics diff` compares, as JSON: few numbers, in points, keyed by slug."""
    inference = results.inference
    document = {
        "tasks": inference.tasks,
        "pairs": inference.contrasts,
        "resolved pairs": inference.resolved,
        "routes": {
            s.slug: {
                "score": float(score(s.score_microbps, 2)),
                "rank": s.rank,
                "group": s.group,
                "parsed": results.coverage[s.slug]["parsed"],
            }
            for s in results.standings
        },
    }
    return inert_json(document, indent=1, sort_keys=True) + "\n"


def _without_slug(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "slug"}
