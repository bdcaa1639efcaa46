"""One end of a FIFO between cores, as bodies see it, and the tiles that lie in FIFO slots.

A FIFO counts the entries that each core of an end has pushed, popped and freed. One core writes
each counter, so that an instruction that has to wait can be restarted. On targets whose pop copies
nothing (A5) a push writes the slot, and each user of the popped tile reads the slot, until the slot
is freed, and by mistake afterwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from ptokit.analysis.fifos import LANES, Fifo
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.isa.model.epilogues import EpilogueMode
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.words import VECTOR, GlobalLayout, Pipe
from ptokit.machine.execute import Core
from ptokit.machine.tile import GlobalView, Pointer
from ptokit.order.footprints import ByteRegion, ByteRegions, MemorySpace
from ptokit.order.waiting import FifoChannel, LaunchedFifo, Ticket
from ptokit.values.arrays import Array
from ptokit.values.dtypes import DType
from ptokit.values.scalars import Integer, least

PUSHED, POPPED, FREED = 0, LANES, 2 * LANES
HEADERS = 3 * LANES  # after the counters: rows and columns of the entry in each slot
PLAIN = "push without a conversion, and convert after the pop"
COUNTERS, SLOTS = "counters", "slots"  # names of the memories that the cores of a block share


def reason(fifo: Fifo, cell: int) -> str:
    """Return what a core waits for, given the counter that it waits for."""
    return f"{'a free slot' if cell >= fifo.cell + FREED else 'an entry'} of {fifo.name}"


def overfull(fifo: Fifo) -> PtoError:
    """Return the error for an entry with more bytes than a slot."""
    message = f"the entry is larger than a slot of {fifo.name}"
    help = "slot_size is the size of a whole entry, in bytes"
    return error("fifo-mismatch", message, seen=f"a slot has {fifo.slot_size} bytes", help=help)


def unallocated(fifo: Fifo) -> PtoError:
    """Return the error for a push into a slot that is in use."""
    message = f"{fifo.name}: a slot is pushed without an allocation"
    seen = f"all {fifo.slots} slots hold entries that the other end has not freed"
    return error("fifo-mismatch", message, seen=seen, help="allocate the slot before the push")


def given_back(fifo: Fifo) -> PtoError:
    """Return the error for a core that frees more entries than it popped."""
    message = f"{fifo.name}: a slot is freed that holds no entry of this core"
    help = "pop first, and free the slot of each entry once"
    seen = "this core has freed every entry that it popped"
    return error("fifo-mismatch", message, seen=seen, help=help)


class EngineFifoEnd(ABC):
    """The operations common to both engines, over numbers that may be symbolic."""

    def __init__(self, fifo: Fifo, core: Core) -> None:
        self.fifo = fifo
        self.to_vector, self.shares, self.epilogue = fifo.to_vector, fifo.shares, fifo.epilogue
        self.vector = core.kind is VECTOR
        self.lane, self.lanes = core.subblock_idx, core.lanes
        self.releases = core.target.releases
        self.number: Integer = 0  # of the entry that was waited for

    # primitives of an engine

    @abstractmethod
    def count(self, cell: Integer) -> Integer:
        """Return the number in a counter."""

    @abstractmethod
    def wait(self, cell: Integer, least: Integer) -> None:
        """Wait until the counter is at least `least`."""

    @abstractmethod
    def set(self, cell: Integer, value: Integer) -> None:
        """Store a new number in a counter when the instruction is complete."""

    @abstractmethod
    def slots(self) -> Any:  # Any: a Space or a Memory
        """Return the memory of the slots."""

    @abstractmethod
    def require(self, holds: Integer, problem: PtoError) -> None:
        """Raise `problem` unless `holds` is true."""

    @property
    @abstractmethod
    def opened(self) -> dict[str, Pointer]:
        """Return the global memory that holds slots of views, by FIFO name."""

    @abstractmethod
    def pointer(self, dtype: DType, memory: Any, offset: Integer) -> Pointer:
        """Return a pointer into a memory; `offset` counts elements."""

    # operations for bodies

    def scaled(self, value: Array, mode: EpilogueMode, *, relu: bool) -> Array:
        """Raise the error for a conversion with register parameters, which no engine keeps."""
        message = f"{self.fifo.name}: ptokit cannot execute the conversion {self.epilogue}"
        raise error("not-executed", message, help=PLAIN)

    def open(self, memory: Pointer | GlobalView | None) -> None:
        """Register the global memory that holds the slots of views, if there is one."""
        if memory is not None:
            place = memory if isinstance(memory, Pointer) else memory.pointer()
            self.opened[self.fifo.name] = place

    def claim(self, others: Iterable[int]) -> None:
        """Wait until the cores at the other end have freed the next slot."""
        self.number = self.count(self._cell(PUSHED))
        for other in others:
            self.wait(self._of(FREED, other), self.number + (1 - self.fifo.slots))

    def expect(self, others: Iterable[int]) -> tuple[Integer, Integer]:
        """Wait for the next entry and return its rows and columns."""
        self.number = self.count(self._cell(POPPED))
        for other in others:
            self.wait(self._of(PUSHED, other), self.number + 1)
        if self.fifo.extents is not None:
            return self.fifo.extents
        header = self._header()
        return self.count(header), self.count(header + 1)

    def common(self, tile: Integer, entry: Integer) -> Integer:
        """Return how many lines of a tile come from an entry, the smaller number."""
        return least(tile, entry)

    def slot(self, dtype: DType, rows: Integer, cols: Integer) -> GlobalView:
        """Return the current slot as a row-major matrix."""
        self.require(rows * cols * dtype.bits <= self.fifo.slot_size * 8, overfull(self.fifo))
        start = self.fifo.place + self._index() * self.fifo.stride
        kind = GlobalType(dtype, (rows, cols), (cols, 1), GlobalLayout.ND)
        return self.pointer(dtype, self.slots(), start * 8 // dtype.bits).view(kind)

    def view(self, kind: GlobalType, row: int, col: int) -> GlobalView:
        """Return a view of the current slot in global memory, starting at (row, col)."""
        base = self.opened[
            self.fifo.name
        ]  # a rule of the page guarantees that the slots have an address
        start = self.fifo.offset + self._index() * self.fifo.slot_size
        stride = kind.stride or _dense(kind)
        line = (
            kind.shape[-1] or stride[-2] or 0
        )  # parts by rows are contiguous, whatever the stride
        shift = row * line + col * (stride[-1] or 0)
        place = base.cast(kind.dtype).moved(start * 8 // kind.dtype.bits + shift)
        return place.view(GlobalType(kind.dtype, kind.shape, stride, kind.stated))

    def allocated(self, others: Iterable[int]) -> None:
        """Check that the next slot was waited for and is free."""
        number = self.count(self._cell(PUSHED))
        for other in others:
            free = self.count(self._of(FREED, other)) > number - self.fifo.slots
            self.require(free, unallocated(self.fifo))

    def pushed(self, rows: Integer, cols: Integer) -> None:
        """Signal that this core's part of the entry is complete."""
        cell = self._cell(PUSHED)
        self.number = self.count(cell)
        if self.fifo.extents is None:
            header = self._header()
            self.set(header, rows)
            self.set(header + 1, cols)
        self.set(cell, self.number + 1)

    def popped(self) -> None:
        self.set(self._cell(POPPED), self.number + 1)

    def freed(self) -> None:
        """Signal that the slot of the entry popped by this instruction is free."""
        cell = self._cell(FREED)
        self.set(cell, self.count(cell) + 1)

    def returned(self, *, perhaps: bool) -> None:
        """Signal that the slot of an earlier popped entry is free.

        `perhaps`: the pop may have freed the slot already; then change nothing.
        """
        cell = self._cell(FREED)
        freed, popped = self.count(cell), self.count(self._cell(POPPED))
        if not perhaps:
            self.require(freed < popped, given_back(self.fifo))
        self.set(cell, least(freed + 1, popped))

    def _cell(self, what: int) -> int:
        """Return the cell of the counter that this core writes."""
        return self._of(what, self.lane if self.vector else 0)

    def _of(self, what: int, lane: int) -> int:
        return self.fifo.cell + what + lane

    def _index(self) -> Integer:
        return self.number % self.fifo.slots

    def _header(self) -> Integer:
        return self.fifo.cell + HEADERS + 2 * self._index()


