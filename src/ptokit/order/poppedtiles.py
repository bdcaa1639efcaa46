"""Tiles that lie in the slots of a FIFO: where a pop moves nothing (A5).

A push writes the slot, a pop waits in the queue of the pipe that uses the tile, and whatever uses
the tile reads the slot: until it is given back, and afterwards by mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from ptokit.isa.model.words import Pipe
from ptokit.order.byteregions import ByteRegion, ByteRegions, MemorySpace
from ptokit.order.entries import Ticket
from ptokit.order.fifoend import FifoChannel, LaunchedFifo

Regions = tuple[ByteRegion, ...]
SLOTS_OF = "the slots of "  # and the name of a FIFO: what a memory is called


@dataclass
class PoppedTile:
    """A tile in a slot: its bytes as the run has them, and what stands for the slot.

    `entry` is written by the pop, so that other pipes than its own wait for that.
    """

    fifo: LaunchedFifo
    pipe: Pipe
    bytes: Regions
    slots: Regions
    entry: ByteRegion
    released: bool = False

    def holds(self, region: ByteRegion) -> bool:
        """Whether the region is of the tile."""
        return any(b.space == region.space and b.overlaps(region) for b in self.bytes)


def is_slot(space: MemorySpace) -> bool:
    """Whether a memory is that of slots."""
    return space.name.startswith(SLOTS_OF)


class FifoSlots:
    """The slots of the FIFOs of a launch, as regions."""

    def __init__(self, regions: ByteRegions) -> None:
        self.regions = regions
        self.spaces: dict[tuple[LaunchedFifo, int, int], MemorySpace] = {}
        self.entries = count()

    def slot(self, ticket: Ticket, lane: int) -> ByteRegion:
        """The slot, or the part of it, that the sender of a ticket has written for a core.

        `lane`: which of the cores that pop. Each has slots in a memory of its own.
        """
        channel = ticket.channel
        assert isinstance(channel, FifoChannel)
        fifo, key = channel.fifo, (channel.fifo, channel.lane, lane)
        made = MemorySpace(SLOTS_OF + fifo.name, None, len(self.spaces))
        space = self.spaces.setdefault(key, made)
        start = (ticket.number - 1) % fifo.slots * fifo.slot_size
        return self.regions.at(space, start, ((0, fifo.slot_size),))

    def entry(self, fifo: LaunchedFifo) -> ByteRegion:
        """What a pop hands to other pipes: of each pop another one."""
        space = MemorySpace(f"an entry of {fifo.name}", None, next(self.entries))
        return self.regions.at(space, 0, ((0, fifo.slot_size),))


class PoppedTiles:
    """The tiles of one core, number `lane` of its kind in the block, that lie in slots."""

    def __init__(self, slots: FifoSlots, lane: int) -> None:
        self.slots, self.lane = slots, lane
        self.tiles: list[PoppedTile] = []

    def pop(self, pipe: Pipe, tile: Regions, tickets: Iterable[Ticket]) -> Regions:
        """A tile comes to lie in the slots that were waited for; what the pop does to memory."""
        slots = tuple(self.slots.slot(ticket, self.lane) for ticket in tickets)
        (fifo, *_) = {t.channel.fifo for t in tickets if isinstance(t.channel, FifoChannel)}
        self.tiles = [one for one in self.tiles if not any(map(one.holds, tile))]
        self.tiles.append(PoppedTile(fifo, pipe, tile, slots, self.slots.entry(fifo)))
        return (self.tiles[-1].entry,)

    def release(self, fifo: LaunchedFifo) -> PoppedTile | None:
        """Give the slot that was popped first back: the tile in it."""
        first = next((one for one in self.tiles if one.fifo == fifo and not one.released), None)
        if first is not None:
            first.released = True
        return first

    def used(self, pipe: Pipe, reads: Regions, writes: Regions) -> tuple[Regions, Regions]:
        """The same with the slots of the tiles that these regions are of.

        Bytes that are written anew after the slot was given back are of another tile.
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
