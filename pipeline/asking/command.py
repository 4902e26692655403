"""Asks a program on this machine: one JSON line a question in, one JSON line an answer out.

The program is started once and kept between questions; where a route allows several at a time,
so many programs run beside each other. It is asked::

    {"id": "…", "prompt": "…", "system": "…" or null, "repeat": 0, "settings": {…}}

and answers, on one line, in the order in which it was asked::

    {"id": "…", "answer": "…" or null, "finish_reason": "stop", "prompt_tokens": 9,
     "completion_tokens": 3}

where all but `id` and `answer` may be left out, and `"error": "…"` in place of an answer says that
this try failed. What it writes to standard error is kept for the case that it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints, ValidationError

from pipeline.asking.adapter import Exchange, Listing, Reply
from pipeline.asking.vocabulary import finish_outcome
from pipeline.errors import Cause, FlavourbenchError, wrong_field
from pipeline.files import parse_json
from schemas.endpoint import Prices
from schemas.execution import Outcome
from schemas.record import Count, Record

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.asking.adapter import Question, Questions, Request
    from pipeline.asking.routes import BoundRoute
    from schemas.record import IdentityValue
    from schemas.routes import CommandRoute

__all__ = ["KEPT_FOR", "CommandAdapter", "identity", "make"]

KEPT_FOR = "its program may answer otherwise another time"

_LINE_LIMIT = 4 * 2**20
"""Most bytes of an answer's line."""

_EXCERPT = 2**16
_SAID_LIMIT = 300
_CHARACTERS = 4  # of a prompt in a token
_PATIENCE = 5.0
"""Seconds that a program has to end after its questions have."""


class _Answer(Record):
    """One line of a program."""

    id: str
    answer: str | None
    finish_reason: Annotated[str, StringConstraints(max_length=500)] | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    error: Annotated[str, Field(min_length=1)] | None = None


def identity(route: CommandRoute) -> dict[str, IdentityValue]:
    """What can change an answer: how the program is called, its weights, and what it is told."""
    return {
        "argv": [*route.argv],
        "model": route.model,
        "settings": json.dumps(route.settings, sort_keys=True, ensure_ascii=False),
        "system": route.system,
        "weights_sha256": route.weights_sha256,
    }


def make(bound: BoundRoute, questions: Questions, root: Path) -> CommandAdapter:  # noqa: ARG001  # as all makers
    """The adapter of a route to a program, started in the workspace's folder."""
    route: Any = bound.route
    return CommandAdapter(route, bound.slug, root)


class CommandAdapter:
    """Asks one route's program.

    Parameters
    ----------
    route
        The route.
    slug
        Its name, for errors.
    root
        The folder that the program is started in.
    """

    costs_money = True  # what it answered cannot be derived again
    cap_micros = None
    prices = Prices(prompt_usd_per_mtok=Decimal(0), completion_usd_per_mtok=Decimal(0))
    secrets = ()

    def __init__(self, route: CommandRoute, slug: str, root: Path) -> None:
        self.route, self.slug, self.limits = route, slug, route.limits
        self.host = f"program {slug}"
        self._root = root
        self._idle: asyncio.Queue[_Program] = asyncio.Queue()
        self._programs = [_Program(route.argv, root) for _ in range(route.limits.concurrency)]
        for program in self._programs:
            self._idle.put_nowait(program)

    def unlock(self) -> None:
        """Nothing is locked; a program is started with its first question."""

    def missing_secrets(self) -> tuple[str, ...]:
        """No secret is needed."""
        return ()

    def most_micros(self, question: Question, prices: Prices | None = None) -> int | None:  # noqa: ARG002  # as every provider
        """A local program costs nothing."""
        return 0

    def tokens(self, question: Question) -> int:
        """About how many tokens a question has."""
        return len(question.prompt) // _CHARACTERS

    async def listing(self) -> Listing:
        """Start the program and stop it again."""
        program = _Program(self.route.argv, self._root)
        try:
            await program.start()
        except OSError as problem:
            return Listing(f"cannot be started: {problem.strerror}", "-", ready=False)
        finally:
            await program.stop()
        return Listing("starts", self.route.model, ready=True)

    async def close(self) -> None:
        """End the programs."""
        await asyncio.gather(*(program.stop() for program in self._programs))

    async def ask(self, request: Request) -> Reply:
        """One try. Whatever the program does is an outcome."""
        question = request.question
        document = {
            "id": question.id,
            "prompt": question.prompt,
            "system": "\n\n".join(t for t in (self.route.system, question.system) if t) or None,
            "repeat": question.repeat,
            "settings": self.route.settings,
        }
        program = await self._idle.get()
        begun = time.monotonic_ns()
        try:
            reply = await self._answer(program, question.id, document)
        except BaseException:
            program.kill()  # an answer to this question must not be taken for the next one's
            raise
        finally:
            self._idle.put_nowait(program)
        took = (time.monotonic_ns() - begun) // 1_000_000
        exchange = (reply.exchange or Exchange())._replace(latency_ms=took, cost_micros=0)
        return reply._replace(exchange=exchange)

    async def _answer(self, program: _Program, name: str, document: dict[str, Any]) -> Reply:
        data = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            async with asyncio.timeout(self.limits.timeout_ms / 1000):
                line = await program.exchange(data)
        except TimeoutError:
            program.kill()
            return _failure(Outcome.TIMEOUT, f"no answer within {self.limits.timeout_ms} ms")
        except asyncio.LimitOverrunError:
            program.kill()
            return _failure(Outcome.BODY_TOO_LARGE, f"a line of more than {_LINE_LIMIT:,} bytes")
        except OSError as problem:
            return _failure(Outcome.CONFIGURATION, f"{self.route.argv[0]}: {problem.strerror}")
        if not line.endswith(b"\n"):
            return _failure(Outcome.PROVIDER_ERROR, await program.last_words(), line)
        reply = _read(line, name)
        if reply.outcome in {Outcome.NOT_JSON, Outcome.MALFORMED}:
            program.kill()  # who knows which question its next line answers
        return reply


