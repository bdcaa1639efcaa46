"""The reference engine's arrays: each vocabulary operation in NumPy on element codes.

This is the definition: clear before fast. Values are decoded, computed in the element type's own
precision (f32 for narrower floats, then one rounding) and encoded again. Moves and selections copy
codes without decoding them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ptokit.machine.memory import Codes
from ptokit.machine.merging import block_order, merge_orders, taken_first
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL, Array, Number, Term
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Rounding
from ptokit.values.formats import convert, decode, encode, integral
from ptokit.values.host import AnyArray

Values: TypeAlias = AnyArray  # float32 or an integer type
How: TypeAlias = "dict[str, Any]"  # parameters of an operation; Any: each has its own


class NumpyArray(Array):
    """Element codes with their type."""

    partly = False  # True if some elements are undefined: see `PartlyDefined`

    def __init__(self, codes: Codes, dtype: DType) -> None:
        self.codes = codes
        self.dtype = dtype

    @property
    def shape(self) -> tuple[int, int]:
        rows, cols = self.codes.shape
        return rows, cols

    @property
    def values(self) -> Values:
        return self.codes if self.dtype is BOOL else decode(self.codes, self.dtype)

    @np.errstate(all="ignore")
    def apply(self, word: str, /, *others: Term, **parameters: object) -> Array:
        for x in (self, *others):
            if isinstance(x, NumpyArray) and x.partly:
                return x.passed(word, (self, *others), parameters)
        return WORDS[word](self, *others, **parameters)

    def passed(self, word: str, args: Sequence[Term], parameters: How) -> Array:
        """Return the result of an operation on arrays of which this one is `partly` defined."""
        raise NotImplementedError

    def like(self, other: Term) -> NumpyArray:
        """Return `other` as an array; a number takes the type of this array."""
        if isinstance(other, NumpyArray):
            return other
        assert not isinstance(other, Array)
        return scalar(other, self.dtype)

    def of(self, values: Values) -> NumpyArray:
        """Return values rounded to the type of this array."""
        if self.dtype is BOOL:
            return NumpyArray(values, BOOL)
        return NumpyArray(encode(values, self.dtype), self.dtype)

    def kept(self) -> int | NumpyArray:
        """Return the only element as programs keep numbers: an int, or the array of a float."""
        return self if self.dtype.is_float else int(self.values[0, 0])

    def __float__(self) -> float:
        return float(self.values[0, 0])


def scalar(value: float | NumpyArray, dtype: DType) -> NumpyArray:
    """Return a 1x1 array, converted as `cast` converts."""
    if isinstance(value, NumpyArray):
        return _cast(value, dtype=dtype, rounding=Rounding.NONE, saturate=False)
    return NumpyArray(encode(np.asarray([[value]]), dtype, Rounding.NONE), dtype)


def _arithmetic(compute: Callable[[Values, Values], Values]) -> Callable[..., NumpyArray]:
    def word(x: NumpyArray, other: Term) -> NumpyArray:
        return x.of(compute(x.values, x.like(other).values))

    return word


def _division(
    floats: Callable[[Values, Values], Values], integers: Callable[[Values, Values], Values]
) -> Callable[..., NumpyArray]:
    """Return a division; integers by 0 give 0, and the least integer by -1 wraps."""

    def word(x: NumpyArray, other: Term) -> NumpyArray:
        a, b = np.broadcast_arrays(x.values, x.like(other).values)
        if x.dtype.is_float:
            return x.of(floats(a, b))
        return x.of(np.where(b == 0, a.dtype.type(0), integers(a, np.where(b == 0, 1, b))))

    return word


def _quotient(a: Values, b: Values) -> Values:
    """Return the truncated quotient: the floor plus one if signs differ and a remainder is left."""
    down = a // b
    return down + ((a - down * b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def _sqrt(x: NumpyArray) -> NumpyArray:
    return x.of(np.sqrt(x.values))


def _comparison(compute: Callable[[Values, Values], Values]) -> Callable[..., NumpyArray]:
    def word(x: NumpyArray, other: Term) -> NumpyArray:
        return NumpyArray(compute(x.values, x.like(other).values).astype(np.uint8), BOOL)

    return word


def _choice(prefers: Callable[[Values, Values], Values]) -> Callable[..., NumpyArray]:
    """Return an operation that selects one of two operands: `other` where it is preferred."""

    def word(x: NumpyArray, other: Term) -> NumpyArray:
        y = x.like(other)
        return NumpyArray(np.where(prefers(x.values, y.values), y.codes, x.codes), x.dtype)

    return word


def _where(condition: NumpyArray, yes: Term, no: Term) -> NumpyArray:
    model = yes if isinstance(yes, NumpyArray) else no
    assert isinstance(model, NumpyArray)
    chosen = (model.like(c).codes for c in (yes, no))
    return NumpyArray(np.where(condition.codes != 0, *chosen), model.dtype)


def _isnan(x: NumpyArray) -> NumpyArray:
    return NumpyArray(np.isnan(x.values).astype(np.uint8), BOOL)


def _cast(x: NumpyArray, *, dtype: DType, rounding: Rounding, saturate: bool) -> NumpyArray:
    return NumpyArray(convert(x.codes, x.dtype, dtype, rounding, saturate), dtype)


def _bitcast(x: NumpyArray, *, dtype: DType) -> NumpyArray:
    return NumpyArray(x.codes.view(dtype.storage), dtype)


def _rint(x: NumpyArray, *, rounding: Rounding) -> NumpyArray:
    return x.of(integral(x.values, rounding))


def _fold(x: NumpyArray, *, word: str, axis: int, start: Number | None) -> NumpyArray:
    count = x.codes.shape[axis]
    steps = [NumpyArray(c, x.dtype) for c in np.split(x.codes, count, axis)] if count else []
    if start is None and steps:
        total, *steps = steps
    else:  # an axis of extent 0 gives a result that no page stores
        first = scalar(0 if start is None else start, x.dtype)
        shape = (1, x.shape[1]) if axis == 0 else (x.shape[0], 1)
        total = NumpyArray(np.broadcast_to(first.codes, shape), x.dtype)
    for step in steps:
        total = WORDS[word](total, step)
    return total


def _transpose(x: NumpyArray) -> NumpyArray:
    return NumpyArray(x.codes.T, x.dtype)


def _reshape(x: NumpyArray, *, rows: int, cols: int) -> NumpyArray:
    return NumpyArray(x.codes.reshape(rows, cols), x.dtype)


def _window(x: NumpyArray, *, rows: slice, cols: slice) -> NumpyArray:
    return NumpyArray(x.codes[rows, cols], x.dtype)


def _padded(x: NumpyArray, value: NumpyArray, *, rows: int, cols: int) -> NumpyArray:
    codes = np.full((rows, cols), value.codes[0, 0])
    codes[: x.codes.shape[0], : x.codes.shape[1]] = x.codes
    return NumpyArray(codes, x.dtype)


def _repeat(x: NumpyArray, *, count: int) -> NumpyArray:
    return NumpyArray(np.repeat(x.codes, count, axis=1), x.dtype)


def _compact(x: NumpyArray, keep: NumpyArray) -> NumpyArray:
    order = np.argsort(keep.codes == 0, axis=1, kind="stable")
    values = np.broadcast_to(x.codes, keep.codes.shape)
    return NumpyArray(np.take_along_axis(values, order, axis=1), x.dtype)


def _count(keep: NumpyArray) -> NumpyArray:
    total = np.count_nonzero(keep.codes, axis=1)[:, None]
    return NumpyArray(total.astype(np.uint32), t.i32)


def _pack(x: NumpyArray) -> NumpyArray:
    return NumpyArray(np.packbits(x.codes, axis=1, bitorder="little"), t.u8)


def _bits(x: NumpyArray, *, cols: int) -> NumpyArray:
    return NumpyArray(np.unpackbits(x.codes, axis=1, bitorder="little")[:, :cols], BOOL)


def _join_columns(*parts: NumpyArray) -> NumpyArray:
    return NumpyArray(np.concatenate([p.codes for p in parts], axis=1), parts[0].dtype)


def _sort(x: NumpyArray, keys: NumpyArray, *, block: int) -> NumpyArray:
    order = block_order(keys.values, block)
    return NumpyArray(np.take_along_axis(x.codes, order, axis=1), x.dtype)


def _merge(x: NumpyArray, keys: NumpyArray, *, lengths: Sequence[int], count: int) -> NumpyArray:
    order = merge_orders(keys.values, lengths)[:, :count]
    return NumpyArray(np.take_along_axis(x.codes, order, axis=1), x.dtype)


def _taken(_: NumpyArray, keys: NumpyArray, *, lengths: Sequence[int]) -> NumpyArray:
    counts = [taken_first(line, lengths) for line in merge_orders(keys.values, lengths)]
    return NumpyArray(np.array(counts, np.uint32).reshape(-1, len(lengths)), t.i32)


def _tally(x: NumpyArray, where: NumpyArray | None = None, *, bins: int) -> NumpyArray:
    keep = np.broadcast_to(True if where is None else where.codes != 0, x.shape)
    lines = zip(x.values.astype(np.int64), keep, strict=True)
    counts = [np.bincount(line[some], minlength=bins) for line, some in lines]
    return NumpyArray(np.cumsum(counts, axis=1).astype(np.uint32), t.u32)


def _matmul(x: NumpyArray, other: NumpyArray, start: NumpyArray | None = None) -> NumpyArray:
    a, b = x.values, other.values
    if x.dtype.is_int:
        total = np.matmul(a.astype(np.int32), b.astype(np.int32))  # wraps, any order
        total = total if start is None else total + start.values
        return NumpyArray(total.view(np.uint32), t.i32)
    step = {t.f16: _multiply_add, t.f64: _wide_multiply_add}.get(x.dtype, _fma)
    shape = a.shape[0], b.shape[1]
    total = np.zeros(shape, np.float32)
    if start is not None:
        total = np.broadcast_to(start.values, shape)
    for k in range(a.shape[1]):
        total = step(a[:, k, None], b[None, k, :], total)
    return NumpyArray(encode(total, t.f32), t.f32)


def _multiply_add(a: Values, b: Values, c: Values) -> Values:
    """Return a * b + c for an exact f32 product: of f16 (a bf16 product may be a denormal)."""
    return a * b + c


def _wide_multiply_add(a: Values, b: Values, c: Values) -> Values:
    """Return a * b + c in f64, rounded to f32."""
    return (c.astype(np.float64) + a * b).astype(np.float32)


def _fma(a: Values, b: Values, c: Values) -> Values:
    """Return a * b + c in f32 with one rounding.

    The product of two f32 is exact in f64. The f64 sum is rounded to odd, so that its rounding to
    f32 is the one rounding of the exact result.
    """
    product = a.astype(np.float64) * b
    addend = c.astype(np.float64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64)
    up = (lost > 0) == (total > 0)
    odd = np.where((lost != 0) & (bits & 1 == 0), bits + np.where(up, 1, -1), bits)
    finite = np.isfinite(total)
    return np.where(finite, odd.view(np.float64), total).astype(np.float32)


WORDS: dict[str, Callable[..., NumpyArray]] = {
    "add": _arithmetic(np.add),
    "sub": _arithmetic(np.subtract),
    "mul": _arithmetic(np.multiply),
    "number": NumpyArray.like,
    "div": _division(np.divide, _quotient),
    "rem": _division(np.fmod, np.fmod),
    "sqrt": _sqrt,
    "xor": _arithmetic(np.bitwise_xor),
    "and": _arithmetic(np.bitwise_and),
    "or": _arithmetic(np.bitwise_or),
    "shl": _arithmetic(np.left_shift),
    "shr": _arithmetic(np.right_shift),
    "mod": _arithmetic(np.remainder),
    "floordiv": _arithmetic(np.floor_divide),
    "transpose": _transpose,
    "reshape": _reshape,
    "window": _window,
    "pad": _padded,
    "repeat": _repeat,
    "compact": _compact,
    "count": _count,
    "pack": _pack,
    "bits": _bits,
    "max": _choice(np.less),
    "min": _choice(np.greater),
    "lt": _comparison(np.less),
    "le": _comparison(np.less_equal),
    "gt": _comparison(np.greater),
    "ge": _comparison(np.greater_equal),
    "eq": _comparison(np.equal),
    "where": _where,
    "isnan": _isnan,
    "cast": _cast,
    "bitcast": _bitcast,
    "rint": _rint,
    "fold": _fold,
    "join_columns": _join_columns,
    "sort": _sort,
    "merge": _merge,
    "taken": _taken,
    "tally": _tally,
    "matmul": _matmul,
}
