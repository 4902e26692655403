"""Published documents: small ones made here and corrupted, and the real ones where they are."""

import copy
import hashlib
import json
from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.release.published import plan_core, read_task_set
from schemas.taskset import LABELS, PORTFOLIOS

OFFICIAL = Path(__file__).parents[2].parent / "shared" / "official"
needs_official = pytest.mark.skipif(
    not OFFICIAL.is_dir(), reason="the published files (../shared/official) are not here"
)
FAMILIES = ("substitution", "pairing", "constraint", "cultural_composition")


def sha(value):
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sign(document):
    """Bring the outer hashes up to date, as one who alters a task would."""
    for task in document["tasks"]:
        if isinstance(task.get("oracle_reference"), dict):
            task["oracle_reference_sha256"] = sha(task["oracle_reference"])
    document["task_set_sha256"] = sha(
        [
            {
                "task_id": task.get("task_id"),
                "prompt_sha256": task.get("prompt_sha256"),
                "oracle_reference_sha256": task.get("oracle_reference_sha256"),
                "score_map_sha256": sha(task.get("selection_scores_bps")),
            }
            for task in document["tasks"]
        ]
    )
    return seal(document)


def seal(document):
    document.pop("artifact_sha256", None)
    document["artifact_sha256"] = sha(document)
    return document


def make_task(family):
    scores = dict.fromkeys(PORTFOLIOS, 0) | {"ABC": 10_000, "FGH": 9_700, "DEF": 10}
    prompt = f"Which three go with crème fraîche? ({family})"
    reference = {
        "all_combinations_scored": 56,
        "anchor": f"anchor_{family}",
        "constraint_variant": "vegan" if family == "constraint" else None,
        "invalid_selection_score_bps": 0,
        "maximum_nova": 2 if family == "constraint" else None,
        "method": "cosine",
        "normalization": "min_max",
        "selection_size": 3,
        "target_region": "Japanese" if family == "cultural_composition" else None,
    }
    return {
        "task_id": f"t-{family}-001",
        "family": family,
        "split": "primary",
        "anchor_ingredient": f"anchor_{family}",
        "primary_category": "Dairy",
        "validation_stratum": 1,
        "choices": {label: f"name_{label.lower()}" for label in LABELS},
        "selection_size": 3,
        "selection_scores_bps": scores,
        "optimal_selection": "ABC",
        "chance_score_bps": 352,  # 19,710 / 56 = 351.96
        "optimal_margin_bps": 300,
        "oracle_reference": reference,
        "prompt": prompt,
        "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest(),
        "scoring": {"method": "lookup", "maximum_bps": 10_000},
    }


def make_set():
    tasks = [make_task(family) for family in FAMILIES]
    counts = {
        "choices_per_task": 8,
        "human_judgments_required": 0,
        "scored_combinations_per_task": 56,
        "selection_size": 3,
        "tasks": 4,
        "tasks_per_family": 1,
        "tasks_per_family_stratum": 1,
        "total_prefrozen_selection_scores": 224,
        "unique_anchor_ingredients": 4,
    }
    return sign({"benchmark": "small", "counts": counts, "tasks": tasks})


def make_plan():
    panels = {}
    for panel in ("panel_1", "panel_2"):
        by_family = {"pairing": [f"{panel}-p2", f"{panel}-p1"], "constraint": [f"{panel}-c1"]}
        ids = by_family["constraint"] + by_family["pairing"]
        panels[panel] = {
            "selected_task_ids_by_family": by_family,
            "selected_task_ids_sha256": sha(ids),
        }
    core = {"included_families": ["constraint", "pairing"], "panels": panels, "other": 1}
    return seal({"schema_version": "small", "common_core": core})


def refusal(document, reader=lambda one: read_task_set(one, "panel_1", "small.json")):
    with pytest.raises(InputError) as raised:
        reader(document)
    assert raised.value.where.startswith("small.json, ")
    assert "\n" not in str(raised.value)
    return str(raised.value)


def plan_refusal(document):
    return refusal(document, lambda one: plan_core(one, "small.json"))


def test_a_sound_set_is_taken_as_it_is():
    document = make_set()
    untouched = copy.deepcopy(document)
    found = read_task_set(document, "panel_1", "small.json")
    assert document == untouched
    assert [task.family for task in found.tasks] == list(FAMILIES)
    third = found.tasks[2]
    assert (third.panel, third.variant, third.region) == ("panel_1", "vegan-nova-2", None)
    assert third.choices == tuple(f"name_{label.lower()}" for label in LABELS)
    assert third.scores_bps[0] == 10_000
    assert third.scores_bps[-1] == 9_700
    assert (third.optimum, third.chance_bps, third.margin_bps) == ("ABC", 352, 300)
    assert found.tasks[3].region == "Japanese"
    assert {one.name: one.sha256 for one in found.hashes} == {
        "panel_1.artifact_sha256": document["artifact_sha256"],
        "panel_1.task_set_sha256": document["task_set_sha256"],
    }


