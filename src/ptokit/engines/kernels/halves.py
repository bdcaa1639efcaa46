"""Packed elements, two a byte: loops work on copies of tiles with a byte for each element.

Loops cannot address halves of bytes by vectors. To unpack a whole tile and to pack it again takes
two instructions a vector, since the copy has the order of the tile's storage.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ptokit.engines.kernels.functionbase import FunctionBase
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Num, text
from ptokit.machine.record.expressions import (
    AxisWindow,
    ScatterStore,
    Traced,
    WindowRead,
    WindowStore,
    spans,
)
from ptokit.machine.record.trace import num, nums, space_of
from ptokit.values import dtypes as t
from ptokit.values.layouts import Axis, IndexMap, known

SHARE = 4  # a window of fewer than one of so many elements of its tile is read where it lies


class Halves:
    """The generator of unpacked copies."""

    def __init__(self, function: FunctionBase) -> None:
        self.function = function
        self.copies: dict[tuple[object, str], Elements] = {}

    def read(self, node: WindowRead) -> WindowRead:
        """Return a read of a copy; the same read if elements have bytes, or a copy is too large."""
        cells = node.cells
        if not (cells.dtype.packed and _mostly(cells, node.row_span, node.col_span)):
            return node
        key = cells.memory, repr((text(cells.address), cells.origin, cells.map))
        if key not in self.copies:
            self.copies[key] = self._room(cells)
            self._unpack(cells, self.copies[key])
        found = WindowRead(self.copies[key], node.row_span, node.col_span)
        found.dtype = node.dtype
        return found

    def write(self, store: WindowStore) -> bool:
        """Emit a store to packed elements by way of a copy; return whether that is possible."""
        cells, scatters = store.cells, isinstance(store, ScatterStore)
        if not cells.dtype.packed or scatters or self.function.tracked(cells):
            return False
        if not _mostly(cells, store.rows, store.cols):
            return False
        whole = store.definite and _share(cells, store.rows, store.cols) == 1
        if not whole and space_of(cells).memory is not None:  # others may write to the array
            return False
        copy = self._room(cells)
        if not whole:
            self._unpack(cells, copy)
        self.function.store(replace(store, cells=copy))
        pairs = WindowRead(_line(copy, t.u16), *_all_of(copy, 2))
        low, high = pairs & 0xF, pairs >> 4 & 0xF0
        self._fill(_line(cells, t.u8), cast(Traced, (low | high).cast(t.u8)))
        return True

    def _room(self, cells: Elements) -> Elements:
        """Return a byte for each element, in the order of the tile's storage."""
        room = self.function.scratch.room(1, cells.map.span, t.u8)
        return Elements(room.memory, room.address, t.u8, cells.map)

    def _unpack(self, cells: Elements, copy: Elements) -> None:
        octets = WindowRead(_line(cells, t.u8), *_all_of(cells, 2))
        pairs = octets.cast(t.u16)
        self._fill(_line(copy, t.u16), cast(Traced, (pairs | pairs << 4) & 0x0F0F))

    def _fill(self, cells: Elements, value: Traced) -> None:
        for store in self.function.preparation().stores([WindowStore(cells, *spans(value), value)]):
            self.function.store(store)


def _line(cells: Elements, dtype: t.DType) -> Elements:
    """Return the storage of a tile, or of its copy, as one row of bytes or of pairs of them."""
    count: Any = cells.map.span // 2  # Any: of a static map a number
    where = IndexMap(Axis(((1, count),)), Axis(((count, 1),)))
    return Elements(cells.memory, cells.address, dtype, where, cells.origin // 2)


def _all_of(cells: Elements, part: int) -> tuple[AxisWindow, AxisWindow]:
    return AxisWindow(0, 1), AxisWindow(0, cells.map.span // part)


def _share(cells: Elements, rows: AxisWindow, cols: AxisWindow) -> float:
    """Return which part of the storage of its tile a window of known size is; 0: of another."""
    digits: list[tuple[Num, Num]] = [*nums(cells.map.rows), *nums(cells.map.cols)]
    if not all(isinstance(n, int) for digit in digits for n in digit):
        return 0
    if not (isinstance(rows.count, int) and isinstance(cols.count, int)):
        return 0
    return rows.count * cols.count / cells.map.span


def _mostly(cells: Elements, rows: AxisWindow, cols: AxisWindow) -> bool:
    """Return whether a window is a large part of whole bytes that lie in their memory."""
    origin, address = num(cells.origin), num(cells.address)
    share = _share(cells, rows, cols)
    if share * SHARE < 1 or cells.map.span % 2 or not (isinstance(origin, int) and origin % 2 == 0):
        return False
    if not isinstance(address, int):
        return known(origin, 0) and space_of(cells).memory is None
    return address + (origin + cells.map.span) // 2 <= space_of(cells).size
