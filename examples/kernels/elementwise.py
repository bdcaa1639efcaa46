"""Elementwise work and reductions: each block takes some rows; tails cost no line."""

import ptokit as pto
from ptokit import f32


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def softmax(x: pto.In, y: pto.Out, *, high: int = 32) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        t = pto.exp(t - pto.rowmax(t))
        pto.store(pto.block(y, i * high, 0, high, width), t / pto.rowsum(t))


@pto.kernel(shapes="x[rows, D] gain[1, D] y[rows, D]")
def rmsnorm(x: pto.In, gain: pto.In, y: pto.Out, *, eps: float = 1e-5, high: int = 32) -> None:
    rows, width = x.shape
    g = pto.load(pto.block(gain, 0, 0, 1, width))
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width)).cast(f32)
        scale = pto.rsqrt(pto.rowsum(t * t).T * (1 / width) + eps)
        pto.store(pto.block(y, i * high, 0, high, width), t * scale.T * g)


@pto.kernel(shapes="x[rows, D] cos[rows, H] sin[rows, H] y[rows, D]")
def rope(x: pto.In, cos: pto.In, sin: pto.In, y: pto.Out, *, high: int = 32) -> None:
    rows, half = cos.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        c, s = (pto.load(pto.block(t, i * high, 0, high, half)) for t in (cos, sin))
        a, b = (pto.load(pto.block(x, i * high, at, high, half)) for at in (0, half))
        pto.store(pto.block(y, i * high, 0, high, half), a * c - b * s)
        pto.store(pto.block(y, i * high, half, high, half), a * s + b * c)
