"""Live ranges that begin where a tile is first used, not where it is allocated.

Front ends allocate all tiles where a function begins. Until an op first touches a tile it holds
nothing, and others may have its bytes. But a read before the first write then finds another tile's
bytes and is not noticed, so placement asks this only where tiles do not fit otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ptokit.analysis.aliases import NONE, Names, repeats, union
from ptokit.analysis.liveness import Interference, Storage, used
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, ALLOCATES

Storages = frozenset[Value]


@dataclass
class Birth:
    """Where a tile begins to hold something, and the tiles that do so already and live on."""

    ops: set[AnyOp] = field(default_factory=set[AnyOp])
    beside: set[Value] = field(default_factory=set[Value])


class FirstUses(Interference):
    """The first uses of the tiles of a function, and which may not share bytes: `apart`.

    A tile that is carried into a region under another name is taken to hold something all the time.
    """

    def __init__(self, func: Func) -> None:
        self.alive: dict[AnyOp, Storages] = {}
        self.touched: dict[AnyOp, Storages] = {}
        super().__init__(func)
        regions = [region for op in func.body.walk() for region in op.regions]
        renamed = {arg for region in regions for arg in region.args}
        carried = NONE.union(*(names for handle, names in self.namings if handle in renamed))
        self.late = {v for v, op in self.definitions.items() if _empty(op)} - carried
        self.found = {value: Birth() for value in self.definitions}
        self.apart: dict[Value, set[Value]] = {value: set() for value in self.definitions}
        for arg in func.args:
            self._part(arg, frozenset(func.args))
        self._sweep(func.body, {*self.definitions} - self.late)

    def shorten(self, tiles: Iterable[Storage]) -> None:
        """Let the lives of tiles begin where they are first used."""
        for tile in tiles:
            tile.beside = tile.interferes & self.found[tile.value].beside
            tile.interferes = tile.interferes & self.apart[tile.value]

    def passed(self, op: AnyOp, names: Names) -> None:
        alive = union(names, (*self.live[op], *used(op)))
        self.alive[op] = self.alive.get(op, NONE) | alive
        if not (isinstance(op, Op) and (ALIASES in op.page.traits or _empty(op))):
            touched = union(names, (*used(op), *op.results))
            self.touched[op] = self.touched.get(op, NONE) | touched

    def _sweep(self, block: Block, holding: set[Value]) -> None:
        """In text order: `holding` are the tiles that may hold something by now."""
        for op in block.ops:
            made = {v for v in op.results if v in self.found}
            around = self.alive[op] & holding
            for value in made & self.late:
                holding.discard(value)
                self._part(value, around)
            for value in made - self.late:
                self._begin(value, op, around)
            self._start(op, {*self.touched.get(op, NONE), *self._again(op)}, holding)
            for region in op.regions:
                self._sweep(region, holding)

    def _again(self, op: AnyOp) -> Iterator[Value]:
        """What regions that may run again touch of the tiles that are made outside of them."""
        for region in op.regions:
            if repeats(op, region):
                inside = {value for each in region.walk() for value in each.results}
                for each in region.walk():
                    yield from self.touched.get(each, NONE) - inside

    def _start(self, op: AnyOp, touched: set[Value], holding: set[Value]) -> None:
        around = self.alive[op] & holding | touched
        for value in touched - holding:
            self._begin(value, op, around)
        holding |= touched

    def _begin(self, value: Value, op: AnyOp, around: Storages | set[Value]) -> None:
        self.found[value].ops.add(op)
        self.found[value].beside.update(around - {value})
        self._part(value, around)

    def _part(self, value: Value, around: Storages | set[Value]) -> None:
        for other in around - {value}:
            self.apart[value].add(other)
            self.apart[other].add(value)


def _empty(op: Op | None) -> bool:
    """Whether what an op brings holds nothing yet."""
    return op is not None and ALLOCATES in op.page.traits
