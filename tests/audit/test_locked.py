"""What `dvc.lock` lists is compared byte by byte; what it lists elsewhere is never opened."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from pipeline.audit.locked import compare_with_lock
from pipeline.errors import TableError

DVC_YAML = """
stages:
  score: {cmd: score}
  execute: {foreach: "${routes}", do: {cmd: "execute ${key}"}}
  mine: {foreach: [a, b], do: {cmd: mine}}
"""


def md5(data):
    return hashlib.md5(data).hexdigest()


@pytest.fixture
def root(tmp_path):
    (tmp_path / "artifacts/score").mkdir(parents=True)
    (tmp_path / "artifacts/score/x").write_bytes(b"data")
    (tmp_path / "dvc.yaml").write_text(DVC_YAML, "utf-8")
    return tmp_path


def lock(root, stages):
    document = {
        "schema": "2.0",
        "stages": {
            name: {
                "cmd": "c",
                "outs": [{"path": path, "hash": "md5"} | rest for path, rest in outs],
            }
            for name, outs in stages.items()
        },
    }
    (root / "dvc.lock").write_text(json.dumps(document), "utf-8")


def sound(**changes):
    return {"score": [("artifacts/score/x", {"md5": md5(b"data"), "size": 4} | changes)]}


def test_every_byte_is_compared(root):
    lock(root, sound())
    assert compare_with_lock(root, []) == (1, (), ())
    (root / "artifacts/score/x").write_bytes(b"dada")
    (found,) = compare_with_lock(root, []).differences
    assert str(found) == (f"artifacts/score/x, md5: expected {md5(b'data')}, found {md5(b'dada')}")


def test_a_file_of_another_size_is_not_read(root):
    lock(root, sound())
    with (root / "artifacts/score/x").open("wb") as stream:
        stream.truncate(2**40)  # a hole, on most file systems
    (found,) = compare_with_lock(root, []).differences
    assert str(found) == "artifacts/score/x, bytes: expected 4, found 1,099,511,627,776"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hostname",
        "/dev/zero",
        "../outside",
        "artifacts/../../outside",
        "artifacts/../params.yaml",
        "artifacts/score/../../../outside",
        "params.yaml",
        "artifacts",
        "artifacts/",
        "artifacts//score/x",
        "./artifacts/score/x",
        "artifacts/./score/x",
        "Artifacts/score/x",
        "artifacts\\score\\x",
        "C:\\x",
        "file:///etc/hostname",
        "s3://bucket/x",
        "~/x",
        "",
        "artifacts/score/x\0",
        "artifacts/" + "x" * 256,
    ],
)
@pytest.mark.parametrize("suffix", ["", ".dir"])
def test_a_path_that_is_no_output_of_ours_is_refused_unread(root, path, suffix, monkeypatch):
    lock(root, {"score": [(path, {"md5": "0" * 32 + suffix})]})
    monkeypatch.setattr("pipeline.audit.locked.open_regular", None)
    with pytest.raises(
        TableError, match=r"dvc.lock, stage score: expected outputs below artifacts/"
    ):
        compare_with_lock(root, [])


def link_to_a_file(path):
    path.unlink()
    path.symlink_to("/etc/hostname")


def link_to_a_device(path):
    path.unlink()
    path.symlink_to("/dev/zero")


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder(path):
    path.unlink()
    path.mkdir()


def nothing(path):
    path.unlink()


def folder_that_is_a_link(path):
    path.unlink()
    path.parent.rmdir()
    (path.parents[2] / "elsewhere").mkdir()
    (path.parents[2] / "elsewhere" / "x").write_bytes(b"data")
    path.parent.symlink_to(path.parents[2] / "elsewhere")


@pytest.mark.parametrize(
    "spoil",
    [link_to_a_file, link_to_a_device, pipe, folder, nothing, folder_that_is_a_link],
    ids=lambda spoil: spoil.__name__,
)
def test_what_is_no_regular_file_of_ours_is_a_difference(root, spoil):
    lock(root, sound())
    spoil(root / "artifacts/score/x")
    (found,) = compare_with_lock(root, []).differences
    assert found.where.startswith("artifacts/score")
    assert found.found in {"a symbolic link", "no such file"}


def test_a_link_in_a_folder_is_a_difference(root):
    listed = json.dumps([{"md5": md5(b"data"), "relpath": "x"}]).encode()
    lock(root, {"score": [("artifacts/score", {"md5": f"{md5(listed)}.dir"})]})
    assert compare_with_lock(root, []) == (1, (), ())
    (root / "artifacts/score/y").symlink_to("/etc/hostname")
    (found,) = compare_with_lock(root, []).differences
    assert found.found == "a symbolic link"


def test_a_stage_that_nothing_defines_is_named_and_none_of_its_files_is_lost(root):
    """DVC keeps it: of a route that was taken out, or of the run before an import."""
    gone = [("artifacts/execute/old.parquet", {"md5": "0" * 32})]
    lost = [("artifacts/execute/new.parquet", {"md5": "0" * 32})]
    lock(root, sound() | {"execute@old": gone, "removed": gone, "execute@new": lost})
    files, left_out, found = compare_with_lock(root, ["new"])
    assert (files, left_out) == (1, ("execute@old", "removed"))
    assert [one.where for one in found] == ["artifacts/execute/new.parquet"]


def test_a_stage_that_may_be_defined_is_held_to_its_outputs(root):
    lost = [("artifacts/mine/x", {"md5": "0" * 32})]
    lock(root, {"mine@a": lost})
    assert compare_with_lock(root, []).gone == ()
    assert len(compare_with_lock(root, []).differences) == 1
    (root / "dvc.yaml").unlink()
    assert len(compare_with_lock(root, []).differences) == 1


MULTIPLIED = "stages: [&a [" + "0, " * 8000 + "], " + "*a, " * 15_000 + "]"
HOSTILE = {
    "aliases that multiply": MULTIPLIED,
    "deep nesting": "stages: " + "[" * 20_000,
    "deep nesting in blocks": "stages:\n  " + "- " * 20_000,
    "nested mappings": "{stages: " * 20_000,
    "a list that holds itself": "stages: &a [*a]",
    "a mapping that holds itself": "stages: &a {x: *a}",
    "stages in a list": "stages: [1]",
    "stages as a text": "stages: all",
    "a stage as a text": "stages: {score: all}",
    "a stage that is a number": "stages: {1: {outs: []}}",
    "outputs in a mapping": "stages: {score: {outs: {a: b}}}",
    "an output as a text": "stages: {score: {outs: [artifacts/score/x]}}",
    "an output without a hash": "stages: {score: {outs: [{path: artifacts/score/x}]}}",
    "a path that is a number": "stages: {score: {outs: [{path: 7, md5: x}]}}",
    "an object of Python": "stages: !!python/object/apply:os.getcwd []",
    "no mapping": "[]",
    "nothing": "",
    "no text": "\udcff",
}


SHAPED = {name for name in HOSTILE if "output" in name or "path" in name or "as a text" in name}
"""Of the lock alone: what a stage of dvc.yaml holds is for DVC to read."""


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("dvc.lock", name) for name in HOSTILE),
        *(("dvc.yaml", name) for name in HOSTILE if name not in SHAPED),
    ],
)
def test_a_file_that_is_not_dvcs_is_refused_in_one_line(root, file, name):
    lock(root, sound())
    (root / file).write_bytes(HOSTILE[name].encode("utf-8", "surrogateescape"))
    with pytest.raises(TableError) as caught:
        compare_with_lock(root, [])
    assert str(caught.value).startswith(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("target", ["/dev/zero", "nowhere", "dvc.yaml"])
@pytest.mark.parametrize("file", ["dvc.lock", "dvc.yaml"])
def test_files_of_dvc_are_bounded_regular_files(root, file, target):
    lock(root, sound())
    (root / file).unlink(missing_ok=True)
    (root / file).symlink_to(target)
    with pytest.raises(TableError, match="a symbolic link"):
        compare_with_lock(root, [])
