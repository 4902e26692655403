"""The page: one file that opens from disk, asks no network, and runs no script but its own.

Everything that comes from tables is escaped by the template engine; the explorer's data stand in
one JSON block and reach the page as text only. A content security policy names the page's style and
script by their hashes and forbids all else.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from pipeline.report.contents import diagnostics_grid
from pipeline.report.evidence import embedded_json, evidence
from pipeline.report.leaderboard import leaderboard_view, report_title
from pipeline.showing.drawing import themed
from pipeline.showing.numbers import bps, cost, p_value, score
from pipeline.showing.terminal import visible
from schemas.taskset import LABELS, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.report.sources import Sources
    from pipeline.showing.drawing import Figure
    from schemas.results import Standing
    from schemas.taskset import Task

__all__ = ["case_studies", "page_html"]

_FAMILY, _PANEL = "family", "panel"
_BAR = 100 * 100 * 1_000_000


class Column(NamedTuple):
    """A column of the leaderboard; `part` is `family` or `panel` where it shows only that one."""

    heading: str
    numeric: bool
    part: str = ""
    name: str = ""


class Band(NamedTuple):
    """A band as a drawing 0 to 100 wide: where it starts, its score, where it ends, and chance."""

    low: str
    score: str
    high: str
    chance: str


class Cell(NamedTuple):
    """What a cell shows, and the number or text that it is sorted by."""

    text: str
    order: str
    band: Band | None = None


class CaseAnswer(NamedTuple):
    """One route's answer in a case study."""

    route: str
    selection: str
    members: str
    score: str


class CaseStudy(NamedTuple):
    """One task shown in full, chosen by a rule that knows no answers."""

    family: str
    task_id: str
    anchor: str
    choices: tuple[tuple[str, str], ...]
    optimum: str
    members: str
    chance: str
    margin: str
    answers: tuple[CaseAnswer, ...]


def page_html(sources: Sources, figures: Sequence[Figure]) -> str:
    """The page as HTML; the same sources give the same bytes."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("pipeline.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    style, script = _package_text("page.css"), _package_text("page.js")
    view = leaderboard_view(sources.parameters, sources.results)
    return environment.get_template(
        "index.html"
    ).render(
        style=Markup(style),  # noqa: S704  # package data
        script=Markup(script),  # noqa: S704  # package data
        style_hash=_source_hash(style),
        script_hash=_source_hash(script),
        data=Markup(embedded_json(evidence(sources))),  # noqa: S704  # escaped there
        title=report_title(sources.parameters),
        inference=sources.results.inference,
        columns=_columns(sources),
        lines=[_line(standing, sources) for standing in sources.results.standings],
        others=[*view.grids[1:], diagnostics_grid(sources.diagnostics)],
        notes=view.notes,
        figures=[(f, Markup(themed(f.svg, f.name))) for f in figures],  # noqa: S704  # drawn here
        cases=case_studies(sources),
        chance=score(next(iter(sources.results.chance.values())).chance_microbps),
        families=list(dict.fromkeys(task.family.value for task in sources.tasks.values())),
        panels=list(dict.fromkeys(task.panel for task in sources.tasks.values())),
    )


def case_studies(sources: Sources) -> tuple[CaseStudy, ...]:
    """One task a family of the core: that with the smallest SHA-256 of a text with its id.

    The text is `case-study`, the family and the task's id, joined by NUL characters.
    """
    chosen: dict[str, Task] = {}
    for task in sources.tasks.values():
        best = chosen.get(task.family.value)
        if task.task_id in sources.core and (not best or _lot(task) < _lot(best)):
            chosen[task.family.value] = task
    return tuple(_case(task, sources) for task in chosen.values())


def _lot(task: Task) -> str:
    text = f"case-study\0{task.family.value}\0{task.task_id}"
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _case(task: Task, sources: Sources) -> CaseStudy:
    scores = score_map(task)
    names = dict(zip(LABELS, (name.replace("_", " ") for name in task.choices), strict=True))
    cells = {
        slug: next(cell for cell in found if cell.task_id == task.task_id)
        for slug, found in sources.selections.items()
    }
    answers = [
        CaseAnswer(
            sources.parameters.routes[slug].label,
            cell.selection or (cell.reason.value.replace("_", " ") if cell.reason else "none"),
            ", ".join(names[label] for label in cell.selection or ""),
            bps(scores[cell.selection]) if cell.selection else "",
        )
        for slug, cell in cells.items()
    ]
    return CaseStudy(
        task.family.value.replace("_", " "),
        task.task_id,
        task.anchor.replace("_", " "),
        tuple(names.items()),
        task.optimum,
        ", ".join(names[label] for label in task.optimum),
        bps(task.chance_bps),
        bps(task.margin_bps),
        tuple(sorted(answers, key=lambda answer: -float(answer.score or -1))),
    )


def _columns(sources: Sources) -> list[Column]:
    families = [part.family.value for part in sources.results.standings[0].families]
    panels = _panel_names(sources)
    return [
        Column("rank", True),
        Column("group", True),
        Column("route", False),
        Column("score", True),
        Column("95% band", True),
        Column("ranks", True),
        *(Column(name.replace("_", " "), True, _FAMILY, name) for name in families),
        *(Column(name.replace("_", " "), True, _PANEL, name) for name in panels),
        Column("above chance", False),
        Column("parsed", True),
        Column("cost", True),
    ]


def _line(standing: Standing, sources: Sources) -> list[Cell]:
    results = sources.results
    chance, coverage = results.chance[standing.slug], results.coverage[standing.slug]
    seen = " †" if sources.parameters.routes[standing.slug].sees_map else ""
    ends = (standing.band_low_microbps, standing.score_microbps, standing.band_high_microbps)
    low, middle, high = (score(min(max(value, 0), _BAR), 2) for value in ends)
    panels = {row.panel: row for row in sources.panels if row.slug == standing.slug}
    holm = p_value(chance.holm_numerator, chance.p_denominator)
    return [
        Cell(results.place(standing), str(standing.rank)),
        Cell(str(standing.group), str(standing.group)),
        Cell(standing.label + seen, standing.label),
        _score_cell(standing.score_microbps),
        Cell(
            f"{score(ends[0])} - {score(ends[2])}",
            str(ends[0]),
            Band(low, middle, high, score(chance.chance_microbps, 2)),
        ),
        Cell(f"{standing.rank_low}-{standing.rank_high}", str(standing.rank_low)),
        *(_score_cell(part.score_microbps) for part in standing.families),
        *(_score_cell(panels[name].score_microbps) for name in _panel_names(sources)),
        Cell(f"{'yes' if chance.above_chance else 'no'} ({holm})", str(chance.holm_numerator)),
        Cell(f"{coverage['parsed']} of {coverage['expected']}", str(coverage["parsed"])),
        Cell(cost(results.usage[standing.slug]), str(results.usage[standing.slug].cost_micros)),
    ]


def _panel_names(sources: Sources) -> list[str]:
    return list(dict.fromkeys(row.panel for row in sources.panels))


def _score_cell(microbps: int) -> Cell:
    return Cell(score(microbps), str(microbps))


def _package_text(name: str) -> str:
    return (resources.files("pipeline.report") / "page" / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """A hash as a content security policy names a style or a script by it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"
