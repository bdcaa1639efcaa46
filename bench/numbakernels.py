"""The whole kernels in numba: plain loops over rows, one thread, fast-math.

Fast-math lets LLVM take sums in any order and assume that no element is a NaN or infinite. ptokit
does neither: its sums have a stated order, and NaNs come out as pages say. `numba_kernels` has each
by the name of ptokit's kernel, with its arguments; it is empty where numba is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, sqrt

import numpy as np

try:
    from numba import njit
except ImportError:
    njit = None

Array = np.ndarray
Kernels = dict[str, Callable[..., None]]
ONE = np.float32(1)


def softmax(x: Array, y: Array) -> None:
    rows, cols = x.shape
    for i in range(rows):
        top = x[i, 0]
        for j in range(1, cols):
            top = max(top, x[i, j])
        total = np.float32(0)
        for j in range(cols):
            y[i, j] = exp(x[i, j] - top)
            total += y[i, j]
        scale = ONE / total
        for j in range(cols):
            y[i, j] *= scale


def rmsnorm(x: Array, gain: Array, y: Array) -> None:
    rows, cols = x.shape
    for i in range(rows):
        total = np.float32(0)
        for j in range(cols):
            total += x[i, j] * x[i, j]
        scale = ONE / sqrt(total / np.float32(cols) + np.float32(1e-5))
        for j in range(cols):
            y[i, j] = x[i, j] * scale * gain[0, j]


def layer_norm(x: Array, gain: Array, bias: Array, y: Array) -> None:
    rows, cols = x.shape
    for i in range(rows):
        total = np.float32(0)
        for j in range(cols):
            total += x[i, j]
        mean, squares = total / np.float32(cols), np.float32(0)
        for j in range(cols):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        scale = ONE / sqrt(squares / np.float32(cols) + np.float32(1e-5))
        for j in range(cols):
            y[i, j] = (x[i, j] - mean) * scale * gain[0, j] + bias[0, j]


def swiglu(gate: Array, up: Array, y: Array) -> None:
    rows, cols = gate.shape
    for i in range(rows):
        for j in range(cols):
            y[i, j] = gate[i, j] / (ONE + exp(-gate[i, j])) * up[i, j]


def rope(x: Array, cos: Array, sin: Array, y: Array) -> None:
    rows, half = cos.shape
    for i in range(rows):
        for j in range(half):
            a, b = x[i, j], x[i, half + j]
            y[i, j] = a * cos[i, j] - b * sin[i, j]
            y[i, half + j] = a * sin[i, j] + b * cos[i, j]


def flash(q: Array, k: Array, v: Array, o: Array) -> None:
    rows, depth = q.shape
    keys, scale = len(k), ONE / sqrt(np.float32(depth))
    scores = np.empty(keys, np.float32)
    for i in range(rows):
        top = np.float32(-np.inf)
        for j in range(keys):
            score = np.float32(0)
            for d in range(depth):
                score += q[i, d] * k[j, d]
            scores[j] = score * scale
            top = max(top, scores[j])
        total = np.float32(0)
        for j in range(keys):
            scores[j] = exp(scores[j] - top)
            total += scores[j]
        for d in range(depth):
            o[i, d] = np.float32(0)
        for j in range(keys):
            for d in range(depth):
                o[i, d] += scores[j] * v[j, d]
        for d in range(depth):
            o[i, d] /= total


def top_k(x: Array, ids: Array, values: Array, places: Array) -> None:
    """Keep the largest in order: each further element moves those down that it exceeds."""
    (rows, cols), k = x.shape, values.shape[1]
    for i in range(rows):
        for n in range(k):
            values[i, n] = np.float32(-np.inf)
        for j in range(cols):
            n = k
            while n > 0 and x[i, j] > values[i, n - 1]:
                n -= 1
            for m in range(k - 1, n, -1):
                values[i, m], places[i, m] = values[i, m - 1], places[i, m - 1]
            if n < k:
                values[i, n], places[i, n] = x[i, j], j


def gemm(a: Array, b: Array, c: Array) -> None:
    """Four rows at once, so that an element of b is used as often as it is loaded."""
    rows, cols = c.shape
    for i in range(0, rows, 4):
        c[i : i + 4] = np.float32(0)
        for p in range(a.shape[1]):
            for j in range(cols):
                c[i, j] += a[i, p] * b[p, j]
                c[i + 1, j] += a[i + 1, p] * b[p, j]
                c[i + 2, j] += a[i + 2, p] * b[p, j]
                c[i + 3, j] += a[i + 3, p] * b[p, j]


@cache
def numba_kernels() -> Kernels:
    """Return the loops, which numba compiles at their first call."""
    if njit is None:
        return {}
    every = softmax, rmsnorm, layer_norm, swiglu, rope, flash, top_k, gemm
    return {loops.__name__: njit(loops, fastmath=True) for loops in every}
