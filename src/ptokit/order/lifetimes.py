"""Lifetimes: from when to when the bytes of a core's memories hold what is still read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptokit.order.byteregions import ByteRegion, ByteRegions
from ptokit.order.timeline import Bar, Timeline


@dataclass(slots=True, eq=False)
class Lifetime:
    """What an instruction wrote into a region, until the last one that reads it is complete.

    Times in cycles. What nobody reads ends with the instruction that wrote it; instructions that
    change it in place prolong it.
    """

    region: ByteRegion
    writer: Bar
    end: int

    @property
    def start(self) -> int:
        return self.writer.start


def lifetimes(timeline: Timeline, regions: ByteRegions) -> list[Lifetime]:
    """Of all memories but global memory, by the time of the write."""
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
    """Whether nothing of the other is left once the region is written."""
    one = len(region.ranges) == 1
    return other is region or (one and region.start <= other.start and other.stop <= region.stop)
