"""A reviewer's path: clone, `dvc pull`, `flavourbench verify`, without key or network."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tests.conftest import Lab
from tests.pages import unseen

if TYPE_CHECKING:
    from pathlib import Path

# Any attempt to leave the machine fails at once.
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
                        "http://127.0.0.1:9")  # fmt: skip


def ok(lab: Lab, *command: str) -> str:
    done = lab.run(*command, env=OFFLINE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def published(lab: Lab, folder: Path) -> Lab:
    """A clone of a published run; its data lie in a folder that serves as the remote."""
    ok(lab, "dvc", "remote", "add", "--default", "share", str(folder / "share"))
    ok(lab, "dvc", "push", "--quiet")
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    ok(lab, "git", "add", "--all")
    ok(lab, "git", *identity, "commit", "--quiet", "--message", "A run")
    subprocess.run(["git", "clone", "--quiet", str(lab.root), str(folder / "clone")], check=True)
    return Lab(folder / "clone")


def test_a_reviewer_pulls_verifies_audits_and_seals(lab: Lab, tmp_path: Path) -> None:
    clone = published(lab, tmp_path)
    nothing = clone.run("flavourbench", "verify", env=OFFLINE)
    assert nothing.returncode == 2
    assert "dvc pull" in nothing.stderr
    ok(clone, "dvc", "pull", "--quiet")
    assert unseen("docs/audit.md", "flavourbench verify", ok(clone, "flavourbench", "verify")) == []
    document = json.loads(ok(clone, "flavourbench", "verify", "--quick", "--json"))
    assert document["ok"] is True
    task = "fb-starter-pairing-001"
    ok(clone, "flavourbench", "audit", "--route", "noisy-50", "--task", task, "--proof", "p.json")
    assert document["run"] in ok(clone, "flavourbench", "verify-proof", "p.json")
    ok(clone, "flavourbench", "seal")
    ok(clone, "flavourbench", "verify", "--quick", "--expect", "run-card.json")
    assert "Nothing differs." in ok(clone, "flavourbench", "diff", "HEAD", "--exit-code")


def test_an_edit_of_the_report_fetches_what_it_needs_and_runs_the_report_alone(
    small: Lab, tmp_path: Path
) -> None:
    clone = published(small, tmp_path)
    clone.edit("pipeline/report/leaderboard.py", '"95% band"', '"95 % band"')
    done = ok(clone, "dvc", "repro", "--pull", "--allow-missing", "--no-run-cache")
    ran = [line.split("'")[1] for line in done.splitlines() if line.startswith("Running stage")]
    assert ran == ["report"]
    text = (clone.root / "artifacts/report/leaderboard.md").read_text("utf-8")
    assert "95 % band" in text
    assert not (clone.root / "artifacts/execute/uniform.parquet").exists()
