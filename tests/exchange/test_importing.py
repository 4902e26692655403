"""Published data in: everything is checked, and the folder appears complete or not at all."""

import json
import os

import pytest

from pipeline.errors import FlavourbenchError, InputError, ReleaseError
from pipeline.exchange.dataset import LEADERBOARD, MANIFEST, MODELS, model_slugs
from pipeline.exchange.importing import import_published
from pipeline.release.dataset import read_objects
from pipeline.workspace import parse_parameters
from schemas.release import Release
from tests.exchange.small import OBSERVATIONS, SmallSet, import_small
from tests.release.test_published import make_set, seal, sha
from tests.shared import SHARED, needs_shared

GOLDEN = SHARED / "golden" / "dataset"
OFFICIAL = SHARED / "official"


def take(tmp_path, small):
    return import_published(str(small.write(tmp_path / "source")), tmp_path / "imported", tmp_path)


def test_a_data_set_becomes_a_release_and_replay_routes(tmp_path):
    found = take(tmp_path, SmallSet())
    assert (found.tasks, found.core, found.models, found.answers) == (8, 8, 3, 24)
    parameters = parse_parameters(found.parameters.read_bytes(), "params.yaml")
    assert list(parameters.routes) == ["lab-alpha", "lab-beta", "lab-gamma"]
    assert {route.answer_rule for route in parameters.routes.values()} == {"verbatim"}
    assert parameters.release.path == "imported/release"
    assert (parameters.statistics.stream, parameters.statistics.seed) == ("pcg64", 7)
    assert parameters.statistics.bootstrap == 300
    assert sorted(path.name for path in tmp_path.iterdir()) == ["imported", "source"]


def test_published_hashes_stay_beside_ours(tmp_path):
    small = SmallSet()
    workspace = import_small(tmp_path / "run", small)
    release = workspace.read("release", Release).rows()[0]
    manifest = json.loads((tmp_path / "run/source-imported" / MANIFEST).read_text())
    hashes = {entry.name: entry.sha256 for entry in release.provenance}
    assert hashes["manifest.artifact_sha256"] == manifest["artifact_sha256"]
    assert hashes["release.artifact_sha256"] == manifest["release_artifact_sha256"]
    rows = list(read_objects(tmp_path / "run/imported/answers/lab-beta.jsonl", 8))
    stated = [row["response_artifact_sha256"] for row in small.observations[8:16]]
    assert [row["published"]["artifact_sha256"] for row in rows] == stated


def test_a_folder_elsewhere_is_named_in_full(tmp_path):
    source = SmallSet().write(tmp_path / "source")
    (tmp_path / "workspace").mkdir()
    found = import_published(str(source), tmp_path / "out", tmp_path / "workspace")
    parameters = parse_parameters(found.parameters.read_bytes(), "params.yaml")
    assert parameters.release.path == str(tmp_path / "out" / "release")


# Bad input: what the documents say, each change sealed again so that only it is wrong


def resign(row):
    response = row["response"]
    response.pop("artifact_sha256")
    response["artifact_sha256"] = row["response_artifact_sha256"] = sha(response)


def unsealed(small):
    small.observations[3]["response"]["generation"]["answer_markdown"] += " "


def other_wrapper_hash(small):
    small.observations[3]["response_artifact_sha256"] = "0" * 64


def cell_twice(small):
    small.observations[4] = small.observations[3]


def cell_missing(small):
    del small.observations[4]


def no_route(small):
    del small.models[1]["route"]


def model_twice(small):
    small.models[1] = small.models[0]


def slug_twice(small):
    small.models[1]["model_id"] = "lab-alpha"


def model_unknown(small):
    small.observations[3]["response"]["model_id"] = "lab/omega"
    resign(small.observations[3])


def task_unknown(small):
    small.observations[3]["response"]["task_id"] = "t-0"
    resign(small.observations[3])


def other_prompt(small):
    small.observations[3]["response"]["prompt_sha256"] = "0" * 64
    resign(small.observations[3])


