"""Ways to spoil a run, named after what they do. Each says where `verify` has to find it."""

from __future__ import annotations

import json
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.columns import row_digests
from pipeline.tables import make_table, read_table, write_table
from schemas.execution import Response
from schemas.release import Ingredient
from schemas.results import Contrast, CoreTask, Score, Selection, Standing
from schemas.taskset import PORTFOLIOS, Task
from tests.mini import run_stages
from tests.test_tables import set_claimed_bytes

__all__ = ["FAULTS"]

FAULTS = {}


def fault(*parts):
    """The parts that one of the differences has to hold, all together."""

    def keep(spoil):
        FAULTS[spoil.__name__] = (spoil, parts)
        return spoil

    return keep


def path_of(run, stage, name):
    return run.artifact(stage, name)


def forge(run, stage, model, change, name=None):
    """Change rows and recompute digests and root, as a careful forger would."""
    path = path_of(run, stage, name or model.table)
    table = read_table(path, model)
    rows = change(table.rows())
    write_table(path, make_table(model, rows, table.header.inputs, table.header.about))


def edit(run, stage, model, change, digests=False):
    """Change Arrow rows under the header that was there; recompute digests if asked to."""
    path = path_of(run, stage, model.table)
    stored = pq.read_table(path)
    rows = stored.to_pylist()
    change(rows)
    data = pa.Table.from_pylist(rows, schema=stored.schema)
    if digests:
        found = row_digests(model, data.drop_columns(["digest"]))
        data = data.set_column(0, stored.schema.field(0), pa.array(found, pa.string()))
    pq.write_table(data, path, compression="zstd", write_statistics=False)


def reheader(path, change):
    """Change a file's header and nothing else."""
    stored = pq.read_table(path)
    header = json.loads(stored.schema.metadata[b"flavourbench"])
    change(header)
    raw = json.dumps(header).encode()
    pq.write_table(stored.replace_schema_metadata({b"flavourbench": raw}), path)


def replaced(rows, place, **values):
    return [row.model_copy(update=values) if i == place else row for i, row in enumerate(rows)]


