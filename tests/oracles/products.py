"""Matrix products (4.5): one fused multiply-add for each k, ascending."""

from __future__ import annotations

import numpy as np

from oracles.formats import Array, quieted
from oracles.registry import Seen, arithmetic, meaning


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


def product(a: Seen, b: Seen) -> Array:
    left, right = a.values, b.values
    if a.dtype == "i8":
        return left.astype(np.int32) @ right.astype(np.int32)
    left, right = left.astype(np.float32), right.astype(np.float32)
    total = np.zeros((left.shape[0], right.shape[1]), np.float32)
    for k in range(left.shape[1]):
        total = fused(left[:, k : k + 1], right[k : k + 1], total)
    return quieted(total, "f32")


@meaning("TMatMul")
def matrix_product(a: Seen, b: Seen) -> Array:
    return product(a, b)


@meaning("TMatMulAcc")
def accumulated(acc: Seen, a: Seen, b: Seen) -> Array:
    """The sum first, then the accumulator with one rounding."""
    new = product(a, b)
    with np.errstate(all="ignore"):
        return arithmetic(np.add)(new, acc.all[: new.shape[0], : new.shape[1]])


@meaning("TMatMulBias")
def biased(a: Seen, b: Seen, bias: Seen) -> Array:
    new = product(a, b)
    with np.errstate(all="ignore"):
        return arithmetic(np.add)(new, bias.all[:1, : new.shape[1]])
