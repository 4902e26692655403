"""A proof holds anywhere, by one module alone; whatever is changed in it is named."""

from __future__ import annotations

import base64
import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import blake3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline.audit import verifier
from pipeline.audit.cell import audit_cell
from pipeline.audit.proof import proof_document, write_proof
from pipeline.audit.subjects import audit_hash
from pipeline.audit.verifier import NotAHashError, NotAProofError, ProofFailedError, check_file
from pipeline.cli import app
from pipeline.errors import InputError
from pipeline.identity import (
    check_inclusion,
    digest,
    merkle_proof,
    streamed_proof,
    table_root,
)
from schemas.results import CoreTask, Selection


@pytest.fixture(scope="module")
def proof(sound_run):
    task = sound_run.read("score", CoreTask).rows()[0].task_id
    document = proof_document(audit_cell(sound_run, "dice", task))
    return json.loads(json.dumps(document))


def check(document, tmp_path, run=None):
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(document), "utf-8")
    return check_file(path, run)


def claim_of(document, kind):
    return next(claim for claim in document["claims"] if claim["kind"] == kind)


def test_a_proof_holds_and_says_what_it_shows(proof, tmp_path):
    proved = check(proof, tmp_path, proof["run"])
    assert proved.run == proof["run"]
    assert "score.score_bps is the map's score of the selection" in proved.lines
    assert "response.raw is the digest of the bytes" in proved.lines


