"""Several commands, each in a process of its own that has loaded what all of them need.

`python -m tests.execute.commands FOLDER COMMAND…`: a child is split off for each command, so that
none knows what another has read, and none pays for the interpreter's start.
"""

import os
import shlex
import sys

import pipeline.cli
import pipeline.execute.stage  # noqa: F401
from pipeline.__main__ import main

if __name__ == "__main__":
    folder, *commands = sys.argv[1:]
    for command in commands:
        child = os.fork()
        if not child:
            sys.argv = ["flavourbench", *shlex.split(command), "-w", folder]
            main()
            sys.exit()
        os.waitpid(child, 0)
        sys.stdout.write(f"ended: {command}\n")
        sys.stdout.flush()
