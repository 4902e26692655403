"""How the statistics are computed: seed, draws, stream and contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pipeline.errors import InputError

if TYPE_CHECKING:
    from pipeline.inference.streams import StreamName

__all__ = ["InferenceName", "Settings"]

InferenceName = Literal["calibrated", "published"]
_MIN_REPLICATES = 2


@dataclass(frozen=True)
class Settings:
    """How the statistics are computed.

    Parameters
    ----------
    seed
        Seed of the stream.
    bootstrap_draws, sign_draws
        Numbers of replicates (2 or more) and of sign rows (1 or more).
    stream
        Name of the stream.
    inference
        Name of the contract; ``pcg64`` allows ``published`` only.
    block
        Draws in floating point at once, per thread; bounds memory, changes no result.
    threads
        Threads; None takes one per processor, at most 8. Changes no result.

    Raises
    ------
    InputError
        A number is out of range, or stream and contract do not go together.
    """

    seed: int
    bootstrap_draws: int = 50_000
    sign_draws: int = 100_000
    stream: StreamName = "blake3"
    inference: InferenceName = "published"
    block: int = 500
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("bootstrap_draws", _MIN_REPLICATES),
            ("sign_draws", 1),
            ("block", 1),
            ("threads", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(
                    f"{least} or more",
                    str(value),
                    f"statistics.{name}",
                    "Set it in params.yaml.",
                )
        if self.inference not in {"calibrated", "published"} or (
            self.inference == "calibrated" and self.stream != "blake3"
        ):
            raise InputError(
                "calibrated (with the stream blake3) or published",
                f"{self.inference} with the stream {self.stream}",
                "statistics.inference",
                "Set `statistics.inference` and `statistics.stream` in params.yaml.",
            )
