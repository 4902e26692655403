import errno
import itertools
import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import tags
from pipeline.errors import ExecuteError, ReleaseError, TableError
from pipeline.files import parse_json, read_bytes, read_csv, read_json, replacing, write_bytes
from schemas.release import CUISINES
from tests.shared import SHARED, needs_shared

# Reading bytes


def test_a_regular_file_is_read_up_to_its_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bytes(tmp_path / "a", 5, ReleaseError) == b"12345"
    (tmp_path / "empty").write_bytes(b"")
    assert read_bytes(tmp_path / "empty", 0, ReleaseError) == b""


def too_large(folder):
    (folder / "x").write_bytes(b"123456")
    return folder / "x", "at most 5 bytes, found 6"


def missing(folder):
    return folder / "x", "No such file or directory"


def symlink(folder):
    (folder / "target").write_bytes(b"1")
    (folder / "x").symlink_to("target")
    return folder / "x", "a symbolic link"


def symlink_to_nothing(folder):
    (folder / "x").symlink_to("nowhere")
    return folder / "x", "a symbolic link"


def symlink_to_itself(folder):
    (folder / "x").symlink_to("x")
    return folder / "x", "a symbolic link"


def folder_for_a_file(folder):
    (folder / "x").mkdir()
    return folder / "x", "a regular file, found something else"


def pipe_without_a_writer(folder):
    os.mkfifo(folder / "x")
    return folder / "x", "a regular file, found something else"


def device(_):
    return Path(os.devnull), "a regular file, found something else"


def below_a_file(folder):
    (folder / "file").write_bytes(b"1")
    return folder / "file" / "x", "Not a directory"


def name_too_long(folder):
    return folder / ("x" * 300), "File name too long"


def name_with_a_nul(folder):
    return folder / "x\0y", "null byte"


UNREADABLE = [
    too_large,
    missing,
    symlink,
    symlink_to_nothing,
    symlink_to_itself,
    folder_for_a_file,
    pipe_without_a_writer,
    device,
    below_a_file,
    name_too_long,
    name_with_a_nul,
]


@pytest.mark.parametrize("error", [ReleaseError, ExecuteError])
@pytest.mark.parametrize("make", UNREADABLE, ids=lambda make: make.__name__)
def test_what_is_no_bounded_regular_file_is_refused_and_nothing_stays_open(tmp_path, make, error):
    path, said = make(tmp_path)
    before = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(error, match=said) as caught:
        read_bytes(path, 5, error)
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert str(caught.value).isprintable()
    assert path.name[-50:].replace("\0", "\\u0000") in caught.value.where


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "growing"
    path.write_bytes(b"12345")
    seen = os.fstat

    def grow(descriptor):
        status = seen(descriptor)
        with path.open("ab") as stream:
            stream.write(b"678")
        return status

    monkeypatch.setattr(os, "fstat", grow)
    with pytest.raises(ReleaseError, match="at most 5 bytes, found 6"):
        read_bytes(path, 5, ReleaseError)


# Strict JSON

