"""Recorded bodies: a page's body runs once on symbolic tiles and leaves its writes behind.

Reading a window gives a `Traced` array; operations on arrays build expressions; assigning a window
records a `WindowStore`. Numbers known at run time only are `Int`s. A value that depends on one axis
and no run-time value is computed at once, in NumPy, and becomes a table.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, NoReturn, cast

import numpy as np

from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import GlobalLayout
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Int, NotNative, Num, Truth
from ptokit.machine.record.expressions import (
    AxisWindow,
    Known,
    Positions,
    Recording,
    ScatterStore,
    Taken,
    Traced,
    UndefineStore,
    WindowRead,
    WindowStore,
    as_expression,
)
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Pointer, Tile
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL, Array, Number, Term, Window, Windows, windows_of
from ptokit.values.enumerations import GatherOOB
from ptokit.values.layouts import Axis, Shape, known

MOST_LISTED = 1 << 20  # row or column numbers in one table


class Space:
    """A memory in a compiled program: its number in the table of memories.

    `recording` collects the effects of bodies that use the memory.
    """

    def __init__(self, number: int, name: str, recorder: Any, size: int, memory: Any) -> None:
        self.number, self.name, self.recorder = number, name, recorder
        self.size, self.memory = size, memory  # `memory` of an argument; None for one of the core
        self.real: object = memory  # the memory of the first handle

    @property
    def recording(self) -> Recording:
        return self.recorder.recording


def num(number: int) -> Num:
    """Return a number typed int, which may be a symbol in a recorded body."""
    return number


def nums(axis: Axis) -> tuple[tuple[Num, Num], ...]:
    """Return the counts and steps of an axis, which may be symbols: see `num`."""
    return axis.digits


def space_of(handle: Elements | Matrix | Pointer) -> Space:
    """Return the space that stands in for the memory of a recorded handle."""
    return cast(Space, handle.memory)


FRAME = Space(-1, "frame", None, 0, None)  # the numbers of a compiled program
NOWHERE = -2  # the number of the memory of a view without an address


class Recorded(Matrix):
    """A handle whose operations on data are recorded."""

    @property
    def recording(self) -> Recording:
        return space_of(self).recording

    @property
    def _pointer(self) -> type[Pointer]:
        return TracedPointer

    def __getitem__(self, window: Windows) -> Array:
        found = WindowRead(self.elements, *self._spans(window))
        self.recording.reads.append(found)
        return found

    def __setitem__(self, window: Windows, value: Term) -> None:
        rows, cols = self._spans(window)
        self.recording.stores.append(WindowStore(self.elements, rows, cols, self._value(value)))

    def undefine(self, window: Windows) -> None:
        rows, cols = self._spans(window)
        if known(rows.count, 0) or known(cols.count, 0):
            return
        nothing = as_expression(self.constant(0), self.dtype)
        self.recording.stores.append(UndefineStore(self.elements, rows, cols, nothing))

    def multiplied(self, window: Windows, number: Number) -> Array:
        """Return the window, as if all elements were defined; else the reference runs the op."""
        return self[window]

    def put(self, window: Windows, value: Array, where: Array) -> None:
        rows, cols = self._spans(window)
        keep = as_expression(where, BOOL)
        self.recording.stores.append(
            WindowStore(self.elements, rows, cols, self._value(value), keep)
        )

    def take(
        self, index: Array, outside: GatherOOB = GatherOOB.ERROR, where: Array | None = None
    ) -> Array:
        self.require_own_storage()
        wanted, keep = (
            as_expression(index, t.i64),
            None if where is None else as_expression(where, BOOL),
        )
        whole = (AxisWindow(0, n, limit=n) for n in (self.rows, self.cols))
        self.recording.reads.append(WindowRead(self.elements, *whole))
        return Taken(self.elements, (self.rows, self.cols), wanted, outside, keep)

    def scatter(
        self, index: Array, value: Array, where: Array | None = None, word: str | None = None
    ) -> None:
        self.require_own_storage()
        if self.dtype.packed:
            raise NotNative("a scatter of halves of bytes")
        whole = WindowRead(self.elements, *(AxisWindow(0, n, limit=n) for n in self.extent))
        if word is not None:
            self.recording.reads.append(whole)
        keep = None if where is None else as_expression(where, BOOL)
        window = whole.cells, whole.row_span, whole.col_span, self._value(value), keep
        self.recording.stores.append(ScatterStore(*window, as_expression(index, t.i64), word))

    def constant(self, bits: int) -> Array:
        return Known(NumpyArray(np.full((1, 1), bits, self.dtype.storage), self.dtype))

    def iota(self, rows: int, cols: int) -> tuple[Array, Array]:
        return self._numbers(0, rows), self._numbers(1, cols)

    def _numbers(self, axis: int, count: Num) -> Traced:
        if not isinstance(count, int) or count > MOST_LISTED:
            return Positions(axis, count)
        line = np.arange(count, dtype=np.uint64)
        return Known(NumpyArray(line[:, None] if axis == 0 else line[None, :], t.i64))

    def _value(self, value: Term) -> Traced:
        found = as_expression(value, self.dtype)
        assert found.dtype == self.dtype, f"a body stored {found.dtype} in {self.dtype}"
        return found

    def require_own_storage(self) -> None:
        """Raise NotNative if elements beyond the valid region belong to another handle."""

    def _read_as(self, elements: Elements, rows: int, cols: int) -> Matrix:
        self.require_own_storage()
        other = Recorded(self.type, elements, rows, cols)
        other.label = self.label
        return other

    def _spans(self, window: Windows) -> tuple[AxisWindow, AxisWindow]:
        parts = zip(windows_of(window), self.extent, strict=True)
        rows, cols = (self._span(part, extent) for part, extent in parts)
        return rows, cols

    def _span(self, window: Window, extent: Num) -> AxisWindow:
        part = window if isinstance(window, slice) else slice(window, window + 1)
        start, step = part.start or 0, part.step or 1
        stop: Num = extent if part.stop is None else part.stop
        if isinstance(start, int) and isinstance(stop, int) and isinstance(extent, int):
            if not 0 <= start <= stop <= extent:  # a deferred rule will be violated and reported
                raise NotNative(f"window {start}:{stop} of an extent of {extent}")
            return AxisWindow(start, -(-(stop - start) // step), step, extent)
        count = stop - start
        conditions = (start >= 0, count >= 0, stop <= extent)
        self.recording.guards += [c for c in conditions if isinstance(c, Truth)]
        count = _bounded(count, extent)
        steps = count if step == 1 else -(-count // step)
        return AxisWindow(start, steps, step, extent if isinstance(extent, int) else None)


def _bounded(number: Num, limit: Num) -> Any:  # Any: a Num; the declared types say int
    """Return a copy of a count with a bound; on another branch the number may be larger."""
    if not (isinstance(number, Int) and isinstance(limit, int)):
        return number
    found = copy(number)
    found.upper = limit if number.upper is None else min(limit, number.upper)
    found.limits = max(0, number.limits[0]), min(limit, number.limits[1])
    return found


class TracedTile(Recorded, Tile):
    """A tile whose operations on data are recorded."""

    slot: str | None = None  # the variable of its address, if it changes in a loop
    sizes: tuple[str, str] | None = None  # the variables of its valid extents, if they change
    view: bool | None = False  # True for a view of a part of another tile; None: perhaps

    def __init__(self, kind: TileType, memory: Any, address: Any) -> None:  # Any: a Space, a Num
        valid: Any = kind.valid  # Any: of Nums, bounded by the tile according to its rules
        if isinstance(valid.rows, Int) or isinstance(valid.cols, Int):
            valid = Shape(_bounded(valid.rows, kind.rows), _bounded(valid.cols, kind.cols))
            kind = replace(kind, valid=valid)
        super().__init__(kind, memory, address)

    def alias(self, other: Tile, row: int | None = None, col: int | None = None) -> None:
        super().alias(other, row, col)
        self.elements.end = None  # `view` has the fact instead
        space = space_of(self)
        if self.slot is not None:
            if self.elements.map is not self.type.map:  # the variable holds an address only
                raise NotNative("a tile becomes a view of a window in a loop or branch")
            space.recorder.keep_address(self)

    def resize(self, rows: int, cols: int) -> None:
        space = space_of(self)
        assert self.sizes is not None
        space.recorder.resize(self.sizes, (rows, cols))

    def _refuse_strided(self, other: Tile) -> NoReturn:
        raise NotNative("the bytes of a window do not lie together: let it be reported")

    def lines(self, dtype: t.DType) -> Matrix:
        if self.cols * self.dtype.bits % dtype.bits:  # illegal programs have effects, too
            raise NotNative("a rule does not hold: rows hold no whole elements")
        return super().lines(dtype)

    def part(self, kind: TileType, row: int, col: int) -> TracedTile:
        part = super().part(kind, row, col)
        assert isinstance(part, TracedTile)
        part.view, part.elements.end = part.elements.end is not None, None
        return part

    def member(self, kind: TileType, index: int = 0) -> TracedTile:
        found = super().member(kind, index)
        assert isinstance(found, TracedTile)
        found.view = self.view
        return found

    def require_own_storage(self) -> None:
        if self.view is not False:
            raise NotNative("it works on the whole storage of a view")

    def fill(self, bits: int) -> None:
        if self.view:
            self[: self.valid.rows, : self.valid.cols] = self.constant(bits)
        elif self.elements.map is not self.type.map:
            self[:, :] = self.constant(bits)
        elif self.dtype.packed:
            self.raw()[0, :] = Known(NumpyArray(np.full((1, 1), bits * 17, np.uint8), t.u8))
        else:
            self.flat()[0, :] = self.constant(bits)


class TracedView(Recorded, GlobalView):
    """A global view whose operations on data are recorded and checked against the array."""

    since: tuple[object, ...] | None = None  # the regions around the op that replaced the view

    def become(self, other: GlobalView) -> None:
        super().become(other)
        space = space_of(other)
        self.since = tuple(block for block, _ in space.recorder.inside)

    def __setitem__(self, window: Windows, value: Term) -> None:
        self._require_distinct()
        super().__setitem__(window, value)

    def put(self, window: Windows, value: Array, where: Array) -> None:
        self._require_distinct()
        super().put(window, value, where)

    def take(
        self, index: Array, outside: GatherOOB = GatherOOB.ERROR, where: Array | None = None
    ) -> Array:
        self._reached()
        return super().take(index, outside, where)

    def scatter(
        self, index: Array, value: Array, where: Array | None = None, word: str | None = None
    ) -> None:
        self._require_distinct()
        self._reached()
        super().scatter(index, value, where, word)

    def _reached(self) -> None:
        """Require all of the view in its array; NotNative if single elements need checks."""
        if any(isinstance(n, Int) for n in map(num, self.extent)):
            raise NotNative("elements of a view of unknown extents at computed indices")
        self._spans((slice(None), slice(None)))

    @property
    def assumed(self) -> list[Truth]:
        """The conditions under which strides and extents do not imply the assumed layout.

        A symbolic number was assumed to be none of the values that decide on the layout.
        """
        kind = self.type
        if kind.stated is not None or kind.stride is None:
            return []
        numbers: tuple[Any, ...] = (kind.n3, kind.n4, *(1, *kind.stride)[-2:])  # Any: Nums
        n3, n4, m3, m4 = numbers
        nz = [(n3, 16), (m4, 1), (m3, 32 // kind.size), (n4, 32 // kind.size)]
        open_ = [pair for pair in nz if isinstance(pair[0], Int)]
        fixed = all(isinstance(n, Int) or n == value for n, value in nz)
        tests = open_[:1] if kind.rank == 5 and fixed else []
        if kind.layout is GlobalLayout.ND:
            tests += [(m3, 1)] if known(n4, 1) or known(m4, 1) else [(m3, 1), (n3, 1)]
        elif kind.layout is GlobalLayout.DN and not known(kind.outer, 1):
            tests += [(n4, 1), (m4, 1)]
        return [number != value for number, value in tests if isinstance(number, Int)]

    def _require_distinct(self) -> None:
        """Require distinct places for elements that are written; else their order would matter."""
        where, span = self.elements.map, num(1)
        digits = (d for axis in (where.cols, where.rows) for d in reversed(nums(axis)))
        for count, step in sorted(digits, key=_stride):
            if isinstance(count, int) and count == 1:
                continue
            fits = step >= span
            if isinstance(fits, Truth):
                self.recording.guards.append(fits)
            elif not fits:
                raise NotNative("elements of the view share their places")
            span = span + (count - 1) * step

    def _spans(self, window: Windows) -> tuple[AxisWindow, AxisWindow]:
        space = space_of(self)
        if space.number == NOWHERE:
            raise NotNative("a view without a place")
        spans = super()._spans(window)
        end: Num = self.elements.origin + 1
        for axis, span in zip((self.elements.map.rows, self.elements.map.cols), spans, strict=True):
            end = end + _farthest(axis, span)
        self.recording.reached(self.memory, self.dtype, end)
        return spans


def _stride(digit: tuple[Num, Num]) -> float:
    return digit[1] if isinstance(digit[1], int) else float("inf")


def _farthest(axis: Axis, span: AxisWindow) -> Num:
    """Return the largest offset in a window of an axis, or an upper bound."""
    digits = nums(axis)
    fixed = all(isinstance(n, int) for digit in digits for n in digit)
    if fixed and isinstance(span.count, int) and isinstance(span.start, int):
        if not span.count:
            return 0
        last = span.start + (span.count - 1) * span.step
        return max(p.base + sum((n - 1) * s for n, s in p.digits) for p in axis.pieces(0, last + 1))
    return axis.reach if len(axis.digits) > 1 else (span.start + span.count - 1) * digits[0][1]


class TracedConv(Recorded, ConvTile):
    """A convolution tile whose operations on data are recorded."""


class TracedPointer(Pointer):
    """A pointer whose views are recorded; an array that grows must have grown first."""

    def view(self, kind: GlobalType) -> GlobalView:
        space = space_of(self)
        if getattr(space.memory, "growable", False):
            steps = zip(kind.shape, kind.stride or (), strict=True)
            end = self.offset + 1
            for count, step in steps:
                end = end + ((count or 0) - 1) * (step or 0)
            space.recording.reached(space, self.dtype, end)
        return TracedView(kind, self.memory, self.offset)
