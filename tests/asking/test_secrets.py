"""Whatever mixture of spellings a key comes back in, nothing of it is left, and JSON stays JSON."""

from __future__ import annotations

import base64
import gzip
import json
import math
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.asking import spellings
from pipeline.asking.secrets import Secrets
from tests.asking.spellings import ALONE, CHARACTERS, LAYERS, tells

KEY = "sk-Planted/key+0123456789=ABCdef"
MASK = "[secret]"
keys = st.text(string.ascii_letters + string.digits + "-_+/=.~:", min_size=8, max_size=40).filter(
    lambda key: len(set(key.lower())) > 4
)
"""What keys are made of."""


@given(keys, st.data())
@example(KEY, None)
@settings(max_examples=300)
def test_any_mixture_of_spellings_is_cut_out_whole(key, data):
    spelt = key
    if data is not None:
        names = data.draw(st.lists(st.sampled_from(sorted(CHARACTERS)), min_size=40, max_size=40))
        spelt = "".join(
            CHARACTERS[name](character) for name, character in zip(names, key, strict=False)
        )
        for name in data.draw(st.lists(st.sampled_from(sorted(LAYERS)), max_size=3)):
            spelt = LAYERS[name](spelt)
    assert Secrets([key]).hide(f"! {spelt} !") == f"! {MASK} !"


@pytest.mark.parametrize("name", sorted(ALONE))
def test_the_search_of_these_tests_finds_every_spelling(name):
    spelt = ALONE[name](KEY)
    for text in (spelt, json.dumps({"raw": spelt}), json.dumps(json.dumps(spelt))):
        assert tells(text.encode("latin-1"), KEY)
    assert not tells(f"! {MASK} {KEY[:20]}".encode(), KEY)


@given(keys, st.sampled_from(sorted(ALONE)))
@settings(max_examples=300)
def test_every_spelling_of_a_whole_key_is_cut_out(key, name):
    hidden = Secrets([f"Bearer {key}"]).hide(f"! {ALONE[name](key)} !")
    assert hidden.replace("\0", "") == f"! {MASK} !"


@given(
    keys,
    st.text(max_size=5),
    st.text(max_size=5),
    st.sampled_from([base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes]),
)
@example(KEY, "user:", "", base64.b64encode)
@settings(max_examples=300)
def test_base64_is_cut_out_wherever_the_key_stands_in_what_it_encodes(key, before, after, encode):
    whole = encode(f"{before}{key}{after}".encode()).decode()
    hidden = Secrets([key]).hide(whole)
    left, mask, right = hidden.partition(MASK)
    assert mask
    assert whole.startswith(left)
    assert whole.endswith(right)
    size, start = len("".join(whole.split()).rstrip("=")), 8 * len(before.encode())
    assert len("".join(left.split())) <= start // 6
    assert len("".join(right.split()).rstrip("=")) <= size - math.ceil((start + 8 * len(key)) / 6)


