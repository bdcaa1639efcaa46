"""Conversions between element types in simpler operations, which the native engine emits.

`formats` is the definition; `converted` gives the same bits. The operations are integer and f32
arithmetic, bitcasts, selections, and four casts: between integers, from i32 or u32 to f32, and from
whole f32 to i32.

All floats go through f32. Without the sign, the bits of f32 are a ladder of magnitudes (see
`formats`), and every narrower format is a coarser ladder. So encoding drops the last bits of a
magnitude, and each rounding mode is a number that is added before.
"""

from __future__ import annotations

from typing import NamedTuple

from ptokit.values.arrays import Array
from ptokit.values.dtypes import (
    DType,
    bf16,
    f32,
    f64,
    hif8,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from ptokit.values.enumerations import Rounding

# The sum of this f32 and a whole number below 2**22 holds the number in its last bits.
WHOLE, WHOLE_BITS = 1.5 * 2**23, 0x4B400000
_UNSIGNED = {4: u8, 8: u8, 16: u16, 32: u32, 64: u64}
_SIGNED = {4: i8, 8: i8, 16: i16, 32: i32, 64: i64}

# Bits of f32: the sign, all others, infinity and the quiet NaN.
_SIGN = -(1 << 31)
_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000
_NAN = 0x7FC00000


def converted(
    x: Array, dtype: DType, rounding: Rounding = Rounding.NONE, saturate: bool = False
) -> Array:
    """Return the elements of `x` converted to `dtype`, with the bits of `formats.convert`."""
    src = x.dtype
    if src == dtype:
        return x
    if dtype == f64:
        assert src.bits <= 32, "f64 does not hold every longer integer"
        return x.cast(i32 if src.is_int else f32).cast(f64)
    if src == f64:  # rounded to odd, f32 decides every shorter rounding as f64 does
        assert dtype.is_float, "f64 is rounded to floats only"
        assert dtype != f32, "f64 is rounded to f32 by the processor, half to even"
        return converted(_odd(x), dtype, rounding, saturate)
    if src.is_int and dtype.is_int:
        return _resized(x, dtype, saturate)
    if dtype.is_int:
        number = _decoded(x)
        added = saturate and dtype.bits <= 16 and rounding is Rounding.RINT  # to WHOLE: it rounds
        whole = number if added else _whole(number, rounding)
        return _integers(whole, dtype, saturate, _reach(src))
    if rounding is Rounding.NONE:
        rounding = Rounding.RINT
    if dtype == f32:
        return _measured(x, rounding) if src.is_int else _decoded(x)
    if src.is_int:  # rounded to odd, f32 decides every shorter rounding as the integer does
        return _encoded(_measured(x, Rounding.ODD), dtype, rounding, saturate)
    covered = dtype.inf and _reach(dtype) >= _reach(src)
    return _encoded(_decoded(x), dtype, rounding, saturate and not covered)


def _odd(x: Array) -> Array:
    """Return f64 as f32, rounded to odd."""
    near = x.cast(f32)
    back, bits = near.cast(f64), near.bitcast(i32)
    away = ((back > x) & (x > 0.0)) | ((back < x) & (x < 0.0))
    below = away.where(bits - 1, bits)
    return back.equals(x).where(bits, below | 1).bitcast(f32)


class _Ladder(NamedTuple):
    """The ladder of a float format: mantissa bits, bias, and the numbers of special magnitudes.

    `top` is the number of the largest finite magnitude, `infinity` the next one, which is infinity,
    or NaN in a format without infinity.
    """

    mantissa: int
    bias: int
    top: int
    infinity: int
    nan: int


def _ladder(dtype: DType) -> _Ladder:
    """Return the ladder of a format; hif8 has a part of the one with three mantissa bits."""
    if dtype == hif8:
        return _Ladder(3, 23, (15 + 23) << 3, (15 + 23) << 3 | 4, 0x80)
    infinity = (1 << dtype.bits - dtype.signed) - int(dtype.nan)
    quiet = 0
    if dtype.inf:
        infinity, quiet = infinity + 1 - (1 << dtype.mantissa), 1 << dtype.mantissa - 1
    nan = infinity + quiet if dtype.nan else 0
    return _Ladder(dtype.mantissa, dtype.bias, infinity - 1, infinity, nan)


def _reach(dtype: DType) -> int:
    """Return the largest finite magnitude as bits of f32."""
    ladder = _ladder(dtype)
    return (ladder.top << 23 - ladder.mantissa) + (127 - ladder.bias << 23)


# Integers to integers --------------------------------------------------------------------------


def _range(dtype: DType) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    high = (1 << dtype.bits - dtype.signed) - 1
    return (-high - 1 if dtype.signed else 0), high


def _resized(x: Array, dtype: DType, saturate: bool = False) -> Array:
    """Return integers modulo 2**bits, or clamped to the range of `dtype`."""
    if x.dtype.packed:
        x = (x.bitcast(u8).cast(i8) << 4) >> 4
    if saturate:
        (low, high), (least, greatest) = _range(dtype), _range(x.dtype)
        x = x.clamp(max(low, least), min(high, greatest))
    return (x.cast(u8) & 0xF).bitcast(dtype) if dtype.packed else x.cast(dtype)


# Floats to integers ----------------------------------------------------------------------------


def _whole(x: Array, rounding: Rounding) -> Array:
    """Round f32 to whole numbers; NONE rounds toward zero."""
    nearest = x.rint()
    match rounding:
        case Rounding.RINT:
            return nearest
        case Rounding.FLOOR:
            return (nearest > x).where(nearest - 1.0, nearest)
        case Rounding.CEIL:
            return (nearest < x).where(nearest + 1.0, nearest)
        case Rounding.ROUND:
            whole = _whole(x, Rounding.TRUNC)
            below = (x - whole <= -0.5).where(whole - 1.0, whole)
            return (x - whole >= 0.5).where(whole + 1.0, below)
        case Rounding.ODD:
            half = nearest * 0.5
            below = (x < nearest).where(nearest - 1.0, nearest)
            other = (x > nearest).where(nearest + 1.0, below)
            return half.rint().equals(half).where(other, nearest)
        case _:
            return (x < 0.0).where(_whole(x, Rounding.CEIL), _whole(x, Rounding.FLOOR))


def _integers(whole: Array, dtype: DType, saturate: bool, reach: int) -> Array:
    """Return whole f32 as integers; the finite ones are at most `reach` (bits of f32).

    Numbers that saturate to 16 bits or fewer need not be whole: their sum rounds half to even.
    """
    low, high = _range(dtype)
    if saturate and dtype.bits <= 16:
        small = whole.isnan().where(0.0, whole).clamp(float(low), float(high))
        return _resized((small + WHOLE).bitcast(i32), dtype)  # the last bits hold it
    if reach < 127 + 31 << 23:
        wrapped = _resized(_word(whole + (whole - whole)), dtype)
    elif dtype.bits <= 32:
        wrapped = _resized(_word(_halves(whole)[1]), dtype)
    else:
        upper, lower = _halves(whole)
        upper = _word(_halves(upper)[1]).cast(dtype)
        wrapped = (upper << 32) + _word(lower).cast(dtype)
    if not saturate:
        return wrapped
    return (whole >= float(high + 1)).where(high, (whole < float(low)).where(low, wrapped))


def _halves(whole: Array) -> tuple[Array, Array]:
    """Split whole f32 into upper * 2**32 + lower, where i32 holds lower; of infinity NaN."""
    upper = (whole * 2.0**-32).rint()
    tie = whole - upper * 2.0**32 >= 2.0**31
    upper = tie.where(upper + 1.0, upper)
    return upper, whole - upper * 2.0**32


def _word(whole: Array) -> Array:
    """Return whole f32 in the range of i32 as i32, NaN as 0."""
    return whole.isnan().where(0.0, whole).cast(i32)


# To f32 ----------------------------------------------------------------------------------------


def _decoded(x: Array) -> Array:
    """Return floats of any format as f32; NaN of another format becomes the positive quiet NaN."""
    src = x.dtype
    if src == f32:
        return x
    codes = x.bitcast(_UNSIGNED[src.bits])
    if src == bf16:
        bits = codes.cast(u32) << 16
        return bits.bitcast(f32).isnan().where(_NAN, bits).bitcast(f32)
    codes = codes.cast(i32)
    if not src.signed:  # of f8e8m0 the first magnitude, 2**-127, is half the least normal f32
        return codes.equals(0xFF).where(_NAN, (codes << 23).maximum(1 << 22)).bitcast(f32)
    sign = 1 << src.bits - 1
    number = codes & sign - 1
    if src == hif8:
        number = _straightened(number)
    mantissa, bias, top, infinity, _ = _ladder(src)
    bits = ((number << 23 - mantissa).bitcast(f32) * 2.0 ** (127 - bias)).bitcast(i32)
    if src.inf:
        bits = number.equals(infinity).where(_INFINITY, bits)
    bits = bits | ((codes & sign) << 32 - src.bits)
    if src.nan:
        beyond = infinity if src.inf else top
        nan = codes.equals(sign) if src == hif8 else number > beyond
        bits = nan.where(_NAN, bits)
    return bits.bitcast(f32)


def _measured(x: Array, rounding: Rounding) -> Array:
    """Return integers as f32, rounded once."""
    if x.dtype.bits <= 16:
        return _resized(x, i32).cast(f32)
    if x.dtype.bits == 32 and rounding is Rounding.RINT:
        return x.cast(f32)
    width, signed, unsigned = x.dtype.bits, _SIGNED[x.dtype.bits], _UNSIGNED[x.dtype.bits]
    same = x.bitcast(signed)
    sign = same >> width - 1 if x.dtype.signed else same & 0
    size, exponent = _normalised((sign < 0).where(same * -1, same).bitcast(unsigned))
    ladder = (size >> 1) | (size & 1)  # room for the addend; a sticky bit keeps the lost bit
    significand = _shifted(ladder, width - 25, sign.bitcast(unsigned), rounding)
    number = significand.cast(i32) + (exponent.cast(i32) + 126 << 23)
    return (x.equals(0).where(0, number) | (sign.cast(i32) & _SIGN)).bitcast(f32)


def _normalised(size: Array) -> tuple[Array, Array]:
    """Shift positive integers until the highest bit is one; also return its first position."""
    width = size.dtype.bits
    exponent = (size & 0) + (width - 1)
    for step in (32, 16, 8, 4, 2, 1):
        if step < width:
            short = size < 1 << width - step
            size = short.where(size << step, size)
            exponent = short.where(exponent - step, exponent)
    return size, exponent


# From f32 --------------------------------------------------------------------------------------


def _encoded(x: Array, dtype: DType, rounding: Rounding, saturate: bool) -> Array:
    """Return f32 as a narrower format."""
    if rounding is Rounding.RINT and not dtype.mantissa:
        rounding = Rounding.ROUND
    if dtype == bf16 and rounding is Rounding.RINT and not saturate:
        return _halved(x)
    magnitude, sign = x.bitcast(i32) & _MAGNITUDE, x.bitcast(i32) >> 31
    number = _numbered(magnitude, sign, dtype, rounding)
    number = _limited(number, magnitude, sign, dtype, rounding, saturate)
    minus = sign & 1 << dtype.bits - 1
    if not dtype.signed:
        code = (x > 0.0).where(number, 0 if saturate else 0xFF)
    elif dtype == hif8:
        code = (number > 0).where(_tapered(number) | minus, 0)
    else:
        code = number | minus
    ends_in_nan = dtype.nan and not dtype.inf and not saturate
    nan = number > _ladder(dtype).top if ends_in_nan else x.isnan()
    code = nan.where(0 if saturate and dtype.signed else _ladder(dtype).nan, code)
    return code.cast(_UNSIGNED[dtype.bits]).bitcast(dtype)


def _halved(x: Array) -> Array:
    """Return f32 as bf16, half to even: the upper 16 bits plus the carry of the lower ones."""
    bits = x.bitcast(u32)
    carried = bits + ((bits >> 16) & 1) + 0x7FFF
    return x.isnan().where(_NAN >> 16, carried >> 16).cast(u16).bitcast(bf16)


def _numbered(magnitude: Array, sign: Array, dtype: DType, rounding: Rounding) -> Array:
    """Return the ladder numbers of rounded magnitudes; the ladder continues without end."""
    mantissa, bias, *_ = _ladder(dtype)
    drop = 23 - mantissa
    if dtype == hif8:
        return _thinned(_aligned(magnitude, bias), sign, rounding)
    if not dtype.signed:  # the least, 2**-127, is number 0, and from there to 2**-126 is one step
        subnormal = (magnitude.maximum(1 << 22) << 1) - (1 << 23)
        magnitude = (magnitude < 1 << 23).where(subnormal, magnitude)
    elif rounding is Rounding.RINT and bias < 127:
        normal = _shifted(magnitude - (127 - bias << 23), drop, sign, rounding)
        # Above a power of two whose last bit is the least magnitude, magnitudes are counts of it.
        count = magnitude.bitcast(f32) + 2.0 ** (1 - bias + drop)
        subnormal = count.bitcast(i32) - (128 - bias + drop << 23)
        return (magnitude < 128 - bias << 23).where(subnormal, normal)
    elif bias < 127:
        magnitude = _aligned(magnitude, bias)
    return _shifted(magnitude, drop, sign, rounding)


def _aligned(magnitude: Array, bias: int) -> Array:
    """Return bits of f32 on the ladder of 23 mantissa bits and another bias, rounded to odd."""
    value, lowest = magnitude.bitcast(f32), 2.0 ** (1 - bias)
    total = value + lowest
    subnormal = total.bitcast(i32) - (128 - bias << 23)
    back = total - lowest
    down = (back > value).where(subnormal - 1, subnormal)
    odd = back.equals(value).where(down, down | 1)
    return (magnitude < 128 - bias << 23).where(odd, magnitude - (127 - bias << 23))


def _shifted(number: Array, drop: int, sign: Array, rounding: Rounding) -> Array:
    """Drop the last bits of `number`, rounded; `sign` is -1 for magnitudes of negative values."""
    mask = (1 << drop) - 1
    match rounding:
        case Rounding.RINT:
            addend = ((number >> drop) & 1) + (mask >> 1)
        case Rounding.ROUND:
            addend = (mask >> 1) + 1
        case Rounding.FLOOR:
            addend = sign & mask
        case Rounding.CEIL:
            addend = (sign & -mask) + mask
        case Rounding.ODD:
            addend = (((number >> drop) & 1) - 1) & mask
        case _:
            addend = 0
    return (number + addend) >> drop


def _limited(
    number: Array, magnitude: Array, sign: Array, dtype: DType, rounding: Rounding, saturate: bool
) -> Array:
    """Clamp ladder numbers to infinity, or to the largest finite one if rounding ends there."""
    _, _, top, infinity, _ = _ladder(dtype)
    if saturate or not dtype.nan:
        return number.minimum(top)
    if rounding in (Rounding.RINT, Rounding.ROUND):
        return number.minimum(infinity)
    finite, number = number.minimum(top), number.minimum(infinity)
    if rounding in (Rounding.FLOOR, Rounding.CEIL):
        outward = sign < 0 if rounding is Rounding.FLOOR else sign >= 0
        finite = outward.where(number, finite)
    return (magnitude < _INFINITY).where(finite, number)


# hif8 ------------------------------------------------------------------------------------------
# hif8 has three mantissa bits between 2**-4 and 2**4, and one less per doubling of the exponent.


def _thinned(aligned: Array, sign: Array, rounding: Rounding) -> Array:
    """Round magnitudes with 23 mantissa bits to those of hif8, on the ladder of three bits."""
    exponent = (aligned >> 23) - 23
    size = exponent.maximum(exponent * -1)
    number = _shifted(aligned, 23, sign, rounding) << 3
    for drop, end in ((22, 16), (21, 8), (20, 4)):
        finer = _shifted(aligned, drop, sign, rounding) << drop - 20
        number = (size < end).where(finer, number)
    return number


def _tapered(number: Array) -> Array:
    """Return the codes of hif8 magnitudes: a prefix, the exponent's sign and size, the mantissa."""
    q = number - (23 << 3)  # the exponent above the three bits of the mantissa
    size = (q < 0).where(((q & 7) << 1) - q, q)  # the same of the exponent's absolute value
    sign = (q >> 31) & 16
    code = (size < 128).where((size >> 2) + sign + 80, number >> 3)
    code = (size < 64).where((size >> 1) + sign + 48, code)
    code = (size < 32).where(size + sign + 16, code)
    return (size < 16).where(size + (sign >> 1) + 8, code)


def _straightened(code: Array) -> Array:
    """Return the magnitudes of hif8 codes: the inverse of `_tapered`."""
    tail = (code & 15) + 16
    size = (code < 96).where(tail << 1, tail << 2)
    size = (code < 64).where(tail, size)
    size = (code < 32).where((code & 7) + 8, size)
    size = (code < 16).where(code - 8, size)
    sign = (code < 32).where(code >> 3, code >> 4) & 1
    q = sign.equals(1).where(((size & 7) << 1) - size, size)
    return (code < 8).where(code << 3, q + (23 << 3))
