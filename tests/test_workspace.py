import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import InputError, TableError
from pipeline.tables import make_table
from pipeline.workspace import Artifact, Workspace, open_workspace, parse_parameters
from schemas.parameters import Parameters
from schemas.results import Score
from tests.schemas.examples import EXAMPLES
from tests.shared import ROOT

GOOD = """\
release:
  source: starter
  path: pipeline/starter
  version: 1
freeze:
  source: compiled
  families: [substitution, pairing, constraint, cultural_composition]
  panels:
    panel_1: {seed: one, prefix: one-, drop_unscoreable: true}
    panel_2: {seed: two, prefix: two-, drop_unscoreable: false}
  quota: 6
  category_cap: 24
  minimum_categories: 8
  excluded_anchors: []
routes:
  uniform: {adapter: policy, policy: uniform, seed: 1, label: Uniform, ranked: true}
  noisy-25: {adapter: policy, policy: noisy, skill_bps: 2500, label: Noisy, ranked: true}
  common: {adapter: policy, policy: most_common, dishes: 1, label: Common, ranked: true}
  optimum: {adapter: policy, policy: optimum, label: Optimum, ranked: false}
  told: {adapter: replay, answers: told.jsonl, sha256: DIGEST, label: Told, ranked: true}
parse:
  contract: selection-set-v3
  alternative: selection-set-v4
score:
  families: [substitution, pairing, constraint]
  core:
    source: rule
    context: example
    size: null
statistics:
  stream: blake3
  seed: 1
  bootstrap: 1000
  sign_flips: 1000
train:
  salt: split
  validation_bps: 2000
  minimum_gap_bps: 500
report:
  title: Example
""".replace("DIGEST", '"' + "1" * 64 + '"')


def spoilt(old, new):
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


def refusal(text):
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InputError) as caught:
        parse_parameters(data, "params.yaml")
    said = str(caught.value)
    assert said.isprintable()
    assert caught.value.exit_code == 2
    return said


# What parses


def test_the_shipped_parameters_parse():
    parameters = open_workspace(ROOT).parameters
    assert parameters.release.source == "starter"
    assert {"uniform", "optimum"} <= set(parameters.routes)


def test_good_parameters_parse_with_their_types():
    parameters = parse_parameters(GOOD.encode(), "params.yaml")
    assert parameters.freeze.quota == 6
    assert parameters.score.core.size is None
    assert list(parameters.routes) == ["uniform", "noisy-25", "common", "optimum", "told"]
    assert [route.sees_map for route in parameters.routes.values()] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert parameters.routes["uniform"].slips_bps == 0
    assert parameters.routes["told"].answer_rule == "message"


@pytest.mark.parametrize(
    "old_and_new",
    [
        ("title: Example", "title: null"),
        ("  title: Example", "  {}"),
        ("size: null", "size: 89"),
        ("stream: blake3", "stream: pcg64"),
        ("title: Example", "title: 味噌 & more"),
        ("  uniform:", "  policy:"),
        ("  uniform:", "  replay:"),
        ("  uniform:", "  " + "x" * 64 + ":"),
        ("report:", "# a comment\nreport:"),
    ],
)
def test_other_good_parameters_parse_too(old_and_new):
    assert isinstance(parse_parameters(spoilt(*old_and_new).encode(), "x"), Parameters)


STARTER = "  source: starter\n  path: pipeline/starter\n  version: 1\n"
COMMON = (
    "  common: {adapter: policy, policy: most_common, dishes: 1, label: Common, ranked: true}\n"
)
NEAREST = "  near: {adapter: policy, policy: cooccurrence, dishes: 2, label: Near, ranked: false}\n"


def test_another_release_parses_without_routes_that_read_the_starters_dishes():
    text = spoilt(STARTER, "  {source: bundle, path: x}\n").replace(COMMON, "")
    assert parse_parameters(text.encode(), "x").release.source == "bundle"
    assert parse_parameters(spoilt("version: 1", "version: 2").encode(), "x").release.version == 2


@pytest.mark.parametrize(("routes", "named"), [(COMMON, "common"), (NEAREST, "near"),
                                               (COMMON + NEAREST, "common, near")])  # fmt: skip
def test_no_route_reads_the_starters_dishes_on_another_release(routes, named):
    text = spoilt(STARTER, "  {source: bundle, path: x}\n").replace(COMMON, routes)
    said = refusal(text)
    assert f"release.source starter beside routes that read its dishes ({named}; remove" in said


