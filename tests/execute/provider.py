"""A real loopback server that speaks the chat-completions API and plays every fault.

A `Provider` serves on its own thread. What it does is decided by a function from a `Call` to an
`Act`; the default answers well. Everything it saw is kept: the prompts, in order, and the heads.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import Counter
from typing import NamedTuple

from schemas.taskset import PORTFOLIOS

MODEL = "m-1"


class Call(NamedTuple):
    """A request as it came: its path, headers, body, prompt, and how often the prompt came."""

    path: str
    headers: dict
    document: dict
    prompt: str
    time: int


class Act(NamedTuple):
    """What the server does: the bytes of a reply, in parts, and how it ends.

    `pause` is slept before each part, in seconds.
    """

    parts: tuple = ()
    close: bool = False
    reset: bool = False
    pause: float = 0.0


def reply(status=200, body=b"", *, headers=None, length=None, kind="application/json"):
    """A whole reply; `length` lies about its size."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": kind, "Content-Length": len(data) if length is None else length}
    head = "".join(f"{k}: {v}\r\n" for k, v in (fields | (headers or {})).items())
    lied = length is not None and length != len(data)
    return Act((f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + data,), close=lied)


def completion(text, *, finish="stop", model=MODEL, message=None, **more):
    """The body of a good reply."""
    said = {"role": "assistant", "content": text} | (message or {})
    return {
        "id": "x1",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": {"prompt_tokens": 210, "completion_tokens": 64, "total_tokens": 274},
    } | more


def answer_to(prompt):
    """The same answer to a prompt, whenever and by whom it is asked."""
    place = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4]) % len(PORTFOLIOS)
    return f"FINAL_SELECTION: {', '.join(PORTFOLIOS[place])}"


def good(call):
    return reply(body=completion(answer_to(call.prompt)))


class Provider:
    """The server; use it as a context manager.

    Parameters
    ----------
    behave
        From a call to an act.
    tls
        A server-side SSL context, for https.
    port
        Where it listens; 0 for any.
    """

    def __init__(self, behave=good, tls=None, port=0):
        self.behave, self.tls, self.port = behave, tls, port
        self.prompts, self.heads, self.paths = [], [], []
        self.times = Counter()
        self.under_way = self.most = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://localhost:{self.port}/v1"

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._talk, "127.0.0.1", self.port, ssl=self.tls)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _talk(self, reader, writer):
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader, writer):
        """One request and its act; whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        document = json.loads(data) if data else {}
        prompt = document["messages"][-1]["content"] if document else ""
        path = first.split()[1]
        self.paths.append(path)
        if document:
            self.times[prompt] += 1
            self.prompts.append(prompt)
            self.heads.append(headers)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        act = self.behave(Call(path, headers, document, prompt, self.times[prompt]))
        try:
            return await self._play(act, writer)
        finally:
            self.under_way -= 1

    async def _play(self, act, writer):
        for part in act.parts:
            if act.pause:
                await asyncio.sleep(act.pause)
            writer.write(part)
            await writer.drain()
        if act.reset:
            writer.transport.abort()
        return not (act.close or act.reset)