def other_panel(small):
    small.observations[3]["release_panel"] = "panel_2"


def family_unknown(small):
    small.tasks[0]["family"] = "dessert"


def tasks_shuffled(small):
    small.tasks[0], small.tasks[7] = small.tasks[7], small.tasks[0]


def task_twice(small):
    small.tasks[1] = small.tasks[0]


def long_answer(small):
    generation = small.observations[3]["response"]["generation"]
    generation["answer_markdown"] = "x" * (2**20 + 1)
    resign(small.observations[3])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (unsealed, r"row 4, field artifact_sha256|row 4.*artifact_sha256"),
        (other_wrapper_hash, "row 4.*response_artifact_sha256"),
        (cell_twice, "every cell once, found lab/alpha on panel_1-pairing-1 again"),
        (cell_missing, "1 missing for lab-alpha, first panel_2-substitution-0"),
        (no_route, r"number 2.*route"),
        (model_twice, "every model once, found lab/alpha twice"),
        (slug_twice, "found lab-alpha, which gives lab-alpha"),
        (model_unknown, "row 4.*model_id.*lab/omega"),
        (task_unknown, "row 4.*task_id.*t-0"),
        (other_prompt, "row 4.*prompt_sha256"),
        (other_panel, "row 4.*release_panel.*panel_2"),
        (family_unknown, "panel_1-substitution-0.*family.*dessert"),
        (tasks_shuffled, "tasks by panel, then family"),
        (task_twice, "panel_1-substitution-0.*this one twice"),
        (long_answer, "row 4.*answer_markdown"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_set_that_contradicts_itself_is_refused_and_nothing_is_left(tmp_path, change, said):
    small = SmallSet()
    change(small)
    with pytest.raises(FlavourbenchError, match=said) as caught:
        take(tmp_path, small)
    assert str(caught.value).isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


# Bad input: what the files are


def shorter(path):
    path.write_bytes(path.read_bytes()[:-1])


def flipped(path):
    path.write_bytes(path.read_bytes().replace(b"a", b"b", 1))


def linked(path):
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


@pytest.mark.parametrize("fault", [shorter, flipped, linked, os.remove])
@pytest.mark.parametrize("name", ["tasks.jsonl", MODELS, OBSERVATIONS, LEADERBOARD, "release.json"])
def test_a_file_that_is_not_what_the_manifest_says_is_refused(tmp_path, name, fault):
    source = SmallSet().write(tmp_path / "source")
    (source / LEADERBOARD).write_bytes(b"")  # so that it holds nothing to flip
    if name == LEADERBOARD:
        (source / LEADERBOARD).write_bytes(b"aa")
    fault(source / name)
    with pytest.raises(ReleaseError, match=name):
        import_published(str(source), tmp_path / "imported", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_count": 9}, "artifact_sha256"),
        ({"files": []}, "files"),
        ({"release_artifact_sha256": "0" * 64}, "artifact_sha256"),
    ],
)
@pytest.mark.parametrize("sealed", [True, False])
def test_a_manifest_that_lies_is_refused(tmp_path, change, said, sealed):
    source = SmallSet().write(tmp_path / "source")
    manifest = json.loads((source / MANIFEST).read_text()) | change
    (source / MANIFEST).write_text(json.dumps(seal(manifest) if sealed else manifest))
    match = "task_count" if sealed and "task_count" in change else said
    with pytest.raises(FlavourbenchError, match=match):
        import_published(str(source), tmp_path / "imported", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_line_without_end_is_refused_before_it_is_in_memory(tmp_path):
    path = tmp_path / "lines.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"a": 1}\n')
        stream.truncate(2 * 2**30)  # sparse
    rows = read_objects(path, None)
    assert next(rows) == {"a": 1}
    with pytest.raises(ReleaseError, match="line 2: expected lines of at most"):
        next(rows)


def test_a_folder_that_is_there_is_never_touched(tmp_path):
    source = SmallSet().write(tmp_path / "source")
    (tmp_path / "imported").mkdir()
    with pytest.raises(InputError, match="that is not there yet"):
        import_published(str(source), tmp_path / "imported", tmp_path)


def test_a_source_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        import_published(str(tmp_path / "nowhere"), tmp_path / "imported", tmp_path)


# Task sets and their plan


def make_plan(sets):
    families = ["substitution", "pairing"]
    panels = {}
    for panel in sets:
        by_family = {family: [f"t-{family}-001"] for family in families}
        ids = [one for family in families for one in by_family[family]]
        panels[panel] = {
            "selected_task_ids_by_family": by_family,
            "selected_task_ids_sha256": sha(ids),
        }
    inputs = {
        f"core_{panel}_taskset": {"semantic_sha256": document["artifact_sha256"]}
        for panel, document in sets.items()
    }
    inference = {"seed": 5, "bootstrap_resamples": 400, "permutation_resamples": 500}
    core = {"included_families": families, "panels": panels}
    return seal({"common_core": core, "inputs": inputs, "inference": inference})


def write_sets(folder, change=None):
    folder.mkdir()
    document = make_set()
    plan = make_plan({"panel_1": document})
    if change:
        change(document, plan)
    (folder / "set.json").write_text(json.dumps(document))
    (folder / "other.json").write_text(json.dumps(seal(make_set() | {"benchmark": "another"})))
    (folder / "notes.json").write_text("[1]")
    (folder / "plan.json").write_text(json.dumps(plan))
    return folder


def test_the_plan_says_which_sets_belong_to_it(tmp_path):
    found = import_published(str(write_sets(tmp_path / "source")), tmp_path / "imported", tmp_path)
    assert (found.tasks, found.core, found.answers) == (4, 2, 0)
    release = parse_parameters(found.parameters.read_bytes(), "params.yaml").release
    assert release.published.panels == {"panel_1": "set.json"}
    assert release.published.plan == "plan.json"


def other_set(document, _):
    document["benchmark"] = "changed"
    seal(document)


def foreign_task(_, plan):
    panel = plan["common_core"]["panels"]["panel_1"]
    panel["selected_task_ids_by_family"]["pairing"] = ["t-9"]
    panel["selected_task_ids_sha256"] = sha(["t-substitution-001", "t-9"])
    seal(plan)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_set, "one task set of panel_1 with the artifact_sha256 that the plan names"),
        (foreign_task, "planned tasks in the task sets.*found t-9"),
    ],
)
def test_sets_that_do_not_fit_their_plan_are_refused(tmp_path, change, said):
    source = write_sets(tmp_path / "source", change)
    with pytest.raises(FlavourbenchError, match=said):
        import_published(str(source), tmp_path / "imported", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_folder_of_nothing_published_is_refused(tmp_path):
    (tmp_path / "source").mkdir()
    with pytest.raises(FlavourbenchError, match=r"DATA_MANIFEST.json, or one analysis plan"):
        import_published(str(tmp_path / "source"), tmp_path / "imported", tmp_path)


@needs_shared
def test_the_published_task_sets_and_plan_import(tmp_path):
    found = import_published(str(OFFICIAL), tmp_path / "official", tmp_path)
    assert (found.tasks, found.core) == (1280, 534)


@needs_shared
def test_the_golden_data_set_imports(tmp_path):
    found = import_published(str(GOLDEN), tmp_path / "golden", tmp_path)
    assert (found.tasks, found.models, found.answers) == (534, 27, 14_418)


def test_a_model_id_gives_a_slug_that_params_yaml_takes():
    ids = ["@host/model", "--all", "_x.1", "lab/A"]
    assert list(model_slugs(ids, "f").values()) == ["host-model", "all", "x-1", "lab-A"]


@pytest.mark.parametrize("ids", [["lab/a", "Lab/A"], ["@a", "-a"], ["--"], ["x" * 65]])
def test_model_ids_without_slugs_of_their_own_are_refused(ids):
    with pytest.raises(InputError, match="slugs of their own"):
        model_slugs(ids, "f")
