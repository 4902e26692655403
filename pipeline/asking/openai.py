"""Asks an endpoint that speaks the chat-completions API; one try a call, retries are elsewhere.

No redirect is followed, so no credential reaches another host. What comes back is bounded, and
secrets are cut out of it before anything else sees it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import ssl
import time
import zlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pipeline.asking.adapter import Exchange, Reply
from pipeline.asking.outcomes import Fault, Usage, Wire, judge
from pipeline.asking.secrets import Secrets, read_headers
from pipeline.asking.waits import retry_after_ms
from schemas.execution import Outcome, Rule

if TYPE_CHECKING:
    import httpx

    from pipeline.asking.adapter import Request
    from schemas.parameters import OpenAiRoute

__all__ = ["BODY_LIMIT", "OpenAiAdapter", "most_micros", "price_micros"]

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

        self._secrets = Secrets(headers.values())
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
        document = request_body(self.route, request.prompt)
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
        )
        raw = wire.body if whole or wire.fault is Fault.CUT else wire.body[:_EXCERPT]
        return Reply(verdict.outcome, "chat", raw, exchange)

    async def send(self, method: str, path: str, document: bytes | None = None) -> Wire:
        """Send one request and read its reply, both bounded, secrets cut out."""
        if self._client is None:
            self.unlock()
        wire = await self._exchange(method, self.route.base_url + path, document)
        return wire._replace(
            body=self._secrets.hide_bytes(wire.body),
            headers={name: self._secrets.hide(text) for name, text in wire.headers.items()},
            said=self._secrets.hide(wire.said),
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
                status, headers = response.status_code, _kept(response.headers)
                async for chunk in response.aiter_raw():
                    heard += chunk
                    if len(heard) > BODY_LIMIT:
                        break
        except Exception as problem:  # noqa: BLE001  # the wire library documents no complete list
            fault = _fault(problem, self.route.limits.timeout_ms)
        body, decoded = _decoded(bytes(heard), headers.get("content-encoding", ""))
        kind, said = fault or decoded or (None, "")
        return Wire(status, headers, body, kind, said, _since(begun), first)

    def _cost(self, wire: Wire, usage: Usage) -> int | None:
        """Millionths of a US dollar: the provider's own figure, else tokens by price."""
        if wire.status is not None and not _answered(wire.status):
            return 0
        if wire.status is None and wire.fault in _NEVER_SENT:
            return 0
        if usage.cost_usd is not None:
            return math.ceil(Decimal(str(usage.cost_usd)) * _MICROS)
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cost = price_micros(self.route, usage.prompt_tokens, usage.completion_tokens)
        return None if cost is None or cost > _COST_LIMIT else cost


def request_body(route: OpenAiRoute, prompt: str) -> bytes:
    """The JSON body of a question."""
    messages = [{"role": "user", "content": prompt}]
    if route.system is not None:
        messages.insert(0, {"role": "system", "content": route.system})
    sampling = route.sampling.model_dump(exclude_none=True)
    document: dict[str, Any] = {"model": route.model, "messages": messages}
    return json.dumps(document | sampling | route.extra_body).encode("utf-8")


def most_micros(route: OpenAiRoute, prompt: str) -> int | None:
    """The most that one try can cost, in millionths of a US dollar; none where nobody knows.

    A token is at least one byte of text.
    """
    limit = route.sampling.tokens_limit
    if limit is None:
        return None
    size = len(prompt.encode("utf-8")) + len((route.system or "").encode("utf-8"))
    return price_micros(route, size + _OVERHEAD_TOKENS, limit)


def price_micros(route: OpenAiRoute, prompt_tokens: int, completion_tokens: int) -> int | None:
    """The price of tokens in millionths of a US dollar; none where the route names none.

    Dollars per million tokens are millionths of a dollar per token.
    """
    if route.price is None:
        return None
    price = route.price
    return math.ceil(
        prompt_tokens * price.prompt_usd_per_mtok
        + completion_tokens * price.completion_usd_per_mtok
    )


def _answered(status: int) -> bool:
    return 200 <= status < 300  # noqa: PLR2004  # the class of good statuses


def _since(begun: int) -> int:
    return (time.monotonic_ns() - begun) // 1_000_000


def _kept(headers: httpx.Headers) -> dict[str, str]:
    """The headers that are kept, bounded and printable."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        if (name in _KEPT or name.startswith(_KEPT_PREFIX)) and len(found) < _KEPT_MOST:
            printable = "".join(c if c.isprintable() else "?" for c in value)
            found[name[:_HEADER_LIMIT]] = printable[:_HEADER_LIMIT]
    return found


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

    said = " ".join(f"{type(problem).__name__}: {problem}".split())[:_HEADER_LIMIT]
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
