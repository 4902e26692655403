"""Cosines that come out the same on every machine, and who overlaps with whom (docs/tasks.md).

A BLAS product adds up in an order that depends on the library, the processor and the number of
threads; about 93 in 100 cosines of a release change in their last bits with it, and an integer
score at a rounding boundary, or a rank at a tie, would change with them. Here nothing is left to
round while a sum runs. Each unit vector is split into ``high + low``, `high` on a grid of 2^-26
and `low` on one of 2^-48. Then

* products of two `high` lie on a grid of 2^-52 and any partial sum stays below 2,
* products of `high` and `low` lie on 2^-74 and stay below 2^-21,
* products of two `low` lie on 2^-96 and stay below 2^-43 for D up to `MAX_DIMENSIONS`,

so that every partial sum fits the 53 bits of a float64 and is exact: in any order, fused or not.
Three matrix products and two elementwise additions give the cosine. What is lost is a vector's part
below 2^-49, at most 2 * sqrt(D) * 2^-49 = 6e-14 of a cosine at D = 300, the size of an ordinary
product's rounding error. The cost against one BLAS product is about 0.08 s for 1,300 vectors of 300
dimensions; elementwise sums in a fixed order take three times as long.

Normalising uses products, sums, a square root and a division of single elements in a fixed order,
which IEEE 754 rounds in one way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipeline.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.freeze.eligible import Eligible

__all__ = [
    "MAX_DIMENSIONS",
    "exact_products",
    "rank",
    "regions_overlap",
    "unit_vectors",
    "words_overlap",
]

MAX_DIMENSIONS = 2**11 - 1
"""Vectors of more dimensions could overflow the exact sums."""

_HIGH_BITS = 26
_LOW_BITS = 48
_FLOAT32_BYTES = 4

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]


def unit_vectors(vectors: Sequence[bytes], names: Sequence[str]) -> _Floats:
    """Widen float32 vectors to float64 and scale them to length 1.

    Parameters
    ----------
    vectors
        N vectors of D little-endian float32.
    names
        What they belong to, for errors.

    Returns
    -------
    float64 (N, D)

    Raises
    ------
    InputError
        Lengths differ or are out of range, or a vector is zero or not finite; names the first.
    """
    size = len(vectors[0])
    for name, vector in zip(names, vectors, strict=True):
        if len(vector) != size or size % _FLOAT32_BYTES or not size:
            raise _refusal(f"{size // _FLOAT32_BYTES} float32", f"{len(vector)} bytes", name)
    if size > MAX_DIMENSIONS * _FLOAT32_BYTES:
        raise _refusal(
            f"at most {MAX_DIMENSIONS} dimensions", str(size // _FLOAT32_BYTES), names[0]
        )
    flat = np.frombuffer(b"".join(vectors), dtype="<f4")
    wide = flat.reshape(len(vectors), -1).astype(np.float64)
    squares = np.zeros(len(vectors))
    for column in wide.T:  # a plain order: numpy's own sums pair up as the processor likes
        squares += column * column
    for name, square in zip(names, squares, strict=True):
        if not 0 < square < np.inf:
            raise _refusal("a finite vector that is not zero", f"squared length {square}", name)
    return np.asarray(wide / np.sqrt(squares)[:, None], dtype=np.float64)


def exact_products(left: _Floats, right: _Floats) -> _Floats:
    """Dot products of unit vectors whose sums are exact, whatever their order.

    Parameters
    ----------
    left
        float64 (N, D), rows of length 1.
    right
        float64 (M, D), rows of length 1.

    Returns
    -------
    float64 (N, M); symmetric bit by bit when both are the same.
    """
    left_high, left_low = _split(left)
    if right is left:
        cross = left_high @ left_low.T
        return left_high @ left_high.T + (cross + cross.T) + left_low @ left_low.T
    right_high, right_low = _split(right)
    crosses = left_high @ right_low.T + left_low @ right_high.T
    return left_high @ right_high.T + crosses + left_low @ right_low.T


def rank(values: _Floats) -> npt.NDArray[np.int64]:
    """Order of each row's columns, highest value first, ties by column (that is, by name).

    The default sort is twice as fast as a stable one; only rows that hold ties are sorted again.

    Parameters
    ----------
    values
        float64 (N, M).

    Returns
    -------
    int64 (N, M)
    """
    order = np.argsort(-values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    order[tied] = np.argsort(-values[tied], axis=1, kind="stable")
    return order


def regions_overlap(eligible: Eligible) -> _Bools:
    """Pairs that share a cuisine, or of which one is universal; bool (N, N)."""
    member = eligible.cuisines.astype(np.float32)
    shared = (member @ member.T) > 0
    universal = eligible.universal
    return np.asarray(shared | universal[:, None] | universal[None, :], dtype=np.bool_)


def words_overlap(names: Sequence[str]) -> _Bools:
    """Pairs of names that share a `_`-separated word, each name with itself too; bool (N, N)."""
    holders: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        for word in set(name.split("_")):
            holders.setdefault(word, []).append(index)
    overlap = np.zeros((len(names), len(names)), dtype=np.bool_)
    for indices in holders.values():
        overlap[np.ix_(indices, indices)] = True
    return overlap


def _split(vectors: _Floats) -> tuple[_Floats, _Floats]:
    """Parts of the vectors on the two grids; the scalings by powers of two are exact."""
    high = np.rint(vectors * 2.0**_HIGH_BITS) * 2.0**-_HIGH_BITS
    low = np.rint((vectors - high) * 2.0**_LOW_BITS) * 2.0**-_LOW_BITS
    return high, low


def _refusal(expected: str, found: str, name: str) -> InputError:
    return InputError(expected, found, f"vector of {name}", "Rebuild the release.")