def test_artifact_hash_wrong():
    document = make_set()
    document["benchmark"] = "other"
    assert "field artifact_sha256: expected" in refusal(document)


def test_task_set_hash_wrong():
    document = make_set()
    document["tasks"].reverse()
    assert "field task_set_sha256: expected" in refusal(seal(document))


def test_duplicate_ids():
    document = make_set()
    document["tasks"][1]["task_id"] = document["tasks"][0]["task_id"]
    found = refusal(sign(document))
    assert "task t-substitution-001, field task_id: expected unique ids, found 2" in found


def drop(key, inner=None):
    def change(task):
        (task[inner] if inner else task).pop(key)

    return change


def put(key, value, inner=None):
    def change(task):
        (task[inner] if inner else task)[key] = value

    return change


SCORES = "selection_scores_bps"
REFERENCE = "oracle_reference"
CORRUPTIONS = {
    "map_key_missing": (
        drop("BCD", SCORES),
        f"{SCORES}: expected all 56 portfolios and no other, found missing ['BCD']",
    ),
    "map_key_unknown": (
        put("CBA", 1, SCORES),
        f"{SCORES}: expected all 56 portfolios and no other, found missing [], unknown",
    ),
    "map_score_too_high": (put("ABD", 10_001, SCORES), f"{SCORES}.ABD"),
    "map_score_negative": (put("ABD", -1, SCORES), f"{SCORES}.ABD"),
    "map_score_float": (put("ABD", 1.0, SCORES), f"{SCORES}.ABD"),
    "map_score_boolean": (put("ABD", True, SCORES), f"{SCORES}.ABD"),
    "map_score_text": (put("ABD", "1", SCORES), f"{SCORES}.ABD"),
    "map_two_optima": (
        put("ABD", 10_000, SCORES),
        f"{SCORES}: expected one portfolio with 10000, found 2 ['ABC', 'ABD']",
    ),
    "map_no_optimum": (
        put("ABC", 9_999, SCORES),
        f"{SCORES}: expected one portfolio with 10000, found 0",
    ),
    "optimum_wrong": (
        put("optimal_selection", "ABD"),
        "optimal_selection: expected ABC, found ABD",
    ),
    "chance_wrong": (put("chance_score_bps", 351), "chance_score_bps: expected 352, found 351"),
    "margin_wrong": (put("optimal_margin_bps", 299), "optimal_margin_bps: expected 300, found 299"),
    "prompt_hash_wrong": (put("prompt", "Other?"), "prompt_sha256: expected"),
    "family_unknown": (
        put("family", "dessert"),
        "family: expected one of substitution, pairing, constraint, cultural",
    ),
    "category_unknown": (
        put("primary_category", "Pantry"),
        "primary_category: expected one of Beverage",
    ),
    "stratum_out_of_range": (put("validation_stratum", 5), "validation_stratum"),
    "choice_missing": (drop("H", "choices"), "choices (labels)"),
    "choice_label_unknown": (put("I", "name_i", "choices"), "choices (labels)"),
    "choice_twice": (
        put("H", "name_a", "choices"),
        "choices (different names, with the anchor): expected 9, found 8",
    ),
    "choice_is_anchor": (
        put("H", "anchor_pairing", "choices"),
        "choices (different names, with the anchor)",
    ),
    "field_missing": (drop("split"), "split: expected another value (Field required)"),
    "field_unknown": (
        put("weight", 2),
        "weight: expected another value (Extra inputs are not permitted)",
    ),
    "reference_anchor_wrong": (
        put("anchor", "other", REFERENCE),
        "oracle_reference.anchor: expected anchor_pairing, found other",
    ),
    "reference_limit_in_other_family": (
        put("maximum_nova", 2, REFERENCE),
        "oracle_reference.maximum_nova: expected null in family pairing, found 2",
    ),
    "reference_target_in_other_family": (
        put("target_region", "Japanese", REFERENCE),
        "oracle_reference.target_region: expected null in family pairing",
    ),
    "reference_rule_other": (
        put("selection_size", 4, REFERENCE),
        "oracle_reference.selection_size",
    ),
}


@pytest.mark.parametrize("defect", CORRUPTIONS)
def test_a_corrupted_task_is_named(defect):
    change, expected = CORRUPTIONS[defect]
    document = make_set()
    change(document["tasks"][1])
    assert f"small.json, task t-pairing-001, field {expected}" in refusal(sign(document))


def test_the_reference_hash_is_checked():
    document = make_set()
    document["tasks"][1]["oracle_reference"]["method"] = "other"
    assert "task t-pairing-001, field oracle_reference_sha256" in refusal(seal(document))


