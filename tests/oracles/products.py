"""Matrix products: one fused multiply-add for each k, ascending."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from oracles.formats import Array, quieted
from oracles.registry import Program, Seen, meaning, say


@np.errstate(all="ignore")
def fused(a: Array, b: Array, c: Array) -> Array:
    """a x b + c in f32 with one rounding; the product is exact in f64, the sum rounded to odd."""
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    odd = total.view(np.int64) & 1
    lost = np.isfinite(total) & (error != 0) & (odd == 0)
    onward = np.nextafter(total, np.copysign(np.inf, error))
    return np.where(lost, onward, total).astype(np.float32)


def rounded(x: Array, short: str | None) -> Array:
    """f32 with so many bits behind the point; of a tie `rint` takes the even one (D9)."""
    if short is None:
        return x
    how, _, bits = short.partition("_")
    exponent = np.maximum(np.frexp(x)[1] - 1, -126)  # that of the smallest normal number
    unit = np.ldexp(1.0, exponent - int(bits))
    count = x.astype(np.float64) / unit
    whole = np.rint(count) if how == "rint" else np.copysign(np.floor(abs(count) + 0.5), count)
    return np.where(np.isfinite(x), whole * unit, x).astype(np.float32)


@np.errstate(all="ignore")
def product(a: Seen, b: Seen, start: Array | None = None, short: str | None = None) -> Array:
    """The chain of each sum begins with `start`, which a column of biases repeats, or with 0."""
    left, right = a.values, b.values
    rows, cols = left.shape[0], right.shape[1]
    if a.dtype == "i8":
        total = left.astype(np.int32) @ right.astype(np.int32)
        return total if start is None else total + start[:rows, :cols]
    left, right = (rounded(x.astype(np.float32), short) for x in (left, right))
    total = np.zeros((rows, cols), np.float32)
    if start is not None:
        total = np.broadcast_to(start[:rows, :cols], total.shape)
    for k in range(left.shape[1]):
        total = fused(left[:, k : k + 1], right[k : k + 1], total)
    return quieted(total, "f32")


@meaning("TMatMul", "TGemv")
def matrix_product(a: Seen, b: Seen, short: str | None) -> Array:
    return product(a, b, None, short)


@meaning("TMatMulAcc", "TGemvAcc")
def accumulated(acc: Seen, a: Seen, b: Seen, short: str | None) -> Array:
    """Hardware order: r = C, then one fused multiply-add per k."""
    return product(a, b, acc.all, short)


@meaning("TMatMulBias", "TGemvBias")
def biased(a: Seen, b: Seen, bias: Seen, short: str | None) -> Array:
    """The bias is the initial value of the accumulator."""
    return product(a, b, bias.all[:1], short)


def scale_values(scale: Seen) -> Array:
    """Powers of two by their codes; 255 is NaN (D10)."""
    codes = scale.codes.astype(np.int64)
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127))


@np.errstate(all="ignore")
def scaled_product(
    a: Seen, a_scale: Seen, b: Seen, b_scale: Seen, start: Array | None = None
) -> Array:
    """Per k, acc = f32(f64(acc) + f64(a b) f64(sa sb)), the scales of group k div 32."""
    left, right = (x.values.astype(np.float64) for x in (a, b))
    rows, cols = left.shape[0], right.shape[1]
    total = np.zeros((rows, cols), np.float32)
    if start is not None:
        total = np.broadcast_to(start[:rows, :cols], total.shape)
    sa, sb = scale_values(a_scale), scale_values(b_scale)
    for k in range(left.shape[1]):
        g = k // 32
        scales = sa[:rows, g : g + 1] * sb[g : g + 1, :cols]
        term = left[:, k : k + 1] * right[k : k + 1] * scales
        total = (total.astype(np.float64) + term).astype(np.float32)
    return quieted(total, "f32")


@meaning("TMatMulMx", "TGemvMx")
def groups_product(a: Seen, a_scale: Seen, b: Seen, b_scale: Seen) -> Array:
    return scaled_product(a, a_scale, b, b_scale)


@meaning("TMatMulMxAcc", "TGemvMxAcc")
def groups_accumulated(acc: Seen, a: Seen, a_scale: Seen, b: Seen, b_scale: Seen) -> Array:
    return scaled_product(a, a_scale, b, b_scale, acc.all)


@meaning("TMatMulMxBias", "TGemvMxBias")
def groups_biased(a: Seen, a_scale: Seen, b: Seen, b_scale: Seen, bias: Seen) -> Array:
    return scaled_product(a, a_scale, b, b_scale, bias.all[:1])


# a handle gives the scales of an operand to whoever asks for them again
A = "!pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>"
B = "!pto.tile_buf<right, 64x16xf8E4M3FN, slayout=col_major>"
C = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
ROWS, COLUMNS = "slayout=row_major", "blayout=col_major, slayout=col_major"
SA, SB = (
    tuple(f"!pto.tile_buf<{loc}, {shape}xf8E8M0FNU, {how}, fractal=32>" for loc in (to, "mat"))
    for to, shape, how in (("scaleleft", "16x2", ROWS), ("scaleright", "2x16", COLUMNS))
)
say(
    "TGetScaleAddr",
    Program(
        f"""func.func @f(%a: {A}, %b: {B}, %x: {SA[1]}, %y: {SB[1]}, %c: {C}) {{
  %sa = pto.alloc_tile : {SA[0]}
  pto.tget_scale_addr ins(%a : {A}) outs(%sa : {SA[0]})
  %sb = pto.tget_scale_addr %b : {B} -> {SB[0]}
  pto.tmov ins(%x : {SA[1]}) outs(%sa : {SA[0]})
  pto.tmov ins(%y : {SB[1]}) outs(%sb : {SB[0]})
  %again = pto.tget_scale_addr %a : {A} -> {SA[0]}
  pto.tmatmul.mx ins(%a, %again, %b, %sb : {A}, {SA[0]}, {B}, {SB[0]}) outs(%c : {C})
  return
}}
""",
        {"c": [[32 * 8 + 32 * 32.0] * 16] * 16},
        {
            "a": np.ones((16, 64), ml_dtypes.float8_e4m3fn),
            "b": np.ones((64, 16), ml_dtypes.float8_e4m3fn),
            "x": np.asarray([[2, 4]] * 16, ml_dtypes.float8_e8m0fnu),
            "y": np.asarray([[4] * 16, [8] * 16], ml_dtypes.float8_e8m0fnu),
        },
    ),
)


def hif4_scales(four: Array, k: int) -> Array:
    """By rows, the scales of elements along k from four bytes for each 64; number 255 is NaN."""
    groups = four[:, : (k + 63) // 64 * 4].reshape(len(four), -1, 4)
    numbers = groups[..., 0].astype(np.int64)
    value = np.where(numbers == 255, np.nan, (1 + numbers % 4 / 4) * 2.0 ** (numbers // 4 - 48))
    parts = groups[..., 1:2], groups[..., 2:4]
    bits = (np.unpackbits(part, axis=-1, bitorder="little") for part in parts)
    eighths, sixteenths = (np.repeat(b, 64 // b.shape[-1], -1).astype(np.int64) for b in bits)
    scales = value[..., None] * 2.0 ** (eighths + sixteenths)
    return scales.reshape(len(four), -1)[:, :k]


@meaning("TMatMulMxHif4")
@np.errstate(all="ignore")
def hif4_product(a: Seen, a_scale: Seen, b: Seen, b_scale: Seen) -> Array:
    rows, k, cols = *a.valid, b.valid[1]
    left = a.values.astype(np.float64) * hif4_scales(a_scale.codes[:rows], k)
    right = b.values.astype(np.float64) * hif4_scales(b_scale.codes.T[:cols], k).T
    total = np.zeros((rows, cols), np.float32)
    for n in range(k):
        factors = left[:, n : n + 1].astype(np.float32), right[n : n + 1].astype(np.float32)
        total = fused(*factors, total)
    return quieted(total, "f32")


MODES = ("NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD")


def precision(enable: bool, mode: str) -> int:
    """D9: only the register changes; enabled, and how to round."""
    return int(enable) + 2 * MODES.index(mode)


@meaning("SetHf32Mode")
def hf32(enable: bool, mode: str) -> dict[str, int]:
    return {"HF32": precision(enable, mode)}


@meaning("SetTf32Mode")
def tf32(enable: bool, mode: str, target: str) -> dict[str, int]:
    return {} if target == "a2a3" else {"TF32": precision(enable, mode)}
