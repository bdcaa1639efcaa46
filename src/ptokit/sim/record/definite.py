"""Definite initialisation: the bytes that are written on every path.

The shadow of the reference tells for each byte whether it was written. A compiled program keeps no
shadow of a memory where every read is proven here, on a shadow that only knows what is written on
every way through the program; the other memories are `tracked`: their shadow is kept and checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ptokit.ir.module import Block, Op
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.targets import SPACES
from ptokit.sim.memory import Codes, Elements, Memory
from ptokit.sim.record.expressions import AxisWindow, FreezeStore, Recording
from ptokit.sim.record.trace import Recorded

Shadows = dict[str, Codes]


class Initial:
    """The shadows, by memory name; `unproven` are the memories that must be tracked."""

    def __init__(self, start: Callable[[str], Codes | None], fresh: Callable[[Op], Any]) -> None:
        self.start, self.fresh = start, fresh
        self.shadows: Shadows = {}
        self.unproven: set[str] = set()
        self.entered: list[Shadows] = []

    def _shadow(self, name: str) -> Codes | None:
        """The shadow of a memory; None: all of it was written."""
        if name not in self.shadows:
            first = self.start(name)
            if first is None:
                return None
            self.shadows[name] = first.copy()
        return self.shadows[name]

    def effects(self, recording: Recording) -> None:
        """An instruction: what it reads must be proven, what it writes is written."""
        for read in recording.reads:
            self.read(read.cells, read.row_span, read.col_span)
        for store in recording.stores:
            rows, cols = exactly(store.rows), exactly(store.cols)
            frozen = isinstance(store, FreezeStore)
            if frozen:  # a memory without a shadow cannot tell what was never written
                self.read(store.cells, store.rows, store.cols)
            shadow = self._shadow(self.name_of(store.cells))
            if shadow is not None and rows and cols and (store.definite or frozen):
                mark(shadow, store.cells, rows, cols)

    def read(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> None:
        """A window that is read, or one that may be anywhere in an axis."""
        space: Any = cells.memory
        if self._shadow(space.name) is None or space.name in self.unproven:
            return
        elements, down, across = self._elements(cells), around(rows), around(cols)
        if (
            elements is None
            or down is None
            or across is None
            or not _within(elements, down, across)
            or elements.unwritten(down, across) is not None
        ):
            self.unproven.add(space.name)

    def _elements(self, cells: Elements) -> Elements | None:
        """The same elements over the shadow, if their place is known."""
        shadow = self._shadow(self.name_of(cells))
        return None if shadow is None else over(shadow, cells)

    @staticmethod
    def name_of(cells: Elements) -> str:
        space: Any = cells.memory
        return space.name

    def unknown(self, values: Iterator[Any]) -> None:
        """An instruction the reference runs: it looks at shadows."""
        for value in values:
            if isinstance(value, Recorded):
                self.unproven.add(value.memory.name)

    def forget(self, name: str, address: int, nbytes: int) -> None:
        """A new tile: its content is undefined."""
        shadow = self._shadow(name)
        if shadow is not None:
            shadow[address : address + nbytes] = 0

    def enter_loop(self, *blocks: Block) -> None:
        """What an iteration finds: what was there before, without tiles that each makes anew."""
        self.entered.append(self.copy())
        for op in (op for block in blocks for op in block.walk()):
            made = self.fresh(op) if isinstance(op, Op) and ALLOCATES in op.page.traits else None
            if made is not None:
                kind, address = made
                self.forget(SPACES[kind.loc], address, kind.nbytes)

    def leave_loop(self, *, runs: bool) -> None:
        """After the loop; it may have had no iteration."""
        before = self.entered.pop()
        if not runs:
            self.meet(before, self.copy())

    def copy(self) -> Shadows:
        return {name: shadow.copy() for name, shadow in self.shadows.items()}

    def restore(self, shadows: Shadows) -> None:
        self.shadows = {name: shadow.copy() for name, shadow in shadows.items()}

    def meet(self, *ways: Shadows) -> None:
        """What is written on every way."""
        names = {name for way in ways for name in way}
        result: Shadows = {}
        for name in names:
            first = self.start(name)
            found = [way.get(name, first) for way in ways]
            result[name] = np.bitwise_and.reduce([f for f in found if f is not None])
        self.shadows = result


def settled(cells: Elements) -> bool:
    """Whether nothing but the address of an operand is open."""
    digits: list[Any] = [n for a in (cells.map.rows, cells.map.cols) for d in a.digits for n in d]
    return all(isinstance(n, int) for n in (cells.origin, *digits))


def over(shadow: Codes, cells: Elements) -> Elements | None:
    """The same elements in a shadow of their memory, if their place is known."""
    space: Any = cells.memory
    growing = space.memory is not None and space.memory.growable
    address: Any = cells.address
    if growing or not (isinstance(address, int) and settled(cells)):
        return None
    return over_bytes(shadow, cells)


def over_bytes(shadow: Codes, cells: Elements) -> Elements:
    """The same elements in a shadow of their memory: their place is known."""
    memory = Memory.__new__(Memory)
    memory.data = memory.shadow = shadow  # to write is to mark
    return Elements(memory, cells.address, cells.dtype, cells.map, cells.origin)


def mark(shadow: Codes, cells: Elements, rows: range, cols: range) -> bool:
    """Mark the bits of a window; False if its place is not known or outside the memory."""
    elements = over(shadow, cells)
    if elements is None or not _within(elements, rows, cols):
        return False
    mark_window(elements, rows, cols)
    return True


def mark_window(shadow: Elements, rows: range, cols: range) -> None:
    """Mark the bits of a window in a shadow."""
    shadow.write(rows, cols, np.zeros((1, 1), shadow.dtype.storage))


def _within(elements: Elements, rows: range, cols: range) -> bool:
    """Whether a window ends inside its memory; where it does not, the run will say so."""
    low, high = elements.reach(rows, cols)
    last = elements.address + elements.dtype.nbytes(high)
    return low >= 0 and elements.address >= 0 and last <= elements.memory.size


def exactly(span: AxisWindow) -> range | None:
    """The indices of a window, if they are known."""
    if isinstance(span.start, int) and isinstance(span.count, int):
        last = span.start + (span.count - 1) * span.step
        return range(span.start, last + 1, span.step)
    return None


def around(span: AxisWindow) -> range | None:
    """Indices that a window lies among: from its first to its last, or its axis, if known."""
    window = exactly(span)
    if window is not None:
        return range(window.start, window.stop)
    return None if span.limit is None else range(span.limit)