def _dense(kind: GlobalType) -> tuple[int, ...]:
    """Return the strides of a row-major array."""
    steps = [1]
    for extent in reversed(kind.shape[1:]):
        steps.insert(0, steps[0] * (extent or 1))
    return tuple(steps)


Regions = tuple[ByteRegion, ...]
SLOTS_OF = "the slots of "  # prefix of the names of slot memories


@dataclass
class PoppedTile:
    """A tile in a slot: the bytes of its handle, and the regions that stand for the slot.

    The pop writes `entry`, so that the users on other pipes wait for the pop.
    """

    fifo: LaunchedFifo
    pipe: Pipe
    bytes: Regions
    slots: Regions
    entry: ByteRegion
    released: bool = False

    def holds(self, region: ByteRegion) -> bool:
        """Return whether the region overlaps the tile."""
        return any(b.space == region.space and b.overlaps(region) for b in self.bytes)


def is_slot(space: MemorySpace) -> bool:
    """Return whether the memory holds FIFO slots."""
    return space.name.startswith(SLOTS_OF)


class FifoSlots:
    """The FIFO slots of a launch, as regions."""

    def __init__(self, regions: ByteRegions) -> None:
        self.regions = regions
        self.spaces: dict[tuple[LaunchedFifo, int, int], MemorySpace] = {}
        self.entries = count()

    def slot(self, ticket: Ticket, lane: int) -> ByteRegion:
        """Return the slot, or its part, that the sender of a ticket has written for a core.

        `lane`: the number of the popping core. Each core has its slots in a memory of its own.
        """
        channel = ticket.channel
        assert isinstance(channel, FifoChannel)
        fifo, key = channel.fifo, (channel.fifo, channel.lane, lane)
        made = MemorySpace(SLOTS_OF + fifo.name, None, len(self.spaces))
        space = self.spaces.setdefault(key, made)
        start = (ticket.number - 1) % fifo.slots * fifo.slot_size
        return self.regions.at(space, start, ((0, fifo.slot_size),))

    def entry(self, fifo: LaunchedFifo) -> ByteRegion:
        """Return a new region that a pop writes for its users on other pipes."""
        space = MemorySpace(f"an entry of {fifo.name}", None, next(self.entries))
        return self.regions.at(space, 0, ((0, fifo.slot_size),))


