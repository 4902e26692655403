"""The words in which vendors say how an answer ended and why a request failed: data, and a look-up.

Vendors spell one thing in many ways (`MAX_TOKENS`, `max_tokens`, `maxTokens`, `length`), and a
gateway passes on what it was told. So a word is compared by its letters and digits alone, and every
vocabulary stands in one place beside its source. A finish word that stands nowhere here is
`unknown_finish`: nobody knows whether its answer is whole.

Machine words (`code`, `type`) are exact and count under any status that can carry them. Prose
counts only where a provider declines a single request, in phrases that no settings error uses.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from schemas.execution import Outcome

__all__ = [
    "BASE_CODES",
    "FINISHES",
    "finish_of",
    "finish_outcome",
    "finish_text",
    "named_outcome",
    "told_outcome",
]


class _Words(NamedTuple):
    """Finish words of one vendor that come to one outcome, and where they are documented."""

    source: str
    outcome: Outcome
    words: str


_OPENAI = "OpenAI, API reference, chat completion object"
_ANTHROPIC = "Anthropic, Messages API, stop_reason, and its OpenAI-compatible layer"
_GEMINI = "Google, GenerateContentResponse, FinishReason and BlockedReason (Gemini, Vertex AI)"
_MISTRAL = "Mistral, API reference, chat completion choice"
_COHERE = "Cohere, API reference, chat, FinishReason"
_BEDROCK = "Amazon Bedrock, Converse API, StopReason; Titan, completionReason"
_ZHIPU = "Zhipu, GLM API, finish_reason"
_TGI = "Hugging Face, text-generation-inference, FinishReason"
_SERVERS = "vLLM, SGLang, TensorRT-LLM, llama.cpp, Ollama, LM Studio: server sources"
_WATSONX = "IBM, watsonx.ai, text generation, stop_reason"
_AZURE = "Microsoft, Azure AI inference, CompletionsFinishReason"
_XAI = "xAI, API protocol, FinishReason"
_OTHERS = "AI21, Aleph Alpha, Baidu, Reka, Together, Naver, Writer: API references"
_YANDEX = "Yandex, Foundation Models, alternative status"
_GIGACHAT = "Sber, GigaChat API, finish_reason"
_GATEWAYS = "OpenRouter, LiteLLM, Vercel AI SDK: normalised and native finish reasons"

FINISHES = (
    # whole turns; a call of a tool that nobody offered is the model's own end
    _Words(_OPENAI, Outcome.OK, "stop tool_calls function_call completed"),
    _Words(_ANTHROPIC, Outcome.OK, "end_turn stop_sequence tool_use"),
    _Words(_MISTRAL, Outcome.OK, "stop tool_calls"),
    _Words(_GEMINI, Outcome.OK, "STOP"),
    _Words(_COHERE, Outcome.OK, "COMPLETE STOP_SEQUENCE TOOL_CALL"),
    _Words(_BEDROCK, Outcome.OK, "end_turn FINISH FINISHED STOP_CRITERIA_MET"),
    _Words(_TGI, Outcome.OK, "eos_token stop_sequence"),
    _Words(_SERVERS, Outcome.OK, "eos word stopped eosFound stopStringFound end_id stop_words"),
    _Words(_WATSONX, Outcome.OK, "eos_token stop_sequence"),
    _Words(_XAI, Outcome.OK, "REASON_STOP REASON_TOOL_CALLS"),
    _Words(_OTHERS, Outcome.OK, "endoftext end_of_text stop_sequence_reached normal end_token"),
    _Words(_OTHERS, Outcome.OK, "stop_before stop_token eos_token_id"),
    _Words(_YANDEX, Outcome.OK, "ALTERNATIVE_STATUS_FINAL ALTERNATIVE_STATUS_TOOL_CALLS"),
    _Words(_GATEWAYS, Outcome.OK, "tool-calls end done finished success"),
    # cut by a limit
    _Words(_OPENAI, Outcome.TRUNCATED, "length max_output_tokens max_completion_tokens incomplete"),
    _Words(_ANTHROPIC, Outcome.TRUNCATED, "max_tokens model_context_window_exceeded pause_turn"),
    _Words(_GEMINI, Outcome.TRUNCATED, "MAX_TOKENS"),
    _Words(_MISTRAL, Outcome.TRUNCATED, "length model_length"),
    _Words(_COHERE, Outcome.TRUNCATED, "MAX_TOKENS ERROR_LIMIT"),
    _Words(_BEDROCK, Outcome.TRUNCATED, "max_tokens LENGTH model_context_window_exceeded"),
    _Words(_ZHIPU, Outcome.TRUNCATED, "length model_context_window_exceeded"),
    _Words(_SERVERS, Outcome.TRUNCATED, "limit max_length maxPredictedTokensReached repetition"),
    _Words(_SERVERS, Outcome.TRUNCATED, "contextLengthReached context_length max_new_tokens"),
    _Words(_WATSONX, Outcome.TRUNCATED, "max_tokens token_limit time_limit"),
    _Words(_AZURE, Outcome.TRUNCATED, "token_limit_reached"),
    _Words(_XAI, Outcome.TRUNCATED, "REASON_MAX_LEN REASON_MAX_CONTEXT REASON_TIME_LIMIT"),
    _Words(_OTHERS, Outcome.TRUNCATED, "context maximum_tokens context_length_exceeded"),
    _Words(_YANDEX, Outcome.TRUNCATED, "ALTERNATIVE_STATUS_TRUNCATED_FINAL"),
    _Words(_GATEWAYS, Outcome.TRUNCATED, "truncated token_limit_exceeded max_tokens_reached"),
    # withheld by a provider's filter
    _Words(_OPENAI, Outcome.FILTERED, "content_filter"),
    _Words(_GEMINI, Outcome.FILTERED, "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT"),
    _Words(_GEMINI, Outcome.FILTERED, "SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT JAILBREAK"),
    _Words(_GEMINI, Outcome.FILTERED, "IMAGE_RECITATION MODEL_ARMOR CONTENT_BLOCKED"),
    _Words(_COHERE, Outcome.FILTERED, "ERROR_TOXIC"),
    _Words(_BEDROCK, Outcome.FILTERED, "guardrail_intervened content_filtered"),
    _Words(_ZHIPU, Outcome.FILTERED, "sensitive"),
    _Words(_AZURE, Outcome.FILTERED, "content_filtered"),
    _Words(_YANDEX, Outcome.FILTERED, "ALTERNATIVE_STATUS_CONTENT_FILTER"),
    _Words(_GIGACHAT, Outcome.FILTERED, "blacklist"),
    _Words(_GATEWAYS, Outcome.FILTERED, "content-filter filtered filter blocked moderation"),
    _Words(_GATEWAYS, Outcome.FILTERED, "flagged guardrail guardrails prohibited unsafe"),
    # declined by the model or its vendor, in so many words
    _Words(_ANTHROPIC, Outcome.REFUSED, "refusal"),
    _Words(_GATEWAYS, Outcome.REFUSED, "refused content_policy content_policy_violation"),
    # the provider's own failure: asking again can help
    _Words(_MISTRAL, Outcome.PROVIDER_ERROR, "error"),
    _Words(_COHERE, Outcome.PROVIDER_ERROR, "ERROR USER_CANCEL TIMEOUT"),
    _Words("DeepSeek, API reference", Outcome.PROVIDER_ERROR, "insufficient_system_resource"),
    _Words(_ZHIPU, Outcome.PROVIDER_ERROR, "network_error"),
    _Words(_SERVERS, Outcome.PROVIDER_ERROR, "abort aborted load unload failed modelUnloaded"),
    _Words(_SERVERS, Outcome.PROVIDER_ERROR, "userStopped not_finished cancelled canceled"),
    _Words(_WATSONX, Outcome.PROVIDER_ERROR, "error cancelled not_finished"),
    _Words(_GATEWAYS, Outcome.PROVIDER_ERROR, "internal_error server_error engine_error"),
    _Words(_GATEWAYS, Outcome.PROVIDER_ERROR, "rate_limit_exceeded resource_exhausted"),
    # documented words that do not say whether the answer is whole
    _Words(_GEMINI, Outcome.UNKNOWN_FINISH, "OTHER FINISH_REASON_UNSPECIFIED IMAGE_OTHER NO_IMAGE"),
    _Words(_GEMINI, Outcome.UNKNOWN_FINISH, "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL"),
    _Words(_GEMINI, Outcome.UNKNOWN_FINISH, "TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE"),
    _Words(_GEMINI, Outcome.UNKNOWN_FINISH, "MALFORMED_RESPONSE MALFORMED_TOOL_CALL"),
    _Words(_BEDROCK, Outcome.UNKNOWN_FINISH, "malformed_model_output malformed_tool_use"),
    _Words(_XAI, Outcome.UNKNOWN_FINISH, "REASON_INVALID"),
    _Words(_GATEWAYS, Outcome.UNKNOWN_FINISH, "other unknown"),
)
"""Every finish word that we know, by vendor."""

_WORD = re.compile(r"[\w .-]+")
_PREFIXES = ("finishreason", "stopreason", "completionreason")


def _letters(word: str) -> str:
    """A word without case and separators, and without the name of its enumeration."""
    plain = "".join(c for c in word.casefold() if c.isalnum())
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix) or plain
    return plain


_FINISHES = {_letters(word): row.outcome for row in FINISHES for word in row.words.split()}


def finish_text(value: Any) -> str | None:
    """A finish reason as text: servers send text, an object with a `type`, or what nobody expects.

    None where there is none, or an empty one.
    """
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        value = value["type"]
    if value is None or isinstance(value, str):
        return value or None
    return json.dumps(value)


_FINISH_KEYS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
"""In this order: beside a `finish_reason`, a `stop_reason` is the text that ended the answer."""


def finish_of(choice: Any) -> str | None:
    """A choice's finish word; a server that passes a vendor's reply on keeps that vendor's key."""
    found = choice if isinstance(choice, dict) else {}
    words = (finish_text(found.get(name)) for name in _FINISH_KEYS)
    return next((word for word in words if word is not None), None)


