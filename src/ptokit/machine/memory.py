"""Memory: bytes, and a shadow that records which of them are defined."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from sys import getrefcount
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.diagnostic import error
from ptokit.values.dtypes import DType
from ptokit.values.formats import pack, unpack
from ptokit.values.host import AnyArray
from ptokit.values.layouts import Axis, IndexMap, Piece

WRITTEN = 0xFF
NO_MEMORY = "no memory"  # the memory of a view without an address
LARGEST_OUTPUT = 1 << 31  # bytes to which an output without a given size may grow

Bytes: TypeAlias = "NDArray[np.uint8]"
Index: TypeAlias = "NDArray[np.int64]"
Codes: TypeAlias = AnyArray  # unsigned integers as wide as the element


LINE = 64  # bytes of a cache line
_nothing: Any = (ctypes.c_char * 0).from_buffer  # Any: NumPy's stubs lack the buffer protocol


def _room(nbytes: int) -> Bytes:
    """Return zeros that start at a cache line, as the memories of the hardware do."""
    room = np.zeros(nbytes + LINE, np.uint8)
    start = -address_of(room) % LINE
    return room[start : start + nbytes]


def require_room(name: str, nbytes: int) -> None:
    """Raise PtoError for an output that is larger than ptokit allocates."""
    if nbytes > LARGEST_OUTPUT:
        raise error(
            "global-out-of-bounds",
            f"a view needs {nbytes} bytes of {name}",
            help="give the array, or check the extents and strides of the view",
        )


def address_of(array: AnyArray) -> int:
    """Return the address of the bytes of a contiguous array."""
    try:
        return ctypes.addressof(_nothing(array))  # seven times as fast as asking NumPy
    except TypeError:  # it is read-only
        return int(array.ctypes.data)


def copied(array: AnyArray, over: Bytes | None = None) -> Bytes:
    """Return a copy of a contiguous array's bytes, aligned to a cache line.

    The copy takes the place of `over`, an earlier copy of as many bytes that nothing else uses:
    the system hands out new pages more slowly than it copies them.
    """
    raw = array.reshape(-1).view(np.uint8)
    if over is None or over.size != raw.size:
        room = np.empty(raw.size + LINE, np.uint8)
        start = -address_of(room) % LINE
        over = room[start : start + raw.size]
    over[:] = raw
    return over


class Memory:
    """An address space or array: `data` has the bytes, `shadow` 0xFF for defined ones.

    An element is undefined before an instruction writes it, and after an instruction computes it
    from undefined elements.
    """

    watch: Callable[[Index, bool], None] | None = None  # called with bytes, and True for writes
    held: tuple[object, Bytes] = (None, np.zeros(0, np.uint8))  # the last array, and its bytes
    copy: Bytes | None = None  # of the array that was held last, if it may be written
    refuses = False  # reading an undefined element is an error, see `analysis.readtrial`
    undefined = False  # an instruction stored undefined elements here

    def __init__(self, name: str, data: Bytes, *, written: bool, host: bool = False) -> None:
        """Make a memory; an array of the `host` gets 0 for undefined elements."""
        self.name, self.host = name, host
        self.data = data
        self.growable = False
        self.given = written  # all bytes were written before the program started
        self.shape: tuple[int, ...] | None = None  # extents of the view for which an output grew
        self._spare: tuple[Bytes, Bytes] | None = None  # data and shadow to grow into

    @classmethod
    def blank(cls, name: str, nbytes: int, *, host: bool = False) -> Memory:
        """Return uninitialised memory."""
        require_room(name, nbytes)
        return cls(name, _room(nbytes), written=False, host=host)

    @classmethod
    def nothing(cls) -> Memory:
        """Return the memory of a view without an address."""
        return cls(NO_MEMORY, np.zeros(0, np.uint8), written=True)

    def named(self, name: str) -> Memory:
        """Return this memory, which is not given, under another name: the same bytes."""
        if name == self.name:
            return self
        other = Memory(name, self.data, written=False)
        other.shadow = self.shadow
        return other

    @cached_property
    def shadow(self) -> Bytes:
        """The shadow, made on first use: a compiled program mostly needs none."""
        value = WRITTEN if self.given else 0
        return np.full(self.size, value, np.uint8) if value else np.zeros(self.size, np.uint8)

    @property
    def size(self) -> int:
        return self.data.size

    def clear(self) -> None:
        """Make all elements undefined. The bytes stay."""
        self.given = self.undefined = False
        if "shadow" in self.__dict__:
            self.shadow.fill(0)

    def hold(self, array: AnyArray, *, written: bool, direct: bool = False) -> None:
        """Take the bytes of another array: copied if they are written, else shared.

        `direct`: bytes that are written are shared too, and a copy is kept for `restore`.
        """
        if array is not self.held[0] or array.nbytes != self.held[1].size:
            aligned = np.ascontiguousarray(array) if array.flags.aligned else array.copy()
            self.held = aligned is array and array, aligned.reshape(-1).view(np.uint8)
        self.copy = copied(self.held[1], self._unused()) if written else None
        self.data = self.held[1] if direct or self.copy is None else self.copy
        self.given = True
        self.__dict__.pop("shadow", None)

    def release(self) -> None:
        """Keep no array of the caller."""
        self.held, self.data = Memory.held, Memory.held[1]

    def restore(self) -> None:
        """Undo what was written to an array that is held directly."""
        if self.copy is not None and self.copy is not self.data:
            self.data[:] = self.copy

    def _unused(self) -> Bytes | None:
        """Return the last copy if nothing but this memory refers to its bytes."""
        copy = self.copy
        if copy is None:
            return None
        mine = 2 + (copy is self.data)  # references of this memory and of this function
        return copy if (getrefcount(copy), getrefcount(copy.base)) == (1 + mine, 2) else None

    def forget(self, nbytes: int = 0) -> None:
        """Allocate an output without an array; it grows unless `nbytes` is given."""
        self.data, self.shape, self.given = _room(nbytes), None, False
        self.growable = not nbytes
        self._spare = None
        self.__dict__.pop("shadow", None)

    def initialise(self) -> None:
        """Make all elements defined."""
        if "shadow" in self.__dict__:
            self.shadow[:] = WRITTEN
        else:
            self.given = True

    def grow(self, nbytes: int, shape: tuple[int, ...]) -> None:
        """Make room for a view of `shape` in an output whose extents only views determine."""
        require_room(self.name, nbytes)
        if nbytes > self.size:
            self.shape, before = shape, self.size
            if self._spare is None or nbytes > self._spare[0].size:
                room = max(nbytes, 2 * before)  # doubling makes growth by single elements rare
                data, shadow = _room(room), np.zeros(room, np.uint8)
                data[:before], shadow[:before] = self.data, self.shadow
                self._spare = data, shadow
            self.data, self.shadow = (part[:nbytes] for part in self._spare)


def blank_copies(memories: Mapping[str, Memory], kept: frozenset[str]) -> dict[Memory, Memory]:
    """Return for each memory an unwritten one of the same size; for names in `kept` a copy."""
    made: dict[Memory, Memory] = {}
    for name, memory in memories.items():
        made[memory] = other = Memory.blank(memory.name, memory.size, host=memory.host)
        other.growable = memory.growable
        if name in kept and memory.given:
            other.hold(memory.data, written=True)
    return made


class Elements:
    """The elements of one type in a memory, from an address on, through an index map.

    `origin` is the element at the map's offset 0, counted from `address`. `end` is the last byte
    plus one of the tile of which the elements are a view; None: no view.
    """

    _last: Part | None = None

    def __init__(
        self,
        memory: Memory,
        address: int,
        dtype: DType,
        where: IndexMap,
        origin: int = 0,
        end: int | None = None,
    ) -> None:
        self.memory, self.address, self.dtype = memory, address, dtype
        self.map, self.origin, self.end = where, origin, end

    def lies_as(self, where: IndexMap) -> bool:
        """Return whether each element that `where` maps has the same offset here."""
        pairs = ((self.map.rows, where.rows), (self.map.cols, where.cols))
        return self.map is where or all(
            np.array_equal(_along(here, every), _along(there, every))
            for here, there in pairs
            for every in [np.arange(there.extent)]
        )

    def reach(self, rows: range, cols: range) -> tuple[int, int]:
        """Return the half-open range of element offsets that a window touches.

        Strides are not negative.
        """
        part = self.part(rows, cols)
        return part.low, part.high

    def part(self, rows: range, cols: range) -> Part:
        """Return the place of a window. The last one is cached: bodies repeat windows."""
        last = self._last
        if last is not None and last.rows is rows and last.cols is cols:
            return last
        self._last = last = self._placed(rows, cols)
        return last

    def _placed(self, rows: range, cols: range) -> Part:
        dtype, origin, address = self.dtype, self.origin, self.address
        low, high, solid, boxes = _boxes(self.map, rows, cols, dtype.size)
        low, high = origin + low, origin + high
        first, last = address + low * dtype.bits // 8, address + dtype.nbytes(high)
        start = origin if dtype.packed else address + origin * dtype.size
        solid &= not dtype.packed
        shape = len(rows), len(cols)
        return Part(rows, cols, shape, low, high, first, last, solid, start, dtype.packed, boxes)

    def read(self, rows: range, cols: range) -> Codes:
        """Return the codes of a window, in logical order, one array element each."""
        self._tell(rows, cols, writes=False)
        return self._read(self.memory.data, self.part(rows, cols))

    def undefine(self, rows: range, cols: range, mask: NDArray[np.bool_] | bool = True) -> None:
        """Make the elements of a window undefined where the mask holds."""
        self.memory.undefined = True
        part = self.part(rows, cols)
        shadow = self._read(self.memory.shadow, part)
        self._write(self.memory.shadow, part, np.where(mask, np.zeros_like(shadow), shadow))

    def undefine_taken(self, rows: Index, cols: Index) -> None:
        """Make elements undefined, given by row and column numbers element by element."""
        self.memory.undefined = True
        self._view(self.memory.shadow)[self.offsets(rows, cols)] = 0

    def past_end(self, rows: Index, cols: Index) -> bool:
        """Return whether one of these elements lies behind the tile of which this is a view."""
        if self.end is None or not rows.size:
            return False
        return self.address + self.dtype.nbytes(self.last(rows, cols) + 1) > self.end

    def last(self, rows: Index, cols: Index) -> int:
        """The largest offset of these elements."""
        return int(self.offsets(rows, cols).max())

    def take(self, rows: Index, cols: Index) -> Codes:
        """Return the codes at row and column numbers given element by element."""
        self._tell(rows, cols, writes=False)
        return self._view(self.memory.data)[self.offsets(rows, cols)]

    def put(self, rows: Index, cols: Index, codes: Codes) -> None:
        """Store codes at row and column numbers, in order, and mark them written."""
        self._tell(rows, cols, writes=True)
        offsets = self.offsets(rows, cols)
        self._view(self.memory.data)[offsets] = codes.reshape(offsets.shape)
        self._view(self.memory.shadow)[offsets] = self._ones

    def taken_unwritten(self, rows: Index, cols: Index) -> NDArray[np.bool_] | None:
        """Which of these elements are not written, if any."""
        found = self._view(self.memory.shadow)[self.offsets(rows, cols)] != self._full
        return found if found.any() else None

    def _tell(self, rows: range | Index, cols: range | Index, *, writes: bool) -> None:
        """Pass the bytes of a window, or of single elements, to the watcher of the memory."""
        if self.memory.watch is None:
            return
        window = isinstance(rows, range)
        down, across = np.asarray(rows, np.int64), np.asarray(cols, np.int64)
        offsets = self.offsets(down[:, None] if window else down, across).reshape(-1)
        size = self.dtype.size
        bytes = offsets // 2 if self.dtype.packed else offsets[:, None] * size + np.arange(size)
        self.memory.watch(self.address + bytes.reshape(-1), writes)

    def offsets(self, rows: Index, cols: Index) -> Index:
        """Elements from the base of the memory to those at row and column numbers."""
        return self.origin + _along(self.map.rows, rows) + _along(self.map.cols, cols)

    @property
    def _full(self) -> int:
        """The shadow of a defined element."""
        return 0xF if self.dtype.packed else (1 << self.dtype.bits) - 1

    def write(self, rows: range, cols: range, codes: Codes) -> None:
        """Store the codes of a window, broadcast if needed, and mark them written."""
        self._tell(rows, cols, writes=True)
        part, memory = self.part(rows, cols), self.memory
        if codes.shape != part.shape:
            codes = np.broadcast_to(codes, part.shape)
        self._write(memory.data, part, codes)
        if part.solid:
            memory.shadow[part.first : part.last] = WRITTEN
        else:
            self._write(memory.shadow, part, np.broadcast_to(self._ones, codes.shape))

    def write_where(self, rows: range, cols: range, codes: Codes, keep: NDArray[np.bool_]) -> None:
        """Store the codes of a window where `keep` holds; other elements and their shadow stay."""
        self._tell(rows, cols, writes=True)
        part = self.part(rows, cols)
        for memory, values in ((self.memory.data, codes), (self.memory.shadow, self._ones)):
            self._write(memory, part, np.where(keep, values, self._read(memory, part)))

    def forget(self, rows: range, cols: range) -> None:
        """Mark the elements of a window as never written."""
        part = self.part(rows, cols)
        self._write(self.memory.shadow, part, np.zeros(part.shape, self.dtype.storage))

    def read_written(self, rows: range, cols: range) -> Codes:
        """Return the codes of a window, 0 for undefined elements."""
        part = self.part(rows, cols)
        mask = self._read(self.memory.shadow, part)  # all ones for a written element
        return self._read(self.memory.data, part) & mask

    @property
    def _ones(self) -> Codes:
        return np.array(-1).astype(self.dtype.storage)

    def written(self, rows: range, cols: range) -> NDArray[np.bool_]:
        """Return which elements of a window are written."""
        return self._read(self.memory.shadow, self.part(rows, cols)) == self._full

    def unwritten(self, rows: range, cols: range) -> tuple[int, int] | None:
        """Return row and column of the first element of a window that is not written, or None."""
        part = self.part(rows, cols)
        if not part.packed and 0 not in self.memory.shadow[part.first : part.last].tobytes():
            return None
        missing = np.argwhere(~self.written(rows, cols))
        if not missing.size:
            return None
        row, col = missing[0]
        return rows.start + int(row), cols.start + int(col)

    def _view(self, memory: Bytes) -> Codes:
        """Return the elements from `address` on: a view, or unpacked for 4-bit types."""
        if self.dtype.packed:
            last = self.origin + self.map.span
            chunk = memory[self.address : self.address + self.dtype.nbytes(last)]
            return unpack(chunk, 2 * chunk.size)
        size = self.dtype.size
        count = (memory.size - self.address) // size
        chunk = memory[self.address : self.address + count * size]
        return chunk.view(self.dtype.storage)

    def _read(self, memory: Bytes, part: Part) -> Codes:
        room = self._view(memory) if part.packed else memory
        storage = self.dtype.storage
        if len(part.boxes) == 1:
            return part.boxes[0].of(room, part.start, storage).copy().reshape(part.shape)
        out = np.empty(part.shape, storage)
        for box in part.boxes:
            some = out[box.down, box.across].reshape(box.counts)
            some[...] = box.of(room, part.start, storage)
        return out

    def _write(self, memory: Bytes, part: Part, codes: Codes) -> None:
        room = self._view(memory) if part.packed else memory
        for box in part.boxes:
            some = codes if len(part.boxes) == 1 else codes[box.down, box.across]
            box.of(room, part.start, self.dtype.storage)[...] = some.reshape(box.counts)
        if part.packed:  # `_view` unpacked them into a copy
            packed = pack(room)
            memory[self.address : self.address + packed.size] = packed


def _along(axis: Axis, index: Index) -> Index:
    """Return `Axis.offset` of many indices at once."""
    total = np.zeros_like(index)
    for count, stride in reversed(axis.digits[1:]):
        index, digit = np.divmod(index, count)
        total = total + digit * stride
    return total + index * axis.digits[0][1]


class Box(NamedTuple):
    """A part of a window with even steps between its elements, in bytes."""

    down: slice
    across: slice
    base: int
    counts: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, room: Codes, start: int, storage: np.dtype[np.generic]) -> Codes:
        """Return the elements of the part, where offset 0 is the byte `start`."""
        return np.ndarray(self.counts, storage, room, start + self.base, self.strides)


class Part(NamedTuple):
    """The place of a window: ranges of element offsets and of bytes; `solid`: without gaps.

    `start` is the byte of the map's offset 0, in the unit of the boxes (for packed elements,
    unpacked bytes).
    """

    rows: range
    cols: range
    shape: tuple[int, int]
    low: int
    high: int
    first: int
    last: int
    solid: bool
    start: int
    packed: bool
    boxes: tuple[Box, ...]


@lru_cache(maxsize=1024)  # the same windows occur many times
def _boxes(
    where: IndexMap, rows: range, cols: range, size: int
) -> tuple[int, int, bool, tuple[Box, ...]]:
    """Return the first offset of a window, the one after its last, whether it is solid, its boxes.

    Elements take `size` bytes.
    """
    parts = [
        (row, col, (*row.digits, *col.digits))
        for row in where.rows.pieces(rows.start, rows.stop)
        for col in where.cols.pieces(cols.start, cols.stop)
    ]
    if not parts:
        return 0, 0, False, ()
    low = min(row.base + col.base for row, col, _ in parts)
    lasts = [r.base + c.base + sum((n - 1) * s for n, s in digits) for r, c, digits in parts]
    solid, count = len(parts) == 1, 1
    for extent, stride in sorted(parts[0][2], key=lambda digit: digit[1]):
        solid &= extent == 1 or stride == count
        count *= extent
    boxes = tuple(_box(rows, cols, *part, size) for part in parts)
    return low, max(lasts) + 1, solid, boxes


def _box(
    rows: range, cols: range, row: Piece, col: Piece, digits: tuple[tuple[int, int], ...], size: int
) -> Box:
    down = slice(row.start - rows.start, row.stop - rows.start)
    across = slice(col.start - cols.start, col.stop - cols.start)
    counts = tuple(n for n, _ in digits)
    steps = tuple(s * size if n > 1 else 0 for n, s in digits)  # an unused step may be too large
    return Box(down, across, (row.base + col.base) * size, counts, steps)
