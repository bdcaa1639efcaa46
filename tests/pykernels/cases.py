"""The kernels of examples/kernels, the arrays they are run on, and what NumPy makes of these."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from account.files import ROOT

FOLDER = ROOT / "examples" / "kernels"
Array = NDArray[Any]
Rng = np.random.Generator


@cache
def chapter(name: str) -> ModuleType:
    """A file of examples/kernels."""
    path = FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"kernels_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Case:
    """A kernel: `make` gives its arguments for a size, `wanted` its outputs in f64.

    `outs` are the places of outputs among the arguments, `block` the extent that `make`'s size
    is cut into, `refused` the targets that do not take it.
    """

    chapter: str
    name: str
    make: Callable[[Rng, int], tuple[Any, ...]]
    wanted: Callable[..., Any]
    block: int = 32
    tolerance: float = 1e-5
    outs: tuple[int, ...] = (-1,)
    how: dict[str, Any] = field(default_factory=dict[str, Any])
    targets: tuple[str, ...] = ("cpu", "a2a3", "a5")
    sizes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.chapter}-{self.name}"

    @property
    def kernel(self) -> Any:
        return getattr(chapter(self.chapter), self.name)

    def compared(self, args: tuple[Any, ...]) -> list[tuple[Array, Array]]:
        """Each output, and what it should be, of the inputs in f64."""
        outs = [args[place] for place in self.outs]
        ins = [_wide(a) for a in args if not any(a is out for out in outs)]
        wanted: Any = self.wanted(*ins)
        several: list[Array] = list(wanted) if isinstance(wanted, tuple) else [wanted]  # type: ignore[arg-type]
        return list(zip(outs, several, strict=True))

    def every_size(self) -> tuple[int, ...]:
        return self.sizes or (1, self.block - 1, self.block, self.block + 1, 3 * self.block + 7)


def _wide(given: Any) -> Any:
    """An array of floats in f64; anything else as it is."""
    is_array = isinstance(given, np.ndarray)
    return given if not is_array or given.dtype.kind in "iu" else given.astype(np.float64)  # type: ignore[union-attr]


def floats(rng: Rng, *shape: int, dtype: Any = np.float32) -> Array:
    return rng.standard_normal(shape).astype(dtype)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rmsnorm(x: Array, gain: Array) -> Array:
    return x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-5) * gain


def rotated(x: Array, cos: Array, sin: Array) -> Array:
    a, b = np.split(x, 2, axis=1)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], 1)


def attention(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.T / q.shape[1] ** 0.5) @ v


def halves(rng: Rng, *shape: int) -> Array:
    return floats(rng, *shape, dtype=np.float16)


def like(x: Array) -> Array:
    return np.zeros_like(x)


def zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


CASES = [
    Case("elementwise", "softmax", lambda r, n: (x := floats(r, n, 50), like(x)), softmax),
    Case(
        *("elementwise", "rmsnorm"),
        lambda r, n: (halves(r, n, 64), floats(r, 1, 64), zeros(n, 64)),
        rmsnorm,
    ),
    Case(
        *("elementwise", "rope"),
        lambda r, n: (floats(r, n, 64), floats(r, n, 32), floats(r, n, 32), zeros(n, 64)),
        rotated,
    ),
    Case(
        *("matrix", "gemm"),
        lambda r, n: (halves(r, n, 40), halves(r, 40, 50), zeros(n, 50)),
        np.matmul,
        how={"bm": 32, "bn": 32, "bk": 16},
        tolerance=1e-4,
    ),
    Case(
        *("attention", "flash"),
        lambda r, n: (
            halves(r, 64, 64),
            halves(r, 64 * n, 64),
            halves(r, 64 * n, 64),
            zeros(64, 64),
        ),
        attention,
        sizes=(1, 3),
        tolerance=5e-3,
        targets=("cpu",),
    ),
]
