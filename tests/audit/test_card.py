"""Whatever a card says beside versions is made again from the tables, and a lie is named."""

from __future__ import annotations

import copy
import json
import re

import pytest
from typer.testing import CliRunner

from pipeline.audit.card import make_card, write_card
from pipeline.audit.expected import check_expected, read_expected
from pipeline.audit.layout import stored_headers
from pipeline.audit.verify import seal, verify
from pipeline.cli import app
from pipeline.errors import InputError
from schemas.taskset import Family
from tests.audit.faults import FAULTS
from tests.mini import mini_parameters


def leaves(value, place=()):
    """Every leaf's place in a JSON document."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*place, key))]
    if isinstance(value, list):
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, (*place, i))]
    return [place]


def changed(value):
    """Another value of the same kind, as a forger would put it."""
    if value is None or isinstance(value, bool):
        return 7 if value is None else not value
    if isinstance(value, int):
        return value + 1
    if re.fullmatch(r"[0-9a-f]{64}", value):
        return ("0" if value[0] != "0" else "1") + value[1:]
    return next((f.value for f in Family if value in list(Family) and f != value), f"{value}x")


def holder(document, place):
    for key in place[:-1]:
        document = document[key]
    return document


def word(place):
    """How a place is called, from its last named part on."""
    last = max(i for i, part in enumerate(place) if isinstance(part, str))
    return str(place[last]) + "".join(f"[{part}]" for part in place[last + 1 :])


def tell(run, path):
    found = check_expected(run, stored_headers(run), read_expected(str(path)))
    return [str(difference) for difference in found]


@pytest.fixture(scope="module")
def sealed(sound_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("card")
    path, page = write_card(make_card(sound_run), folder)
    return json.loads(path.read_text("utf-8")), page.read_text("utf-8")


def write(folder, document, page=None):
    path = folder / "run-card.json"
    path.write_text(json.dumps(document), "utf-8")
    if page is not None:
        path.with_suffix(".md").write_text(page, "utf-8")
    return path


def test_a_sound_card_is_as_the_tables_say(sound_run, sealed, tmp_path):
    assert tell(sound_run, write(tmp_path, *sealed)) == []


def test_each_leaf_of_a_card_that_is_changed_is_named(sound_run, sealed, tmp_path):
    document, _ = sealed
    places = [place for place in leaves(document) if place[0] != "versions"]
    assert len(places) > 150
    missed = []
    for place in places:
        forged = copy.deepcopy(document)
        held = holder(forged, place)
        held[place[-1]] = changed(held[place[-1]])
        try:
            found = tell(sound_run, write(tmp_path, forged))
        except InputError as problem:
            found = [str(problem)]
        name = "artifacts/" if place[-1] == "path" else word(place)
        if not any(name in line and "expected" in line for line in found):
            missed.append((place, found))
    assert missed == []


@pytest.mark.parametrize("name", ["standings", "references", "tables"])
@pytest.mark.parametrize("how", ["dropped", "doubled", "turned"])
def test_a_list_with_other_entries_is_named(sound_run, sealed, tmp_path, name, how):
    document = copy.deepcopy(sealed[0])
    entries = document[name]
    if how == "turned" and len(entries) == 1:
        pytest.skip("one entry has one order")
    document[name] = {
        "dropped": entries[1:], "doubled": [*entries, entries[0]], "turned": entries[::-1],
    }[how]  # fmt: skip
    assert tell(sound_run, write(tmp_path, document)) != []


@pytest.mark.parametrize("name", ["routes", "versions"])
def test_a_name_more_or_less_is_found(sound_run, sealed, tmp_path, name):
    more, less = copy.deepcopy(sealed[0]), copy.deepcopy(sealed[0])
    more[name]["more"] = "0" * 64 if name == "routes" else "1.0"
    less[name].pop(next(iter(less[name])))
    for document in (more, less):
        assert any(f", {name}." in line for line in tell(sound_run, write(tmp_path, document)))


def test_other_versions_are_no_difference_and_no_place_for_words(sound_run, sealed, tmp_path):
    document = copy.deepcopy(sealed[0])
    document["versions"] = dict.fromkeys(document["versions"], "0.1.2rc3+local")
    assert tell(sound_run, write(tmp_path, document)) == []
    document["versions"]["numpy"] = "Best is rank 1 with 100"
    with pytest.raises(InputError, match=r"versions\.numpy"):
        tell(sound_run, write(tmp_path, document))


def test_a_key_twice_in_a_card_is_refused(sound_run, sealed, tmp_path):
    path = write(tmp_path, sealed[0])
    text = path.read_text("utf-8")
    path.write_text(text.replace('"release":', '"release": "forged", "release":', 1), "utf-8")
    with pytest.raises(InputError, match="twice"):
        tell(sound_run, path)


def test_each_line_of_a_page_that_is_changed_is_named(sound_run, sealed, tmp_path):
    document, page = sealed
    lines = page.splitlines()
    for number, line in enumerate(lines):
        if not line or line.startswith("- python"):
            continue
        forged = [*lines[:number], line + " 9", *lines[number + 1 :]]
        path = write(tmp_path, document, "\n".join(forged) + "\n")
        assert any(f"run-card.md, line {number + 1}" in said for said in tell(sound_run, path))


def test_a_page_may_have_other_versions_and_nothing_else_in_their_line(sound_run, sealed, tmp_path):
    document, page = sealed
    other = re.sub(r"numpy [0-9.]+", "numpy 9.9.9", page)
    assert other != page
    assert tell(sound_run, write(tmp_path, document, other)) == []
    for forged in (
        re.sub(r"numpy [0-9.]+", "numpy 9.9 dice 100", page),
        re.sub(r"numpy", "dice", page),
        f"{page}- python 3\n",
    ):
        assert tell(sound_run, write(tmp_path, document, forged)) != []


def test_a_page_alone_can_be_expected(sound_run, sealed, tmp_path):
    path = tmp_path / "said.md"
    path.write_text(sealed[1], "utf-8")
    assert tell(sound_run, path) == []
    path.write_text(sealed[1].replace("Dice", "Loaded dice"), "utf-8")
    assert any("said.md, line" in line for line in tell(sound_run, path))
    run = sealed[0]["run"]
    path.write_text(sealed[1].replace(run, changed(run)), "utf-8")
    assert any("run" in line for line in tell(sound_run, path))
    path.write_text("# Run card\n", "utf-8")
    with pytest.raises(InputError, match="no run in it"):
        tell(sound_run, path)


@pytest.mark.parametrize("folder", ["", "artifacts"])
@pytest.mark.parametrize("alone", [True, False])
def test_a_card_that_lies_in_the_workspace_is_checked_unasked(run, folder, alone):
    path, page = write_card(make_card(run), run.root / folder)
    if alone:
        path.unlink()
    assert [str(d) for d in verify(run, quick=True).differences] == []
    page.write_text(page.read_text("utf-8").replace("Dice", "Loaded dice"), "utf-8")
    assert any("run-card.md, line" in str(d) for d in verify(run, quick=True).differences)
    if not alone:
        write_card(make_card(run), run.root / folder)
        path.write_text(path.read_text("utf-8").replace('"Dice"', '"Loaded dice"'), "utf-8")
        assert any("label" in str(d) for d in verify(run, quick=True).differences)


def test_a_card_of_an_earlier_run_is_said_and_no_difference(run):
    seal(run, run.root)
    (run.root / "params.yaml").write_text(json.dumps(earlier(run)), "utf-8")
    from pipeline.workspace import open_workspace
    from tests.mini import run_stages

    changed_run = open_workspace(run.root)
    run_stages(changed_run)
    result = verify(changed_run, quick=True)
    assert result.differences == ()
    step = next(step for step in result.steps if "card" in step.title)
    assert (step.mark.value, "another run" in step.evidence) == ("not checked", True)
    assert verify(changed_run, quick=True, expect=str(run.root / "run-card.json")).differences
    seal(changed_run, run.root)


def earlier(run):
    parameters = json.loads((run.root / "params.yaml").read_text("utf-8"))
    assert parameters["statistics"] == mini_parameters()["statistics"]
    parameters["statistics"]["seed"] = 2
    return parameters


def test_a_card_of_another_state_names_the_table(run, tmp_path):
    card = make_card(run)
    path, _ = write_card(card, tmp_path)
    for expected in (str(path), card.run, card.run.upper()):
        assert verify(run, quick=True, expect=expected).differences == ()
    FAULTS["a_score_changed_by_one_basis_point"][0](run)
    found = [str(d) for d in verify(run, quick=True, expect=str(path)).differences]
    assert any("the run's hash" in line for line in found)
    assert any(line.startswith("artifacts/score/scores.parquet, root: expected") for line in found)


@pytest.mark.parametrize("length", [1, 7, 8, 16, 63])
def test_the_start_of_a_hash_is_refused_in_one_line(sound_run, length):
    start = make_card(sound_run).run[:length]
    arguments = ["verify", "--quick", "--expect", start, "-w", str(sound_run.root)]
    problem = CliRunner().invoke(app, arguments).exception
    assert isinstance(problem, InputError)
    assert "whole hash of 64" in str(problem)
    assert "The start of a hash proves nothing" in str(problem)


@pytest.mark.parametrize("text", ["", "no-such-file", "z" * 64, "0" * 65, "x" * 5000, "a\0b"])
def test_what_is_neither_card_nor_hash_is_refused(sound_run, text):
    with pytest.raises(InputError, match="whole hash of 64"):
        verify(sound_run, quick=True, expect=text)


def test_a_file_that_is_called_like_a_hash_does_not_stand_for_it(
    sound_run, sealed, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ("0" * 64)).write_text(json.dumps(sealed[0]), "utf-8")
    assert tell(sound_run, "0" * 64) != []
