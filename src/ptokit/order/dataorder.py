"""Data dependences: the order of entries in a program without flags, from the bytes they access.

Dependences follow program order. Queues take their entries in another order: an instruction may
stand in its queue behind a waiting pop while other queues go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from ptokit.order.byteregions import ByteRegion, ByteRegions
from ptokit.order.entries import Await, FlagChannel, PipeQueue, PipeWork, Post, QueueEntry
from ptokit.order.poppedtiles import is_slot
from ptokit.order.timeline import NEVER, Event, TimedEntry, latest

Last: TypeAlias = "dict[PipeQueue, QueueEntry]"  # the newest entry of each queue


class _Accesses:
    """The last accesses to each region by core, of issued entries and of entries with times."""

    def __init__(self) -> None:
        self.issued: defaultdict[tuple[ByteRegion, int], Last] = defaultdict(dict)
        self.complete: dict[tuple[ByteRegion, int], Event] = {}

    def note(self, regions: Iterable[ByteRegion], timed: TimedEntry) -> None:
        """Record when the latest access to each region by this entry's core is complete."""
        for region in regions:
            key = region, timed.queue.core
            event = timed.complete, timed
            self.complete[key] = latest([event, self.complete.get(key, NEVER)])


class DataOrder:
    """The dependences of each entry on earlier entries of its core, with their end times.

    An instruction waits for earlier accesses to the same bytes if one of the two writes. The signal
    that frees a FIFO slot waits for all users of the slot. Other signals between cores wait for
    accesses to bytes that several cores exchange; accesses to such bytes wait for the signals that
    their core awaited earlier.
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
        """Return a dependence of `entry` that has no times yet; call first in program order."""
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
        """Yield the tables and regions whose earlier accesses conflict with `work`."""
        for region in work.reads:
            for other in (region, *region.near):
                yield self.writes, other
        for region in work.writes:
            for other in (region, *region.near):
                yield self.writes, other
                yield self.reads, other

    def events(self, entry: QueueEntry) -> Iterator[Event]:
        """Yield the completion of each dependence of `entry`; all of them have times."""
        for one in self.before[entry]:
            timed = self.timed[one]
            yield timed.complete, timed
        if isinstance(entry, PipeWork):  # later work on these bytes waits for this one
            for some, region in self._conflicting(entry):
                yield some.complete.get((region, entry.queue.core), NEVER)

    def taken(self, timed: TimedEntry) -> None:
        """Enter an entry that has its times."""
        entry = timed.entry
        self.timed[entry] = timed
        if isinstance(entry, PipeWork):
            self.reads.note(entry.reads, timed)
            self.writes.note(entry.writes, timed)


def _exchanged(works: Sequence[PipeWork]) -> set[ByteRegion]:
    """Return the global regions, except slots, that one core writes and another accesses."""
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
