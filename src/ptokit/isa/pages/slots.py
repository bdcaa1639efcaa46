"""Slots of FIFOs between cores: how pushes and pops use them.

A slot holds one entry as a row-major matrix. Both vector cores of a block may share an entry, by
rows or by columns: each has its part of the slot.
"""

from __future__ import annotations

from ptokit.isa.lang.page import *
from ptokit.isa.model.epilogues import CONVERSIONS, EpilogueMode, clause_value

TO_VECTOR, TO_CUBE, BOTH = 1, 2, 3  # what `dir_mask` may be: a bit for each direction
MOST_FLAGS = 16  # of a core; each direction of a FIFO takes two
WHOLE, BY_ROWS, BY_COLUMNS, ODD_ROWS, ODD_COLUMNS = range(5)


DIRECTIONS = {TO_VECTOR: "DIR_C2V", TO_CUBE: "DIR_V2C", BOTH: "DIR_BOTH"}
SPLITS = ("NO_SPLIT", "UP_DOWN", "LEFT_RIGHT", "UP_DOWN_ODD", "LEFT_RIGHT_ODD")


def direction_in_cpp(mask: int) -> str:
    """Return the directions of a FIFO in C++."""
    return f"Direction::{DIRECTIONS[mask]}" if mask in DIRECTIONS else f"Direction({mask})"


def split_in_cpp(split: int) -> str:
    """Return the C++ name of how vector cores share entries."""
    known = split in range(len(SPLITS))
    return f"TileSplitAxis::TILE_{SPLITS[split]}" if known else f"TileSplitAxis({split})"


def default_slots(dir_mask: object) -> int:
    """Return the default number of slots in each direction of a FIFO."""
    return 4 if dir_mask == BOTH else 8


class FifoEnd(Protocol):
    """A FIFO in one direction, seen from one of its ends.

    `vector`: this end is a vector core, number `lane` of the `lanes` of its block. `to_vector`: the
    vector cores pop. `releases`: a pop gives the slot of a tile back at once. `shares`: both vector
    cores take part in whole entries.
    """

    vector: bool
    lane: int
    lanes: int
    to_vector: bool
    shares: bool
    releases: bool
    epilogue: str

    def open(self, memory: object) -> None:
        """Set the part of global memory that holds the slots of views."""
        ...

    def claim(self, others: Iterator[int] | range) -> None:
        """Wait until the other end has given the next slot back."""
        ...

    def expect(self, others: Iterator[int] | range) -> tuple[int, int]:
        """Wait until the other end has pushed the next entry; return its rows and columns."""
        ...

    def common(self, tile: int, entry: int) -> int:
        """Return how many lines of a tile come from an entry, the smaller number."""
        ...

    def slot(self, dtype: DType, rows: int, cols: int) -> Cells:
        """Return the slot that was waited for, as a matrix."""
        ...

    def view(self, kind: GlobalType, row: int, col: int) -> Cells:
        """Return its place in global memory as a view, from an element on."""
        ...

    def allocated(self, others: Iterator[int] | range) -> None:
        """Note that the next slot, which `claim` has waited for, is in use."""
        ...

    def scaled(self, value: Array, mode: EpilogueMode, *, relu: bool) -> Array:
        """Convert the pushed values, with parameters from registers of the core."""
        ...

    def pushed(self, rows: int, cols: int) -> None: ...
    def popped(self) -> None: ...
    def freed(self) -> None: ...

    def returned(self, *, perhaps: bool) -> None:
        """Note that the slot of a popped entry is free; `perhaps`: unless the pop did so."""
        ...


def takers(fifo: FifoEnd, split: int) -> range:
    """Return the vector cores that take a part of an entry, or all of it."""
    return range(fifo.lanes if split != WHOLE or fifo.shares else 1)


def others(fifo: FifoEnd, split: int) -> range:
    """Return the cores at the other end."""
    return range(1) if fifo.vector else takers(fifo, split)


def idle_lane(fifo: FifoEnd, split: int) -> bool:
    """Return whether this vector core has no part in the entry."""
    return fifo.vector and fifo.lane not in takers(fifo, split)


