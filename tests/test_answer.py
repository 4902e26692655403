"""The answer text rules (spec 3): what counts as the answer in stored bytes."""

from __future__ import annotations

import json
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answer import AnswerRule, answer_rule_digest, answer_text
from pipeline.identity import digest

ANSWER = "Fat carries it.\nFINAL_SELECTION: A, C, F\n"


def chat(content, **message):
    """A chat completion's body as a provider sends it."""
    body = {
        "id": "x1",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **message}},
            {"index": 1, "message": {"role": "assistant", "content": "the second choice"}},
        ],
        "usage": {"prompt_tokens": 210, "completion_tokens": 64},
    }
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def read(text, rule="message"):
    """The answer in a text, which must be the same in both forms."""
    plain = answer_text(text.encode("utf-8"), "text", rule)
    assert answer_text(chat(text), "chat", rule) == plain
    assert answer_text(chat([{"type": "text", "text": text}]), "chat", rule) == plain
    return plain


class TestRules:
    def test_their_digests_are_pinned(self):
        assert {rule: answer_rule_digest(rule) for rule in typing.get_args(AnswerRule)} == {
            "message": "d9c7547cd9a2623ba8be17b86119689bf38bd6e2cd895ec42a80fe46077aaf98",
            "verbatim": "d8449162a0e6eede36d25b7ef6642ebb4647eeda0bde37dc02fad3d02f3cfe6a",
        }

    def test_a_digest_covers_name_and_wording(self):
        assert answer_rule_digest("verbatim") == digest(
            "answer-rule", {"name": "verbatim", "says": ["the stored text is the answer"]}
        )


class TestMessageRule:
    @pytest.mark.parametrize("text", [ANSWER, "x", " \n", "é𝄞", "a\r\nb", "\x00", "<think>"])
    def test_plain_text_is_the_answer_as_it_stands(self, text):
        assert read(text) == text

    @pytest.mark.parametrize(
        "thought",
        [
            "<think>A, B, D?</think>",
            "<think></think>",
            "<think>one\ntwo\r\n\x85three</think>\n\n",
            " \n\t<think>FINAL_SELECTION: A, B, D</think> \n",
            "<think>a < b > c </thin> &</think>",
            "<think>once <think> more</think>",
        ],
    )
    def test_one_leading_closed_block_is_cut(self, thought):
        assert read(thought + ANSWER) == ANSWER

    def test_only_one_block_is_cut(self):
        assert read(f"<think>a</think><think>b</think>{ANSWER}") == f"<think>b</think>{ANSWER}"

    @pytest.mark.parametrize(
        "text",
        [
            f"<think>never closed\n{ANSWER}",
            f"<think>never closed</thinking>\n{ANSWER}",
            f"So: <think>in the middle</think>\n{ANSWER}",
            f"{ANSWER}<think>at the end</think>",
            f".<think>after a stop</think>{ANSWER}",
            f"</think>{ANSWER}",
            f"<thinking>another mark</thinking>{ANSWER}",
            f"<THINK>another case</THINK>{ANSWER}",
            f"&lt;think&gt;escaped&lt;/think&gt;{ANSWER}",
        ],
    )
    def test_any_other_thinking_is_left(self, text):
        assert read(text) == text

    @pytest.mark.parametrize(
        "text", ["", "<think>only reasoning</think>", "\n<think></think>\n\n", "<think>a</think> "]
    )
    def test_nothing_but_reasoning_is_no_answer(self, text):
        assert read(text) is None

    @given(st.text())
    def test_every_text_without_a_think_mark_is_its_own_answer(self, text):
        if "<think>" not in text:
            assert read(text) == (text or None)

    @given(st.text().filter(lambda text: "</think>" not in text), st.text(min_size=1))
    def test_what_follows_a_closed_block_is_the_answer(self, thought, text):
        rest = text.lstrip()
        assert read(f"<think>{thought}</think>{text}") == (rest or None)

    def test_a_long_unclosed_block_is_read_in_linear_time(self):
        text = "<think>" * 100_000 + " " * 100_000
        assert read(text) == text


class TestVerbatimRule:
    @pytest.mark.parametrize(
        "text", ["", ANSWER, f"<think>a</think>\n{ANSWER}", " <think>a</think> ", " "]
    )
    def test_the_stored_text_is_the_answer(self, text):
        assert read(text, "verbatim") == text

    @given(st.text())
    def test_every_text_is_its_own_answer(self, text):
        assert answer_text(text.encode("utf-8"), "text", "verbatim") == text


