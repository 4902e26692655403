"""A program for the adapter `command`: answers each line in the way that its first argument names.

`log`, where it is named, gets the id of every question, so that a test can count what was asked.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

WAYS = {
    "good": lambda q: {"id": q["id"], "answer": "FINAL_SELECTION: A, B, C", "prompt_tokens": 9},
    "echo": lambda q: {"id": q["id"], "answer": json.dumps(q, sort_keys=True)},
    "null": lambda q: {"id": q["id"], "answer": None},
    "error": lambda q: {"id": q["id"], "answer": None, "error": "out of memory\nat layer 3"},
    "long": lambda q: {"id": q["id"], "answer": "…", "finish_reason": "length"},
    "other": lambda _: {"id": "another", "answer": "FINAL_SELECTION: A, B, C"},
    "shape": lambda q: {"id": q["id"], "answer": 3},
    "extra": lambda q: {"id": q["id"], "answer": "x", "mood": "good"},
    "half": lambda q: {"id": q["id"], "answer": "\ud800"},
}


def main() -> None:
    """Answer until the questions end."""
    way, log = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.devnull
    for number, line in enumerate(sys.stdin, start=1):
        question = json.loads(line)
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{question['id']}\n")
        if way == "silent":
            time.sleep(600)
        if way == "dies" or (way == "third" and number == 3):
            print("CUDA error: device lost", file=sys.stderr, flush=True)
            os._exit(7)
        if way == "cut":
            sys.stdout.write('{"id": "t-0')
            sys.stdout.flush()
            os._exit(0)
        if way == "noise":
            print("Loading weights …", flush=True)
            continue
        if way == "flood":
            sys.stdout.write("x" * (5 * 2**20))
            sys.stdout.flush()
            continue
        if way == "chatty":
            print("warning " * 50_000, file=sys.stderr, flush=True)
        print(json.dumps(WAYS.get(way, WAYS["good"])(question)), flush=True)


if __name__ == "__main__":
    main()
