"""Alias analysis: the storage that handles may name through windows, reshapes, loops and branches.

`PointsTo` is a flow-sensitive forward data-flow analysis over the regions of a function. Other
analyses hook into its walk (`liveness.Interference`) or read its result: `AliasClasses` drops the
flow sensitivity and adds equal addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeAlias

from ptokit.analysis.known import Facts
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import (
    ALIASES,
    ALLOCATES,
    EXPOSES,
    OUTSIDE,
    READDRESSES,
    RECEIVES,
    RECOVERS,
    FifoRole,
)
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind

Names: TypeAlias = "dict[Value, frozenset[Value]]"  # a handle -> the storage it may name
NONE: frozenset[Value] = frozenset()
STORAGE = frozenset((ALLOCATES, READDRESSES, RECEIVES))  # traits of ops that create storage


class PointsTo:
    """A walk over a function with the storage that each handle may name; valid on every target.

    A storage is identified by the value that creates it: an argument, a tile that is allocated or
    has an address, or an output in SSA form. Subclasses get a call of `defined` for each creation,
    several times in loops. `written` is the storage that instructions write; in a flat program also
    the free names that become handles on other storage.
    """

    def __init__(self, func: Func) -> None:
        self.func = func
        self.written = set[Value]()
        self.views = _has_view_entries(func)
        self.moved = {*_moved(func)}  # no other handle names other storage after a region
        self.definitions: dict[Value, Op | None] = {}  # storage -> the op that creates it
        self.namings: list[tuple[Value, frozenset[Value]]] = []  # handle, storage
        self.ends: dict[Block, Names] = {}  # the names at the end of each region
        self.exposed = NONE  # storage whose address may be held in a number
        names: Names = {}
        for arg in func.args:
            self._define(arg, names, None)
        self.grown = True
        while self.grown:  # until the loop-carried names are stable
            self.grown = False
            self._block(func.body, dict(names))

    def defined(self, value: Value, op: Op | None, names: Names) -> None:
        """Handle the creation of storage by an argument or by the result of an op."""

    def _name(self, handle: Value, storage: frozenset[Value], names: Names) -> None:
        if storage:
            names[handle] = storage
            self.namings.append((handle, storage))
        else:  # a number: most values are
            names.pop(handle, None)

    def _block(self, block: Block, names: Names) -> None:
        for op in block.ops:
            if op.regions:
                self._regions(op, names)
            elif isinstance(op, Op):
                self._op(op, names)
            self.passed(op, names)

    def passed(self, op: AnyOp, names: Names) -> None:
        """Handle the end of an op with its regions; called several times in loops."""

    def _op(self, op: Op, names: Names) -> None:
        outs = op.page.outs()
        if outs and (self.func.flat or ALIASES not in op.page.traits):
            self.written |= union(names, [v for o in outs for v in op.bound(o.name)])
        if self.views and op.page.fifo_role is FifoRole.OPENS:  # entries are views
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
        """Bind region arguments to incoming and carried values, results to outgoing values."""
        before, ways, begins = dict(names), list(flows(op)), list[Names]()

        def named(target: int, names: Names) -> None:
            found: Names = {}
            for source, _, pairs in (w for w in ways if w[1] == target):
                end = before if source == OUTSIDE else self.ends.get(op.regions[source], {})
                for handle in self.moved & end.keys():
                    names[handle] = names.get(handle, NONE) | end[handle]
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
                kept = begin.keys() - set(op.regions[target].args)  # arguments are named anew
                both = (*((h, h) for h in kept), *pairs)
                self.grown |= any(not end.get(v, NONE) <= begin.get(h, NONE) for v, h in both)
        named(OUTSIDE, names)


def _has_view_entries(func: Func) -> bool:
    """Return whether some entry of a FIFO is a view of global memory."""
    ops = (op for op in func.ops if isinstance(op, Op) and op.page.fifo_role)
    entries = (v.type for op in ops for v in (*op.results, *(v for _, v in op.values())))
    return any(isinstance(kind, GlobalType) for kind in entries)


def flows(op: AnyOp) -> Iterator[tuple[int, int, list[tuple[Value, Value]]]]:
    """Yield the control flow edges of `Op.flows`; regions of an unknown op may run in any order."""
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
    """Return whether a region of `op` may run again after itself."""
    start = op.regions.index(region)
    reached, new = set[int](), {start}
    while new:
        new = {b for a, b, _ in flows(op) if a in new and b != OUTSIDE} - reached
        reached |= new
    return start in reached


def redefined(op: AnyOp) -> Iterator[Value]:
    """Yield the handles that an op defines, or makes handles on other storage."""
    yield from op.results
    if isinstance(op, Op) and ALIASES in op.page.traits:
        yield from op.bound(op.page.outs()[0].name)


def _moved(func: Func) -> Iterator[Value]:
    """Yield the handles that some op makes handles on other storage."""
    for op in func.ops:
        if isinstance(op, Op) and ALIASES in op.page.traits:
            yield from op.bound(op.page.outs()[0].name)


def union(names: Names, handles: Iterable[Value]) -> frozenset[Value]:
    """Return all storage that these handles may name."""
    return NONE.union(*[names[v] for v in handles if v in names])


def _memory(op: Op) -> Iterator[Value]:
    """Yield the operands that are memory, not numbers."""
    return (value for name in _memory_operands(op.page) for value in op.bound(name))


@cache
def _memory_operands(page: type[Instr]) -> tuple[str, ...]:
    return tuple(o.name for o in page.operands if o.in_memory or o.kind is Kind.ANY)


class ValueClasses:
    """Disjoint classes of values; a value that was never united is a class of its own."""

    def __init__(self) -> None:
        self.parent: dict[Value, Value] = {}

    def of(self, value: Value) -> Value:
        """Return the representative of a value's class."""
        if value not in self.parent:
            return value
        root = value
        while root in self.parent:
            root = self.parent[root]
        while value is not root:  # the way is shorter next time
            self.parent[value], value = root, self.parent[value]
        return root

    def unite(self, one: Value, other: Value) -> None:
        """Make two classes one, with the representative of the first."""
        first, second = self.of(one), self.of(other)
        if first is not second:
            self.parent[second] = first

    def united(self) -> set[Value]:
        """Return the values of classes with several members."""
        return {*self.parent, *self.parent.values()}


