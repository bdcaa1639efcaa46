"""Live ranges that begin at the first use of a tile instead of its allocation.

Front ends allocate all tiles at the start of a function. Until an op first accesses a tile, other
tiles may use its bytes. But then a read before the first write finds bytes of another tile
unnoticed, so placement uses these ranges only if tiles do not fit otherwise. If they still do not
fit, it uses content liveness (see `contentliveness`).
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
    """The ops that write a tile, with the tiles live there; `apart` is their union."""

    at: list[tuple[AnyOp, Storages]] = field(default_factory=list[tuple[AnyOp, Storages]])
    apart: set[Value] = field(default_factory=set[Value])


class FirstUses(Interference):
    """For each tile of a function the ops that write it and the tiles live there: `found`.

    A tile that enters a region under another name is assumed to hold content all the time.
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
        """Return the analysis after its walk over the function."""
        for arg in self.func.args:
            self._part(arg, frozenset(self.func.args))
        self._sweep(self.func.body, {*self.definitions} - self.late)
        return self

    def shorten(self, tiles: Iterable[Storage]) -> None:
        """Restrict the lifetimes of tiles to begin at their first use."""
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
        """Return the tiles whose content may be needed at an op or later."""
        return self.alive[op]

    def replaced(self, op: AnyOp, value: Value) -> Storages:
        """Return the tiles over which an op writes `value`, which then share its bytes."""
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
        """Visit ops in text order; `holding` are the tiles that may have content."""
        for op in block.ops:
            made = {v for v in op.results if v in self.found}
            holding -= made & self.late
            touched = self.touched.get(op, NONE)
            around = self.living(op) & holding | touched
            for value in touched | made:  # the bytes of a new tile are known to be empty
                self._part(value, around - self.replaced(op, value))
            for value in self.changed.get(op, NONE) or touched:
                self.found[value].at.append((op, around - {value}))
            self.present[op] = around | self._inside(op, holding)
            holding |= touched

    def _inside(self, op: AnyOp, holding: set[Value]) -> Storages:
        """Sweep the regions of an op; return the tiles with content before and inside."""
        before, begins = frozenset(holding), NONE
        for region in op.regions:
            holding |= self._touched_when_repeated(op, region)
            self._sweep(region, holding)
            begins = begins.union(*(self.present[first] for first in region.ops[:1]))
        return before & begins

    def _touched_when_repeated(self, op: AnyOp, region: Block) -> set[Value]:
        """Return the tiles accessed in a region that may run again."""
        inside = region.walk() if repeats(op, region) else ()
        return {value for each in inside for value in self.touched.get(each, NONE)}

    def _part(self, value: Value, around: Storages) -> None:
        for other in around - {value}:
            self.found[value].apart.add(other)
            self.found[other].apart.add(value)


def _outputs(op: AnyOp) -> Iterator[Value]:
    """Yield the values that an instruction writes in place."""
    if isinstance(op, Op):
        for operand in op.page.outs():
            yield from op.bound(operand.name)


def _empty(op: Op | None) -> bool:
    """Return whether the storage that an op creates has no content yet."""
    return op is not None and ALLOCATES in op.page.traits
