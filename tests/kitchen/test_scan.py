"""The allergen scanner: words of ours, rules by kind, and the shared corpus where it is there."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ReleaseError
from pipeline.kitchen.scan import NONE_FOUND, scan, scan_all, to_document
from pipeline.kitchen.scan.finder import cut
from pipeline.kitchen.scan.lexicon import FOLDER, read_lexicon
from pipeline.kitchen.scan.scanner import _places
from schemas.folding import fold
from schemas.kitchen import FLAGS
from tests.kitchen.scan_words import WORDS
from tests.shared import SHARED, needs_shared

CORPUS = SHARED / "kitchen/scan_cases.jsonl"
CONTESTED = SHARED / "kitchen/scan_contested.jsonl"


def verdicts(text):
    return {flag: scan(text, flag).value for flag in FLAGS}


def said(text, verdict):
    return {flag for flag, found in verdicts(text).items() if found == verdict}


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.text)
def test_a_word_carries_what_it_carries(word):
    assert (said(word.text, "flag"), said(word.text, "needs_label")) == (word.carried, word.unclear)


def test_there_are_words_enough():
    assert len({word.text for word in WORDS}) >= 150


# One rule a line: the text, the flag, the verdict and the rule that decided


@pytest.mark.parametrize(
    ("text", "flag", "verdict", "rule"),
    [
        ("tarragon", "gluten", "clear", NONE_FOUND),
        ("wheat", "gluten", "flag", "word"),
        ("soy sauce", "gluten", "flag", "phrase"),
        ("onions", "ibd_trigger", "flag", "form"),
        ("nutmeg", "whole_nut", "clear", "exception"),
        ("Roggenvollkornbrot", "gluten", "flag", "compound"),
        ("120 g un", "gluten", "flag", "last word"),
        ("un poireau", "gluten", "clear", NONE_FOUND),
        ("gluten-free wraps", "gluten", "clear", "free from"),
        ("Suppe ohne Sahne", "lactose", "clear", "without"),
        ("crushed hazelnuts", "whole_nut", "clear", "state"),
        ("raw fennel", "ibd_trigger", "flag", "raw"),
        ("bouillon cube", "gluten", "needs_label", "phrase"),
    ],
)
def test_the_rule_that_decides_is_named(text, flag, verdict, rule):
    found = scan(text, flag)
    assert (found.value, found.rule) == (verdict, rule)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("gluten-free pancakes with cream", "lactose"),
        ("dairy-free wheat rolls", "gluten"),
        ("lactose-free cream with almonds", "whole_nut"),
        ("nut-free rye bread", "gluten"),
        ("pork-free honey sausages", "honey"),
        ("vegan barley stew", "gluten"),
        ("onion-free bean stew", "ibd_trigger"),
        ("rice noodles with butter", "lactose"),
        ("coconut milk and whole milk", "lactose"),
        ("peanut butter and butter", "lactose"),
        ("turkey ham with bacon", "pork"),
        ("ground almonds with walnuts", "whole_nut"),
        ("without cream but with cheese", "lactose"),
        ("chicken without skin and bacon", "pork"),
        ("gluten-free oats, wheat flour", "gluten"),
    ],
)
def test_what_clears_one_thing_clears_nothing_else(text, kept):
    assert scan(text, kept).value == "flag"


@pytest.mark.parametrize(
    "text", ["crème fraîche", "pâtes fraîches", "jalapeño", "şehriye", "Nüsse"]
)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_any_form_of_unicode_is_one_text(text, form):
    assert verdicts(unicodedata.normalize(form, text)) == verdicts(text)
    assert said(text, "flag")


@pytest.mark.parametrize(
    "mark", [" ", "-", "\u00a0", "\u2009", "\u2011", "\u2013", "\u2212", "\u3000", "\t"]
)
def test_dashes_and_blanks_of_any_kind_are_one_separator(mark):
    assert scan(f"soy{mark}sauce", "gluten").value == "flag"
    assert scan(f"gluten{mark}free bread", "gluten").value == "clear"


@pytest.mark.parametrize("mark", ["\u200b", "\u200d", "\u00ad", "\ufeff", "\u2060"])
def test_invisible_characters_hide_nothing(mark):
    assert scan(f"ba{mark}con", "pork").value == "flag"


@pytest.mark.parametrize(
    "text", ["KIRMIZI SOĞAN", "kırmızı soğan", "Kırmızı Soğan", "kirmizi sogan"]
)
def test_turkish_capitals_meet_small_letters(text):
    assert scan(text, "ibd_trigger").value == "flag"


def test_a_phrase_does_not_reach_over_a_mark():
    assert scan("coconut, milk", "lactose").value == "flag"
    assert scan("rice, noodles", "gluten").value == "flag"


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.text)
def test_a_text_says_the_same_in_capitals_and_in_a_list(word):
    assert verdicts(word.text.upper()) == verdicts(word.text) or "ß" in word.text
    listed = verdicts(f"salt; {word.text}; water") if " un" not in word.text else {}
    assert all(listed.get(flag, "flag") == "flag" for flag in word.carried)


def test_no_text_is_called_safe():
    assert "safe" not in json.dumps([to_document(word.text) for word in WORDS])


@given(st.text(max_size=80))
def test_any_text_has_a_verdict_and_its_spans_lie_in_it(text):
    document = to_document(text)
    assert {document[flag] for flag in FLAGS} <= {"flag", "clear", "needs_label"}
    for span in document["spans"]:
        assert text[span["start"] : span["end"]] == span["text"]
        assert fold(span["text"]).strip()


@given(st.text(alphabet="aıİIßéé '\u02bc-\u0301\u200bﬁⅷ½", max_size=20))
def test_places_of_tokens_are_those_of_the_folded_text(text):
    words = [fold(text[start:end]) for start, end in _places(text)]
    assert len(words) == len(cut(text).tokens)


# The lexicon


def test_the_lexicon_has_one_digest():
    assert read_lexicon().digest == read_lexicon.__wrapped__(FOLDER).digest
    assert len(read_lexicon().digest) == 64


def copied(tmp_path, name="", line=""):
    for path in FOLDER.glob("*.csv"):
        text = path.read_text("utf-8") + (line + "\n" if path.name == name else "")
        (tmp_path / path.name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("lexicon.csv", "gluten,wheat,clear,word,en,seitan"),
        ("lexicon.csv", "peanut,nut,carrier,word,en,goober"),
        ("lexicon.csv", "gluten,wheat,maybe,word,en,goober"),
        ("lexicon.csv", "gluten,wheat,carrier,sound,en,goober"),
        ("lexicon.csv", "gluten,wheat,carrier,word,en,{nowhere} bread"),
        ("lexicon.csv", "gluten,wheat,carrier,word,en,a||b"),
        ("modifiers.csv", "quality,glue,-,gluey"),
        ("classes.csv", "plant,again"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(tmp_path, name, line):
    with pytest.raises(ReleaseError, match=name):
        read_lexicon.__wrapped__(copied(tmp_path, name, line))


def test_another_row_is_another_digest(tmp_path):
    other = read_lexicon.__wrapped__(
        copied(tmp_path, "lexicon.csv", "gluten,wheat,carrier,word,en,goober")
    )
    assert other.digest != read_lexicon().digest


# The shared corpus


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@needs_shared
@pytest.mark.parametrize("flag", FLAGS)
def test_the_corpus_has_full_recall_and_high_precision(flag):
    found = [(row[flag], scan(row["text"], flag).value == "flag") for row in rows(CORPUS)]
    right = found.count((True, True))
    assert right == sum(true for true, _ in found) > 0
    assert right >= 0.98 * sum(flagged for _, flagged in found)


@needs_shared
def test_contested_rows_are_never_said_the_wrong_way_round():
    for row in rows(CONTESTED):
        for flag in FLAGS:
            wrong = "clear" if row[flag] else "flag"
            assert scan(row["text"], flag).value != wrong, (row["text"], flag)


@needs_shared
def test_what_differs_by_brand_is_left_to_the_label():
    texts = {"stock cube": "gluten", "bouillon": "gluten", "sausages": "pork", "gelatine": "pork"}
    for row in rows(CONTESTED):
        for part, flag in texts.items():
            if part in row["text"]:
                assert scan(row["text"], flag).value == "needs_label"


def test_a_scan_remembers_nothing_of_the_text_before():
    assert scan_all("bacon") != scan_all("salt") == scan_all("water")
