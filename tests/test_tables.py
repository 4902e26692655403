import contextlib
import errno
import json
import os
import random
import subprocess
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.columns import row_digests
from pipeline.errors import InputError, TableError
from pipeline.identity import check_inclusion, merkle_proof, row_digest, table_root
from pipeline.tables import make_table, read_header, read_table, write_table
from schemas.record import Record, Row
from schemas.results import Score
from schemas.taskset import Task
from tests.schemas.examples import EXAMPLES

ROWS = [
    Score(
        slug=slug,
        task_id=f"task-{number:03}",
        task_digest=f"{number:064x}",
        selection_digest=f"{number + 100:064x}",
        score_bps=1000 * number,
    )
    for slug in ("first", "second")
    for number in range(4)
]
INPUTS = {"tasks": "a" * 64, "selections": "b" * 64}


class Plain(Row):
    """A row with fields that carry no bounds of their own."""

    table: ClassVar[str] = "plain"
    kind: ClassVar[str] = "plain"
    key: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    number: int = 0


class Part(Record):
    sizes: tuple[int, ...]


class Deep(Row):
    """A row with an integer in a list in a record in a list."""

    table: ClassVar[str] = "deep"
    kind: ClassVar[str] = "deep"
    key: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    parts: tuple[Part, ...]


def good_table():
    return make_table(Score, ROWS, INPUTS, {"design": '{"quota":6}'})


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "scores.parquet"
    write_table(path, good_table())
    return path


def header_of(table, **changes):
    return json.dumps(table.header._asdict() | changes).encode()


def forge(path, data, header):
    """A Parquet file with any data under any header."""
    metadata = {} if header is None else {b"flavourbench": header}
    pq.write_table(data.replace_schema_metadata(metadata), path)


def with_column(data, name, values):
    at = data.schema.get_field_index(name)
    return data.set_column(
        at, data.schema.field(name), pa.array(values, data.schema.field(at).type)
    )


def redigested(data):
    return with_column(data, "digest", row_digests(Score, data.drop_columns(["digest"])))


def edited(data):
    return with_column(data, "score_bps", [9, *data.column("score_bps").to_pylist()[1:]])


def rerooted(path, data):
    """A file whose digests, count and root all follow from its rows."""
    data = redigested(data)
    digests = data.column("digest").to_pylist()
    root = table_root("score", digests)
    forge(path, data, header_of(good_table(), rows=len(digests), root=root))


# What is written


def test_the_header_says_what_the_file_is(good):
    raw = pq.read_schema(good).metadata[b"flavourbench"]
    table = good_table()
    assert json.loads(raw) == {
        "about": {"design": '{"quota":6}'},
        "contract": 1,
        "inputs": INPUTS,
        "kind": "score",
        "root": table.root,
        "rows": 8,
        "table": "scores",
    }
    assert raw == json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":")).encode()
    assert read_header(good) == table.header


def test_the_root_follows_from_the_rows_alone():
    digests = [row_digest(row) for row in ROWS]
    assert good_table().digests == digests
    assert good_table().root == table_root("score", digests)
    assert make_table(Score, ROWS).root == good_table().root


def test_golden_roots():
    assert good_table().root == ("a8ca945a68d932394ff0be2189d3c58385c2e9c61def35899d38e23358eeb864")
    assert make_table(Score, []).root == (
        "edec5115784db08dc0aab701576f5b149cd537381da96bff7430dbb65d1c1527"
    )


def test_what_was_written_is_read_again(good):
    table = read_table(good, Score)
    assert table.header == good_table().header
    assert table.data.equals(good_table().data)
    assert table.rows() == ROWS


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.table)
def test_every_kind_of_table_is_read_as_it_was_written(model, tmp_path):
    path = tmp_path / "one.parquet"
    for rows in ([EXAMPLES[model]], []):
        written = make_table(model, rows)
        write_table(path, written)
        read = read_table(path, model)
        assert read.header == written.header
        assert read.data.schema.equals(model.arrow_schema())
        assert read.rows() == rows


def test_a_table_written_again_has_the_same_bytes(good, tmp_path):
    write_table(tmp_path / "again.parquet", read_table(good, Score))
    assert (tmp_path / "again.parquet").read_bytes() == good.read_bytes()


def test_bytes_do_not_depend_on_the_order_of_rows_or_inputs(good, tmp_path):
    path = tmp_path / "shuffled.parquet"
    for seed in range(5):
        rows = random.Random(seed).sample(ROWS, len(ROWS))
        inputs = dict(reversed(INPUTS.items()))
        write_table(path, make_table(Score, rows, inputs, {"design": '{"quota":6}'}))
        assert path.read_bytes() == good.read_bytes()


