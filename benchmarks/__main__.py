"""Runs every benchmark: `make bench`. Figures are ratios within one run on one machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

BENCHMARKS = (
    "freeze", "parse", "statistics", "hashing", "execute", "audit", "exchange", "repro",
)  # fmt: skip


def main() -> None:
    """Run each benchmark in a process of its own."""
    print(
        f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}\n",
        flush=True,
    )
    for name in BENCHMARKS:
        print(f"## {name}\n", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
        print(flush=True)


if __name__ == "__main__":
    main()