REFUSED = {
    "key_twice": (b'{"a":1,"a":2}', "every key once, found key 'a' twice"),
    "key_twice_with_one_value": (b'{"a":1,"a":1}', "key 'a' twice"),
    "key_twice_in_a_list": (b'[{"x":[{"b":1,"b":1}]}]', "key 'b' twice"),
    "key_twice_by_escape": (b'{"a":1,"\\u0061":2}', "key 'a' twice"),
    "empty_key_twice": (b'{"":1,"":2}', "key '' twice"),
    "first_key_twice_of_two": (b'{"a":1,"b":1,"a":2,"b":2}', "key 'a' twice"),
    "nan": (b"[NaN]", "finite numbers, found NaN"),
    "infinity": (b'{"a":Infinity}', "finite numbers, found Infinity"),
    "minus_infinity": (b"-Infinity", "finite numbers, found -Infinity"),
    "overflow": (b"1e999", "finite numbers, found 1e999"),
    "minus_overflow": (b'{"a":[-1e999]}', "finite numbers, found -1e999"),
    "integer_beyond_floats": (b"1" * 301, "integers of at most 300 digits, found 301 digits"),
    "integer_of_thousands": (b"[-" + b"9" * 5000 + b"]", "integers of at most 300 digits"),
    "lone_high_surrogate": (b'["\\ud800"]', "lone surrogates"),
    "lone_low_surrogate": (b'{"a":"\\udc00"}', "lone surrogates"),
    "surrogates_reversed": (b'"\\ude00\\ud83d"', "lone surrogates"),
    "lone_surrogate_in_key": (b'{"\\ud800":1}', "lone surrogates"),
    "bom": (b"\xef\xbb\xbf{}", "BOM"),
    "utf_16": ('{"a":1}'.encode("utf-16"), "UTF-8"),
    "latin_1": (b'{"a":"\xe9"}', "UTF-8, found byte 6"),
    "surrogate_in_utf_8": (b'"\xed\xa0\x80"', "UTF-8, found byte 1"),
    "overlong_utf_8": (b'"\xc0\xaf"', "UTF-8, found byte 1"),
    "empty": (b"", "JSON"),
    "blank": (b" \n", "JSON"),
    "cut_in_object": (b'{"a":1', "JSON"),
    "cut_in_text": (b'{"a":"b', "JSON"),
    "cut_in_character": ('"ñ'.encode()[:-1], "UTF-8"),
    "two_documents": (b"{} {}", "JSON, found Extra data"),
    "trailing_comma": (b"[1,]", "JSON"),
    "single_quotes": (b"{'a':1}", "JSON"),
    "comment": (b"[1] // one", "JSON"),
    "leading_zero": (b"01", "JSON"),
    "plus": (b"+1", "JSON"),
    "hexadecimal": (b"0x10", "JSON"),
    "bare_point": (b"[1.]", "JSON"),
    "control_character": (b'"\t"', "JSON"),
    "bare_key": (b"{a:1}", "JSON"),
    "python_constants": (b"[True]", "JSON"),
    "deep_lists": (b"[" * 65 + b"]" * 65, "nesting of at most 64"),
    "deep_objects": (b'{"a":' * 65 + b"1" + b"}" * 65, "nesting of at most 64"),
    "bottomless_lists": (b"[" * 1_000_000, "nesting of at most 64"),
    "bottomless_objects": (b'{"a":' * 100_000, "nesting of at most 64"),
    "deep_after_closing_marks": (b'["]]]]"' + b",[" * 70, "nesting of at most 64"),
    "deep_after_an_escaped_quote": (b'["\\"",' + b"[" * 70, "nesting of at most 64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_strict_json_is_refused(name):
    data, said = REFUSED[name]
    with pytest.raises(ReleaseError) as caught:
        parse_json(data, "plan.json", ReleaseError)
    assert caught.value.where == "plan.json"
    assert said in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"null", None),
        (b' {"a": [1, -2.5, true, null, "x"]}\n', {"a": [1, -2.5, True, None, "x"]}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b"9007199254740993", 2**53 + 1),
        (b"9" * 300, int("9" * 300)),
        (b"1e308", 1e308),
        (b"[" * 64 + b"]" * 64, json.loads("[" * 64 + "]" * 64)),
        (b"[" + b"[]," * 100 + b"[]]", [[]] * 101),
        (json.dumps("[{" * 100).encode(), "[{" * 100),
        (json.dumps('\\"' + "[" * 100).encode(), '\\"' + "[" * 100),
        (b'[{"a":1},{"a":2}]', [{"a": 1}, {"a": 2}]),
        (b'{"a":{"a":{"a":1}}}', {"a": {"a": {"a": 1}}}),
    ],
    ids=itertools.count(),
)
def test_strict_json_is_read_exactly(data, value):
    found = parse_json(data, "x", ReleaseError)
    assert found == value
    assert json.dumps(found) == json.dumps(value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=10,
)


@settings(deadline=None, max_examples=100)
@given(JSON, st.booleans())
def test_what_json_writes_is_read_back(value, ascii_only):
    data = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert parse_json(data, "x", ReleaseError) == value


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=40) | st.text('[]{}",:\\ud8019eE+-.ntfaI ', max_size=30).map(str.encode))
def test_any_bytes_are_read_as_json_reads_them_or_refused(data):
    try:
        value = parse_json(data, "x", ReleaseError)
    except ReleaseError:
        return
    assert json.loads(data) == value


