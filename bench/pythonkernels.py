"""Kernels of examples/kernels on each target, beside NumPy doing the same mathematics in f32.

A time is that of a call with arrays that are there already, on one thread. NumPy writes into arrays
that are there already, too, and makes as few others as its functions allow.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from clock import Clock, Times
from numbakernels import numba_kernels

sys.path.append(str(Path(__file__).parents[1] / "examples" / "kernels"))
TARGETS = ("cpu", "a2a3", "a5")
ROWS, WIDTH = 4096, 1024
Array = np.ndarray
OWED = {"cpu": 1.0, "a2a3": 0.9, "a5": 0.9}  # speed next to NumPy


@dataclass(frozen=True)
class PythonKernel:
    """A kernel with its arguments; NumPy writes the one at the place `out`, too."""

    name: str
    chapter: str
    function: str
    make: Callable[[np.random.Generator], tuple[Array, ...]]
    numpy: Callable[..., None]
    how: dict[str, Any] = field(default_factory=dict[str, Any])
    targets: tuple[str, ...] = TARGETS
    off: float = 1e-3  # the most a result may differ, of the largest
    least: float | None = None  # the speed it owes, where that is another one
    out: int = -1
    threads: bool = False  # it is timed on all threads, too

    @cached_property
    def arguments(self) -> tuple[Array, ...]:
        return self.make(np.random.default_rng(7))

    @property
    def opponent(self) -> str:
        return f"{self.name} in NumPy"

    @property
    def in_numba(self) -> str:
        return f"{self.name} in numba"

    @property
    def on_all_threads(self) -> str:
        return f"{self.name} on all threads"

    def row(self, target: str) -> str:
        return f"{self.name} on {target}"

    def add(self, clock: Clock) -> None:
        """Compare results, then measure."""
        kernel = getattr(import_module(self.chapter), self.function)
        ours = self.arguments[self.out]
        given = [a.astype(np.float32) if a.dtype == np.float16 else a for a in self.arguments]
        wanted = given[self.out] = np.zeros(ours.shape, np.float32)
        self.numpy(*given)
        for target in self.targets:
            launch = kernel.on(target).prepare(*self.arguments, **self.how)
            launch()
            off = np.abs(ours - wanted).max()
            assert off <= self.off * np.abs(wanted).max(), f"{self.row(target)}: off by {off}"
            clock.add(self.row(target), alone(clock.calling(launch)))
            if self.threads and target == "cpu":
                clock.add(self.on_all_threads, clock.calling(launch))
        clock.add(self.opponent, clock.calling(lambda: self.numpy(*given)))
        if loops := numba_kernels().get(self.function):
            by_numba = [*given]
            by_numba[self.out] = np.zeros(ours.shape, np.float32)
            loops(*by_numba)
            off = np.abs(by_numba[self.out] - wanted).max()
            assert off <= self.off * np.abs(wanted).max(), f"{self.in_numba}: off by {off}"
            clock.add(self.in_numba, clock.calling(lambda: loops(*by_numba)))

    def owed(self, target: str) -> float:
        return OWED[target] if self.least is None else self.least


def speedups(clock: Clock) -> Iterator[tuple[str, float]]:
    """Kernels that use all threads without being asked: how much faster than one."""
    for kernel in python_kernels():
        if kernel.threads:
            one, many = clock.best[kernel.row("cpu")], clock.best[kernel.on_all_threads]
            times = f"{one / 1e6:.2f} ms over {many / 1e6:.2f} ms on {os.cpu_count()} threads"
            yield f"{kernel.name}: {times}", one / many


def alone(measure: Callable[[], Times]) -> Callable[[], Times]:
    """On a machine that seems to have one processor."""

    def measured() -> Times:
        with patch("os.cpu_count", lambda: 1):
            return measure()

    return measured


def normal(random: np.random.Generator, *shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def softmax(x: Array, y: Array) -> None:
    np.subtract(x, x.max(1, keepdims=True), out=y)
    np.exp(y, out=y)
    y /= y.sum(1, keepdims=True)


def rmsnorm(x: Array, gain: Array, y: Array) -> None:
    scale = np.einsum("ij,ij->i", x, x)[:, None] * np.float32(1 / x.shape[1]) + np.float32(1e-5)
    np.multiply(x, 1 / np.sqrt(scale), out=y)
    y *= gain


def layer_norm(x: Array, gain: Array, bias: Array, y: Array) -> None:
    np.subtract(x, x.mean(1, keepdims=True), out=y)
    scale = np.einsum("ij,ij->i", y, y)[:, None] * np.float32(1 / x.shape[1]) + np.float32(1e-5)
    y *= 1 / np.sqrt(scale)
    y *= gain
    y += bias


def swiglu(gate: Array, up: Array, y: Array) -> None:
    np.negative(gate, out=y)
    np.exp(y, out=y)
    y += 1
    np.divide(gate, y, out=y)
    y *= up


def rope(x: Array, cos: Array, sin: Array, y: Array) -> None:
    half = x.shape[1] // 2
    a, b = x[:, :half], x[:, half:]
    np.multiply(a, cos, out=y[:, :half])
    y[:, :half] -= b * sin
    np.multiply(a, sin, out=y[:, half:])
    y[:, half:] += b * cos


def attention(q: Array, k: Array, v: Array, o: Array) -> None:
    for n in range(0, len(q), 256):  # as many queries at once as the caches like
        s = q[n : n + 256] @ k.T
        s *= np.float32(q.shape[1] ** -0.5)
        softmax(s, s)
        np.matmul(s, v, out=o[n : n + 256])


def largest(x: Array, ids: Array, values: Array, places: Array) -> None:
    k = values.shape[1]
    values[:] = -np.sort(-np.partition(x, x.shape[1] - k, axis=1)[:, -k:], axis=1)


def python_kernels() -> Iterator[PythonKernel]:
    rows = "elementwise"

    def square(random: np.random.Generator) -> tuple[Array, ...]:
        return normal(random, ROWS, WIDTH), np.zeros((ROWS, WIDTH), np.float32)

    def scaled(random: np.random.Generator) -> tuple[Array, ...]:
        x, y = square(random)
        return x.astype(np.float16), normal(random, 1, WIDTH), y

    def shifted(random: np.random.Generator) -> tuple[Array, ...]:
        x, y = square(random)
        return x, normal(random, 1, WIDTH), normal(random, 1, WIDTH), y

    def gated(random: np.random.Generator) -> tuple[Array, ...]:
        x, y = square(random)
        return x, normal(random, ROWS, WIDTH), y

    def turned(random: np.random.Generator) -> tuple[Array, ...]:
        halves = (normal(random, ROWS, 64) for _ in range(2))
        return normal(random, ROWS, 128), *halves, np.zeros((ROWS, 128), np.float32)

    def heads(random: np.random.Generator) -> tuple[Array, ...]:
        three = (normal(random, 2048, 64).astype(np.float16) for _ in range(3))
        return *three, np.zeros((2048, 64), np.float32)

    def factors(kind: type, n: int) -> Callable[[np.random.Generator], tuple[Array, ...]]:
        def make(random: np.random.Generator) -> tuple[Array, ...]:
            a, b = (normal(random, n, n).astype(kind) for _ in range(2))
            return a, b, np.zeros((n, n), np.float32)

        return make

    def sorted_rows(random: np.random.Generator) -> tuple[Array, ...]:
        ids = np.tile(np.arange(32, dtype=np.uint32), (32, 1))
        outs = np.zeros((ROWS, 8), np.float32), np.zeros((ROWS, 8), np.uint32)
        return normal(random, ROWS, 32), ids, *outs

    size, high = f"{ROWS}x{WIDTH}", {"high": 8}
    yield PythonKernel(f"softmax {size}", rows, "softmax", square, softmax, high)
    yield PythonKernel(f"RMSNorm {size}", rows, "rmsnorm", scaled, rmsnorm, high, off=1e-2)
    yield PythonKernel(f"layer norm {size}", rows, "layer_norm", shifted, layer_norm, high)
    yield PythonKernel(f"SwiGLU {size}", rows, "swiglu", gated, swiglu)
    yield PythonKernel(f"RoPE {ROWS}x128", rows, "rope", turned, rope)
    yield PythonKernel(
        "flash attention 2048x64", "attention", "flash", heads, attention, off=1e-2, threads=True
    )
    yield PythonKernel("top 8 of 32", "movement", "top_k", sorted_rows, largest, out=2)
    for kind, name in ((np.float16, "f16"), (np.float32, "f32")):
        product = factors(kind, 1024)
        name = f"GEMM {name} 1024x1024x1024"
        multiply = lambda a, b, c: np.matmul(a, b, out=c)  # noqa: E731 - NumPy's result is the out
        yield PythonKernel(name, "matrix", "gemm", product, multiply, least=0.9)
