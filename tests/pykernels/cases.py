"""The kernels of examples/kernels, the arrays they are run on, and what NumPy makes of these."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false
# Lambdas here compute on arrays of any type.

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from account.files import ROOT

FOLDER = ROOT / "examples" / "kernels"
Array = NDArray[Any]
Rng = np.random.Generator


def chapter(name: str) -> ModuleType:
    """A file of examples/kernels, by which others import it too."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return import_module(name)


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


def bits(rng: Rng, *shape: int, most: int = 9) -> Array:
    return rng.integers(0, most, shape).astype(np.int32)


def layer_norm(x: Array, gain: Array, bias: Array) -> Array:
    d = x - x.mean(1, keepdims=True)
    return d / np.sqrt((d**2).mean(1, keepdims=True) + 1e-5) * gain + bias


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def masked(q: Array, k: Array, v: Array, mask: Array) -> Array:
    return softmax(q @ k.T / q.shape[1] ** 0.5 + mask) @ v


def causal(n: int) -> Array:
    return np.triu(np.full((n, n), -1e30, np.float32), 1)


def grouped(q: Array, k: Array, v: Array) -> Array:
    share = len(q) // len(k)
    return np.stack([attention(head, k[h // share], v[h // share]) for h, head in enumerate(q)])


def paged(q: Array, k: Array, v: Array, table: Array, lengths: Array) -> Array:
    found: list[Array] = []
    for head, pages, length in zip(q, table, lengths, strict=True):
        keys, values = (np.concatenate([x[p] for p in pages])[:length] for x in (k, v))
        found.append(attention(head, keys, values))
    return np.stack(found)


def scattered(x: Array, ids: Array) -> Array:
    y = np.zeros((9, x.shape[1]))
    np.add.at(y, ids, x)
    return y


def compact(x: Array, flags: Array, _: Array) -> Array:
    y = np.zeros_like(x)
    kept = x[flags > 0]
    y[: len(kept)] = kept
    return y


def prefixes(x: Array) -> tuple[Array, Array]:
    return np.minimum.accumulate(x), np.maximum.accumulate(x)


def largest(x: Array, count: int) -> tuple[Array, Array]:
    places = np.argsort(-x, kind="stable")[:, :count]
    return np.take_along_axis(x, places, 1), places


def numbered() -> Array:
    return np.broadcast_to(np.arange(32, dtype=np.uint32), (32, 32)).copy()


def patches(
    x: Array,
    filter: tuple[int, int],
    padding: tuple[int, int, int, int],
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
) -> Array:
    """Each patch of maps N C1 H W C0 as a row: channel blocks, filter rows, columns, channels."""
    left, right, top, bottom = padding
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right), (0, 0)))
    reach = tuple(d * (f - 1) + 1 for d, f in zip(dilation, filter, strict=True))
    every = np.lib.stride_tricks.sliding_window_view(x, reach, (2, 3))
    some = every[:, :, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return some.transpose(0, 2, 3, 1, 5, 6, 4).reshape(
        -1, x.shape[1] * x.shape[4] * np.prod(filter)
    )


def scale_words(rng: Rng, count: int) -> Array:
    """Parameters of the way out of the accumulator: the bits of an f32 scale for each column."""
    scale = (2.0 ** rng.integers(-6, -2, (1, count))).astype(np.float32)
    return scale.view(np.uint32).astype(np.uint64)


def small(rng: Rng, *shape: int) -> Array:
    return rng.integers(-9, 9, shape).astype(np.int8)


def of_type(name: str, array: Array) -> Array:
    """Values in a type of ml_dtypes, in f32."""
    return array.astype(getattr(ml_dtypes, name))


def scales(rng: Rng, *shape: int) -> Array:
    """Powers of two around 1, as the codes of exponents."""
    return rng.integers(124, 130, shape).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)


def block_scaled(a: Array, of_a: Array, b: Array, of_b: Array) -> Array:
    return (a * np.repeat(of_a, 32, 1)) @ (b * np.repeat(of_b, 32, 1).T)


SMALL = {"bm": 32, "bn": 32, "bk": 16}

ROWS = "elementwise"
IN_REGISTERS: dict[str, Any] = {"targets": ("cpu", "a5"), "sizes": (1, 63, 64, 65, 1000)}
CASES = [
    Case(ROWS, "softmax", lambda r, n: (x := floats(r, n, 50), like(x)), softmax),
    Case(ROWS, "rmsnorm", lambda r, n: (halves(r, n, 64), floats(r, 1, 64), zeros(n, 64)), rmsnorm),
    Case(
        *(ROWS, "rope"),
        lambda r, n: (floats(r, n, 64), floats(r, n, 32), floats(r, n, 32), zeros(n, 64)),
        rotated,
    ),
    Case(
        *(ROWS, "layer_norm"),
        lambda r, n: (floats(r, n, 40), floats(r, 1, 40), floats(r, 1, 40), zeros(n, 40)),
        layer_norm,
        tolerance=1e-4,
    ),
    Case(
        *(ROWS, "log_softmax"),
        lambda r, n: (x := floats(r, n, 33), like(x)),
        lambda x: np.log(softmax(x)),
    ),
    Case(ROWS, "gelu", lambda r, n: (x := floats(r, n, 70), like(x)), gelu),
    Case(
        *(ROWS, "swiglu"),
        lambda r, n: (floats(r, n, 70), floats(r, n, 70), zeros(n, 70)),
        lambda g, u: silu(g) * u,
    ),
    Case(
        *(ROWS, "narrowed"),
        lambda r, n: (floats(r, n, 70), np.zeros((n, 70), np.float16)),
        lambda x: np.clip(x, -1, 1),
        tolerance=1e-3,
    ),
    Case(
        *(ROWS, "column_sums"),
        lambda r, n: (floats(r, n, 70), zeros(1, 70)),
        lambda x: x.sum(0, keepdims=True),
    ),
    Case(
        *(ROWS, "prefix_extremes"),
        lambda r, n: (floats(r, n, 24), zeros(n, 24), zeros(n, 24)),
        prefixes,
        outs=(-2, -1),
        block=8,
    ),
    Case(
        *(ROWS, "dequantised"),
        lambda r, n: (bits(r, n, 40), floats(r, 1, 40), zeros(n, 40)),
        lambda x, s: x * s,
    ),
    Case(
        *("matrix", "gemm"),
        lambda r, n: (halves(r, n, 40), halves(r, 40, 50), zeros(n, 50)),
        np.matmul,
        how=SMALL,
        tolerance=1e-4,
    ),
    Case(
        *("matrix", "gemm_nt"),
        lambda r, n: (halves(r, n, 40), halves(r, 50, 40), zeros(n, 50)),
        lambda a, b: a @ b.T,
        tolerance=1e-4,
    ),
    Case(
        *("matrix", "batched"),
        lambda r, n: (halves(r, 3, n, 40), halves(r, 3, 40, 50), zeros(3, n, 50)),
        np.matmul,
        tolerance=1e-4,
    ),
    Case(
        *("matrix", "split_k"),
        lambda r, n: (halves(r, n, 100), halves(r, 100, 50), zeros(n, 50)),
        np.matmul,
        tolerance=1e-4,
    ),
    Case(
        *("matrix", "linear"),
        lambda r, n: (halves(r, n, 40), halves(r, 40, 64), floats(r, 1, 64), zeros(n, 64)),
        lambda a, b, c: a @ b + c,
        tolerance=1e-4,
    ),
    Case(
        *("matrix", "linear_gelu"),
        lambda r, n: (halves(r, n, 40), halves(r, 40, 64), floats(r, 1, 64), halves(r, n, 64)),
        lambda a, b, c: gelu(a @ b + c),
        tolerance=1e-2,
    ),
    Case(
        *("matrix", "gemm_i8"),
        lambda r, n: (small(r, n, 70), small(r, 70, 50), np.zeros((n, 50), np.int32)),
        lambda a, b: a.astype(np.int32) @ b.astype(np.int32),
    ),
    Case(
        *("matrix", "gemm_bf16"),
        lambda r, n: (
            *(of_type("bfloat16", floats(r, *s)) for s in ((n, 40), (40, 50))),
            of_type("bfloat16", zeros(n, 50)),
        ),
        np.matmul,
        how=SMALL,
        tolerance=2e-2,
    ),
    Case(
        *("matrix", "gemm_i8_dequantised"),
        lambda r, n: (
            small(r, n, 64),
            small(r, 64, 48),
            scale_words(r, 48),
            np.zeros((n, 48), np.float16),
        ),
        lambda a, b, s: (
            a.astype(np.int64) @ b.astype(np.int64) * s.astype(np.uint32).view(np.float32)
        ),
        tolerance=1e-3,
    ),
    *(
        Case(
            *("matrix", "gemm_mx"),
            lambda r, n, kind=kind: (
                of_type(kind, floats(r, n, 128)),
                scales(r, n, 4),
                of_type(kind, floats(r, 128, 64)),
                scales(r, 64, 4),
                zeros(n, 64),
            ),
            block_scaled,
            tolerance=1e-4,
            targets=("cpu", "a5"),
        )
        for kind in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn")
    ),
    Case(
        *("convolution", "pointwise"),
        lambda r, n: (halves(r, n, 48), halves(r, 48, 32), zeros(n, 32)),
        np.matmul,
        tolerance=1e-4,
    ),
    Case(
        *("convolution", "conv2d"),
        lambda r, n: (halves(r, 1, 2, 1, n, 16), halves(r, 2 * 9 * 16, 32), zeros(n, 32)),
        lambda x, w: patches(x, (3, 3), (1, 1, 1, 1)) @ w,
        how={"bm": 32, "bk": 128},
        tolerance=1e-4,
    ),
    Case(
        *("convolution", "strided"),
        lambda r, n: (
            halves(r, 3, 1, n + 1, 6, 16),
            halves(r, 6 * 16, 16),
            zeros(3 * (1 + (n - 1) // 2) * 4, 16),
        ),
        lambda x, w: patches(x, (3, 2), (1, 2, 1, 0), (2, 2), (1, 2)) @ w,
        tolerance=1e-4,
        block=16,
    ),
    Case(
        *("attention", "flash"),
        lambda r, n: (*(halves(r, 64 * m, 64) for m in (1, n, n)), zeros(64, 64)),
        attention,
        sizes=(1, 3),
        tolerance=5e-3,
    ),
    Case(
        *("attention", "flash_masked"),
        lambda r, n: (
            *(halves(r, m, 64) for m in (n, 40, 40)),
            causal(max(n, 40))[:n, :40].copy(),
            zeros(n, 64),
        ),
        masked,
        tolerance=5e-3,
    ),
    Case(
        *("attention", "flash_causal"),
        lambda r, n: (*(halves(r, n, 64) for _ in range(3)), causal(n), zeros(n, 64)),
        masked,
        tolerance=5e-3,
    ),
    Case(
        *("attention", "grouped"),
        lambda r, n: (
            halves(r, 4, 20, 32),
            halves(r, 2, n, 32),
            halves(r, 2, n, 32),
            zeros(4, 20, 32),
        ),
        grouped,
        tolerance=5e-3,
    ),
    Case(
        *("attention", "paged"),
        lambda r, n: (
            halves(r, 2, 8, 32),
            halves(r, 16, 16, 32),
            halves(r, 16, 16, 32),
            r.permutation(16).astype(np.int32).reshape(2, 8),
            np.array([n, 17], np.int32),
            zeros(2, 8, 32),
        ),
        paged,
        tolerance=5e-3,
    ),
    Case(
        *("attention", "decode"),
        lambda r, n: (halves(r, 8, 32), halves(r, n, 32), halves(r, n, 32), zeros(8, 32)),
        attention,
        tolerance=5e-3,
    ),
    Case(
        *("movement", "transpose"),
        lambda r, n: (floats(r, n, 40), zeros(40, n)),
        np.transpose,
    ),
    Case(
        *("movement", "embedding"),
        lambda r, n: (floats(r, 9, 40), bits(r, n), zeros(n, 40)),
        lambda table, ids: table[ids],
    ),
    Case(
        *("movement", "scatter_add"),
        lambda r, n: (floats(r, n, 40), bits(r, n), zeros(9, 40)),
        scattered,
    ),
    Case(
        *("movement", "concat"),
        lambda r, n: (floats(r, n, 40), floats(r, 20, 40), zeros(n + 20, 40)),
        lambda a, b: np.concatenate([a, b]),
    ),
    Case(
        *("movement", "reversed_rows"),
        lambda r, n: (x := floats(r, n, 40), like(x)),
        lambda x: x[::-1],
    ),
    Case(
        *("movement", "compacted"),
        lambda r, n: (floats(r, n, 40), bits(r, n, most=2), zeros(n, 40), bits(r, 1, most=1)),
        compact,
        outs=(2,),
    ),
    Case(
        *("movement", "sorted_rows"),
        lambda r, n: (floats(r, n, 32), numbered(), zeros(n, 32), np.zeros((n, 32), np.uint32)),
        lambda x, _: (-np.sort(-x), np.argsort(-x, kind="stable")),
        outs=(2, 3),
    ),
    *(
        Case(
            *("movement", name),
            lambda r, n, ids=ids, wide=wide, k=k: (
                floats(r, n, wide),
                ids,
                zeros(n, k),
                np.zeros((n, k), np.uint32),
            ),
            lambda x, _, k=k: largest(x, k),
            outs=(2, 3),
            block=block,
        )
        for name, ids, block, wide, k in (
            ("top_k", numbered(), 32, 32, 5),
            ("top_k", numbered(), 32, 20, 11),
            ("top_k_merged", np.arange(128, dtype=np.uint32)[None], 4, 100, 29),
        )
    ),
    Case("vectors", "softmax", lambda r, n: (floats(r, n), zeros(n)), softmax, **IN_REGISTERS),
    Case("vectors", "exponentials", lambda r, n: (floats(r, n), zeros(n)), np.exp, **IN_REGISTERS),
    Case(
        *("vectors", "quantised"),
        lambda r, n: (50 * floats(r, n), np.zeros(n, np.int8), 1.5),
        lambda x, scale: np.clip(np.rint(np.float32(x) * np.float32(scale)), -128, 127),
        outs=(1,),
        **IN_REGISTERS,
    ),
]