def test_cultural_tasks_need_a_known_target():
    for value, expected in ((None, "a value in family"), ("universal", "one of Japanese, East")):
        document = make_set()
        document["tasks"][3]["oracle_reference"]["target_region"] = value
        found = refusal(sign(document))
        assert f"field oracle_reference.target_region: expected {expected}" in found


@pytest.mark.parametrize("task_id", [None, 7, ""])
def test_a_task_without_a_usable_id_is_named_by_its_place(task_id):
    document = make_set()
    document["tasks"][1]["task_id"] = task_id
    found = refusal(sign(document))
    assert "field task_id" in found
    assert "number 2" in found or task_id == ""


@pytest.mark.parametrize(
    "field",
    [
        "tasks",
        "tasks_per_family",
        "tasks_per_family_stratum",
        "total_prefrozen_selection_scores",
        "unique_anchor_ingredients",
        "choices_per_task",
    ],
)
def test_counts_are_those_of_the_tasks(field):
    document = make_set()
    document["counts"][field] += 1
    assert f"field counts.{field}" in refusal(seal(document))


@pytest.mark.parametrize("value", [None, [], {}, "text", [1]])
def test_tasks_that_are_no_list_of_objects(value):
    document = make_set()
    document["tasks"] = value
    assert "field tasks" in refusal(seal(document))


def test_what_canonical_json_cannot_hold_is_refused():
    for value in (float("nan"), "\ud800"):
        document = make_set()
        document["benchmark"] = value
        assert "expected what canonical JSON can hold" in refusal(document)


def test_chance_rounds_half_to_even():
    for extra, chance in ((28, 180), (84, 180)):  # 10,024 = 179 * 56
        document = make_set()
        for task in document["tasks"]:
            scores = dict.fromkeys(PORTFOLIOS, 0) | {"ABC": 10_000, "FGH": 24 + extra}
            task["selection_scores_bps"] = scores
            task["chance_score_bps"] = chance
            task["optimal_margin_bps"] = 10_000 - 24 - extra
        assert read_task_set(sign(document), "p", "small.json").tasks[0].chance_bps == chance


def test_a_sound_plan_keeps_its_order():
    found = plan_core(make_plan(), "small.json")
    assert [(one.panel, one.family, one.position, one.task_id) for one in found[:3]] == [
        ("panel_1", "constraint", 0, "panel_1-c1"),
        ("panel_1", "pairing", 0, "panel_1-p2"),
        ("panel_1", "pairing", 1, "panel_1-p1"),
    ]
    assert len(found) == 6


def test_a_plan_with_another_artifact_hash():
    plan = make_plan()
    plan["schema_version"] = "other"
    assert "field artifact_sha256" in plan_refusal(plan)


def test_a_plan_with_another_order_of_ids():
    plan = make_plan()
    plan["common_core"]["panels"]["panel_2"]["selected_task_ids_by_family"]["pairing"].reverse()
    found = plan_refusal(seal(plan))
    assert "field common_core.panels.panel_2.selected_task_ids_sha256" in found


def test_a_plan_with_an_unknown_family():
    plan = make_plan()
    plan["common_core"]["included_families"].append("dessert")
    found = plan_refusal(seal(plan))
    assert "field common_core.included_families: expected one of substitution" in found


def test_a_plan_without_a_family_of_its_own():
    plan = make_plan()
    plan["common_core"]["panels"]["panel_1"]["selected_task_ids_by_family"].pop("pairing")
    assert "panel_1.selected_task_ids_by_family: expected ['constraint', 'pairing']" in (
        plan_refusal(seal(plan))
    )


def test_a_plan_with_one_id_twice():
    plan = make_plan()
    ids = plan["common_core"]["panels"]["panel_1"]["selected_task_ids_by_family"]["pairing"]
    ids[1] = ids[0]
    assert "times of panel_1-p2: expected 1, found 2" in plan_refusal(seal(plan))


@needs_official
@pytest.mark.parametrize("name", ["taskset-panel-1", "taskset-panel-2", "taskset-earlier"])
def test_the_published_sets_agree_with_themselves(name):
    document = json.loads((OFFICIAL / f"{name}.json").read_text(encoding="utf-8"))
    found = read_task_set(document, "panel", name)
    assert len(found.tasks) == 640
    assert found.hashes[1].sha256 == document["task_set_sha256"]


@needs_official
def test_the_published_plan_names_tasks_of_the_published_sets():
    ids = set()
    for panel in (1, 2):
        path = OFFICIAL / f"taskset-panel-{panel}.json"
        found = read_task_set(json.loads(path.read_text("utf-8")), f"panel_{panel}", path.name)
        ids |= {(task.panel, task.family, task.task_id) for task in found.tasks}
    plan = json.loads((OFFICIAL / "analysis-plan.json").read_text(encoding="utf-8"))
    core = plan_core(plan, "analysis-plan.json")
    assert len(core) == 534
    assert {(one.panel, one.family, one.task_id) for one in core} <= ids
