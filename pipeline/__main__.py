"""`flavourbench` and `python -m pipeline`: runs a command, one clear line for what goes wrong."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from typing_extensions import Buffer

__all__ = ["main"]

_READER_LEFT = 141
"""What a shell says of a program whose reader has seen enough: 128 and the number of SIGPIPE."""


class _Output(io.FileIO):
    """Standard output: what cannot be written ends the command.

    A reader that left (`| head -1`) ends it silently; a full disk is told in a line.
    """

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError as problem:
            _discard(self.fileno())  # so that the interpreter's last flush finds a taker
            if isinstance(problem, BrokenPipeError):
                raise SystemExit(_READER_LEFT) from None
            raise _unwritable(problem.strerror or "a failed write") from None


class _Messages(io.FileIO):
    """Standard error: where it cannot be written, nobody can be told, and the command goes on."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def main() -> None:
    """Run the command line; errors of ours become one line and their exit code.

    What a terminal's encoding cannot show is escaped instead of ending the command. A closed
    standard output is refused before anything is done.
    """
    from pipeline.errors import FlavourbenchError

    try:
        _open_streams()
        from pipeline.cli import app

        try:
            app()
        finally:
            sys.stdout.flush()  # what is still held back must reach its place, or be told
    except FlavourbenchError as problem:
        sys.stderr.write(f"flavourbench: {problem}\n")
        raise SystemExit(problem.exit_code) from None


def _open_streams() -> None:
    """Standard streams that fail in a known way.

    A closed one is opened on nothing, or else the next file that is opened would take its number
    and get what is meant for the terminal.
    """
    lost = [stream is None for stream in (sys.stdin, sys.stdout, sys.stderr)]
    for number in (number for number, closed in enumerate(lost) if closed):
        _discard(number)
    if lost[2]:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  # lasts as long as we do
    if lost[1]:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stdout = _guarded(sys.stdout, _Output)
    sys.stderr = _guarded(sys.stderr, _Messages)
    if lost[1]:
        raise _unwritable("it closed")


def _guarded(stream: TextIO, kind: type[io.FileIO]) -> TextIO:
    """A stream of the process written through `kind`; any other is left as it is."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(kind(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding, errors="backslashreplace",
        line_buffering=stream.line_buffering, write_through=stream.write_through,
    )  # fmt: skip


def _discard(number: int) -> None:
    """Open nothing under a stream's number."""
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
    os.set_inheritable(number, True)


def _unwritable(found: str) -> Exception:
    from pipeline.errors import InputError

    return InputError(
        "a place that takes what the command says", found, "standard output",
        "Write to a file on a disk with room, or to /dev/null where nothing is wanted.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
