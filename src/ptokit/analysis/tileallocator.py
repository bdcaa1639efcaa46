"""Addresses for the tiles of one memory: disjoint while all fit, else on bytes that are free again.

Tiles that share bytes order the pipes that use them, since the second pipe waits for the first. So
nothing is shared while there is room. Otherwise strategies are tried in turn until one stays within
the part of the memory that front ends leave: first the strategy with the fewest waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from ptokit.analysis.aliases import NONE, PointsTo
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import Storage
from ptokit.ir.module import Op, Value
from ptokit.isa.model.words import Pipe

Places: TypeAlias = dict[Value, int]  # the address of each tile
PipesOfUse: TypeAlias = "Mapping[Value, tuple[Pipe | None, Pipe | None]]"
Extent: TypeAlias = tuple[int, int]  # the first byte, and the first byte after

FREE, TAKEN, USED = 0, 1, 2  # states of a line; pipe numbers start at `USED`
LAST_BY: dict[Pipe | None, int] = {pipe: n for n, pipe in enumerate((None, *Pipe), USED)}

ANY_PIPE = frozenset(LAST_BY.values())


def pipes_of_use(points_to: PointsTo, facts: Facts) -> PipesOfUse:
    """Return the pipes of the first and last instruction that use each storage."""
    storage = {value: frozenset((value,)) for value in points_to.definitions}
    for handle, named in points_to.namings:
        storage[handle] = storage.get(handle, NONE) | named
    found: dict[Value, tuple[Pipe | None, Pipe | None]] = {}
    for op in points_to.func.ops:
        if isinstance(op, Op) and op.page.executes and not op.regions:
            used = NONE.union(*(storage.get(v, NONE) for _, v in op.values()))
            pipe = _pipe(op, facts) if used else None
            found |= {value: (found.get(value, (pipe,))[0], pipe) for value in used}
    return found


def _pipe(op: Op, facts: Facts) -> Pipe | None:
    """Return the pipe of an instruction; operands matter only if the pipe depends on them."""
    page = op.page
    return page.pipe if isinstance(page.pipe, Pipe) else page.pipe_of(facts.environment(op))


@cache
def _busy(harmless: frozenset[int]) -> bytes:
    """Return a table for `bytes.translate` with 0 for free lines and for harmless last uses."""
    return bytes(number != FREE and number not in harmless for number in range(256))


def merged(extents: Iterable[Extent]) -> list[Extent]:
    """Return the same bytes as ascending extents, with adjacent ones joined."""
    joined: list[Extent] = []
    for start, end in sorted(extents):
        if joined and start <= joined[-1][1]:
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return joined


def in_gaps(sizes: Iterable[int], used: list[Extent], alignment: int) -> Iterator[int]:
    """Yield the addresses of pieces of these sizes, one after another in the free gaps."""
    at, left = 0, used[::-1]
    for size in sizes:
        while left and left[-1][0] < at + size:
            at = max(at, -(-left.pop()[1] // alignment) * alignment)
        yield at
        at += -(-size // alignment) * alignment


class TileAllocator:
    """An allocator of addresses for the tiles (in text order) of one memory.

    `used` are bytes that are not free. Tiles should end within `limit`. `touched` returns the pipes
    of use, if they matter.
    """

    def __init__(
        self,
        tiles: list[Storage],
        used: list[Extent],
        limit: int,
        alignment: int,
        touched: Callable[[], PipesOfUse],
    ) -> None:
        self.tiles, self.used, self.limit, self.alignment = tiles, used, limit, alignment
        self.touched = touched
        self.sizes = {t.value: self._lines(t.kind.nbytes) * alignment for t in tiles}

    def best(self) -> Places:
        """Return the first strategy's result that ends within the limit, else the shortest."""
        for way in (self.one_by_one, self.by_pipe, self.in_text_order, self.largest_first):
            places = way()
            if places is not None and self.end(places) <= self.limit:
                return places
        return self.shortest()

    def shortest(self) -> Places:
        """Return the most compact result, without regard to pipes."""
        return min(self.in_text_order(), self.largest_first(), key=self.end)

    def end(self, places: Places) -> int:
        """Return the first byte after all tiles."""
        return max((places[t.value] + t.kind.nbytes for t in self.tiles), default=0)

    def one_by_one(self) -> Places:
        """Place each tile after the one before; nothing is shared."""
        sizes = [self.sizes[tile.value] for tile in self.tiles]
        found = in_gaps(sizes, self.used, self.alignment)
        return {tile.value: at for tile, at in zip(self.tiles, found, strict=True)}

    def by_pipe(self) -> Places | None:
        """Place first-fit after tiles whose last pipe is the first pipe of the new tile.

        If there is no such place within the limit, use any place; None if there is none. The memory
        is a string of lines with the number of the pipe that used each last, so that runs of free
        lines are found fast.
        """
        touched, places = self.touched(), Places()
        lines = bytearray(self.limit // self.alignment)
        for start, end in self.used:
            self._mark(lines, start, end, TAKEN)
        for tile in self.tiles:
            first, last = touched.get(tile.value, (None, None))
            at = self._free(lines, tile, places, frozenset((LAST_BY[first],)))
            if at is None:
                at = self._free(lines, tile, places, ANY_PIPE)
            if at is None:
                return None
            places[tile.value] = at
            self._mark(lines, at, at + self.sizes[tile.value], LAST_BY[last])
        return places

    def _free(
        self, lines: bytearray, tile: Storage, places: Places, harmless: frozenset[int]
    ) -> int | None:
        """Return the first place of a tile on lines that are free or have a harmless last use."""
        size = self.sizes[tile.value]
        if size > self.limit:
            return None
        busy = lines.translate(_busy(harmless))
        for other in tile.interferes & places.keys():
            self._mark(busy, places[other], places[other] + self.sizes[other], TAKEN)
        at = busy.find(bytes(size // self.alignment))
        return None if at < 0 else at * self.alignment

    def in_text_order(self) -> Places:
        """Place first-fit in text order, without regard to pipes."""
        return self._first_fit(self.tiles)

    def largest_first(self) -> Places:
        """Place first-fit, large tiles before small ones."""
        return self._first_fit(sorted(self.tiles, key=lambda tile: -tile.kind.nbytes))

    def _first_fit(self, order: Iterable[Storage]) -> Places:
        places = Places()
        for tile in order:
            near = tile.interferes & places.keys()
            over = self._over(tile, near, places)
            if over is not None:
                places[tile.value] = over
                continue
            busy = sorted((*self.used, *((places[o], places[o] + self.sizes[o]) for o in near)))
            at, size = 0, self.sizes[tile.value]
            for start, end in busy:
                if at + size <= start:
                    break
                at = max(at, self._lines(end) * self.alignment)
            places[tile.value] = at
        return places

    def _over(self, tile: Storage, near: set[Value], places: Places) -> int | None:
        """Return the first address at which the tile may be written over another tile."""
        size = self.sizes[tile.value]

        def free(at: int, other: Value) -> bool:
            here = at == places[other] and other in tile.coincides
            return here or at + size <= places[other] or places[other] + self.sizes[other] <= at

        starts = sorted({places[other] for other in tile.coincides & near})
        return next((at for at in starts if all(free(at, other) for other in near)), None)

    def _mark(self, lines: bytearray, start: int, end: int, number: int) -> None:
        """Set the number of the lines of some bytes, within the memory."""
        first = max(start // self.alignment, 0)
        count = min(self._lines(end), len(lines)) - first
        if count > 0:
            lines[first : first + count] = bytes((number,)) * count

    def _lines(self, nbytes: int) -> int:
        return -(-nbytes // self.alignment)
