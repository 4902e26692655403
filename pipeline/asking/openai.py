"""Asks an endpoint that speaks the chat-completions API; one try a call, retries are elsewhere.

No redirect is followed, so no credential reaches another host. What comes back is bounded, and
secrets are cut out of it before anything else sees it.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import logging
import math
import os
import ssl
import time
import zlib
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from pipeline.asking.adapter import Exchange, Listing, Reply
from pipeline.asking.budget import in_micros
from pipeline.asking.outcomes import Fault, ReportedUsage, Wire, judge
from pipeline.asking.secrets import Secrets, read_headers, read_proxies, variables
from pipeline.asking.waits import retry_after_ms
from pipeline.errors import FlavourbenchError
from pipeline.files import parse_json
from schemas.endpoint import Prices
from schemas.execution import Outcome, Rule

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from pipeline.asking.adapter import Question, Questions, Request
    from pipeline.asking.routes import BoundRoute
    from schemas.record import IdentityValue
    from schemas.routes import OpenAiRoute

__all__ = ["BODY_LIMIT", "KEPT_FOR", "OpenAiAdapter", "identity", "make", "price_micros"]

KEPT_FOR = "its answers cost money"

BODY_LIMIT = 4 * 2**20
"""Most bytes of a body that are read; a longer one is `body_too_large`."""

_EXCERPT = 2**16
_KEPT = frozenset({
    "cf-ray", "content-encoding", "content-length", "content-type", "date",
    "openai-processing-ms", "openai-version", "request-id", "retry-after", "server", "via",
    "x-request-id",
})  # fmt: skip
_KEPT_PREFIX = "x-ratelimit-"
_KEPT_MOST = 40
_HEADER_LIMIT = 200
_CONNECT_SECONDS = 10.0
_OVERHEAD_TOKENS = 64
_MICROS = 1_000_000
_CHARACTERS = 4  # of a prompt in a token, for rate limits only
_COST_LIMIT = 10**12
"""Millionths of a US dollar, a million dollars: no try costs more, so nobody knows what it cost."""

_NEVER_SENT = frozenset({Fault.CERTIFICATE, Fault.UNREACHABLE, Fault.UNUSABLE})


class OpenAiAdapter:
    """Asks one route's endpoint.

    Parameters
    ----------
    route
        The route.
    slug
        Its name, for errors.
    """

    costs_money = True

    def __init__(self, route: OpenAiRoute, slug: str) -> None:
        self.route, self.slug = route, slug
        self.limits = route.limits
        self.host = urlsplit(route.base_url).netloc.lower()
        cap = route.spend_cap_usd
        self.cap_micros = None if cap is None else in_micros(cap)
        self.prices = route.price
        self.secrets = variables(route)
        self._accepted = route.accept or (route.model,)
        self._client: httpx.AsyncClient | None = None
        self._secrets = Secrets(())
        # the wire library can log headers, secrets among them
        logging.getLogger("hpack").setLevel(logging.WARNING)

    def unlock(self) -> None:
        """Read the secrets. Raises `ExecuteError` where one is not set."""
        self._open(read_headers(self.route, self.slug))

    def _open(self, headers: dict[str, str]) -> None:
        import httpx

        proxies = read_proxies() if self.route.env_proxy else []
        self._secrets = Secrets([*headers.values(), *proxies])
        limits = httpx.Limits(max_connections=self.route.limits.concurrency)
        secure = self.route.base_url.startswith("https:")
        # over plain HTTP no authority is needed, and reading them takes long
        verify = httpx.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._client = httpx.AsyncClient(
            headers={"Accept-Encoding": "identity", "User-Agent": "flavourbench"} | headers,
            http2=True,
            limits=limits,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            trust_env=self.route.env_proxy,
            verify=verify,
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def ask(self, request: Request) -> Reply:
        """One try. Never raises for what a provider does: every fault is an outcome."""
        document = request_body(self.route, request.question)
        wire = await self.send("POST", "/chat/completions", document)
        verdict = judge(wire, self._accepted)
        stored = verdict.outcome.rule is Rule.STORE
        whole = stored and verdict.outcome is not Outcome.BODY_TOO_LARGE
        exchange = Exchange(
            wire.status,
            wire.headers.get("x-request-id") or wire.headers.get("request-id") or verdict.body_id,
            verdict.returned_model,
            verdict.finish_reason,
            verdict.usage.prompt_tokens,
            verdict.usage.completion_tokens,
            self._cost(wire, verdict.usage),
            wire.latency_ms,
            wire.first_byte_ms,
            retry_after_ms(wire.headers.get("retry-after"), wire.headers.get("date")),
            json.dumps(dict(wire.headers), sort_keys=True),
            verdict.detail,
            verdict.system_fingerprint,
        )
        raw = wire.body if whole or wire.fault is Fault.CUT else wire.body[:_EXCERPT]
        return Reply(verdict.outcome, "chat", raw, exchange)

    def missing_secrets(self) -> tuple[str, ...]:
        """Names of the environment variables that the route needs and that are not set."""
        return tuple(name for name in self.secrets if not os.environ.get(name))

    def most_micros(self, question: Question, prices: Prices | None = None) -> int | None:
        """The most that one try can cost, in millionths of a US dollar; none where nobody knows.

        A token is at least one byte of text.
        """
        limit, price = self.route.sampling.tokens_limit, prices or self.route.price
        if limit is None or price is None:
            return None
        texts = (question.prompt, question.system, self.route.system)
        size = sum(len(text.encode("utf-8")) for text in texts if text)
        return price_micros(price, size + _OVERHEAD_TOKENS, limit)

    def tokens(self, question: Question) -> int:
        """About how many tokens one try takes."""
        return len(question.prompt) // _CHARACTERS + (self.route.sampling.tokens_limit or 0)

    async def listing(self) -> Listing:
        """Ask the endpoint for its models. Raises `ExecuteError` where a secret is not set."""
        self.unlock()
        wire = await self.send("GET", "/models")
        if wire.status is None:
            return Listing(f"no answer: {wire.said}", "-", ready=False)
        try:
            entries = parse_json(wire.body, "models", FlavourbenchError)["data"]
            named = {
                e["id"]: e for e in entries if isinstance(e, dict) and isinstance(e["id"], str)
            }
        except (FlavourbenchError, KeyError, TypeError):
            refused = wire.status in {401, 403}
            said = judge(wire, ()).outcome.value if refused else "no list of models"
            return Listing(f"HTTP {wire.status}", said, ready=not refused)
        entry = named.get(self.route.model)
        if entry is None:
            return Listing("answers", f"not among {len(named)}", ready=False)
        return Listing("answers", "listed", ready=True, prices=_listed_prices(entry))

    async def send(self, method: str, path: str, document: bytes | None = None) -> Wire:
        """Send one request and read its reply, both bounded, secrets cut out."""
        if self._client is None:
            self.unlock()
        wire = await self._exchange(method, self.route.base_url + path, document)
        hide = self._secrets.hide_bytes
        small = len(wire.body) <= _EXCERPT  # a large one can take seconds, in which others go on
        return wire._replace(
            body=hide(wire.body) if small else await asyncio.to_thread(hide, wire.body),
            said=" ".join(self._secrets.hide(wire.said).split())[:_HEADER_LIMIT],
        )

    async def _exchange(self, method: str, url: str, document: bytes | None) -> Wire:
        """One exchange; whatever breaks it is told in the wire's fault."""
        assert self._client is not None  # noqa: S101  # `send` has opened it
        begun = time.monotonic_ns()
        status, headers, heard, first = None, {}, bytearray(), None
        fault: tuple[Fault, str] | None = None
        head = {"Content-Type": "application/json"} if document is not None else {}
        try:
            async with (
                asyncio.timeout(self.route.limits.timeout_ms / 1000),
                self._client.stream(method, url, content=document, headers=head) as response,
            ):
                first = _since(begun)
                status, headers = response.status_code, self._kept(response.headers)
                async for chunk in response.aiter_raw():
                    heard += chunk
                    if len(heard) > BODY_LIMIT:
                        break
        except Exception as problem:  # noqa: BLE001  # the wire library documents no complete list
            fault = _fault(problem, self.route.limits.timeout_ms)
        body, decoded = _decoded(bytes(heard), headers.get("content-encoding", ""))
        kind, said = fault or decoded or (None, "")
        plain = body.removeprefix(codecs.BOM_UTF8)  # says how to read what follows, is none of it
        return Wire(status, headers, plain, kind, said, _since(begun), first)

    def _kept(self, headers: httpx.Headers) -> dict[str, str]:
        """The headers that are kept: without secrets, then printable, and only then bounded."""
        found: dict[str, str] = {}
        for name, value in headers.items():
            if (name in _KEPT or name.startswith(_KEPT_PREFIX)) and len(found) < _KEPT_MOST:
                shown = "".join(c if c.isprintable() else "?" for c in self._secrets.hide(value))
                found[self._secrets.hide(name)[:_HEADER_LIMIT]] = shown[:_HEADER_LIMIT]
        return found

    def _cost(self, wire: Wire, usage: ReportedUsage) -> int | None:
        """Millionths of a US dollar: the provider's own figure, else tokens by price."""
        if wire.status is not None and not _answered(wire.status):
            return 0
        if wire.status is None and wire.fault in _NEVER_SENT:
            return 0
        if usage.cost_usd is not None:
            return math.ceil(Decimal(str(usage.cost_usd)) * _MICROS)
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        if self.route.price is None:
            return None
        cost = price_micros(self.route.price, usage.prompt_tokens, usage.completion_tokens)
        return None if cost > _COST_LIMIT else cost


