"""The fix-pipe: conversion of accumulators to narrower types on the way out of acc.

The functions use the array vocabulary, so both engines share them. Sources disagree on five points;
each is an option of `FixPipe`, and the defaults are the reading of the CPU simulator with
saturating shifts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from ptokit.values import dtypes as t
from ptokit.values.arrays import Array
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import ReluPreMode, Rounding

FLT_MAX = 3.4028234663852886e38
HALF_MAX = 65504.0


@dataclass(frozen=True)
class FixPipe:
    """The points on which readings of the fix-pipe differ.

    fp19: which modes keep only 19 bits of the scale; "cpu" means those with a scale per column.
    signed_offset: the 9-bit offset is two's complement (else 0..511).
    s9: the scaled value is clipped to -256..255 before the offset is added.
    relu_first: relu makes +0 of products before the offset.
    saturating_shift: shift modes saturate to 16 bits (else they wrap).
    saturate: control bit 48: inf becomes the largest finite value, NaN zero.
    clip_half: f32 -> f16/bf16 with a scale clips large finite values even when not saturating.
    every_pair: a scale also applies to f32 to f32, fp8 and hif8, to i32 to bf16, and by columns to
        f32 to f16 and bf16. Set on targets that have these modes (A5); else such pairs convert
        plainly.
    scaled_i16: i16 is scaled, rounded and clipped (else i32 is shifted). Set on targets whose
        accumulators of floats are f16: of those every pair has a scale.
    """

    fp19: Literal["cpu", "always"] = "cpu"
    signed_offset: bool = False
    s9: bool = False
    relu_first: bool = False
    saturating_shift: bool = True
    saturate: bool = False
    clip_half: bool = True
    every_pair: bool = False
    scaled_i16: bool = False


CPU_READING = FixPipe()
HARDWARE_READING = FixPipe(
    fp19="always", signed_offset=True, s9=True, relu_first=True, clip_half=False
)


class Mode(Enum):
    """The arithmetic of a (source, destination) pair; the vendor's names beside them."""

    NO_QUANT = "a plain conversion"
    B8 = "8 bits: scale, round, add the offset, clip"  # QF322B8_PRE, REQ8 and their vector forms
    HALF = "scale, clip to f16"  # DEQF16, VDEQF16
    FLOAT = "scale, convert"  # QF322F16, QF322BF16, QF322HIF8, QF322FP8
    SHIFT = "shift right to 16 bits"  # SHIFTS322S16
    I16 = "scale, round, clip to 16 bits"  # DEQS16, QF162S16_PRE and their vector forms


_B8 = {(src, dst): Mode.B8 for src in (t.f32, t.i32) for dst in (t.i8, t.u8)}
_INT = {(t.i32, t.f16): Mode.HALF, (t.i32, t.i16): Mode.SHIFT}
_FLOATS = (t.f32, t.f16, t.bf16, t.hif8, t.f8e4m3)
_SCALED = (*((t.f32, dtype) for dtype in _FLOATS), (t.i32, t.bf16))
_WIDE = {pair: Mode.FLOAT for pair in _SCALED}

# pairs for one scalar parameter, and for a vector of parameters; A5 has more pairs
SCALAR_MODES: dict[tuple[DType, DType], Mode] = (
    _B8 | _INT | {(t.f32, t.f16): Mode.FLOAT, (t.f32, t.bf16): Mode.FLOAT}
)
VECTOR_MODES: dict[tuple[DType, DType], Mode] = _B8 | _INT
ALL_MODES: dict[tuple[DType, DType], Mode] = _B8 | _INT | _WIDE
F16_MODES: dict[tuple[DType, DType], Mode] = {
    **{(src, dst): Mode.B8 for src in (t.f16, t.i32) for dst in (t.i8, t.u8)},
    **{(t.i32, t.f16): Mode.HALF, (t.i32, t.i16): Mode.I16, (t.f16, t.i16): Mode.I16},
}


def convert(x: Array, dtype: DType, *, relu: bool = False) -> Array:
    """Convert without a parameter; relu acts on the source: NaN and -0 become +0."""
    if relu:
        x = (x > 0).where(x, 0)
    return x.cast(dtype)


def without_negatives(x: Array) -> Array:
    """Return the relu of converted elements: values less than 0 become +0; NaN and -0 stay."""
    return (x.cast(t.f32) < 0).where(0, x)


