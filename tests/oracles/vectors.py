"""Elementwise, reductions and expands (3.20 to 3.29)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracles.conversions import converted
from oracles.formats import FORMATS, Array, is_float, quieted
from oracles.registry import Seen, arithmetic, binary, meaning, unary


def exponential(x: Array) -> Array:
    return np.exp(x.astype(np.float64))


binary(
    TAdd=arithmetic(np.add),
    TSub=arithmetic(np.subtract),
    TMul=arithmetic(np.multiply),
    TMax=lambda a, b: np.where(a < b, b, a),  # G11
    TAddS=arithmetic(np.add),
)


def in_double(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Computed in binary64, then rounded to the type (G8)."""

    def computed(x: Array) -> Array:
        return f(x.astype(np.float64))

    return arithmetic(computed)


def sign_bit(x: Array) -> Array:
    return np.asarray(1 << 8 * x.itemsize - 1, f"u{x.itemsize}")


def absolute(x: Array) -> Array:
    """IEEE 754: the sign bit is cleared (E15); integers wrap."""
    if x.dtype.kind in "iu":
        return np.where(x < 0, -x, x)
    return (x.view(f"u{x.itemsize}") & ~sign_bit(x)).view(x.dtype)


def negative(x: Array) -> Array:
    return -x if x.dtype.kind in "iu" else (x.view(f"u{x.itemsize}") ^ sign_bit(x)).view(x.dtype)


def inverse(x: Array) -> Array:
    return 1 / x


def inverse_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def one_over(x: Array) -> Array:
    """G10: integers truncate; what is divided by 0 is target-defined, here 0."""
    if x.dtype.kind in "iu":
        return np.where(abs(x.astype(np.int64)) == 1, x, 0)
    return in_double(inverse)(x)


unary(
    TRelu=lambda x: np.where(x < 0, np.zeros_like(x), x),  # G12
    TAbs=absolute,
    TNeg=negative,
    TNot=lambda x: ~x,
    TSqrt=in_double(np.sqrt),
    TRsqrt=in_double(inverse_root),
    TRecip=one_over,
)
unary(ulp=1, TLog=in_double(np.log))
unary(ulp=1, TExp=arithmetic(exponential))  # G8


def running(rows: Array, start: Array) -> Array:
    """The sum of all rows, one after the other, each step rounded to their type."""
    total = start
    with np.errstate(all="ignore"):
        for row in rows:
            total = (total + row).astype(start.dtype)
    return total


@meaning("TRowSum")
def row_sums(dst: Seen, src: Seen) -> Array:
    """3.27: left to right from 0; floats in f32 with one rounding at the end, integers in dst's."""
    inner = "f32" if is_float(src.dtype) else dst.dtype
    columns = converted(src.values, src.dtype, inner).T
    total = running(columns, np.zeros(src.valid[0], FORMATS[inner][1]))
    return converted(quieted(total, inner), inner, dst.dtype)[:, None]


@meaning("TRowMax")
def row_maxima(dst: Seen, src: Seen) -> Array:
    """3.27: the first element, unless a later one is strictly greater."""
    best: Array = src.values[:, 0]
    for column in src.values.T[1:]:
        best = np.where(best < column, column, best)
    return converted(best, src.dtype, dst.dtype)[:, None]


@meaning("TColSum")
def column_sums(dst: Seen, src: Seen) -> Array | None:
    """3.27: top to bottom from 0, in dst's type at every step."""
    if 0 in src.valid:
        return None
    rows = converted(src.values, src.dtype, dst.dtype)
    total = running(rows, np.zeros(src.valid[1], FORMATS[dst.dtype][1]))
    return quieted(total, dst.dtype)[None, :]


def spread(src: Seen, cols: int) -> Array:
    """3.29: a narrow operand again and again along the row."""
    return src.values[:, np.arange(cols) % src.valid[1]]


@meaning("TRowExpandMul")
def row_products(dst: Seen, src0: Seen, src1: Seen) -> Array:
    cols = dst.valid[1]
    with np.errstate(all="ignore"):
        return arithmetic(np.multiply)(spread(src0, cols), spread(src1, cols))
