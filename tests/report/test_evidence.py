"""The page's data: every cell as the tables hold it, prompts whole, texts bounded, JSON inert."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.evidence import embedded_json, evidence
from pipeline.report.sources import read_sources
from schemas.record import Record
from schemas.results import Score, Selection
from schemas.taskset import LABELS, PORTFOLIOS, Task
from tests.report.hostile import ANSWERS

if TYPE_CHECKING:
    from tests.report.conftest import Run


class Note(Record):
    """Any text."""

    text: str


@pytest.fixture(scope="module")
def document(hostile: Run) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(embedded_json(evidence(hostile.sources)))
    return made


def whole(short: str) -> str:
    return base64.urlsafe_b64decode(short + "=").hex()


def test_every_task_is_there_with_its_map_and_digest(hostile: Run, document: Any) -> None:
    table = hostile.workspace.read("freeze", Task)
    for digest, task, shown in zip(table.digests, table.rows(), document["tasks"], strict=True):
        assert whole(shown["digest"]) == digest
        assert shown["id"] == task.task_id
        assert tuple(shown["scores_bps"]) == task.scores_bps
        assert tuple(shown["choices"]) == task.choices
        assert (shown["chance_bps"], shown["margin_bps"]) == (task.chance_bps, task.margin_bps)


def test_every_prompt_is_put_together_again_exactly(hostile: Run, document: Any) -> None:
    tasks = hostile.workspace.read("freeze", Task).rows()
    for task, shown in zip(tasks, document["tasks"], strict=True):
        names = [name.replace("_", " ") for name in task.choices]
        block = "\n".join(f"{a}. {b}" for a, b in zip(LABELS, names, strict=True))
        template = document["templates"][shown["prompt"]]
        anchor = task.anchor.replace("_", " ")
        assert template.replace("\ue001", anchor).replace("\ue000", block) == task.prompt
    assert len(document["templates"]) < len(tasks)


def test_a_prompt_that_holds_a_placeholder_stands_whole(hostile: Run) -> None:
    digest, task = next(iter(hostile.sources.tasks.items()))
    odd = task.model_copy(update={"prompt": f"{task.prompt}\ue001"})
    made = evidence(hostile.sources._replace(tasks={**hostile.sources.tasks, digest: odd}))
    assert made.templates[made.tasks[0].prompt] == odd.prompt


def test_every_cell_has_its_selection_score_and_digest(hostile: Run, document: Any) -> None:
    scores = {
        (s.slug, s.task_id): s.score_bps for s in hostile.workspace.read("score", Score).rows()
    }
    cells = {(c.slug, c.task_id): c for c in hostile.workspace.read("parse", Selection).rows()}
    seen = 0
    for route in document["routes"]:
        for place, task in enumerate(document["tasks"]):
            cell = cells[route["slug"], task["id"]]
            chosen = route["selections"][place]
            if chosen >= 0:
                assert PORTFOLIOS[chosen] == cell.selection
                assert task["scores_bps"][chosen] == scores[route["slug"], task["id"]]
            else:
                assert cell.selection is None
                said = document["outcomes"][-1 - chosen]
                assert said.startswith(cell.status)
                assert cell.reason is None or cell.reason.replace("_", " ") in said
            assert whole(route["responses"][place * 43 : (place + 1) * 43]) == cell.response_digest
            seen += 1
    assert seen == len(cells)


def test_texts_are_what_came_back_cut_at_a_stated_bound(hostile: Run, document: Any) -> None:
    route = next(r for r in document["routes"] if r["slug"] == "replayed")
    bound = document["bound"]
    for place, answer in enumerate(ANSWERS):
        text = answer or ""
        index = route["texts"][place]
        shown = document["texts"][index]
        assert document["lengths"][index] == len(text)
        if len(text) <= bound:
            assert shown == text
        else:
            head, tail = shown.split("\ue002")
            assert len(head) + len(tail) == bound
            assert text.startswith(head)
            assert text.endswith(tail)
            assert tail.endswith("FINAL_SELECTION: F, G, H")


def test_many_long_texts_stay_within_the_budget(hostile: Run) -> None:
    sources = hostile.sources
    texts = {digest: f"{digest} {'y' * 50_000}" for digest in sources.texts}
    made = evidence(sources._replace(texts=texts))
    assert sum(map(len, made.texts)) <= 1_000_000 + len(made.texts)
    assert made.bound > 1_000


def test_the_data_cannot_end_their_element(hostile: Run) -> None:
    text = embedded_json(evidence(hostile.sources))
    assert not set("<>&\u2028\u2029\n") & set(text)
    assert json.loads(text)["taskset"] == hostile.sources.results.inference.taskset_digest


@given(st.text(alphabet=st.sampled_from("</script>!-&'\"\\\u2028\u2029aé\ue000🍜")))
def test_escaping_keeps_any_text(text: str) -> None:
    escaped = embedded_json(Note(text=text))
    assert not set("<>&\u2028\u2029") & set(escaped)
    assert json.loads(escaped) == {"text": text}


def test_reading_the_tables_twice_gives_the_same(hostile: Run) -> None:
    again = read_sources(hostile.workspace)
    assert embedded_json(evidence(again)) == embedded_json(evidence(hostile.sources))