def test_a_published_release_with_its_plan_parses():
    text = spoilt(
        "  source: starter\n  path: pipeline/starter\n  version: 1\n",
        "  {source: published, path: x, published: {panels: {one: a.json}, plan: p.json}}\n",
    )
    start, end = text.index("freeze:"), text.index("routes:")
    text = f"{text[:start]}freeze: {{source: published, families: [pairing]}}\n{text[end:]}"
    text = text.replace("[substitution, pairing, constraint]", "[pairing]").replace(COMMON, "")
    text = text.replace("source: rule\n    context: example\n    size: null", "source: plan")
    assert parse_parameters(text.encode(), "x").score.core.source == "plan"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    source: rule\n    context: example\n    size: null\n", "    source: plan\n", "plan"),
        ("  families: [substitution, pairing, constraint]", "  families: [pairing]", None),
        (
            "  families: [substitution, pairing, constraint, cultural_composition]",
            "  families: [substitution, pairing]",
            "score.families among freeze.families (not constraint)",
        ),
        (
            "  source: starter\n  path: pipeline/starter\n  version: 1\n",
            "  {source: published, path: x, published: {panels: {one: a.json}}}\n",
            "freeze.source published with release.source published",
        ),
    ],
)
def test_sections_that_do_not_fit_are_named(old, new, said):
    if said is None:
        assert parse_parameters(spoilt(old, new).encode(), "x")
        return
    found = refusal(spoilt(old, new))
    assert said in found
    assert "found other sections" in found


def test_an_anchor_may_be_used_again():
    text = spoilt("[substitution, pairing, constraint]", "&ranked [substitution, pairing]")
    parameters = parse_parameters(text.encode(), "x")
    assert [family.value for family in parameters.score.families] == ["substitution", "pairing"]


def test_the_schema_lists_the_sections_of_the_parameters():
    assert set(Parameters.model_fields) == set(re.findall(r"^(\w+):", GOOD, re.MULTILINE))


# Wrong keys and values: one line that names them

