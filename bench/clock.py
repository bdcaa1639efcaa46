"""Smallest times, and what times are compared with: memcpy and calls of NumPy.

A measure is a function that does its work and returns nanoseconds per unit of it, of the clock on
the wall and of the processors. The measures alternate, over several passes, so that what else the
machine does meets all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

COPIES = 64  # memcpys in one call of copyto
SHIFT = 64  # bytes from one to the next


class Times(NamedTuple):
    """Nanoseconds; those of the processors are of all threads together."""

    wall: float
    processor: float

    def per(self, units: float) -> Times:
        return Times(self.wall / units, self.processor / units)


Measure = Callable[[], Times]


def took(work: Callable[[], object]) -> Times:
    """How long some work takes."""
    processor, start = time.process_time(), time.perf_counter()
    work()
    wall = time.perf_counter() - start
    return Times(wall * 1e9, (time.process_time() - processor) * 1e9)


@dataclass
class Clock:
    """The smallest time of each measure by name; `seconds` is how long one measurement takes."""

    passes: int = 5
    runs: int = 8
    seconds: float = 0.002  # less than a time slice of the operating system's scheduler
    measures: dict[str, Measure] = field(default_factory=dict[str, Measure])
    best: dict[str, float] = field(default_factory=dict[str, float])  # on the wall
    processor: dict[str, float] = field(default_factory=dict[str, float])

    def add(self, name: str, measure: Measure) -> None:
        self.measures.setdefault(name, measure)

    def measure_all(self) -> None:
        for _ in range(self.passes):
            for name, measure in self.measures.items():
                times = [measure() for _ in range(self.runs)]
                least = self.best.get(name, float("inf")), self.processor.get(name, float("inf"))
                self.best[name] = min(least[0], *(t.wall for t in times))
                self.processor[name] = min(least[1], *(t.processor for t in times))

    def calling(self, work: Callable[[], object], units: int = 1) -> Measure:
        """The smallest time of a call, of as many as `seconds` has room for.

        The processors' time is the mean of them: to ask for it takes as long as a short call.
        """

        def measure() -> Times:
            best, count, processor = float("inf"), 0, time.process_time()
            end = time.perf_counter() + self.seconds
            while (start := time.perf_counter()) < end or not count:
                work()
                best, count = min(best, time.perf_counter() - start), count + 1
            mean = (time.process_time() - processor) / count
            return Times(best * 1e9, mean * 1e9).per(units)

        work()
        return measure


@dataclass(frozen=True)
class NumPy:
    """One NumPy call as an opponent: f32 on one thread, into an array that is there already."""

    name: str
    make: Callable[[], Callable[[], object]]


def sums(n: int) -> NumPy:
    """n x n sums, as f32 whatever the row's type is: NumPy emulates the narrower ones."""

    def make() -> Callable[[], object]:
        x, y, z = (random(np.float32, n, n) for _ in range(3))
        return lambda: np.add(x, y, out=z)

    return NumPy(f"add {n}x{n}", make)


def row_sums(rows: int, cols: int) -> NumPy:
    def make() -> Callable[[], object]:
        x, sums = random(np.float32, rows, cols), random(np.float32, rows)
        return lambda: np.add.reduce(x, axis=1, out=sums)

    return NumPy(f"sum of rows {rows}x{cols}", make)


def exponentials(rows: int, cols: int) -> NumPy:
    def make() -> Callable[[], object]:
        x, y = (random(np.float32, rows, cols) for _ in range(2))
        return lambda: np.exp(x, out=y)

    return NumPy(f"exp {rows}x{cols}", make)


def gather(rows: int, cols: int) -> NumPy:
    def make() -> Callable[[], object]:
        x, y = (random(np.float32, rows * cols) for _ in range(2))
        indices = below(rows * cols, rows * cols)
        return lambda: np.take(x, indices, out=y, mode="wrap")

    return NumPy(f"take {rows}x{cols}", make)


def product(n: int) -> NumPy:
    def make() -> Callable[[], object]:
        x, y, z = (random(np.float32, n, n) for _ in range(3))
        return lambda: np.matmul(x, y, out=z)

    return NumPy(f"matmul {n}x{n}x{n}", make)


def copies(size: int) -> Callable[[], object]:
    """2 * COPIES memcpys of `size` bytes over written memory, there and back.

    A call of copyto costs more than a small memcpy, so one call does COPIES of them: rows of two
    arrays that overlap themselves, each row SHIFT bytes after the last. What is left of the call is
    some 3 ns a row. The loop is then as tight as the one around a compiled instruction.
    """
    there, back = (_rows(size) for _ in range(2))

    def work() -> None:
        np.copyto(there, back)
        np.copyto(back, there)

    return work


def _rows(size: int) -> np.ndarray:
    room = np.ones(size + SHIFT * (COPIES + 1), np.uint8)
    start = -room.ctypes.data % 64
    return as_strided(room[start:], (COPIES, size), (SHIFT, 1))


def random(kind: Any, *shape: int) -> np.ndarray:  # Any: a NumPy type
    """Written memory: normal numbers, or all there are of a whole type."""
    rng = np.random.default_rng(sum(shape))
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, shape, kind, endpoint=True)
    return rng.standard_normal(shape).astype(kind)


def below(limit: int, *shape: int) -> np.ndarray:
    """Random indices."""
    return np.random.default_rng(limit).integers(0, limit, shape).astype(np.int32)


def median(times: Iterable[float]) -> float:
    return float(np.median(list(times)))
