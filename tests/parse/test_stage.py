"""What parse writes beside selections: answers as text, and what attempts used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.tables import make_table, write_table
from schemas.execution import Attempt
from schemas.results import Answer, Selection, Usage
from tests.mini import mini_workspace, run_stages
from tests.schemas.examples import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path


def attempt(**changes: Any) -> Attempt:
    return EXAMPLES[Attempt].model_copy(update=changes)


def test_every_cell_that_has_an_answer_has_its_text(tmp_path: Path) -> None:
    workspace = mini_workspace(tmp_path)
    run_stages(workspace, "release", "freeze", "execute", "parse")
    texts = {row.response_digest: row.text for row in workspace.read("parse", Answer).rows()}
    cells = workspace.read("parse", Selection).rows()
    assert {cell.response_digest for cell in cells} == set(texts)
    assert all("FINAL_SELECTION: " in text for text in texts.values())


def test_two_routes_that_are_one_share_their_answers(tmp_path: Path) -> None:
    def change(parameters: dict[str, Any]) -> None:
        parameters["routes"]["twin"] = parameters["routes"]["dice"] | {"label": "Twin"}

    workspace = mini_workspace(tmp_path, change)
    run_stages(workspace)
    cells = workspace.read("parse", Selection).rows()
    by_slug = {s: [c.response_digest for c in cells if c.slug == s] for s in ("dice", "twin")}
    assert by_slug["dice"] == by_slug["twin"]


def test_usage_sums_the_attempts_of_a_route_as_it_is_now(tmp_path: Path) -> None:
    workspace = mini_workspace(tmp_path)
    run_stages(workspace, "release", "freeze", "execute", "parse")
    free = {row.slug: row for row in workspace.read("parse", Usage).rows()}
    assert {row.attempts for row in free.values()} == {0}
    own = free["dice"].route_digest
    rows = [
        attempt(number=1, route_digest=own, prompt_tokens=7, completion_tokens=3, cost_micros=12),
        attempt(number=2, route_digest=own, prompt_tokens=None, cost_micros=None),
        attempt(number=3, route_digest="9" * 64, prompt_tokens=100, cost_micros=1_000),
    ]
    write_table(workspace.artifact("execute", "attempts/dice"), make_table(Attempt, rows))
    run_stages(workspace, "parse")
    dice = {row.slug: row for row in workspace.read("parse", Usage).rows()}["dice"]
    assert (dice.attempts, dice.prompt_tokens, dice.completion_tokens) == (2, 7, 3)
    assert (dice.cost_micros, dice.unknown_cost) == (12, 1)