@pytest.mark.parametrize("rule", typing.get_args(AnswerRule))
class TestBytes:
    @pytest.mark.parametrize(
        "raw",
        [b"\xff", b"caf\xe9", b"\xed\xa0\x80", b"A\xc3", b"\xc0\x80", ANSWER.encode("utf-16")],
        ids=["byte-ff", "latin-1", "surrogate", "cut-short", "overlong", "utf-16"],
    )
    def test_bytes_that_are_no_utf8_hold_no_answer(self, rule, raw):
        assert answer_text(raw, "text", rule) is None
        assert (
            answer_text(b'{"choices":[{"message":{"content":"' + raw + b'"}}]}', "chat", rule)
            is None
        )

    @given(st.binary())
    def test_no_bytes_raise(self, rule, raw):
        for form in ("text", "chat"):
            found = answer_text(raw, form, rule)
            assert found is None or isinstance(found, str)

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"null",
            b"3",
            b'"FINAL_SELECTION: A, B, C"',
            b"[]",
            b"[1]",
            b"{}",
            b"{",
            b"FINAL_SELECTION: A, B, C",
            b'{"choices":null}',
            b'{"choices":{}}',
            b'{"choices":"x"}',
            b'{"choices":[]}',
            b'{"choices":[null]}',
            b'{"choices":[[]]}',
            b'{"choices":[{}]}',
            b'{"choices":[{"message":null}]}',
            b'{"choices":[{"message":"x"}]}',
            b'{"choices":[{"message":{}}]}',
            b'{"choices":[{"text":"x"}]}',
            b'{"choices":[{"delta":{"content":"x"}}]}',
            b'{"error":{"code":429,"message":"upstream busy"}}',
            b'\xef\xbb\xbf{"choices":[{"message":{"content":"x"}}]}',
            b'{"choices":[{"message":{"content":"x"}}]} {}',
            b'{"choices":[{"message":{"content":"x"}}],"n":NaN}',
            b'{"choices":[{"message":{"content":"x"}}],"n":1e999}',
            b'{"choices":[{"message":{"content":"\\ud800"}}]}',
            b'{"choices":[{"message":{"content":"x"}}],"n":' + b"[" * 99 + b"]" * 99 + b"}",
            b"[" * 100_000,
            b'{"choices":[{"message":{"content":"x"}}],"n":' + b"9" * 5_000 + b"}",
        ],
        ids=lambda body: body[:48].decode("utf-8", "replace") or "empty",
    )
    def test_a_body_of_another_shape_holds_no_answer(self, rule, body):
        assert answer_text(body, "chat", rule) is None

    @pytest.mark.parametrize(
        "body",
        [
            b'{"choices":[{"message":{"content":"a"}}],"choices":[{"message":{"content":"a"}}]}',
            b'{"choices":[{"message":{"content":"a"},"message":{"content":"b"}}]}',
            b'{"choices":[{"message":{"content":"a","content":"b"}}]}',
            b'{"choices":[{"message":{"content":"a"}}],"usage":{"n":1,"n":1}}',
            b'{"choices":[{"message":{"content":"a"}}],"a":1,"\\u0061":2}',
        ],
        ids=["choices", "message", "content", "elsewhere", "escaped"],
    )
    def test_a_body_with_a_key_twice_holds_no_answer(self, rule, body):
        assert answer_text(body, "chat", rule) is None

    @pytest.mark.parametrize("content", [None, 7, True, 1.5, {}, {"text": ANSWER}, []])
    def test_content_that_is_neither_text_nor_parts_is_no_answer(self, rule, content):
        assert answer_text(chat(content), "chat", rule) is None

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking", "refusal"])
    @pytest.mark.parametrize("content", [None, [], [{"type": "thinking", "thinking": "x"}]])
    def test_fb_012_reasoning_alone_is_no_answer(self, rule, field, content):
        body = chat(content, **{field: "Maybe FINAL_SELECTION: A, C, F ... let me check D"})
        assert answer_text(body, "chat", rule) is None

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
    def test_reasoning_beside_an_answer_does_not_count(self, rule, field):
        body = chat(ANSWER, **{field: "FINAL_SELECTION: B, D, H"})
        assert answer_text(body, "chat", rule) == ANSWER

    def test_fb_013_text_parts_are_joined_in_order_with_nothing_between(self, rule):
        thought = [{"type": "text", "text": "Try FINAL_SELECTION: B, D, H first"}]
        parts = [
            {"type": "thinking", "thinking": thought},
            {"type": "text", "text": "FINAL_SELECTION: "},
            {"type": "text", "text": "A, C, F"},
        ]
        assert answer_text(chat(parts), "chat", rule) == "FINAL_SELECTION: A, C, F"

    @pytest.mark.parametrize(
        "part",
        [
            None,
            "text",
            [],
            {},
            {"type": "text"},
            {"type": "text", "text": None},
            {"type": "text", "text": 5},
            {"type": "reasoning", "text": "FINAL_SELECTION: B, D, H"},
            {"type": "thinking", "text": "FINAL_SELECTION: B, D, H"},
            {"text": "FINAL_SELECTION: B, D, H"},
            {"type": ["text"], "text": "FINAL_SELECTION: B, D, H"},
        ],
    )
    def test_a_part_that_is_no_text_is_passed_over(self, rule, part):
        text = {"type": "text", "text": ANSWER}
        assert answer_text(chat([part, text]), "chat", rule) == ANSWER
        assert answer_text(chat([text, part]), "chat", rule) == ANSWER
        assert answer_text(chat([part]), "chat", rule) is None


def test_a_think_block_spread_over_parts_is_cut_after_joining():
    parts = [
        {"type": "text", "text": "<think>hm</th"},
        {"type": "text", "text": f"ink>\n{ANSWER}"},
    ]
    assert answer_text(chat(parts), "chat", "message") == ANSWER


def test_only_the_first_choice_counts():
    body = b'{"choices":[{"message":{"content":null}},{"message":{"content":"second"}}]}'
    assert answer_text(body, "chat", "message") is None
