"""Random draws as a contract: two named streams of bootstrap counts and signs.

Stream ``blake3`` (default) is defined here to the byte and is the same on every machine.

1. *Pages.* Draws are numbered from 0 and grouped in pages: 500 bootstrap replicates
   (`BOOTSTRAP_PAGE`) or 2000 sign rows (`SIGN_PAGE`). Page p = 0, 1, … has a byte stream of its
   own, from its byte 0: the extendable output of BLAKE3 in derive-key mode, context
   ``flavourbench v1 stream``, key material the canonical JSON
   ``{"draw":p,"purpose":"bootstrap","seed":s}`` (or ``"signs"``; no blanks, keys sorted, UTF-8).
2. *Cluster indices.* With C clusters, the bytes are read as little-endian unsigned words of
   w = 16 bits (C <= 65536) or w = 32 bits (above). A word x is skipped if
   x*C mod 2^w < 2^w mod C; otherwise it gives the index floor(x*C / 2^w), which is unbiased
   (Lemire, ACM TOMACS 29(1), 2019).
3. *Replicates.* Every C accepted indices in a row are one replicate, and its counts say how often
   each cluster was drawn. A replicate in which some family has no task is dropped whole. The page
   reads on until it has the replicates that are asked for; a last page may be asked for fewer, and
   gives the first ones. Dropping more than 100 pages' worth in one page is an error.
4. *Signs.* A row is ceil(C/8) consecutive bytes; cluster c has bit c mod 8 (bit 0 the least) of
   byte floor(c/8); a set bit is +1, a clear bit -1. Unused bits are ignored.
5. *Guesses.* Pages of 2000 guessers (`GUESS_PAGE`), purpose ``"guesses"``. Words give indices by
   rule 2 with C = the number of choices; every T indices in a row are one guesser's choices on the
   T tasks, in their order.

The first n draws of a seed are therefore the same whatever number is asked for, and pages may be
computed in any order. Scores, pairs and chance share the same draws.

Stream ``pcg64`` reproduces the published release with NumPy's generator: replicates are
``default_rng(seed).multinomial(C, [1/C]*C, size=<=250)`` in order, sign rows are
``integers(0, 2, size=(<=1000, C), dtype=int8)``; scores and the chance bootstrap use the seed,
chance signs seed+1, pair signs seed+2 and pair intervals seed+3 (docs/statistics.md). Its
tolerance of 1e-12 score units lets exact ties count as extreme in spite of rounding; integer
statistics see ties as they are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from pipeline.errors import InputError
from pipeline.identity import canonical_bytes
from pipeline.inference.exact import product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pipeline.inference.matrix import IntArray

__all__ = [
    "GUESS_PAGE",
    "MAX_ENUMERATED_CLUSTERS",
    "Blake3Stream",
    "DrawStream",
    "IndexReader",
    "Page",
    "Pcg64Stream",
    "Role",
    "StreamName",
    "enumerate_signs",
    "open_stream",
]

Role = Literal["scores", "chance", "pairs"]
StreamName = Literal["blake3", "pcg64"]
Purpose = Literal["bootstrap", "signs", "guesses"]
Counts = NDArray[np.float32]
Bits = NDArray[np.uint8]

BOOTSTRAP_PAGE = 500
SIGN_PAGE = 2000
GUESS_PAGE = 2000
MAX_ENUMERATED_CLUSTERS = 16
_CONTEXT = "flavourbench v1 stream"
_SHORT_WORD_CHOICES = 2**16
_HOPELESS_PAGES = 100
# Small enough for a processor's second-level cache; no part of the contract.
_STEP_INDICES = 2**16
_PCG64_REPLICATES = 250
_PCG64_SIGNS = 1000


class Page(NamedTuple):
    """A run of draws that can be computed on its own.

    Attributes
    ----------
    start
        Number of the first draw.
    rows
        Number of draws.
    draw
        Computes them. Bootstrap: how often each cluster was drawn, whole numbers in float32,
        shape (rows, C). Signs: bits, shape (rows, C), 1 for +1 and 0 for -1.
    """

    start: int
    rows: int
    draw: Callable[[], NDArray[Any]]


class DrawStream(Protocol):
    """A source of draws, and what an analysis that draws from it goes by.

    `shared` says that all roles see the same draws, `tied_in_order` that models which tie in a
    replicate rank there in the order of the matrix (see `bootstrap.rank_intervals`).
    """

    shared: bool
    tied_in_order: bool

    def bootstrap(self, sizes: IntArray, draws: int, role: Role) -> Iterator[Page]:
        """Pages of replicates for clusters with `sizes` tasks per family, shape (C, F)."""

    def signs(self, clusters: int, draws: int, role: Role) -> Iterator[Page]:
        """Pages of sign rows for `clusters` clusters."""


class Blake3Stream:
    """The stream of the contract above, for one seed (within ±(2^53 - 1))."""

    shared = True
    tied_in_order = False

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def bootstrap(self, sizes: IntArray, draws: int, role: Role) -> Iterator[Page]:
        """Pages of replicates; every role sees the same."""
        del role
        present = (sizes > 0).astype(np.float32)
        for number, start in enumerate(range(0, draws, BOOTSTRAP_PAGE)):
            rows = min(BOOTSTRAP_PAGE, draws - start)
            yield Page(start, rows, partial(_counts_page, self.seed, number, rows, present))

    def signs(self, clusters: int, draws: int, role: Role) -> Iterator[Page]:
        """Pages of sign rows; every role sees the same."""
        del role
        for number, start in enumerate(range(0, draws, SIGN_PAGE)):
            rows = min(SIGN_PAGE, draws - start)
            yield Page(start, rows, partial(_signs_page, self.seed, number, rows, clusters))


class Pcg64Stream:
    """The published release's stream, for one seed (not negative), with its rule of ties."""

    shared = False
    tied_in_order = True

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def bootstrap(self, sizes: IntArray, draws: int, role: Role) -> Iterator[Page]:
        """Pages of replicates: the seed for scores and chance, seed+3 for pairs."""
        rng = np.random.default_rng(self.seed + (3 if role == "pairs" else 0))
        clusters = sizes.shape[0]
        present = (sizes > 0).astype(np.float32)
        done = dropped = 0
        while done < draws:
            batch = min(_PCG64_REPLICATES, draws - done)
            drawn = rng.multinomial(clusters, [1 / clusters] * clusters, size=batch)
            counts = _with_every_family(drawn.astype(np.float32), present)
            dropped += batch - len(counts)
            if dropped > _HOPELESS_PAGES * max(BOOTSTRAP_PAGE, done):
                raise _hopeless(dropped)
            yield Page(done, len(counts), partial(_same, counts))
            done += len(counts)

    def signs(self, clusters: int, draws: int, role: Role) -> Iterator[Page]:
        """Pages of sign rows: seed+1 for chance, seed+2 for pairs."""
        rng = np.random.default_rng(self.seed + (2 if role == "pairs" else 1))
        for start in range(0, draws, _PCG64_SIGNS):
            rows = min(_PCG64_SIGNS, draws - start)
            bits = rng.integers(0, 2, size=(rows, clusters), dtype=np.int8).astype(np.uint8)
            yield Page(start, rows, partial(_same, bits))