class _Program:
    """One process, started when it is first asked and again after it has ended."""

    def __init__(self, argv: tuple[str, ...], root: Path) -> None:
        self._argv, self._root = argv, root
        self._process: asyncio.subprocess.Process | None = None
        self._listener: asyncio.Task[None] | None = None
        self._ended: list[tuple[asyncio.subprocess.Process, asyncio.Task[None] | None]] = []
        self._said = bytearray()

    async def start(self) -> None:
        """Start it, if it does not run. Raises `OSError` where it cannot be started."""
        if self._process is not None and self._process.returncode is None:
            return
        self._said.clear()
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self._root,
            limit=_LINE_LIMIT, start_new_session=True,  # Ctrl-C ends the run, between answers
        )  # fmt: skip
        self._listener = asyncio.create_task(self._listen(self._process))

    async def exchange(self, data: bytes) -> bytes:
        """Send a line and read one; less than a line where the program ended."""
        await self.start()
        assert self._process is not None and self._process.stdin and self._process.stdout  # noqa: PT018, S101  # started
        with contextlib.suppress(ConnectionError):  # it ended; what it still said tells why
            self._process.stdin.write(data)
            await self._process.stdin.drain()
        try:
            return await self._process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as cut:
            return cut.partial

    async def last_words(self) -> str:
        """Why it ended: its exit code and the end of what it wrote to standard error."""
        assert self._process is not None  # noqa: S101  # it was asked
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._process.wait()
                if self._listener is not None:
                    await self._listener
        said = " ".join(self._said.decode("utf-8", "replace").split())
        code = self._process.returncode
        self.kill()
        return f"the program ended with {code}: {said[-_SAID_LIMIT:] or 'it said nothing'}"

    def kill(self) -> None:
        """End it and what it has started, at once."""
        process, self._process = self._process, None
        if process is None:
            return
        self._ended.append((process, self._listener))
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    async def stop(self) -> None:
        """Let it end; end it where it does not."""
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await process.wait()
        self.kill()
        for ended, listener in self._ended:
            await ended.wait()
            if listener is not None:
                await listener
        self._ended.clear()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of standard error, so that the program never waits for a reader."""
        assert process.stderr is not None  # noqa: S101  # it has pipes
        while chunk := await process.stderr.read(_EXCERPT):
            self._said += chunk
            del self._said[:-_EXCERPT]


def _read(line: bytes, name: str) -> Reply:
    """What a line of a program says of the question of a name."""
    try:
        said = _Answer.model_validate(parse_json(line, "the program's line", FlavourbenchError))
        raw = (said.answer or "").encode("utf-8")
    except FlavourbenchError as problem:
        outcome = Outcome.NOT_JSON if problem.cause is Cause.NO_JSON else Outcome.MALFORMED
        return _failure(outcome, f"{problem.expected}, found {problem.found}", line)
    except ValidationError as problem:
        wrong = wrong_field(problem, "line")
        return _failure(Outcome.MALFORMED, f"{wrong.name}: {wrong.expected}", line)
    except UnicodeEncodeError:
        return _failure(Outcome.MALFORMED, "answer: text that UTF-8 cannot hold", line)
    if said.id != name:
        return _failure(Outcome.MALFORMED, f"an answer to {said.id!r} in place of {name!r}", line)
    return _said(said, raw, line)


def _said(said: _Answer, raw: bytes, line: bytes) -> Reply:
    """The reply that a sound line comes to."""
    exchange = Exchange(
        finish_reason=said.finish_reason,
        prompt_tokens=said.prompt_tokens,
        completion_tokens=said.completion_tokens,
    )
    if said.error is not None:
        told = exchange._replace(detail=_one_line(said.error))
        return Reply(Outcome.PROVIDER_ERROR, "text", line[:_EXCERPT], told)
    if said.answer is None:
        return Reply(Outcome.FAILED, "text", b"", exchange._replace(detail="no answer"))
    return Reply(finish_outcome(said.finish_reason), "text", raw, exchange)


def _failure(outcome: Outcome, said: str, raw: bytes = b"") -> Reply:
    return Reply(outcome, "text", raw[:_EXCERPT], Exchange(detail=_one_line(said)))


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))[:_SAID_LIMIT]
