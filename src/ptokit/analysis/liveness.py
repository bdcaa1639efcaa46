"""Liveness of tiles: whose bytes a handle may name, and which tiles may not share bytes.

Two data-flow analyses over the regions of a function. Backward: a handle is live where it may still
be used before it is defined again, or made a view of something else. Forward: the tiles whose bytes
a handle may name, through windows, reshapes, loops and branches. A tile is live where a live handle
may name it, and two tiles interfere if one is live where the other is defined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ptokit.analysis.known import Facts
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.model.tiles import ConvTileType, TileType

Names: TypeAlias = "dict[Value, frozenset[Value]]"  # a handle, and the tiles it may name
NONE: frozenset[Value] = frozenset()


@dataclass(eq=False)
class Storage:
    """The bytes of one tile. `explicit`: the program gives the address, None if only the run does.

    `interferes` are the tiles with which it may not share bytes. `outlives`: its content is still
    needed where the next iteration of a loop defines it again.
    """

    value: Value
    kind: TileType | ConvTileType
    address: int | None = None
    explicit: bool = False
    interferes: set[Value] = field(default_factory=set[Value])

    @property
    def outlives(self) -> bool:
        return self.value in self.interferes


def storages(func: Func, facts: Facts) -> dict[Value, Storage]:
    """The tiles of a function, in text order."""
    return _Naming(func, facts).found


class _LiveHandles:
    """Backward: for each op the values that are used after it."""

    def __init__(self, func: Func) -> None:
        self.after: dict[AnyOp, frozenset[Value]] = {}
        self.exposed: dict[int, frozenset[Value]] = {}  # used in a region before it defines them
        # arguments and the results of a flat program are looked at after the run
        kept = (*func.args, *(v for op in func.body.ops for v in op.results if func.flat))
        self._block(func.body, frozenset(kept))

    def _block(self, block: Block, live: frozenset[Value]) -> frozenset[Value]:
        """What is live before the block where `live` is live after it."""
        for op in reversed(block.ops):
            self.after[op] = live
            live = (self._regions(op, live) - frozenset(_defined(op))) | frozenset(_used(op))
        return live - frozenset(block.args)

    def _regions(self, op: AnyOp, live: frozenset[Value]) -> frozenset[Value]:
        """A region may run again, or not at all: what it needs is live at its end as well."""
        around = live.union(*(self._needs(region) for region in op.regions))
        return live.union(*(self._block(region, around) for region in op.regions))

    def _needs(self, region: Block) -> frozenset[Value]:
        if id(region) not in self.exposed:
            self.exposed[id(region)] = self._block(region, NONE)
        return self.exposed[id(region)]


class _Naming:
    """Forward: the tiles that handles may name, and the interference of tiles."""

    def __init__(self, func: Func, facts: Facts) -> None:
        self.facts, self.live = facts, _LiveHandles(func).after
        self.found: dict[Value, Storage] = {}
        self.ends: dict[int, Names] = {}  # of each region: what handles may name at its end
        names: Names = {}
        for arg in func.args:
            self._define(arg, names, frozenset(func.args))
        self.grown = True
        while self.grown:  # until no region's end gives its beginning something new
            self.grown = False
            self._block(func.body, dict(names))

    def _block(self, block: Block, names: Names) -> None:
        for op in block.ops:
            if op.regions:
                self._regions(op, names)
            elif isinstance(op, Op):
                self._op(op, names)

    def _op(self, op: Op, names: Names) -> None:
        if op.page.aliases:
            source = _union(names, op.bound(op.page.ins()[0].name))
            names |= dict.fromkeys((*op.bound(op.page.outs()[0].name), *op.results), source)
            return
        address, live = op.bound("addr"), self.live[op] | frozenset(_used(op))
        for result in op.results:
            if address or op.page.allocates or not op.page.handle:
                self._define(result, names, live, *address)
            else:
                names[result] = _union(names, (v for _, v in op.values()))

    def _define(
        self, value: Value, names: Names, live: Iterable[Value], address: Value | None = None
    ) -> None:
        """A tile of its own, and what it interferes with."""
        kind = self.facts.type_of(value)
        if not isinstance(kind, TileType | ConvTileType):
            return
        if value not in self.found:
            known = self.facts.numbers.get(address) if address else None
            self.found[value] = Storage(value, kind, known, explicit=address is not None)
        mine, others = self.found[value], _union(names, (v for v in live if v is not value))
        mine.interferes |= others
        for other in others:
            self.found[other].interferes.add(value)
        names[value] = frozenset((value,))

    def _regions(self, op: AnyOp, names: Names) -> None:
        """Arguments name what goes in and comes round, results what goes in or comes out."""
        carried = op.bound("carried") if isinstance(op, Op) else ()
        ends = [end for r in op.regions if (end := self.ends.get(id(r))) is not None]
        _join(names, ends)
        given = [names.get(v, NONE) for v in carried]
        for region in op.regions:
            inside, end = dict(names), self.ends.get(id(region))
            passed = [] if end is None else [end.get(v, NONE) for v in _passed(region)]
            args = region.args[len(region.args) - len(carried) :]
            for arg, first, again in zip(args, given, passed or given, strict=False):
                inside[arg] = first | again
            self._block(region, inside)
            if inside != end:
                self.ends[id(region)], self.grown = inside, True
        for number, result in enumerate(op.results):
            back = [_union(self.ends[id(r)], _passed(r)[number : number + 1]) for r in op.regions]
            names[result] = NONE.union(*given[number : number + 1], *back)
        _join(names, [self.ends[id(r)] for r in op.regions])


def _used(op: AnyOp) -> Iterator[Value]:
    """What an op looks at: a handle that becomes a view is not looked at."""
    if not isinstance(op, Op):
        yield from op.uses
        return
    for name, value in op.values():
        if not (op.page.aliases and name == op.page.outs()[0].name):
            yield value


def _defined(op: AnyOp) -> Iterator[Value]:
    yield from op.results
    if isinstance(op, Op) and op.page.aliases:
        yield from op.bound(op.page.outs()[0].name)


def _passed(region: Block) -> tuple[Value, ...]:
    """What a region's terminator passes on."""
    last = region.ops[-1] if region.ops else None
    return last.bound("values") if isinstance(last, Op) and last.page.terminator else ()


def _union(names: Names, handles: Iterable[Value]) -> frozenset[Value]:
    return NONE.union(*(names.get(v, NONE) for v in handles))


def _join(names: Names, ways: Iterable[Names]) -> None:
    """Control may come from here or from these ends of regions."""
    for way in ways:
        for handle in names.keys() & way.keys():
            names[handle] |= way[handle]
