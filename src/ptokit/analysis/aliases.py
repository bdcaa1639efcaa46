"""Which values may name the same bytes: handles, views, loop-carried tiles, equal addresses.

Flow-insensitive may-alias classes by union-find: values of different classes share no byte at any
time, if tiles that ptokit places avoid those that the program places.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptokit.analysis.known import Facts
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import ConvTileType, TileType


class AliasClasses:
    """The classes of a function's values; `of` gives the value that stands for a class."""

    def __init__(self, func: Func, facts: Facts) -> None:
        self.facts = facts
        self.parent: dict[Value, Value] = {}
        self.placed: dict[str, list[tuple[int, int, Value]]] = {}
        self.anywhere: dict[str, Value] = {}  # memory -> a tile at an address nobody knows yet
        for op in func.body.walk():
            if isinstance(op, Op):
                self._op(op)
        for places in self.placed.values():
            self._join_overlapping(sorted(places, key=lambda place: place[:2]))
        if self.anywhere:
            for value in func.named():
                space = self._space(value)
                if space in self.anywhere:
                    self._join((value, self.anywhere[space]))

    def of(self, value: Value) -> Value:
        while value in self.parent:
            value = self.parent[value]
        return value

    def _join(self, values: Iterable[Value]) -> None:
        first, *others = [self.of(value) for value in values]
        for other in others:
            root = self.of(other)
            if root is not self.of(first):
                self.parent[root] = self.of(first)

    def _op(self, op: Op) -> None:
        page = op.page
        if page.aliases:
            self._join([*(v for _, v in op.values()), *op.results])
        addresses = op.bound("addr")
        if page.allocates or page.readdresses:
            if addresses:
                self._place(op.results[0], self.facts.numbers.get(addresses[0]))
        elif op.regions:
            self._regions(op)
        elif page.handle and op.results:
            tiles = [v for _, v in op.values() if self._space(v) is not None]
            self._join([op.results[0], *tiles])

    def _regions(self, op: Op) -> None:
        """What goes round a loop, or comes out of a region, are the same bytes."""
        carried = op.bound("carried")
        for region in op.regions:
            last = region.ops[-1] if region.ops else None
            passed = last.bound("values") if isinstance(last, Op) and last.page.terminator else ()
            around = region.args[len(region.args) - len(carried) :]
            for group in (carried, around, passed):
                for one, other in zip(op.results, group, strict=False):
                    self._join((one, other))

    def _place(self, value: Value, address: object) -> None:
        space, kind = self._space(value), self.facts.type_of(value)
        if space is None or not isinstance(kind, TileType | ConvTileType):
            return
        if isinstance(address, int):
            end = address + kind.nbytes
            self.placed.setdefault(space, []).append((address, end, value))
        else:
            self.anywhere[space] = value

    def _join_overlapping(self, places: list[tuple[int, int, Value]]) -> None:
        _, end, last = places[0]
        for start, stop, value in places[1:]:
            if start < end:
                self._join((last, value))
            end, last = max(end, stop), value

    def _space(self, value: Value) -> str | None:
        kind = self.facts.type_of(value)
        return SPACES[kind.loc] if isinstance(kind, TileType | ConvTileType) else None
