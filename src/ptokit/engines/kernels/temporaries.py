"""Temporaries: results that cannot be computed per element get loops and storage of their own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from math import gcd

from ptokit.engines.kernels import merges, ordering
from ptokit.engines.kernels.folds import Fold
from ptokit.engines.kernels.functionbase import FunctionBase, bound
from ptokit.engines.kernels.lanes import Lanes, element
from ptokit.engines.kernels.lowering import IDEMPOTENT, Leaf
from ptokit.engines.kernels.products import Products, cast_to
from ptokit.engines.kernels.walk import LanePositions, Walk, counters
from ptokit.machine.evaluation import scalar
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Int, NotNative, Num, text
from ptokit.machine.record.expressions import (
    AxisWindow,
    Known,
    Traced,
    Whole,
    WindowRead,
    WindowStore,
    spans,
)
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL
from ptokit.values.layouts import Axis, IndexMap, known

GROUP = 4  # lanes of 16 bytes, within which processors move lanes fast
LOWEST = 0x0101010101010101  # the lowest bit of each byte of a word
ONE_EACH = 0x8040201008040201 - (1 << 64)  # bit n in byte n
ON_TOP = 0x0102040810204080  # a factor that moves the lowest bit of byte n to bit 56 + n


def _by_eights(octets: Elements) -> Elements:
    """Return rows of padded bytes as 64-bit words."""
    rows, line = octets.map.rows.digits[0]
    where = IndexMap(Axis(((rows, line // 8),)), Axis(((line // 8, 1),)))
    return Elements(octets.memory, octets.address, t.u64, where)


def _earlier(count: int, step: int) -> list[int]:
    """Return which lane a sum of lanes adds to each in the step; `count`: nothing."""
    if step < GROUP:
        return [n - step if n % GROUP >= step else count for n in range(count)]
    return [n // step * step - 1 if n // step % 2 else count for n in range(count)]


class Temporaries:
    """The generator of temporaries for products, folds, compactions and copied windows."""

    def __init__(self, function: FunctionBase) -> None:
        self.function, self.code, self.scratch = function, function.code, function.scratch
        self.products = Products(function, self.fill, self._folded)
        self.merges: dict[tuple[Traced, ...], tuple[Elements, Elements]] = {}

    def __call__(self, node: Traced) -> WindowRead:
        """Emit the loops that compute the temporary; return a window over its result."""
        words: dict[str, Callable[[Whole], Elements]] = {
            "matmul": self.products.product,
            "fold": self._folded,
            "compact": self._compacted,
            "count": self._counted,
            "pack": self._packed,
            "bits": self._bits,
            "pad": self._widened,
            "join_columns": self._join_columns,
            "sort": self._sorted,
            "merge": lambda node: self._merged(node)[0],
            "taken": lambda node: self._merged(node)[1],
            "tally": self._tallied,
        }
        if isinstance(node, Whole) and node.word in words:
            cells = words[node.word](node)
        else:
            cells = self._copied(node)
        return WindowRead(cells, *spans(node))

    def _copied(self, node: Traced) -> Elements:
        """Emit a copy, row by row; a reshape reads the copy with its own rows."""
        reshaped = isinstance(node, Whole) and node.word == "reshape"
        source = node.first if isinstance(node, Whole) and reshaped else node
        cells = self.scratch.room(source.rows, source.cols, source.dtype)
        self.fill(cells, Leaf(source) if isinstance(node, WindowRead) else source)
        if reshaped:
            fixed = known(source.rows, 1) or isinstance(source.cols, int)
            if not (fixed and isinstance(node.cols, int)):
                raise NotNative("a reshape of unknown size")
            where = IndexMap(Axis(((1 << 40, node.cols),)), Axis(((node.cols, 1),)))
            cells = Elements(cells.memory, cells.address, cells.dtype, where)
        return cells

    def fill(self, cells: Elements, value: Traced, col: Num = 0) -> None:
        """Emit loops that store a value into a temporary, starting at a column."""
        stores = [WindowStore(cells, AxisWindow(0, value.rows), AxisWindow(col, value.cols), value)]
        if not isinstance(value, Leaf):
            stores = self.function.preparation().stores(stores)
        for store in stores:  # none if the value is empty
            self.function.guard_gathers(store)
            self.function.store(store)

    def _widened(self, node: Whole) -> Elements:
        """Emit the padding everywhere, then the elements over it."""
        source, value = node.args
        cells = self.scratch.room(node.rows, node.cols, node.dtype)
        self.function.store(WindowStore(cells, *spans(node), Leaf(value)))
        self.fill(cells, source)
        return cells

    def _counted(self, node: Whole) -> Elements:
        total = node.first.cast(t.i32).fold("add", axis=1, start=0)
        assert isinstance(total, Whole)
        return self._folded(total)

    def _compacted(self, node: Whole) -> Elements:
        """Compact row by row: write each element, and overwrite it unless it is kept."""
        keep = node.args[1]
        window = WindowStore(
            self.scratch.room(node.rows, node.cols, node.dtype), *spans(node), node
        )
        prepare = self.function.preparation(window)
        parts = [prepare(node.first), prepare(keep)]
        used, slot = self.function.uses(parts), self.function.slot("i64")
        line = window.cells.map.rows.digits[0][1]
        pointer = self.function.pointer(window.cells)
        rows, cols = counters()

        def act(point: LanePositions) -> None:
            lanes, words = self.function.words(point, used)
            value, kept = (words.value(p) for p in parts)
            kind, row, col = element(node.dtype), point.positions[rows], point.positions[cols]
            fresh = self.code.let(f"icmp eq i64 {text(col)}, 0")
            old = self.code.let(f"load i64, ptr {slot}")
            count = self.code.let(f"select i1 {fresh}, i64 0, i64 {old}")
            place = Int(self.code, count) + row * line
            where = self.code.let(f"getelementptr {kind}, ptr {pointer}, i64 {text(place)}")
            if lanes.count == 1:
                self.code.do(f"store {kind} {value}, ptr {where}")
                step = self.code.let(f"zext i1 {kept} to i64")
            else:
                step = self._compress(lanes, kind, value, kept, where)
            after = self.code.let(f"add i64 {count}, {step}")
            self.code.do(f"store i64 {after}, ptr {slot}")

        self.code.do(f"store i64 0, ptr {slot}")
        accesses = [cols, rows, *used.values()]
        shape = (self.function.lanes_of(parts), *self.function.counts(window))
        Walk(self.code, *shape, accesses, act, "compact", ordered=True).run()
        return window.cells

    def _compress(self, lanes: Lanes, kind: str, value: str, kept: str, where: str) -> str:
        """Store the kept lanes contiguously, with garbage after them; return their number."""
        kinds, count = lanes.type(kind), lanes.count
        name = f"experimental.vector.compress.{lanes.mangled(kind)}"
        mask = f"{lanes.type('i1')} {kept}"
        moved = self.code.let(f"call {kinds} @llvm.{name}({kinds} {value}, {mask}, {kinds} poison)")
        self.code.do(f"store {kinds} {moved}, ptr {where}, align 1")
        bits = self.code.let(f"bitcast {mask} to i{count}")
        number = self.code.let(f"call i{count} @llvm.ctpop.i{count}(i{count} {bits})")
        return self.code.let(f"zext i{count} {number} to i64")

    def _packed(self, node: Whole) -> Elements:
        """Pack truth values: eight bytes as a word, whose product has their bits at the top."""
        octets = self.scratch.room(node.rows, node.first.cols, t.u8, 8)
        whole = (AxisWindow(0, bound(node.rows)), AxisWindow(0, octets.map.rows.digits[0][1]))
        none = Leaf(Known(scalar(0, t.u8)))
        self.function.store(WindowStore(octets, *whole, none))
        self.fill(octets, cast_to(node.first, t.u8))
        words = WindowRead(_by_eights(octets), AxisWindow(0, node.rows), AxisWindow(0, node.cols))
        cells = self.scratch.room(node.rows, node.cols, t.u8)
        self.fill(cells, cast_to(words * ON_TOP >> 56, t.u8))
        return cells

    def _bits(self, node: Whole) -> Elements:
        """Unpack each byte: eight copies in a word, of which each keeps one bit as its lowest."""
        octets = self.scratch.room(node.rows, node.cols, BOOL, 8)
        each = (cast_to(node.first, t.u64) * LOWEST) & ONE_EACH
        self.fill(_by_eights(octets), cast_to((each + 127 * LOWEST >> 7) & LOWEST, t.u64))
        return octets

    def _join_columns(self, node: Whole) -> Elements:
        cells, start = self.scratch.room(node.rows, node.cols, node.dtype), 0
        for part in node.args:
            if not known(part.cols, 0):
                self.fill(cells, part, start)
            start = start + part.cols
        return cells

    def _in_room(self, part: Traced, line: int) -> Elements:
        """Return an operand copied to storage with padded rows."""
        cells = self.scratch.room(part.rows, part.cols, part.dtype, line)
        self.fill(cells, part)
        return cells

    def _in_line(self, part: Traced) -> tuple[Num, Elements]:
        """Return words in rows and the first one; where they lie if they do, else a copy."""
        while isinstance(part, Whole) and part.word == "reshape" and known(part.rows, 1):
            part = part.first
        if isinstance(part, WindowRead) and known(part.rows, 1) and known(part.row_span.start, 0):
            cells, cols = part.cells, part.col_span
            across = cells.map.cols.digits
            if cols.step == 1 and len(across) == 1 and known(across[0][1], 1):
                return self.function.number(cells.origin) + self.function.number(cols.start), cells
        return 0, self._in_room(part, 1)

    def _sorted(self, node: Whole) -> Elements:
        """Sort block by block; each row of blocks is padded for the lanes of the last block."""
        block, lanes = node.parameters["block"], self.function.lanes(8)
        records, keys = (self._in_room(part, block * lanes) for part in node.args)
        out = self.scratch.room(node.rows, node.cols, node.dtype, block * lanes)
        self.code.kernels["sort"] = ordering.sort(lanes)
        rows, cols = self.function.number(node.rows), self.function.number(node.cols)
        with self.code.loop(rows, "sort") as row, self.code.loop(cols, "blocks", block) as col:
            count = Int(self.code, text(cols - col)).least(block)
            places = (self._place(c, row, col) for c in (keys, records, out))
            self.code.do(f"call void @sort({', '.join(places)}, i64 {text(count)})")
        return out

    def _place(self, cells: Elements, row: Num, col: Num = 0) -> str:
        """Return the address of an element of a temporary, as a call argument."""
        (_, line), *_ = cells.map.rows.digits
        kind, base = f"i{cells.dtype.bits}", self.function.pointer(cells)
        index = text(col + row * line)
        return f"ptr {self.code.let(f'getelementptr {kind}, ptr {base}, i64 {index}')}"

    def _merged(self, node: Whole) -> tuple[Elements, Elements]:
        """Return the merged elements, and how many of each run were taken."""
        if node.args not in self.merges:
            lengths = [self.function.number(n) for n in node.parameters["lengths"]]
            keys = self._in_room(node.args[1], 1)
            begin, records = self._in_line(node.first)
            out = self.scratch.room(keys.map.rows.extent, bound(node.first.cols), t.u64)
            taken = self.scratch.room(node.rows, len(lengths), t.i32)
            runs, total = len(lengths), bound(node.first.cols)
            room = self.scratch.room(1, merges.room(total, runs), t.u64)
            self.code.kernels |= merges.kernels(runs, self.function.lanes(8))
            ends = [f"i64 {text(end)}" for end in accumulate(lengths)]
            with self.code.loop(self.function.number(node.rows), "merge") as row:
                places = [self._place(c, row) for c in (keys, out, taken)]
                places.insert(1, self._place(records, row, begin))
                places.append(self._place(room, 0))
                self.code.do(f"call void @merge{runs}({', '.join([*places, *ends])})")
            self.merges[node.args] = out, taken
        return self.merges[node.args]

    def _tallied(self, node: Whole) -> Elements:
        """Count the elements of each bin, then add the counts of all earlier bins."""
        cells, none = self.scratch.room(node.rows, node.cols, t.u32), Leaf(Known(scalar(0, t.u32)))
        self.function.store(WindowStore(cells, *spans(node), none))
        window = WindowStore(cells, *spans(node.first), node)
        parts = [self.function.preparation(window)(cast_to(part, t.i64)) for part in node.args]
        used, pointer = self.function.uses(parts), self.function.pointer(cells)
        rows, cols = counters()

        def act(point: LanePositions) -> None:
            for one in point.alone():
                _, words = self.function.words(one, used)
                place, *ones = (words.value(p) for p in parts)
                step = "1"
                for keep in ones:  # elements that do not count add 0 to the first bin
                    place = self.code.let(f"mul i64 {place}, {keep}")
                    step = self.code.let(f"trunc i64 {keep} to i32")
                row = one.positions[rows] * node.cols
                self._add(self._bin(pointer, Int(self.code, place) + row), step)

        shape = self.function.lanes_of(parts, 8), *self.function.counts(window)
        Walk(self.code, *shape, [cols, rows, *used.values()], act, "tally", ordered=True).run()
        self._summed(pointer, self.function.number(node.rows), bound(node.cols))
        return cells

    def _summed(self, pointer: str, rows: Num, bins: int) -> None:
        """Add the counts of all earlier bins to each: in a vector, then the sum before it."""
        lanes = Lanes(self.code, gcd(bins, self.function.lanes(4)))
        kinds, none = lanes.type("i32"), lanes.splat("i32", "0")
        before = self.function.slot(kinds)  # a register: memory would pass on each sum too late
        with self.code.loop(rows, "sums") as row:
            self.code.do(f"store {kinds} {none}, ptr {before}")
            with self.code.loop(bins, "of bins", lanes.count) as col:
                where = self._bin(pointer, row * bins + col)
                found = self.code.let(f"load {kinds}, ptr {where}, align 4")
                for step in (1 << n for n in range(lanes.count.bit_length() - 1)):
                    earlier = lanes.shuffle("i32", found, none, _earlier(lanes.count, step))
                    found = lanes.op("add", "i32", found, earlier)
                sums = self.code.let(f"load {kinds}, ptr {before}")
                total = lanes.op("add", "i32", found, sums)
                self.code.do(f"store {kinds} {total}, ptr {where}, align 4")
                if lanes.count > 1:
                    found = lanes.shuffle("i32", found, found, [lanes.count - 1] * lanes.count)
                self.code.do(f"store {kinds} {lanes.op('add', 'i32', sums, found)}, ptr {before}")

    def _bin(self, pointer: str, place: Num) -> str:
        return self.code.let(f"getelementptr i32, ptr {pointer}, i64 {text(place)}")

    def _add(self, where: str, more: str) -> None:
        total = self.code.let(f"add i32 {self.code.let(f'load i32, ptr {where}')}, {more}")
        self.code.do(f"store i32 {total}, ptr {where}")

    def _folded(self, node: Whole) -> Elements:
        """Fold along one axis in ascending index; the lanes hold the other axis."""
        axis, word, start = (node.parameters[k] for k in ("axis", "word", "start"))
        if start is None and word not in IDEMPOTENT:
            raise NotNative(f"fold of {word} without a start")
        if known(node.first.rows if axis == 0 else node.first.cols, 0):
            raise NotNative("fold of nothing")
        cells = self.scratch.room(node.rows, node.cols, node.dtype)
        out = WindowStore(cells, *spans(node), node)
        x = self.function.preparation(out)(node.first)
        Fold(self.function, out, x, axis, word, start).run()
        return cells
