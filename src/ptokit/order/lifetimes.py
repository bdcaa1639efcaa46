"""Lifetimes: the times from the write of a core's bytes to their last read."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.order.byteregions import ByteRegion, ByteRegions
from ptokit.order.timeline import Bar, Timeline
from ptokit.records import dataclass


@dataclass(slots=True, eq=False)
class Lifetime:
    """A value in a region, from the instruction that writes it to the end of its last reader.

    Times are in cycles. A value without a reader ends with its writer; an instruction that updates
    the region in place extends the lifetime.
    """

    region: ByteRegion
    writer: Bar
    end: int

    @property
    def start(self) -> int:
        return self.writer.start


def lifetimes(timeline: Timeline, regions: ByteRegions) -> list[Lifetime]:
    """Return the lifetimes in all memories of cores, in order of the writes."""
    for region in (region for bar in timeline.bars for region in bar.entry.writes):
        regions.write(region)
    found: list[Lifetime] = []
    live: dict[ByteRegion, Lifetime] = {}
    for bar in sorted(timeline.bars, key=lambda bar: bar.start):
        for region in _of_core(bar.entry.reads):
            for other in (region, *region.near):
                if other in live:
                    live[other].end = max(live[other].end, bar.complete)
        for region in _of_core(bar.entry.writes):
            if region in bar.entry.reads and region in live:
                continue  # it is written in place
            for other in (region, *region.near):
                if _covers(region, other):
                    live.pop(other, None)
            live[region] = Lifetime(region, bar, bar.complete)
            found.append(live[region])
    return found


def _of_core(regions: tuple[ByteRegion, ...]) -> Iterator[ByteRegion]:
    return (region for region in regions if region.space.core is not None)


def _covers(region: ByteRegion, other: ByteRegion) -> bool:
    """Return whether writing `region` overwrites all of `other`."""
    one = len(region.ranges) == 1
    return other is region or (one and region.start <= other.start and other.stop <= region.stop)
