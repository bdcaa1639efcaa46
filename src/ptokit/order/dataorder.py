"""The order of a program without flags: what an entry waits for because of the bytes it touches.

Dependences follow program order, which is not the order in which queues take their entries: work
may stand in a queue, behind a pop that waits, while other queues go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from ptokit.order.byteregions import ByteRegion, ByteRegions
from ptokit.order.entries import Await, FlagChannel, PipeQueue, PipeWork, Post, QueueEntry
from ptokit.order.poppedtiles import is_slot
from ptokit.order.timeline import NEVER, Event, TimedEntry, latest

Last: TypeAlias = "dict[PipeQueue, QueueEntry]"  # of each queue, which takes its entries in order


class _Accesses:
    """Who read or wrote each region last, by core: in program order, and of what was taken."""

    def __init__(self) -> None:
        self.issued: defaultdict[tuple[ByteRegion, int], Last] = defaultdict(dict)
        self.complete: dict[tuple[ByteRegion, int], Event] = {}

    def note(self, regions: Iterable[ByteRegion], timed: TimedEntry) -> None:
        """An entry that touches these regions has its times."""
        for region in regions:
            key = region, timed.queue.core
            event = timed.complete, timed
            self.complete[key] = latest([event, self.complete.get(key, NEVER)])


class DataOrder:
    """The earlier entries of its core that an entry waits for, and when these are complete.

    Work waits for work on the same bytes, one of both writing. The signal that gives a slot back
    waits for all who use the slot. Other signals between cores wait for work on bytes that several
    cores exchange, and such work waits for the signals that its core awaited before it.
    """

    def __init__(self, cores: Sequence[Sequence[QueueEntry]], regions: ByteRegions) -> None:
        works = [e for entries in cores for e in entries if isinstance(e, PipeWork)]
        for region in (region for work in works for region in work.writes):
            regions.write(region)
        self.exchanged = _exchanged(works)
        self.reads, self.writes = _Accesses(), _Accesses()
        self.exchanges: defaultdict[int, Last] = defaultdict(dict)
        self.awaited: defaultdict[int, Last] = defaultdict(dict)
        self.before: dict[QueueEntry, list[QueueEntry]] = {}
        self.timed: dict[QueueEntry, TimedEntry] = {}

    def missing(self, entry: QueueEntry) -> QueueEntry | None:
        """An entry that is taken before this one and has not been; asked in program order first."""
        if entry not in self.before:
            self.before[entry] = [*self._before(entry)]
        return next((one for one in self.before[entry] if one not in self.timed), None)

    def _before(self, entry: QueueEntry) -> Iterator[QueueEntry]:
        core, queue = entry.queue.core, entry.queue
        if isinstance(entry, PipeWork):
            for some, region in self._conflicting(entry):
                yield from some.issued.get((region, core), {}).values()
            for some, regions in ((self.reads, entry.reads), (self.writes, entry.writes)):
                for region in regions:
                    some.issued[region, core][queue] = entry
            if not self.exchanged.isdisjoint((*entry.reads, *entry.writes)):
                yield from self.awaited[core].values()
                self.exchanges[core][queue] = entry
        elif isinstance(entry, Post) and not isinstance(entry.ticket.channel, FlagChannel):
            yield from self.exchanges[core].values()
            for region in entry.slots:
                for some in (self.reads, self.writes):
                    yield from some.issued.get((region, core), {}).values()
        elif isinstance(entry, Await):
            self.awaited[core][queue] = entry

    def _conflicting(self, work: PipeWork) -> Iterator[tuple[_Accesses, ByteRegion]]:
        """The accesses to bytes of a work, one of both writing."""
        for region in work.reads:
            for other in (region, *region.near):
                yield self.writes, other
        for region in work.writes:
            for other in (region, *region.near):
                yield self.writes, other
                yield self.reads, other

    def events(self, entry: QueueEntry) -> Iterator[Event]:
        """When what the entry waits for is complete; all of it has been taken."""
        for one in self.before[entry]:
            timed = self.timed[one]
            yield timed.complete, timed
        if isinstance(entry, PipeWork):  # later work on these bytes waits for this one
            for some, region in self._conflicting(entry):
                yield some.complete.get((region, entry.queue.core), NEVER)

    def taken(self, timed: TimedEntry) -> None:
        """An entry has its times."""
        entry = timed.entry
        self.timed[entry] = timed
        if isinstance(entry, PipeWork):
            self.reads.note(entry.reads, timed)
            self.writes.note(entry.writes, timed)


def _exchanged(works: Sequence[PipeWork]) -> set[ByteRegion]:
    """The regions of memory of all cores, but for slots, that one core writes and others touch."""
    cores: defaultdict[ByteRegion, set[int]] = defaultdict(set)
    for work in works:
        for region in (*work.reads, *work.writes):
            if region.space.core is None and not is_slot(region.space):
                cores[region].add(work.queue.core)
    return {
        region
        for region, some in cores.items()
        if (region.written or region.near)
        and len(some.union(*(cores[other] for other in region.near if other in cores))) > 1
    }
