"""What must be complete before what starts in a launch, from its entries in program order alone.

Nothing here is the scheduler's: bytes are compared as sets, and signals are followed as each core
sends and awaits them in the order of its text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ptokit.ir.module import Op, Value
from ptokit.isa.lang.traits import FifoRole
from ptokit.order.fifoend import PUSHED
from ptokit.order.footprints import ByteRegion, MemorySpace
from ptokit.order.waiting import Await, Drain, FifoChannel, PipeWork, Post, QueueEntry, Ticket

Cores = Sequence[Sequence[QueueEntry]]
Pair = tuple[QueueEntry, QueueEntry]  # the first is complete before the second starts
ENDS = 3  # so many cores are looked at from either end
Bytes = dict[MemorySpace, int]  # of each memory a number with a bit for each byte


def bits(regions: Sequence[ByteRegion]) -> Bytes:
    """The bytes of some regions."""
    found: Bytes = defaultdict(int)
    for region in regions:
        for low, high in region.ranges:
            found[region.space] |= ((1 << (high - low)) - 1) << low
    return found


def common(one: Bytes, two: Bytes) -> bool:
    return any(two.get(space, 0) & some for space, some in one.items())


@dataclass
class Dependences:
    """The dependences of one launch: of its first and last cores, `most` works of each."""

    cores: Cores
    most: int = 120

    def __post_init__(self) -> None:
        self.bytes = {w: (bits(w.reads), bits(w.writes)) for w in chain(*self.works)}

    @cached_property
    def works(self) -> list[list[PipeWork]]:
        """The first works of each core that is looked at, in program order."""
        looked = {*range(len(self.cores))[:ENDS], *range(len(self.cores))[-ENDS:]}
        return [
            [e for e in core if isinstance(e, PipeWork)][: self.most if number in looked else 0]
            for number, core in enumerate(self.cores)
        ]

    def conflict(self, one: PipeWork, two: PipeWork) -> bool:
        """Whether both touch a byte that one of them writes."""
        (read, wrote), (reads, writes) = self.bytes[one], self.bytes[two]
        return common(wrote, reads) or common(wrote, writes) or common(read, writes)

    def in_cores(self) -> Iterator[Pair]:
        """The works of each core that touch the same bytes."""
        for works in self.works:
            for place, later in enumerate(works):
                yield from ((one, later) for one in works[:place] if self.conflict(one, later))

    def across(self) -> Iterator[Pair]:
        """Works of two cores on the same bytes, the second after a signal that the first sent."""
        seen, place = self.seen(), self.place
        shared = [[w for w in works if self.shares(w)] for works in self.works]
        for core, works in enumerate(shared):
            for later in works:
                for other, number in enumerate(seen.get(later, ())):
                    if other != core and number:
                        before = (one for one in shared[other] if place[one] < number)
                        yield from ((one, later) for one in before if self.conflict(one, later))

    def shares(self, work: PipeWork) -> bool:
        return any(space.core is None for some in self.bytes[work] for space in some)

    @cached_property
    def place(self) -> dict[QueueEntry, int]:
        """The place of each entry in its core."""
        return {entry: n for core in self.cores for n, entry in enumerate(core)}

    def seen(self) -> dict[QueueEntry, list[int]]:
        """How many entries of each core come before a work, by signals.

        Each core executes one entry after the other here.
        """
        found: dict[QueueEntry, list[int]] = {}
        posted: dict[Ticket, list[int]] = {}
        clocks = [[0] * len(self.cores) for _ in self.cores]
        next_of, moved = [0] * len(self.cores), True
        while moved:
            moved = False
            for core, entries in enumerate(self.cores):
                while next_of[core] < len(entries):
                    entry = entries[next_of[core]]
                    if isinstance(entry, Await):
                        if not posted.keys() >= {*entry.tickets}:
                            break
                        for ticket in entry.tickets:
                            clocks[core] = [*map(max, clocks[core], posted[ticket])]
                    next_of[core] += 1
                    clocks[core][core] = next_of[core]
                    if isinstance(entry, Post):
                        posted[entry.ticket] = clocks[core].copy()
                    found[entry] = clocks[core].copy()
                    moved = True
        return found

    def of_flags(self) -> Iterator[Pair]:
        """Each signal with those who await it, and what its queue does before and after."""
        posts = {e.ticket: e for e in chain(*self.cores) if isinstance(e, Post)}
        for entries in self.cores:
            for entry in entries:
                if isinstance(entry, Await):
                    yield from ((posts[ticket], entry) for ticket in entry.tickets)

    def of_queues(self) -> Iterator[Pair]:
        """What a signal or a barrier of a queue has before it, and a barrier of all."""
        for entries in self.cores:
            for place, entry in enumerate(entries):
                if isinstance(entry, Post | Drain):
                    every = isinstance(entry, Drain) and entry.every
                    for one in entries[max(0, place - self.most) : place]:
                        if isinstance(one, PipeWork) and (every or one.queue == entry.queue):
                            yield one, entry

    def of_pops(self) -> Iterator[Pair]:
        """The push of an entry, and those who use the tile that it was popped into."""
        posts = {e.ticket: e for e in chain(*self.cores) if isinstance(e, Post)}
        for entries in self.cores:
            popped: dict[Value, list[Post]] = {}
            for entry in entries:
                op = entry.op
                if not isinstance(op, Op):
                    continue
                if op.page.fifo_role is FifoRole.POPS:
                    if isinstance(entry, Await):
                        pushes = [posts[t] for t in entry.tickets if _of_push(t)]
                        tiles = [*op.results, *(value for _, value in op.values())]
                        popped |= dict.fromkeys(tiles, pushes)
                elif isinstance(entry, PipeWork) and op.page.fifo_role is None:
                    for _, value in op.values():
                        yield from ((push, entry) for push in popped.get(value, ()))


def _of_push(ticket: Ticket) -> bool:
    return isinstance(ticket.channel, FifoChannel) and ticket.channel.what == PUSHED
