"""Small files of Parquet that unpack to gigabytes are refused before they do."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import InputError, TableError
from pipeline.exchange.answers import read_answers
from pipeline.parquet import open_parquet
from pipeline.tables import make_table, read_table, write_table
from schemas.taskset import Task
from tests.schemas.examples import EXAMPLES
from tests.shared import ROOT
from tests.test_tables import set_claimed_bytes

MEGABYTE = 2**20


def same(value, count):
    """One value for all rows, as a dictionary: it lies in memory once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([value]))


def header():
    return json.dumps(make_table(Task, [EXAMPLES[Task]]).header._asdict()).encode()


def write(path, data, **options):
    metadata = {b"flavourbench": header()}
    options = {"compression": "zstd", "write_statistics": False} | options
    pq.write_table(data.replace_schema_metadata(metadata), path, **options)


def plain_rows(count):
    return pa.Table.from_pylist(
        [EXAMPLES[Task].model_dump()] * count, Task.arrow_schema().remove(0)
    )


def with_digest(data):
    digest = pa.array(["0" * 64] * data.num_rows)
    return data.add_column(0, Task.arrow_schema().field(0), digest)


def replaced(data, name, values):
    at = data.schema.get_field_index(name)
    return data.set_column(at, data.schema.field(at), values)


# Each makes a file of a few kilobytes


def a_long_text_for_many_rows(path):
    texts = pa.array(["x" * MEGABYTE] * 400)
    write(path, replaced(with_digest(plain_rows(400)), "prompt", texts))


def a_long_text_many_times_in_one_row(path):
    texts = pa.array([["x" * MEGABYTE] * 400], Task.arrow_schema().field("choices").type)
    write(path, replaced(with_digest(plain_rows(1)), "choices", texts))


def one_text_of_many_megabytes(path):
    texts = pa.array(["x" * 256 * MEGABYTE])
    write(path, replaced(with_digest(plain_rows(1)), "prompt", texts), use_dictionary=False)


def one_text_of_many_megabytes_in_a_dictionary(path):
    texts = pa.array(["x" * 256 * MEGABYTE])
    write(path, replaced(with_digest(plain_rows(1)), "prompt", texts))


def one_text_of_many_megabytes_under_a_small_claim(path):
    one_text_of_many_megabytes(path)
    set_claimed_bytes(path, 1)


def a_page_that_only_gzip_packs(path):
    texts = pa.array(["x" * 64 * MEGABYTE])
    data = replaced(with_digest(plain_rows(1)), "prompt", texts)
    write(path, data, compression="gzip", use_dictionary=False)


def texts_that_go_on_from_the_one_before(path):
    texts = pa.array(["x" * MEGABYTE] * 200)
    data = replaced(with_digest(plain_rows(200)), "prompt", texts)
    write(path, data, use_dictionary=False, column_encoding={"prompt": "DELTA_BYTE_ARRAY"})


def millions_of_numbers_in_one_row(path):
    numbers = pa.array([[7] * 20_000_000], Task.arrow_schema().field("scores_bps").type)
    write(path, replaced(with_digest(plain_rows(1)), "scores_bps", numbers))


def millions_of_rows(path):
    count = 3_000_000
    empty = make_table(Task, [EXAMPLES[Task]]).data.slice(0, 1)
    data = pa.Table.from_arrays(
        [
            pa.array([[]] * count, field.type) if pa.types.is_list(field.type)
            else pa.nulls(count, field.type) if field.nullable
            else pa.array([empty.column(field.name)[0].as_py()] * count, field.type)
            for field in Task.arrow_schema()
        ],
        schema=Task.arrow_schema(),
    )  # fmt: skip
    write(path, data, row_group_size=2**30, compression="gzip", max_rows_per_page=2**30)


def thousands_of_row_groups(path):
    data = pa.table({"task_id": [None] * 6000, "answer": [None] * 6000})
    data = data.cast(pa.schema({"task_id": pa.string(), "answer": pa.string()}))
    write(path, data, row_group_size=1)


def a_footer_of_megabytes(path):
    data = with_digest(plain_rows(1)).replace_schema_metadata({b"x": b"y" * 4 * MEGABYTE})
    pq.write_table(data, path)


def groups_within_groups(path):
    kind = pa.string()
    for _ in range(300):
        kind = pa.struct([pa.field("x", kind)])
    pq.write_table(pa.schema([pa.field("answer", kind)]).empty_table(), path, store_schema=False)


TABLES = [
    a_long_text_for_many_rows, a_long_text_many_times_in_one_row, one_text_of_many_megabytes,
    one_text_of_many_megabytes_in_a_dictionary, one_text_of_many_megabytes_under_a_small_claim,
    a_page_that_only_gzip_packs,
    texts_that_go_on_from_the_one_before, millions_of_numbers_in_one_row, millions_of_rows,
    thousands_of_row_groups, a_footer_of_megabytes,
]  # fmt: skip


