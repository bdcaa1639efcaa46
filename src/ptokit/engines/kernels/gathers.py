"""Gathers: loads of elements at computed indices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from ptokit.engines.kernels.functionbase import FunctionBase
from ptokit.engines.kernels.lanes import Lanes, Words, element
from ptokit.engines.kernels.loads import in_row_order
from ptokit.engines.kernels.lowering import Gather, Leaf, RunGather
from ptokit.engines.kernels.walk import STILL, Access, LanePositions, address, load_line
from ptokit.machine.record.code import Int, NotNative, Num, text
from ptokit.machine.record.expressions import Apply
from ptokit.values import dtypes as t
from ptokit.values.enumerations import GatherOOB
from ptokit.values.layouts import known


class Gathers:
    """The generator of gathers, with fast paths for plain tables of 32-bit elements."""

    def __init__(self, function: FunctionBase) -> None:
        self.function, self.code, self.loads = function, function.code, function.loads
        self.held: dict[Gather, list[str]] = {}  # tables in registers

    def hold(self, node: Gather) -> None:
        """Load a small table into registers before the loops that use it."""
        if self._numbered(node) is not None and self._permutes(node):
            self.held[node] = self._lines(node)

    def _lines(self, node: Gather) -> list[str]:
        table = Access(self._base(node), t.i32, STILL, STILL)
        return [load_line(self.code, table, n, 16) for n in range(0, prod(node.taken.over), 16)]

    def _table(self, node: Gather) -> Access:
        """Return the access of the table that a gather reads."""
        return Access(self._base(node), node.cells.dtype, STILL, STILL)

    def _base(self, node: Gather) -> str:
        """Return the address of the first element that a gather may read."""
        cells, pointer = node.cells, self.function.pointer(node.cells)
        if known(cells.origin, 0):
            return pointer
        if cells.dtype.packed:
            raise NotNative("a gather from packed elements of a part of an array")
        origin = text(self.function.number(cells.origin) * cells.dtype.size)
        return self.code.let(f"getelementptr i8, ptr {pointer}, i64 {origin}")

    def _numbered(self, node: Gather) -> Leaf | None:
        """Return the 32-bit indices of a plain gather from a row-major table of 4-byte elements."""
        index, limit = node.index, prod(node.taken.over)
        wraps = node.taken.outside is GatherOOB.WRAP and limit & (limit - 1) == 0
        direct = wraps or node.taken.outside is GatherOOB.ERROR
        if not (direct and isinstance(index, Apply) and index.word == "cast"):
            return None
        [leaf] = index.args
        while isinstance(leaf, Apply) and leaf.word == "bitcast":
            [leaf] = leaf.args
        plain = isinstance(leaf, Leaf) and leaf.dtype.is_int and leaf.dtype.size == 4
        linear = _row_major(node) and node.cells.dtype.size == 4 and node.where_ is None
        return leaf if plain and linear and isinstance(leaf, Leaf) else None

    def lanes(self, node: Gather) -> int:
        """Return how many elements a gather loads per step."""
        if node.cells.dtype.packed:
            return 1
        if isinstance(node, RunGather):
            return node.size
        if self._numbered(node) is None:
            return self.function.lanes(8)
        return 16 if self._permutes(node) else 4

    def _permutes(self, node: Gather) -> bool:
        limit = prod(node.taken.over)
        return self.function.host.permutes and 32 <= limit <= 256 and limit & (limit - 1) == 0

    def value(self, node: Gather, point: LanePositions, words: Words) -> str:
        """Return the gathered elements; lanes that must not be read read element 0."""
        lanes = words.lanes
        if isinstance(node, RunGather):
            return self._run(node, point, words)
        leaf = self._numbered(node)
        if leaf is not None and lanes.count == 16 and self._permutes(node):
            return self._looked_up(node, words.value(leaf), lanes)
        access = words.used.get(leaf) if leaf is not None else None
        walked = access is not None and access.at is None
        if access is not None and walked and lanes.count == 4 and known(point.steps[access], 1):
            return self._in_pairs(node, access, point, lanes)
        index, limit = words.value(node.index), prod(node.taken.over)
        zero = lanes.splat("i64", "0")
        keep = None if node.where_ is None else words.value(node.where_)
        outside = node.taken.outside
        if outside is GatherOOB.WRAP:
            held = lanes.divided("i64", index, limit, signed=True)[1]
        elif outside is GatherOOB.ERROR:
            held = index
        else:
            low = lanes.op("icmp sgt", "i64", index, zero)
            held = lanes.select(low, "i64", index, zero)
            last = lanes.splat("i64", str(limit - 1))
            held = lanes.select(lanes.op("icmp slt", "i64", held, last), "i64", held, last)
        if outside is GatherOOB.ZERO:
            inside = lanes.op("icmp ult", "i64", index, lanes.splat("i64", str(limit)))
            keep = inside if keep is None else lanes.op("and", "i1", keep, inside)
        if keep is not None:
            held = lanes.select(keep, "i64", held, zero)
        offsets = self.loads.offsets(node.cells, node.taken.over, held, lanes)
        codes = self.loads.fetch(self._table(node), offsets, lanes)
        if keep is None:
            return codes
        kind = element(node.cells.dtype)
        nothing = lanes.splat(kind, "0.0" if kind == "float" else "0")
        return lanes.select(keep, kind, codes, nothing)

    def inside(
        self, node: Gather, point: LanePositions, used: dict[Leaf, Access]
    ) -> tuple[Lanes, str]:
        """Return the lanes with an index outside the table."""
        lanes, words = self.function.words(point, used)
        wrong = words.above(node.index, prod(node.taken.over) - 1)
        if node.where_ is not None:
            wrong = lanes.op("and", "i1", wrong, words.value(node.where_))
        return lanes, wrong

    def _run(self, node: RunGather, point: LanePositions, words: Words) -> str:
        """Return elements of a run: one load; across runs each element is loaded alone."""
        lanes, kind = words.lanes, element(node.cells.dtype)
        begins, columns = words.used.get(node.index), words.used[node.column]
        first, step = point.positions[columns], point.steps[columns]
        along = begins is None or (begins.at is None and known(point.steps[begins], 0))
        if along and (lanes.count == 1 or known(step, 1)):
            _, one = self.function.words(replace(point, lanes=1), words.used)
            where = self._place(node, one.value(node.index), first % node.size)
            size = node.cells.dtype.size
            return self.code.let(f"load {lanes.type(kind)}, ptr {where}, align {size}")
        index = words.value(node.index)

        def each(number: int) -> str:
            inner = (first + number * step) % node.size
            where = self._place(node, lanes.one(element(node.index.dtype), index, number), inner)
            return self.code.let(f"load {kind}, ptr {where}")

        return lanes.vector(kind, map(each, range(lanes.count)))

    def _place(self, node: RunGather, begin: str, inner: Num) -> str:
        """Return the address of an element of a run; of a run that is not read, of the filling."""
        kind = element(node.index.dtype)
        wide = begin if kind == "i64" else self.code.let(f"sext {kind} {begin} to i64")
        where = address(self.code, self._table(node), Int(self.code, wide) + inner)
        if node.whole:
            return where
        filling = self.function.filling(node.cells.dtype, node.fill, node.size)
        out = self.code.let(f"icmp slt {kind} {begin}, 0")
        return self.code.let(f"select i1 {out}, ptr {filling}, ptr {where}")

    def _looked_up(self, node: Gather, index: str, lanes: Lanes) -> str:
        """Return elements of a table in registers, by one selection per bit of the index."""
        vector, kind = lanes.type("i32"), element(node.cells.dtype)
        parts = self.held.get(node) or self._lines(node)
        name = "llvm.x86.avx512.vpermi2var.d.512"
        parts = [
            self.code.let(f"call {vector} @{name}({vector} {a}, {vector} {index}, {vector} {b})")
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
        bit = 32
        while len(parts) > 1:
            masked = lanes.op("and", "i32", index, lanes.splat("i32", str(bit)))
            high = lanes.op("icmp ne", "i32", masked, lanes.splat("i32", "0"))
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [lanes.select(high, "i32", b, a) for a, b in pairs]
            bit *= 2
        return lanes.bits("i32", parts[0], kind)

    def _in_pairs(self, node: Gather, access: Access, point: LanePositions, lanes: Lanes) -> str:
        """Return elements for indices that are loaded in pairs, since loads are the bottleneck."""
        table, wraps = self._table(node), node.taken.outside is GatherOOB.WRAP
        mask = prod(node.taken.over) - 1 if wraps else (1 << 32) - 1

        def elements() -> Iterator[str]:
            for number in range(0, lanes.count, 2):
                where = address(self.code, access, point.positions[access] + number)
                pair = self.code.let(f"load i64, ptr {where}, align 4")
                pair = self.code.let(f"and i64 {pair}, {mask << 32 | mask}")
                low = self.code.let(f"and i64 {pair}, {(1 << 32) - 1}")
                for index in (low, self.code.let(f"lshr i64 {pair}, 32")):
                    yield load_line(self.code, table, Int(self.code, index), 1)

        return lanes.vector(element(node.cells.dtype), elements())


def _row_major(node: Gather) -> bool:
    """Return whether the index of an element is its storage offset."""
    return in_row_order(node.cells.map, node.taken.over)