class PoppedTiles:
    """The tiles in slots of one core, number `lane` of its kind in the block."""

    def __init__(self, slots: FifoSlots, lane: int) -> None:
        self.slots, self.lane = slots, lane
        self.tiles: list[PoppedTile] = []

    def pop(self, pipe: Pipe, tile: Regions, tickets: Iterable[Ticket]) -> Regions:
        """Enter a tile in the slots that were waited for; return the region that the pop writes."""
        slots = tuple(self.slots.slot(ticket, self.lane) for ticket in tickets)
        (fifo, *_) = {t.channel.fifo for t in tickets if isinstance(t.channel, FifoChannel)}
        self.tiles = [one for one in self.tiles if not any(map(one.holds, tile))]
        self.tiles.append(PoppedTile(fifo, pipe, tile, slots, self.slots.entry(fifo)))
        return (self.tiles[-1].entry,)

    def release(self, fifo: LaunchedFifo) -> PoppedTile | None:
        """Free the slot that was popped first; return the tile in the slot."""
        first = next((one for one in self.tiles if one.fifo == fifo and not one.released), None)
        if first is not None:
            first.released = True
        return first

    def used(self, pipe: Pipe, reads: Regions, writes: Regions) -> tuple[Regions, Regions]:
        """Return the accesses with the slots of the accessed tiles added.

        Bytes that are written after their slot was freed belong to another tile.
        """
        gone = [t for t in self.tiles if t.released and any(map(t.holds, writes))]
        self.tiles = [tile for tile in self.tiles if tile not in gone]
        return (*reads, *self._slots(pipe, reads)), (*writes, *self._slots(None, writes))

    def _slots(self, pipe: Pipe | None, some: Regions) -> Iterator[ByteRegion]:
        for tile in self.tiles:
            if any(map(tile.holds, some)):
                yield from tile.slots
                if pipe is not None and pipe is not tile.pipe:
                    yield tile.entry
