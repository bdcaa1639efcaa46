"""Assignments: the code for each point of a walk over a written window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptokit.engines.kernels.functionbase import FunctionBase
from ptokit.engines.kernels.lanes import Lanes, Words, element
from ptokit.engines.kernels.loops import Loop
from ptokit.engines.kernels.lowering import Leaf, gathers, leaves
from ptokit.engines.kernels.transposition import NARROW, WIDEST, Line, Place
from ptokit.engines.kernels.walk import Access, LanePositions, address, square_of
from ptokit.machine.record.code import Code, Num, text
from ptokit.machine.record.expressions import Apply, Known, Traced, WindowStore
from ptokit.values import dtypes as t
from ptokit.values.layouts import known

MOST = 256  # lanes of a register
COPY = 32768  # bytes; for longer runs the library's memmove is as fast as loops


class Assign:
    """The store of an expression, or several stores in one walk.

    `targets` are the elements of each; of one store also, if tracked, their shadow.
    """

    def __init__(
        self,
        function: FunctionBase,
        stores: Sequence[WindowStore],
        targets: list[Access],
        used: dict[Leaf, Access],
    ) -> None:
        self.function, self.stores, self.targets, self.used = function, stores, targets, used
        self.store = store = stores[0]
        self.accesses = [*targets, *used.values()]
        moved = store.value
        while isinstance(moved, Apply) and moved.word == "bitcast":
            moved = moved.args[0]
        counts = len(targets), len(used)  # constants are leaves without an access
        read = all(a.pointer and a.each == 1 for a in used.values())  # not counted
        self.plain = counts == (1, 1) and isinstance(moved, Leaf) and read and not store.where

    def lanes(self, parts: Sequence[Traced]) -> int:
        """Return the number of elements per step: whole vectors of the moved or computed type."""
        dtype = self.store.cells.dtype
        if dtype.packed:
            return 1
        found = [leaf for part in parts for leaf in leaves(part)]
        kinds = [dtype, *(leaf.dtype for leaf in found)]
        alone = any(leaf.shares_bytes for leaf in found) or any(gathers(part) for part in parts)
        if self.function.whole and not alone:
            return MOST
        narrow = all(k == t.bf16 for k in kinds)  # bf16 is computed in pairs
        size = dtype.size if self.plain or narrow else 2 if dtype.size == 1 else 4
        return self.function.lanes_of(parts, size)

    def act(self, point: LanePositions) -> None:
        lanes, words = self.function.words(point, self.used)
        found = [each for store in self.stores for each in self._written(lanes, words, store)]
        for target, (kind, value, keep) in zip(self.targets, found, strict=True):
            self._put(lanes, kind, target, point, value, keep)

    def _written(
        self, lanes: Lanes, words: Words, store: WindowStore
    ) -> Iterator[tuple[str, str, str | None]]:
        """Yield type, value and condition of the elements, and those of their shadow."""
        dtype = store.cells.dtype
        keep = None if store.where is None else words.value(store.where)
        yield element(dtype), words.value(store.value), keep
        if len(self.targets) > len(self.stores):  # every bit of the element
            kind = f"i{dtype.size * 8}"
            yield kind, lanes.splat(kind, "15" if dtype.packed else "-1"), keep

    def _put(
        self,
        lanes: Lanes,
        kind: str,
        target: Access,
        point: LanePositions,
        value: str,
        keep: str | None,
    ) -> None:
        function, code = self.function, self.function.code
        position = function.loads.position(target, point, lanes)
        if target.dtype.packed:
            self._put_nibble(target, position, value, keep)
            return
        where = address(code, target, position)
        if kind == "i1":  # a temporary of truth values has a byte for each
            octets = lanes.type("i8")
            kind, value = "i8", code.let(f"zext {lanes.type('i1')} {value} to {octets}")
        if keep is not None:
            old = code.let(f"load {lanes.type(kind)}, ptr {where}, align {target.dtype.size}")
            # frozen, LLVM makes no masked store of it, which some processors have in microcode
            old = code.let(f"freeze {lanes.type(kind)} {old}")
            value = lanes.select(keep, kind, value, old)
        code.do(f"store {lanes.type(kind)} {value}, ptr {where}, align {target.dtype.size}")

    def _put_nibble(self, target: Access, position: Num, value: str, keep: str | None) -> None:
        """Replace one of the two elements of a byte."""
        code = self.function.code
        where = code.let(f"getelementptr i8, ptr {target.pointer}, i64 {text(position // 2)}")
        old = code.let(f"load i8, ptr {where}")
        low = text(position % 2)
        odd = code.let(f"icmp ne i64 {low}, 0")
        shift = code.let(f"select i1 {odd}, i8 4, i8 0")
        mask = code.let(f"select i1 {odd}, i8 15, i8 -16")
        moved = code.let(f"shl i8 {code.let(f'and i8 {value}, 15')}, {shift}")
        new = code.let(f"or i8 {code.let(f'and i8 {old}, {mask}')}, {moved}")
        if keep is not None:
            new = code.let(f"select i1 {keep}, i8 {new}, i8 {old}")
        code.do(f"store i8 {new}, ptr {where}")

    def bulk(self, loop: Loop, point: LanePositions) -> bool:
        """Emit one memmove for a long contiguous run of moved bytes; return whether possible."""
        size = self.store.cells.dtype.size
        one = all(known(s, 1) for s in loop.steps)
        if not (self.plain and one and isinstance(loop.count, int) and loop.count * size >= COPY):
            return False
        code = self.function.code
        target, source = (address(code, a, point.positions[a]) for a in self.accesses)
        count = loop.count * size
        name = "llvm.memmove.p0.p0.i64"
        code.do(f"call void @{name}(ptr {target}, ptr {source}, i64 {count}, i1 false)")
        return True

    def transpose(self, inner: Loop, across: Loop, point: LanePositions) -> bool:
        """Emit calls for rows of transposed square blocks; return whether possible."""
        target, source = self.accesses[0], self.accesses[-1]
        alone = self.plain or self._of_one_leaf()
        if not alone or target.dtype.packed or not known(across.steps[1], 1):
            return False
        code = self.function.code
        square, counts = square_of(source, point.lanes), (inner.count, across.count)

        def places(point: LanePositions) -> tuple[Place, Place]:
            block = address(code, source, point.positions[source]), point.steps[source]
            return block, (address(code, target, point.positions[target]), across.steps[0])

        if self.plain and square.bits <= NARROW:
            square.turn(code, *places(point), counts, min(self.function.host.width, WIDEST))
            return True
        line = None if self.plain else self._line(point.lanes)
        with code.loop(inner.count, "rows of blocks", point.lanes) as index:
            square.move(code, *places(point.moved(inner, index)), across.count, line)
        return True

    def _of_one_leaf(self) -> bool:
        """Return whether the stored value depends on a single operand and constants."""
        value, accesses = self.store.value, len(self.targets) + len(self.used)
        if accesses != 2 or len(self.accesses) != 2 or len(self.used) != 1 or self.store.where:
            return False
        others = (leaf.source for leaf in leaves(value) if leaf not in self.used)
        return not gathers(value) and all(isinstance(source, Known) for source in others)

    def _line(self, count: int) -> Line:
        """Return the code that computes the stored value for one column of a block."""
        code, dtype = Code(), self.store.cells.dtype
        lanes = Lanes(code, count)

        def leaf(node: Traced) -> str:
            node = node if isinstance(node, Leaf) else Leaf(node)  # a constant of a conversion
            return "%column" if node in self.used else self.function.constant(node, lanes)

        value = Words(lanes, leaf, self.used).value(self.store.value)
        return Line("\n".join(code.lines), value, element(dtype), 8 * dtype.size)