WRONG = {
    "unknown section": ("report:", "bogus: 1\nreport:", "bogus: ", "unknown key 'bogus'"),
    "misspelt section": ("report:", "reprot:", "reprot: ", "unknown key 'reprot'"),
    "missing section": ("report:\n  title: Example\n", "", "report: ", "a key 'report'"),
    "section a list": ("  title: Example", "  - title", "report: ", "an object, found"),
    "section empty": ("  title: Example", "", "report: ", "an object, found null"),
    "unknown key": ("quota: 6", "quota: 6\n  more: 1", "freeze.more: ", "unknown key 'more'"),
    "misspelt key": ("quota: 6", "qouta: 6", "freeze.qouta: ", "unknown key 'qouta'"),
    "missing key": ("  quota: 6\n", "", "freeze.quota: ", "a key 'quota', found none"),
    "unknown key of a panel": (
        "prefix: one-",
        "prefix: one-, policy: 1",
        "freeze.panels.panel_1.policy: ",
        "unknown key 'policy'",
    ),
    "unknown key of the core": ("size: null", "zise: 1", "score.core.zise: ", "unknown key"),
    "unknown key of a route": (
        "policy: uniform",
        "policy: uniform, sed: 1",
        "routes.uniform.sed: ",
        "unknown key 'sed'",
    ),
    "key of another adapter": (
        "policy: uniform",
        "policy: uniform, answers: x",
        "routes.uniform.answers: ",
        "unknown key 'answers'",
    ),
    "missing key of a route": (
        "policy: uniform, seed",
        "seed",
        "routes.uniform.policy: ",
        "a key 'policy', found none",
    ),
    "text for an integer": ("quota: 6", 'quota: "6"', "freeze.quota: ", 'integer, found "6"'),
    "float for an integer": ("quota: 6", "quota: 6.0", "freeze.quota: ", "integer, found 6.0"),
    "fraction": ("quota: 6", "quota: 6.5", "freeze.quota: ", "integer, found 6.5"),
    "boolean for an integer": ("quota: 6", "quota: true", "freeze.quota: ", "found true"),
    "null for an integer": ("quota: 6", "quota: null", "freeze.quota: ", "found null"),
    "list for an integer": ("quota: 6", "quota: [6]", "freeze.quota: ", "found [6]"),
    "integer for a text": ("title: Example", "title: 1", "report.title: ", "string, found 1"),
    "text for a boolean": ("ranked: false", "ranked: yes", "routes.optimum.ranked: ", '"yes"'),
    "integer for a boolean": ("ranked: false", "ranked: 0", "routes.optimum.ranked: ", "found 0"),
    "text for a list": (
        "[substitution, pairing, constraint]",
        "pairing",
        "score.families: ",
        'array, found "pairing"',
    ),
    "zero": ("quota: 6", "quota: 0", "freeze.quota: ", "greater than or equal to 1"),
    "negative": ("bootstrap: 1000", "bootstrap: -5", "statistics.bootstrap: ", "found -5"),
    "too many draws": (
        "bootstrap: 1000",
        "bootstrap: 1000001",
        "statistics.bootstrap: ",
        "1000000",
    ),
    "seed beyond identities": (
        "  seed: 1\n",
        "  seed: 9007199254740992\n",
        "statistics.seed: ",
        "less than or equal to 9007199254740991",
    ),
    "seed beyond 64 bits": ("  seed: 1\n", f"  seed: {'9' * 400}\n", "statistics.seed: ", "less"),
    "share above one": ("2500", "10001", "routes.noisy-25.skill_bps: ", "equal to 10000"),
    "empty text": ("title: Example", 'title: ""', "report.title: ", "at least 1 character"),
    "long text": ("title: Example", "title: " + "x" * 501, "report.title: ", "at most 500"),
    "empty list": ("[substitution, pairing, constraint]", "[]", "score.families: ", "at least 1"),
    "unknown item": (
        "[substitution, pairing, constraint]",
        "[pairing, paring]",
        "score.families.1: ",
        'found "paring"',
    ),
    "item twice": (
        "[substitution, pairing, constraint]",
        "[pairing, pairing]",
        "score.families: ",
        "every family once",
    ),
    "no routes": (
        GOOD[GOOD.index("routes:") : GOOD.index("parse:")],
        "routes: {}\n",
        "routes: ",
        "1",
    ),
    "route a list": (
        "uniform: {adapter: policy, policy: uniform, seed: 1, label: Uniform, ranked: true}",
        "uniform: [1]",
        "routes.uniform: ",
        "found [1]",
    ),
    "slug with a slash": (
        "  uniform:",
        "  uni/form:",
        "routes.uni/form: ",
        "a letter or digit first",
    ),
    "slug with dots": ("  uniform:", "  ..:", "routes...: ", "a letter or digit first"),
    "slug with a blank": (
        "  uniform:",
        "  uni form:",
        "routes.uni form: ",
        "a letter or digit first",
    ),
    "slug with a line break": (
        "  uniform:",
        '  "uni\\n":',
        "routes.uni\\u000a: ",
        "a letter or digit first",
    ),
    "slug too long": ("  uniform:", "  " + "x" * 65 + ":", "routes.xxx", "a letter or digit first"),
    "empty slug": ("  uniform:", '  "":', "routes.: ", "a letter or digit first"),
    "slug like an option": ("  uniform:", "  --all:", "routes.--all: ", "a letter or digit first"),
    "slug like a short one": ("  uniform:", "  -w:", "routes.-w: ", "a letter or digit first"),
    "slug of a dash": ("  uniform:", '  "-":', "routes.-: ", "a letter or digit first"),
    "slug from below": ("  uniform:", "  _x:", "routes._x: ", "a letter or digit first"),
    "slug of other digits": (
        "  uniform:",
        "  \uff11:",
        "routes.\uff11: ",
        "a letter or digit first",
    ),
    "slugs but for case": ("  told:", "  COMMON:", "top level: ", "not common and COMMON"),
    "panel like an option": (
        "    panel_1:",
        "    --all:",
        "freeze.panels.--all",
        "a letter or digit first",
    ),
    "slug of letters elsewhere": (
        "  uniform:",
        "  mişo:",
        "routes.mişo: ",
        "a letter or digit first",
    ),
    "unknown policy": (
        "policy: uniform",
        "policy: unifrom",
        "routes.uniform.policy: ",
        'found "unifrom"',
    ),
    "unknown adapter": (
        "adapter: policy, policy: uniform",
        "adapter: polcy, policy: uniform",
        "routes.uniform.adapter: ",
        "one of 'policy', 'replay', 'openai', 'command', found 'polcy'",
    ),
    "hostile adapter": (
        "adapter: policy, policy: uniform",
        'adapter: "a\\n\\e[31m", policy: uniform',
        "routes.uniform.adapter: ",
        "one of 'policy', 'replay'",
    ),
    "no adapter": (
        "adapter: policy, policy: uniform",
        "policy: uniform",
        "routes.uniform: ",
        "a key 'adapter', found none",
    ),
    "skill for another policy": (
        "policy: uniform, seed: 1",
        "policy: uniform, skill_bps: 1",
        "routes.uniform: ",
        "skill_bps with policy noisy, and with no other",
    ),
    "no skill": (", skill_bps: 2500", "", "routes.noisy-25: ", "skill_bps with policy noisy"),
    "dishes for another policy": (
        "policy: uniform, seed: 1",
        "policy: uniform, dishes: 1",
        "routes.uniform: ",
        "dishes with policy cooccurrence or most_common",
    ),
    "no dishes": (", dishes: 1", "", "routes.common: ", "dishes with policy"),
    "ranked optimum": (
        "ranked: false",
        "ranked: true",
        "routes.optimum: ",
        "ranked: false for policy optimum",
    ),
    "digest too short": ('"' + "1" * 64, '"' + "1" * 63, "routes.told.sha256: ", "pattern"),
    "digest as a number": ('"' + "1" * 64 + '"', "1" * 64, "routes.told.sha256: ", "string"),
    "unknown answer rule": (
        "answers: told.jsonl",
        "answers: told.jsonl, answer_rule: x",
        "routes.told.answer_rule: ",
        "'message' or 'verbatim'",
    ),
    "version with a bundle": (
        "source: starter",
        "source: bundle",
        "release.version: ",
        "unknown key 'version'",
    ),
    "starter without a version": ("  version: 1\n", "", "release.version: ", "a key 'version'"),
    "unknown source": ("source: starter", "source: hub", "release.source: ", "one of 'starter'"),
    "no source": ("  source: starter\n", "", "release: ", "a key 'source', found none"),
    "published files of a starter": (
        "version: 1",
        "version: 1\n  published: {panels: {a: b}}",
        "release.published: ",
        "unknown key 'published'",
    ),
    "file outside its folder": (
        "  source: starter\n  path: pipeline/starter\n  version: 1\n",
        "  {source: published, path: x, published: {panels: {a: ../b}}}\n",
        "release.published.panels.a: ",
        'found "../b"',
    ),
    "panels of published tasks": (
        "source: compiled",
        "source: published",
        "freeze.",
        "unknown key",
    ),
    "one prefix for two panels": (
        "prefix: two-",
        "prefix: one-",
        "freeze: ",
        "a prefix of its own",
    ),
    "prefix in capitals": (
        "prefix: two-",
        "prefix: Two-",
        "freeze.panels.panel_2.prefix: ",
        "Two-",
    ),
    "unknown contract": ("selection-set-v3", "selection-set-v5", "parse.contract: ", "v5"),
    "unknown stream": ("stream: blake3", "stream: mt19937", "statistics.stream: ", "mt19937"),
    "size of a plan": ("source: rule", "source: plan", "score.core.context: ", "unknown key"),
    "minimum above the categories": (
        "minimum_categories: 8",
        "minimum_categories: 15",
        "freeze.minimum_categories: ",
        "14",
    ),
    "nan": ("quota: 6", "quota: .nan", "freeze.quota: ", "a finite number, found nan"),
    "infinity": ("quota: 6", "quota: -.inf", "freeze.quota: ", "a finite number, found -inf"),
    "overflow": ("quota: 6", "quota: 1e999", "freeze.quota: ", "a finite number, found inf"),
    "date": ("title: Example", "title: 2026-11-29", "report.title: ", "Put text in quotes"),
    "bytes": ("title: Example", "title: !!binary aGk=", "report.title: ", "a plain value, found"),
    "set": ("title: Example", "title: !!set {a, b}", "report.title: ", "a plain value, found set"),
    "lone surrogate": ("title: Example", 'title: "\\ud800"', "report.title: ", "a plain value"),
    "integer key": ("  uniform:", "  1:", "routes: ", "a key that is text, found 1"),
    "boolean key": ("  uniform:", "  true:", "routes: ", "a key that is text, found True"),
    "null key": ("  uniform:", "  ~:", "routes: ", "a key that is text, found None"),
    "list key": ("  uniform:", "  ? [a]\n  :", "routes: ", "a key that is text"),
    "surrogate key": ("  uniform:", '  "\\ud800":', "routes: ", "a key that is text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_key_or_value_is_named_in_one_line(name):
    old, new, where, said = WRONG[name]
    line = refusal(spoilt(old, new))
    assert line.startswith(f"params.yaml: {where}")
    assert said in line


def test_two_keys_that_differ_by_type_alone_are_not_taken_for_one():
    route = "{adapter: policy, policy: uniform, label: x, ranked: true}"
    text = spoilt("routes:\n", f'routes:\n  1: {route}\n  "1": {route}\n')
    assert "routes: expected a key that is text, found 1" in refusal(text)


NO_YAML = {
    "key twice": (GOOD + "report:\n  title: x\n", 'duplicate key "report"'),
    "key of a route twice": (spoilt("seed: 1,", "seed: 1, seed: 2,"), 'duplicate key "seed"'),
    "slug twice": (spoilt("  noisy-25:", "  uniform:"), 'duplicate key "uniform"'),
    "tab for indentation": (spoilt("  title: Example", "\ttitle: Example"), r"character '\t'"),
    "tab before a value": (
        spoilt("title: Example", "title: \t`x"),
        f", line {GOOD.splitlines().index('  title: Example') + 1}:",
    ),
    "open list": (GOOD + "x: [1, 2\n", "line"),
    "open quote": (GOOD + 'x: "1\n', "line"),
    "two documents": (GOOD + "---\n" + GOOD, "another document"),
    "unknown tag": (spoilt("title: Example", "title: !shell ls"), "tag '!shell'"),
    "object of Python": (
        spoilt("title: Example", 'title: !!python/object/apply:os.getcwd [""]'),
        "python/object",
    ),
    "unknown anchor": (spoilt("title: Example", "title: *x"), "undefined alias 'x'"),
    "mapping key": (spoilt("  uniform:", "  ? {a: b}\n  :"), "unhashable key"),
    "stray mark": (spoilt("title: Example", "title: @x"), "'@'"),
    "version of YAML": ("%YAML 3.0\n---\n" + GOOD, "YAML document"),
    "nul": (spoilt("title: Example", "title: \0"), "special characters"),
    "merge of a text": (spoilt("title: Example", "<<: x"), "merg"),
}


@pytest.mark.parametrize("name", NO_YAML)
def test_what_is_no_yaml_is_refused_with_its_line_or_cause(name):
    text, said = NO_YAML[name]
    line = refusal(text)
    assert re.match(r"params\.yaml(, line \d+)?: expected YAML, found ", line)
    assert said in line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "top level: expected an object, found null"),
        (b"# nothing\n", "top level: expected an object, found null"),
        (b"~\n", "top level: expected an object, found null"),
        (b"- release\n", 'top level: expected an object, found ["release"]'),
        (b"release\n", 'top level: expected an object, found "release"'),
        (b"7\n", "top level: expected an object, found 7"),
        (b"{}\n", "a key 'release', found none"),
        (b"release: \xff\n", "expected UTF-8"),
        (GOOD.encode("utf-16"), "expected UTF-8"),
        (spoilt("Example", "Jalape\xf1o").encode("latin-1"), "expected UTF-8"),
        (b"a: !!int x\n", "plain keys and values"),
        (b"a: !!bool x\n", "plain keys and values"),
        (b"a: 2026-13-45\n", "plain keys and values"),
        (b"a: " + b"9" * 5000 + b"\n", "plain keys and values"),
        (b"a: " + b"[" * 1000 + b"]" * 1000 + b"\n", "16 levels deep, found more"),
        (b"a: " + b"[" * 1000, "16 levels deep, found more"),
        (b"a: " + b"[" * 40 + b"]" * 40 + b"\n", "16 levels deep, found more"),
        (b"a: &a [*a]\n", "that do not hold themselves"),
        (b"a: &a {b: *a}\n", "that do not hold themselves"),
        (b"a: 0x" + b"f" * 5000 + b"\n", "an integer of at most 4,300 digits"),
        (b"a: -0o" + b"7" * 5000 + b"\n", "an integer of at most 4,300 digits"),
    ],
    ids=range(21),
)
def test_what_is_no_mapping_of_plain_values_is_refused(data, said):
    assert said in refusal(data)


