"""Conversions between element formats: the only definition of the bits of a value.

A float format is a ladder: its magnitudes in ascending order, zero first. On the ladder of an
IEEE-like format the number of a magnitude is its code, and the step after the largest finite value
is infinity, or NaN in a format without infinity. Encoding finds the binade of a value, rounds its
significand to that binade's quantum in integers and reads off the number, in the same way for all
formats.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.values import hif8 as tapered
from ptokit.values.dtypes import DType, bf16, f16, f32, f64, hif8
from ptokit.values.enumerations import Rounding

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]  # Any: the width follows the element type
Values: TypeAlias = NDArray[Any]  # Any: integers of any width or floats
Floats: TypeAlias = NDArray[np.floating[Any]]  # Any: float32 or float64
Integers: TypeAlias = NDArray[np.signedinteger[Any]]  # Any: as wide as the floats


def decode(codes: Codes, dtype: DType) -> Values:
    """Return the values of `codes`.

    `codes` holds one element per item of `dtype.storage`; of packed types only the low nibble is
    read. Floats give float32, which holds every format exactly; integers give the native type of
    their width, i4 gives int8. f32 and integers of 8 bits and more are views of `codes`.
    """
    if dtype.plain:
        return codes.view(dtype.native)
    if dtype == f16:
        return codes.view(np.float16).astype(np.float32)
    if dtype == bf16:
        return np.left_shift(codes, 16, dtype=np.uint32).view(np.float32)
    return _table(dtype)[codes]


def encode(
    values: Values, dtype: DType, rounding: Rounding = Rounding.RINT, saturate: bool = False
) -> Codes:
    """Return the codes of `values`, which are floats or integers of any width, rounded once.

    When saturating, a value out of range (infinity too) becomes the largest finite value of its
    sign, and NaN becomes zero. Otherwise:

    - To floats, a value that rounds beyond the largest finite one becomes infinity, in f8e4m3 NaN;
      the fp4 formats have neither and always saturate. Rounded toward zero or to odd, a finite
      value stays finite (IEEE 754, 7.4). NaN becomes the positive quiet NaN.
    - To integers, the low bits of the rounded value remain; NaN and infinities become 0.

    f8e8m0 has no zero and no sign: zero and negative values become NaN, or 2**-127 when saturating;
    values under 2**-127 become 2**-127; NaN stays NaN. hif8 has no negative zero. For both formats
    RINT is ROUND: halfway values round away from zero.
    """
    if dtype.plain and values.dtype is dtype.native and not saturate:
        return _canonical(values, values.view(dtype.storage), dtype)
    return _encoded(values, dtype, rounding, saturate)


@np.errstate(invalid="ignore", over="ignore", under="ignore")
def _encoded(values: Values, dtype: DType, rounding: Rounding, saturate: bool) -> Codes:
    if dtype.is_float:
        return _to_floats(_exact(values), dtype, rounding, saturate)
    if values.dtype.kind == "f":
        values = integral(values, Rounding.TRUNC if rounding is Rounding.NONE else rounding)
    codes = (_clamp if saturate else _wrap)(values, dtype).view(dtype.storage)
    return codes & np.uint8(0xF) if dtype.packed else codes


def rounded(value: float, dtype: DType) -> float:
    """Return the value of an element type nearest to a number."""
    return float(decode(encode(np.asarray([value]), dtype), dtype)[0])


def value_of(code: int, dtype: DType) -> float:
    """Return the float with these bits in an element type."""
    return float(decode(np.array([code], dtype.storage), dtype)[0])


def convert(
    codes: Codes, src: DType, dst: DType, rounding: Rounding = Rounding.RINT, saturate: bool = False
) -> Codes:
    """Return the codes in `dst` of the values that `codes` have in `src`.

    From a type to itself the bits stay; into another type NaN loses its sign and payload. Where the
    range of a float `dst` covers the range of a float `src`, infinities and NaN pass even when
    saturating.
    """
    if src == dst:
        return codes
    covered = dst.inf and src.is_float and _largest(dst) >= _largest(src)
    return encode(decode(codes, src), dst, rounding, saturate and not covered)


@np.errstate(invalid="ignore")
def integral(values: Values, rounding: Rounding) -> Values:
    """Round floats to whole numbers, which stay floats; NONE is RINT; NaN and -0 are kept."""
    if rounding in (Rounding.NONE, Rounding.RINT):
        return np.rint(values)
    whole = {Rounding.FLOOR: np.floor, Rounding.CEIL: np.ceil}.get(rounding, np.trunc)(values)
    if rounding is Rounding.ROUND:
        onward = np.abs(values - whole) >= 0.5
    elif rounding is Rounding.ODD:
        onward = (values != whole) & (np.trunc(whole * 0.5) == whole * 0.5)
    else:
        return whole
    return whole + np.copysign(onward, values)


def pack(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the bytes that hold four-bit `codes` in C order: the even element in the low nibble.

    The last high nibble is zero if the count is odd.
    """
    flat = np.append(codes, np.uint8(0)) if codes.size % 2 else codes.reshape(-1)
    return flat[0::2] & np.uint8(0xF) | flat[1::2] << np.uint8(4)