def identity(route: OpenAiRoute) -> dict[str, IdentityValue]:
    """What can change an answer: the address, the model, what may come back, the body."""
    body = route.sampling.model_dump(exclude_none=True) | route.extra_body
    return {
        "accept": [*sorted(set(route.accept or (route.model,)))],
        "base_url": route.base_url,
        "body": json.dumps(_exact(body), sort_keys=True, ensure_ascii=False),
        "model": route.model,
        "system": route.system,
    }


def make(bound: BoundRoute, questions: Questions, root: Path) -> OpenAiAdapter:  # noqa: ARG001  # as all makers
    """The adapter of a route to an endpoint."""
    route: Any = bound.route
    return OpenAiAdapter(route, bound.slug)


def _exact(value: Any) -> Any:
    """JSON in which 1.0 and 1 are the same number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    return [_exact(item) for item in value] if isinstance(value, list | tuple) else value


def request_body(route: OpenAiRoute, question: Question) -> bytes:
    """The JSON body of a question; the route's system text stands before the question's."""
    system = "\n\n".join(text for text in (route.system, question.system) if text)
    messages = [{"role": "user", "content": question.prompt}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    sampling = route.sampling.model_dump(exclude_none=True)
    document: dict[str, Any] = {"model": route.model, "messages": messages}
    return json.dumps(document | sampling | route.extra_body).encode("utf-8")


def _listed_prices(entry: dict[str, Any]) -> Prices | None:
    """Prices that some gateways list: US dollars per token, as text."""
    pricing = entry.get("pricing")
    if not isinstance(pricing, dict):
        return None
    try:
        prompt, completion = (
            Decimal(str(pricing[name])[:40]) * _MICROS for name in ("prompt", "completion")
        )
        return Prices(prompt_usd_per_mtok=prompt, completion_usd_per_mtok=completion)
    except (InvalidOperation, KeyError, ValidationError):
        return None


def price_micros(price: Prices, prompt_tokens: int, completion_tokens: int) -> int:
    """The price of tokens in millionths of a US dollar.

    Dollars per million tokens are millionths of a dollar per token.
    """
    return math.ceil(
        prompt_tokens * price.prompt_usd_per_mtok
        + completion_tokens * price.completion_usd_per_mtok
    )


def _answered(status: int) -> bool:
    return 200 <= status < 300  # noqa: PLR2004  # the class of good statuses


def _since(begun: int) -> int:
    return (time.monotonic_ns() - begun) // 1_000_000


def _decoded(data: bytes, encoding: str) -> tuple[bytes, tuple[Fault, str] | None]:
    """Content of a body that was compressed though nobody asked; a bomb goes off in a bounded room.

    Returns the bytes, and a fault where they are too many or cannot be read.
    """
    if encoding in {"gzip", "deflate", "x-gzip"}:
        reader = zlib.decompressobj(wbits=47)  # gzip or zlib
        try:
            data = reader.decompress(data, BODY_LIMIT + 1)
        except zlib.error as problem:
            return b"", (Fault.ENCODING, f"content-encoding {encoding}: {problem}")
        if len(data) <= BODY_LIMIT and not reader.eof:
            return data, (Fault.CUT, f"content-encoding {encoding}: cut short")
    elif encoding not in {"", "identity"}:
        return b"", (Fault.ENCODING, f"content-encoding {encoding}, which was not asked for")
    if len(data) > BODY_LIMIT:
        return data[:BODY_LIMIT], (Fault.TOO_LARGE, f"more than {BODY_LIMIT:,} bytes")
    return data, None


def _fault(problem: Exception, timeout_ms: int) -> tuple[Fault, str]:
    """What broke an exchange."""
    import httpx

    said = f"{type(problem).__name__}: {problem}"
    if isinstance(problem, TimeoutError | httpx.TimeoutException):
        return Fault.TIMEOUT, f"no whole reply within {timeout_ms} ms"
    if isinstance(problem, httpx.ConnectError | httpx.ProxyError):
        return (Fault.CERTIFICATE if _is_certificate(problem) else Fault.UNREACHABLE), said
    if isinstance(problem, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError):
        return Fault.CUT, said
    if isinstance(problem, httpx.NetworkError):
        return Fault.UNREACHABLE, said
    return Fault.UNUSABLE, said


def _is_certificate(problem: BaseException | None) -> bool:
    """Whether a certificate was refused, however deep the cause lies."""
    while problem is not None:
        if isinstance(problem, ssl.SSLCertVerificationError):
            return True
        problem = problem.__cause__ or problem.__context__
    return False
