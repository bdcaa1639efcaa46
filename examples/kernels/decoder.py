"""A decoder layer out of kernels, as in Qwen3: norms, rotated queries, grouped attention, SwiGLU.

Activations are f32 in rows of all heads side by side; attention multiplies f16.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from attention import Running
from elementwise import rmsnorm, swiglu
from matrix import gemm

import ptokit as pto
from ptokit import f16


@pto.kernel(shapes="x[m, W] cos[m, H] sin[m, H] y[m, W]")
def rotated_heads(x: pto.In, cos: pto.In, sin: pto.In, y: pto.Out, *, high: int = 32) -> None:
    (m, width), half = x.shape, cos.shape[1]
    for i, h in pto.grid(pto.cdiv(m, high), width // (2 * half)):
        at = h * 2 * half
        c, s = (pto.load(pto.block(t, i * high, 0, high, half)) for t in (cos, sin))
        a, b = (pto.load(pto.block(x, i * high, at + o, high, half)) for o in (0, half))
        pto.store(pto.block(y, i * high, at, high, half), (a * c - b * s).cast(f16))
        pto.store(pto.block(y, i * high, at + half, high, half), (a * s + b * c).cast(f16))


@pto.kernel(shapes="x[m, W] y[m, W]")
def halved(x: pto.In, y: pto.Out, *, high: int = 32) -> None:
    m, width = x.shape
    for i in pto.grid(pto.cdiv(m, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        pto.store(pto.block(y, i * high, 0, high, width), t.cast(f16))


@pto.kernel(shapes="q[m, W] k[m, G] v[m, G] mask[m, m] o[m, W]")
def attended(
    q: pto.In, k: pto.In, v: pto.In, mask: pto.In, o: pto.Out, *, depth: int = 32, bm: int = 32
) -> None:
    m, width = q.shape
    share = width // k.shape[1]
    for i, h in pto.grid(pto.cdiv(m, bm), width // depth):
        out, at = pto.block(o, i * bm, h * depth, bm, depth), h // share * depth
        left = pto.load(pto.block(q, i * bm, h * depth, bm, depth), "mat").to("left")
        run = Running(bm, depth, out.shape[0])
        for j in pto.range(0, pto.min((i + 1) * bm, m), bm):
            keys = pto.load(pto.block(k.T, at, j, depth, bm), "mat").to("right")
            values = pto.load(pto.block(v, j, at, bm, depth), "mat").to("right")
            bias = pto.load(pto.block(mask, i * bm, j, bm, bm))
            run.step(pto.matmul(left, keys).to("vec") * depth**-0.5 + bias, values)
        pto.store(out, run.result())


@pto.kernel(shapes="x[m, W] y[m, W]")
def added(x: pto.In, y: pto.InOut, *, high: int = 32) -> None:
    m, width = x.shape
    for i in pto.grid(pto.cdiv(m, high)):
        part = pto.block(y, i * high, 0, high, width)
        pto.store(part, pto.load(part) + pto.load(pto.block(x, i * high, 0, high, width)))


@dataclass
class Layer:
    """The weights of a layer, f32: projections as input x output, gains as rows."""

    norm: Any
    query: Any
    key: Any
    value: Any
    out: Any
    ffn_norm: Any
    gate: Any
    up: Any
    down: Any
    depth: int = 32

    def __call__(self, x: Any, cos: Any, sin: Any, mask: Any, target: str = "cpu") -> Any:
        """The layer on the rows of x."""

        def made(kernel: Any, *args: Any, width: int, dtype: Any = np.float32, **how: Any) -> Any:
            result = np.zeros((len(x), width), dtype)
            kernel.on(target)(*args, result, **how)
            return result

        def times(a: Any, weights: Any) -> Any:
            return made(gemm, a, weights, width=weights.shape[1], bm=32, bn=32, bk=32)

        width, half = x.shape[1], np.float16
        normed = made(rmsnorm, x, self.norm, width=width)
        q, k, v = (times(normed, w) for w in (self.query, self.key, self.value))
        q, k = (made(rotated_heads, t, cos, sin, width=t.shape[1], dtype=half) for t in (q, k))
        v = made(halved, v, width=v.shape[1], dtype=half)
        mixed = made(attended, q, k, v, mask, width=q.shape[1], depth=self.depth)
        y = times(mixed, self.out)
        added.on(target)(x, y)
        normed = made(rmsnorm, y, self.ffn_norm, width=width)
        gate, up = times(normed, self.gate), times(normed, self.up)
        result = times(made(swiglu, gate, up, width=gate.shape[1]), self.down)
        added.on(target)(y, result)
        return result
