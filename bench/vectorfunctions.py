"""Vector functions beside the tile instructions that do the same, on the same elements.

Both are kernels of one row in the vector buffer, repeated REPEATS times. The row of 8,164 elements
ends inside a register, so some lanes that the vector function loads are undefined. Sizes are known
when a kernel is compiled, or arguments of the run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from clock import Clock, random
from pythonkernels import alone

import ptokit as pto
from ptokit import f16, f32, i8, i32, lanes

sys.path.append(str(Path(__file__).parents[1] / "examples" / "kernels"))
from vectors import LANES, bytes_of, softmax_of_row

LENGTHS = (8192, 8164)
MOST = 8192  # elements that a tile has room for
REPEATS = 200
MOST_RATIO = 1.5
SHAPES = "x[n] z[n]", "x[n] z[K]"  # of a row, of one element
SCALE = 3.0


@pto.vector
def sums_of_lanes(x: pto.Tile, y: pto.Tile, z: pto.Tile, n: int) -> None:
    left = n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        lanes.vsts(lanes.vadd(lanes.vlds(x, i), lanes.vlds(y, i), m), z, i, m)


@pto.vector
def powers_of_lanes(x: pto.Tile, z: pto.Tile, n: int) -> None:
    left = n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        lanes.vsts(lanes.vexp(lanes.vlds(x, i), m), z, i, m)


@pto.vector
def whole_numbers(x: pto.Tile, z: pto.Tile, n: int) -> None:
    left = n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        whole = lanes.vcvt(lanes.vlds(x, i), m, rnd="R", sat="SAT", dtype=i32)
        lanes.vsts(whole, z, i, m)


@pto.vector
def sum_of_lanes(x: pto.Tile, z: pto.Tile, n: int) -> None:
    every, none = lanes.pset_b32("PAT_ALL"), lanes.vbr(0.0, dtype=f32)
    total, left = none, n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        total = lanes.vadd(total, lanes.vsel(lanes.vlds(x, i), none, m), every)
    one, _ = lanes.plt_b32(1)
    lanes.vsts(lanes.vcadd(total, every), z, 0, one)


def row(dtype: pto.DType, n: Any) -> pto.Tile:  # Any: an int, or a number of the run
    """Return a row of n elements."""
    return pto.tile_vec(dtype, 1, MOST, valid=(1, n))


def add(x: pto.In, z: pto.Out, tiles: bool) -> None:
    (n,) = x.shape
    a, b, c = row(f32, n), row(f32, n), row(f32, n)
    pto.tload(a, pto.block(x, 0, 0, 1, n))
    pto.tload(b, pto.block(x, 0, 0, 1, n))
    for _ in pto.range(0, REPEATS, 1):
        if tiles:
            pto.tadd(c, a, b)
        else:
            sums_of_lanes(a, b, c, n)
    pto.store(pto.block(z, 0, 0, 1, n), c)


def exp(x: pto.In, z: pto.Out, tiles: bool) -> None:
    (n,) = x.shape
    a, c = row(f32, n), row(f32, n)
    pto.tload(a, pto.block(x, 0, 0, 1, n))
    for _ in pto.range(0, REPEATS, 1):
        if tiles:
            pto.texp(c, a)
        else:
            powers_of_lanes(a, c, n)
    pto.store(pto.block(z, 0, 0, 1, n), c)


def convert(x: pto.In, z: pto.Out, tiles: bool) -> None:
    (n,) = x.shape
    a, c = row(f32, n), row(i32, n)
    pto.tload(a, pto.block(x, 0, 0, 1, n))
    for _ in pto.range(0, REPEATS, 1):
        if tiles:
            pto.tcvt(c, a, rmode="RINT")
        else:
            whole_numbers(a, c, n)
    pto.store(pto.block(z, 0, 0, 1, n), c)


def total(x: pto.In, z: pto.Out, tiles: bool) -> None:
    (n,) = x.shape
    a, t, c = row(f32, n), row(f32, n), pto.tile_vec(f32, 1, LANES, valid=(1, 1))
    pto.tload(a, pto.block(x, 0, 0, 1, n))
    for _ in pto.range(0, REPEATS, 1):
        if tiles:
            pto.trowsum(c, a, tmp=t)
        else:
            sum_of_lanes(a, c, n)
    pto.store(pto.block(z, 0, 0, 1, 1), c)


def softmax(x: pto.In, z: pto.Out, tiles: bool) -> None:
    (n,) = x.shape
    a, b, t = row(f32, n), row(f32, n), row(f32, n)
    u = pto.tile("vec", f32, 8, 1, layout="dn", valid=(1, 1))
    pto.tload(a, pto.block(x, 0, 0, 1, n))
    for _ in pto.range(0, REPEATS, 1):
        if tiles:
            pto.trowmax(u, a, tmp=t)
            pto.trowexpandsub(b, a, u)
            pto.texp(t, b)
            pto.trowsum(u, t, tmp=b)
            pto.trowexpanddiv(b, t, u)
        else:
            softmax_of_row(a, b, n)
    pto.store(pto.block(z, 0, 0, 1, n), b)


def quantise(x: pto.In, z: pto.Out, tiles: bool) -> None:
    (n,) = x.shape
    a, b, half, c = row(f32, n), row(f32, n), row(f16, n), row(i8, n)
    pto.tload(a, pto.block(x, 0, 0, 1, n))
    for _ in pto.range(0, REPEATS, 1):
        if tiles:
            pto.tmuls(b, a, SCALE)
            pto.tcvt(half, b, rmode="RINT")
            pto.tcvt(c, half, rmode="RINT")
        else:
            bytes_of(a, c, SCALE, n)
    pto.store(pto.block(z, 0, 0, 1, n), c)


@dataclass(frozen=True)
class VectorFunction:
    """A vector function on a row, and tile instructions in its place; both give one result."""

    function: Callable[..., None]
    length: int
    out: Any = np.float32  # Any: a NumPy type
    single: bool = False  # one element is the result
    off: float = 1e-4  # the most a result may differ
    known: bool = True  # the size, when the kernel is compiled

    @property
    def name(self) -> str:
        size = "elements" if self.known else "elements of a run-time size"
        return f"vector function {self.function.__name__}, {self.length} {size}"

    @property
    def opponent(self) -> str:
        return f"{self.name}, by tiles"

    def add(self, clock: Clock) -> None:
        """Compare both, then measure both."""
        x = random(np.float32, self.length)
        found: list[Any] = []  # Any: arrays
        kernel = pto.kernel(shapes=None if self.known else SHAPES[self.single])(self.function)
        for name, tiles in ((self.name, False), (self.opponent, True)):
            z = np.zeros(1 if self.single else self.length, self.out)
            launch = kernel.on("a5").prepare(x, z, tiles)
            launch()
            launch()  # the first one has shown which lanes are defined
            found.append(z.astype(np.float32))
            clock.add(name, alone(clock.calling(launch, REPEATS)))
        np.testing.assert_allclose(*found, rtol=1e-5, atol=self.off)


def vector_functions() -> Iterator[VectorFunction]:
    for known, length in product((True, False), LENGTHS):
        yield VectorFunction(add, length, known=known)
        yield VectorFunction(exp, length, known=known)
        yield VectorFunction(convert, length, np.int32, known=known)
        yield VectorFunction(total, length, single=True, known=known)
        yield VectorFunction(softmax, length, known=known)
        # tiles round twice
        yield VectorFunction(quantise, length, np.int8, off=1.0, known=known)
