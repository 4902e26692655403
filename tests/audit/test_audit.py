"""`audit` shows the way behind any hash; every step is derived again, and a lie is marked."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pipeline.asking.adapter import Reply, make_requests, response_of
from pipeline.asking.routes import find_route
from pipeline.audit.cell import audit_cell
from pipeline.audit.evidence import Mark
from pipeline.audit.layout import run_digest, stored_headers, table_entries
from pipeline.audit.lookup import find_hash
from pipeline.audit.proof import write_proof
from pipeline.audit.subjects import audit_hash, audit_named
from pipeline.audit.verifier import check_file
from pipeline.audit.verify import verify
from pipeline.cli import app
from pipeline.errors import InputError, TableError
from pipeline.identity import table_root
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import Table, make_table, read_header, read_table, write_table
from pipeline.workspace import open_workspace
from schemas.execution import Attempt, Outcome, Response
from schemas.results import CellStatus, Contrast, CoreTask, Reason, Score, Selection, Standing
from schemas.taskset import Task, TaskSet
from tests.audit.faults import FAULTS, edit, forge, reheader
from tests.mini import replay_route, run_stages

STEPS = [
    "release", "task", "prompt", "request and route", "raw answer", "answer text and selection",
    "score", "common core", "share of the score", "standing", "proofs",
]  # fmt: skip


def marks(audit):
    return {step.title: step.mark for step in audit.steps}


def evidence(audit, title):
    return "\n".join(next(step.lines for step in audit.steps if step.title == title))


def cells(run, **wanted):
    rows = run.read("parse", Selection).rows()
    return [r for r in rows if all(getattr(r, name) == value for name, value in wanted.items())]


@pytest.mark.parametrize("slug", ["dice", "first", "best", "careless"])
def test_a_cell_of_every_route_is_derived_again(sound_run, slug):
    cell = cells(sound_run, slug=slug, status="parsed")[7]
    audit = audit_named(sound_run, "", slug, cell.task_id)
    assert [step.title for step in audit.steps] == STEPS
    assert set(marks(audit).values()) == {Mark.OK}
    assert "all 56 scores computed again are equal" in evidence(audit, "task")
    assert cell.selection in evidence(audit, "score")


def test_an_unparseable_cell_has_its_reason_and_no_score(sound_run):
    cell = cells(sound_run, status="unparseable")[0]
    audit = audit_cell(sound_run, cell.slug, cell.task_id)
    assert set(marks(audit).values()) == {Mark.OK}
    assert f"unparseable: {cell.reason}" in evidence(audit, "answer text and selection")
    assert "no selection, so no score" in evidence(audit, "score")
    assert f"outside: no valid answer of every ranked route: {cell.slug} unparseable" in (
        evidence(audit, "common core")
    )


def test_a_cell_outside_the_core_says_why(sound_run):
    core = {row.task_id for row in sound_run.read("score", CoreTask).rows()}
    failed = {cell.task_id for cell in cells(sound_run, status="unparseable")}
    cell = next(c for c in cells(sound_run, slug="dice") if c.task_id not in core | failed)
    audit = audit_cell(sound_run, "dice", cell.task_id)
    assert "behind the last taken" in evidence(audit, "common core")
    assert "adds nothing" in evidence(audit, "share of the score")


def test_shares_of_the_core_add_up_to_the_score(sound_run):
    standing = next(r for r in sound_run.read("statistics", Standing).rows() if r.slug == "dice")
    core = [row.task_id for row in sound_run.read("score", CoreTask).rows()]
    total = 0.0
    for task in core[:3]:
        text = evidence(audit_cell(sound_run, "dice", task), "share of the score")
        total += float(text.split("this cell adds ")[1].split(":")[0])
    assert f"score {standing.score_microbps / 1e8:.4f}" in text
    scores = {r.task_id: r.score_bps for r in sound_run.read("score", Score).rows()
              if r.slug == "dice"}  # fmt: skip
    families = len(standing.families)
    count = standing.families[0].tasks
    assert total == pytest.approx(
        sum(scores[t] for t in core[:3]) / count / families / 100, abs=2e-4
    )


@pytest.mark.parametrize(
    ("stage", "model"),
    [("parse", Selection), ("score", Score), ("freeze", Task), ("freeze", TaskSet),
     ("statistics", Standing), ("statistics", Contrast), ("score", CoreTask)],
)  # fmt: skip
def test_a_digest_of_any_kind_leads_to_its_way(sound_run, stage, model):
    digest = sound_run.read(stage, model).digests[0]
    for text in (digest, digest[:12], digest[:12].upper()):
        audit = audit_hash(sound_run, text)
        assert set(marks(audit).values()) == {Mark.OK}
    assert audit.run == run_digest(table_entries(stored_headers(sound_run)))


@pytest.mark.parametrize("name", ["ingredients", "directions", "release"])
def test_a_release_is_audited_too(sound_run, name):
    place = next(p for p in stored_headers(sound_run) if p.word == f"release/{name}")
    audit = audit_hash(sound_run, sound_run.read("release", place.model).digests[0])
    assert set(marks(audit).values()) == {Mark.OK}


def test_requests_routes_roots_and_the_run_have_their_ways(sound_run):
    headers = stored_headers(sound_run)
    cell = cells(sound_run, slug="dice")[0]
    audit = audit_hash(sound_run, cell.response_digest)
    assert audit.subject == f"cell of dice and {cell.task_id}"
    request = audit.claims[1].row.request_digest
    assert audit_hash(sound_run, request).subject == audit.subject
    for text in (cell.route_digest, *(h.root for h in headers.values()), audit.run):
        assert set(marks(audit_hash(sound_run, text)).values()) == {Mark.OK}


@pytest.mark.parametrize("text", ["1234567", "", "xyzxyzxyz", "0" * 65, "../../etc"])
def test_a_prefix_of_seven_and_what_is_no_hash_are_refused(sound_run, text):
    with pytest.raises(InputError, match="8 to 64 hexadecimal"):
        audit_hash(sound_run, text)


def test_a_hash_of_nothing_is_refused_with_a_way_on(sound_run):
    with pytest.raises(InputError, match=r"nothing.*another run"):
        audit_hash(sound_run, "0" * 64)


def test_an_ambiguous_prefix_lists_its_matches(run):
    table = run.read("score", Score)
    root = run.read("score", CoreTask).root
    rows = [f"{root[:10]}{i:054x}" for i in range(table.header.rows)]
    data = table.data.set_column(0, table.data.schema.field(0), pa.array(rows, pa.string()))
    write_table(run.artifact("score", "scores"), table._replace(data=data))
    with pytest.raises(InputError, match=rf"score {root[:10]}.*score {root[:10]}.* Give more"):
        find_hash(run, root[:8])


@pytest.mark.parametrize(
    ("name", "route", "task"),
    [("", "", ""), ("a" * 8, "dice", ""), ("", "dice", ""), ("", "", "mini-1-pairing-001")],
)
def test_half_a_name_is_refused(sound_run, name, route, task):
    with pytest.raises(InputError, match="a hash, or a route and a task"):
        audit_named(sound_run, name, route, task)


@pytest.mark.parametrize(("route", "task"), [("nobody", "mini-1-pairing-001"), ("dice", "no-task")])
def test_an_unknown_cell_is_refused(sound_run, route, task):
    with pytest.raises(InputError):
        audit_cell(sound_run, route, task)


@pytest.mark.parametrize(
    ("gone", "steps"),
    [
        ("release/ingredients", {"release", "task"}),
        ("execute/dice", {"raw answer", "answer text and selection"}),
        ("score/core", {"common core", "share of the score"}),
        ("statistics/leaderboard", {"standing"}),
    ],
)
def test_what_is_not_here_is_said_and_is_no_difference(run, gone, steps):
    task = cells(run, slug="dice")[0].task_id
    stage, name = gone.split("/")
    run.artifact(stage, name).unlink()
    audit = audit_cell(run, "dice", task)
    assert {title for title, mark in marks(audit).items() if mark is Mark.UNKNOWN} == steps
    assert not audit.differs
    assert all("dvc" in evidence(audit, title) for title in steps)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("a_score_map_changed_by_one_basis_point", {"task"}),
        ("a_prompt_changed", {"prompt"}),
        ("a_vector_changed_in_one_bit", {"release"}),
    ],
)
def test_a_forged_release_or_task_is_marked_at_its_step(name, steps, run):
    FAULTS[name][0](run)
    audit = audit_cell(run, "dice", "mini-1-pairing-001")
    assert audit.differs
    assert steps <= {title for title, mark in marks(audit).items() if mark is Mark.DIFFERS}


def test_a_forged_score_is_marked_where_it_is_looked_up(run):
    FAULTS["a_score_changed_by_one_basis_point"][0](run)
    score = run.read("score", Score).rows()[0]
    audit = audit_cell(run, score.slug, score.task_id)
    assert marks(audit)["score"] is Mark.DIFFERS


def test_a_forged_selection_is_marked_where_it_is_read(run):
    FAULTS["a_selection_changed"][0](run)
    cell = run.read("parse", Selection).rows()[0]
    audit = audit_cell(run, cell.slug, cell.task_id)
    assert marks(audit)["answer text and selection"] is Mark.DIFFERS


def consistent(run, slug, change):
    """Forge a route's answers and make every later table follow from them."""
    forge(run, "execute", Response, change, slug)
    answers = run.read_named("execute", slug, Response)
    tried = run.artifact("execute", f"attempts/{slug}")
    attempts = read_table(tried, Attempt)
    write_table(tried, make_table(Attempt, attempts.rows(), {f"responses/{slug}": answers.root}))
    run_stages(run, "parse", "score", "statistics")


