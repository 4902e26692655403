"""Arithmetic that gives the same integers on every machine.

Floating point enters in two places only. Matrix products of whole numbers are taken in float32 or
float64 when a bound shows that no intermediate sum leaves the range of exact integers, whatever
the order of summation. Quotients are taken elementwise (IEEE 754 division and square root are
correctly rounded everywhere) and brought to whole units of 10^-9 at once. All that follows
(moments, quantiles, bands) is integer arithmetic, so it depends on no SIMD width, thread count or
library version.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError
from schemas.taskset import BEST_BPS

if TYPE_CHECKING:
    from pipeline.inference.matrix import IntArray

__all__ = [
    "ALPHA",
    "EXACT_FLOAT64",
    "LEVEL",
    "LOWER",
    "NANO",
    "UPPER",
    "FamilyWeights",
    "OrderStatistics",
    "Real",
    "common_weights",
    "interpolate",
    "matmul_dtype",
    "nano_to_micro",
    "order_statistics",
    "product",
    "quantile",
    "sample_sd",
    "to_micro",
    "to_nano",
    "to_units",
]

Real = NDArray[np.float32 | np.float64]

MICRO = 1_000_000
NANO = 1_000_000_000
ALPHA = Fraction(1, 20)
"""Family-wise error of the tests, and what intervals and bands leave out."""

LEVEL = 1 - ALPHA
LOWER = ALPHA / 2
UPPER = 1 - LOWER
# OpenBLAS takes products of up to 2^18 multiplications on the calling thread (interface/gemm.c).
_PIECE = 2**18
_PIECE_ROWS = 16
# Beyond this many terms a piece takes part of the sum: its columns would get too few to be worth a
# pass over all of `left`.
_PIECE_TERMS = 1024
_EXACT_FLOAT32 = 2**24
EXACT_FLOAT64 = 2**53
_SPLIT_BITS = 22
_SPLIT_CHUNK = 2**18


class FamilyWeights(NamedTuple):
    """Whole-number weights under which every family counts the same.

    Attributes
    ----------
    per_family
        lcm(sizes) / size of each family, shape (F,).
    denominator
        F * lcm(sizes): a weighted sum over tasks, divided by it, is the mean of family means.
    """

    per_family: IntArray
    denominator: int


class OrderStatistics(NamedTuple):
    """Where a quantile of n sorted values lies: between places `low` and `high`.

    The quantile is ``x[low] + (x[high] - x[low]) * weight / scale`` (linear interpolation, type 7
    of Hyndman and Fan, The American Statistician 50(4), 1996).
    """

    low: int
    high: int
    weight: int
    scale: int


def common_weights(sizes: IntArray) -> FamilyWeights:
    """Integer weights of families of the given sizes, shape (F,).

    The weights of all tasks add up to the denominator, so no weighted sum of scores exceeds
    10000 times that.

    Raises
    ------
    InputError
        Such a sum could reach 2^53.
    """
    counts = [int(size) for size in sizes]
    common = math.lcm(*counts)
    denominator = len(counts) * common
    matmul_dtype(denominator * BEST_BPS)
    weights = [common // count for count in counts]
    return FamilyWeights(np.array(weights, dtype=np.int64), denominator)


def matmul_dtype(bound: int) -> type[np.float32 | np.float64]:
    """Narrowest float type in which sums of whole numbers up to `bound` are exact.

    Raises
    ------
    InputError
        The bound reaches 2^53.
    """
    if bound < _EXACT_FLOAT32:
        return np.float32
    if bound < EXACT_FLOAT64:
        return np.float64
    raise _too_large(bound)


def product(left: Real, right: Real) -> Real:
    """Matrix product of whole numbers, in pieces that a BLAS library computes without threads.

    The library's threads wait actively: next to threads of ours, or other programs on the machine,
    they make small products several times slower. Pages of draws are what runs in parallel here.

    Parameters
    ----------
    left, right
        Shapes (n, k), C-contiguous, and (k, m), of one float type that `matmul_dtype` gave.
    """
    count, inner = left.shape
    terms = min(inner, _PIECE_TERMS)
    columns = max(1, _PIECE // (_PIECE_ROWS * terms))
    whole = count - count % _PIECE_ROWS
    found = np.empty((count, right.shape[1]), dtype=left.dtype)
    stack = left[:whole].reshape(-1, _PIECE_ROWS, inner)
    stacked = found[:whole].reshape(-1, _PIECE_ROWS, right.shape[1])
    for first in range(0, right.shape[1], columns):
        part = slice(first, first + columns)
        np.matmul(stack[..., :terms], right[:terms, part], out=stacked[..., part])
        np.matmul(left[whole:, :terms], right[:terms, part], out=found[whole:, part])
        for start in range(terms, inner, terms):
            more = slice(start, start + terms)
            stacked[..., part] += stack[..., more] @ right[more, part]
            found[whole:, part] += left[whole:, more] @ right[more, part]
    return found


def to_units(values: NDArray[np.float64], unit: int) -> IntArray:
    """Values in whole units of 1/`unit`, rounded half to even."""
    return np.rint(values * float(unit)).astype(np.int64)


def to_nano(value: Fraction) -> int:
    """An exact value in whole billionths, rounded half to even."""
    return round(value * NANO)


def to_micro(value: Fraction) -> int:
    """An exact value in whole millionths, rounded half to even."""
    return round(value * MICRO)


def nano_to_micro(nano: int) -> int:
    """Whole billionths in whole millionths, rounded half to even."""
    return round(Fraction(nano, NANO // MICRO))


def order_statistics(count: int, level: Fraction) -> OrderStatistics:
    """Places of the `level` quantile (0..1) among `count` sorted values."""
    place, weight = divmod(level.numerator * (count - 1), level.denominator)
    return OrderStatistics(place, min(place + 1, count - 1), weight, level.denominator)


def quantile(values: IntArray, level: Fraction) -> Fraction:
    """Exact quantile of integers, shape (n,), by linear interpolation."""
    places = order_statistics(values.size, level)
    ordered = np.partition(values, sorted({places.low, places.high}))
    low, high = int(ordered[places.low]), int(ordered[places.high])
    return low + Fraction((high - low) * places.weight, places.scale)


def interpolate(low: IntArray, high: IntArray, places: OrderStatistics) -> IntArray:
    """Quantiles between pairs of order statistics, rounded half to even, any shape."""
    whole, rest = np.divmod((high - low) * places.weight, places.scale)
    above = 2 * rest - places.scale
    odd = (low + whole) % 2 == 1
    rounded: IntArray = low + whole + ((above > 0) | ((above == 0) & odd))
    return rounded


def sample_sd(deviations: IntArray) -> int:
    """Standard deviation (ddof 1) of integers, shape (n,), n >= 2, rounded to an integer.

    Parameters
    ----------
    deviations
        Values, at best taken from a centre near their mean; below 2^44 in size.
    """
    count = deviations.size
    total, squares = _moments(deviations)
    scaled = count * squares - total * total
    return _root(scaled, count * (count - 1))


def _moments(values: IntArray) -> tuple[int, int]:
    """Sum and sum of squares; squares are split so that int64 partial sums cannot overflow."""
    total = squares = 0
    for start in range(0, values.size, _SPLIT_CHUNK):
        part = values[start : start + _SPLIT_CHUNK]
        high = part >> _SPLIT_BITS
        low = part & (2**_SPLIT_BITS - 1)
        total += int(part.sum())
        squares += int((high * high).sum()) << (2 * _SPLIT_BITS)
        squares += int((high * low).sum()) << (_SPLIT_BITS + 1)
        squares += int((low * low).sum())
    return total, squares


def _root(numerator: int, denominator: int) -> int:
    """Square root of a fraction, rounded to the nearest integer."""
    return (math.isqrt(4 * numerator // denominator) + 1) // 2


def _too_large(bound: int) -> InputError:
    return InputError(
        "weighted sums below 2^53",
        f"a bound of {bound}",
        "exact arithmetic of family weights",
        "Use family sizes with a smaller common multiple, or fewer tasks.",
    )
