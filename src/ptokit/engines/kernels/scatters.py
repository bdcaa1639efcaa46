"""Scatters: stores at computed indices, one element after another."""

from __future__ import annotations

from math import prod

from ptokit.engines.kernels.functionbase import FunctionBase
from ptokit.engines.kernels.lanes import Lanes, Words, element
from ptokit.engines.kernels.lowering import Leaf
from ptokit.engines.kernels.walk import Access, Act, LanePositions, Walk, address, counters
from ptokit.machine.record.code import Int, NotNative
from ptokit.machine.record.expressions import Apply, ScatterStore, Traced


class Scatter:
    """A walk over indices, row by row; `targets` are the elements and, if tracked, their shadow."""

    def __init__(self, function: FunctionBase, store: ScatterStore, targets: list[Access]) -> None:
        if not all(isinstance(n, int) for n in (store.rows.count, store.cols.count)):
            raise NotNative("a scatter over an unknown number of elements")
        self.function, self.code, self.store = function, function.code, store
        self.over: tuple[int, int] = store.rows.count, store.cols.count  # type: ignore[assignment]  # the counts are ints, as checked above
        self.targets, self.used, self.nowhere = targets, function.uses(store.parts), ""
        self.lanes = min(function.lanes(8), function.lanes_of(store.parts))
        self.alone = store.where is None and all(map(_moved, store.parts))

    def outside(self, point: LanePositions) -> tuple[Lanes, str]:
        """Return the lanes with a used index outside the target."""
        lanes, words = self.function.words(point, self.used)
        wrong = words.above(self.store.index, prod(self.over) - 1)
        if self.store.where is not None:
            wrong = lanes.op("and", "i1", wrong, words.value(self.store.where))
        return lanes, wrong

    def run(self) -> None:
        self.nowhere = self.function.slot("i64")
        self.walk(self._each if self.alone else self._act, "scatter", self.lanes)

    def walk(self, act: Act, what: str, lanes: int) -> None:
        """Visit the indices in row-major order."""
        rows, cols = counters()
        index = self.store.index
        counts = self.function.number(index.rows), self.function.number(index.cols)
        accesses = [cols, rows, *self.used.values()]
        Walk(self.code, lanes, *counts, accesses, act, what, ordered=True).run()

    def _each(self, point: LanePositions) -> None:
        """Store one element after the other, each loaded alone."""
        for one in point.alone():
            self._act(one)

    def _act(self, point: LanePositions) -> None:
        lanes, words = self.function.words(point, self.used)
        store, kind = self.store, element(self.store.cells.dtype)
        offsets = self.function.loads.offsets(
            store.cells, self.over, words.value(store.index), lanes
        )
        value = words.value(store.value)
        keep = None if store.where is None else words.value(store.where)
        for number in range(lanes.count):
            offset, one = lanes.one("i64", offsets, number), lanes.one(kind, value, number)
            self._put(offset, one, keep and lanes.one("i1", keep, number))

    def _put(self, offset: str, value: str, keep: str | None) -> None:
        """Store one element; an element that is not kept goes to a dummy slot."""
        code, dtype = self.code, self.store.cells.dtype
        for shadow, target in enumerate(self.targets):
            kind = f"i{dtype.size * 8}" if shadow else element(dtype)
            place = target.offset + Int(code, offset)
            where = address(code, target, place)
            if keep is not None:
                where = code.let(f"select i1 {keep}, ptr {where}, ptr {self.nowhere}")
            new = "-1" if shadow else self._combined(kind, value, where)
            code.do(f"store {kind} {new}, ptr {where}, align {dtype.size}")

    def _combined(self, kind: str, value: str, where: str) -> str:
        word, dtype = self.store.word, self.store.cells.dtype
        if word is None:
            return value
        old, new, lane = Traced(dtype, 2, 2), Traced(dtype, 2, 2), Lanes(self.code, 1)
        there = self.code.let(f"load {kind}, ptr {where}, align {dtype.size}")
        given: dict[Traced, str] = {old: there, new: value}

        def leaf(node: Traced) -> str:  # else a constant of a conversion
            return given[node] if node in given else self.function.constant(Leaf(node), lane)

        return Words(lane, leaf, {}).value(Apply(word, (old, new), {}))


def _moved(x: Traced) -> bool:
    """Return whether an expression is an operand or its conversion: alone it costs one load."""
    while isinstance(x, Apply) and x.word in ("bitcast", "cast"):
        [x] = x.args
    return isinstance(x, Leaf)
