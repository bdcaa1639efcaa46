"""The fix pipe by hand: one element at a time, from the vendor's formulas.

NumPy's f32 scalars compute; the last rounding is left to ml_dtypes and en_dtypes.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from oracles.formats import FORMATS, codes_of
from ptokit.values.fixpipe import FixPipe

F32 = np.float32
HALF_MAX = F32(65504)
FLT_MAX = F32(np.finfo(np.float32).max)


def fp19(scale: np.float32) -> np.float32:
    """1-8-10 of bits 31:13; a zero exponent is a normal one."""
    bits = int(scale.view(np.uint32))
    sign, exponent, mantissa = bits >> 31, bits >> 23 & 255, bits >> 13 & 1023
    if exponent == 0 and mantissa == 0:  # the sources do not tell -0 from 0
        return F32(-0.0 if sign else 0.0)
    if exponent == 255:
        return F32(math.copysign(math.inf, -sign or 1))
    value = Fraction(2) ** (exponent - 127) * (1 + Fraction(mantissa, 1024))
    return F32(float(-value if sign else value))


def clamp(x: np.float32, low: float | np.float32, high: float | np.float32) -> np.float32:
    return F32(low) if x < low else F32(high) if x > high else x


def wrapped(value: int, dtype: str) -> int:
    """The code of an integer's low bits."""
    return value & (1 << FORMATS[dtype][0]) - 1


def code(x: np.float32, dtype: str, saturate: bool) -> int:
    """The final conversion to a float type."""
    if saturate:
        top = {"f16": 65504.0, "bf16": 255 / 128 * 2.0**127, "hif8": 32768.0, "f8e4m3": 448.0}[
            dtype
        ]
        x = F32(0) if np.isnan(x) else clamp(x, -top, top)
    return int(codes_of(np.array([x], np.float32), dtype)[0])


@np.errstate(all="ignore")
def reference(
    x: np.float32 | np.int32,
    dtype: str,
    how: str,
    param: int,
    *,
    short: bool,
    relu: bool,
    o: FixPipe,
) -> int:
    """The code of one element; `short`: the mode takes 19 bits of the scale even on the CPU."""
    raw = F32(np.uint32(param & 0xFFFFFFFF).view(np.float32))
    if how == "shift":
        y = int(x) >> ((param >> 32 & 15) + 1)
        if o.saturating_shift:
            y = min(max(y, -32768), 32767)
        y = wrapped(y, "i16")
        return 0 if relu and not o.relu_first and y >= 0x8000 else y
    scale = fp19(raw) if short or o.fp19 == "always" else raw
    if relu and o.relu_first and x < 0:
        scale = F32(0)
    t = F32(F32(x) * scale)
    late_relu = relu and not o.relu_first
    if how == "b8":
        offset = param >> 37 & 511
        if o.signed_offset and offset > 255:
            offset -= 512
        if o.s9:
            t = F32(clamp(np.rint(t), -256, 255) + F32(offset))
        else:
            t = np.rint(F32(t + F32(offset)))
        low, high = (-128, 127) if param >> 46 & 1 else (0, 255)
        value = 0 if np.isnan(t) else int(clamp(t, low, high))
        return wrapped(max(value, 0) if late_relu else value, dtype)
    limit = HALF_MAX if dtype == "f16" else FLT_MAX
    if how == "half":
        t = clamp(t, -limit, limit)
    elif how == "clipped":
        if o.saturate:
            t = F32(0) if np.isnan(t) else clamp(t, -limit, limit)
        elif o.clip_half and np.isfinite(t):
            t = clamp(t, -limit, limit)
    if late_relu and t < 0:
        t = F32(0)
    return code(t, dtype, o.saturate)
