import re

import pytest

from pipeline.freeze.families import RULES
from pipeline.freeze.prompts import MARKER, TEMPLATES, prompt
from schemas.taskset import Family

NAMES = [f"big_item_{i}" for i in range(8)]


def shown(family, cuisine="South_Asian"):
    variant = RULES[Family.CONSTRAINT].variants[1]
    return prompt(family, "red_lentil", NAMES, variant, cuisine)


@pytest.mark.parametrize("family", Family)
def test_eight_labelled_names_with_blanks(family):
    text = shown(family)
    for label, i in zip("ABCDEFGH", range(8), strict=True):
        assert f"\n{label}. big item {i}\n" in text
    assert "_" not in text.replace(MARKER, "")
    assert "{" not in text


@pytest.mark.parametrize("family", Family)
def test_the_marker_stands_once_and_no_answer_is_shown(family):
    text = shown(family)
    assert text.count(MARKER) == 1
    assert "exactly three different labels" in text
    assert not re.search(r"\b[A-H]\s*,\s*[A-H]\b", text)


def test_the_anchor_is_named_but_in_the_cultural_family():
    for family in Family:
        assert ("red lentil" in shown(family)) == (family != Family.CULTURAL)


def test_limits_and_targets_are_named():
    assert "vegetarian" in shown(Family.CONSTRAINT)
    assert "NOVA group 2 or lower" in shown(Family.CONSTRAINT)
    assert "scores zero" in shown(Family.CONSTRAINT)
    assert "Target cuisine label: South Asian." in shown(Family.CULTURAL)
    assert "three different categories" in shown(Family.CULTURAL)
    assert "scores zero" in shown(Family.CULTURAL)


def test_every_family_has_a_template():
    assert set(TEMPLATES) == set(Family)