def parts(split: int, lane: int, rows: int, cols: int) -> tuple[int, int, int, int]:
    """Return where the part of a vector core starts in an entry, and the extents of the whole."""
    if split in (BY_ROWS, ODD_ROWS):
        odd = split == ODD_ROWS
        return lane * (rows + odd), 0, 2 * rows + odd * (2 * lane - 1), cols
    if split in (BY_COLUMNS, ODD_COLUMNS):
        odd = split == ODD_COLUMNS
        return 0, lane * (cols + odd), rows, 2 * cols + odd * (2 * lane - 1)
    return 0, 0, rows, cols


def begins(split: int, lane: int, tile: tuple[int, int], whole: tuple[int, int]) -> tuple[int, int]:
    """Return where the part starts that a vector core pops into a tile of these extents."""
    half = (whole[0] + 1) // 2, (whole[1] + 1) // 2
    row = {BY_ROWS: lane * tile[0], ODD_ROWS: lane * half[0]}.get(split, 0)
    col = {BY_COLUMNS: lane * tile[1], ODD_COLUMNS: lane * half[1]}.get(split, 0)
    return row, col


def push(fifo: FifoEnd, entry: Cells, split: int, lane: int) -> None:
    """Push the valid region of a tile as the next entry, or as a part of it."""
    if idle_lane(fifo, split):
        return
    rows, cols = entry.valid
    row, col, height, width = 0, 0, rows, cols
    if fifo.vector:
        row, col, height, width = parts(split, lane, rows, cols)
    value = converted(entry[entry.valid], fifo)
    fifo.claim(others(fifo, split))
    slot = fifo.slot(value.dtype, height, width)
    slot[row : row + rows, col : col + cols] = value
    fifo.pushed(height, width)


def converted(value: Array, fifo: FifoEnd) -> Array:
    """Return the values of an accumulator after the fix-pipe."""
    mode = CONVERSIONS.get(clause_value(fifo.epilogue, "quant") or "")
    relu = clause_value(fifo.epilogue, "relu") == "normal_relu"
    if mode is not None and mode.scale and value.dtype not in mode.made:
        return fifo.scaled(value, mode, relu=relu)
    if relu:
        value = value.maximum(0)
    if mode is None or value.dtype in mode.made:
        return value
    return value.cast(mode.made[0], Rounding.RINT)


def pop(fifo: FifoEnd, entry: Cells, split: int, lane: int) -> None:
    """Pop the next entry, or a part of it, into the valid region of a tile."""
    rows, cols = entry.valid
    if idle_lane(fifo, split):
        entry[entry.valid] = entry.constant(0)
        return
    height, width = fifo.expect(others(fifo, split))
    row, col = 0, 0
    if fifo.vector:
        row, col = begins(split, lane, (entry.rows, entry.cols), (height, width))
    rows, cols = fifo.common(rows, height - row), fifo.common(cols, width - col)
    slot = fifo.slot(entry.dtype, height, width)
    entry[:rows, :cols] = slot[row : row + rows, col : col + cols]
    fifo.popped()
    if fifo.releases:
        fifo.freed()


def part_of(kind: GlobalType, fifo: FifoEnd, split: int, lane: int) -> tuple[int, int]:
    """Return where the part of a vector core starts in a slot that is a view."""
    rows, cols = ((n or 0) for n in kind.shape[-2:])
    whole = 2 * rows, 2 * cols
    return begins(split, lane, (rows, cols), whole) if fifo.vector else (0, 0)


def allocate(fifo: FifoEnd, kind: GlobalType, split: int, lane: int) -> Cells:
    """Return the next free slot in global memory."""
    fifo.claim(others(fifo, split))
    return fifo.view(kind, *part_of(kind, fifo, split, lane))


def receive(fifo: FifoEnd, kind: GlobalType, split: int, lane: int) -> Cells:
    """Return the next pushed slot in global memory."""
    fifo.expect(others(fifo, split))
    found = fifo.view(kind, *part_of(kind, fifo, split, lane))
    fifo.popped()
    return found


def commit(fifo: FifoEnd, split: int) -> None:
    """Push the slot in global memory that was allocated."""
    if not idle_lane(fifo, split):
        fifo.allocated(others(fifo, split))
        fifo.pushed(0, 0)


def release(fifo: FifoEnd, split: int, *, unnamed: bool) -> None:
    """Free the slot of the oldest popped entry."""
    if not idle_lane(fifo, split):
        fifo.returned(perhaps=unnamed and fifo.releases)
