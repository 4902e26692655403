"""A cell's answer: derived again where that costs nothing, else taken as it was sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.asking.adapter import request_digest
from pipeline.audit.evidence import AuditStep, Mark
from pipeline.audit.layout import attempts_place
from pipeline.audit.lookup import values_where
from pipeline.audit.rebuild import derive_answer, underivable
from pipeline.identity import digest_bytes, row_digest

if TYPE_CHECKING:
    from pipeline.audit.lookup import Claim
    from pipeline.workspace import Workspace
    from schemas.results import Selection

__all__ = ["answer_step"]

_TITLE = "raw answer"
_SHOWN = 300


class _Attempts(NamedTuple):
    """How many attempts at a cell are on record, and what is said of them."""

    made: int
    said: str


def answer_step(
    workspace: Workspace, task: Claim, cell: Selection, response: Claim | None
) -> AuditStep:
    """What came back for a cell, and whether its route gives just that when asked again.

    Parameters
    ----------
    workspace
        The workspace.
    task, cell
        The cell's task, and how the cell was read.
    response
        Its sealed response, of which the route's table is here; none where nothing came back.

    Raises
    ------
    FlavourbenchError
        The answer cannot be derived again though its route costs nothing.
    """
    sealed = response.digest if response else None
    holds = sealed == cell.response_digest
    why = underivable(workspace, cell.slug)
    said = f"taken as sealed: {why}"
    if not why:
        derived = row_digest(derive_answer(workspace, cell.slug, task.row, task.digest))
        holds &= derived == sealed
        equal = "equal" if derived == sealed else f"which gives response {derived}"
        said = f"asked its route again, {equal}"
    tried = _attempts(workspace, cell)
    holds &= bool(why) or not tried.made
    mark = (Mark.SEALED if why else Mark.OK) if holds else Mark.DIFFERS
    if response is None:
        return AuditStep(_TITLE, mark, ("nothing came back: the cell is missing", said, tried.said))
    row = response.row
    text = row.raw.decode("utf-8", "backslashreplace")
    bytes_digest = digest_bytes("bytes", row.raw)[:16]
    about = (
        f"outcome {row.outcome}, {len(row.raw)} bytes ({row.form}), bytes digest {bytes_digest}…"
    )
    lines = (
        f"response {response.digest}",
        about,
        said,
        tried.said,
        *(f"| {line}" for line in text[:_SHOWN].splitlines() if line),
    )
    return AuditStep(_TITLE, mark, lines)


def _attempts(workspace: Workspace, cell: Selection) -> _Attempts:
    """What the attempts on record say: how many, how they ended, what they cost."""
    place = attempts_place(cell.slug)
    if not place.path(workspace).is_file():
        return _Attempts(0, "attempts: their table is not here; run `dvc pull`")
    request = request_digest(cell.task_digest, cell.route_digest, 0)
    columns = ("number", "outcome", "cost_micros", "system_fingerprint")
    rows = values_where(workspace, place, columns, request_digest=request)
    if not rows:
        return _Attempts(0, "attempts: none on record")
    ended = ", ".join(str(row[1]) for row in rows)
    costs = [row[2] for row in rows]
    cost = "unknown" if None in costs else f"{sum(costs)} millionths of a US dollar"
    told = sorted({str(row[3]) for row in rows if row[3] is not None})
    served = f", answered by {', '.join(told)}" if told else ""
    return _Attempts(len(rows), f"attempts: {len(rows)} ({ended}), cost {cost}{served}")