def test_a_key_twice_among_many_is_found_at_once():
    """Comparing every key with every other would take hours here."""
    keys = ",".join(f'"{i}":0' for i in range(200_000))
    with pytest.raises(ReleaseError, match="key '199999' twice"):
        parse_json(f'{{{keys},"199999":1}}'.encode(), "x", ReleaseError)


def test_json_files_are_bounded_and_named(tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(b'{"a": 1}')
    assert read_json(path, 8, ReleaseError) == {"a": 1}
    with pytest.raises(ReleaseError, match="at most 7 bytes, found 8"):
        read_json(path, 7, ReleaseError)
    path.write_bytes(b'{"a": 1')
    with pytest.raises(ReleaseError, match=r"plan\.json: expected JSON"):
        read_json(path, 8, ReleaseError)


@needs_shared
def test_reported_case_fb_030_all_three_are_refused():
    lines = (SHARED / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    (case,) = (case for case in map(json.loads, lines) if case["id"] == "FB-030")
    said = ["key 'kcal' twice", "found NaN", "found 1e999"]
    for text, part in zip(case["input"], said, strict=True):
        with pytest.raises(ExecuteError, match=part):
            parse_json(text.encode(), "FB-030", ExecuteError)


# Writing: whole or not at all


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "new" / "folder" / "x.json"
    write_bytes(path, b"first")
    write_bytes(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(path.parent.iterdir()) == [path]


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        temporary.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_data_reach_the_disk_before_the_name_does(tmp_path, monkeypatch):
    order = []
    sync, replace = os.fsync, Path.replace

    def note_sync(descriptor):
        order.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "data")
        sync(descriptor)

    def note_replace(self, target):
        order.append("name")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_replace)
    write_bytes(tmp_path / "x", b"new")
    assert order == ["data", "name", "folder"]


def failing(error):
    def fail(*_arguments, **_options):
        raise error

    return fail


@pytest.mark.parametrize("step", ["write_bytes", "open", "replace", "mkdir"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_step_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path, monkeypatch, step, code
):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(Path, step, failing(OSError(code, os.strerror(code))))
        with pytest.raises(TableError, match=os.strerror(code)) as caught:
            write_bytes(path, b"new")
    assert caught.value.where == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def half_written(path, stop):
    with replacing(path) as temporary:
        temporary.write_bytes(b"half")
        raise stop


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError, json.JSONDecodeError("", "", 0)])
def test_a_block_that_ends_badly_leaves_the_old_file_and_nothing_beside_it(tmp_path, stop):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(type(stop) if isinstance(stop, Exception) else stop):
        half_written(path, stop)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_wrote_nothing_is_refused(tmp_path):
    with pytest.raises(TableError, match="No such file"), replacing(tmp_path / "x"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "place", ["file/x", "file/deeper/x", "taken", "x" * 255, "x" * 300], ids=range(5)
)
def test_a_place_that_cannot_be_written_is_refused(tmp_path, place):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "taken" / "inside").mkdir(parents=True)
    with pytest.raises(TableError, match="a writable place with room"):
        write_bytes(tmp_path / place, b"new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "taken"]
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into every folder")
def test_a_folder_without_leave_to_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "kept" / "x"
    write_bytes(path, b"old")
    path.parent.chmod(0o500)
    with pytest.raises(TableError, match="Permission denied"):
        write_bytes(path, b"new")
    path.parent.chmod(0o700)
    assert path.read_bytes() == b"old"


# Tags in CSV files

CSV = "name,region\nmiso,Japanese\nbasil,universal\n"
COLUMNS = ("name", "region")


def csv_rows(folder, data):
    (folder / "tags.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(read_csv(folder / "tags.csv", COLUMNS, ReleaseError))


def test_rows_of_csv_come_with_their_place(tmp_path):
    path = tmp_path / "tags.csv"
    wanted = [
        (f"{path}, row 2", {"name": "miso", "region": "Japanese"}),
        (f"{path}, row 3", {"name": "basil", "region": "universal"}),
    ]
    assert csv_rows(tmp_path, CSV) == wanted
    assert csv_rows(tmp_path, CSV.replace("\n", "\r\n")) == wanted
    assert csv_rows(tmp_path, b"\xef\xbb\xbf" + CSV.encode()) == wanted
    assert csv_rows(tmp_path, "name,region\n") == []


def test_quotes_and_more_columns_are_read(tmp_path):
    ((_, row),) = csv_rows(tmp_path, 'more,region,name\n"a ""b"", c",Japanese,miso\n')
    assert row == {"more": 'a "b", c', "region": "Japanese", "name": "miso"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no column name, region"),
        (b"name\nmiso\n", "no column region"),
        (b"name,region,name\n", "a column twice"),
        (b"Name,Region\n", "no column name, region"),
        (b"name,region\nmiso\n", "row 2: expected 2 fields, found 1"),
        (b"name,region\nmiso,Japanese\nmiso,Japanese,3\n", "row 3: expected 2 fields, found 3"),
        (b"name,region\n\n", "row 2: expected 2 fields, found 0"),
        (b"name,region\nmiso,\xe9\n", "UTF-8"),
        (b'name,region\n"miso,Japanese\n', "CSV"),
        (b'name,region\n"mi"so,Japanese\n', "CSV"),
        (b"name,region\n" + b"x" * 10_001 + b",Japanese\n", "field larger than field limit"),
    ],
)
def test_csv_that_is_not_sound_is_refused_with_its_place(tmp_path, data, said):
    with pytest.raises(ReleaseError, match=r"tags\.csv") as caught:
        csv_rows(tmp_path, data)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("universal", ("universal",)),
        ("Japanese", ("Japanese",)),
        ("Mediterranean;Japanese", ("Japanese", "Mediterranean")),
        (";".join(reversed(CUISINES)), CUISINES),
    ],
)
def test_regions_come_in_the_order_of_the_cuisines(text, found):
    assert tags.regions(text, "x") == found


