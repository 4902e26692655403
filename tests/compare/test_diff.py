"""`diff` from end to end: releases of every kind, the known edits of a bundle, revisions."""

from __future__ import annotations

import csv
import json
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.compare.releases import compare_named, compare_releases
from pipeline.compare.sources import read_side
from pipeline.errors import InputError, ReleaseError, TableError
from pipeline.release.bundle import read_bundle
from pipeline.release.starter import read_starter
from pipeline.starter import FOLDER, VERSIONS
from pipeline.workspace import open_workspace
from schemas.results import Contrast, Standing
from tests.mini import mini_workspace, run_stages, write_bundle
from tests.release import test_bundle
from tests.shared import SHARED, needs_shared

GOLDEN = SHARED / "golden" / "bundle"


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """Both starters as bundles, by version."""
    folder = tmp_path_factory.mktemp("bundles")
    return {n: write_bundle(folder / str(n), read_starter(n, FOLDER)) for n in VERSIONS}


@pytest.fixture(scope="module")
def run(bundles, tmp_path_factory):
    """A run on the first."""

    def change(parameters):
        parameters["release"] = {"source": "bundle", "path": str(bundles[1])}

    workspace = mini_workspace(tmp_path_factory.mktemp("diff") / "run", change)
    run_stages(workspace)
    return workspace


@pytest.fixture(scope="module")
def names(bundles):
    return tuple(map(str, bundles.values()))


def test_a_release_against_itself_is_an_empty_diff(run, names):
    for other in ("starter@1", str(run.root), str(run.root / "artifacts/release")):
        changes = compare_named(names[0], other, run)
        assert changes.empty
        assert changes.reasons == ()
        assert changes.conclusions.core == changes.conclusions.tasks > 0


def test_the_order_of_files_does_not_matter(run, bundles, tmp_path):
    shutil.copytree(bundles[1], tmp_path / "other")
    for name in ("ingredient_tags.csv", "embeddings.csv"):
        head, *rows = (tmp_path / "other" / name).read_text("utf-8").splitlines()
        (tmp_path / "other" / name).write_text("\n".join([head, *reversed(rows)]), "utf-8")
    assert compare_named(str(bundles[1]), str(tmp_path / "other"), run).empty


def test_scores_under_the_own_release_are_those_of_the_leaderboard(run, names):
    changes = compare_named(*names, run).conclusions
    assert 0 < changes.tasks <= changes.core
    own = compare_named(names[0], names[0], run).conclusions
    stored = {row.slug: row for row in run.read("statistics", Standing).rows()}
    for change in own.standings:
        row = stored[change.slug]
        assert change.before == change.after
        assert change.before.score_microbps == row.score_microbps
        assert (change.before.low_microbps, change.before.rank) == (row.band_low_microbps, row.rank)
    resolved = sum(row.resolved for row in run.read("statistics", Contrast).rows())
    assert own.resolved == (resolved, resolved)


def test_the_other_way_round_mirrors_the_diff(run, names):
    forth, back = compare_named(*names, run), compare_named(*names[::-1], run)
    assert not forth.empty
    assert forth.ingredients.added == back.ingredients.removed
    assert len(forth.ingredients.tags) == len(back.ingredients.tags) > 0
    assert forth.tasks.added == back.tasks.removed
    gains = {"lost": "gained", "gained": "lost", "reversed": "reversed"}
    assert [gains[c.change] for c in forth.conclusions.contrasts] == [
        c.change for c in back.conclusions.contrasts
    ]


def test_releases_that_share_nothing_are_told_so(run, tmp_path):
    folder = a_bundle(tmp_path / "bundle")
    renamed = test_bundle.TAGS.replace("miso", "xa").replace("butter", "xb").replace("basil", "xc")
    (folder / "ingredient_tags.csv").write_text(renamed, "utf-8")
    changes = compare_named("starter@1", str(folder), run)
    assert changes.ingredients.shared == 0
    assert "share no ingredient" in changes.reasons[0]
    assert any("tasks were not compared" in reason for reason in changes.reasons)
    done = CliRunner().invoke(app, ["diff", "starter@1", str(folder), "-w", str(run.root)])
    assert done.exit_code == 0


@pytest.mark.parametrize(("places", "code"), [((0, 0), 0), ((0, 1), 1)])
def test_the_exit_code_tells_whether_anything_differs(run, names, places, code):
    command = ["diff", *(names[i] for i in places), "-w", str(run.root)]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert CliRunner().invoke(app, [*command, "--exit-code"]).exit_code == code


