"""What `audit`, `verify` and `seal` show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipeline.audit.evidence import Mark
from pipeline.showing.view import Grid, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.audit.card import Card
    from pipeline.audit.evidence import Audit, AuditStep
    from pipeline.audit.verifier import Proved
    from pipeline.audit.verify import Verification, VerifyStep

__all__ = ["audit_view", "card_view", "proved_view", "verification_view"]

_HEX = re.compile(r"\b([0-9a-f]{24})[0-9a-f]{40}\b")


def verification_view(result: Verification) -> View:
    """The steps of `verify`, then every difference on a line of its own."""
    rows = tuple(
        (str(number), step.title, step.mark.value,
         step.evidence if not step.differences else f"{len(step.differences)} differences")
        for number, step in enumerate(result.steps, start=1)
    )  # fmt: skip
    found = result.differences
    said = f"{len(found)} differences:" if found else f"Nothing differs. Run {result.run}"
    document = {
        "run": result.run,
        "ok": not found,
        "steps": [
            {
                "title": step.title,
                "mark": step.mark.value,
                "evidence": step.evidence,
                "differences": [difference._asdict() for difference in step.differences],
            }
            for step in result.steps
        ],
    }
    grid = Grid("", ("step", "what", "", "evidence"), rows, frozenset({0}))
    notes = (said, *map(str, found), *_reservations(result.steps))
    return View("Verification", (grid,), notes, document)


def audit_view(audit: Audit) -> View:
    """An audit's steps, one block each."""
    rows: list[tuple[str, ...]] = []
    for number, step in enumerate(audit.steps, start=1):
        lines = tuple(_HEX.sub(r"\1…", line) for line in step.lines) or ("",)
        rows.append((str(number), step.title, step.mark.value, lines[0]))
        rows += [("", "", "", line) for line in lines[1:]]
    document = {
        "subject": audit.subject,
        "run": audit.run,
        "ok": not audit.differs,
        "steps": [step._asdict() for step in audit.steps],
    }
    grid = Grid("", ("", "step", "", "evidence"), tuple(rows), frozenset({0}))
    said = (
        "A step differs from what follows from its inputs." if audit.differs else "Nothing differs."
    )
    notes = (f"{said} Run {audit.run}", *_reservations(audit.steps))
    return View(f"Audit of {audit.subject}", (grid,), notes, document)


def _reservations(steps: Sequence[VerifyStep] | Sequence[AuditStep]) -> list[str]:
    """What was not derived, a line for each way in which it was not."""
    found = []
    for mark in (Mark.SEALED, Mark.UNKNOWN):
        titles = [step.title for step in steps if step.mark is mark]
        if titles:
            found.append(f"{mark.value.capitalize()}: {', '.join(titles)}.")
    return found


def proved_view(proved: Proved) -> View:
    """The checks of a proof that holds."""
    rows = [(str(n), "ok", line) for n, line in enumerate(proved.lines, start=1)]
    rows += [("", "not claimed", line) for line in proved.unclaimed]
    grid = Grid("", ("", "", "check"), tuple(rows), frozenset({0}))
    document = {
        "ok": True,
        "run": proved.run,
        "checks": list(proved.lines),
        "not_claimed": list(proved.unclaimed),
    }
    return View("Proof", (grid,), (f"The proof holds. Run {proved.run}",), document)


def card_view(card: Card) -> View:
    """What a card names."""
    rows = (
        ("release", card.release, card.release_digest),
        ("task set", f"{card.inference.tasks} core tasks", card.taskset_digest),
        ("parser", card.parser_contract, card.parser_contract_digest),
        *(("route", slug, digest) for slug, digest in card.routes.items()),
    )
    grid = Grid("", ("what", "name", "digest"), rows, frozenset())
    notes = (f"Run {card.run}", "Written: run-card.json, run-card.md")
    return View("Run card", (grid,), notes, card.model_dump(mode="json"))