def test_rows_lie_in_the_order_of_their_key():
    keys = [(row.slug, row.task_id) for row in make_table(Score, ROWS[::-1]).rows()]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    "options",
    [
        {"row_group_size": 1},
        {"row_group_size": 3, "compression": "gzip"},
        {"compression": "none", "use_dictionary": False},
        {"compression": "snappy", "write_statistics": True},
        {"version": "1.0", "data_page_version": "2.0"},
        {"data_page_size": 1, "write_page_checksum": True},
    ],
    ids=str,
)
def test_the_root_does_not_depend_on_how_parquet_is_written(good, tmp_path, options):
    path = tmp_path / "other.parquet"
    pq.write_table(pq.read_table(good), path, **options)
    assert path.read_bytes() != good.read_bytes()
    read = read_table(path, Score)
    assert (read.header, read.digests) == (good_table().header, good_table().digests)
    write_table(path, read)
    assert path.read_bytes() == good.read_bytes()


def test_a_row_is_proved_to_lie_in_the_table_with_no_other_row_at_hand(good):
    table = read_table(good, Score)
    for number, row in enumerate(ROWS):
        proof = merkle_proof("score", table.digests, number)
        assert proof.leaf == row_digest(row)
        assert len(proof.siblings) == 3
        assert check_inclusion(proof, read_header(good).root) == table.root


@settings(deadline=None, max_examples=40)
@given(st.sets(st.text(max_size=3), max_size=6), st.randoms(use_true_random=False))
def test_the_root_does_not_depend_on_the_order_in_which_rows_come(names, rnd):
    rows = [Plain(name=name) for name in sorted(names)]
    root = make_table(Plain, rows).root
    rnd.shuffle(rows)
    assert make_table(Plain, rows).root == root


# What cannot be made


def test_two_rows_with_one_key_are_refused():
    twice = ROWS[0].model_copy(update={"score_bps": 1})
    with pytest.raises(TableError, match=r"a repeated key \('first', 'task-000'\) at row 1"):
        make_table(Score, [*ROWS, twice])


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (Plain(name="a", number=2**53), "number"),
        (Plain(name="a", number=-(2**53)), "number"),
        (Plain(name="a", number=2**63), "number"),
        (Plain(name="a", number=10**400), "number"),
        (Plain(name="\ud800"), "name"),
        (Deep(name="a", parts=(Part(sizes=()), Part(sizes=(1, 2**53)))), "parts"),
    ],
    ids=["beyond", "below", "beyond 64 bits", "far beyond", "surrogate", "nested"],
)
def test_what_an_identity_cannot_hold_is_refused_by_its_field(row, field):
    with pytest.raises(InputError, match=f"identity field .*{field}"):
        make_table(type(row), [row])
    with pytest.raises(InputError, match=f"identity field .*{field}"):
        row_digest(row)


def test_an_unsafe_integer_is_found_in_every_chunk():
    data = pa.table({"name": ["a"], "number": [1]})
    late = pa.concat_tables([data, pa.table({"name": ["b"], "number": [2**53]})])
    with pytest.raises(InputError, match="identity field number"):
        row_digests(Plain, late)


# What is refused on reading

FORGERIES = {}


def forgery(*expected):
    """Register a way to spoil a good file, with what the refusal says."""

    def keep(spoil):
        FORGERIES[spoil.__name__] = (spoil, expected)
        return spoil

    return keep


@forgery("row 0 with digest")
def row_edited(path, table):
    forge(path, edited(table.data), header_of(table))


@forgery("root")
def row_edited_with_its_digest(path, table):
    forge(path, redigested(edited(table.data)), header_of(table))


@forgery("row 1 with digest")
def digest_edited(path, table):
    digests = [table.digests[0], "0" * 64, *table.digests[2:]]
    forge(path, with_column(table.data, "digest", digests), header_of(table))


@forgery("row 0 with digest")
def digests_swapped(path, table):
    digests = [table.digests[1], table.digests[0], *table.digests[2:]]
    forge(path, with_column(table.data, "digest", digests), header_of(table))


@forgery("8 rows, found 9")
def row_added(path, table):
    more = make_table(Score, [*ROWS, ROWS[0].model_copy(update={"slug": "third"})])
    forge(path, more.data, header_of(table))


@forgery("root")
def row_added_and_counted(path, table):
    more = make_table(Score, [*ROWS, ROWS[0].model_copy(update={"slug": "third"})])
    forge(path, more.data, header_of(table, rows=9))


