"""Each rule of docs/parsing.md, the shared parser cases, and the published readings."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.parse import Reading, read_selection
from schemas.results import Reason
from schemas.taskset import CONTRACTS, LABELS, PORTFOLIOS
from tests.shared import SHARED, needs_shared

STRICT = CONTRACTS["selection-set-v3"]
FORGIVING = CONTRACTS["selection-set-v4"]
CHOICES = (
    "miso",
    "butter",
    "oregano",
    "cream",
    "basil",
    "tomato_paste",
    "black_pepper",
    "salt_cod",
)


def strict(answer: str | None) -> Reading:
    return read_selection(answer, CHOICES, STRICT)


def forgiving(answer: str | None) -> Reading:
    return read_selection(answer, CHOICES, FORGIVING)


@pytest.mark.parametrize(
    "answer",
    [
        "FINAL_SELECTION: A, C, F",
        "FINAL_SELECTION:A,C,F",
        "FINAL_SELECTION: F , A , C",
        "final_selection : a,c,f",
        "Final_Selection\t:\tA,\tC,\tF",
        "**FINAL_SELECTION: A, C, F**",
        "`FINAL_SELECTION: A, C, F`",
        "_FINAL_SELECTION: A, C, F_",
        "FINAL_SELECTION: A, C, F **`_",
        "FINAL_SELECTION: A, C, F<|close|>response",
        "FINAL_SELECTION: A, C, F  \nand that is that",
        "reasons\u2028FINAL_SELECTION: A, C, F\u2028more",
        "FINAL_SELECTION: A, C, F\x0bmore",
        "FINAL_SELECTION: A, C, F\x85more",
        "FINAL_SELECTION: A, C, F\r\nmore",
        "FINAL_SELECTION\u00a0: A, C, F",
        "FINAL_SELECTION: miso, oregano, tomato paste",
        "FINAL_SELECTION: **Miso,  Oregano, TOMATO_paste**",
        "FINAL_SELECTION: tomato   paste, miso, oregano",
        "FINAL_SELECTION: A, C, F\nFINAL_SELECTION: F, C, A",
        "FINAL_SELECTION: A, C, F\nFINAL_SELECTION: miso, oregano, tomato paste",
        "FINAL_SELECTION: A, C, F FINAL_SELECTION: A, C, F",
        "I first put FINAL_SELECTION: down.\nFINAL_SELECTION: A, C, F",
    ],
)
def test_both_contracts_read_these_as_acf(answer: str) -> None:
    assert strict(answer) == Reading("ACF", None)
    assert forgiving(answer) == Reading("ACF", None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, Reason.NO_MARKER),
        ("", Reason.NO_MARKER),
        ("I would take A, C and F.", Reason.NO_MARKER),
        ("FINAL SELECTION: A, C, F", Reason.NO_MARKER),
        ("FINAL_SELECTION\n: A, C, F", Reason.NO_MARKER),
        ("FINAL_SELECTION - A, C, F", Reason.NO_MARKER),
        ("F\u0131NAL_SELECT\u0131ON: A, C, F", Reason.NO_MARKER),
        ("FINAL_SELECTION:", Reason.EMPTY_MARKER),
        ("FINAL_SELECTION: \n A, C, F", Reason.EMPTY_MARKER),
        ("FINAL_SELECTION: **", Reason.EMPTY_MARKER),
        ("FINAL_SELECTION: <|close|>response", Reason.EMPTY_MARKER),
        ("FINAL_SELECTION: A, C", Reason.WRONG_COUNT),
        ("FINAL_SELECTION: A, B, C, D", Reason.WRONG_COUNT),
        ("FINAL_SELECTION: A C F", Reason.WRONG_COUNT),
        ("FINAL_SELECTION: ACF", Reason.WRONG_COUNT),
        ("FINAL_SELECTION: none of the above", Reason.WRONG_COUNT),
        ("FINAL_SELECTION: A, C, Z", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: A, C, miso", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: A, C, ", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: buttermilk, basil, miso", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: \u0410, \u0421, F", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: \uff21, \uff23, \uff26", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: A, C, A", Reason.DUPLICATE_ITEM),
        ("FINAL_SELECTION: miso, Miso, basil", Reason.DUPLICATE_ITEM),
        ("FINAL_SELECTION: A, C, F\nFINAL_SELECTION: A, B, F", Reason.CONFLICT),
        ("FINAL_SELECTION: A, B, C FINAL_SELECTION: A, B, D", Reason.CONFLICT),
        ("FINAL_SELECTION: A, B, Z\nFINAL_SELECTION: A, B", Reason.WRONG_COUNT),
    ],
)
def test_both_contracts_refuse_these_for_one_reason(answer: str | None, reason: Reason) -> None:
    assert strict(answer) == Reading(None, reason)
    assert forgiving(answer) == Reading(None, reason)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("FINAL_SELECTION: A, C, F.", Reason.UNKNOWN_ITEM),
        ("**FINAL_SELECTION: A, C, F.**", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: A, C and F", Reason.WRONG_COUNT),
        ("FINAL_SELECTION: A, C, and F", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: miso, oregano and tomato paste.", Reason.WRONG_COUNT),
        ("FINAL_SELECTION: $A, C, F$", Reason.WRAPPER),
        ("FINAL\\_SELECTION: A, C, F", Reason.NO_MARKER),
        ("FINAL_SELECTION: miso, oregano, tomato\\_paste", Reason.UNKNOWN_ITEM),
        ("FINAL_SELECTION: A (miso), C (oregano), F (tomato paste)", Reason.UNKNOWN_ITEM),
    ],
)
def test_only_the_forgiving_contract_reads_these(answer: str, reason: Reason) -> None:
    assert strict(answer) == Reading(None, reason)
    assert forgiving(answer) == Reading("ACF", None)


@pytest.mark.parametrize(
    "answer",
    [
        "FINAL_SELECTION: A (butter), C (oregano), F (tomato paste)",
        "FINAL_SELECTION: A, C or F",
        "FINAL_SELECTION: A; C; F",
        "FINAL_SELECTION: $A, C, F",
        "FINAL_SELECTION: A, C, F..",
        "FINAL_SELECTION: (A, C, F)",
        "FINAL_SELECTION: A. miso, C. oregano, F. tomato paste",
    ],
)
def test_the_forgiving_contract_is_a_closed_list(answer: str) -> None:
    assert forgiving(answer).selection is None


@given(st.permutations(LABELS), st.sampled_from([", ", ",", " , "]), st.booleans())
def test_any_three_labels_in_any_order_are_their_set(
    order: list[str], comma: str, lower: bool
) -> None:
    text = comma.join(order[:3])
    answer = f"FINAL_SELECTION: {text.lower() if lower else text}"
    assert strict(answer).selection == "".join(sorted(order[:3]))


@given(st.text(max_size=200))
def test_any_text_gives_a_portfolio_or_exactly_one_reason(text: str) -> None:
    for answer in (text, f"FINAL_SELECTION: {text}", f"{text}FINAL_SELECTION: A, C, F{text}"):
        for contract in (STRICT, FORGIVING):
            reading = read_selection(answer, CHOICES, contract)
            assert (reading.selection in PORTFOLIOS) != (reading.reason is not None)


@given(st.text(max_size=120))
def test_what_the_strict_contract_reads_the_forgiving_one_reads_alike(text: str) -> None:
    answer = f"FINAL_SELECTION: {text}"
    selection = strict(answer).selection
    assert selection is None or forgiving(answer).selection == selection


@needs_shared
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("FB-001", Reading("ACF", None)),
        ("FB-002", Reading(None, Reason.WRAPPER)),
        ("FB-004", Reading(None, Reason.WRONG_COUNT)),
        ("FB-005", Reading(None, Reason.CONFLICT)),
        ("FB-007", Reading("ACF", None)),
        ("FB-008", Reading(None, Reason.UNKNOWN_ITEM)),
        ("FB-009", Reading(None, Reason.UNKNOWN_ITEM)),
        ("FB-011", Reading(None, Reason.NO_MARKER)),
    ],
)
def test_shared_parser_case(case: str, expected: Reading) -> None:
    lines = (SHARED / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {c["id"]: c for c in map(json.loads, lines) if c["area"] == "parser"}
    assert len(cases) == 8, "a parser case was added: give it its expected reading here"
    assert strict(cases[case]["input"]) == expected


@needs_shared
def test_every_published_observation_reads_as_published() -> None:
    folder = SHARED / "golden" / "dataset"
    with (folder / "tasks.jsonl").open(encoding="utf-8") as lines:
        tasks = {t["task_id"]: tuple(t["choices"].values()) for t in map(json.loads, lines)}
    count = 0
    with (folder / "primary_observations.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            cell = json.loads(line)
            answer = cell["response"]["generation"]["answer_markdown"]
            choices = tasks[cell["response"]["task_id"]]
            reading = read_selection(answer, choices, STRICT)
            assert reading.selection == cell["release_scoring"]["observed_selection"]
            count += 1
    assert count == 14_418
