"""The answer text rules (docs/parsing.md): what counts as the answer in stored bytes."""

from __future__ import annotations

import json
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answer import AnswerRule, answer_rule_digest, answer_text, completion_text
from pipeline.errors import InputError
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
    if rule == "message":
        assert completion_text(text) == plain
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


OPENING = (
    "<think>", "<Think>", "<thinking>", "<THINKING>", "<seed:think>", "[THINK]", "<thought>",
    "<Reasoning>", '<think time="3 s">', "<think >", "<think\n>",
)  # fmt: skip
CLOSING = (
    "</think>", "</THINK>", "</thinking>", "</seed:think>", "[/THINK]", "</thought>",
    "</reasoning>", "</think >",
)  # fmt: skip
OTHER = "FINAL_SELECTION: A, B, D"


class TestMessageRule:
    @pytest.mark.parametrize(
        "text", [ANSWER, "x", " \n", "é𝄞", "a\r\nb", "\x00", "\ufeffx", "a < b"]
    )
    def test_plain_text_is_the_answer_as_it_stands(self, text):
        assert read(text) == text

    @pytest.mark.parametrize("opening", OPENING)
    @pytest.mark.parametrize("closing", CLOSING)
    def test_a_closed_block_is_cut(self, opening, closing):
        assert read(f"{opening}{OTHER}{closing}\n\n{ANSWER}") == ANSWER

    @pytest.mark.parametrize("opening", OPENING)
    def test_a_block_that_is_never_closed_holds_no_answer(self, opening):
        assert read(f"{opening}{OTHER}\nbut I should check the rest") is None
        assert read(f"{ANSWER}{opening}{OTHER}") == f"{ANSWER}"

    @pytest.mark.parametrize("closing", CLOSING)
    def test_all_before_a_closing_tag_without_an_opening_one_is_reasoning(self, closing):
        assert read(f"try\n{OTHER}\n{closing}\n{ANSWER}") == ANSWER
        assert read(f"{OTHER}{closing}") is None
        assert read(f"{OTHER}{closing}{OTHER}{closing}{ANSWER}") == ANSWER

    @pytest.mark.parametrize(
        "thought",
        [
            "<think></think>",
            "<think>one\ntwo\r\n\x85three</think>\n\n",
            f" \n\t<think>{OTHER}</think> \n",
            f"\n<think>{OTHER}</think>\n<think>{OTHER}</think>",
            f"<think>{OTHER}</think><thinking>{OTHER}</thinking>",
            "<think>a < b > c </thin> &</think>",
            "<think>once <think> more</think>",
            f"{OTHER}</think><think>{OTHER}</think>",
            f"<think>a <think>b</think> {OTHER}</think>",
        ],
    )
    def test_reasoning_before_the_answer_is_cut_with_the_white_space_behind_it(self, thought):
        assert read(thought + ANSWER) == ANSWER

    @pytest.mark.parametrize(
        ("text", "left"),
        [
            (f"So: <think>{OTHER}</think>\n{ANSWER}", f"So: \n\n{ANSWER}"),
            (f"FINAL_SELECTION: A, C, F<think>{OTHER}</think>Yes.",
             "FINAL_SELECTION: A, C, F\nYes."),
            (f"FINAL_SELECTION: A, C, F<think>{OTHER}</think>", "FINAL_SELECTION: A, C, F\n"),
            (f"<think>{OTHER}</think>FINAL_SELECTION: A, C, F <think>{OTHER}",
             "FINAL_SELECTION: A, C, F "),
            (f"\ufeff<think>{OTHER}</think>FINAL_SELECTION: A, C, F",
             "\ufeff\nFINAL_SELECTION: A, C, F"),
        ],
    )  # fmt: skip
    def test_a_block_within_the_text_is_the_end_of_a_line(self, text, left):
        assert read(text) == left

    @pytest.mark.parametrize(
        "mark", ["<thinker>", "<rethink>", "<think/>", "< think>", "<think", "think>", "<think<",
                 "[THINKING]", "<[THINK>", "&lt;think&gt;", "<reason>", "<answer>", "<th\u0131nk>"],
    )  # fmt: skip
    def test_every_other_mark_is_text(self, mark):
        assert read(mark + ANSWER) == mark + ANSWER

    @pytest.mark.parametrize(
        "text", ["", "<think>only reasoning</think>", "\n<think></think>\n\n", "<think>a</think> "]
    )
    def test_nothing_but_reasoning_is_no_answer(self, text):
        assert read(text) is None

    @given(st.text())
    def test_every_text_without_a_tag_is_its_own_answer(self, text):
        if "think" not in text.lower():
            assert read(text) == (text or None)

    @given(st.text().filter(lambda text: "think" not in text.lower()), st.text(min_size=1))
    def test_what_follows_a_closed_block_is_the_answer(self, thought, text):
        if "think" not in text.lower():
            assert read(f"<think>{thought}</think>{text}") == (text.lstrip() or None)

    @given(st.lists(st.sampled_from([*OPENING, *CLOSING, "a", "\n", ANSWER]), max_size=12))
    def test_no_tag_is_left_and_reading_again_changes_nothing(self, pieces):
        once = read("".join(pieces))
        if once is not None:
            assert read(once) == once
            assert not any(tag in once for tag in (*OPENING, *CLOSING))

    @pytest.mark.parametrize("piece", ["<think>", "<think ", "</think>", "<", "[THINK", "<think>a"])
    def test_tags_without_end_are_read_in_linear_time(self, piece):
        text = piece * 100_000
        assert read(text) in {None, text}


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
            b'{"choices":[{"message":{"content":"x"}}],"n":' + b"[" * 99 + b"]" * 99 + b"}",
            b"[" * 100_000,
        ],
        ids=lambda body: body[:48].decode("utf-8", "replace") or "empty",
    )
    def test_a_body_of_another_shape_holds_no_answer(self, rule, body):
        assert answer_text(body, "chat", rule) is None

    @pytest.mark.parametrize(
        "body",
        [
            b'{"choices":[{"message":{"content":"a"},"message":{"content":"b"}}]}',
            b'{"choices":[{"message":{"content":"a","content":"b"}}]}',
            b'{"choices":[{"message":{"content":"a"}}],"choices":[]}',
        ],
        ids=["message", "content", "choices"],
    )
    def test_an_answer_that_stands_there_twice_and_otherwise_is_none(self, rule, body):
        assert answer_text(body, "chat", rule) is None

    @pytest.mark.parametrize(
        "beside",
        [
            b'"n":NaN',
            b'"n":1e999',
            b'"n":' + b"9" * 5_000,
            b'"usage":{"n":1,"n":1}',
            b'"usage":{"n":1,"n":2}',
            b'"a":1,"\\u0061":2',
            b'"id":"\\ud800"',
            b'"choices":[{"message":{"content":"a"}}]',
        ],
        ids=lambda body: body[:24].decode(),
    )
    def test_what_is_odd_beside_an_answer_does_not_cost_it(self, rule, beside):
        body = b'{"choices":[{"message":{"content":"a"}}],' + beside + b"}"
        assert answer_text(body, "chat", rule) == "a"

    def test_half_a_character_is_shown_as_a_question_mark(self, rule):
        body = b'{"choices":[{"message":{"content":"a\\ud800"}}]}'
        assert answer_text(body, "chat", rule) == "a?"

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