@forgery("8 rows, found 7")
def row_removed(path, table):
    forge(path, table.data.slice(0, 7), header_of(table))


@forgery("root")
def row_removed_and_counted(path, table):
    forge(path, table.data.slice(0, 7), header_of(table, rows=7))


@forgery("8 rows, found 0")
def all_rows_removed(path, table):
    forge(path, table.data.slice(0, 0), header_of(table))


@forgery("key order", "a key out of order")
def rows_swapped(path, table):
    forge(path, table.data.take([1, 0, *range(2, 8)]), header_of(table))


@forgery("key order", "a key out of order")
def rows_swapped_with_their_root(path, table):
    rerooted(path, table.data.take([1, 0, *range(2, 8)]))


@forgery("each key once", "a repeated key")
def key_repeated_with_its_root(path, table):
    rerooted(path, table.data.take([0, 0, 1]))


@forgery("9 rows, found 8")
def header_count_edited(path, table):
    forge(path, table.data, header_of(table, rows=9))


@forgery("root 0000")
def header_root_edited(path, table):
    forge(path, table.data, header_of(table, root="0" * 64))


@forgery("roots of 64 lower-case hexadecimal characters")
def header_root_in_capitals(path, table):
    forge(path, table.data, header_of(table, root=table.root.upper()))


@forgery("roots of 64 lower-case hexadecimal characters", "'no root'")
def header_input_no_root(path, table):
    forge(path, table.data, header_of(table, inputs={"tasks": "no root"}))


@forgery("header field inputs with texts")
def header_input_no_text(path, table):
    forge(path, table.data, header_of(table, inputs={"tasks": 1}))


@forgery("header field about as dict")
def header_about_a_list(path, table):
    forge(path, table.data, header_of(table, about=["design"]))


@forgery("header field rows as int")
def header_count_as_text(path, table):
    forge(path, table.data, header_of(table, rows="8"))


@forgery("header field contract as int", "True")
def header_contract_true(path, table):
    forge(path, table.data, header_of(table, contract=True))


@forgery("scores of contract 1 or older", "written by a newer version", "Keep the file")
def contract_of_a_newer_version(path, table):
    forge(path, table.data, header_of(table, contract=2))


@forgery("columns of scores, contract 0")
def contract_that_never_was(path, table):
    forge(path, table.data, header_of(table, contract=0))


@forgery("a table scores of score rows", "scores of selection rows")
def kind_of_other_rows(path, table):
    forge(path, table.data, header_of(table, kind="selection"))


@forgery("a table scores of score rows", "tasks of task rows")
def file_of_another_table(path, _):
    write_table(path, make_table(Task, [EXAMPLES[Task]]))


@forgery("columns of scores")
def columns_of_another_table(path, table):
    forge(path, make_table(Task, [EXAMPLES[Task]]).data, header_of(table))


@forgery("columns of scores")
def column_renamed(path, table):
    names = ["points" if name == "score_bps" else name for name in table.data.column_names]
    forge(path, table.data.rename_columns(names), header_of(table))


@forgery("columns of scores")
def column_with_another_type(path, table):
    at = table.data.schema.get_field_index("score_bps")
    schema = table.data.schema.set(at, pa.field("score_bps", pa.int32(), nullable=False))
    forge(path, table.data.cast(schema), header_of(table))


@forgery("columns of scores")
def column_of_floats(path, table):
    at = table.data.schema.get_field_index("score_bps")
    schema = table.data.schema.set(at, pa.field("score_bps", pa.float64(), nullable=False))
    forge(path, table.data.cast(schema), header_of(table))


@forgery("columns of scores")
def column_that_can_be_null(path, table):
    at = table.data.schema.get_field_index("score_bps")
    schema = table.data.schema.set(at, pa.field("score_bps", pa.int64(), nullable=True))
    forge(path, table.data.cast(schema), header_of(table))


@forgery("columns of scores")
def column_missing(path, table):
    forge(path, table.data.drop_columns(["score_bps"]), header_of(table))


@forgery("columns of scores")
def column_of_digests_missing(path, table):
    forge(path, table.data.drop_columns(["digest"]), header_of(table))


@forgery("columns of scores")
def column_added(path, table):
    forge(path, table.data.append_column("more", [[1] * 8]), header_of(table))


@forgery("columns of scores")
def columns_in_another_order(path, table):
    forge(path, table.data.select(table.data.column_names[::-1]), header_of(table))


@forgery("an integer within 2^53 - 1", "9007199254740992")
def integer_beyond_identities(path, table):
    forge(path, with_column(table.data, "score_bps", [2**53] * 8), header_of(table))


