"""What `score` shows of your own answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pipeline.showing.numbers import bps, p_value, score
from pipeline.showing.view import Grid, View

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.exchange.own import OwnReport

__all__ = ["own_view"]


def own_view(report: OwnReport, path: Path, checked: bool) -> View:
    """Coverage first, then the score where there is one, then every task."""
    document = report.document
    coverage, result = document["coverage"], document["score"]
    unparseable = {reason: count for reason, count in coverage["unparseable"].items() if count}
    rows = [("expected", coverage["expected"]), ("parsed", coverage["parsed"])]
    rows += [(f"unparseable: {reason}", count) for reason, count in unparseable.items()]
    rows += [("missing", coverage["missing"])]
    if document["aside"]:
        rows += [("answers to other frozen tasks, left aside", document["aside"])]
    grids = [
        Grid(
            "Coverage",
            ("cells", "count"),
            tuple((name, str(count)) for name, count in rows),
            frozenset({1}),
        ),
        _family_grid(report),
        _task_grid(report),
    ]
    if result is None:
        lacking = coverage["expected"] - coverage["parsed"]
        notes = [
            f"No comparable score: {lacking} of {coverage['expected']} tasks lack an answer.",
            "A mean over the others would stand on other tasks than the leaderboard's.",
        ]
    else:
        chance = result["chance"]
        interval = f"{score(result['low_microbps'], 2)} to {score(result['high_microbps'], 2)}"
        p = p_value(chance["p_numerator"], chance["p_denominator"])
        notes = [
            f"Score {score(result['score_microbps'], 6)}, 95% interval {interval}",
            f"Exact chance {score(chance['chance_microbps'], 2)}, sign-flip p {p}",
        ]
    notes += [
        f"Expected: {document['scope']}",
        f"Task set {document['taskset_digest']}",
        f"Report {path} {'checked' if checked else 'written'}, digest {document['digest']}",
    ]
    title = "Your answers" if report.comparable else "Your answers, not comparable"
    return View(title, tuple(grids), tuple(notes), document)


def _family_grid(report: OwnReport) -> Grid:
    lines, result = report.document["tasks"], report.document["score"]
    expected = Counter(line["family"] for line in lines)
    parsed = Counter(line["family"] for line in lines if line["status"] == "parsed")
    means = (
        {f["family"]: score(f["score_microbps"], 4) for f in result["families"]} if result else {}
    )
    return Grid(
        "Families",
        ("family", "expected", "parsed", "score"),
        tuple((f, str(n), str(parsed[f]), means.get(f, "none")) for f, n in expected.items()),
        frozenset({1, 2, 3}),
    )


def _task_grid(report: OwnReport) -> Grid:
    """The tasks that deserve a look first: without a selection, then the lowest scores."""
    lines = sorted(
        report.document["tasks"],
        key=lambda line: (line["score_bps"] is not None, line["score_bps"], line["task_id"]),
    )
    shown = tuple(
        (
            line["task_id"],
            line["selection"] or line["reason"] or line["status"],
            "none" if line["score_bps"] is None else bps(line["score_bps"]),
            bps(line["chance_bps"]),
        )
        for line in lines[:10]
    )
    headings = ("task", "selection", "score", "chance")
    title = f"Lowest {len(shown)} of {len(lines)} tasks (the report has all)"
    return Grid(title, headings, shown, frozenset({2, 3}))