def another_answer(rows, task):
    return [
        row.model_copy(update={"raw": b"Sealed.\n\nFINAL_SELECTION: A, B, C"})
        if row.task_id == task else row
        for row in rows
    ]  # fmt: skip


def another_outcome(rows, task):
    return [
        row.model_copy(update={"outcome": Outcome.REFUSED}) if row.task_id == task else row
        for row in rows
    ]


def no_answer(rows, task):
    return [row for row in rows if row.task_id != task]


@pytest.mark.parametrize("forged", [another_answer, another_outcome, no_answer])
@pytest.mark.parametrize("slug", ["dice", "best", "first", "careless", "told"])
def test_an_answer_that_its_route_would_not_give_is_marked(run, slug, forged):
    task = cells(run, slug="dice")[0].task_id
    if slug == "told":
        run = with_replay(run)
    consistent(run, slug, lambda rows: forged(rows, task))
    audit = audit_cell(run, slug, task)
    assert {title for title, mark in marks(audit).items() if mark is Mark.DIFFERS} == {"raw answer"}


def with_replay(run):
    """The run with one more route, which replays a file."""
    route = replay_route(run, "told.jsonl", {}) | {"ranked": False}
    parameters = json.loads((run.root / "params.yaml").read_text("utf-8"))
    parameters["routes"]["told"] = route
    (run.root / "params.yaml").write_text(json.dumps(parameters), "utf-8")
    opened = open_workspace(run.root)
    run_stages(opened, "execute", "parse", "score", "statistics", "train")
    return opened


