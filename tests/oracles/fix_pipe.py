"""The fix-pipe: every mode by the vendor's formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracles.conversions import converted, largest
from oracles.formats import Array
from oracles.formats import wrapped as low_bits
from oracles.registry import Undefined

NARROW = {
    ("f32", "i8"): "b8",
    ("f32", "u8"): "b8",
    ("i32", "i8"): "b8",
    ("i32", "u8"): "b8",
    ("i32", "f16"): "half",
}
SHIFT = {("i32", "i16"): "shift"}
FLOATS = {("f32", "f16"): "clipped", ("f32", "bf16"): "clipped"}
A5_ONLY = {
    ("f32", "f32"): "scaled",
    ("f32", "hif8"): "scaled",
    ("f32", "f8e4m3"): "scaled",
    ("i32", "bf16"): "scaled",
}
# (source, destination) -> how, by target and kind of parameter
MODES: dict[tuple[str, str], dict[tuple[str, str], str]] = {
    ("cpu", "scalar"): NARROW | SHIFT | FLOATS,
    ("a2a3", "scalar"): NARROW | SHIFT | FLOATS,
    ("a5", "scalar"): NARROW | FLOATS | A5_ONLY,
    ("cpu", "vector"): NARROW | SHIFT,
    ("a2a3", "vector"): NARROW | SHIFT,
    ("a5", "vector"): NARROW | FLOATS | A5_ONLY,
}
F32_MAX = float(np.finfo(np.float32).max)


def plainly(values: Array, src: str, dst: str, *, relu: bool) -> Array:
    """A conversion without a parameter; relu clears what is not positive, NaN and -0 too."""
    if relu and src == "f8e8m0":
        raise Undefined("a type without zero")
    with np.errstate(invalid="ignore"):
        kept = np.where(values > 0, values, np.zeros_like(values)) if relu else values
    return converted(kept.astype(values.dtype, copy=False), src, dst)


def fp19(scale: Array) -> Array:
    """1-8-10 of bits 31:13; a zero exponent with a mantissa is a normal one."""
    bits = scale.view(np.uint32)
    short = bits & np.uint32(0xFFFFE000)
    exponent, mantissa = bits >> 23 & 255, bits >> 13 & 1023
    tiny = (exponent == 0) & (mantissa != 0)
    value = np.ldexp(1 + mantissa / 1024, -127) * np.where(bits >> 31, -1, 1)
    whole = np.where(exponent == 255, short & np.uint32(0xFF800000), short)
    return np.where(tiny, value.astype(np.float32), whole.view(np.float32))


def clamped(x: Array, low: float, high: float) -> Array:
    return np.where(x < low, np.float32(low), np.where(x > high, np.float32(high), x))


@np.errstate(all="ignore")
def scaled(
    values: Array,
    src: str,
    dst: str,
    params: Array,
    target: str,
    o: Any,  # Any: the options of the reading
    *,
    vector: bool,
    relu: bool,
) -> Array:
    """What an accumulator becomes with one parameter, or with one for each column."""
    how = MODES[target, "vector" if vector else "scalar"].get((src, dst))
    if how is None:
        return plainly(values, src, dst, relu=relu)
    params = np.broadcast_to(params.astype(np.uint64), values.shape)
    first = relu and o.relu_first
    last = relu and not o.relu_first
    if how == "shift":
        y = values.astype(np.int64) >> ((params >> np.uint64(32) & np.uint64(15)).astype(int) + 1)
        y = y.clip(-32768, 32767) if o.saturating_shift else y
        found = low_bits(y, dst)
        return np.where(relu & (found < 0), np.zeros_like(found), found)
    raw = (params & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    if np.isnan(raw).any():
        raise Undefined("a scale that is no number")
    short = vector or o.fp19 == "always"
    scale = fp19(raw) if short else raw
    t = np.where(first & (values < 0), np.float32(0), values.astype(np.float32) * scale)
    t = np.where(np.isnan(t), np.float32(np.nan), t)  # arithmetic gives one NaN
    if how == "b8":
        return low_bits(_eight(t, params, last, o).astype(np.int64), dst)
    limit = 65504.0 if dst == "f16" else F32_MAX
    if how == "half":
        t = clamped(t, -limit, limit)
    elif how == "clipped" and o.saturate:
        t = np.where(np.isnan(t), np.float32(0), clamped(t, -limit, limit))
    elif how == "clipped" and o.clip_half:
        t = np.where(np.isfinite(t), clamped(t, -limit, limit), t)
    t = np.where(last & (t < 0), np.float32(0), t).astype(np.float32)
    if o.saturate:
        top = largest(dst)
        t = np.where(np.isnan(t), np.float32(0), clamped(t, -top, top)).astype(np.float32)
    return converted(t, "f32", dst)


def _eight(t: Array, params: Array, relu: bool, o: Any) -> Array:  # Any: as above
    """The 8-bit modes: round, add the offset, clip by bit 46."""
    offset = (params >> np.uint64(37) & np.uint64(511)).astype(np.int64)
    if o.signed_offset:
        offset = np.where(offset > 255, offset - 512, offset)
    if o.s9:
        t = clamped(np.rint(t), -256, 255) + offset.astype(np.float32)
    else:
        t = np.rint(t + offset.astype(np.float32))
    signed = (params >> np.uint64(46) & np.uint64(1)) == 1
    t = np.where(np.isnan(t), 0, np.where(signed, clamped(t, -128, 127), clamped(t, 0, 255)))
    return np.where(relu & (t < 0), 0, t)
