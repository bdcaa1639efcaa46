"""Alias analysis: the storage that handles may name, through windows, reshapes, loops and branches.

`PointsTo` is a forward data-flow analysis over the regions of a function, flow-sensitive. Analyses
hook into its walk (`liveness.Interference`) or read what it found: `AliasClasses` forgets where in
the program a handle names what, and adds equal addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ptokit.analysis.known import Facts
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import (
    ALIASES,
    ALLOCATES,
    DERIVES,
    EXPOSES,
    OUTSIDE,
    RECEIVES,
    RECOVERS,
    FifoRole,
)
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind

Names: TypeAlias = "dict[Value, frozenset[Value]]"  # a handle, and the storage it may name
NONE: frozenset[Value] = frozenset()
STORAGE = frozenset((ALLOCATES, DERIVES, RECEIVES))  # what brings storage of its own


class PointsTo:
    """Walks a function, with what each handle may name.

    Storage is called by the value that brings it: an argument, a tile that is allocated or given an
    address, an output in SSA form. Subclasses are told where it is `defined`, several times where
    there are loops. `written` is the storage that instructions write; in a flat program also the
    free names that become handles of something else. It holds for every target.
    """

    def __init__(self, func: Func) -> None:
        self.func = func
        self.written = set[Value]()
        self.views = _has_view_entries(func)
        self.definitions: dict[Value, Op | None] = {}  # storage, and the op that brings it
        self.namings: list[tuple[Value, frozenset[Value]]] = []  # a handle, and what it may name
        self.ends: dict[Block, Names] = {}  # what handles may name at the end of each region
        self.exposed = NONE  # the storage whose address some number may be
        names: Names = {}
        for arg in func.args:
            self._define(arg, names, None)
        self.grown = True
        while self.grown:  # until no region's end gives its beginning something new
            self.grown = False
            self._block(func.body, dict(names))

    def defined(self, value: Value, op: Op | None, names: Names) -> None:
        """New storage: an argument, or the result of an op."""

    def _name(self, handle: Value, storage: frozenset[Value], names: Names) -> None:
        names[handle] = storage
        self.namings.append((handle, storage))

    def _block(self, block: Block, names: Names) -> None:
        for op in block.ops:
            if op.regions:
                self._regions(op, names)
            elif isinstance(op, Op):
                self._op(op, names)
            self.passed(op, names)

    def passed(self, op: AnyOp, names: Names) -> None:
        """Behind an op, its regions included; several times where there are loops."""

    def _op(self, op: Op, names: Names) -> None:
        if self.func.flat or ALIASES not in op.page.traits:
            outs = (v for operand in op.page.outs() for v in op.bound(operand.name))
            self.written |= union(names, outs)
        if self.views and op.page.fifo_role is FifoRole.OPENS:  # its entries are views of them
            self.written |= union(names, _memory(op))
        if ALIASES in op.page.traits:
            source = union(names, op.bound(op.page.ins()[0].name))
            for handle in redefined(op):
                self._name(handle, source, names)
            return
        if EXPOSES in op.page.traits and not (found := union(names, _memory(op))) <= self.exposed:
            self.exposed, self.grown = self.exposed | found, True
        for result in op.results:
            if RECOVERS in op.page.traits:
                self._name(result, self.exposed, names)
            elif op.bound("addr") or STORAGE.intersection(op.page.traits) or op.page.executes:
                self._define(result, names, op)
            else:
                self._name(result, union(names, _memory(op)), names)

    def _define(self, value: Value, names: Names, op: Op | None) -> None:
        self.definitions.setdefault(value, op)
        self.defined(value, op, names)
        names[value] = frozenset((value,))

    def _regions(self, op: AnyOp, names: Names) -> None:
        """Arguments name what goes in and comes round, results what goes in or comes out."""
        before, ways, begins = dict(names), list(flows(op)), list[Names]()

        def named(target: int, names: Names) -> None:
            found: Names = {}
            for source, _, pairs in (w for w in ways if w[1] == target):
                end = before if source == OUTSIDE else self.ends.get(op.regions[source], {})
                _join(names, [end])
                for value, name in pairs:
                    found[name] = found.get(name, NONE) | end.get(value, NONE)
            for name, storage in found.items():
                self._name(name, storage, names)

        for number, region in enumerate(op.regions):
            inside = dict(before)
            named(number, inside)
            begins.append(dict(inside))
            self._block(region, inside)
            self.ends[region] = inside
        for source, target, pairs in ways:
            if OUTSIDE not in (source, target):
                end, begin = self.ends[op.regions[source]], begins[target]
                both = (*((h, h) for h in begin), *pairs)
                self.grown |= any(not end.get(v, NONE) <= begin[h] for v, h in both)
        named(OUTSIDE, names)


def _has_view_entries(func: Func) -> bool:
    """Return True if some entry of a FIFO is a view of global memory."""
    ops = (op for op in func.ops if isinstance(op, Op) and op.page.fifo_role)
    entries = (v.type for op in ops for v in (*op.results, *(v for _, v in op.values())))
    return any(isinstance(kind, GlobalType) for kind in entries)


def flows(op: AnyOp) -> Iterator[tuple[int, int, list[tuple[Value, Value]]]]:
    """See `Op.flows`; the regions of an unknown op may run in any order."""
    if isinstance(op, Op):
        yield from op.flows()
        return
    places = (OUTSIDE, *range(len(op.regions)))
    for source in places:
        sent = () if source == OUTSIDE else op.regions[source].passed
        for target in places:
            names = op.results if target == OUTSIDE else []
            yield source, target, list(zip(sent, names, strict=False))


def repeats(op: AnyOp, region: Block) -> bool:
    """Whether a region of `op` may run again after itself."""
    start = op.regions.index(region)
    reached, new = set[int](), {start}
    while new:
        new = {b for a, b, _ in flows(op) if a in new and b != OUTSIDE} - reached
        reached |= new
    return start in reached


def redefined(op: AnyOp) -> Iterator[Value]:
    """The handles that an op defines, or makes handles of something else."""
    yield from op.results
    if isinstance(op, Op) and ALIASES in op.page.traits:
        yield from op.bound(op.page.outs()[0].name)


def union(names: Names, handles: Iterable[Value]) -> frozenset[Value]:
    """All that these handles may name."""
    return NONE.union(*[names[v] for v in handles if v in names])


def _memory(op: Op) -> Iterator[Value]:
    """The operands that are memory: no numbers."""
    operand = op.page.operand
    values = ((operand(name), v) for name, v in op.values())
    return (v for o, v in values if o.in_memory or o.kind is Kind.ANY)


def _join(names: Names, ways: Iterable[Names]) -> None:
    """Control may come from here or from these ends of regions."""
    for way in ways:
        for handle in names.keys() & way.keys():
            names[handle] |= way[handle]


class AliasClasses:
    """Values that may name the same bytes at some time: `of` gives the value that stands for all.

    Values of different classes share no byte, if tiles that ptokit places avoid those that the
    program places. Addresses count as far as `facts` tell them; without facts not at all.
    """

    def __init__(self, points_to: PointsTo, facts: Facts | None = None) -> None:
        self.facts = facts
        self.parent: dict[Value, Value] = {}
        self.placed: dict[str, list[tuple[int, int, Value]]] = {}
        self.anywhere: dict[str, Value] = {}  # memory -> a tile at an address nobody knows yet
        for handle, storage in points_to.namings:
            self._unite((handle, *storage))
        if facts is not None:
            for value, op in points_to.definitions.items():
                self._place(value, op, facts)
        for places in self.placed.values():
            self._join_overlapping(sorted(places, key=lambda place: place[:2]))
        for value in points_to.func.named() if self.anywhere else ():
            space = self._space(value)
            if space in self.anywhere:
                self._unite((value, self.anywhere[space]))

    def of(self, value: Value) -> Value:
        while value in self.parent:
            value = self.parent[value]
        return value

    def _place(self, value: Value, op: Op | None, facts: Facts) -> None:
        address = next(iter(op.bound("addr")), None) if op is not None else None
        space = self._space(value)
        derived = op is not None and DERIVES in op.page.traits
        if space is None or (address is None and not derived):
            return
        start = None if address is None else facts.numbers.get(address)
        kind = facts.type_of(value)
        assert isinstance(kind, TileType | ConvTileType)
        if isinstance(start, int):
            self.placed.setdefault(space, []).append((start, start + kind.nbytes, value))
        else:
            self.anywhere[space] = value

    def _unite(self, values: Iterable[Value]) -> None:
        first, *others = [self.of(value) for value in values]
        for other in others:
            root = self.of(other)
            if root is not self.of(first):
                self.parent[root] = self.of(first)

    def _join_overlapping(self, places: list[tuple[int, int, Value]]) -> None:
        _, end, last = places[0]
        for start, stop, value in places[1:]:
            if start < end:
                self._unite((last, value))
            end, last = max(end, stop), value

    def _space(self, value: Value) -> str | None:
        kind = value.type if self.facts is None else self.facts.type_of(value)
        return SPACES[kind.loc] if isinstance(kind, TileType | ConvTileType) else None