def finish_outcome(word: str | None) -> Outcome:
    """What a finish word says of an answer; no word says that nothing was wrong.

    Some gateways put a vendor's word behind their own, as in `content_filter: RECITATION`; then
    the first that is known counts, yet no part of a text alone makes it good.
    """
    if word is None:
        return Outcome.OK
    whole = _known(word)
    if whole is not None:
        return whole
    known = map(_known, word.split(":"))
    return next((part for part in known if part not in {None, Outcome.OK}), Outcome.UNKNOWN_FINISH)


def _known(word: str) -> Outcome | None:
    """The outcome of a word of letters, digits and separators that stands in the table."""
    return _FINISHES.get(_letters(word)) if _WORD.fullmatch(word) else None


# Errors. Names are matched in their letters and digits, so `DataInspectionFailed`,
# `data_inspection_failed` and `InternalError.Algo.DataInspectionFailed` are one.

_NAMES = {
    # from OpenAI, Anthropic, Moonshot, Alibaba, ByteDance, LiteLLM, one-api
    Outcome.QUOTA: """
        insufficientquota exceededcurrentquota billinghardlimit billingnotactive billingerror
        insufficient(?:credit|balance|fund|userquota|account) creditbalance outofcredit
        credits?(?:exhausted|required) arrearage accountoverdue overduepay paymentrequired
        budgetexceeded exceededbudget spendlimit usagelimitexceeded freetieronly tokenquotafailed
        balancenotenough nobalance
    """,
    # OpenAI and Azure, Alibaba, Zhipu, ByteDance, Moonshot, MiniMax, Tencent, Bedrock, Google, IBM
    Outcome.FILTERED: """
        contentfilter(?!error) filteredcontent datainspection responsibleai raipolic
        sensitive(?:content|word|text|info|data|detected) inputsensitive outputsensitive ^sensitive$
        jailbreak (?:prompt|content|response)blocked blockedcontent contentrisk contentexistsrisk
        highrisk riskcontrol prohibitedcontent prohibitedinput inappropriate guardrail modelarmor
        recitation blocklist blacklist contentsafety safetyblock unsafe toxic harmful illegalcontent
        contentaudit auditfail textaudit censor contentdetectionfail greennet contentcheck
        abusivecontent prompt(?:injection|attack|shield)
    """,
    # OpenAI, OpenRouter, xAI, Together
    Outcome.REFUSED: """
        contentpolic policyviolation usagepolic moderation flagged refusal contentviolation
        safety(?!setting|identifier|param) violatesguideline
    """,
    # OpenAI, Anthropic, llama.cpp, vLLM, Google; a question that does not fit is the route's fault
    Outcome.CONFIGURATION: """
        contextlength contextwindow exceedcontextsize prompttoolong inputtoolong maxcontext
        stringabovemaxlength invalidapikey authentication unauthori[sz]ed permissiondenied
        modelnotfound
    """,
    # from OpenAI, Anthropic, Moonshot, Alibaba, Bedrock, Google, ByteDance
    Outcome.RATE_LIMITED: """
        ratelimit ratequota throttl toomanyrequest resourceexhausted slowdown limitrequests
        limitburst concurrencylimit qpslimit requestlimit
    """,
    Outcome.TRANSIENT: """
        overload serverbusy unavailable servererror internalerror timeout timedout tryagain
        deadlineexceeded modelnotready modelloading networkerror
    """,
}
"""Patterns of machine words, by what they come to; the first that fits counts."""

