"""Handles of a running program: tiles, convolution tiles, global views and pointers.

A handle is a type on top of bytes. Bodies index it; two handles on the same bytes alias.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.diagnostic import error
from ptokit.isa.model.globaltypes import GlobalType, global_map
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ArrayType, StructType
from ptokit.isa.model.words import GlobalLayout
from ptokit.machine.elementmatrix import KnownRegion, Matrix
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.memory import NO_MEMORY, WRITTEN, Codes, Elements, Index, Memory, require_room
from ptokit.machine.partlydefined import Mask
from ptokit.values.arrays import Array, Number, Windows
from ptokit.values.dtypes import DType, u8
from ptokit.values.formats import pack
from ptokit.values.layouts import Axis, IndexMap, Shape

Placed: TypeAlias = "Matrix | Pointer"  # a handle


def _bytes(tile: Tile, row: int, col: int) -> int:
    """Return the distance of an element from the tile's address in bytes."""
    return tile.elements.map.offset(row, col) * tile.dtype.bits // 8


class Tile(Matrix):
    """A tile: a type with a known valid region, at an address of a memory."""

    def __init__(self, kind: TileType, memory: Memory, address: int) -> None:
        rows, cols = kind.valid.rows, kind.valid.cols
        assert rows is not None
        assert cols is not None
        elements = Elements(memory, address, kind.dtype, kind.map)
        super().__init__(kind, elements, kind.rows, kind.cols)
        self.type: TileType = kind
        self.valid = KnownRegion(rows, cols)

    @property
    def _pointer(self) -> type[Pointer]:
        return Pointer

    @property
    def address(self) -> int:
        """The byte offset in the memory."""
        return self.elements.address

    def beyond(self, rows: range, cols: range) -> Mask | bool:
        below = np.array(rows)[:, None] >= self.valid.rows
        return below | (np.array(cols)[None, :] >= self.valid.cols)

    @property
    def place(self) -> tuple[int, int]:
        """The key by which two handles are compared: memory and address."""
        return id(self.memory), self.address

    def multiplied(self, window: Windows, number: Number) -> Array:
        """Return a window times a number; times 0, an undefined element gives 0."""
        rows, cols = self._window(window)
        if number != 0 or not (rows and cols):
            return self[window]
        return NumpyArray(self.elements.read_written(rows, cols), self.dtype)

    def fill(self, bits: int) -> None:
        """Set every element of the storage to these bits; for a view, the valid region."""
        if self.elements.end is not None:
            self[: self.valid.rows, : self.valid.cols] = self.constant(bits)
            return
        if self.elements.map is not self.type.map:  # a window of another tile
            self[:, :] = self.constant(bits)
            return
        codes = np.full(self.type.numel, bits, self.dtype.storage)
        raw = pack(codes) if self.dtype.packed else codes.view(np.uint8)
        self.bytes()[:] = raw
        self.shadow()[:] = WRITTEN

    def spoil(self) -> None:
        """Make the tile undefined after hardware used it as scratch; for a window, its elements."""
        if self.contiguous():
            self.shadow()[:] = 0
        else:
            self.elements.forget(range(self.rows), range(self.cols))

    def resize(self, rows: int, cols: int) -> None:
        """Change the valid region."""
        self.type = replace(self.type, valid=Shape(rows, cols))
        self.valid = KnownRegion(rows, cols)

    def alias(self, other: Tile, row: int | None = None, col: int | None = None) -> None:
        """Become a handle on the bytes of `other`; with (row, col), a view from there on."""
        where = self.type.map
        if not other.contiguous():
            if row is None:
                self._refuse_strided(other)
            where = other.elements.map
        address = other.address + _bytes(other, row or 0, col or 0)
        end = other.elements.end if row is None else other.end
        self.elements = Elements(other.memory, address, self.dtype, where, end=end)

    def part(self, kind: TileType, row: int, col: int) -> Tile:
        """Return a handle on the part of type `kind` at (row, col), with this tile's strides."""
        view = type(self)(kind, self.memory, self.address + _bytes(self, row, col))
        view.elements = Elements(self.memory, view.address, self.dtype, self.elements.map)
        if (kind.rows, kind.cols) == (self.rows, self.cols):  # it reaches past this tile's end
            view.elements.end = self.end
        return view

    def row_at(self, kind: TileType, offset: int) -> Tile:
        """Return a handle on the bytes from an offset on."""
        return type(self)(kind, self.memory, self.address + offset)

    def member(self, kind: TileType, index: int = 0) -> Tile:
        """Return the same bytes as another tile, or one slot of a multi-tile."""
        if not self.contiguous():
            self._refuse_strided(self)
        stride: int = getattr(self.type, "stride", 0)
        found = type(self)(kind, self.memory, self.address + index * stride)
        found.elements.end = self.elements.end
        return found

    def pointer(self) -> Pointer:
        """Return a pointer to the first byte, in elements."""
        offset = self.address * 8 // self.dtype.bits
        return self._pointer(self.dtype, self.memory, offset, space=self.type.loc.text)

    def contiguous(self) -> bool:
        """Return whether elements have the offsets of the type; a window has its tile's."""
        return self.elements.lies_as(self.type.map)

    @property
    def end(self) -> int:
        """The end of the bytes of the tile, or of the tile of which this is a view."""
        if self.elements.end is not None or self.contiguous():
            return self.elements.end or self.address + self.type.nbytes
        last = self.elements.map.offset(self.type.rows - 1, self.type.cols - 1)
        return self.address + self.dtype.nbytes(last + 1)

    def _refuse_strided(self, other: Tile) -> NoReturn:
        raise error(
            "layout",
            f"{other.label or 'the source'} is a window with bytes that are not contiguous",
            seen=f"{other.type} has the strides of the tile it is a window of",
            help="copy the window to a separate tile",
        )

    def raw(self) -> Matrix:
        """Return the whole storage as one row of bytes."""
        count = self.type.nbytes
        line = IndexMap(Axis(((1, 1),)), Axis(((count, 1),)))
        elements = Elements(self.memory, self.address, u8, line, end=self.elements.end)
        return self._read_as(elements, 1, count)

    def lines(self, dtype: DType) -> Matrix:
        """Return a row-major tile as another type; rows of a window keep their distance."""
        width, rest = divmod(self.cols * self.dtype.bits, dtype.bits)
        assert not rest, f"rows of {self.type} are not whole elements of {dtype}"
        (_, step), *_ = self.elements.map.rows.digits
        rows = Axis(((self.rows, step * self.dtype.bits // dtype.bits),))
        elements = Elements(self.memory, self.address, dtype, IndexMap(rows, Axis(((width, 1),))))
        return self._read_as(elements, self.rows, width)

    def bytes(self) -> Codes:
        """Return the bytes of the storage, in hardware order, as a view."""
        return self._range(self.memory.data)

    def shadow(self) -> Codes:
        """Return the shadow of `bytes` as a view."""
        return self._range(self.memory.shadow)

    def _range(self, memory: Codes) -> Codes:
        return memory[self.address : self.address + self.type.nbytes]

    def written(self) -> bool:
        """Return whether the whole valid region is defined."""
        return self.elements.unwritten(range(self.valid.rows), range(self.valid.cols)) is None

    def codes(self) -> Codes:
        """Return the element codes of the valid region in logical order; 0 for undefined ones."""
        return self.elements.read_written(range(self.valid.rows), range(self.valid.cols))

    def has_value(self) -> Mask:
        """Return which elements of the valid region are defined."""
        return self.elements.written(range(self.valid.rows), range(self.valid.cols))

    def assign(self, codes: Codes) -> None:
        """Store element codes in the valid region."""
        self.elements.write(range(self.valid.rows), range(self.valid.cols), codes)


class GlobalView(Matrix):
    """A matrix in global memory."""

    def __init__(self, kind: GlobalType, memory: Memory, origin: int) -> None:
        assert kind.stride is not None
        where = global_map(kind.layout, _known(kind.shape), _known(kind.stride))
        elements = Elements(memory, 0, kind.dtype, where, origin)
        super().__init__(kind, elements, where.rows.extent, where.cols.extent)
        self.type: GlobalType = kind

    @property
    def _pointer(self) -> type[Pointer]:
        return Pointer

    @property
    def origin(self) -> int:
        """Elements from the base of the array to the first element of the view."""
        return self.elements.origin

    def _window(self, window: Windows) -> tuple[range, range]:
        rows, cols = super()._window(window)
        self._require_end(self.elements.reach(rows, cols)[1])
        return rows, cols

    def _require_inside(self, rows: Index, cols: Index) -> None:
        if rows.size:
            self._require_end(self.elements.last(rows, cols) + 1)

    def _require_end(self, end: int) -> None:
        count = self.memory.size * 8 // self.dtype.bits
        if self.memory.name == NO_MEMORY:
            raise error("fifo-mismatch", f"{self.label} has no slot", help="allocate one, or pop")
        if end > count:
            raise error(
                "global-out-of-bounds",
                f"{self.label or 'the view'} exceeds {self.memory.name}",
                seen=f"element {end - 1} is accessed, {self.memory.name} has {count}",
                help="check the view's extents, strides and offsets against the array",
            )

    def pointer(self) -> Pointer:
        """Return a pointer to the first element."""
        return self._pointer(self.dtype, self.memory, self.origin)

    def become(self, other: GlobalView) -> None:
        """Become a handle on the other view."""
        self.__dict__.update(vars(other))

    def partition(self, kind: GlobalType, offsets: tuple[int, ...]) -> GlobalView:
        """Return the part of type `kind` that starts at `offsets`."""
        assert kind.stride is not None
        shift = sum(o * s for o, s in zip(offsets, _known(kind.stride), strict=True))
        return type(self)(kind, self.memory, self.origin + shift)


def _known(extents: tuple[int | None, ...]) -> tuple[int, ...]:
    return tuple(n for n in extents if n is not None)


@dataclass(frozen=True)
class Pointer:
    """A place in global memory, or in a memory of the core, in elements of its type."""

    dtype: DType
    memory: Memory
    offset: int = 0
    count: int | None = None  # elements of an array of the scalar unit
    space: str = "gm"  # the memory, as in `PtrType`
    by_number: bool = False  # made from an integer, as in `PtrType`

    def moved(self, by: int) -> Pointer:
        """Return the pointer `by` elements further on."""
        return replace(self, offset=self.offset + by, count=None)

    def cast(self, dtype: DType) -> Pointer:
        """Return the same place, counted in elements of another type."""
        return replace(self, dtype=dtype, offset=self.offset * self.dtype.bits // dtype.bits)

    def element(self, offset: int) -> GlobalView:
        """Return a matrix of one element."""
        one = GlobalType(self.dtype, (1, 1), (1, 1), GlobalLayout.ND)
        return self.moved(offset).view(one)

    def view(self, kind: GlobalType) -> GlobalView:
        """Return the tensor of type `kind` that starts here; an output grows to hold it."""
        if self.memory.growable:
            assert kind.stride is not None
            shape = _known(kind.shape)
            steps = zip(shape, _known(kind.stride), strict=True)
            last = self.offset + sum((n - 1) * s for n, s in steps)
            self.memory.grow(self.dtype.nbytes(last + 1), shape)
        return GlobalView(kind, self.memory, self.offset)


def local_array(kind: ArrayType | StructType) -> Pointer:
    """Return a new array or struct of the scalar unit, all zero; PtoError if it is too large."""
    require_room("the array", kind.nbytes)
    memory = Memory("the array", np.zeros(kind.nbytes, np.uint8), written=True)
    return Pointer(kind.unit, memory, 0, kind.count)


class ConvTile(Matrix):
    """A convolution tile, read as the weight matrix in it."""

    def __init__(self, kind: ConvTileType, memory: Memory, address: int) -> None:
        where: IndexMap = kind.map
        elements = Elements(memory, address, kind.dtype, where)
        super().__init__(kind, elements, where.rows.extent, where.cols.extent)
        self.type: ConvTileType = kind

    @property
    def inner(self) -> Shape:
        return self.type.inner

    def codes(self) -> Codes:
        """Return the element codes in the extents of the layout; 0 for undefined elements."""
        line = self.flat().elements
        return line.read_written(range(1), range(self.type.numel)).reshape(self.type.shape)

    def has_value(self) -> NDArray[np.bool_]:
        """Return which elements are defined, as one row."""
        return self.flat().elements.written(range(1), range(self.type.numel))

    def assign(self, codes: Codes) -> None:
        """Store the codes of all elements."""
        self.flat().elements.write(range(1), range(self.type.numel), codes.reshape(1, -1))

    def written(self) -> bool:
        """Return whether every element is defined."""
        return self.flat().elements.unwritten(range(1), range(self.type.numel)) is None