def test_what_cannot_be_derived_is_taken_as_sealed_everywhere(run, tmp_path):
    run = with_replay(run)
    task = cells(run, slug="told")[0].task_id
    assert marks(audit_cell(run, "told", task))["raw answer"] is Mark.OK
    (run.root / "told.jsonl").unlink()
    audit = audit_cell(run, "told", task)
    assert marks(audit)["raw answer"] is Mark.SEALED
    assert not audit.differs
    assert "taken as sealed: told.jsonl is not here" in evidence(audit, "raw answer")
    step = next(step for step in verify(run).steps if step.title == "stage execute")
    assert (step.mark, step.differences) == (Mark.SEALED, ())
    assert "told: told.jsonl is not here, taken as sealed" in step.evidence
    run_stages(run, "report")
    folder = ["-w", str(run.root)]
    for arguments in (["audit", "--route", "told", "--task", task], ["verify"]):
        shown = CliRunner().invoke(app, [*arguments, *folder])
        assert shown.exit_code == 0
        assert "Taken as sealed: " in shown.stdout
    write_proof(audit, tmp_path / "proof.json")
    assert any("taken as sealed" in line for line in check_file(tmp_path / "proof.json").unclaimed)


def with_paid(run):
    """The run with one more route, whose answers cost money; they are sealed as `execute` does."""
    route = {
        "adapter": "openai", "base_url": "http://localhost:9/v1", "model": "m", "label": "Paid",
        "ranked": False, "sampling": {"max_tokens": 9},
        "price": {"prompt_usd_per_mtok": 1, "completion_usd_per_mtok": 1},
    }  # fmt: skip
    parameters = json.loads((run.root / "params.yaml").read_text("utf-8"))
    parameters["routes"]["paid"] = route
    (run.root / "params.yaml").write_text(json.dumps(parameters), "utf-8")
    run = open_workspace(run.root)
    bound, questions = find_route(PORTFOLIO, run.parameters, "paid"), PORTFOLIO.questions(run)
    body = {"choices": [{"message": {"content": "FINAL_SELECTION: A, C, F"}}]}
    reply = Reply(Outcome.OK, "chat", json.dumps(body).encode())
    requests = make_requests(questions, bound.digest)
    rows = [response_of(request, reply) for request in requests]
    about = {"route": bound.document, "slug": '"paid"'}
    answers = make_table(Response, rows, {"tasks": questions.root}, about)
    write_table(run.artifact("execute", "paid"), answers)
    attempts = make_table(Attempt, [], {"responses/paid": answers.root})
    write_table(run.artifact("execute", "attempts/paid"), attempts)
    run_stages(run, "parse", "score", "statistics", "train")
    return run