def open_stream(name: StreamName, seed: int) -> DrawStream:
    """The stream of that name.

    Raises
    ------
    InputError
        There is no such stream, or the seed is negative for ``pcg64``.
    """
    if name == "blake3":
        return Blake3Stream(seed)
    if name == "pcg64" and seed >= 0:
        return Pcg64Stream(seed)
    raise InputError(
        "stream blake3 or pcg64 (with a seed of 0 or more)",
        f"{name} with seed {seed}",
        "statistics stream",
        "Set `statistics.stream` and `statistics.seed` in params.yaml.",
    )


def enumerate_signs(clusters: int) -> Iterator[Page]:
    """All 2^C sign rows of C <= 16 clusters, in binary order, bit c for cluster c."""
    total = 2**clusters
    for start in range(0, total, SIGN_PAGE):
        rows = min(SIGN_PAGE, total - start)
        yield Page(start, rows, partial(_binary_rows, start, rows, clusters))


def _same(values: NDArray[Any]) -> NDArray[Any]:
    return values


def _binary_rows(start: int, rows: int, clusters: int) -> Bits:
    numbers = np.arange(start, start + rows, dtype=np.int64)[:, None]
    return ((numbers >> np.arange(clusters)) & 1).astype(np.uint8)


def _with_every_family(counts: Counts, present: Counts) -> Counts:
    """The replicates (rows) in which every family has a task."""
    whole = np.all(product(counts, present) > 0, axis=1)
    return counts if whole.all() else counts[whole]