def narrowed(
    x: Array,
    dtype: DType,
    params: Array | None,
    relu: ReluPreMode,
    how: FixPipe,
    by_column: bool = False,
) -> Array:
    """Convert with one 64-bit parameter, or one per column; None converts without a parameter."""
    positive = relu is ReluPreMode.NORMAL_RELU
    modes = ALL_MODES if how.every_pair else VECTOR_MODES if by_column else SCALAR_MODES
    modes = F16_MODES if how.scaled_i16 else modes
    mode = modes.get((x.dtype, dtype), Mode.NO_QUANT)
    if params is None or mode is Mode.NO_QUANT:
        return convert(x, dtype, relu=positive)
    params = _packed(params, dtype)
    late = positive and not how.relu_first
    if mode is Mode.SHIFT:
        return _shift(x, params, relu=positive, saturate=how.saturating_shift)
    scale = _scale(params, how, short=by_column)
    scaled = x.cast(t.f32) * scale
    if positive and how.relu_first:
        scaled = (x.cast(t.f32) < 0).where(0.0, scaled)
    if mode is Mode.B8:
        return _to_b8(scaled, dtype, params, relu=late, how=how)
    if mode is Mode.I16:
        whole = scaled.isnan().where(0.0, scaled.rint()).clamp(-32768.0, 32767.0)
        return (whole.maximum(0.0) if late else whole).cast(dtype)
    return _to_float(scaled, dtype, mode, relu=late, how=how)


def _packed(params: Array, dtype: DType) -> Array:
    """Return parameters as 64-bit words: a float is a scale, and `dtype` gives the sign bit."""
    if not params.dtype.is_float:
        return params
    return params.cast(t.f32).bitcast(t.u32).cast(t.u64) | (int(dtype is t.i8) << 46)


def _scale(params: Array, how: FixPipe, *, short: bool) -> Array:
    """Return bits 31:0 as f32, or only their upper 19 bits in a mode with an FP19 scale."""
    bits = params.cast(t.u32)
    if not (short or how.fp19 == "always"):
        return bits.bitcast(t.f32)
    # FP19 has no denormals: with a zero exponent the mantissa still has its leading one
    sign, mantissa = bits & 0x80000000, (bits >> 13) & 0x3FF
    tiny = ((bits & 0x7F800000).equals(0)) & (mantissa > 0)
    normal = sign | (mantissa << 12) | 0x400000
    return tiny.where(normal, bits & 0xFFFFE000).bitcast(t.f32)


def _offset(params: Array, how: FixPipe) -> Array:
    """Return bits 45:37 as f32."""
    raw = ((params >> 37) & 0x1FF).cast(t.i32)
    value = (raw > 255).where(raw - 512, raw) if how.signed_offset else raw
    return value.cast(t.f32)


def _to_b8(x: Array, dtype: DType, params: Array, *, relu: bool, how: FixPipe) -> Array:
    offset = _offset(params, how)
    # a NaN gives 0; it must go before the clip, which would keep it
    result = x.rint().clamp(-256.0, 255.0) + offset if how.s9 else (x + offset).rint()
    signed = ((params >> 46) & 1).equals(1)
    zero = offset - offset
    low, high = signed.where(zero - 128.0, zero), signed.where(zero + 127.0, zero + 255.0)
    result = result.isnan().where(0.0, result).clamp(low, high)
    if relu:
        result = result.maximum(0.0)
    return result.cast(t.i32).cast(dtype)  # the clip follows bit 46, not dtype: may wrap


def _to_float(x: Array, dtype: DType, mode: Mode, *, relu: bool, how: FixPipe) -> Array:
    limit = HALF_MAX if dtype is t.f16 else FLT_MAX
    if mode is Mode.HALF:
        x = x.clamp(-limit, limit)
    elif dtype in (t.f16, t.bf16) or (dtype is t.f32 and how.saturate):
        x = _clip(x, limit, how)
    if relu:
        x = x.maximum(0.0)
    return x.cast(dtype, Rounding.RINT, saturate=how.saturate)


def _clip(x: Array, limit: float, how: FixPipe) -> Array:
    """Clip finite values; infinities and NaN stay unless the fix-pipe saturates."""
    clipped = x.clamp(-limit, limit)
    if how.saturate:
        return x.isnan().where(0.0, clipped)
    if not how.clip_half:
        return x
    infinite = (x.equals(float("inf"))) | (x.equals(float("-inf")))
    return infinite.where(x, clipped)


def _shift(x: Array, params: Array, *, relu: bool, saturate: bool) -> Array:
    """Shift right arithmetically by N + 1, where bits 35:32 of the parameter hold N."""
    amount = ((params >> 32) & 0xF).cast(t.i32) + 1
    shifted = x >> amount
    result = shifted.clamp(-32768, 32767) if saturate else shifted
    narrow = result.cast(t.i16)
    return narrow.maximum(0) if relu else narrow