def test_a_proof_holds_in_an_empty_folder_with_the_verifier_and_blake3_alone(proof, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.copy2(verifier.__file__, folder / "verifier.py")
    shutil.copytree(Path(blake3.__file__).parent, folder / "packages" / "blake3")
    (folder / "proof.json").write_text(json.dumps(proof), "utf-8")
    code = (
        "import runpy, sys; sys.path = [p for p in sys.path if 'site-packages' not in p];"
        "sys.path.append('packages'); sys.argv = ['verifier.py', 'proof.json', sys.argv[1]];"
        "runpy.run_path('verifier.py', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, proof["run"]],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"The proof holds. Run {proof['run']}\n")


def other(text):
    return ("0" if text[0] != "0" else "1") + text[1:]


def one_sibling_changed(document):
    siblings = claim_of(document, "score")["proof"]["siblings"]
    siblings[1] = other(siblings[1])


def a_sibling_of_the_table_changed(document):
    siblings = claim_of(document, "score")["table_proof"]["siblings"]
    siblings[0] = other(siblings[0])


def truncated(document):
    claim_of(document, "score")["proof"]["siblings"].pop()


def lengthened(document):
    claim_of(document, "score")["proof"]["siblings"].append("0" * 64)


def of_another_kind(document):
    claim_of(document, "score")["proof"]["row_kind"] = "selection"


def of_another_kind_throughout(document):
    claim = claim_of(document, "core-task")
    claim["kind"] = claim["proof"]["row_kind"] = claim["table"]["kind"] = "coverage"


def for_another_tree_size(document):
    claim_of(document, "score")["proof"]["rows"] += 1


def for_another_place(document):
    claim_of(document, "score")["proof"]["position"] ^= 1


def beyond_the_table(document):
    claim_of(document, "score")["proof"]["position"] = 10**6


def a_field_changed(document):
    claim_of(document, "score")["fields"]["score_bps"] += 1


def a_field_added(document):
    claim_of(document, "score")["fields"]["more"] = 1


def another_root(document):
    claim_of(document, "score")["table"]["root"] = "0" * 64


def an_input_changed(document):
    claim_of(document, "score")["table"]["inputs"]["tasks"] = "0" * 64


def another_run(document):
    document["run"] = "0" * 64


def other_bytes(document):
    document["raw"]["response"] = base64.b64encode(b"FINAL_SELECTION: A, B, C").decode()


def a_true_row_of_another_cell(document):
    """Set by the test: a sound claim that belongs to another task."""
    document["claims"] = [
        c if c["kind"] != "score" else document["other"] for c in document["claims"]
    ]


SPOILT = [
    one_sibling_changed, a_sibling_of_the_table_changed, truncated, lengthened, of_another_kind,
    of_another_kind_throughout, for_another_tree_size, for_another_place, beyond_the_table,
    a_field_changed, a_field_added, another_root, an_input_changed, another_run, other_bytes,
]  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_a_proof_that_was_changed_fails(spoil, proof, tmp_path):
    document = copy.deepcopy(proof)
    spoil(document)
    with pytest.raises(ProofFailedError):
        check(document, tmp_path)


def test_a_sound_row_of_another_cell_does_not_fit(proof, sound_run, tmp_path):
    cell = [c for c in sound_run.read("parse", Selection).rows() if c.slug == "dice"][1]
    other_cell = proof_document(audit_cell(sound_run, cell.slug, cell.task_id))
    document = copy.deepcopy(proof)
    document["other"] = claim_of(other_cell, "score")
    a_true_row_of_another_cell(document)
    del document["other"]
    with pytest.raises(ProofFailedError, match=r"score.task_digest is not the task's digest"):
        check(document, tmp_path)


def test_a_proof_of_another_run_fails(proof, tmp_path):
    for run in ("0" * 64, other(proof["run"])):
        with pytest.raises(ProofFailedError, match="not of"):
            check(proof, tmp_path, run)
    assert check(proof, tmp_path, proof["run"].upper()).run == proof["run"]


@pytest.mark.parametrize("length", [0, 1, 8, 32, 63, 65])
def test_anything_but_a_whole_hash_authenticates_nothing(proof, tmp_path, length, capsys):
    start = (proof["run"] + "0")[:length]
    with pytest.raises(NotAHashError, match="The start of a hash proves nothing"):
        check(proof, tmp_path, start)
    assert verifier.main([str(tmp_path / "proof.json"), start]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    done = CliRunner().invoke(app, ["verify-proof", str(tmp_path / "proof.json"), "--run", start])
    assert isinstance(done.exception, InputError)
    assert "whole hash of 64" in str(done.exception)


UNCLAIMED = {
    "task": "no task", "response": "no response", "selection": "no selection", "score": "no score",
    "core-task": "no task of the common core", "standing": "no standing",
}  # fmt: skip


@pytest.mark.parametrize("kind", UNCLAIMED)
def test_what_a_proof_does_not_claim_is_said(proof, tmp_path, kind, capsys):
    whole = check(proof, tmp_path, proof["run"])
    assert not any(line.startswith("no ") for line in whole.unclaimed)
    document = copy.deepcopy(proof)
    document["claims"].remove(claim_of(document, kind))
    if kind == "response":
        document["raw"] = {}
    unclaimed = check(document, tmp_path, proof["run"]).unclaimed
    assert any(line.startswith(UNCLAIMED[kind]) for line in unclaimed)
    assert verifier.main([str(tmp_path / "proof.json"), proof["run"]]) == 0
    assert f"not claimed: {UNCLAIMED[kind]}" in capsys.readouterr().out
    shown = CliRunner().invoke(app, ["verify-proof", str(tmp_path / "proof.json"), "--json"])
    assert set(unclaimed) < set(json.loads(shown.stdout)["not_claimed"])


def test_bytes_that_are_not_there_and_a_run_that_is_not_named_are_said(proof, tmp_path, capsys):
    document = proof | {"raw": {}}
    assert any("no bytes" in line for line in check(document, tmp_path, proof["run"]).unclaimed)
    assert verifier.main([str(tmp_path / "proof.json")]) == 0
    said = capsys.readouterr().out
    assert "not claimed: no run was named" in said
    assert said.endswith(f"The proof holds. It names run {proof['run']}\n")


@pytest.mark.parametrize("field", ["slug", "task_id", "task_digest", "route_digest"])
def test_rows_of_two_cells_are_no_proof_of_one(sound_run, proof, tmp_path, field):
    """Each pair of rows that name a task or a route, with nothing between them that would link."""
    rows = sound_run.read("parse", Selection).rows()
    own = claim_of(proof, "selection")["fields"]
    task = next(r.task_id for r in rows if r.slug == "dice" and r.task_id != own["task_id"])
    slug, name = ("first", own["task_id"]) if field in ("slug", "route_digest") else ("dice", task)
    another = json.loads(json.dumps(proof_document(audit_cell(sound_run, slug, name))))
    pairs = 0
    for one in proof["claims"]:
        for two in another["claims"]:
            stated = (one["fields"].get(field), two["fields"].get(field))
            if one["kind"] != two["kind"] and None not in stated and stated[0] != stated[1]:
                with pytest.raises(ProofFailedError):
                    check(proof | {"claims": [one, two], "raw": {}}, tmp_path, proof["run"])
                pairs += 1
    assert pairs > 1


def test_the_verifier_says_how_it_is_used(capsys):
    for option in ("--help", "-h"):
        assert verifier.main([option]) == 0
        assert "usage: python -I verifier.py PROOF" in capsys.readouterr().out
    for wrong in ([], ["--what"], ["a", "b", "c"]):
        assert verifier.main(wrong) == 2
        assert "--help" in capsys.readouterr().err


def test_nothing_in_a_proof_steers_a_terminal(proof, tmp_path, capsys):
    document = copy.deepcopy(proof)
    document["format"] = "\x1b[2Jflavourbench"
    path = tmp_path / "p.json"
    path.write_text(json.dumps(document), "utf-8")
    assert verifier.main([str(path)]) == 2
    document["format"], document["run"] = proof["format"], "\u202e\x1b[31m"
    path.write_text(json.dumps(document), "utf-8")
    assert verifier.main([str(path), proof["run"]]) == 1
    said = capsys.readouterr()
    assert all(line.isprintable() for line in (said.out + said.err).splitlines())


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"{", b"\xff", b'{"format": 1}', b"[" * 100_000, b'{"a": 1, "a": 2}',
        b'{"format": "x", "run": "", "claims": [], "raw": {}}',
        b'{"format": "flavourbench proof", "run": "", "claims": [], "raw": {}}',
        b'{"format": "flavourbench proof", "run": "", "claims": [1], "raw": {}}',
        b'{"format": "flavourbench proof", "run": "", "claims": [], "raw": {"x": NaN}}',
        b'{"format": "flavourbench proof", "run": "", "claims": [{}], "raw": {}}',
    ],
)  # fmt: skip
def test_what_is_no_proof_is_refused(data, tmp_path):
    (tmp_path / "p.json").write_bytes(data)
    with pytest.raises(NotAProofError):
        check_file(tmp_path / "p.json")
    assert verifier.main([str(tmp_path / "p.json")]) == 2


def test_a_missing_proof_is_refused(tmp_path):
    assert verifier.main([str(tmp_path / "none.json")]) == 2
    assert verifier.main([]) == 2


@pytest.mark.parametrize(("spoilt", "code"), [(False, 0), (True, 1)])
def test_the_command_tells_by_its_exit_code(sound_run, tmp_path, spoilt, code):
    cell = next(c for c in sound_run.read("parse", Selection).rows() if c.slug == "dice")
    path = tmp_path / "proof.json"
    write_proof(audit_cell(sound_run, cell.slug, cell.task_id), path)
    if spoilt:
        document = json.loads(path.read_text("utf-8"))
        a_field_changed(document)
        path.write_text(json.dumps(document), "utf-8")
    done = CliRunner().invoke(app, ["verify-proof", str(path)])
    assert (done.exit_code == 0) is not spoilt
    if spoilt:
        assert done.exception.exit_code == code
    assert verifier.main([str(path)]) == code


def test_what_has_no_row_has_no_proof(sound_run, proof):
    with pytest.raises(InputError, match="a hash of a row"):
        proof_document(audit_hash(sound_run, proof["run"]))


@given(st.integers(1, 70), st.data())
def test_a_proof_from_parts_is_the_proof_from_the_whole(rows, data):
    digests = [digest("score", i) for i in range(rows)]
    size = 2 ** data.draw(st.integers(0, 6))
    index = data.draw(st.integers(0, rows - 1))
    parts = [digests[i : i + size] for i in range(0, rows, size)]
    proof = streamed_proof("score", parts, index)
    assert proof == merkle_proof("score", digests, index)
    assert check_inclusion(proof, table_root("score", digests))


@given(st.integers(1, 40), st.data())
def test_the_verifier_and_the_project_agree_on_inclusion(rows, data):
    digests = [digest("score", i) for i in range(rows)]
    index = data.draw(st.integers(0, rows - 1))
    proof = merkle_proof("score", digests, index)._asdict()
    leaf = verifier._Leaf("score", digests[index], table_root("score", digests))
    document = json.loads(json.dumps(proof))
    assert verifier._inclusion(document, leaf, "here") == rows


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("abcXYZ_09"), inner),
        max_leaves=20,
    )
)
def test_the_verifier_and_the_project_agree_on_digests(value):
    try:
        value_digest = digest("score", value)
    except Exception:  # noqa: BLE001  # lone surrogates have no digest in either
        with pytest.raises((UnicodeEncodeError, NotAProofError)):
            verifier._digest("score", value)
    else:
        assert verifier._digest("score", value) == value_digest


