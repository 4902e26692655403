"""A process that executes with an adapter of the tests: `child LOG HOLD CONCURRENCY arguments…`.

Every ask appends a line to LOG and then says it on standard output. From the ask numbered HOLD on,
asks wait until something comes on standard input (0: none waits).
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys

from pipeline.__main__ import main
from pipeline.asking import filling, runner
from tests.execute.small import answer_to


class Watched:
    costs_money = False

    def __init__(self, log, hold):
        self._log, self._hold, self._asked = log, hold, 0
        self._gate = None

    async def ask(self, request):
        self._asked += 1
        number = self._asked
        line = f"{request.question.id}\n".encode()
        os.write(self._log, line)
        os.write(1, line)
        if self._hold and number >= self._hold:
            if self._gate is None:
                self._gate = asyncio.Event()
                asyncio.get_running_loop().add_reader(0, self._open)
            await self._gate.wait()
        return answer_to(request)

    def _open(self):
        asyncio.get_running_loop().remove_reader(0)
        self._gate.set()


if __name__ == "__main__":
    path, held, workers = sys.argv[1:4]
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    filling.bind_route = lambda *_: Watched(log, int(held))
    filling.plain_job = functools.partial(runner.plain_job, concurrency=int(workers))
    sys.argv[1:] = sys.argv[4:]
    main()
