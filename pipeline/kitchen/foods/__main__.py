"""`python -m pipeline.kitchen.foods SOURCE [--write]`: make the food table again and compare."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipeline.errors import FlavourbenchError
from pipeline.kitchen.foods.rebuild import check

__all__ = ["main"]


def main() -> int:
    """Check or write the table. Exit code 0 equal, 1 another table, 2 a wrong source."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.kitchen.foods", description=__doc__)
    parser.add_argument("source", type=Path, help="CSV of foods with facts per 100 g")
    parser.add_argument("--write", action="store_true", help="write the table instead")
    arguments = parser.parse_args()
    try:
        sys.stdout.write(check(arguments.source, write=arguments.write) + "\n")
    except FlavourbenchError as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