def flip(path, place):
    """Flip one bit; size and time stay."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert path.stat().st_mtime_ns == before.st_mtime_ns


@fault("score/scores.parquet")
def a_byte_flipped_with_size_and_time_kept(run):
    path = path_of(run, "score", "scores")
    flip(path, path.stat().st_size // 4)


@fault("scores.parquet", "row 3, slug ", "digest")
def a_row_edited(run):
    edit(run, "score", Score, lambda rows: rows[3].update(score_bps=9_999))


@fault("scores.parquet, slug best, task_id mini-", "score_bps", "found 9999")
def a_row_edited_and_its_digest_recomputed(run):
    edit(run, "score", Score, lambda rows: rows[3].update(score_bps=9_999), digests=True)


@fault("scores.parquet, slug best, task_id mini-", "score_bps: expected 10000, found 9999")
def a_score_changed_by_one_basis_point(run):
    forge(run, "score", Score, lambda rows: replaced(rows, 0, score_bps=9_999))


@fault("scores.parquet, slug best, task_id mini-", "no such row")
def a_row_removed(run):
    forge(run, "score", Score, lambda rows: rows[1:])


@fault("scores.parquet, slug best, task_id mini-", "no such row")
def a_row_removed_under_the_old_header(run):
    edit(run, "score", Score, lambda rows: rows.pop(0))


@fault("scores.parquet, slug zero, task_id mini-", "expected no such row")
def a_row_added(run):
    forge(run, "score", Score, lambda rows: [*rows, rows[0].model_copy(update={"slug": "zero"})])


@fault("scores.parquet", "row 0", "slug best")
def two_rows_swapped(run):
    def swap(rows):
        rows[0], rows[1] = rows[1], rows[0]

    edit(run, "score", Score, swap)


@fault("scores.parquet", "again")
def a_row_twice(run):
    edit(run, "score", Score, lambda rows: rows.insert(0, rows[0]))


@fault("execute/dice.parquet")
def two_files_swapped(run):
    one, other = path_of(run, "execute", "dice"), path_of(run, "execute", "first")
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


@fault("score/core.parquet", "expected a table core of core-task rows")
def two_files_of_unlike_tables_swapped(run):
    one, other = path_of(run, "score", "core"), path_of(run, "score", "coverage")
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


@fault("score/scores.parquet, header, inputs selections")
def a_table_from_another_run(run):
    from pipeline.workspace import open_workspace

    other = run.root.parent / "other"
    shutil.copytree(run.root, other)
    parameters = json.loads((run.root / "params.yaml").read_text("utf-8"))
    parameters["routes"]["dice"]["seed"] = 4
    (other / "params.yaml").write_text(json.dumps(parameters), "utf-8")
    run_stages(open_workspace(other), "execute", "parse", "score")
    shutil.copy2(path_of(open_workspace(other), "score", "scores"), path_of(run, "score", "scores"))


@fault("score/scores.parquet, header, inputs tasks", "found 0000")
def an_input_root_that_lies(run):
    reheader(path_of(run, "score", "scores"), lambda h: h["inputs"].update(tasks="0" * 64))


@fault("score/scores.parquet, header, inputs tasks", "found no such input")
def an_input_left_out(run):
    reheader(path_of(run, "score", "scores"), lambda h: h["inputs"].pop("tasks"))


@fault("score/scores.parquet, header, inputs kitchen")
def an_input_that_is_no_table(run):
    reheader(path_of(run, "score", "scores"), lambda h: h["inputs"].update(kitchen="0" * 64))


@fault("score/scores.parquet, header, inputs core")
def an_input_that_it_was_not_made_from(run):
    root = read_table(path_of(run, "score", "core"), CoreTask).root
    reheader(path_of(run, "score", "scores"), lambda h: h["inputs"].update(core=root))


@fault("score/scores.parquet, header, about note", "expected no such document")
def a_document_that_no_table_has(run):
    reheader(path_of(run, "score", "scores"), lambda h: h["about"].update(note="{}"))


@fault("execute/dice.parquet, header, about slug")
def answers_that_say_they_are_of_another_route(run):
    reheader(path_of(run, "execute", "dice"), lambda h: h["about"].update(slug='"first"'))


@fault("execute/dice.parquet, header, about route/", "expected no such document")
def an_earlier_route_under_another_digest(run):
    name = "route/" + "0" * 64
    reheader(path_of(run, "execute", "dice"), lambda h: h["about"].update({name: "{}"}))


@fault("execute/dice.parquet, header, about route")
def a_route_that_lies(run):
    reheader(path_of(run, "execute", "dice"), lambda h: h["about"].update(route="{}"))


@fault("freeze/tasks.parquet, task_id mini-1-pairing-001, scores_bps")
def a_score_map_changed_by_one_basis_point(run):
    def change(rows):
        scores = rows[0].scores_bps
        place = next(i for i, s in enumerate(scores) if 0 < s < 9_000)
        changed = tuple(s + (i == place) for i, s in enumerate(scores))
        return replaced(rows, 0, scores_bps=changed)

    forge(run, "freeze", Task, change)


@fault("freeze/tasks.parquet, task_id mini-1-pairing-001, prompt")
def a_prompt_changed(run):
    forge(run, "freeze", Task, lambda rows: replaced(rows, 0, prompt=rows[0].prompt + " "))


@fault("release/ingredients.parquet, name ", "vector")
def a_vector_changed_in_one_bit(run):
    def change(rows):
        vector = bytearray(rows[7].vector)
        vector[0] ^= 1
        return replaced(rows, 7, vector=bytes(vector))

    forge(run, "release", Ingredient, change)


@fault("execute/dice.parquet, request_digest ", "raw")
def an_answer_changed(run):
    raw = b"FINAL_SELECTION: A, B, C"
    forge(run, "execute", Response, lambda rows: replaced(rows, 0, raw=raw), "dice")


@fault("execute/dice.parquet, request_digest ", "expected no such row")
def an_answer_added(run):
    def change(rows):
        return [*rows, rows[0].model_copy(update={"request_digest": "0" * 64})]

    forge(run, "execute", Response, change, "dice")


@fault("parse/selections.parquet, slug best, task_id mini-", ", selection")
def a_selection_changed(run):
    def change(rows):
        other = next(p for p in PORTFOLIOS if p != rows[0].selection)
        return replaced(rows, 0, selection=other)

    forge(run, "parse", Selection, change)


@fault("score/core.parquet, panel panel_1, family pairing, position 0, task_id")
def two_tasks_of_the_core_swapped(run):
    def change(rows):
        first, second = rows[0], rows[1]
        moved = {"task_id": second.task_id, "task_digest": second.task_digest}
        back = {"task_id": first.task_id, "task_digest": first.task_digest}
        return replaced(replaced(rows, 0, **moved), 1, **back)

    forge(run, "score", CoreTask, change)


@fault("statistics/leaderboard.parquet, slug dice, rank")
def a_rank_changed(run):
    forge(run, "statistics", Standing, lambda rows: [
        row.model_copy(update={"rank": row.rank + 1}) if row.slug == "dice" else row for row in rows
    ])  # fmt: skip


@fault("statistics/contrasts.parquet", "holm_numerator")
def a_p_value_changed(run):
    forge(run, "statistics", Contrast, lambda rows: replaced(rows, 0, holm_numerator=1))


def document(name):
    def change(run):
        path = run.root / "artifacts/report" / name
        data = path.read_bytes()
        at = data.index(b"1")
        path.write_bytes(data[:at] + b"7" + data[at + 1 :])

    return change


@fault("report/leaderboard.md, line ")
def a_leaderboard_whose_text_differs_from_its_table(run):
    document("leaderboard.md")(run)


@fault("report/leaderboard.csv, line ")
def a_spreadsheet_that_differs_from_its_table(run):
    document("leaderboard.csv")(run)


@fault("report/leaderboard.json, line ")
def a_document_that_differs_from_its_table(run):
    document("leaderboard.json")(run)


@fault("report/figures/forest.svg, line ")
def a_chart_that_differs_from_its_table(run):
    document("figures/forest.svg")(run)


@fault("report/leaderboard.csv", "a regular, readable file")
def a_document_missing(run):
    (run.root / "artifacts/report/leaderboard.csv").unlink()


@fault("score/scores.parquet", "bytes of data", "claimed")
def five_gigabytes_claimed_by_a_tiny_file(run):
    set_claimed_bytes(path_of(run, "score", "scores"), 5 * 2**30)


@fault("score/core.parquet", "No such file")
def a_table_missing(run):
    path_of(run, "score", "core").unlink()


@fault("score/core.parquet", "a symbolic link")
def a_link_in_place_of_a_table(run):
    path = path_of(run, "score", "core")
    path.rename(run.root / "elsewhere.parquet")
    path.symlink_to(run.root / "elsewhere.parquet")


@fault("score/core.parquet", "a whole Parquet file")
def a_table_cut_short(run):
    path = path_of(run, "score", "core")
    path.write_bytes(path.read_bytes()[:-20])


@fault("artifacts/score/more.parquet", "no stage writes it")
def a_table_that_no_stage_writes(run):
    shutil.copy2(path_of(run, "score", "core"), path_of(run, "score", "more"))


@fault("artifacts/score/pipe", "no stage writes it", "something else")
def a_pipe_among_the_tables(run):
    os.mkfifo(run.root / "artifacts/score/pipe")


@fault("artifacts/report/link.html", "a symbolic link")
def a_link_in_the_report(run):
    (run.root / "artifacts/report/link.html").symlink_to(run.root / "params.yaml")


@fault("score/scores.parquet", "UTF-8")
def text_in_latin_1(run):
    path = path_of(run, "score", "scores")
    stored = pq.read_table(path)
    raw = pa.array([f"fir\xe9{i}".encode("latin-1") for i in range(len(stored))], pa.binary())
    at = stored.schema.get_field_index("slug")
    pq.write_table(stored.set_column(at, stored.schema.field(at), raw.view(pa.string())), path)
