"""One instruction as an LLVM function: its stores, each a few nests of loops over vectors.

The function knows no addresses: memories, numbers and tables come as parameters, so instructions
on the same types share it. It returns 1, before it has written anything, where the reference must
have a look: an index out of range, an element never written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from ptokit.isa.lang.arrays import BOOL
from ptokit.isa.model import dtypes as t
from ptokit.isa.model.dtypes import DType
from ptokit.isa.model.layouts import Axis, IndexMap, known
from ptokit.isa.model.words import GatherOOB
from ptokit.sim.kernels.assign import Assign
from ptokit.sim.kernels.gathers import Gathers
from ptokit.sim.kernels.lanes import Lanes, Words, element
from ptokit.sim.kernels.loads import Loads
from ptokit.sim.kernels.loops import Stream, placed
from ptokit.sim.kernels.lowering import Gather, Leaf, Preparation, gathers, leaves
from ptokit.sim.kernels.temporaries import Temporaries
from ptokit.sim.kernels.walk import FAR, LINE, STILL, Access, Point, Walk, counters
from ptokit.sim.memory import Elements
from ptokit.sim.record.code import Code, Int, NotNative, Num, Undecided, text
from ptokit.sim.record.trace import Index, Known, Read, Recording, Scalar, Span, Store, Traced


@dataclass(frozen=True)
class Host:
    """What of the processor the generator uses."""

    width: int  # bytes of a vector
    fma: bool
    half: bool  # converts f16

    @property
    def permutes(self) -> bool:
        """Whether it looks 16 indices up in a table of 32 numbers in registers: AVX-512."""
        return self.width == 64


class Scratch:
    """Temporary storage of one instruction."""

    number, name = -1, ""

    def __init__(self) -> None:
        self.size = 0

    def room(self, rows: Num, cols: Num, dtype: DType, line: int = 1) -> Elements:
        """A row-major matrix, its rows padded to a multiple of `line` elements."""
        height, width = bound(rows), -(-bound(cols) // line) * line
        address = self.size
        self.size += -(-(height * width + 64) * dtype.size // 64) * 64
        where = IndexMap(Axis(((height, width),)), Axis(((width, 1),)))
        return Elements(self, address, dtype, where)  # type: ignore[arg-type]


def numbered(tables: list[Any], values: Any) -> int:  # Any: NumPy arrays
    """The place of a table among others, where it is put if it is new."""
    for number, table in enumerate(tables):
        if table.dtype == values.dtype and table.tobytes() == values.tobytes():
            return number
    tables.append(values)
    return len(tables) - 1


def bound(count: Num) -> int:
    """The largest value a count can have."""
    limit = count if isinstance(count, int) else count.upper
    if limit is None:
        raise NotNative("a temporary of unknown size")
    return limit


@dataclass
class Function:
    """A function under construction.

    `related` tells how two operands lie: apart, same (one address and layout) or over.
    """

    host: Host
    related: Callable[[Elements, Elements], str]
    tracked: Callable[[Elements], bool]
    code: Code = field(default_factory=Code)
    pointers: dict[tuple[Any, ...], tuple[str, Elements]] = field(default_factory=dict[Any, Any])
    numbers: dict[str, tuple[Int, Int]] = field(default_factory=dict[str, "tuple[Int, Int]"])
    tables: list[Any] = field(default_factory=list[Any])  # Any: NumPy arrays
    scratch: Scratch = field(default_factory=Scratch)
    kernels: dict[str, str] = field(default_factory=dict[str, str])
    slots: list[str] = field(default_factory=list[str])
    checks: bool = False

    def __post_init__(self) -> None:
        self.loads = Loads(self.code)
        self.gathers = Gathers(self)
        self.temporary = Temporaries(self)

    def preparation(self, *written: Store) -> Preparation:
        """What makes expressions ready for loops."""
        return Preparation(self.related, self.temporary, list(written))

    @property
    def crossing(self) -> bool:
        """Whether operands lie over one another."""
        cells = [c for (_, _, shadow), (_, c) in self.pointers.items() if not shadow]
        return any(self.related(a, b) == "over" for a, b in combinations(cells, 2))

    # parameters

    def number(self, value: Num) -> Num:
        """A number of the program as a parameter."""
        if isinstance(value, int) or value.code is self.code:
            return value
        if value.text not in self.numbers:
            name = f"%n{len(self.numbers)}"
            mine = Int(self.code, name, value.multiple, value.upper)
            self.numbers[value.text] = (value, mine)
        return self.numbers[value.text][1]

    def pointer(self, cells: Elements, *, shadow: bool = False) -> str:
        """The address of a view's base."""
        space: Any = cells.memory
        if space is self.scratch:
            if not cells.address:
                return "%scratch"
            return self.code.let(f"getelementptr i8, ptr %scratch, i64 {cells.address}")
        key = (space.number, text(cells.address), shadow)
        if key not in self.pointers:
            self.pointers[key] = (f"%p{len(self.pointers)}", cells)
        return self.pointers[key][0]

    def table(self, values: Any) -> str:  # Any: a NumPy array
        """A pointer to numbers known before the program runs."""
        return f"%t{numbered(self.tables, values)}"

    def slot(self, kind: str) -> str:
        """A local variable; LLVM keeps it in a register."""
        self.slots.append(f"  %s{len(self.slots)} = alloca {kind}")
        return f"%s{len(self.slots) - 1}"

    # what it does

    def body(self, recording: Recording) -> None:
        """The checks and the stores of a recording."""
        try:
            self.check_reads(recording)
            ready = self.preparation().stores(recording.stores)
            for store in ready:
                self.guard_gathers(store)
            for store in ready:
                self.store(store)
        except Undecided as question:  # about a number of the function: nobody can tell
            raise NotNative(str(question)) from None

    def store(self, store: Store) -> None:
        """One store as loops."""
        target = self.access(store.cells, store.rows, store.cols)
        targets = [target]
        if self.tracked(store.cells):
            shadow = self.access(store.cells, store.rows, store.cols, shadow=True)
            targets.append(shadow)
        parts = [store.value] if store.where is None else [store.value, store.where]
        what = "{} {} x {}".format(store.cells.dtype, *map(text, self.counts(store)))
        for part in parts:
            for gather in gathers(part):
                self.gathers.hold(gather)
        run = Assign(self, store, targets, self.uses(parts))
        shape = (run.lanes(parts), *self.counts(store))
        Walk(self.code, *shape, run.accesses, run.act, what, run.bulk).run()

    def access(
        self, cells: Elements, rows: Span, cols: Span, *, shadow: bool = False, repeat: int = 1
    ) -> Access:
        """How a window of a view moves."""
        down, first = self._stream(cells.map.rows, rows)
        across, second = self._stream(cells.map.cols, cols)
        if repeat > 1:
            across = Stream((*across.digits, (repeat, 0)), across.start * repeat)
        offset = self.number(cells.origin) + first + second
        return Access(self.pointer(cells, shadow=shadow), cells.dtype, down, across, offset)

    def _stream(self, axis: Axis, span: Span) -> tuple[Stream, Num]:
        digits: Any = tuple((self.number(n), self.number(step)) for n, step in axis.digits)
        found = placed(digits, self.number(span.start), span.step)
        if found is None:
            raise NotNative("every n-th element of an axis whose boxes hold no whole steps")
        return found

    def uses(self, parts: Sequence[Traced]) -> dict[Leaf, Access]:
        """An access for every leaf that moves."""
        found: dict[Leaf, Access] = {}
        for part in parts:
            for leaf in leaves(part):
                access = None if leaf in found else self._leaf(leaf)
                if access is not None:
                    found[leaf] = access
        return found

    def _leaf(self, leaf: Leaf) -> Access | None:
        source = leaf.source
        if isinstance(source, Read):
            rows, cols = source.row_span, source.col_span
            access = self.access(source.cells, rows, cols, repeat=leaf.repeat)
            if known(rows.count, 1):
                access.rows = _standing(access, access.rows)
            if known(cols.count, 1) and leaf.repeat == 1:
                access.cols = _standing(access, access.cols)
        elif isinstance(source, Known) and source.constant is None:
            access = self._line(source, leaf.repeat)
        elif isinstance(source, Index):
            access = counters()[source.axis]
        else:
            return None
        if leaf.swap:
            access.rows, access.cols = access.cols, access.rows
        return access

    def _line(self, numbers: Known, repeat: int) -> Access:
        """A row or a column of known numbers, as narrow as they are."""
        codes = numbers.array.codes
        values = codes.astype(np.uint8) if numbers.dtype is BOOL else codes
        line = Stream(((values.size, 1),))
        if repeat > 1:
            line = Stream((*line.digits, (repeat, 0)))
        pointer = self.table(np.ascontiguousarray(values.reshape(-1)))
        rows, cols = (line, STILL) if codes.shape[1] == 1 else (STILL, line)
        return Access(pointer, numbers.dtype, rows, cols)

    def counts(self, window: Store) -> tuple[Num, Num]:
        """Rows and columns of a window as parameters."""
        return self.number(window.rows.count), self.number(window.cols.count)

    # what must be done before

    @contextmanager
    def flagging(self) -> Generator[Callable[[Lanes, str], None]]:
        """Loops that look for a lane that is wrong; one leaves all to the reference."""
        slot = self.slot("i1")
        self.code.do(f"store i1 false, ptr {slot}")

        def flag(lanes: Lanes, wrong: str) -> None:
            if lanes.count > 1:
                name = f"vector.reduce.or.v{lanes.count}i1"
                wrong = self.code.let(f"call i1 @llvm.{name}({lanes.type('i1')} {wrong})")
            old = self.code.let(f"load i1, ptr {slot}")
            self.code.do(f"store i1 {self.code.let(f'or i1 {old}, {wrong}')}, ptr {slot}")

        yield flag
        self.checks = True
        self.code.fail(self.code.let(f"load i1, ptr {slot}"))

    def check_reads(self, recording: Recording) -> None:
        """Everything read from a tracked memory must have been written."""
        for read in recording.reads:
            if self.tracked(read.cells):
                self._check_read(read)

    def _check_read(self, read: Read) -> None:
        access = self.access(read.cells, read.row_span, read.col_span, shadow=True)
        window = Store(read.cells, read.row_span, read.col_span, read)
        with self.flagging() as flag:

            def act(point: Point) -> None:
                lanes = Lanes(self.code, point.lanes)
                kind = f"i{read.dtype.size * 8}"
                codes = self.loads.load(access, point)
                if read.dtype == t.f32:
                    codes = lanes.bits("float", codes, kind)
                full = lanes.splat(kind, "15" if read.dtype.packed else "-1")
                flag(lanes, lanes.op("icmp ne", kind, codes, full))

            lanes = 1 if read.dtype.packed else self.host.width // read.dtype.size
            Walk(self.code, lanes, *self.counts(window), [access], act, "was it written?").run()

    def guard_gathers(self, store: Store) -> None:
        """Indices that must lie inside are looked at before anything is written."""
        for part in (store.value, store.where):
            for gather in () if part is None else gathers(part):
                if gather.taken.outside is GatherOOB.ERROR:
                    self._guard(gather, store)

    def _guard(self, gather: Gather, window: Store) -> None:
        inner = [gather.index] if gather.where_ is None else [gather.index, gather.where_]
        used = self.uses(inner)
        lanes = self.lanes_of([gather])
        with self.flagging() as flag:

            def act(point: Point) -> None:
                flag(*self.gathers.inside(gather, point, used))

            first = Access("", t.i64, FAR, LINE)  # columns innermost
            accesses, what = [first, *used.values()], "indices inside?"
            Walk(self.code, lanes, *self.counts(window), accesses, act, what).run()

    # lanes

    def lanes(self, size: int) -> int:
        return max(4, self.host.width // size)

    def lanes_of(self, parts: Sequence[Traced], size: int = 4) -> int:
        """How many elements of these expressions, of so many bytes, are computed at once."""
        found = [g for part in parts for g in gathers(part)]
        if any(leaf.dtype.packed for part in parts for leaf in leaves(part)):
            return 1
        return min((self.gathers.lanes(g) for g in found), default=self.lanes(size))

    def words(self, point: Point, used: dict[Leaf, Access]) -> tuple[Lanes, Words]:
        """The vocabulary on the lanes of a point."""
        lanes = Lanes(self.code, point.lanes)

        def leaf(node: Traced) -> str:
            if isinstance(node, Gather):
                return self.gathers.value(node, point, words)
            node = node if isinstance(node, Leaf) else Leaf(node)  # a constant of a conversion
            return (
                self.loads.load(used[node], point) if node in used else self.constant(node, lanes)
            )

        words = Words(lanes, leaf, used)
        return lanes, words

    def constant(self, leaf: Leaf, lanes: Lanes) -> str:
        source, kind = leaf.source, element(leaf.dtype)
        if isinstance(source, Known):
            code = source.constant
            assert code is not None
            if leaf.dtype == t.f32:
                bits = lanes.splat("i32", str(code))
                return lanes.bits("i32", bits, "float")
            return lanes.splat(kind, ("true" if code else "false") if kind == "i1" else str(code))
        assert isinstance(source, Scalar)
        number = text(self.number(source.value))
        if leaf.dtype.is_float:
            raise NotNative("a float that only the running program knows")
        if leaf.dtype.size < 8:
            number = self.code.let(f"trunc i64 {number} to {kind}")
        return lanes.spread(kind, number)


def _standing(access: Access, line: Stream) -> Stream:
    """One row (or column) that serves every row: its place becomes part of the offset."""
    start: Any = line.start  # Any: a number, known or not
    access.offset = access.offset + Axis(line.digits).offset(start)
    return STILL
