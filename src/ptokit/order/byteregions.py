"""Byte regions: the bytes of one memory that an instruction accesses, and their overlaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple, TypeAlias

from ptokit.records import dataclass

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"
SMALLEST_BUCKET = 512  # bytes: the index of a memory sorts regions into buckets of this, or larger


class MemorySpace(NamedTuple):
    """One memory: a memory of one core, or a global memory that all cores reach."""

    name: str
    core: int | None = None  # None: all cores reach it
    number: int = 0  # tells arrays of one name apart


@dataclass(eq=False, slots=True)
class ByteRegion:
    """`count` lines of `width` bytes, one every `pitch` bytes, or irregular byte `ranges`.

    `near` lists the overlapping regions. Two regions that are only read are not listed.
    """

    space: MemorySpace
    start: int
    stop: int
    width: int
    pitch: int
    ranges: Ranges
    written: bool = False
    near: list[ByteRegion] = field(default_factory=list["ByteRegion"])

    def overlaps(self, other: ByteRegion) -> bool:
        """Return whether the two regions share a byte."""
        if self.stop <= other.start or other.stop <= self.start:
            return False
        if self.pitch and self.pitch == other.pitch:
            ahead = (other.start - self.start) % self.pitch
            if self.width <= ahead and ahead + other.width <= self.pitch:
                return False  # columns beside one another
        return any(True for _ in _common(self.ranges, other.ranges))

    def common(self, other: ByteRegion) -> tuple[int, int]:
        """Return the first run of bytes that both regions contain, as (start, stop)."""
        return next(_common(self.ranges, other.ranges))


def _common(a: Ranges, b: Ranges) -> Iterator[tuple[int, int]]:
    """Yield the intersections of two ascending lists of disjoint ranges."""
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low < high:
            yield low, high
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1


class ByteRegions:
    """All regions that a run accesses, each once, with their overlapping neighbours."""

    def __init__(self) -> None:
        self._known: dict[tuple[MemorySpace, int, Ranges], ByteRegion] = {}
        self._buckets: dict[MemorySpace, tuple[int, dict[int, list[ByteRegion]]]] = {}

    def at(self, space: MemorySpace, address: int, ranges: Ranges) -> ByteRegion:
        """Return the region of `ranges`, which are counted from `address`."""
        key = space, address, ranges
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _placed(space, address, ranges)
            self._enter(found)
        return found

    def _enter(self, region: ByteRegion) -> None:
        size, buckets = self._buckets.setdefault(
            region.space, (max(SMALLEST_BUCKET, region.stop - region.start), {})
        )
        for number in range(region.start // size, (region.stop - 1) // size + 1):
            buckets.setdefault(number, []).append(region)
        for other in self._in_same_buckets(region):
            if other.written and other.overlaps(region):
                region.near.append(other)
                other.near.append(region)

    def _in_same_buckets(self, region: ByteRegion) -> Iterator[ByteRegion]:
        """Yield the other regions in the buckets of `region`, each once."""
        size, buckets = self._buckets[region.space]
        first = region.start // size
        for number in range(first, (region.stop - 1) // size + 1):
            for other in buckets[number]:
                if other is not region and number == max(first, other.start // size):
                    yield other

    def write(self, region: ByteRegion) -> None:
        """Mark the region as written and enter the regions that overlap it as neighbours."""
        if region.written:
            return
        region.written = True
        known = {id(other) for other in region.near}
        for other in self._in_same_buckets(region):
            if id(other) not in known and other.overlaps(region):
                region.near.append(other)
                other.near.append(region)


def _placed(space: MemorySpace, address: int, ranges: Ranges) -> ByteRegion:
    placed = tuple((address + a, address + b) for a, b in ranges)
    (start, end), stop, pitch = placed[0], placed[-1][1], 0
    width = end - start
    if len(placed) > 1:
        pitch = placed[1][0] - start
        even = all(
            (a, b) == (start + n * pitch, start + n * pitch + width)
            for n, (a, b) in enumerate(placed)
        )
        pitch = pitch if even else 0
    return ByteRegion(space, start, stop, width, pitch, placed)
