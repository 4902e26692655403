"""The page's evidence: every task and every cell, compact, and inert inside HTML.

Digests are base64url without padding. A selection is the index of one of the 56 portfolios, or
`-1 - i` for the i-th of `outcomes`. Texts and prompts stand once and are named by index.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, NamedTuple

from pipeline.showing.terminal import inert_json
from schemas.record import Record
from schemas.taskset import LABELS, PORTFOLIOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipeline.report.sources import Sources
    from schemas import results as rows
    from schemas.taskset import Task

__all__ = ["embedded_json", "evidence"]

_CHOICES, _ANCHOR = "\ue000", "\ue001"
_TEXT_BUDGET = 1_000_000
_BOUNDS = (16_000, 8_000, 4_000, 2_000, 1_000, 500, 240, 120, 60)
_NO_DIGEST = "A" * 43
_UNSAFE = re.compile("[<>&]")


class TaskEvidence(Record):
    """One task; `prompt` names a template, whose two placeholders stand for anchor and choices."""

    id: str
    digest: str
    panel: str
    family: str
    anchor: str
    region: str | None
    variant: str | None
    stratum: int
    choices: tuple[str, ...]
    scores_bps: tuple[int, ...]
    chance_bps: int
    margin_bps: int
    core: bool
    prompt: int


class RouteEvidence(Record):
    """One route: for every task in order its selection, its response digest, and its text."""

    slug: str
    label: str
    digest: str
    ranked: bool
    sees_map: bool
    selections: tuple[int, ...]
    responses: str
    texts: tuple[int, ...]


class Evidence(Record):
    """What the page's explorer knows.

    `bound` is the number of characters that are kept of a text; `lengths` are the characters that
    each text had.
    """

    taskset: str
    portfolios: tuple[str, ...]
    outcomes: tuple[str, ...]
    bound: int
    templates: tuple[str, ...]
    texts: tuple[str, ...]
    lengths: tuple[int, ...]
    tasks: tuple[TaskEvidence, ...]
    routes: tuple[RouteEvidence, ...]


class _Interned(dict[str, int]):
    """Texts by index, in the order in which they came."""

    def index(self, text: str) -> int:
        return self.setdefault(text, len(self))


class _Names(NamedTuple):
    """What cells name by index."""

    texts: _Interned
    outcomes: _Interned


def evidence(sources: Sources) -> Evidence:
    """Tasks in key order, routes in the order of `params.yaml`."""
    templates, names = _Interned(), _Names(_Interned(), _Interned())
    tasks = tuple(
        _task(digest, task, task.task_id in sources.core, templates.index(_template(task)))
        for digest, task in sources.tasks.items()
    )
    places = {task.id: place for place, task in enumerate(tasks)}
    routes = tuple(
        _route(sources, slug, cells, places, names) for slug, cells in sources.selections.items()
    )
    bound = _bound(names.texts)
    return Evidence(
        taskset=sources.results.inference.taskset_digest,
        portfolios=PORTFOLIOS,
        outcomes=tuple(names.outcomes),
        bound=bound,
        templates=tuple(templates),
        texts=tuple(_cut(text, bound) for text in names.texts),
        lengths=tuple(len(text) for text in names.texts),
        tasks=tasks,
        routes=routes,
    )


def embedded_json(document: Record) -> str:
    """JSON that stands inside a `<script>` element and can neither end it nor open another."""
    text = inert_json(document.model_dump(mode="json"), separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _task(digest: str, task: Task, core: bool, prompt: int) -> TaskEvidence:
    return TaskEvidence(
        id=task.task_id,
        digest=_short_form(digest),
        panel=task.panel,
        family=task.family.value,
        anchor=task.anchor,
        region=task.region,
        variant=task.variant,
        stratum=task.stratum,
        choices=task.choices,
        scores_bps=task.scores_bps,
        chance_bps=task.chance_bps,
        margin_bps=task.margin_bps,
        core=core,
        prompt=prompt,
    )


def _route(
    sources: Sources,
    slug: str,
    cells: Iterable[rows.Selection],
    places: Mapping[str, int],
    names: _Names,
) -> RouteEvidence:
    parameters = sources.parameters.routes[slug]
    selections, digests = [0] * len(places), [_NO_DIGEST] * len(places)
    named, route_digest = [-1] * len(places), ""
    for cell in cells:
        place = places[cell.task_id]
        route_digest = cell.route_digest
        if cell.selection is not None:
            selections[place] = PORTFOLIOS.index(cell.selection)
        else:
            selections[place] = -1 - names.outcomes.index(_outcome(cell))
        if cell.response_digest is not None:
            digests[place] = _short_form(cell.response_digest)
            named[place] = names.texts.index(sources.texts[cell.response_digest])
    return RouteEvidence(
        slug=slug,
        label=parameters.label,
        digest=route_digest,
        ranked=parameters.ranked,
        sees_map=parameters.sees_map,
        selections=tuple(selections),
        responses="".join(digests),
        texts=tuple(named),
    )


def _outcome(cell: rows.Selection) -> str:
    """Why a cell has no selection: its status, and the reason or outcome that it has."""
    said = cell.reason.value if cell.reason else cell.outcome
    words = [cell.status.value, *([said] if said and said != cell.status.value else [])]
    return ": ".join(words).replace("_", " ")


def _template(task: Task) -> str:
    """The prompt with its eight names and its anchor taken out, where both can be put back."""
    names = [name.replace("_", " ") for name in task.choices]
    block = "\n".join(f"{label}. {name}" for label, name in zip(LABELS, names, strict=True))
    anchor = task.anchor.replace("_", " ")
    template = task.prompt.replace(block, _CHOICES).replace(anchor, _ANCHOR)
    restored = template.replace(_ANCHOR, anchor).replace(_CHOICES, block)
    odd = _CHOICES in task.prompt or _ANCHOR in task.prompt
    return task.prompt if odd or restored != task.prompt else template


def _bound(texts: Iterable[str]) -> int:
    """Characters kept of each text: the most that keep all of them within the budget."""
    lengths = [len(text) for text in texts]
    fits = (b for b in _BOUNDS if sum(min(length, b) for length in lengths) <= _TEXT_BUDGET)
    return next(fits, _BOUNDS[-1])


def _cut(text: str, bound: int) -> str:
    """A third of the bound from the start, the rest from the end, where the selection stands."""
    if len(text) <= bound:
        return text
    head = bound // 3
    return f"{text[:head]}\ue002{text[head - bound :]}"


def _short_form(digest: str) -> str:
    """A digest in 43 characters instead of 64."""
    return base64.urlsafe_b64encode(bytes.fromhex(digest)).decode("ascii").rstrip("=")