@forgery("text in UTF-8")
def text_in_latin_1(path, table):
    binary = pa.array([f"fir{i}st\xe9".encode("latin-1") for i in range(8)], pa.binary())
    at = table.data.schema.get_field_index("slug")
    data = table.data.set_column(at, table.data.schema.field(at), binary.view(pa.string()))
    forge(path, data, header_of(table))


@forgery("text in UTF-8")
def digest_in_latin_1(path, table):
    binary = pa.array([*(d.encode() for d in table.digests[:7]), b"\xe9" * 64], pa.binary())
    data = table.data.set_column(0, table.data.schema.field(0), binary.view(pa.string()))
    forge(path, data, header_of(table))


@forgery("a table of this project", "no header")
def no_header(path, table):
    forge(path, table.data, None)


@forgery("JSON")
def header_no_json(path, table):
    forge(path, table.data, header_of(table)[:-1])


@forgery("every key once", "'rows'")
def header_key_twice(path, table):
    forge(path, table.data, header_of(table)[:-1] + b', "rows": 8}')


@forgery("UTF-8")
def header_no_utf_8(path, table):
    forge(path, table.data, b"\xff" + header_of(table))


@forgery("header fields")
def header_field_missing(path, table):
    header = table.header._asdict()
    del header["inputs"]
    forge(path, table.data, json.dumps(header).encode())


@forgery("header fields")
def header_field_added(path, table):
    forge(path, table.data, header_of(table, verified=True))


@forgery("header fields", "[]")
def header_a_list(path, table):
    forge(path, table.data, b"[]")


@forgery("a whole Parquet file")
def empty_file(path, _):
    path.write_bytes(b"")


@forgery("a whole Parquet file")
def file_of_text(path, _):
    path.write_text("slug,task_id\n" * 100)


@forgery("a whole Parquet file")
def magic_bytes_only(path, _):
    path.write_bytes(b"PAR1PAR1")


@forgery("a whole Parquet file")
def footer_longer_than_the_file(path, _):
    path.write_bytes(b"PAR1" + b"\0" * 8 + b"\xff\xff\xff\x7fPAR1")


@forgery("a regular, readable file", "No such file", "dvc pull")
def missing(path, _):
    assert not path.exists()


@forgery("a regular file", "a folder")
def folder(path, _):
    path.mkdir()


@forgery("a regular file", "something else")
def pipe_without_a_writer(path, _):
    os.mkfifo(path)


@forgery("a regular, readable file", "a symbolic link")
def symlink(path, table):
    write_table(path.with_name("target"), table)
    path.symlink_to("target")


@forgery("a regular, readable file", "a symbolic link")
def symlink_to_nothing(path, _):
    path.symlink_to("nowhere")


@forgery("bytes of data in a file of this size", "5,368,709,120 claimed")
def gigabytes_claimed(path, table):
    write_table(path, table)
    set_claimed_bytes(path, 5 * 2**30)


def varint(number):
    """A signed integer as Thrift's compact protocol writes it."""
    number <<= 1
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


