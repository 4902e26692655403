"""A reply's text becomes one strict object, or the first fault from the left is named."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.kitchen.parse import strict
from pipeline.kitchen.parse.reader import MAX_BYTES, read_object
from pipeline.kitchen.parse.regions import region_of
from schemas.meals import WrittenNumber
from schemas.replies import Fault, Form


def outcome(text, **how):
    _, form, fault = read_object(text if isinstance(text, bytes) else text.encode(), **how)
    return form or fault


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('{"a":1,"a" 2}', Fault.DUPLICATE_KEY),
        ('{"a":1,"a":NaN}', Fault.DUPLICATE_KEY),
        ('{"a":NaN,"a":1}', Fault.NON_FINITE),
        ('{"a":-Infinity}', Fault.NON_FINITE),
        ('{"a":+Infinity}', Fault.SYNTAX),
        ('{"a":1' + "0" * 400 + "}", Fault.NON_FINITE),
        ('{"a":1e99999999999999999999}', Fault.NON_FINITE),
        ('{"a":1e-99999999999999999999}', Form.WHOLE),
        ('{"a":.5}', Fault.SYNTAX),
        ('{"a":5.}', Fault.SYNTAX),
        ('{"a":-}', Fault.SYNTAX),
        ('{"a":1,,}', Fault.SYNTAX),
        ('{"a":[1,}', Fault.TRUNCATED),
        ('{"a":[1,}}', Fault.TRAILING_COMMA),
        ('{"a":[1}}', Fault.SYNTAX),
        ('{"a":[,]}', Fault.SYNTAX),
        ('{"a":1,/*x*/}', Fault.COMMENT),
        ('{"a":1,#x\n}', Fault.COMMENT),
        ('{"a":/1}', Fault.SYNTAX),
        ('{"a":"// no"}', Form.WHOLE),
        ('{"a":"\\udc00"}', Fault.BAD_UNICODE),
        ('{"a":"\\ud83d\\ude00"}', Form.WHOLE),
        ('{"a":"\\ud83dx"}', Fault.BAD_UNICODE),
        ('{"\\ud800":1}', Fault.BAD_UNICODE),
        ('{"a":"\\x"}', Fault.SYNTAX),
        ('{"a":"\t"}', Fault.SYNTAX),
        ('{"a":nul}', Fault.SYNTAX),
        ('{"a":\u00a01}', Fault.SYNTAX),
        ('{"a":' + "[" * 64 + "]" * 64 + "}", Fault.TOO_DEEP),
        ('{"a":' + "[" * 63 + "]" * 63 + "}", Form.WHOLE),
        ('{"a":[' + "{}," * 100 + "{}]}", Form.WHOLE),
        ("{four} {", Fault.SYNTAX),
        ("x {four} [1] }", Fault.NO_OBJECT),
        ("see [1]\n[ {}]", Fault.NOT_OBJECT),
        ('{"a":1}{"b":', Fault.TRUNCATED),
        ("\ufeff\ufeff{}", Form.PROSE),
        ("```\n{}\n```  ", Form.FENCED),
        ("```\n{}\n ```` \nx", Form.FENCED),
        ("````\n{}\n```\n", Fault.TRUNCATED),
        ("~~~ ```\n{}\n~~~", Form.FENCED),
        ("x\n    ```\n{}\n    ```", Form.PROSE),
        ("   ```\n{}\n    ```", Fault.TRUNCATED),
        ("``` `\n{}\n```", Form.PROSE),
        ("```\r\n{}\r\n```\r\nx", Form.FENCED),
        ("```\n{}\n```x\n```", Fault.SYNTAX),
        ('```\n{} {"b":1}\n```', Fault.SEVERAL_OBJECTS),
        ("```\n{} [1]\n```", Fault.SYNTAX),
        ("```\n{}\n```\nso { 'b' }", Fault.SEVERAL_OBJECTS),
        ("```\n{}\n```\n```\n[", Fault.SEVERAL_OBJECTS),
        ("```\nmilk\n```\n```\n{}\n```", Form.FENCED),
        ("```\nmilk {}", Form.PROSE),
        (b"\xff{}", Fault.BAD_UNICODE),
    ],
)
def test_each_text_has_its_outcome(text, want):
    assert outcome(text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b"{}" + b" " * (MAX_BYTES - 2), Form.WHOLE),
        (b"{}" + b" " * (MAX_BYTES - 1), Fault.TOO_LARGE),
        ("[" * 10**6, Fault.TRUNCATED),
        ('{"a":"' + "\\" * 10**6, Fault.TRUNCATED),
        ("[{" * 5 + '"' * 10**6, Fault.TRUNCATED),
    ],
    ids=["at the limit", "too large", "lists", "backslashes", "quotes"],
)
def test_a_long_text_has_its_outcome(text, want):
    assert outcome(text) == want


def test_a_reply_that_was_cut_is_not_looked_at():
    assert outcome("{}", cut=True) is Fault.TRUNCATED


def test_numbers_are_exact():
    value, *_ = read_object(b'{"a":-0,"b":12.500,"c":1E2,"d":9007199254740993}')
    assert value == {
        "a": 0,
        "b": WrittenNumber("12.500"),
        "c": WrittenNumber("1E2"),
        "d": 9007199254740993,
    }


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
def test_what_a_library_writes_is_read_back(value, ascii_only):
    try:
        text = json.dumps(value, ensure_ascii=ascii_only)
        text.encode()
    except (UnicodeEncodeError, ValueError):
        return
    found, form, fault = read_object(text.encode())
    plain = json.loads(text)
    finite = json.dumps(plain, ensure_ascii=True).find("NaN") < 0
    if fault is None:
        assert form is Form.WHOLE
        assert shown(found) == shown(json.loads(text, parse_float=WrittenNumber))
    else:
        assert fault is Fault.NON_FINITE
        assert not finite or "Infinity" in text or re.search(r"\d{309}", text)


def shown(value):
    return json.dumps(value, sort_keys=True, default=str)


PIECES = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", ",", ":", '"', '"a"', '"b"', "\\", "1", "-0", "01", "1.5", "1e400",
         "NaN", "true", "null", " ", "\n", "//", "#", "'", '"\\ud800"', '"\\u00e9"', "x"]
    ),
    max_size=14,
)  # fmt: skip


@given(PIECES.map("".join))
@example('{"a":1,}')
@example('{"a":[1]}')
def test_the_fast_way_and_the_slow_way_agree(text):
    """The library's parser is a shortcut: without it, the same value or the same fault."""
    text = "{" + text
    fast = strict.read_value(text, region_of(text, 0))
    reader = strict._Reader(text)
    try:
        slow = (reader.value(0, 1), reader.place, None)
    except strict._Found as found:
        slow = (None, len(text), found.fault)
    assert fast == slow


def simple_reading(text):
    """What is valid, and nothing on why not: the library's parser with our bounds."""

    def pairs(items):
        if len({key for key, _ in items}) < len(items):
            raise ValueError
        return dict(items)

    def finite(number):
        if math.isinf(float(number)):
            raise ValueError
        return Decimal(number)

    def refused(_):
        raise ValueError

    try:
        value = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_float=finite,
            parse_int=finite,
            parse_constant=refused,
        )
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except ValueError:
        return False
    return True


@given(PIECES.map("".join))
def test_an_object_is_whole_exactly_where_a_simple_reading_takes_it(text):
    text = "{" + text.strip() + "}"
    found = read_object(text.encode())
    assert (found.form is Form.WHOLE) == simple_reading(text)


@given(st.text(alphabet="{}[]\"'\\`~ \n\r\tab1,:/#", max_size=60))
def test_any_text_has_exactly_one_outcome(text):
    value, form, fault = read_object(text.encode())
    assert (value is None) == (form is None) == (fault is not None)
    assert fault is not Fault.SCHEMA