@given(keys, st.data())
@settings(max_examples=200)
def test_json_stays_json_and_the_rest_of_it_stays_as_it_was(key, data):
    texts = st.text(st.characters(exclude_characters=string.ascii_letters + string.digits))
    before, after = data.draw(texts), data.draw(texts)
    name = data.draw(st.sampled_from(sorted(ALONE)))
    escaped = data.draw(st.booleans())
    document = {"a": [before + "\n" + ALONE[name](key) + "\n" + after], "b": 'kept \\ " \u00e9 /'}
    raw = json.dumps(document, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    hidden = json.loads(Secrets([key]).hide_bytes(raw))
    assert hidden["b"] == document["b"]
    assert hidden["a"][0].replace("\0", "").count(MASK) == 1
    assert hidden["a"][0].startswith(before)
    assert hidden["a"][0].endswith(after)


SOUP = st.lists(
    st.sampled_from([
        "\\", "\\u", "\\u00", "\\u0041", "\\x4", "\\n", "u0041", "%", "%4", "%25", "%u0041", "&",
        "&#", "&#x41;", "&amp;", "amp;", "=", "=41", "=\n", "41", "x41", " ", "\0", KEY[:20],
        KEY[20:],
    ]),
    max_size=10,
).map("".join)  # fmt: skip


@given(SOUP, st.sampled_from([*sorted(ALONE), None]), SOUP, st.sampled_from(sorted(LAYERS)))
@settings(max_examples=500)
def test_what_is_found_is_found_where_it_stands_among_escapes_of_all_kinds(
    before, name, after, layer
):
    data = LAYERS[layer](before + (ALONE[name](KEY) if name else "") + after).encode("latin-1")
    for resolved in spellings._layers(data):
        if resolved._below is not None:
            text, rebuilt, last = resolved._below[0].text, b"", 0
            for start, end, place, size in zip(*resolved._escapes, strict=True):
                rebuilt += text[last:start]
                assert len(rebuilt) == place
                rebuilt += resolved.text[place : place + size]
                last = end
            assert rebuilt + text[last:] == resolved.text
    hidden = Secrets([KEY]).hide_bytes(data)
    assert Secrets([KEY]).hide_bytes(hidden) == hidden
    assert not tells(hidden, KEY)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", sorted(ALONE))
def test_json_within_json_within_json(name, depth):
    text = ALONE[name](KEY)
    for _ in range(depth):
        text = json.dumps({"raw": text})
    hidden = Secrets([KEY]).hide(text)
    for _ in range(depth):
        hidden = json.loads(hidden)["raw"]
    assert hidden.replace("\0", "") == MASK


@pytest.mark.parametrize("length", range(8, len(KEY)))
@pytest.mark.parametrize(
    "name", ["plain", "unicode", "percent", "decimal", "double percent", "hex"]
)
def test_a_key_that_the_end_cuts_short_is_cut_out(name, length):
    whole = ALONE[name](KEY)
    step = len(ALONE[name]("s"))
    for cut in range(length * step, min((length + 1) * step, len(whole))):
        hidden = Secrets([KEY]).hide(f"! {whole[:cut]}")
        assert hidden.startswith(f"! {MASK}")
        assert len(hidden) - len(f"! {MASK}") < step


@pytest.mark.parametrize(
    "text", ["", "sk-Plan", "sk-Planted", "%", "\\", "&", "\\u00", "\ud800é%41"]
)
def test_what_is_no_key_stays_as_it_is(text):
    assert Secrets([KEY]).hide(f"{text} and more") == f"{text} and more"
    assert Secrets([]).hide_bytes(gzip.compress(text.encode("utf-8", "replace")))[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("Bearer abcdefgh", "abcdefgh"),
        ("Token abcdefgh", "abcdefgh"),
        ("Basic " + base64.b64encode(b"user:pass-word").decode(), "user:pass-word"),
        ("Basic " + base64.b64encode(b"user:pass-word").decode(), "pass-word"),
        ("two words", "two+words"),
    ],
)
def test_what_a_header_holds_is_secret_in_its_parts(value, secret):
    assert Secrets([value]).hide(f"! {secret} !") == f"! {MASK} !"


@pytest.mark.parametrize("key", ["100%25%41bcd", "a\\b\\u0041/c+", "p&lt;q&amp;+r", "key=41=3D=x"])
@pytest.mark.parametrize("layer", sorted(LAYERS))
@pytest.mark.parametrize("name", ["plain", "unicode", "percent", "decimal"])
def test_a_key_that_looks_like_an_escape_is_cut_out_too(key, layer, name):
    for spelt in (key, LAYERS[layer](key), ALONE[name](key), LAYERS[layer](ALONE[name](key))):
        assert Secrets([key]).hide(f"! {spelt} !") == f"! {MASK} !"


def test_a_text_is_never_longer_than_before():
    data = b"\\u0041%41 " + KEY.encode() * 3
    assert len(Secrets([KEY, "eight888"]).hide_bytes(data + b"eight888")) <= len(data)


def test_short_placeholders_are_no_secrets():
    assert Secrets(["Bearer ollama", "none"]).hide("ollama says none") == "ollama says none"
