"""Memory maps: the address and live range of each tile of a function, and the peak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptokit.analysis.facts import facts_of
from ptokit.analysis.liveness import LiveRanges, Storage
from ptokit.analysis.placement import by_memory, peak_live_set
from ptokit.analysis.tileallocator import merged
from ptokit.diagnostics.rich import Rich
from ptokit.ir.module import Func
from ptokit.isa.model.targets import Target


@dataclass(frozen=True)
class TileLiveRange:
    """One tile: its bytes, and the instructions in text order during which it is live.

    The range is `first` to `last`, or its `parts` if other tiles use the bytes in between. `start`
    is None if the address is not known statically. `line` is the line of the definition, if there
    is one. `explicit`: the program gives the address.
    """

    name: str
    start: int | None
    nbytes: int
    first: int
    last: int
    line: int | None
    explicit: bool
    parts: tuple[tuple[int, int], ...] = ()

    @property
    def end(self) -> int | None:
        """Return the first byte after the tile."""
        return None if self.start is None else self.start + self.nbytes


@dataclass(frozen=True)
class MemoryMap(Rich):
    """One memory of a function on a target, in bytes.

    `live` are the tiles at the peak, where instruction number `moment` defines or writes `peak_at`.
    They have `peak` bytes. `usable` is the part of the capacity that front ends leave. `lines` are
    those of the instructions, `line` that of the peak.
    """

    function: str
    target: str
    space: str
    capacity: int
    usable: int
    tiles: tuple[TileLiveRange, ...]
    peak_at: TileLiveRange
    live: tuple[TileLiveRange, ...]
    peak: int
    lines: tuple[int | None, ...]
    moment: int
    line: int | None

    @property
    def end(self) -> int:
        """Return the first byte after all tiles at known addresses."""
        return max((tile.end for tile in self.tiles if tile.end is not None), default=0)

    def to_json(self) -> dict[str, object]:
        """Return the map as JSON data."""
        return {
            **{name: getattr(self, name) for name in ("function", "target", "space", "capacity")},
            **{name: getattr(self, name) for name in ("usable", "peak", "end")},
            "peak_at": self.peak_at.name,
            "live": [tile.name for tile in self.live],
            "tiles": [vars(t) | {"parts": [*map(list, t.parts)]} for t in self.tiles],
        }


def memory_maps(func: Func, target: Target) -> Iterator[MemoryMap]:
    """Yield a map of each memory in which a function in DPS form has tiles."""
    facts = facts_of(func)
    ranges, (tiles, _) = facts.ranges, facts.on(target).placement.beside_slots
    lines = tuple(op.span.line if op.span else None for op in ranges.number)
    for space, there in by_memory(tiles.values()).items():
        known = {tile.value: _live_range(tile, ranges) for tile in there}
        found, capacity = peak_live_set(there), target.capacity[space]
        peak_at, at = known[found.defined.value], found.defined.fullest
        moment = peak_at.first if at is None else ranges.number[at]
        yield MemoryMap(
            func.name,
            target.name,
            space,
            capacity,
            min(target.usable.get(space, capacity), capacity),
            tuple(known.values()),
            peak_at,
            tuple(known[tile.value] for tile in found.live),
            found.nbytes,
            lines,
            moment,
            peak_at.line if at is None else lines[moment],
        )


def _live_range(tile: Storage, ranges: LiveRanges) -> TileLiveRange:
    made, span = ranges.definitions[tile.value], tile.value.span
    first = 0 if made is None else ranges.number[made]
    last = max(ranges.last.get(tile.value, first), first)
    if tile.ops is not None:
        parts = merged((n, n + 1) for n in (ranges.number[op] for op in tile.ops))
        parts = tuple((start, stop - 1) for start, stop in parts) or ((first, first),)
        first, last = parts[0][0], parts[-1][1]
    else:
        parts = ((first, last),)
    line = span.line if span else None
    address = (tile.value.name, tile.address, tile.kind.nbytes)
    return TileLiveRange(*address, first, last, line, tile.explicit, parts)
