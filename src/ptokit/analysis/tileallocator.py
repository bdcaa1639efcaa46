"""Where the tiles of one memory go: apart as long as all fit, else on bytes that are free again.

Bytes that two tiles share order the pipes that use them: the second waits for the first. So nothing
is shared while there is room. Then the ways of sharing are tried one after another, until one ends
within what front ends leave of the memory: first the one that makes the fewest pipes wait.
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

Places: TypeAlias = dict[Value, int]  # the first byte of each tile
PipesOfUse: TypeAlias = "Mapping[Value, tuple[Pipe | None, Pipe | None]]"
Extent: TypeAlias = tuple[int, int]  # of bytes: the first, and the first after them

FREE, TAKEN, USED = 0, 1, 2  # lines of a memory; of pipes from `USED` on
LAST_BY: dict[Pipe | None, int] = {pipe: n for n, pipe in enumerate((None, *Pipe), USED)}

ANY_PIPE = frozenset(LAST_BY.values())


def pipes_of_use(points_to: PointsTo, facts: Facts) -> PipesOfUse:
    """The pipes of the first and the last instruction, in text order, that uses each storage."""
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
    """The pipe of an instruction; where it is one for all operands, they are not looked at."""
    page = op.page
    return page.pipe if isinstance(page.pipe, Pipe) else page.pipe_of(facts.environment(op))


@cache
def _busy(harmless: frozenset[int]) -> bytes:
    """For `bytes.translate`: 0 for lines that are free, or whose last use is harmless."""
    return bytes(number != FREE and number not in harmless for number in range(256))


def merged(extents: Iterable[Extent]) -> list[Extent]:
    """The same bytes as ascending extents, neighbours joined."""
    joined: list[Extent] = []
    for start, end in sorted(extents):
        if joined and start <= joined[-1][1]:
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return joined


def in_gaps(sizes: Iterable[int], used: list[Extent], alignment: int) -> Iterator[int]:
    """The first bytes of pieces of these sizes, one after another in what extents leave free."""
    at, left = 0, used[::-1]
    for size in sizes:
        while left and left[-1][0] < at + size:
            at = max(at, -(-left.pop()[1] // alignment) * alignment)
        yield at
        at += -(-size // alignment) * alignment


class TileAllocator:
    """Finds a place for each of the tiles (in text order) of one memory, beside bytes in use.

    Tiles should end within `limit`; `touched` tells the pipes, if they matter.
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
        """The first way that ends within the limit, else the shortest."""
        for way in (self.one_by_one, self.by_pipe, self.in_text_order, self.largest_first):
            places = way()
            if places is not None and self.end(places) <= self.limit:
                return places
        return self.shortest()

    def shortest(self) -> Places:
        """The most compact way, whatever pipes wait."""
        return min(self.in_text_order(), self.largest_first(), key=self.end)

    def end(self, places: Places) -> int:
        """The first byte after all of them."""
        return max((places[t.value] + t.kind.nbytes for t in self.tiles), default=0)

    def one_by_one(self) -> Places:
        """Each tile behind the one before: nothing is shared."""
        sizes = [self.sizes[tile.value] for tile in self.tiles]
        found = in_gaps(sizes, self.used, self.alignment)
        return {tile.value: at for tile, at in zip(self.tiles, found, strict=True)}

    def by_pipe(self) -> Places | None:
        """First fit, where a tile may: after tiles that its own first pipe was the last to use.

        Where there is no such place within the limit, after any; None if there is none either. The
        memory is a string of lines, each with the number of the pipe that used it last: lines in a
        row that are free are found fast.
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
        """The first place of a tile on lines that are free, or whose last use is harmless."""
        size = self.sizes[tile.value]
        if size > self.limit:
            return None
        busy = lines.translate(_busy(harmless))
        for other in tile.interferes & places.keys():
            self._mark(busy, places[other], places[other] + self.sizes[other], TAKEN)
        at = busy.find(bytes(size // self.alignment))
        return None if at < 0 else at * self.alignment

    def in_text_order(self) -> Places:
        """First fit: a tile may follow any other."""
        return self._first_fit(self.tiles)

    def largest_first(self) -> Places:
        """First fit, large tiles before small ones."""
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
        """The first address of a tile that it may be written over, beside all others."""
        size = self.sizes[tile.value]

        def free(at: int, other: Value) -> bool:
            here = at == places[other] and other in tile.coincides
            return here or at + size <= places[other] or places[other] + self.sizes[other] <= at

        starts = sorted({places[other] for other in tile.coincides & near})
        return next((at for at in starts if all(free(at, other) for other in near)), None)

    def _mark(self, lines: bytearray, start: int, end: int, number: int) -> None:
        """Give a number to the lines of some bytes, as far as there are such lines."""
        first = max(start // self.alignment, 0)
        count = min(self._lines(end), len(lines)) - first
        if count > 0:
            lines[first : first + count] = bytes((number,)) * count

    def _lines(self, nbytes: int) -> int:
        return -(-nbytes // self.alignment)