@pytest.mark.parametrize("role", ["user", "system", "tool", "developer", "function"])
def test_what_another_than_the_assistant_said_is_no_answer(role):
    assert answer_text(chat(ANSWER, role=role), "chat", "message") is None


TEXT = [{"type": "text", "text": ANSWER}]
THOUGHT = {"type": "thinking", "thinking": "FINAL_SELECTION: A, B, D"}


def says(content, role="assistant", **fields):
    return {"role": role, "content": content, **fields}


class TestCompletions:
    """Completions of a trainer, which may be texts or chats."""

    @pytest.mark.parametrize(
        "completion",
        [
            ANSWER,
            [says(ANSWER)],
            (says(ANSWER),),
            [says(TEXT)],
            [says([THOUGHT, *TEXT])],
            [says([{"type": "text", "text": ANSWER[:9]}, {"type": "text", "text": ANSWER[9:]}])],
            [says("?", "user"), says(ANSWER)],
            [says("no"), says(None, tool_calls=[1]), says("7", "tool"), says(ANSWER)],
            [{"role": "assistant", "tool_calls": [1]}, says("7", "tool"), says(ANSWER)],
            [says(ANSWER, reasoning_content="FINAL_SELECTION: A, B, D")],
            [says(f"<think>FINAL_SELECTION: A, B, D</think>{ANSWER}")],
            f"<think>FINAL_SELECTION: A, B, D</think>{ANSWER}",
            f"FINAL_SELECTION: A, B, D</think>{ANSWER}",
        ],
    )
    def test_the_assistants_last_words_count(self, completion):
        assert completion_text(completion) == ANSWER

    @pytest.mark.parametrize(
        "completion",
        [
            None,
            "",
            [],
            (),
            [says(None)],
            [says("")],
            [says([])],
            [says([THOUGHT])],
            [says(ANSWER), says(None, tool_calls=[1])],
            [says(ANSWER), {"role": "assistant", "tool_calls": [1]}],
            *([says("no"), says(ANSWER, role)] for role in ("user", "system", "tool", "developer")),
            [says(ANSWER), says(TEXT, "user")],
            f"<think>{ANSWER}",
            [says(f"<think>{ANSWER}")],
        ],
    )
    def test_where_the_assistant_says_nothing_there_is_no_answer(self, completion):
        assert completion_text(completion) is None

    @pytest.mark.parametrize(
        ("completion", "shape"),
        [
            (7, "int 7"),
            (True, "a truth value"),
            (ANSWER.encode(), "bytes"),
            (says(ANSWER), "an object"),
            ({"choices": [{"message": says(ANSWER)}]}, "an object"),
            ([ANSWER], "a list with text in it"),
            ([None], "a list with null in it"),
            ([[says(ANSWER)]], "a list with a list in it"),
            ([{"from": "gpt", "value": ANSWER}], "a message with the keys from, value"),
            ([{"content": ANSWER}], "a message with the keys content"),
            ([{}], "a message with no keys"),
            ([says(ANSWER, "model")], "a message of role 'model'"),
            ([says(ANSWER, ["assistant"])], "a message of role"),
            ([says("no", "ai"), says(ANSWER)], "a message of role 'ai'"),
            ([{"role": "assistant", "text": ANSWER}], "message with the keys role, text"),
            ([says(3)], "a message whose content is int 3"),
            ([says({"text": ANSWER})], "a message whose content is an object"),
            ([says([ANSWER])], "content with text in it"),
            ([says([{"text": ANSWER}])], "content with an object in it"),
            ([says([{"type": "text"}])], "content with an object of type 'text' in it"),
            ([says([{"type": "output_text", "text": ANSWER}])], "an object of type 'output_text'"),
            ([says([{"type": ["text"], "text": ANSWER}])], "an object of type ['text']"),
        ],
    )
    def test_an_unknown_shape_is_refused_by_its_name(self, completion, shape):
        with pytest.raises(InputError) as caught:
            completion_text(completion)
        assert shape in caught.value.found


def test_only_the_first_choice_counts():
    body = b'{"choices":[{"message":{"content":null}},{"message":{"content":"second"}}]}'
    assert answer_text(body, "chat", "message") is None