def test_markdown_and_json_say_the_same(run, names):
    command = ["diff", *names, "-w", str(run.root)]
    document = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    markdown = CliRunner().invoke(app, [*command, "--markdown"]).stdout
    assert document["empty"] is False
    assert len(document["ingredients"]["added"]) == 10
    assert "| added | 10 |" in markdown
    shown = CliRunner().invoke(app, command).stdout
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("starter@9", ReleaseError), ("starter@", InputError), ("nonsense", InputError),
        ("--upload-pack=x", InputError), ("README.md", InputError), ("a\nb", InputError),
        ("", InputError),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_in_a_line(run, name, error):
    with pytest.raises(error):
        read_side(name, run.root)


def test_a_damaged_release_folder_is_refused(run, tmp_path):
    shutil.copytree(run.root / "artifacts/release", tmp_path / "release")
    path = tmp_path / "release/ingredients.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TableError):
        read_side(str(tmp_path / "release"), run.root)


# Bundles are hostile


def a_bundle(folder):
    folder.mkdir()
    (folder / "ingredient_tags.csv").write_text(test_bundle.TAGS, "utf-8")
    (folder / "embeddings.csv").write_text(test_bundle.EMBEDDINGS, "utf-8")
    test_bundle.write_directions(folder / "supervised_directions.npz", test_bundle.directions())
    return folder


def a_symlink(folder):
    path = folder / "ingredient_tags.csv"
    path.rename(folder / "elsewhere.csv")
    path.symlink_to(folder / "elsewhere.csv")


def a_name_outside(folder):
    test_bundle.outside_name(folder / "supervised_directions.npz")


def a_pickle_in_the_npz(folder):
    test_bundle.pickled_array(folder / "supervised_directions.npz")


def a_zip_bomb_in_the_npz(folder):
    test_bundle.bomb(folder / "supervised_directions.npz")


def a_field_of_a_hundred_megabytes(folder):
    path = folder / "ingredient_tags.csv"
    path.write_text(path.read_text("utf-8").replace("miso", "m" * 100_000_000), "utf-8")


@pytest.mark.parametrize(
    "spoil",
    [a_symlink, a_name_outside, a_pickle_in_the_npz, a_zip_bomb_in_the_npz,
     a_field_of_a_hundred_megabytes],
    ids=lambda spoil: spoil.__name__,
)  # fmt: skip
def test_a_hostile_bundle_is_refused(spoil, run, tmp_path):
    folder = a_bundle(tmp_path / "bundle")
    spoil(folder)
    with pytest.raises(ReleaseError):
        read_side(str(folder), run.root)


# The hub's layout


def a_hub(folder, matrix, header=None):
    a_bundle(folder)
    (folder / "embeddings.csv").unlink()
    tags = test_bundle.TAGS.replace("\n1,", "\n0,").replace("\n2,", "\n1,").replace("\n3,", "\n2,")
    (folder / "ingredient_tags.csv").write_text(tags, "utf-8")
    body = np.asarray(matrix, dtype="<f4").tobytes()
    entry = {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, len(body)]}
    raw = json.dumps(header or {"embeddings": entry}).encode()
    (folder / "embeddings.safetensors").write_bytes(struct.pack("<Q", len(raw)) + raw + body)
    return folder


def test_a_hub_folder_is_the_bundle_of_the_same_rows(tmp_path):
    hub = a_hub(tmp_path / "hub", [[1.0, 0.25], [0.0, 2.0], [0.5, -1.0]])
    bundle = a_bundle(tmp_path / "bundle")
    ours, theirs = (read_side(str(f), tmp_path).content.ingredients for f in (hub, bundle))
    assert {i.name: i.vector for i in ours} == {i.name: i.vector for i in theirs}


@pytest.mark.parametrize(
    "header",
    [
        {"other": {}}, {"embeddings": []}, {"embeddings": {"dtype": "F16"}},
        {"embeddings": {"dtype": "F32", "shape": [3], "data_offsets": [0, 24]}},
        {"embeddings": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 999]}},
        {"embeddings": {"dtype": "F32", "shape": [2**31, 2], "data_offsets": [0, 24]}},
        {"embeddings": {"dtype": "F32", "shape": [-3, -2], "data_offsets": [0, 24]}},
        {"embeddings": {"dtype": "F32", "shape": [0, 0], "data_offsets": [0, 0]}},
    ],
)  # fmt: skip
def test_an_unsound_hub_file_is_refused(header, tmp_path):
    folder = a_hub(tmp_path / "hub", [[1, 0], [0, 1], [1, 1]], header)
    with pytest.raises(ReleaseError, match=r"safetensors"):
        read_side(str(folder), tmp_path)


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 8, b"\x02" + bytes(7) + b"[]", b"\x01" + bytes(7) + b"{"]
)
def test_a_file_that_is_no_safetensors_is_refused(data, tmp_path):
    folder = a_hub(tmp_path / "hub", [[1, 0], [0, 1], [1, 1]])
    (folder / "embeddings.safetensors").write_bytes(data)
    with pytest.raises(ReleaseError, match=r"safetensors"):
        read_side(str(folder), tmp_path)


