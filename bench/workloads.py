"""Whole kernels beside NumPy doing the same mathematics in f32, both on one thread.

A time is that of a warm executable with all a run does: copies of its arrays, every block. Results
are compared first. NumPy works on arrays of f32 that are there already, and on causal attention by
tiles of 64 queries, as the kernel does, so that neither multiplies what the mask hides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from clock import Clock, Times

import ptokit as pto

EXAMPLES = Path(__file__).parents[1] / "examples"
TOKENS, HEADS, WIDTH = 512, 8, 1024
Arrays = dict[str, Any]  # Any: arrays and numbers
Work = Callable[[], np.ndarray]


@dataclass(frozen=True)
class WholeKernel:
    """A program on arrays, and NumPy's way to the array `output`; `least` is the speed it owes."""

    name: str
    path: str
    blocks: int
    arrays: Mapping[str, Any]  # Any: as above
    output: str
    numpy: Work
    least: float = 0.9  # on a5, where the stated order of sums costs

    @property
    def opponent(self) -> str:
        return f"{self.name} in NumPy"

    def add(self, clock: Clock) -> None:
        """Compare both, then measure both."""
        executable = pto.load(EXAMPLES / self.path).compile(target="a5", blocks=self.blocks)
        ours, theirs = executable.run(**self.arrays)[self.output], self.numpy()
        off = np.abs(ours.astype(np.float32).reshape(theirs.shape) - theirs).max()
        assert off <= 2e-2 * np.abs(theirs).max(), f"{self.name}: results differ by {off}"

        measured = clock.calling(lambda: executable.run(**self.arrays))

        def alone() -> Times:
            with patch("os.cpu_count", lambda: 1):
                return measured()

        clock.add(self.name, alone)
        clock.add(self.opponent, clock.calling(self.numpy))

    def line(self, clock: Clock) -> str:
        ours, theirs = clock.best[self.name] / 1e6, clock.best[self.opponent] / 1e6
        verdict = "holds" if theirs / ours >= self.least else "misses"
        figures = f"{ours:>9.2f}{theirs:>9.2f}{theirs / ours:>8.2f}"
        return f"{self.name:<46}{figures}  at least {self.least:.1f}  {verdict}"


def normal(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float16)


def norm(x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(1, keepdims=True) + np.float32(1e-6)) * gamma


def kernels() -> Iterator[WholeKernel]:
    random = np.random.default_rng(7)
    yield gemm(random)
    yield attention(random)
    yield feed_forward(random)
    yield projections(random)


def gemm(random: np.random.Generator) -> WholeKernel:
    a, b = (normal(random, 1024, 1024) for _ in "ab")
    wide, given = (a.astype(np.float32), b.astype(np.float32)), {"a": a, "b": b}
    given["c"] = np.zeros((1024, 1024), np.float32)
    name = "product of 1024x1024x1024"
    return WholeKernel(name, "gemm_grid.pto", 1, given, "c", lambda: wide[0] @ wide[1])


def attention(random: np.random.Generator) -> WholeKernel:
    q, k, v = (normal(random, HEADS, TOKENS, 64) for _ in "qkv")
    wq, wk, wv = (x.astype(np.float32) for x in (q, k, v))
    mask = np.triu(np.full((64, 64), -1e30, np.float32), 1)
    o = np.empty_like(wq)

    def numpy() -> np.ndarray:
        for head in range(HEADS):
            for n in range(0, TOKENS, 64):
                s = wq[head, n : n + 64] @ wk[head, : n + 64].T * np.float32(0.125)
                s[:, n:] += mask
                s -= s.max(1, keepdims=True)
                np.exp(s, out=s)
                total = s.sum(1, keepdims=True)
                o[head, n : n + 64] = s @ wv[head, : n + 64] / total
        return o

    flat = {n: x.reshape(-1, 64) for n, x in zip("qkvo", (q, k, v, np.zeros_like(q)), strict=True)}
    blocks, name = HEADS * TOKENS // 64, f"causal attention, {HEADS} heads of {TOKENS}x64"
    given = flat | {"tokens": TOKENS}
    return WholeKernel(name, "pto/flash_attention.pto", blocks, given, "o", numpy)


def feed_forward(random: np.random.Generator) -> WholeKernel:
    x, gamma = random.standard_normal((TOKENS, 128)).astype(np.float32), np.ones((1, 128))
    w, down = normal(random, 128, 2 * WIDTH) / np.float16(8), normal(random, WIDTH, 128) / 16
    paired = w.astype(np.float32).reshape(128, -1, 2, 64)
    gate_w, up_w = (np.ascontiguousarray(paired[:, :, i]).reshape(128, WIDTH) for i in (0, 1))
    down, factors = down.astype(np.float16), gamma.astype(np.float32)
    wide_down = down.astype(np.float32)

    def numpy() -> np.ndarray:
        n = norm(x, factors)
        gate, up = n @ gate_w, n @ up_w
        return x + gate / (1 + np.exp(-gate)) * up @ wide_down

    given = {"x": x, "gamma": factors, "w": w, "w_down": down, "y": np.zeros_like(x)}
    given |= {"tokens": TOKENS, "width": WIDTH}
    name = f"norm and feed-forward, {TOKENS}x128, {WIDTH} hidden"
    return WholeKernel(name, "pto/feed_forward.pto", TOKENS // 64, given, "y", numpy)


def projections(random: np.random.Generator) -> WholeKernel:
    x, gamma = random.standard_normal((TOKENS, 128)).astype(np.float32), np.ones((1, 128))
    w, factors = normal(random, 128, 384) / np.float16(8), gamma.astype(np.float32)
    wide_w, angles = w.astype(np.float32), np.outer(np.arange(TOKENS), np.arange(32) / 32)
    cosine, sine = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    out = np.empty((6, TOKENS, 64), np.float32)

    def numpy() -> np.ndarray:
        out[:] = (norm(x, factors) @ wide_w).reshape(TOKENS, 6, 64).swapaxes(0, 1)
        low, high = out[:4, :, :32].copy(), out[:4, :, 32:].copy()
        out[:4, :, :32] = low * cosine - high * sine
        out[:4, :, 32:] = high * cosine + low * sine
        return out

    given = {"x": x, "gamma": factors, "w": w, "cosine": cosine, "sine": sine}
    given |= {"out": np.zeros((6 * TOKENS, 64), np.float16), "tokens": TOKENS}
    name = f"norm, projections, rotation, {TOKENS}x128"
    return WholeKernel(name, "pto/qkv.pto", TOKENS // 64, given, "out", numpy)


def print_kernels(clock: Clock) -> list[dict[str, Any]]:
    """The table; its figures, in nanoseconds."""
    print(f"\n{'whole programs, one thread':<46}{'ours, ms':>9}{'NumPy':>9}{'speed':>8}")
    found: list[dict[str, Any]] = []
    for kernel in kernels():
        print(kernel.line(clock))
        ours, theirs = clock.best[kernel.name], clock.best[kernel.opponent]
        row = {"name": kernel.name, "target": "a5", "ns": ours, "numpy_ns": theirs}
        row |= {"numba_ns": None, "owed": kernel.least}
        found.append(row | {"processor_ns": clock.processor[kernel.name]})
    return found
