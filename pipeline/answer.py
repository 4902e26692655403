"""From stored bytes to the answer text: the answer-text rules, each with a digest (spec 3).

`execute` binds a rule's digest into the route, `parse` applies the rule; so the rule lives below
both. Raw bytes are always kept, so a later rule can read them again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from pipeline.errors import FlavourbenchError
from pipeline.files import parse_json
from pipeline.identity import digest

if TYPE_CHECKING:
    from schemas.execution import ResponseForm

__all__ = ["AnswerRule", "answer_rule_digest", "answer_text", "find_answer_rule"]

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
"""What each rule says; the wording is what its digest covers."""

_THINK = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)


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
        `text`: UTF-8 text. `chat`: the JSON body of a chat completion.
    rule
        Which answer-text rule the route is bound to.
    """
    text = _plain_text(raw) if form == "text" else _chat_text(raw)
    if text is None or rule == "verbatim":
        return text
    think = _THINK.match(text)
    rest = text[think.end() :] if think else text
    return rest or None


def _plain_text(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _chat_text(raw: bytes) -> str | None:
    """Text of the first choice's message; anything of another shape is no answer."""
    try:
        body = parse_json(raw, "response body", FlavourbenchError, odd_numbers=True)
    except FlavourbenchError:
        return None
    choices = _get(body, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    content = _get(_get(first, "message"), "content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [_get(part, "text") for part in content if _get(part, "type") == "text"]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
