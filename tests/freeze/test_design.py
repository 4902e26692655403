import json

import pytest

from pipeline.freeze import design, design_document
from pipeline.freeze.families import RULES
from pipeline.freeze.prompts import TEMPLATES
from pipeline.identity import digest
from schemas.parameters import PanelParameters
from schemas.taskset import Family
from tests.freeze.small import parameters


def digest_of(**changes):
    return digest("design", design_document(parameters(**changes)))


def test_the_document_is_json_without_floats():
    document = design_document(parameters())
    assert json.loads(json.dumps(document), parse_float=pytest.fail) == document


def test_panels_are_a_list_in_order():
    panels = parameters().panels
    turned = dict(reversed(panels.items()))
    names = [panel["name"] for panel in design_document(parameters())["panels"]]
    assert names == ["first", "second"]
    assert digest_of(panels=turned) != digest_of()


@pytest.mark.parametrize(
    "changes",
    [
        {"quota": 3},
        {"category_cap": 5},
        {"minimum_categories": 3},
        {"excluded_anchors": ("item0", "item1")},
        {"families": (Family.PAIRING,)},
        {"panels": {"first": PanelParameters(seed="s", prefix="one-", drop_unscoreable=True)}},
    ],
)
def test_every_parameter_changes_the_digest(changes):
    assert digest_of(**changes) != digest_of()


def test_order_of_families_and_exclusions_in_the_parameters_does_not():
    assert digest_of(families=tuple(reversed(Family))) == digest_of()
    several = digest_of(excluded_anchors=("a", "b"))
    assert digest_of(excluded_anchors=("b", "a")) == several


def test_templates_and_rules_are_part_of_it(monkeypatch):
    before = digest_of()
    monkeypatch.setitem(TEMPLATES, Family.PAIRING, TEMPLATES[Family.PAIRING] + " ")
    assert digest_of() != before
    monkeypatch.undo()
    monkeypatch.setitem(RULES, Family.SUBSTITUTION, RULES[Family.PAIRING])
    assert digest_of() != before
    monkeypatch.undo()
    monkeypatch.setattr(design, "STRATA", 5)
    assert digest_of() != before


def test_the_document_shows_the_rules_that_run():
    by_family = {one["family"]: one for one in design_document(parameters())["families"]}
    assert list(by_family) == [family.value for family in Family]
    rule = by_family["substitution"]["rule"]
    assert rule["form"] == "ranked"
    assert rule["minimum_pool"] == 12
    assert rule["weights"] == {"fit_milli": 800, "coherence_milli": 200}
    variants = by_family["constraint"]["rule"]["variants"]
    assert [one["name"] for one in variants] == [
        "vegan-nova-2", "vegetarian-nova-2", "vegan-nova-3", "vegetarian-nova-3",
    ]  # fmt: skip