def unpack(data: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Return the first `count` four-bit codes in `data`, one per byte: the inverse of `pack`."""
    return np.stack([data & np.uint8(0xF), data >> np.uint8(4)], axis=-1).reshape(-1)[:count]


@cache
def _table(dtype: DType) -> Values:
    """Return the value of every byte; the high nibble of a packed code is ignored."""
    if dtype == hif8:
        return tapered.VALUES
    code = np.arange(256) & (1 << dtype.bits) - 1
    if dtype.is_int:
        return ((code ^ 8) - 8).astype(np.int8)
    if not dtype.signed:
        return np.where(code == 0xFF, np.nan, np.ldexp(1.0, code - dtype.bias)).astype(np.float32)
    number = code & (1 << dtype.bits - 1) - 1
    field = number >> dtype.mantissa
    quanta = number - (np.maximum(field - 1, 0) << dtype.mantissa)
    value = np.ldexp(quanta, np.maximum(field, 1) - dtype.bias - dtype.mantissa)
    value[number > _top(dtype)] = np.nan
    if dtype.inf:
        value[number == _top(dtype) + 1] = np.inf
    return np.where(code > number, -value, value).astype(np.float32)


def _top(dtype: DType) -> int:
    """Return the number of the largest finite magnitude on the ladder."""
    every = (1 << dtype.bits - dtype.signed) - 1
    return every - (1 << dtype.mantissa if dtype.inf else int(dtype.nan))


def _nan(dtype: DType, saturate: bool) -> int:
    """Return the code that NaN becomes."""
    if not dtype.signed:
        return 0xFF
    if saturate or not dtype.nan:
        return 0
    if dtype == hif8:
        return 0x80
    return _top(dtype) + 1 + (1 << dtype.mantissa - 1 if dtype.inf else 0)


def _exact(values: Values) -> Floats:
    """Return `values` as floats that round to every format, in every mode, as the values do."""
    if values.dtype.kind == "f" and values.itemsize > 2:
        return values
    if values.itemsize < 4:
        return values.astype(np.float32)
    floats = values.astype(np.float64)
    if values.itemsize == 4:
        return floats
    # Of the low 11 bits of a large integer it only matters whether they are all zero: fold them
    # into one bit, which is still far below half a quantum of any format.
    low = values & 0x7FF
    folded = (values - low) | ((low != 0).astype(values.dtype) << 11)
    return np.where(np.abs(floats) < 2.0**53, floats, folded.astype(np.float64))


def _to_floats(floats: Floats, dtype: DType, rounding: Rounding, saturate: bool) -> Codes:
    exact = dtype == f32 and floats.dtype == np.float32
    if exact or rounding in (Rounding.NONE, Rounding.RINT):
        if dtype in (f16, f32, f64):
            return _cast(floats, dtype, saturate)
        rounding = Rounding.RINT if dtype.mantissa else Rounding.ROUND
    if not dtype.signed:  # the lowest binade of f8e8m0 is subnormal in float32
        floats = floats.astype(np.float64)
    negative = np.signbit(floats)
    number = _number(floats, negative, dtype, rounding)
    number = np.minimum(number, _limit(floats, negative, dtype, rounding, saturate))
    nan = np.isnan(floats)
    if dtype == hif8:
        negative &= number > 0
        number = tapered.CODES[number]
    elif not dtype.signed:
        number = np.where(floats > 0, np.maximum(number, 0), 0 if saturate else 0xFF)
    elif not dtype.inf and dtype.nan:
        nan |= number > _top(dtype)
    if dtype.signed:
        number |= negative * number.dtype.type(1 << dtype.bits - 1)
    return np.where(nan, _nan(dtype, saturate), number).astype(dtype.storage)


def _cast(floats: Floats, dtype: DType, saturate: bool) -> Codes:
    """Round half to even to a format of NumPy, whose cast rounds once."""
    fitted = np.clip(floats, -_largest(dtype), _largest(dtype)) if saturate else floats
    return _canonical(floats, fitted.astype(dtype.native).view(dtype.storage), dtype, saturate)


def _canonical(values: Values, codes: Codes, dtype: DType, saturate: bool = False) -> Codes:
    """Return the codes of values, with each NaN replaced by the one NaN of the type."""
    nan = np.isnan(values) if values.dtype.kind == "f" else None
    if nan is None or 1 not in nan.tobytes():  # four times as fast as nan.any()
        return codes
    return np.where(nan, dtype.storage.type(_nan(dtype, saturate)), codes)


def _number(
    floats: Floats, negative: NDArray[np.bool_], dtype: DType, rounding: Rounding
) -> Integers:
    """Return the ladder numbers of rounded magnitudes; the ladder continues above `_top`."""
    info = np.finfo(floats.dtype)
    bits: Integers = np.abs(floats).view(f"i{floats.itemsize}")
    lowest = info.maxexp - 1 + (tapered.LOWEST if dtype == hif8 else dtype.signed - dtype.bias)
    if lowest == 1:  # both formats start with the same binade: `bits` are a finer ladder
        return _shifted(bits, info.nmant - dtype.mantissa, negative, rounding)
    field = bits >> info.nmant
    significand = bits - (np.maximum(field - 1, 0) << info.nmant)
    binade = np.maximum(field - lowest, 0)
    width, start = dtype.mantissa, (binade << dtype.mantissa) - (not dtype.signed)
    if dtype == hif8:
        width, start = tapered.ladder(binade)
    drop = info.nmant - width + np.maximum(lowest - field, 0)
    drop = np.minimum(drop, info.bits - 2)  # still more than two bits longer than a significand
    return _shifted(significand + (start << drop), drop, negative, rounding)


def _shifted(
    number: Integers, drop: Integers | int, negative: NDArray[np.bool_], rounding: Rounding
) -> Integers:
    """Drop the last `drop` bits of `number`, rounded: every mode is an addend."""
    one = number.dtype.type(1)
    mask = (one << drop) - one
    match rounding:
        case Rounding.RINT:
            addend = (mask >> 1) + (number >> drop & one)
        case Rounding.ROUND:
            addend = (mask >> 1) + one
        case Rounding.FLOOR:
            addend = mask * negative
        case Rounding.CEIL:
            addend = mask * ~negative
        case Rounding.ODD:
            addend = mask * (~(number >> drop) & one)
        case _:
            addend = 0
    return (number + addend) >> drop


def _limit(
    floats: Floats, negative: NDArray[np.bool_], dtype: DType, rounding: Rounding, saturate: bool
) -> int | NDArray[np.int_]:
    """Return the greatest ladder number of a value: infinity, or the largest finite magnitude."""
    if saturate or not dtype.nan:
        return _top(dtype)
    if rounding in (Rounding.RINT, Rounding.ROUND):
        return _top(dtype) + 1
    outward = {Rounding.FLOOR: negative, Rounding.CEIL: ~negative}.get(rounding, False)
    return _top(dtype) + (np.isinf(floats) | outward)


@cache
def _largest(dtype: DType) -> float:
    top = tapered.CODES[_top(dtype)] if dtype == hif8 else _top(dtype)
    return float(decode(np.array([top], dtype.storage), dtype)[0])


def _clamp(values: Values, dtype: DType) -> Values:
    """Return whole numbers clamped to the range of `dtype`."""
    native = dtype.native
    high = (1 << dtype.bits - dtype.signed) - 1
    low = -high - 1 if dtype.signed else 0
    if values.dtype.kind != "f":
        info = np.iinfo(values.dtype)
        return np.clip(values, max(low, info.min), min(high, info.max)).astype(native)
    above, below = values >= float(high + 1), values < float(low)
    inside = np.where(above | below | np.isnan(values), 0, values).astype(native)
    return np.where(above, native.type(high), np.where(below, native.type(low), inside))


def _wrap(values: Values, dtype: DType) -> Values:
    """Return whole numbers modulo 2**bits."""
    if values.dtype.kind == "f":
        whole = np.where(np.isfinite(values), values, 0)
        if np.any(np.abs(whole) >= 2.0**63):
            whole = np.fmod(whole, 2.0**64)
            whole = np.where(whole >= 2.0**63, whole - 2.0**64, whole)
            whole = np.where(whole < -(2.0**63), whole + 2.0**64, whole)
        values = whole.astype(np.int64)
    return values.astype(dtype.native)


def keeps_nan(source: DType, target: DType, saturate: bool) -> bool:
    """Return whether a NaN of one float type converts to a NaN of another."""
    nan = encode(np.array([np.nan], np.float32), source)
    return bool(np.isnan(decode(convert(nan, source, target, Rounding.RINT, saturate), target))[0])