def said_by(code, path):
    """What a fresh process prints, and its memory at most, in bytes."""
    # of its own memory alone: `getrusage` counts the parent's, too, from before `exec`
    end = (
        "status = Path('/proc/self/status').read_text()\n"
        "print(int(status.split('VmHWM:')[1].split()[0]) * 1024)"
    )
    program = (
        f"import sys\nfrom pathlib import Path\nfrom pipeline.errors import FlavourbenchError\n"
        f"path = Path(sys.argv[1])\ntry:\n{code}\nexcept FlavourbenchError as found:\n"
        f"    print(found)\nelse:\n    print('read')\n{end}"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    line, memory = done.stdout.splitlines()
    return line, int(memory)


TABLE = (
    "    from pipeline.tables import read_table\n    from schemas.taskset import Task\n"
    "    read_table(path, Task)"
)
ANSWERS = "    from pipeline.exchange.answers import read_answers\n    read_answers(path)"


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_a_table_that_unpacks_to_far_more_is_refused_before_it_does(make, tmp_path):
    path = tmp_path / "tasks.parquet"
    make(path)
    line, memory = said_by(TABLE, path)
    assert line.startswith(f"{path}: expected ")
    assert memory < 500e6


def answers(path, texts, **options):
    ids = [str(number) for number in range(len(texts))]
    table = pa.table({"task_id": pa.array(ids), "answer": texts})
    pq.write_table(table, path, **{"compression": "zstd", "write_statistics": False} | options)


FOREIGN = {
    "a long answer for many tasks": lambda p: answers(p, pa.array(["x" * MEGABYTE] * 400)),
    "the same under Arrow's own dictionary": lambda p: answers(p, same("x" * MEGABYTE, 4096)),
    "one answer of many megabytes": lambda p: answers(
        p, pa.array(["x" * 256 * MEGABYTE]), use_dictionary=False
    ),
    "large text": lambda p: answers(p, pa.array(["x" * MEGABYTE] * 400, pa.large_string())),
    "lists of texts": lambda p: answers(p, pa.array([["x" * MEGABYTE] * 4] * 100)),
    "texts that go on from the one before": lambda p: answers(
        p, pa.array(["x" * MEGABYTE] * 200), use_dictionary=False,
        column_encoding={"answer": "DELTA_BYTE_ARRAY"},
    ),
    "thousands of row groups": thousands_of_row_groups,
    "groups within groups": groups_within_groups,
    "a footer of megabytes": a_footer_of_megabytes,
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_answers_that_unpack_to_far_more_are_refused_before_they_do(name, tmp_path):
    path = tmp_path / "answers.parquet"
    FOREIGN[name](path)
    line, memory = said_by(ANSWERS, path)
    assert line.startswith(f"{path}")
    assert ": expected " in line
    assert memory < 500e6


def test_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "answers.parquet"
    table = pa.Table.from_arrays([pa.array(["t"])] * 3, names=["task_id", "answer", "answer"])
    pq.write_table(table, path)
    with pytest.raises(InputError, match="columns with names of their own, found"):
        read_answers(path)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False},
        {"use_dictionary": False, "column_encoding": "DELTA_LENGTH_BYTE_ARRAY"},
        {"data_page_version": "2.0", "write_page_index": True, "write_statistics": True},
        {"row_group_size": 2, "compression": "brotli"},
        {"compression": "none", "store_schema": False},
    ],
    ids=str,
)
def test_answers_are_read_however_they_are_packed(kind, options, tmp_path):
    path = tmp_path / "answers.parquet"
    texts = ["A, B, C", None, "é" * 9000, "A, B, C", ""]
    if pa.types.is_dictionary(kind):
        options = {k: v for k, v in options.items() if k != "column_encoding"}
        column = pa.array(texts).dictionary_encode()
    else:
        column = pa.array(texts, kind)
    answers(path, column, **options)
    assert read_answers(path) == {str(number): text for number, text in enumerate(texts)}


def test_a_large_table_is_read_in_parts_and_whole(tmp_path):
    rows = [
        EXAMPLES[Task].model_copy(update={"task_id": f"t{number:06}", "prompt": f"{number} " * 50})
        for number in range(3000)
    ]
    table = make_table(Task, rows)
    write_table(tmp_path / "tasks.parquet", table)
    assert read_table(tmp_path / "tasks.parquet", Task).data.equals(table.data)
    with open_parquet(tmp_path / "tasks.parquet", TableError, "") as source:
        parts = list(source.batches(["digest"], 1000))
    assert [part.num_rows for part in parts] == [1000] * 3
    assert pa.Table.from_batches(parts).column("digest").to_pylist() == table.digests
