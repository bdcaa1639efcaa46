"""Tiles that lie in FIFO slots, on targets whose pop copies nothing (A5).

A push writes the slot. A pop waits in the queue of the pipe that uses the tile. Each user of the
tile reads the slot, until the slot is freed, and by mistake afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from ptokit.isa.model.words import Pipe
from ptokit.order.byteregions import ByteRegion, ByteRegions, MemorySpace
from ptokit.order.entries import Ticket
from ptokit.order.fifoend import FifoChannel, LaunchedFifo
from ptokit.records import dataclass

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
