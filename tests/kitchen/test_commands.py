"""`flavourbench kitchen`: what people type, and what they get for bad input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.errors import FlavourbenchError, InputError
from pipeline.kitchen.foods import FOODS as BUILT_IN
from tests.kitchen.meals import FOODS, recipe, week


def run(*words):
    return CliRunner().invoke(app, ["kitchen", *map(str, words)])


@pytest.fixture
def foods(tmp_path):
    rows = [
        f'"{f.key}",{f.kcal_c},{f.protein_c},{f.fat_c},{f.sodium_c},{"|".join(f.aliases)}'
        for f in FOODS.foods
    ]
    path = tmp_path / "foods.csv"
    path.write_text("\n".join(["key,kcal_c,protein_c,fat_c,sodium_c,aliases", *rows]), "utf-8")
    return path


def line(case_id="standard_week", name="mine", **more):
    return {"case_id": case_id, "name": name, **more}


@pytest.fixture
def graded(tmp_path, foods):
    def grade(*lines, **how):
        path = tmp_path / "answers.jsonl"
        path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
        words = ["check", path, "--foods", foods, *how.get("more", ["--json"])]
        done = run(*words)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.stdout

    return grade


def test_suites_and_cases_are_listed():
    suites = json.loads(run("suites", "--json").stdout)
    assert sum(suite["cases"] for suite in suites.values()) == 111
    assert min(suite["cases"] for suite in suites.values()) == 12
    cases = json.loads(run("cases", "--json").stdout)
    assert len(cases["cases"]) == 23
    powered = json.loads(run("cases", "--powered", "--json").stdout)
    other = json.loads(run("cases", "--powered", "--seed", "another", "--json").stdout)
    assert len(powered["cases"]) == len(other["cases"]) == 111
    assert powered["case_set_digest"] != other["case_set_digest"]
    assert "integration_week" in run("cases").stdout


def test_answers_are_graded_in_the_order_of_the_file(graded):
    pair = line("summer_week+winter_week", "both", pair=["a", "b"])
    lost = line("summer_week+winter_week-v02", "lost", pair=[None, None])
    out = graded(
        pair,
        "",
        line("winter_week", "b", text=json.dumps(week())),
        line("summer_week", "a", text=json.dumps(week()), model="left unread"),
        line("recipe_fish-v03", "r", text=json.dumps(recipe())),
        line(name="cut", text="{"),
        lost,
    )
    found = [json.loads(text) for text in out.splitlines()]
    assert [row["name"] for row in found] == ["both", "b", "a", "r", "cut", "lost"]
    assert found[0]["checks"]["SeasonalContrast"]["numerator"] == 0
    assert found[-1]["checks"]["SeasonalContrast"]["reason"] == "pair_missing"
    assert found[4]["parse"] == {"outcome": "failed", "reason": "truncated"}
    assert "evidence" not in out


def test_a_byte_order_mark_stands_before_a_file_and_nowhere_else(graded):
    plain = json.dumps(line(text="{}"))
    assert graded("\ufeff" + plain) == graded(plain)
    with pytest.raises(InputError, match="line 2"):
        graded(plain, "\ufeff" + plain)


def test_a_pair_with_a_failed_answer_fails(graded):
    out = graded(
        line("summer_week", "a", text="no"),
        line("summer_week+winter_week", "both", pair=["a", None]),
    )
    result = json.loads(out.splitlines()[-1])["checks"]["SeasonalContrast"]
    assert result == {"numerator": 0, "denominator": 1, "status": "scored"}


def test_evidence_says_where_and_what(graded):
    value = week()
    value["dinners"][2]["dish_name"] = "Pork chops"
    out = graded(line(text=json.dumps(value)), more=["--json", "--evidence"])
    assert json.loads(out)["checks"]["NoPorkMains"]["evidence"] == [
        {
            "path": "dinners.2.dish_name",
            "code": "flagged",
            "got": "Pork chops",
            "want": "no pork",
        }
    ]
    shown = graded(line(text=json.dumps(value)), more=[])
    assert "NoPorkMains 6/7" in shown


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{", "line 1"),
        ("[]", "line 1"),
        ('{"case_id":"standard_week","case_id":"x","name":"y","text":"z"}', "twice"),
        (line(), "one of text, rule and pair"),
        (line(text="x", pair=[None, None]), "one of text, rule and pair"),
        (line(text=7), "line 1, text"),
        (line(name="", text="x"), "line 1, name"),
        (line(name=None, text="x"), "line 1, name"),
        (line("brunch", text="x"), "'brunch'"),
        (line("standard_week-v0", text="x"), "line 1, case_id"),
        (line(rule={"kind": "pad", "text": "x", "char": " ", "count": 10**12}), "line 1, rule"),
        (line(rule={"kind": "sing"}), "line 1, rule"),
        (line(rule={"kind": "many_ingredients", "base": "[]", "count": 1}), "JSON object"),
        (line("summer_week+winter_week", pair=["a", "b"]), "summer_week of this file"),
        (line("summer_week+winter_week", pair=[None]), "line 1, pair"),
        (line("winter_week+summer_week", pair=[None, None]), "summer_week+winter_week"),
    ],
)
def test_a_wrong_line_is_said_in_one(foods, wrong, said):
    path = foods.with_name("answers.jsonl")
    path.write_text(wrong if isinstance(wrong, str) else json.dumps(wrong))
    problem = run("check", path, "--foods", foods).exception
    assert isinstance(problem, FlavourbenchError)
    assert problem.exit_code == 2
    assert said in str(problem)
    assert len(str(problem).splitlines()) == 1


def test_without_a_table_the_built_in_foods_are_looked_up(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(line("recipe_fish", text=json.dumps(recipe()))), "utf-8")
    done = run("check", path, "--json", "--evidence")
    assert done.exit_code == 0
    assert done.stdout == run("check", path, "--foods", BUILT_IN, "--json", "--evidence").stdout


def test_a_name_may_come_again_but_a_pair_needs_one_text(graded):
    again = [line("summer_week", "a", text="x")] * 2
    pair = line("summer_week+winter_week", "both", pair=["a", None])
    assert len(graded(*again, pair).splitlines()) == 3
    with pytest.raises(InputError, match="with one text, found a"):
        graded(*again, line("summer_week", "a", text="y"), pair)
    assert len(graded(line(text="x"), line(text="y")).splitlines()) == 2


def test_a_pair_keeps_its_variant_in_both_seasons(graded):
    with pytest.raises(InputError, match="case_id"):
        graded(line("summer_week-v01+winter_week-v01", "both", pair=[None, None]))
    with pytest.raises(InputError, match="case_id"):
        graded(line("summer_week+winter_weekend", "both", pair=[None, None]))