class AliasClasses:
    """Values that may name the same bytes at some time; `of` returns a representative.

    Values of different classes share no byte, provided that tiles placed by ptokit avoid those that
    the program places. Addresses count if `facts` contain them; without facts, addresses are
    ignored.
    """

    def __init__(self, points_to: PointsTo, facts: Facts | None = None) -> None:
        self.facts = facts
        self.classes = ValueClasses()
        self.of = self.classes.of
        self.placed: dict[str, list[tuple[int, int, Value]]] = {}
        self.anywhere: dict[str, Value] = {}  # memory -> a tile at an unknown address
        for handle, storage in points_to.namings:
            self._unite(handle, storage)
        if facts is not None:
            for value, op in points_to.definitions.items():
                self._place(value, op, facts)
        for places in self.placed.values():
            self._join_overlapping(sorted(places, key=lambda place: place[:2]))
        for value in points_to.func.named() if self.anywhere else ():
            space = self._space(value)
            if space in self.anywhere:
                self.classes.unite(value, self.anywhere[space])

    def _place(self, value: Value, op: Op | None, facts: Facts) -> None:
        address = next(iter(op.bound("addr")), None) if op is not None else None
        space = self._space(value)
        derived = op is not None and READDRESSES in op.page.traits
        if space is None or (address is None and not derived):
            return
        start = None if address is None else facts.numbers.get(address)
        kind = facts.type_of(value)
        assert isinstance(kind, TileType | ConvTileType)
        if isinstance(start, int):
            self.placed.setdefault(space, []).append((start, start + kind.nbytes, value))
        else:
            self.anywhere[space] = value

    def _unite(self, first: Value, others: Iterable[Value]) -> None:
        for other in others:
            self.classes.unite(first, other)

    def _join_overlapping(self, places: list[tuple[int, int, Value]]) -> None:
        _, end, last = places[0]
        for start, stop, value in places[1:]:
            if start < end:
                self.classes.unite(last, value)
            end, last = max(end, stop), value

    def _space(self, value: Value) -> str | None:
        kind = value.type if self.facts is None else self.facts.type_of(value)
        return SPACES[kind.loc] if isinstance(kind, TileType | ConvTileType) else None
