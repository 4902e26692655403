"""The chain as a whole, through DVC and by command: what runs when, and what stays the same."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pipeline.portfolio import PORTFOLIO
from tests.shared import ROOT, SHARED, needs_shared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Lab

STAGES = tuple(stage.word for stage in PORTFOLIO.stages if not stage.asks)


def run_all(lab: Lab, env: dict[str, str] | None = None) -> None:
    """Every stage by its command, without DVC."""
    for command in (
        ["release"], ["freeze"], ["execute", "uniform"], ["execute", "noisy"],
        ["execute", "common"], ["parse"], ["score"], ["statistics"], ["train"],
        ["report"],
    ):  # fmt: skip
        done = lab.run(sys.executable, "-m", "pipeline", *command, env=env)
        assert done.returncode == 0, done.stderr


def report_bytes(lab: Lab) -> dict[str, bytes]:
    folder = lab.root / "artifacts" / "report"
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_fresh_run_gives_the_committed_lock(starter_run: Lab) -> None:
    assert (starter_run.root / "dvc.lock").read_bytes() == (ROOT / "dvc.lock").read_bytes()


def test_a_second_run_runs_no_stage(small: Lab) -> None:
    assert small.repro() == []


def test_every_table_says_what_it_was_made_from(starter_run: Lab) -> None:
    from pipeline.tables import read_header

    roots = starter_run.roots()
    known = set(roots.values())
    for name in roots:
        header = read_header(starter_run.root / "artifacts" / name)
        assert set(header.inputs.values()) <= known, name
        assert header.inputs or name in {
            "release/ingredients.parquet",
            "release/directions.parquet",
        }


def test_editing_the_parser_reruns_parse_and_what_follows(small: Lab) -> None:
    small.edit(
        "pipeline/parse/reader.py",
        "return Reading(None, Reason.WRONG_COUNT)",
        "return Reading(None, Reason.UNKNOWN_ITEM)",
    )
    before = small.roots()
    ran = small.repro()
    assert ran[:2] == ["parse", "score"]
    assert set(ran[2:]) == {"statistics", "train", "report"}
    after = small.roots()
    changed = {name for name in before if before[name] != after[name]}
    assert "parse/selections.parquet" in changed
    assert not any(name.startswith(("release/", "freeze/", "execute/")) for name in changed)


def test_editing_the_parser_without_effect_stops_behind_parse(small: Lab) -> None:
    with (small.root / "pipeline/parse/reader.py").open("a", encoding="utf-8") as file:
        file.write("# no effect\n")
    assert small.repro() == ["parse"]


def test_a_route_added_at_the_front_runs_alone(small: Lab) -> None:
    before = small.roots()
    small.edit(
        "params.yaml",
        "routes:\n",
        "routes:\n  newcomer:\n"
        "    {adapter: policy, policy: uniform, seed: 9, label: Newcomer, ranked: true}\n",
    )
    ran = small.repro()
    assert ran[:3] == ["execute@newcomer", "parse", "score"]
    assert set(ran[3:]) == {"statistics", "train", "report"}
    after = small.roots()
    assert {name: after[name] for name in before if name.startswith("execute/")} == {
        name: root for name, root in before.items() if name.startswith("execute/")
    }
    board = json.loads((small.root / "artifacts/report/leaderboard.json").read_text("utf-8"))
    assert "newcomer" in board["leaderboard"]


@pytest.mark.parametrize("kind", ["symlink", "hardlink"])
def test_outputs_may_be_links_into_the_cache(small_lab: Callable[[str], Lab], kind: str) -> None:
    """DVC's cache keeps its bytes, whatever a stage writes in a link's place."""
    lab = small_lab(kind)
    assert lab.run("dvc", "config", "--local", "cache.type", kind).returncode == 0
    lab.repro()
    before = lab.roots()
    path = lab.root / "artifacts/execute/uniform.parquet"
    assert path.is_symlink() if kind == "symlink" else path.stat().st_nlink > 1
    for command in (["verify"], ["leaderboard"], ["execute", "uniform"], ["parse"]):
        done = lab.run("flavourbench", *command)
        assert done.returncode == 0, done.stdout + done.stderr
    lab.edit("params.yaml", "label: U,", "label: Dice,")
    assert lab.repro()[0] == "execute@uniform"
    done = lab.run("flavourbench", "verify", "--quick")
    assert "Nothing differs" in done.stdout, done.stdout + done.stderr
    held = [p for p in (lab.root / ".dvc/cache/files/md5").rglob("*") if p.is_file()]
    assert len(held) > len(before)
    for file in held:
        named = f"{file.parent.name}{file.stem}"
        assert hashlib.md5(file.read_bytes()).hexdigest() == named, file


def test_a_route_that_was_taken_out_is_named_and_not_missed(small: Lab) -> None:
    text = (small.root / "params.yaml").read_text(encoding="utf-8")
    head, _, tail = text.partition("  common:")
    tail = tail.partition("\n")[2]
    (small.root / "params.yaml").write_text(head + tail, encoding="utf-8")
    for name in ("common.parquet", "attempts/common.parquet"):
        (small.root / "artifacts/execute" / name).unlink()
    small.repro()
    assert "execute@common" in (small.root / "dvc.lock").read_text(encoding="utf-8")
    done = small.run("flavourbench", "verify", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "execute@common" in done.stdout


def test_editing_what_lies_below_all_stages_reruns_them(small: Lab) -> None:
    with (small.root / "pipeline/files.py").open("a", encoding="utf-8") as file:
        file.write("# no effect\n")
    ran = small.repro()
    assert {name.partition("@")[0] for name in ran} == {*STAGES, "execute"}


def test_a_label_runs_no_model_again(small: Lab) -> None:
    small.edit("params.yaml", "label: U,", "label: Dice,")
    before = small.roots()
    ran = small.repro()
    assert ran[:1] == ["execute@uniform"]
    assert ran[-1] == "report"
    assert small.roots()["execute/uniform.parquet"] == before["execute/uniform.parquet"]
    assert "Dice" in (small.root / "artifacts/report/leaderboard.md").read_text("utf-8")


def test_two_revisions_are_compared_without_a_network(small: Lab) -> None:
    git = ("git", "-c", "user.email=lab@example.invalid", "-c", "user.name=lab")
    assert small.run(*git, "add", "--all").returncode == 0
    assert small.run(*git, "commit", "--quiet", "--message", "before").returncode == 0
    small.edit("params.yaml", "skill_bps: 6000", "skill_bps: 8500")
    small.repro()
    said = json.loads(small.run("dvc", "metrics", "diff", "--json").stdout)
    changed = said["artifacts/report/metrics.json"]
    assert changed["routes.noisy.score"]["new"] > changed["routes.noisy.score"]["old"]
    assert set(changed) == {"routes.noisy.score"}
    for command in (["show"], ["diff", "HEAD"]):
        place = small.root / f"plots-{command[0]}"
        drawn = small.run("dvc", "plots", *command, "--out", str(place))
        assert drawn.returncode == 0, drawn.stderr
        page = (place / "index.html").read_text("utf-8")
        assert "http" not in page.replace("http://www.w3.org/", "")
        assert "forest.svg" in page
        assert len(list((place / "static").iterdir())) == (7 if command == ["show"] else 14)


def test_a_table_without_a_route_stops_parse(small: Lab) -> None:
    folder = small.root / "artifacts/execute"
    (folder / "stray.parquet").write_bytes((folder / "uniform.parquet").read_bytes())
    done = small.run("flavourbench", "parse")
    assert done.returncode == 2
    assert "stray.parquet: expected a route in params.yaml" in done.stderr


def test_kill_in_the_middle_asks_no_stored_cell_again(small: Lab) -> None:
    table, ledger = (small.root / p for p in ("artifacts/execute/noisy.parquet", ".ledger"))
    undisturbed = small.roots()["execute/noisy.parquet"]
    table.unlink()
    for path in ledger.glob("noisy*"):
        path.unlink()
    environment = os.environ | {"PYTHONPATH": str(small.root)}
    command = [sys.executable, "-m", "pipeline", "execute", "noisy"]
    process = subprocess.Popen(
        command,
        cwd=small.root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while stored_cells(ledger / "noisy.sqlite") < 20 and process.poll() is None:
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    stored = stored_cells(ledger / "noisy.sqlite")
    assert 20 <= stored < 192
    done = small.run("flavourbench", "execute", "noisy")
    assert f"{stored} of 192 present, {192 - stored} asked now, 192 stored" in done.stdout
    assert small.roots()["execute/noisy.parquet"] == undisturbed
    assert small.repro() == []


def stored_cells(path: Path) -> int:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM responses").fetchone()[0])
    except sqlite3.Error:
        return 0
    finally:
        if "connection" in locals():
            connection.close()


def test_all_present_sends_nothing_and_is_well(small: Lab) -> None:
    done = small.run("flavourbench", "execute", "uniform")
    assert done.returncode == 0
    assert "192 of 192 present, 0 asked now" in done.stdout


def test_place_order_locale_clock_hash_seed_and_threads_change_nothing(
    small_lab: Callable[[str], Lab],
) -> None:
    first, second = small_lab("here"), small_lab("some/where else")
    for name in ("ingredients.csv", "dishes.csv"):
        path = second.root / "pipeline" / "starter" / name
        head, *rows = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join([head, *sorted(rows, reverse=True)]) + "\n", encoding="utf-8")
    one = {"OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"}
    two = {
        "OPENBLAS_NUM_THREADS": "2", "LC_ALL": "POSIX", "TZ": "Pacific/Apia", "PYTHONHASHSEED": "7",
    }  # fmt: skip
    run_all(first, one)
    run_all(second, two)
    assert first.roots() == second.roots()
    assert len(first.roots()) == 29
    assert report_bytes(first) == report_bytes(second)


@needs_shared
def test_published_sets_run_by_parameters_alone(fresh_lab: Lab) -> None:
    lab = fresh_lab
    taken = lab.run("flavourbench", "import", str(SHARED / "official"), "--to", "imported")
    assert taken.returncode == 0, taken.stderr
    (lab.root / "params.yaml").write_bytes((lab.root / "imported/params.yaml").read_bytes())
    ran = lab.repro()
    assert {name.split("@")[0] for name in ran} == {*STAGES, "execute"}
    board = json.loads((lab.root / "artifacts/report/leaderboard.json").read_text("utf-8"))
    published = json.loads((SHARED / "official/published-release.json").read_text("utf-8"))
    exact = {m["chance_comparison"]["exact_chance_score"] for m in published["analysis"]["models"]}
    optimum = board["references"]["optimum"]
    assert optimum["tasks"] == optimum["covered"] == 534
    assert optimum["score_microbps"] == 100 * 100 * 1_000_000
    assert board["inference"]["tasks"] == board["inference"]["clusters"] == 534
    (chance,) = {row["chance"]["chance_microbps"] for row in board["leaderboard"].values()}
    assert chance == round(exact.pop() * 100 * 1_000_000)
    with (lab.root / "artifacts/report/leaderboard.csv").open(encoding="utf-8") as file:
        assert {row["core_tasks"] for row in csv.DictReader(file)} == {"534"}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_without_its_input_says_what_to_run(
    small_lab: Callable[[str], Lab], stage: str
) -> None:
    if stage == "release":
        lab = small_lab("no release")
        lab.edit("params.yaml", "path: pipeline/starter", "path: nowhere")
        expected = "Set release.path in params.yaml."
    else:
        lab = small_lab("empty")
        expected = "Run `dvc repro` to build it or `dvc pull` to fetch it."
    done = lab.run("flavourbench", stage)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
