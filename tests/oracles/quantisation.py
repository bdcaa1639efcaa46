"""Quantisation: the formulas and the table of its steps, by NumPy and `ml_dtypes`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from oracles.conversions import converted
from oracles.formats import FORMATS, Array, quieted, typed
from oracles.registry import InStorage, Result, Seen, meaning

GROUP = 32


def bytes_of(x: Array, dtype: str) -> Array:
    """The nearest whole number, half to even, in the range of the type; NaN is 0."""
    info = np.iinfo(FORMATS[dtype][1])
    return np.nan_to_num(np.clip(np.rint(x), info.min, info.max)).astype(FORMATS[dtype][1])


@meaning("TQuant")
def symmetric(src: Seen, scale: Seen) -> Array:
    with np.errstate(all="ignore"):
        return bytes_of(src.values * scale.all[: src.valid[0], :1], "i8")


@meaning("TQuantAsymmetric")
def asymmetric(src: Seen, scale: Seen, offset: Seen) -> Array:
    rows = src.valid[0]
    with np.errstate(all="ignore"):
        return bytes_of(src.values * scale.all[:rows, :1] + offset.all[:rows, :1], "u8")


@meaning("TDequant")
def dequantised(src: Seen, scale: Seen, offset: Seen) -> Array:
    rows, cols = src.valid
    column = np.minimum(np.arange(cols), scale.valid[1] - 1)
    factor, start = (t.all[:rows, column] for t in (scale, offset))
    with np.errstate(all="ignore"):
        return quieted((src.values.astype(np.float32) - start) * factor, "f32")


def largest(x: Array, format: str, scale: str, target: str) -> Array:
    """The largest magnitude along the last axis; NaN wins, but in fp8 on the CPU it is skipped."""
    a = np.abs(x)
    if format == "FP8":
        if target != "cpu":
            return np.where(np.isnan(a).any(-1), np.float32(np.nan), a.max(-1))
        return np.where(np.isnan(a), 0, a).max(-1)
    if scale == "OCP":  # cut to bf16; what is not a number stays none
        short = (a.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        a = np.where(np.isnan(a), np.float32(np.nan), short)
    return a.max(-1)


def exponents(m: Array, format: str, scale: str) -> Array:
    """The second row of the table."""
    if scale == "OCP":
        less = 8 if format == "FP8" else 2
        e = np.maximum((m.view(np.uint32) >> 23).astype(np.int64) - less, 0)
        return np.where(np.isnan(m), 255, e)
    d = m * np.float32(1 / np.float32(448 if format == "FP8" else 6))
    bits = d.view(np.uint32).astype(np.int64)
    e, mantissa = bits >> 23, bits & 0x7FFFFF
    up = (mantissa > 0) & (e != 254) & ~((e == 0) & (mantissa <= 0x400000))
    return np.where(np.isnan(d), 255, np.where(np.isinf(d), 254, e + up))


def elements(y: Array, src: str, format: str, scale: str, target: str) -> Array:
    """The last row: codes."""
    if format == "FP8":
        nan, near = np.isnan(y), np.clip(y, -448, 448)
        codes = near.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
        signed = (target != "cpu") | ((scale == "NV") & (np.abs(y) < 2.0**-10))
        codes = np.where((codes & 0x7F == 0) & ~signed, 0, codes)
        return np.where(nan, 0x7F, codes).astype(np.uint8)
    y = y.astype(ml_dtypes.bfloat16).astype(np.float32) if src == "bf16" else y
    clamped = np.where(np.isnan(y), 6, np.clip(y, -6, 6))
    return clamped.astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15


@np.errstate(all="ignore")
def by_groups(
    dst: Seen,
    src: Seen,
    exp: Seen,
    format: str,
    scale: str,
    axis: int,
    interleave: bool,
    target: str,
) -> dict[str, Any]:  # Any: Array or InStorage, by operand
    rows, cols = src.valid
    x = src.values.astype(np.float32)
    if axis == 0:
        groups = x.reshape(rows // GROUP, GROUP, cols).transpose(0, 2, 1)
    else:
        groups = x.reshape(rows, cols // GROUP, GROUP)
    m = largest(np.ascontiguousarray(groups), format, scale, target)
    e = exponents(m, format, scale)
    factor = np.ldexp(np.float32(1), 127 - e).astype(np.float32)
    factor = np.where(e == 255, np.float32(np.nan), factor)
    scaled = x * np.repeat(factor, GROUP, axis)
    codes = elements(scaled, src.dtype, format, scale, target)
    if dst.dtype == "f4e2m1x2" and target == "cpu":
        whole = np.zeros(dst.codes.shape, np.uint8)
        whole[:rows, :cols] = codes
        codes = whole
    lines = e.astype(np.uint8)
    if interleave:  # [p, 2c] = E[2p, c], [p, 2c + 1] = E[2p + 1, c]
        lines = np.stack((lines[::2], lines[1::2]), -1).reshape(len(lines) // 2, -1)
    elif exp.codes.shape[0] == 1:
        lines = lines.reshape(1, -1)
    cut = target != "cpu" and src.dtype == "f16"
    notes = (note(m, src.dtype, cut and scale == "OCP"), note(factor, src.dtype, cut))
    made = {"dst": typed(codes, dst.dtype), "exp": typed(lines, exp.dtype)}
    return {**made, **dict(zip(("max", "scaling"), notes, strict=True))}


def note(x: Array, dtype: str, cut: bool) -> InStorage:
    """Numbers of groups one after another; `cut`: the upper halves of f32."""
    if cut:
        upper = (quieted(x, "f32").view(np.uint32) >> 16).astype(np.uint16)
        return InStorage(upper.view("f2").ravel())
    return InStorage(converted(quieted(x, "f32"), "f32", dtype).ravel())


@meaning("TQuantMx")
def along_or_down(
    dst: Seen,
    src: Seen,
    exp: Seen,
    format: str,
    scale: str,
    axis: str,
    interleave: bool,
    target: str,
) -> Result:
    return by_groups(dst, src, exp, format, scale, 1 if axis == "ALONG" else 0, interleave, target)


@meaning("TQuantMxZz")
def along_in_boxes(dst: Seen, src: Seen, exp: Seen, exp_zz: Seen, target: str) -> Result:
    made = by_groups(dst, src, exp, "FP8", "OCP", 1, False, target)
    rows, groups = src.valid[0], src.valid[1] // GROUP
    boxes = made["exp"].view(np.uint8).reshape(rows // 16, 16, groups // 2, 2)
    exponents = InStorage(typed(boxes.transpose(0, 2, 1, 3).ravel(), exp_zz.dtype))
    return {**made, "exp_zz": exponents}


@meaning("TQuantDn")
def down(
    dst: Seen, src: Seen, exp: Seen, format: str, scale: str, interleave: bool, target: str
) -> Result:
    return by_groups(dst, src, exp, format, scale, 0, interleave, target)


# HiFloat4: the algorithm of the format, each step rounded to bf16

BF16 = ml_dtypes.bfloat16


def short(x: Array) -> Array:
    """Rounded to bf16, still f32."""
    return x.astype(BF16).astype(np.float32)


def number_of(whole: Array) -> Array:
    """The code of the nearest (1 + m / 4) 2**(e - 48) to the largest magnitude / 7."""
    codes = np.zeros(whole.shape, np.int64)
    for at, v in np.ndenumerate(short(whole * np.float32(0.142578125))):
        if np.isnan(v):
            codes[at] = 255
        elif v >= 2.0**-48:
            e = 15 if np.isinf(v) else int(np.floor(np.log2(v)))
            steps = 8 if np.isinf(v) else round((float(v) / 2.0**e - 1) * 4)  # half to even
            codes[at] = min((e + 48) * 4 + steps, 254)
    return codes


def hif4_number(codes: Array) -> Array:
    value = (1 + codes % 4 / 4) * 2.0 ** (codes // 4 - 48)
    return np.where(codes == 255, np.nan, value)


def bytes_of_bits(bits: Array) -> Array:
    return np.packbits(bits, axis=1, bitorder="little")


@meaning("TQuantHif4")
@np.errstate(all="ignore")
def hif4(dst: Seen, src: Seen) -> Result:
    rows, cols = src.valid
    x = src.values.astype(np.float32)
    of_4, of_8, whole = (np.abs(x).reshape(rows, -1, n).max(-1) for n in (4, 8, 64))
    codes = number_of(whole)
    inverse = short((1 / hif4_number(codes)).astype(np.float32))
    eighths = short(of_8 * np.repeat(inverse, 8, 1)) >= 4
    of_eighths = np.where(eighths, np.float32(0.5), np.float32(1))
    scaled = short(of_4 * np.repeat(inverse, 16, 1)) * np.repeat(of_eighths, 2, 1)
    sixteenths = short(scaled) >= 2
    factor = np.repeat(inverse, 16, 1) * np.repeat(of_eighths, 2, 1)
    factor = short(factor * np.where(sixteenths, np.float32(0.5), np.float32(1)))
    y = short(x * np.repeat(factor, 4, 1))
    exp = np.zeros((rows, cols // 64, 4), np.uint8)
    exp[..., 0], exp[..., 1] = codes, bytes_of_bits(eighths)
    exp[..., 2:] = bytes_of_bits(sixteenths).reshape(rows, -1, 2)
    steps = np.rint(np.clip(np.abs(y), 0, 1.75) * 4)
    elements = np.where(np.isnan(y), 7, steps + 8 * np.signbit(y)).astype(np.uint8)
    notes = np.concatenate([of_4.ravel(), of_8.ravel()])
    made = {"dst": typed(elements, dst.dtype), "exp": exp.reshape(rows, -1)}
    lines = (InStorage(quieted(n.ravel().astype(BF16), "bf16")) for n in (notes, factor))
    return {**made, **dict(zip(("max", "scaling"), lines, strict=True))}
