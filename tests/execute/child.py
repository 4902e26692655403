"""A process that executes with an adapter of the tests: `child LOG HOLD CONCURRENCY arguments…`.

Every ask appends a line to LOG and then says it on standard output. From the ask numbered HOLD on,
an ask waits for a line on standard input (0: none waits).
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys

from pipeline.__main__ import main
from pipeline.execute import runner, stage
from tests.execute.small import answer_to


class Watched:
    costs_money = False

    def __init__(self, log, hold):
        self._log, self._hold, self._asked = log, hold, 0

    async def ask(self, request):
        self._asked += 1
        number = self._asked
        line = f"{request.task_id}\n".encode()
        os.write(self._log, line)
        os.write(1, line)
        if self._hold and number >= self._hold:
            await _line_on_stdin()
        return answer_to(request)


async def _line_on_stdin():
    loop = asyncio.get_running_loop()
    come = loop.create_future()
    loop.add_reader(0, lambda: come.done() or come.set_result(None))
    await come
    loop.remove_reader(0)
    os.read(0, 1)


if __name__ == "__main__":
    path, held, workers = sys.argv[1:4]
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    stage.bind_route = lambda *_: Watched(log, int(held))
    stage.run_requests = functools.partial(runner.run_requests, concurrency=int(workers))
    sys.argv[1:] = sys.argv[4:]
    main()