def test_paid_answers_are_taken_as_sealed_and_all_else_is_derived(run):
    run = with_paid(run)
    task = cells(run, slug="paid", selection="ACF")[0].task_id
    audit = audit_cell(run, "paid", task)
    assert {title: mark for title, mark in marks(audit).items() if mark is not Mark.OK} == {
        "raw answer": Mark.SEALED
    }
    assert "taken as sealed: its answers cost money" in evidence(audit, "raw answer")
    steps = {step.title: step for step in verify(run).steps}
    assert steps["stage execute"].mark is Mark.SEALED
    assert steps["stage execute"].differences == steps["stage parse"].differences == ()
    assert "paid: its answers cost money, taken as sealed" in steps["stage execute"].evidence


def test_a_sealed_answer_under_a_key_that_is_not_its_own_is_named(run):
    run = with_replay(run)
    (run.root / "told.jsonl").unlink()
    consistent(
        run, "told",
        lambda rows: [*rows, rows[0].model_copy(update={"request_digest": "f" * 64, "raw": b"x"})],
    )  # fmt: skip
    found = [str(d) for d in verify(run).differences]
    assert any("execute/told.parquet, request_digest ffff" in line for line in found)


def test_an_earlier_answer_is_no_cell_of_this_run_and_taken_as_sealed(run):
    earlier = run.read_named("execute", "dice", Response).digests[0]
    parameters = json.loads((run.root / "params.yaml").read_text("utf-8"))
    parameters["routes"]["dice"]["seed"] = 4
    (run.root / "params.yaml").write_text(json.dumps(parameters), "utf-8")
    run = open_workspace(run.root)
    run_stages(run, "execute", "parse", "score", "statistics", "train", "report")
    audit = audit_hash(run, earlier)
    assert audit.subject == f"response {earlier}"
    assert marks(audit) == {"row": Mark.OK, "raw answer": Mark.SEALED, "proof": Mark.OK}
    step = next(step for step in verify(run).steps if step.title == "stage execute")
    assert (step.mark, step.differences) == (Mark.SEALED, ())
    tasks = run.read("freeze", Task).header.rows
    assert f"dice: {tasks} earlier answers and 0 earlier attempts taken as sealed" in step.evidence


def test_an_attempt_of_a_route_that_makes_none_is_marked(run):
    cell = cells(run, slug="dice")[0]
    answered = run.read_named("execute", "dice", Response).rows()
    request = next(r.request_digest for r in answered if r.task_id == cell.task_id)
    fields = dict.fromkeys(Attempt.columns()) | {
        "request_digest": request, "number": 1, "route_digest": cell.route_digest,
        "task_id": cell.task_id, "outcome": Outcome.OK, "stored": True, "sent_unix_ms": 1,
        "headers": "{}", "detail": "", "raw": b"",
    }  # fmt: skip
    forge(run, "execute", Attempt, lambda _: [Attempt.model_validate(fields)], "attempts/dice")
    assert marks(audit_cell(run, "dice", cell.task_id))["raw answer"] is Mark.DIFFERS


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: [row for row in rows if row.slug != "dice"],
        lambda rows: [row.model_copy(update={"label": "Loaded"}) for row in rows],
        lambda rows: [row.model_copy(update={"rank": 5}) for row in rows],
    ],
    ids=["gone", "label", "rank"],
)
def test_a_forged_standing_is_marked(run, change):
    task = cells(run, slug="dice")[0].task_id
    forge(run, "statistics", Standing, change)
    assert marks(audit_cell(run, "dice", task))["standing"] is Mark.DIFFERS