_PATTERNS = {outcome: re.compile("|".join(text.split())) for outcome, text in _NAMES.items()}

_NUMBERS = {
    "1301": Outcome.FILTERED,  # Zhipu: unsafe or sensitive content
    "1113": Outcome.QUOTA,  # Zhipu: the account is in arrears
    "1302": Outcome.RATE_LIMITED,  # Zhipu: concurrency
    "1303": Outcome.RATE_LIMITED,  # Zhipu: frequency
    "1304": Outcome.QUOTA,  # Zhipu: the calls of a day
    "1305": Outcome.RATE_LIMITED,  # Zhipu: rate limit
    "1261": Outcome.CONFIGURATION,  # Zhipu: the prompt is too long
    "10013": Outcome.FILTERED,  # iFlytek Spark: input under audit
    "10014": Outcome.FILTERED,  # iFlytek Spark: output under audit
    "10019": Outcome.FILTERED,  # iFlytek Spark: conversation with sensitive content
    "11202": Outcome.RATE_LIMITED,  # iFlytek Spark: requests a second
    "11203": Outcome.RATE_LIMITED,  # iFlytek Spark: concurrency
    "336104": Outcome.FILTERED,  # Baidu: the input is unsafe
    "336100": Outcome.TRANSIENT,  # Baidu: busy
    "336501": Outcome.RATE_LIMITED,  # Baidu: requests a minute
    "336502": Outcome.RATE_LIMITED,  # Baidu: tokens a minute
}
"""Numbers that stand as an error's `code`; those of three digits are statuses."""

