"""A kernel in C++ for each further family, against NumPy, the same in Python, and its record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from launched import again, kernels, needs_compiler

import ptokit as pto
from ptokit.api.hostarrays import Tile

pytestmark = needs_compiler
Array = Any  # of NumPy

ROWS, COLS = 16, 64
RNG = np.random.default_rng(11)
X, Y, OLD = (RNG.standard_normal((ROWS, COLS)).astype(np.float32) for _ in range(3))
WHOLE, OTHER = (RNG.integers(-999, 999, (ROWS, COLS)).astype(np.int32) for _ in range(2))
FEW = RNG.integers(0, 8, (ROWS, COLS)).astype(np.int32)
EACH = RNG.permutation(ROWS * COLS).astype(np.int32).reshape(ROWS, COLS)
NUMBERS = np.tile(np.arange(COLS, dtype=np.uint32), (ROWS, 1))
SCALES = np.repeat(RNG.random((ROWS, 1)).astype(np.float32) * 50, 8, axis=1)
WIDE = np.zeros((ROWS, 2 * COLS), np.float32)


DTYPES = {
    "float32": pto.f32,
    "int32": pto.i32,
    "uint32": pto.u32,
    "uint16": pto.u16,
    "int8": pto.i8,
}


def both(a: Array, b: Array, c: Array) -> Array:
    return (a & b) | a


def both_calls(a: Tile, b: Tile, c: Tile) -> None:
    pto.tand(c, a, b)
    pto.tor(c, c, a)


def arg_of_rows(a: Array, b: Array, c: Array) -> Array:
    found = c.copy()
    found[:, 0] = a.argmax(1)
    return found


def blocks_of_32(a: Array, b: Array, c: Array) -> Array:
    """Blocks from the greatest on, each value with its column."""
    blocks = a.reshape(ROWS, -1, 32)
    order = np.argsort(-blocks, axis=2, kind="stable")
    columns = (order + np.arange(0, COLS, 32)[:, None]).astype(np.uint32).view(np.float32)
    values = np.take_along_axis(blocks, order, 2)
    return np.stack([values, columns], axis=3).reshape(ROWS, -1)


def scattered(a: Array, b: Array, c: Array) -> Array:
    found = np.zeros_like(c)
    found.reshape(-1)[b.reshape(-1)] = a.reshape(-1)
    return found


def filled(a: Array, b: Array, c: Array) -> Array:
    found: Array = a.copy()
    found[:, 40:] = 0
    return found


def partly_added(a: Array, b: Array, c: Array) -> Array:
    found: Array = a.copy()
    found[:, :40] += b[:, :40]
    return found


def quantised(a: Array, b: Array, c: Array) -> Array:
    return np.rint(a * b[:, :1]).clip(-128, 127).astype(np.int8)


def part(tile: Tile, cols: int, **how: Any) -> Tile:  # Any: see `pto.tile`
    data = tile.numpy()[:, :cols]
    return pto.tile("vec", tile.dtype, *tile.numpy().shape, valid=data.shape, data=data, **how)


def column(tile: Tile, **how: Any) -> Tile:  # Any: see `pto.tile`
    return part(tile, 1, **how)


def arg_call(a: Tile, b: Tile, c: Tile) -> Tile:
    pto.trowargmax(most := column(c), a, tmp=pto.tile("vec", pto.f32, ROWS, COLS))
    return most


def gather_call(a: Tile, b: Tile, c: Tile) -> None:
    pto.mgather(c, pto.tensor(a.numpy()), b)


def sort_call(a: Tile, b: Tile, c: Tile) -> None:
    numbers = pto.tile("vec", pto.u32, 1, COLS, data=b.numpy()[:1])
    pto.tsort32(c, a, numbers, tmp=pto.tile("vec", pto.f32, ROWS, COLS))


def fill_call(a: Tile, b: Tile, c: Tile) -> Tile:
    pto.tfillpad(zeros := pto.tile("vec", pto.f32, ROWS, COLS, pad="zero"), part(a, 40))
    return zeros


GIVEN = (
    (WHOLE, OTHER, WHOLE * 0),
    (WHOLE, FEW, WHOLE * 0),
    (X, Y, OLD),
    (X, Y, OLD),
    (X, Y, np.zeros((ROWS, 8), np.uint32)),
    (X, EACH, OLD),
    (X, Y, OLD),
    (X, NUMBERS, WIDE),
    (WHOLE, EACH, WHOLE),
    (X, Y, WIDE),
    (X, Y, OLD),
    (X, Y, OLD),
    (X, SCALES, WHOLE.astype(np.int8)),
    (WHOLE.view(np.uint32), WHOLE, WHOLE.astype(np.uint16) * 0),
)
NUMPY: tuple[Callable[[Array, Array, Array], Array], ...] = (
    both,
    lambda a, b, c: a << b,
    lambda a, b, c: c + a * np.float32(1.5),
    lambda a, b, c: a * c + b,
    arg_of_rows,
    lambda a, b, c: a.reshape(-1)[b],
    lambda a, b, c: np.stack([a, b], 2).reshape(ROWS, -1)[:, :COLS],
    blocks_of_32,
    scattered,
    lambda a, b, c: np.hstack([a, b]),
    filled,
    partly_added,
    quantised,
    lambda a, b, c: (a & 65535).astype(np.uint16),
)
PYTHON: tuple[Callable[[Tile, Tile, Tile], Tile | None], ...] = (
    both_calls,
    lambda a, b, c: pto.tshl(c, a, b),
    lambda a, b, c: pto.taxpy(c, a, 1.5),
    lambda a, b, c: pto.tfusedmuladd(c, a, b),
    arg_call,
    gather_call,
    lambda a, b, c: pto.tinterleave(pto.tile("vec", pto.f32, ROWS, COLS), c, b, a),
    sort_call,
    lambda a, b, c: pto.tscatter(c, a, b),
    lambda a, b, c: pto.tconcat(c, a, b),
    fill_call,
    lambda a, b, c: pto.tpartadd(c, a, part(b, 40)),
    lambda a, b, c: pto.tquant(c, a, column(b)),
    lambda a, b, c: pto.tpack(c, a),
)


def in_python(which: int) -> Array:
    """The same calls, executed one by one on tiles of the same data."""
    a, b, c = (pto.tile("vec", DTYPES[str(x.dtype)], *x.shape, data=x) for x in GIVEN[which])
    with pto.target("a5"):
        made = PYTHON[which](a, b, c)
    found = GIVEN[which][2].copy()
    written = (c if made is None else made).numpy()
    found[:, : written.shape[1]] = written
    return found


def as_words(array: Array) -> Array:
    """The bytes of an array as the kernel is given them."""
    return array.view(np.float32)


def test_a_kernel_of_each_family() -> None:
    wrong: list[tuple[int, str]] = []
    for which, (a, b, c) in enumerate(GIVEN):
        out = c.copy()
        ran = kernels("families", "a5").launch("families", which, *map(as_words, (a, b, out)))
        given = {name: as_words(array) for name, array in zip("abc", (a, b, c), strict=True)}
        oracles = {
            "NumPy": NUMPY[which](a, b, c),
            "Python": in_python(which),
            "record": again(ran, given, "a5")["c"],
        }
        wrong += [(which, n) for n, found in oracles.items() if found.tobytes() != out.tobytes()]
        told = [*ran.warnings, *(d for d in (*ran.check(), *ran.races()) if d.is_error)]
        wrong += [(which, str(d)) for d in told]
    assert wrong == []