def set_claimed_bytes(path, number):
    """Edit a file's footer: the bytes that its one row group claims to unpack to."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[-8:-4], "little")
    footer = raw[-8 - length : -8]
    group = pq.ParquetFile(path).metadata.row_group(0)
    old = b"\x16" + varint(group.total_byte_size) + b"\x16" + varint(group.num_rows)
    assert footer.count(old) == 1
    footer = footer.replace(old, b"\x16" + varint(number) + b"\x16" + varint(group.num_rows))
    path.write_bytes(raw[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    assert pq.ParquetFile(path).metadata.row_group(0).total_byte_size == number


@pytest.mark.parametrize("name", FORGERIES)
def test_a_file_whose_rows_do_not_give_its_root_is_refused(name, tmp_path):
    spoil, expected = FORGERIES[name]
    path = tmp_path / f"{name}.parquet"
    spoil(path, good_table())
    with pytest.raises(TableError) as caught:
        read_table(path, Score)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert said.isprintable()
    for part in expected:
        assert part in said


def test_what_a_file_claims_to_unpack_to_is_no_bound(good):
    set_claimed_bytes(good, 1)
    assert read_table(good, Score).rows() == ROWS


def outcome(path):
    """What the file gives, or its refusal. Anything else is a fault of the reader."""
    try:
        read_header(path)
        table = read_table(path, Score)
    except TableError as refusal:
        return str(refusal)
    return table.data, table.root


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_flipped_byte_leaves_the_same_rows_or_is_refused(good, mask):
    raw, refused = good.read_bytes(), 0
    for at in range(mask % 5, len(raw), 5):
        good.write_bytes(raw[:at] + bytes([raw[at] ^ mask]) + raw[at + 1 :])
        found = outcome(good)
        if isinstance(found, str):
            assert found.isprintable()
            refused += 1
        else:
            assert found == (good_table().data, good_table().root), at
    assert refused > len(raw) // 20


def test_a_file_cut_short_anywhere_is_refused(good):
    raw = good.read_bytes()
    for size in {*range(0, len(raw), 11), *range(len(raw) - 12, len(raw))}:
        good.write_bytes(raw[:size])
        assert isinstance(outcome(good), str), size


def test_a_file_of_other_rows_has_another_root(tmp_path):
    rerooted(tmp_path / "other.parquet", edited(good_table().data))
    assert read_table(tmp_path / "other.parquet", Score).root != good_table().root


def test_a_row_that_breaks_its_model_is_named(tmp_path):
    path = tmp_path / "out_of_range.parquet"
    scores = [0, 1000, 10_001, *range(3000, 8000, 1000)]
    rerooted(path, with_column(good_table().data, "score_bps", scores))
    with pytest.raises(TableError, match=r"scores, row 2, score_bps: .*10000, found 10001"):
        read_table(path, Score).rows()


def test_a_header_alone_is_read_without_its_rows(good):
    forge(good, edited(good_table().data), header_of(good_table()))
    assert read_header(good) == good_table().header


@pytest.mark.parametrize("name", ["missing", "symlink", "folder", "empty_file", "no_header"])
def test_a_header_is_refused_as_its_table_is(name, tmp_path):
    FORGERIES[name][0](tmp_path / "x.parquet", good_table())
    with pytest.raises(TableError):
        read_header(tmp_path / "x.parquet")


# Whole or not at all


def failing_writer(error, written=b"half a file"):
    def write(_data, path, **_options):
        Path(path).write_bytes(written)
        raise error

    return write


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.ENOSPC, "No space left on device"),
        (errno.EDQUOT, "Disk quota exceeded"),
        (errno.EIO, "Input/output error"),
        (errno.EROFS, "Read-only file system"),
    ],
)
def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(good, monkeypatch, code, said):
    before = good.read_bytes()
    monkeypatch.setattr(pq, "write_table", failing_writer(OSError(code, os.strerror(code))))
    with pytest.raises(TableError, match=f"{said}. Nothing was changed; make room and run again"):
        write_table(good, make_table(Score, ROWS[:1]))
    assert good.read_bytes() == before
    assert list(good.parent.iterdir()) == [good]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError, pa.ArrowInvalid])
def test_a_write_that_is_stopped_leaves_the_old_file_and_nothing_beside_it(good, monkeypatch, stop):
    before = good.read_bytes()
    monkeypatch.setattr(pq, "write_table", failing_writer(stop()))
    with pytest.raises(stop):
        write_table(good, make_table(Score, ROWS[:1]))
    assert good.read_bytes() == before
    assert list(good.parent.iterdir()) == [good]


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 64 KiB, where the machine lets us mount one."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    with contextlib.suppress(OSError):
        options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
        if subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0:
            yield folder
            subprocess.run(["umount", str(folder)], check=True)
            return
    pytest.skip("this machine does not let us mount a tiny disk")


def test_a_full_disk_leaves_the_old_file(tiny_disk):
    path = tiny_disk / "scores.parquet"
    write_table(path, good_table())
    rnd = random.Random(1)
    rows = [
        ROWS[0].model_copy(update={"task_id": f"{i:05}", "task_digest": rnd.randbytes(32).hex()})
        for i in range(3000)
    ]
    with pytest.raises(TableError, match="No space left on device"):
        write_table(path, make_table(Score, rows))
    assert read_table(path, Score).rows() == ROWS
    assert list(tiny_disk.iterdir()) == [path]


def test_a_place_below_a_file_is_refused(good):
    with pytest.raises(TableError, match="a writable place with room"):
        write_table(good / "below.parquet", good_table())
    assert read_table(good, Score).rows() == ROWS


def test_a_place_that_is_a_folder_is_refused(tmp_path):
    (tmp_path / "taken" / "inside").mkdir(parents=True)
    with pytest.raises(TableError, match="Is a directory"):
        write_table(tmp_path / "taken", good_table())
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_missing_folders_are_made(tmp_path):
    write_table(tmp_path / "artifacts" / "score" / "scores.parquet", good_table())
    path = tmp_path / "artifacts" / "score" / "scores.parquet"
    assert read_table(path, Score).rows() == ROWS
    assert list(path.parent.iterdir()) == [path]
