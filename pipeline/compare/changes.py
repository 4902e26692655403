"""What `diff` shows: a summary for people, everything for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.showing.numbers import place, score
from pipeline.showing.view import Grid, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.compare.conclusions import ConclusionChanges, RoutePlace
    from pipeline.compare.ingredients import IngredientChanges
    from pipeline.compare.releases import ReleaseChanges
    from pipeline.compare.tasks import TaskChanges

__all__ = ["changes_view"]

_MOST = 8


def changes_view(changes: ReleaseChanges) -> View:
    """The three levels, one block each."""
    grids = _ingredients(changes.ingredients)
    if changes.tasks is not None:
        grids += _tasks(changes.tasks)
    if changes.conclusions is not None and changes.conclusions.tasks:
        grids += _conclusions(changes.conclusions)
    notes = list(changes.reasons)
    moved, shared = len(changes.ingredients.moved), changes.ingredients.shared
    if shared and moved == shared:
        notes.append(
            "Every vector moved: where the spaces were learned apart, the nearest ten say more "
            "than the distances."
        )
    if changes.empty:
        grids = []
        notes.append("Nothing differs.")
    document = _plain(changes) | {"empty": changes.empty}
    return View(f"From {changes.before} to {changes.after}", tuple(grids), tuple(notes), document)


def _ingredients(changes: IngredientChanges) -> list[Grid]:
    before, after = changes.dimensions
    rows = [
        ("in both", str(changes.shared), ""),
        ("added", str(len(changes.added)), _some(changes.added)),
        ("removed", str(len(changes.removed)), _some(changes.removed)),
        (
            "tags changed", str(len(changes.tags)),
            _some([f"{c.name} {c.tag} {c.before} to {c.after}" for c in changes.tags]),
        ),
    ]  # fmt: skip
    if before == after:
        moves = [f"{move.name} {_ppm(move.distance_ppm)}" for move in changes.moved]
        rows.append(("vectors moved", str(len(changes.moved)), _some(moves)))
    else:
        rows.append(("vectors moved", "all", f"{before} dimensions, then {after}: not comparable"))
    if changes.spread is not None:
        least, median, ninety, largest = map(_ppm, changes.spread)
        said = f"least {least}, median {median}, 90% {ninety}, largest {largest}"
        rows.append(("distance moved", "", f"1 - cosine: {said}"))
    near = [f"{c.name} +{len(c.gained)} -{len(c.lost)}" for c in changes.neighbours]
    rows.append(("nearest ten changed", str(len(near)), _some(near)))
    rows.append(("directions changed", str(len(changes.directions)), _some(changes.directions)))
    return [Grid("Ingredients", ("what", "count", "which"), tuple(rows), frozenset({1}))]


def _tasks(changes: TaskChanges) -> list[Grid]:
    flips = [change.before for change in changes.changed if change.flipped]
    kept = [c.correlation_ppb for c in changes.changed if c.correlation_ppb is not None]
    shifts = [change.shift_bps for change in changes.changed]
    feasible = [change.before for change in changes.changed if change.feasibility]
    first, second = (root[:16] for root in changes.roots)
    rows = [
        ("tables", "", f"{first}… and {second}…" if first != second else f"both {first}…"),
        ("same decision", str(changes.same), ""),
        ("only before", str(len(changes.removed)), _some(changes.removed)),
        ("only after", str(len(changes.added)), _some(changes.added)),
        ("touched", str(len(changes.touched)), _some(changes.touched)),
        ("other scores", str(len(shifts)), _some([c.before for c in changes.changed])),
        ("optimum flips", str(len(flips)), _some(flips)),
        ("feasibility changes", str(len(feasible)), _some(feasible)),
    ]
    if shifts:
        mean = f"mean absolute shift of the 56 scores {score(_mean(shifts) * 1_000_000, 2)}"
        rank = f", mean rank correlation {_mean(kept) / 1e9:.3f}" if kept else ""
        rows.append(("on the changed", "", mean + rank))
    return [Grid("Tasks", ("what", "count", "which"), tuple(rows), frozenset({1}))]


def _conclusions(changes: ConclusionChanges) -> list[Grid]:
    ranks = [[c.before.rank for c in changes.standings], [c.after.rank for c in changes.standings]]
    rows = tuple(
        (c.slug, *_place(c.before, ranks[0]), *_place(c.after, ranks[1]), _step(c))
        for c in changes.standings
    )
    title = (
        f"Conclusions: stored answers on {changes.tasks} of {changes.core} core tasks that both "
        f"can score; {changes.changed} have another map"
    )
    headings = ("route", "rank", "score", "95% band", "rank", "score", "95% band", "change")
    grids = [Grid(title, headings, rows, frozenset(range(1, 8)))]
    before, after = changes.resolved
    contrasts = tuple(
        (f"{c.left} - {c.right}", c.change, score(c.before_microbps), score(c.after_microbps))
        for c in changes.contrasts
    ) or (("none gained, lost or reversed", "", "", ""),)
    said = f"Contrasts: {before} resolved before, {after} after"
    grids.append(
        Grid(said, ("contrast", "change", "before", "after"), contrasts, frozenset({2, 3}))
    )
    return grids


def _place(one: RoutePlace, ranks: Sequence[int]) -> tuple[str, str, str]:
    return (
        f"{place(one.rank, ranks)} ({one.rank_low}-{one.rank_high})",
        score(one.score_microbps),
        f"{score(one.low_microbps)} - {score(one.high_microbps)}",
    )


def _step(change: Any) -> str:
    step = change.after.score_microbps - change.before.score_microbps
    return ("+" if step > 0 else "") + score(step)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {more} more" if more > 0 else "")


def _ppm(value: int) -> str:
    return f"{value / 1e6:.4f}"


def _mean(values: Sequence[int]) -> int:
    return round(sum(values) / len(values))


def _plain(value: Any) -> Any:
    """Named tuples as objects, for machines."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
