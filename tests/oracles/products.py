"""Matrix products (4.5): one fused multiply-add for each k, ascending."""

from __future__ import annotations

import numpy as np

from oracles.formats import Array, quieted
from oracles.registry import Seen, meaning


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


def product(a: Seen, b: Seen, start: Array | None = None) -> Array:
    """The chain of each sum begins with `start`, which a column of biases repeats, or with 0."""
    left, right = a.values, b.values
    rows, cols = left.shape[0], right.shape[1]
    if a.dtype == "i8":
        total = left.astype(np.int32) @ right.astype(np.int32)
        return total if start is None else total + start[:rows, :cols]
    left, right = left.astype(np.float32), right.astype(np.float32)
    total = np.zeros((rows, cols), np.float32)
    if start is not None:
        total = np.broadcast_to(start[:rows, :cols], total.shape)
    for k in range(left.shape[1]):
        total = fused(left[:, k : k + 1], right[k : k + 1], total)
    return quieted(total, "f32")


@meaning("TMatMul", "TGemv")
def matrix_product(a: Seen, b: Seen) -> Array:
    return product(a, b)


@meaning("TMatMulAcc", "TGemvAcc")
def accumulated(acc: Seen, a: Seen, b: Seen) -> Array:
    """Hardware order: r = C, then one fused multiply-add per k."""
    return product(a, b, acc.all)


@meaning("TMatMulBias", "TGemvBias")
def biased(a: Seen, b: Seen, bias: Seen) -> Array:
    """The bias is the initial value of the accumulator."""
    return product(a, b, bias.all[:1])


def scale_values(scale: Seen) -> Array:
    """Powers of two by their codes; 255 is NaN (D10)."""
    codes = scale.codes.astype(np.int64)
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127))


@np.errstate(all="ignore")
def scaled_product(
    a: Seen, a_scale: Seen, b: Seen, b_scale: Seen, start: Array | None = None
) -> Array:
    """4.5.1: per k, acc = f32(f64(acc) + f64(a b) f64(sa sb)), the scales of group k div 32."""
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