BASE_CODES = {
    "1002": Outcome.RATE_LIMITED,
    "1004": Outcome.CONFIGURATION,
    "1008": Outcome.QUOTA,
    "1026": Outcome.FILTERED,
    "1027": Outcome.FILTERED,
    "1039": Outcome.RATE_LIMITED,
    "2013": Outcome.CONFIGURATION,
    "2049": Outcome.CONFIGURATION,
}
"""MiniMax, `base_resp.status_code`: numbers that mean something else elsewhere."""

_PROSE = {
    # Anthropic, DeepSeek, OpenRouter
    Outcome.QUOTA: (
        r"credit balance",
        r"insufficient (?:account )?(?:balance|credits?|funds|quota)",
        r"exceeded your current quota",
    ),
    # Azure and OpenAI, Anthropic, Alibaba, DeepSeek, Moonshot, Zhipu, Bedrock, Google
    Outcome.FILTERED: (
        r"content[ _-]?filter(?!s? (?:settings?|parameter|options?|is not a valid))",
        r"content management policy",
        r"inappropriate content",
        r"data_?inspection",
        r"content exists risk",
        r"considered high risk",
        r"sensitive (?:content|words?)",
        r"(?:unsafe|harmful|prohibited|offensive|illegal) content",
        r"responsible ?ai",
        r"blocked by (?:content|our|the|a|safety|guardrail)",
        r"guardrail intervened",
        r"prompt (?:was|is) blocked",
        r"prohibited_content",
        r"prompt[_ ](?:injection|attack)",
        r"敏感|违规|不安全|不合规|风险内容|审核",
    ),
    # OpenAI, OpenRouter, xAI
    Outcome.REFUSED: (
        r"content[_ ]?policy",
        r"policy[_ ]?violation",
        r"usage (?:polic|guideline)",
        r"\bflagged\b",
        r"moderation(?! (?:parameter|option|field))",
        r"safety[_ ](?:check|system|reason|polic|guideline|filter|violation)",
        r"violat\w+ (?:our|the|usage|safety|content)",
    ),
}
"""Phrases, by what they come to; the first that fits counts."""

_PHRASES = {
    outcome: re.compile("|".join(phrases), re.IGNORECASE) for outcome, phrases in _PROSE.items()
}
_SETTINGS = re.compile(
    r"(?:unknown|unsupported|unrecognized|unexpected|invalid|missing|extra|additional)"
    r"(?:value|request)?(?:parameter|param|field|argument|property|properties|key|input)"
)
_GENERAL = frozenset({"invalidargument", "invalidinput", "invalidinputerror"})
"""Codes of any bad request, as gRPC and Google have them: they do not say that it is a setting."""


def named_outcome(names: list[str]) -> Outcome | None:
    """What an error's machine words say; none where they say nothing that we know.

    Parameters
    ----------
    names
        Codes, types and reasons as they came, numbers as text.
    """
    plain = [_letters(name) for name in names]
    for outcome, pattern in _PATTERNS.items():
        numbered = any(_NUMBERS.get(name.strip()) is outcome for name in names)
        if numbered or any(pattern.search(name) for name in plain):
            return outcome
    return None


def told_outcome(names: list[str], said: str) -> Outcome | None:
    """What an error's prose says; none where it is about a setting, which is the route's fault."""
    about = _letters(said)
    codes = {_letters(name) for name in names} - _GENERAL
    if any(_SETTINGS.search(text) for text in (about, *codes)):
        return None
    return next((outcome for outcome, text in _PHRASES.items() if text.search(said)), None)
