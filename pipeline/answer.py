"""From what came back to the answer text: the one place that says what counts (docs/parsing.md).

A route is bound to a rule by its digest: `verbatim` takes the stored text as it is, `message` takes
what the assistant said. Stored replies, own answers and completions of a trainer go the same way:

1. Of a chat only the last message counts, and only where the assistant wrote it.
2. Of its content the text parts count, joined in order with nothing between. Parts and fields of
   reasoning, calls and pictures never do.
3. Reasoning in the text is cut, wherever it stands: what lies between a think tag and its closing
   tag, and what follows a think tag that is never closed. Before a closing tag without an opening
   one all is reasoning, since the chat template wrote the opening tag. In place of a block within
   the text stands the end of a line.
4. Think tags are `<think>`, `<thinking>`, `<seed:think>`, `<thought>`, `<reasoning>` (with
   attributes or without) and `[THINK]`, in any case; blocks do not nest. Other marks are text.
5. Where nothing is left there is no answer.

`execute` binds a rule's digest into the route, `parse` applies the rule; so the rule lives below
both. Raw bytes are always kept, so a later rule can read them again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pipeline.errors import FlavourbenchError, InputError
from pipeline.files import parse_json
from pipeline.identity import digest

if TYPE_CHECKING:
    from schemas.execution import ResponseForm

__all__ = [
    "AnswerRule",
    "answer_rule_digest",
    "answer_text",
    "completion_text",
    "find_answer_rule",
    "shape_of",
]

AnswerRule = Literal["message", "verbatim"]

_RULES: dict[AnswerRule, list[str]] = {
    "message": [
        "text parts of the first choice's message, joined in order with nothing between",
        "reasoning fields never count",
        "one leading closed <think> block is cut, with the white space around it",
        "null, no text part, or only reasoning is no answer",
    ],
    "verbatim": ["the stored text is the answer"],
}
"""What a route is bound to, to the letter: another wording would ask every endpoint anew. What the
words leave open is settled above (decision 056)."""

_TAG = re.compile(
    r"(?ai:<(?P<ends>/?)(?:(?:seed:)?think(?:ing)?|thought|reasoning)(?:\s[^<>]*)?(?<!/)>"
    r"|\[(?P<shuts>/?)think\])"
)
_ASSISTANT = "assistant"
_OTHERS = frozenset({"developer", "function", "system", "tool", "user"})
_SILENT_PARTS = frozenset(
    {
        "audio", "image", "image_url", "input_audio", "reasoning", "redacted_thinking", "refusal",
        "thinking", "tool_call", "tool_use",
    }
)  # fmt: skip
"""Types of parts that hold no answer."""


def answer_rule_digest(rule: AnswerRule) -> str:
    """Digest (hex) of a rule, as it enters a route's identity."""
    return digest("answer-rule", {"name": rule, "says": list(_RULES[rule])})


def find_answer_rule(rule_digest: str) -> AnswerRule | None:
    """The rule of a digest (hex), as a route's identity states it; none if no rule has it."""
    return next((rule for rule in _RULES if answer_rule_digest(rule) == rule_digest), None)


def answer_text(raw: bytes, form: ResponseForm, rule: AnswerRule) -> str | None:
    """The answer text in stored bytes, or none where the bytes hold no answer.

    Parameters
    ----------
    raw
        The bytes as they came.
    form
        `text`: UTF-8 text. `chat`: the JSON body of a chat completion; one of another shape is no
        answer.
    rule
        Which answer-text rule the route is bound to.
    """
    text = _plain_text(raw) if form == "text" else _chat_text(raw)
    return text if text is None or rule == "verbatim" else _without_reasoning(text)


def completion_text(completion: object) -> str | None:
    """The answer text in a completion under the rule `message`, or none where it holds no answer.

    Parameters
    ----------
    completion
        A text, null, or a chat: a list of messages with `role` and `content`.

    Raises
    ------
    InputError
        It has another shape, which the message names: nobody knows whether that is an answer.
    """
    if completion is None or isinstance(completion, str):
        return None if completion is None else _without_reasoning(completion)
    if not isinstance(completion, list | tuple):
        raise _unknown(shape_of(completion))
    messages = [_checked(message) for message in completion]
    if not messages or messages[-1]["role"] != _ASSISTANT:
        return None
    text = _content_text(messages[-1].get("content"))
    return None if text is None else _without_reasoning(text)


def shape_of(value: object) -> str:
    """What a value is, in a few words."""
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "an object"
    names = {list: "a list", tuple: "a list", str: "text", bool: "a truth value"}
    return names.get(type(value), f"{type(value).__name__} {value!r}")


def _without_reasoning(text: str) -> str | None:
    """Text outside of think blocks; without a tag the text as it stands."""
    if "<" not in text and "[" not in text:  # far quicker than the search
        return text or None
    kept: list[str] = []
    start, thinking, tag = 0, False, None
    for tag in _TAG.finditer(text):
        if tag["ends"] or tag["shuts"]:
            if not thinking:
                kept.clear()
            start, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[start : tag.start()])
            thinking = True
    if tag is None:
        return text or None
    if not thinking:
        kept.append(text[start:])
    return "\n".join(kept).lstrip() or None


def _plain_text(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _chat_text(raw: bytes) -> str | None:
    """Text of the first choice's message; anything of another shape is no answer."""
    try:
        body = parse_json(raw, "response body", FlavourbenchError, reply=True)
    except FlavourbenchError:
        return None
    choices = _get(body, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = _get(first, "message")
    role = _get(message, "role")
    said_by_another = isinstance(role, str) and role in _OTHERS
    return None if said_by_another else _content_text(_get(message, "content"))


def _content_text(content: object) -> str | None:
    """A message's text: as it stands, or its text parts joined; none where it holds no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return None
    parts = [_get(part, "text") for part in content if _get(part, "type") == "text"]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


def _checked(message: object) -> Mapping[str, Any]:
    """A message whose shape is known."""
    if not isinstance(message, Mapping):
        raise _unknown(f"a list with {shape_of(message)} in it")
    role, content = message.get("role"), message.get("content")
    if role != _ASSISTANT and not (isinstance(role, str) and role in _OTHERS):
        raise _unknown(f"a message {f'of role {role!r}' if role else f'with {_keys(message)}'}")
    if role == _ASSISTANT:
        if "content" not in message and not message.get("tool_calls"):
            raise _unknown(f"an assistant's message with {_keys(message)}")
        if isinstance(content, list | tuple):
            for part in content:
                _check_part(part)
        elif content is not None and not isinstance(content, str):
            raise _unknown(f"a message whose content is {shape_of(content)}")
    return message


def _check_part(part: object) -> None:
    kind = _get(part, "type")
    if kind == "text" and isinstance(_get(part, "text"), str):
        return
    if not isinstance(kind, str) or kind not in _SILENT_PARTS:
        shape = f"{shape_of(part)} of type {kind!r}" if kind else shape_of(part)
        raise _unknown(f"content with {shape} in it")


def _unknown(found: str) -> InputError:
    return InputError(
        "a text, null, or a list of messages with role and content", found, "completion",
        "Give the model's text, or messages as chat completions have them.",
    )  # fmt: skip


def _keys(message: Mapping[str, Any]) -> str:
    return f"the keys {', '.join(map(str, message))}" if message else "no keys"


def _get(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None