def _signs_page(seed: int, number: int, rows: int, clusters: int) -> Bits:
    width = -(-clusters // 8)
    raw = _page_bytes(seed, number, "signs").digest(length=rows * width)
    packed = np.frombuffer(raw, dtype=np.uint8).reshape(rows, width)
    return np.unpackbits(packed, axis=1, count=clusters, bitorder="little")


def _counts_page(seed: int, number: int, rows: int, present: Counts) -> Counts:
    clusters = present.shape[0]
    reader = IndexReader(seed, number, "bootstrap", clusters)
    counts = np.empty((rows, clusters), dtype=np.float32)
    step = max(1, _STEP_INDICES // clusters)
    filled = dropped = 0
    while filled < rows:
        batch = min(step, rows - filled)
        cells = reader.take(batch * clusters).reshape(batch, clusters)
        cells += (np.arange(batch) * clusters)[:, None]
        drawn = np.bincount(cells.ravel(), minlength=batch * clusters).reshape(batch, clusters)
        whole = _with_every_family(drawn.astype(np.float32), present)
        counts[filled : filled + len(whole)] = whole
        filled += len(whole)
        dropped += batch - len(whole)
        if dropped > _HOPELESS_PAGES * BOOTSTRAP_PAGE:
            raise _hopeless(dropped)
    return counts


class IndexReader:
    """Accepted indices 0..`choices` - 1 of one page, in order."""

    def __init__(self, seed: int, number: int, purpose: Purpose, choices: int) -> None:
        self._output = _page_bytes(seed, number, purpose)
        self._choices = choices
        short = choices <= _SHORT_WORD_CHOICES
        self._word = np.dtype("<u2" if short else "<u4")
        self._wide = np.dtype("<u4" if short else "<u8")
        self._bits = 8 * self._word.itemsize
        self._offset = 0
        self._pending: NDArray[Any] = np.empty(0, dtype=self._word)

    def take(self, count: int) -> IntArray:
        """The next `count` indices."""
        while self._pending.size < count:
            missing = count - self._pending.size
            length = self._word.itemsize * (missing + missing // 64 + 16)
            raw = self._output.digest(length=length, seek=self._offset)
            self._offset += length
            accepted = self._accepted(np.frombuffer(raw, dtype=self._word))
            self._pending = np.concatenate([self._pending, accepted])
        words, self._pending = self._pending[:count], self._pending[count:]
        indices = words.astype(self._wide)
        indices *= self._choices
        indices >>= self._bits
        return indices.astype(np.int64)

    def _accepted(self, words: NDArray[Any]) -> NDArray[Any]:
        threshold = 2**self._bits % self._choices
        if threshold == 0:
            return words
        # Unsigned products wrap at the word size, which is the remainder that the rule asks for.
        low = words * self._word.type(self._choices)
        return np.delete(words, np.flatnonzero(low < threshold))


def _page_bytes(seed: int, number: int, purpose: Purpose) -> Any:
    """Extendable output of one page."""
    material = canonical_bytes({"draw": number, "purpose": purpose, "seed": seed})
    return blake3(material, derive_key_context=_CONTEXT)


def _hopeless(dropped: int) -> InputError:
    return InputError(
        "clusters enough for every family to appear in a resample",
        f"{dropped} resamples with an empty family",
        "cluster bootstrap",
        "Give each family more anchors in the common core.",
    )
