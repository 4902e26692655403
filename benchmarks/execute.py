"""Asking 4,000 cells at concurrency 32: ours, every cell on the disk, against a bare httpx loop.

Both ask the same loopback server, a process of its own that answers at once. The plain version
stores nothing. `python -m benchmarks.execute flat` shows that memory does not grow with the cells:
it asks 100,000 of them and prints the resident size on the way.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from benchmarks.measure import Race, main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.asking.adapter import Request
    from pipeline.asking.tally import Tally, Watch

CELLS, MANY, CONCURRENCY = 4_000, 100_000, 32
_BODY = json.dumps(
    {
        "id": "x",
        "model": "m-1",
        "choices": [{"message": {"content": "FINAL_SELECTION: A, B, C"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 20},
    }
).encode()
_REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)


class _Ready(NamedTuple):
    """The server's address, and the process that ends with ours."""

    url: str
    server: subprocess.Popen[str]


class _Server(asyncio.Protocol):
    """Answers every request at once, by its declared length alone."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._data = cast("asyncio.Transport", transport), b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, rest = self._data.partition(b"\r\n\r\n")
        if found:
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            if len(rest) >= length:
                self._data = rest[length:]
                self._transport.write(_REPLY)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def _prepare() -> _Ready:
    command = [sys.executable, "-m", "benchmarks.execute", "serve"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return _Ready(f"http://127.0.0.1:{server.stdout.readline().strip()}/v1", server)


def _requests(count: int) -> list[Request]:
    from pipeline.asking.adapter import Question, Questions, make_requests

    route = "1" * 64
    asked = [Question(f"t-{i}", f"{i:064x}", f"Question {i}?" * 40) for i in range(count)]
    return make_requests(Questions("2" * 64, tuple(asked), {}), route)


def _plain(prepared: object) -> str:
    import httpx

    url = cast("_Ready", prepared).url
    prompts: Iterator[str] = (request.question.prompt for request in _requests(CELLS))
    answers: list[bytes] = []

    async def work(client: httpx.AsyncClient) -> None:
        for prompt in prompts:
            body = {"model": "m-1", "messages": [{"role": "user", "content": prompt}]}
            reply = await client.post(f"{url}/chat/completions", json=body)
            reply.json()
            answers.append(reply.content)

    async def run() -> None:
        async with httpx.AsyncClient() as client:
            await asyncio.gather(*(work(client) for _ in range(CONCURRENCY)))

    asyncio.run(run())
    return _evidence(answers)


def _ours(prepared: object) -> str:
    return _evidence(_ask(cast("_Ready", prepared).url, CELLS))


def _ask(url: str, cells: int, watch: Watch | None = None) -> list[bytes]:
    """Ask so many cells; the answers as the ledger holds them."""
    from pipeline.asking.ledger import open_ledger
    from pipeline.asking.line import Hosts, paid_job
    from pipeline.asking.openai import OpenAiAdapter
    from pipeline.asking.runner import run_jobs
    from pipeline.asking.tally import unwatched
    from schemas.routes import OpenAiRoute

    route = {
        "adapter": "openai",
        "base_url": url,
        "model": "m-1",
        "label": "M",
        "ranked": True,
        "limits": {"concurrency": CONCURRENCY},
    }
    adapter = OpenAiAdapter(OpenAiRoute.model_validate_json(json.dumps(route)), "m")
    with (
        tempfile.TemporaryDirectory(dir=_build()) as folder,
        open_ledger(Path(folder) / "m.sqlite") as ledger,
    ):
        job = paid_job(adapter, ledger, _requests(cells), "1" * 64, Hosts(), give_up=False)
        with (watch or unwatched)([job.tally]):
            problems = run_jobs([job])
        assert problems == [None], problems
        return [row.raw for row in ledger.responses()] if watch is None else []


def _build() -> Path:
    """A folder on the disk that the project lies on, ignored by git."""
    folder = Path("build")
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def _resident(tallies: Sequence[Tally]) -> Iterator[None]:
    """Print the resident size after every tenth of the cells."""
    import psutil

    process, over = psutil.Process(), threading.Event()
    (tally,) = tallies

    def look() -> None:
        step, at = tally.total // 10, 0
        while not over.wait(0.05):
            if tally.done >= at:
                print(f"{at:>8,} cells  {process.memory_info().rss / 2**20:>6.0f} MB", flush=True)
                at += step

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    print(f"{tally.done:>8,} cells  {process.memory_info().rss / 2**20:>6.0f} MB")


def _evidence(answers: list[bytes]) -> str:
    return f"{len(answers)} {hashlib.sha256(b''.join(sorted(answers))).hexdigest()}"


RACE = Race(
    "benchmarks.execute",
    f"execute: {CELLS:,} cells at concurrency {CONCURRENCY}, a server that answers at once",
    _prepare,
    {"plain": _plain, "ours": _ours},
    repeats=3,
)

if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(_serve())
    elif sys.argv[1:] == ["flat"]:
        _ask(_prepare().url, MANY, _resident)
    else:
        main(RACE)
