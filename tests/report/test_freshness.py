"""`leaderboard` says in one line what has moved on since its tables were made."""

from __future__ import annotations

import hashlib
import json

import pytest

from pipeline.dvcfiles import moved_on
from pipeline.errors import InputError
from pipeline.report.freshness import stale_note
from pipeline.workspace import open_workspace
from tests.mini import mini_workspace
from tests.shared import ROOT


def md5(data):
    return hashlib.md5(data).hexdigest()


@pytest.fixture
def place(tmp_path):
    """A workspace with a lock as DVC writes it: a file, a folder, parameters, two tables."""
    place = mini_workspace(tmp_path)
    code = tmp_path / "pipeline"
    (code / "score" / "a").mkdir(parents=True)
    texts = {"score/a/x.py": b"x", "score/a-b.py": b"y", "score/a.py": b"z"}
    for name, data in {**texts, "tables.py": b"t"}.items():
        (code / name).write_bytes(data)
    listed = [
        {"md5": md5(data), "relpath": name.removeprefix("score/")}
        for name, data in sorted(texts.items())
    ]
    folder = md5(json.dumps(listed, sort_keys=True).encode()) + ".dir"
    parameters = json.loads((tmp_path / "params.yaml").read_text())
    old = {"path": "pipeline/gone.py", "md5": "0" * 32, "size": 1}

    def stage(out, *deps, **params):
        return {"deps": list(deps), "params": {"params.yaml": params}, "outs": [{"path": out}]}

    lock = {
        "stages": {
            "execute@dice": stage(
                "artifacts/execute/dice.parquet",
                {"path": "pipeline/tables.py", "md5": md5(b"t"), "size": 1},
                **{"routes.dice": parameters["routes"]["dice"]},
            ),
            "execute@removed": stage("artifacts/execute/removed.parquet", old),
            "parse": stage("artifacts/parse/s.parquet", {"path": "artifacts/execute"}),
            "score": stage(
                "artifacts/score/scores.parquet",
                {"path": "artifacts/parse", "md5": "moved"},
                {"path": "pipeline/score", "md5": folder, "size": 3, "nfiles": 3},
                routes=parameters["routes"],
                **{"score.families": parameters["score"]["families"]},
            ),
            "train": stage("artifacts/train", old, train={"salt": "older"}),
        }
    }
    (tmp_path / "dvc.lock").write_text(json.dumps(lock))
    return place


def note(place):
    return stale_note(open_workspace(place.root))


def change(place, section, **fields):
    path = place.root / "params.yaml"
    document = json.loads(path.read_text())
    document[section] |= fields
    path.write_text(json.dumps(document))


def test_nothing_is_said_where_nothing_moved(place):
    cache = place.root / "pipeline" / "score" / "__pycache__"
    cache.mkdir()
    (cache / "x.pyc").write_bytes(b"compiled")
    change(place, "report", title="Another")
    change(place, "train", salt="another")
    assert note(place) == ""


def test_without_a_lock_nothing_is_said(place):
    (place.root / "dvc.lock").unlink()
    assert note(place) == ""


@pytest.mark.parametrize(
    "name", ["tables.py", "score/a/x.py", "score/a-b.py", "score/new.py", "score/a/new.py"]
)
@pytest.mark.parametrize("data", [b"?", b"longer"])
def test_code_that_was_edited_or_added_is_named(place, name, data):
    (place.root / "pipeline" / name).write_bytes(data)
    named = "pipeline/tables.py" if name == "tables.py" else "pipeline/score"
    assert note(place) == (
        f"Changed since these tables were made: code or inputs ({named}). Next: `dvc repro`."
    )


def test_code_that_was_removed_is_named(place):
    (place.root / "pipeline" / "tables.py").unlink()
    assert "pipeline/tables.py" in note(place)


def test_sections_that_were_edited_are_named(place):
    change(place, "routes", more={"adapter": "policy", "policy": "first_three", "label": "M",
                                  "ranked": True})  # fmt: skip
    change(place, "score", families=["pairing"])
    assert "params.yaml (routes, score)." in note(place)


def test_a_route_that_was_set_aside_is_named_once(place):
    dice = json.loads((place.root / "params.yaml").read_text())["routes"]["dice"]
    change(place, "routes", dice=dice | {"enabled": False})
    assert note(place).startswith("Changed since these tables were made: params.yaml (routes). ")


@pytest.mark.parametrize("lock", ["stages: [", "[]", "\x00"])
def test_a_lock_that_cannot_be_read_is_said(place, lock):
    (place.root / "dvc.lock").write_text(lock)
    assert note(place).startswith("Nobody knows")
    assert note(place).count("\n") == 0


def test_folders_are_hashed_as_dvc_does():
    parameters = open_workspace(ROOT).parameters
    found = moved_on(ROOT, ["artifacts/release"], parameters.routes, InputError)
    assert found.sections == ()
    assert "pipeline/starter" not in found.inputs


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/dev/zero",
        "/etc",
        "..",
        "../x",
        "pipeline/../..",
        "a//b",
        "a" * 256,
        "a/" * 600 + "a",
        "a\ud800",
        "a\u202eb",
    ],
)
def test_a_lock_that_leads_elsewhere_is_refused_unread(place, path, monkeypatch):
    lock = json.loads((place.root / "dvc.lock").read_text())
    lock["stages"]["score"]["deps"].append({"path": path, "md5": "0" * 32})
    (place.root / "dvc.lock").write_text(json.dumps(lock))
    monkeypatch.setattr("pipeline.dvcfiles._differs", lambda _, dep: dep["path"] == path)
    assert note(place).startswith("Nobody knows")
    assert "paths within the workspace" in note(place)


@pytest.mark.parametrize("name", ["tables.py", "score"])
def test_code_that_is_a_link_has_changed_and_is_not_followed(place, name):
    path = place.root / "pipeline" / name
    path.rename(place.root / "aside")
    path.symlink_to(place.root / "aside")
    assert f"pipeline/{name}" in note(place)


@pytest.mark.parametrize("path", ["/data/bundle", "../bundle"])
def test_a_source_that_params_yaml_names_may_lie_elsewhere_and_is_not_read(place, path):
    lock = json.loads((place.root / "dvc.lock").read_text())
    lock["stages"]["score"]["deps"].append({"path": path, "md5": "0" * 32})
    (place.root / "dvc.lock").write_text(json.dumps(lock))
    parameters = json.loads((place.root / "params.yaml").read_text())
    parameters["release"] |= {"path": path}
    (place.root / "params.yaml").write_text(json.dumps(parameters))
    found = moved_on(place.root, ["artifacts/score"], [], InputError)
    assert path not in found.inputs