@pytest.mark.parametrize("data", [b"[" + b"[]," * 250_000 + b"0]", b"[" + b"0," * 250_000 + b"0]"])
def test_a_proof_of_too_many_values_is_refused_before_it_is_put_together(
    data, tmp_path, monkeypatch
):
    monkeypatch.setattr(verifier.json, "loads", None)
    (tmp_path / "p.json").write_bytes(data)
    with pytest.raises(NotAProofError, match="more than 250,000 values"):
        check_file(tmp_path / "p.json")


def test_what_is_no_regular_file_is_no_proof_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(NotAProofError, match="no regular file"):
            check_file(path)


@pytest.mark.parametrize("closed", ["1>&-", "1>/dev/full", "1>&- 2>&-", "1>/dev/full 2>/dev/full"])
@pytest.mark.parametrize("wanted", ["proof", "--help"])
def test_where_nothing_can_be_said_the_verifier_does_not_say_that_all_is_well(
    proof, tmp_path, closed, wanted
):
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(proof), "utf-8")
    asked = [str(path), proof["run"]] if wanted == "proof" else [wanted]
    command = [sys.executable, "-I", verifier.__file__, *asked]
    line = ["bash", "-c", f'exec "$@" {closed}', "bash", *command]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    told = "" if "2>" in closed else "standard output takes nothing: it is closed or full\n"
    assert done.stderr == told
