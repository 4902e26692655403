"""`flavourbench` and `python -m pipeline`: runs a command, one clear line for what goes wrong."""

from __future__ import annotations

import io
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; errors of ours become one line and their exit code.

    What a terminal's encoding cannot show is escaped instead of ending the command.
    """
    from pipeline.cli import app
    from pipeline.errors import FlavourbenchError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except FlavourbenchError as problem:
        sys.stderr.write(f"flavourbench: {problem}\n")
        raise SystemExit(problem.exit_code) from None


if __name__ == "__main__":
    main()