# The golden bundle against a copy with known edits


def edited(folder):
    """Copy the golden bundle: 3 removed, 2 added, 5 tags changed, 10 vectors moved."""
    folder.mkdir()
    tags = list(csv.DictReader((GOLDEN / "ingredient_tags.csv").read_text("utf-8").splitlines()))
    vectors = list(csv.reader((GOLDEN / "embeddings.csv").read_text("utf-8").splitlines()))
    head, rows = vectors[0], {row[0]: row for row in vectors[1:]}
    known = {"removed": [r["name"] for r in tags[100:103]]}
    gone = {r["node_id"] for r in tags[100:103]}
    known["tags"] = [r["name"] for r in tags[200:205]]
    for row in tags[200:205]:
        row["nova_level"] = "4.0" if row["nova_level"] != "4.0" else "1.0"
    known["moved"] = [r["name"] for r in tags[300:310]]
    for row in tags[300:310]:
        rows[row["node_id"]][1] = str(float(rows[row["node_id"]][1]) + 0.5)
    known["added"] = ["zz_one", "zz_two"]
    for number, name in enumerate(known["added"]):
        node = str(90_000 + number)
        tags.append(tags[0] | {"node_id": node, "name": name})
        rows[node] = [node, *rows[tags[number]["node_id"]][1:]]
    with (folder / "ingredient_tags.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(tags[0]))
        writer.writeheader()
        writer.writerows(row for row in reversed(tags) if row["node_id"] not in gone)
    with (folder / "embeddings.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *(r for n, r in rows.items() if n not in gone)])
    shutil.copy2(GOLDEN / "supervised_directions.npz", folder)
    return known


@needs_shared
def test_known_edits_of_the_golden_bundle_are_found_and_no_others(run, tmp_path):
    from pipeline.compare.sources import Side
    from pipeline.freeze import compile_tasks
    from tests.freeze.test_golden import PUBLISHED

    known = edited(tmp_path / "edited")
    sides = []
    for folder in (GOLDEN, tmp_path / "edited"):
        release = read_bundle(folder)
        tasks = compile_tasks(release.ingredients, release.directions, PUBLISHED)
        sides.append(Side(str(folder), release, tasks))
    changes = compare_releases(*sides, run)
    found = changes.ingredients
    assert list(found.removed) == sorted(known["removed"])
    assert list(found.added) == known["added"]
    assert sorted({change.name for change in found.tags}) == sorted(known["tags"])
    assert {change.tag for change in found.tags} == {"nova"}
    assert sorted(move.name for move in found.moved) == sorted(known["moved"])
    touched = {*known["removed"], *known["tags"], *known["moved"]}
    before = sides[0].tasks
    expected = [t.task_id for t in before if touched & {t.anchor, *t.choices}]
    assert list(changes.tasks.touched) == expected != []
    for change in changes.tasks.changed:
        assert change.before in expected


# Revisions


def test_a_revision_is_read_without_touching_the_working_tree(run, bundles, tmp_path):
    root = tmp_path / "run"
    shutil.copytree(run.root, root)

    def command(*words):
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    dvc = [sys.executable, "-m", "dvc"]
    command("git", "init", "--quiet")
    command(*dvc, "init", "--quiet")
    command(*dvc, "add", "--quiet", "artifacts/release", "artifacts/freeze/tasks.parquet")
    command("git", "add", "-A")
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command("git", *identity, "commit", "--quiet", "-m", "first")
    assert compare_named("HEAD", str(root), open_workspace(root)).empty
    text = (root / "params.yaml").read_text("utf-8")
    (root / "params.yaml").write_text(text.replace(str(bundles[1]), str(bundles[2])), "utf-8")
    changed = open_workspace(root)
    for name in ("release/ingredients", "release/directions", "freeze/tasks"):
        (root / f"artifacts/{name}.parquet").unlink()  # links into the cache are read-only
    run_stages(changed, "release", "freeze")
    before = {p: p.stat().st_mtime_ns for p in sorted(root.rglob("*")) if ".dvc" not in p.parts}
    changes = compare_named("HEAD", str(root), changed)
    after = {p: p.stat().st_mtime_ns for p in sorted(root.rglob("*")) if ".dvc" not in p.parts}
    assert len(changes.ingredients.added) == 10
    assert changes.conclusions.tasks > 0  # the answers are to the revision's tasks
    assert [c.before.rank for c in changes.conclusions.standings] == [1, 2]
    assert {p: t for p, t in before.items() if ".git" not in p.parts} == {
        p: t for p, t in after.items() if ".git" not in p.parts
    }
    with pytest.raises(InputError, match="revision that there is"):
        compare_named("no-such-branch", str(root), changed)