def doubling(line):
    """Eleven lines, each with ten of the line before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    return "\n".join([*lines, *(line(i, f"*a{i - 1}") for i in range(1, 12))])


MULTIPLIED = {
    "one long list many times": "[&a [" + "0, " * 8000 + "], " + "*a, " * 15_000 + "]",
    "one long key many times": f"a: &a {'x' * 60_000}\nb: [{'{*a : 1}, ' * 600}]",
    "one long text many times": f"a: &a {'x' * 60_000}\nb: [{'*a, ' * 600}]",
    "lists of lists": doubling(lambda i, other: f"a{i}: &a{i} [{', '.join([other] * 10)}]"),
    "mappings of mappings": doubling(
        lambda i, other: f"a{i}: &a{i} {{{', '.join(f'k{n}: {other}' for n in range(10))}}}"
    ),
    "merged mappings": "a0: &a0 {x: 1}\n" + "\n".join(
        f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}], k{i}: 1}}" for i in range(1, 40)
    ),
    "a chain deeper than any list": "a0: &a0 [x]\n" + "\n".join(
        f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 5000)
    ),
    "a long list": "[" + "0, " * 20_000 * 3 + "]",
    "a block of dashes": "- " * 20_000,
    "nested mappings": "{a: " * 20_000,
    "nested keys": "? " * 20_000,
}  # fmt: skip


@pytest.mark.parametrize("name", MULTIPLIED)
def test_no_small_file_becomes_a_large_document(name):
    """Refused while it is read: what it would become is never made."""
    tracemalloc.start()
    try:
        line = refusal(MULTIPLIED[name])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert re.match(r"params\.yaml, line \d+: expected at most [\d,]+ (values|characters)", line)
    assert peak < 200 * 2**20


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_in_one_line(data):
    at = data.draw(st.integers(0, len(GOOD) - 1))
    new = data.draw(
        st.text(st.sampled_from("\t\n :-[]{}\"'!&*?#|>%@`~\0\x1b\x85ax019.é"), max_size=3)
    )
    size = data.draw(st.integers(0, 8))
    try:
        parse_parameters((GOOD[:at] + new + GOOD[at + size :]).encode(), "params.yaml")
    except InputError as problem:
        if not str(problem).isprintable():
            pytest.fail(repr(str(problem)))


# The workspace


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "params.yaml").write_text(GOOD)
    return open_workspace(tmp_path)


def test_a_stage_has_one_folder_and_a_route_one_ledger(workspace, tmp_path):
    score, ledger = workspace.artifact("score", "scores"), workspace.ledger("uniform")
    assert score == tmp_path / "artifacts" / "score" / "scores.parquet"
    assert ledger == tmp_path / ".ledger" / "uniform.sqlite"


def test_what_a_stage_writes_another_reads(workspace):
    table = make_table(Score, [EXAMPLES[Score]])
    written = workspace.write("score", table)
    assert written == (Artifact("artifacts/score/scores.parquet", 1, table.root),)
    assert workspace.read("score", Score).rows() == [EXAMPLES[Score]]


def test_a_missing_table_says_how_to_get_it(workspace):
    with pytest.raises(
        TableError, match=r"No such file or directory\. Run `dvc repro` to build it or `dvc pull`"
    ):
        workspace.read("score", Score)


@pytest.mark.parametrize("kind", ["missing", "folder", "symlink", "oversized"])
def test_parameters_are_a_bounded_regular_file(tmp_path, kind):
    path = tmp_path / "params.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "symlink":
        (tmp_path / "elsewhere").write_text(GOOD)
        path.symlink_to("elsewhere")
    elif kind == "oversized":
        path.write_bytes(b"#" * (4 * 2**20 + 1))
    with pytest.raises(InputError, match=r"params\.yaml: expected"):
        open_workspace(tmp_path)


def test_a_workspace_is_a_folder_and_its_parameters(workspace, tmp_path):
    assert workspace == Workspace(Path(tmp_path), parse_parameters(GOOD.encode(), "x"))


@pytest.mark.parametrize("slug", ["a", "7", "con", "A-b_C", "x" * 64])
def test_a_name_of_letters_and_digits_is_taken(slug):
    parsed = parse_parameters(spoilt("  uniform:", f'  "{slug}":').encode(), "params.yaml")
    assert slug in parsed.routes