@pytest.mark.parametrize(
    ("check", "text"),
    [
        *((tags.regions, t) for t in ("", "japanese", "Japanese;", "Japanese;Japanese")),
        *((tags.regions, t) for t in ("universal;Japanese", "universal;universal", "Japanese,x")),
        *((tags.placed, t) for t in ("", "herb", "Herb ", "Herbs")),
        *((tags.nova, t) for t in ("0", "5", "1.5", "1.00", "-1", "NaN", " 1", "1\n", "\u0661")),
        *((tags.whole_number, t) for t in ("", "-1", "1.0", "+1", "1e3", " 1", "1\n", "\u0661")),
        (tags.whole_number, "1" * 16),
    ],
)
def test_a_tag_out_of_its_range_is_refused_with_its_place(check, text):
    with pytest.raises(ReleaseError, match=r"^tags\.csv, row 7"):
        check(text, "tags.csv, row 7")


def test_tags_within_their_range_are_read():
    assert [tags.nova(t, "x") for t in ("1", "4", "2.0", "", "nan")] == [1, 4, 2, None, None]
    assert [tags.whole_number(t, "x") for t in ("0", "007", "9" * 15)] == [0, 7, 10**15 - 1]
    assert [tags.placed(t, "x") for t in ("Herb", "Pantry")] == ["Herb", "Pantry"]
    assert tags.diet("True", "false", "x") == {"vegetarian": True, "vegan": False}


@pytest.mark.parametrize(
    ("vegetarian", "vegan", "field"),
    [("yes", "false", "vegetarian"), ("true", "1", "vegan"), ("", "", "vegetarian")],
)
def test_a_diet_flag_is_true_or_false(vegetarian, vegan, field):
    with pytest.raises(ReleaseError, match=f"x, {field}: expected true or false"):
        tags.diet(vegetarian, vegan, "x")


def test_vegan_implies_vegetarian():
    with pytest.raises(ReleaseError, match="vegan only with vegetarian"):
        tags.diet("false", "true", "x")
