"""The shared golden answers, JSON texts and cases: every value equal."""

from __future__ import annotations

import json

import pytest

from pipeline.identity import digest
from pipeline.kitchen.cases.build import named_case
from pipeline.kitchen.cases.templates import SUITES, TEMPLATES
from pipeline.kitchen.cases.variants import find_variant, powered_variants, variant_parameters
from pipeline.kitchen.check.checks import Tools
from pipeline.kitchen.check.foods import read_foods
from pipeline.kitchen.grading import grade_file, to_document
from pipeline.kitchen.parse.reader import read_object
from pipeline.kitchen.scan import scan
from tests.shared import SHARED, needs_shared

pytestmark = needs_shared
GOLDEN = SHARED / "golden/kitchen"


def lines(name):
    path = GOLDEN / name
    return list(map(json.loads, path.read_bytes().splitlines())) if path.is_file() else []


@pytest.fixture(scope="module")
def graded():
    tools = Tools(read_foods(GOLDEN / "foods.csv"), scan)
    found = grade_file(GOLDEN / "answers.jsonl", tools, "kitchen-2026")
    return {line.name: json.loads(json.dumps(to_document(line))) for line in found}


@pytest.mark.parametrize("expected", lines("expected.jsonl"), ids=lambda row: row["name"])
def test_an_answer_is_graded_to_the_last_digit(graded, expected):
    assert graded[expected["name"]] == expected


def test_all_answers_are_graded(graded):
    assert list(graded) == [row["name"] for row in lines("expected.jsonl")]


def text_of(row):
    if "text" in row:
        return row["text"]
    rule = row["rule"]
    if rule["kind"] == "nest":
        return '{"a":' * rule["depth"] + "1" + "}" * rule["depth"]
    return rule["text"] + rule["char"] * rule["count"]


@pytest.mark.parametrize("row", lines("json_cases.jsonl"), ids=lambda row: row["id"])
def test_a_text_becomes_one_object_or_its_reason(row):
    _, form, fault = read_object(text_of(row).encode())
    got = {"outcome": "parsed", "form": form} if form else {"outcome": "failed", "reason": fault}
    assert got == row["expected"]


@pytest.fixture(scope="module")
def golden():
    return json.loads((GOLDEN / "cases.json").read_text("utf-8"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_a_template_and_its_variants_have_the_golden_parameters(golden, template):
    case = named_case(template.name)
    want = golden["cases"][template.name]
    assert case.parameters.model_dump(mode="json") == want["params"]
    assert case.params_digest == want["params_digest"]
    assert [*case.checks] == want["checks"]
    digests = [named_case(f"{template.name}-v{v:02}").params_digest for v in range(1, 13)]
    assert digests == golden["variant_digests"][template.name]


def test_variants_in_full_and_of_another_seed(golden):
    for row in golden["variants"]:
        case = named_case(row["case_id"])
        assert case.parameters.model_dump(mode="json") == row["params"]
    other = golden["other_seed"]
    found = variant_parameters(*find_variant(other["case_id"]), other["seed"])
    assert digest("kitchen-params", found.model_dump(mode="json")) == other["params_digest"]


def test_suites_and_their_powered_sets(golden):
    found = {suite: [template.name for template in held] for suite, held in SUITES.items()}
    assert found == golden["suites"]
    assert {suite: len(powered_variants(suite)) for suite in SUITES} == golden["powered"]
