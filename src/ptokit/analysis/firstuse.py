"""Live ranges that begin where a tile is first used, not where it is allocated.

Front ends allocate all tiles where a function begins. Until an op first touches a tile it holds
nothing, and others may have its bytes. But a read before the first write then finds another tile's
bytes and is not noticed, so placement asks this only where tiles do not fit otherwise. Where they
still do not fit, it asks what tiles hold, too (see `contentliveness`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ptokit.analysis.aliases import NONE, Names, redefined, repeats, union
from ptokit.analysis.liveness import Interference, Liveness, Storage, used
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, ALLOCATES

Storages = frozenset[Value]


@dataclass
class Touched:
    """The ops that write a tile, each with the tiles that live there; and all that ever do."""

    at: list[tuple[AnyOp, Storages]] = field(default_factory=list[tuple[AnyOp, Storages]])
    apart: set[Value] = field(default_factory=set[Value])


class FirstUses(Interference):
    """The ops that write the tiles of a function, and which tiles live there: `found`.

    A tile that is carried into a region under another name is taken to hold something all the time.
    """

    def __init__(self, func: Func, live: Liveness) -> None:
        self.alive: dict[AnyOp, Storages] = {}
        self.touched: dict[AnyOp, Storages] = {}
        self.changed: dict[AnyOp, Storages] = {}
        super().__init__(func, live)
        regions = [region for op in func.ops for region in op.regions]
        renamed = {arg for region in regions for arg in region.args}
        carried = NONE.union(*(names for handle, names in self.namings if handle in renamed))
        self.late = {v for v, op in self.definitions.items() if _empty(op)} - carried
        self.found = {value: Touched() for value in self.definitions}
        self.present: dict[AnyOp, Storages] = {}  # the tiles that live at an op

    def swept(self) -> FirstUses:
        """With what is found in a walk over the function."""
        for arg in self.func.args:
            self._part(arg, frozenset(self.func.args))
        self._sweep(self.func.body, {*self.definitions} - self.late)
        return self

    def shorten(self, tiles: Iterable[Storage]) -> None:
        """Let the lives of tiles begin where they are first used."""
        sizes = {tile.value: tile.kind.nbytes for tile in tiles}
        for tile in tiles:
            touched = self.found[tile.value]
            tile.interferes = tile.interferes & touched.apart
            sets = [(op, tile.interferes & there) for op, there in touched.at]
            none: tuple[AnyOp | None, set[Value]] = (None, set())
            tile.fullest, tile.beside = max(
                sets, key=lambda each: sum(sizes.get(v, 0) for v in each[1]), default=none
            )
            tile.ops = frozenset(op for op, there in self.present.items() if tile.value in there)

    def living(self, op: AnyOp) -> Storages:
        """The tiles whose content may be needed at an op or behind it, if they hold any."""
        return self.alive[op]

    def replaced(self, op: AnyOp, value: Value) -> Storages:
        """The tiles that share the bytes of one where an op writes the one over the other."""
        return NONE

    def passed(self, op: AnyOp, names: Names) -> None:
        alive = union(names, (*self.live[op], *used(op)))
        self.alive[op] = self.alive.get(op, NONE) | alive
        if not (isinstance(op, Op) and (ALIASES in op.page.traits or _empty(op))):
            touched = union(names, (*used(op), *op.results))
            self.touched[op] = self.touched.get(op, NONE) | touched
            changed = union(names, (*redefined(op), *_outputs(op)))
            self.changed[op] = self.changed.get(op, NONE) | changed

    def _sweep(self, block: Block, holding: set[Value]) -> None:
        """Visit ops in text order; `holding` are the tiles that may hold something by now."""
        for op in block.ops:
            made = {v for v in op.results if v in self.found}
            holding -= made & self.late
            touched = self.touched.get(op, NONE)
            around = self.living(op) & holding | touched
            for value in touched | made:  # the bytes of a new tile are known to hold nothing
                self._part(value, around - self.replaced(op, value))
            for value in self.changed.get(op, NONE) or touched:
                self.found[value].at.append((op, around - {value}))
            self.present[op] = around | self._inside(op, holding)
            holding |= touched

    def _inside(self, op: AnyOp, holding: set[Value]) -> Storages:
        """Sweep over its regions; the tiles that hold something before them and live there."""
        before, begins = frozenset(holding), NONE
        for region in op.regions:
            holding |= self._touched_when_repeated(op, region)
            self._sweep(region, holding)
            begins = begins.union(*(self.present[first] for first in region.ops[:1]))
        return before & begins

    def _touched_when_repeated(self, op: AnyOp, region: Block) -> set[Value]:
        """What a region touches that may run again: its beginning finds it."""
        inside = region.walk() if repeats(op, region) else ()
        return {value for each in inside for value in self.touched.get(each, NONE)}

    def _part(self, value: Value, around: Storages) -> None:
        for other in around - {value}:
            self.found[value].apart.add(other)
            self.found[other].apart.add(value)


def _outputs(op: AnyOp) -> Iterator[Value]:
    """What an instruction writes in place."""
    if isinstance(op, Op):
        for operand in op.page.outs():
            yield from op.bound(operand.name)


def _empty(op: Op | None) -> bool:
    """Whether what an op brings holds nothing yet."""
    return op is not None and ALLOCATES in op.page.traits
