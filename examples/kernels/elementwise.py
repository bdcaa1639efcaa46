"""Elementwise work and reductions: each block takes some rows; tails cost no line."""

import ptokit as pto
from ptokit import f16, f32


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
        scale = pto.rsqrt(pto.rowsum(t * t) * (1 / width) + eps)
        pto.store(pto.block(y, i * high, 0, high, width), t * scale * g)


@pto.kernel(shapes="x[rows, D] cos[rows, H] sin[rows, H] y[rows, D]")
def rope(x: pto.In, cos: pto.In, sin: pto.In, y: pto.Out, *, high: int = 32) -> None:
    rows, half = cos.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        c, s = (pto.load(pto.block(t, i * high, 0, high, half)) for t in (cos, sin))
        a, b = (pto.load(pto.block(x, i * high, at, high, half)) for at in (0, half))
        pto.store(pto.block(y, i * high, 0, high, half), a * c - b * s)
        pto.store(pto.block(y, i * high, half, high, half), a * s + b * c)


@pto.kernel(shapes="x[rows, D] gain[1, D] bias[1, D] y[rows, D]")
def layer_norm(
    x: pto.In, gain: pto.In, bias: pto.In, y: pto.Out, *, eps: float = 1e-5, high: int = 32
) -> None:
    rows, width = x.shape
    g, b = (pto.load(pto.block(t, 0, 0, 1, width)) for t in (gain, bias))
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        d = t - pto.rowsum(t) * (1 / width)
        scale = pto.rsqrt(pto.rowsum(d * d) * (1 / width) + eps)
        pto.store(pto.block(y, i * high, 0, high, width), d * scale * g + b)


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def log_softmax(x: pto.In, y: pto.Out, *, high: int = 32) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        t = t - pto.rowmax(t)
        pto.store(pto.block(y, i * high, 0, high, width), t - pto.log(pto.rowsum(pto.exp(t))))


def sigmoid(t: pto.Tile) -> pto.Tile:
    """A helper just runs: it records where it is called."""
    return 1.0 / (pto.exp(-t) + 1.0)


@pto.kernel(shapes="x[rows, cols] y[rows, cols]")
def gelu(x: pto.In, y: pto.Out, *, high: int = 32, wide: int = 64) -> None:
    rows, cols = x.shape
    for i, j in pto.grid(pto.cdiv(rows, high), pto.cdiv(cols, wide)):
        t = pto.load(pto.block(x, i * high, j * wide, high, wide))
        inner = (t * t * 0.044715 + 1.0) * t * (2 * 0.7978845608)
        pto.store(pto.block(y, i * high, j * wide, high, wide), t * sigmoid(inner))


@pto.kernel(shapes="gate[rows, cols] up[rows, cols] y[rows, cols]")
def swiglu(gate: pto.In, up: pto.In, y: pto.Out, *, high: int = 8, wide: int = 512) -> None:
    rows, cols = gate.shape
    for i, j in pto.grid(pto.cdiv(rows, high), pto.cdiv(cols, wide)):
        g, u = (pto.load(pto.block(t, i * high, j * wide, high, wide)) for t in (gate, up))
        pto.store(pto.block(y, i * high, j * wide, high, wide), g * sigmoid(g) * u)


@pto.kernel(shapes="x[rows, cols] y[rows, cols]")
def saxpy(x: pto.In, y: pto.InOut, a: int, *, high: int = 32, wide: int = 64) -> None:
    rows, cols = x.shape
    for i, j in pto.grid(pto.cdiv(rows, high), pto.cdiv(cols, wide)):
        part = pto.block(y, i * high, j * wide, high, wide)
        pto.store(part, pto.load(part) + pto.load(pto.block(x, i * high, j * wide, high, wide)) * a)


@pto.kernel(shapes="x[rows, cols] low[rows, cols]")
def narrowed(x: pto.In, low: pto.Out, *, high: int = 32, wide: int = 64) -> None:
    rows, cols = x.shape
    for i, j in pto.grid(pto.cdiv(rows, high), pto.cdiv(cols, wide)):
        t = pto.load(pto.block(x, i * high, j * wide, high, wide))
        t = pto.min(pto.max(t, -1.0), 1.0)
        pto.store(pto.block(low, i * high, j * wide, high, wide), t.cast(f16))


@pto.kernel(shapes="x[rows, D] y[1, D]")
def column_sums(x: pto.In, y: pto.Out, *, high: int = 32) -> None:
    rows, width = x.shape
    total = pto.full(f32, 1, -(-width // 8) * 8, 0.0, valid=(1, width))
    for i in pto.range(pto.cdiv(rows, high)):
        part = pto.colsum(pto.load(pto.block(x, i * high, 0, high, width)))
        pto.add(total, part, out=total)
    pto.store(pto.block(y, 0, 0, 1, width), total)


@pto.kernel(shapes="x[rows, D] least[rows, D] most[rows, D]")
def prefix_extremes(x: pto.In, least: pto.Out, most: pto.Out) -> None:
    rows, width = x.shape
    low, high = (pto.load(pto.block(x, 0, 0, 1, width)) for _ in range(2))
    for i in pto.range(rows):
        t = pto.load(pto.block(x, i, 0, 1, width))
        pto.min(low, t, out=low)
        pto.max(high, t, out=high)
        pto.store(pto.block(least, i, 0, 1, width), low)
        pto.store(pto.block(most, i, 0, 1, width), high)


@pto.kernel(shapes="x[rows, D] scale[1, D] q[rows, D]")
def dequantised(x: pto.In, scale: pto.In, q: pto.Out, *, high: int = 32) -> None:
    rows, width = x.shape
    s = pto.load(pto.block(scale, 0, 0, 1, width))
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width)).cast(f32)
        pto.store(pto.block(q, i * high, 0, high, width), t * s)