KEYED = ["freeze/tasks", "execute/dice", "parse/selections", "score/scores", "score/core",
         "statistics/leaderboard"]  # fmt: skip


@pytest.mark.parametrize("word", KEYED)
@pytest.mark.parametrize("where", ["first", "last"])
def test_a_key_that_stands_twice_is_refused(run, word, where):
    place = next(p for p in stored_headers(run) if p.word == word)
    core = run.read("score", CoreTask).rows()
    task = core[0 if where == "first" else -1].task_id
    path = place.path(run)
    stored = pq.read_table(path)
    rows = stored.to_pylist()
    rows.insert(0 if where == "first" else len(rows), rows[0 if where == "first" else -1])
    doubled = pa.Table.from_pylist(rows, schema=stored.schema)
    header = read_header(path)
    digests = doubled.column("digest").to_pylist()
    root = table_root(place.model.kind, digests)
    forged = header._replace(rows=len(rows), root=root)
    write_table(path, Table(place.model, doubled.replace_schema_metadata(None), forged))
    outcomes = []
    try:
        outcomes.append(audit_cell(run, "dice", task).differs)
    except (TableError, InputError) as problem:
        outcomes.append("key" in str(problem) or "one row of a name" in str(problem))
    assert outcomes == [True]


def test_rows_of_other_keys_that_stand_twice_do_not_count_twice(run):
    def double(rows):
        rows.insert(9, rows[8])

    edit(run, "score", CoreTask, double)
    cell = cells(run, slug="dice", status="parsed")[0]
    with pytest.raises(TableError, match="each key once"):
        audit_cell(run, "dice", cell.task_id)


@pytest.mark.parametrize("field", ["status", "outcome", "reason", "alternative_selection"])
def test_every_field_of_a_forged_reading_is_marked(run, field):
    other = {"status": CellStatus.FAILED, "outcome": "failed", "reason": Reason.WRAPPER,
             "alternative_selection": None}[field]  # fmt: skip
    cell = cells(run, slug="dice", status="parsed")[0]
    forge(run, "parse", Selection, lambda rows: [
        row.model_copy(update={field: other}) if row == cell else row for row in rows
    ])  # fmt: skip
    audit = audit_cell(run, "dice", cell.task_id)
    assert marks(audit)["answer text and selection"] is Mark.DIFFERS


def test_a_route_that_lies_is_marked_in_the_cell(run):
    FAULTS["a_route_that_lies"][0](run)
    audit = audit_cell(run, "dice", cells(run, slug="dice")[0].task_id)
    assert marks(audit)["request and route"] is Mark.DIFFERS


def test_a_table_whose_inputs_were_emptied_is_marked(run):
    path = run.artifact("score", "scores")
    root = read_header(path).root
    assert marks(audit_hash(run, root))["table"] is Mark.OK
    reheader(path, lambda header: header.update(inputs={}))
    assert marks(audit_hash(run, root))["table"] is Mark.DIFFERS


def test_a_row_that_does_not_give_its_digest_stops_the_audit(run):
    FAULTS["a_row_edited"][0](run)
    row = run.read("parse", Selection)
    score = [r for r in row.rows() if r.selection][3]
    with pytest.raises(TableError, match=r"scores\.parquet"):
        audit_cell(run, score.slug, score.task_id)


def test_the_command_shows_tables_and_json(sound_run):
    cell = cells(sound_run, status="unparseable")[0]
    arguments = ["audit", "--route", cell.slug, "--task", cell.task_id, "-w", str(sound_run.root)]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0
    assert "Nothing differs." in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 100
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert [step["title"] for step in document["steps"]] == STEPS
    assert document["ok"] is True


def test_hostile_answers_are_shown_inert(run):
    table = run.read_named("execute", "dice", Response)
    rows = [row.model_copy(update={"raw": b"\x1b[31m[bold]\x00\xff"}) for row in table.rows()]
    write_table(
        run.artifact("execute", "dice"),
        make_table(Response, rows, table.header.inputs, table.header.about),
    )
    audit = audit_hash(run, run.read_named("execute", "dice", Response).digests[0][:16])
    assert not set(marks(audit).values()) <= {Mark.OK}
    shown = CliRunner().invoke(
        app, ["audit", run.read_named("execute", "dice", Response).digests[0], "-w", str(run.root)]
    )
    assert shown.exit_code == 1
    assert "\x1b" not in shown.stdout
    assert "[bold]" in shown.stdout
