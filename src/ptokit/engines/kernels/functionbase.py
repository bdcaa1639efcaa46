"""The state that all parts of a generated function share: parameters and accesses to operands.

Gathers, folds, temporaries and assignments build on this class; `opfunction` combines them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from ptokit.engines.kernels.ahead import QUEUE
from ptokit.engines.kernels.definedness import ShadowSpace
from ptokit.engines.kernels.lanes import Lanes, Words
from ptokit.engines.kernels.loads import Loads
from ptokit.engines.kernels.loops import Stream, placed
from ptokit.engines.kernels.lowering import ONCE, Leaf, Preparation, Times, leaves
from ptokit.engines.kernels.overlap import Overlap
from ptokit.engines.kernels.walk import LINE, STILL, Access, LanePositions, counters
from ptokit.machine.cache import Host
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Code, Int, NotNative, Num, text
from ptokit.machine.record.expressions import (
    AxisWindow,
    Known,
    Positions,
    Traced,
    WindowRead,
    WindowStore,
)
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL
from ptokit.values.dtypes import DType
from ptokit.values.host import AnyArray
from ptokit.values.layouts import Axis, IndexMap, known


class Scratch:
    """The temporary storage of one instruction."""

    number, name = -1, ""

    def __init__(self) -> None:
        self.size = QUEUE

    def room(
        self, rows: Num, cols: Num, dtype: DType, line: int = 1, *, panels: bool = False
    ) -> Elements:
        """Allocate a row-major matrix whose rows are padded to a multiple of `line` elements.

        `panels`: each `line` columns are a matrix of their own.
        """
        height, width = bound(rows), -(-bound(cols) // line) * line
        dtype = t.u8 if dtype.packed else dtype
        address = self.size
        self.size += -(-(height * width + 64) * dtype.size // 64) * 64
        where = IndexMap(Axis(((height, width),)), Axis(((width, 1),)))
        if panels:
            across = (width // line, height * line), (line, 1)
            where = IndexMap(Axis(((height, line),)), Axis(across))
        return Elements(self, address, dtype, where)  # type: ignore[arg-type]  # a Scratch stands for a memory


SPREAD = (2, 4, 8, 16)  # repetitions that fill lanes; more of them are loops of their own
COUNTED = 4096  # bytes of numbers in sequence: to count costs less than to read so many
PointerKey: TypeAlias = "tuple[int, str, bool]"  # space, address, whether it is the shadow
Pointed: TypeAlias = "tuple[str, Elements]"


def numbered(tables: list[AnyArray], values: AnyArray) -> int:
    """Return the index of a table among `tables`, and append the table if it is new."""
    for number, table in enumerate(tables):
        if table.dtype == values.dtype and table.tobytes() == values.tobytes():
            return number
    tables.append(values)
    return len(tables) - 1


def bound(count: Num) -> int:
    """Return the largest value of a count; NotNative if no bound is known."""
    limit = count if isinstance(count, int) else count.upper
    if limit is None:
        raise NotNative("a temporary of unknown size")
    return limit


@dataclass
class FunctionBase(ABC):
    """The parameters and accesses of a function under construction.

    `related` returns the overlap of two operands.
    """

    host: Host
    related: Callable[[Elements, Elements], Overlap]
    tracked: Callable[[Elements], bool]
    code: Code = field(default_factory=Code)
    pointers: dict[PointerKey, Pointed] = field(default_factory=dict[PointerKey, Pointed])
    numbers: dict[str, tuple[Int, Int]] = field(default_factory=dict[str, "tuple[Int, Int]"])
    tables: list[AnyArray] = field(default_factory=list[AnyArray])
    scratch: Scratch = field(default_factory=Scratch)
    slots: list[str] = field(default_factory=list[str])
    checks: bool = False
    name: str = ""  # in the module
    whole: bool = False  # each store is one step over all lanes of its register
    by_data: Callable[[Traced], bool] = lambda _: False  # conditions that differ between runs

    def __post_init__(self) -> None:
        self.code.many = self.host.many
        self.loads = Loads(self.code)

    @abstractmethod
    def preparation(self, *written: WindowStore) -> Preparation:
        """Return the preparation of expressions for loops."""

    @abstractmethod
    def store(self, store: WindowStore, *others: WindowStore) -> None:
        """Emit stores as loops: one, or several that walk alike."""

    @abstractmethod
    def guard_gathers(self, store: WindowStore) -> None:
        """Emit checks of the indices of a store, before anything is written."""

    @abstractmethod
    def lanes_of(self, parts: Sequence[Traced], size: int = 4) -> int:
        """Return how many elements of `size` bytes of these expressions are computed per step."""

    @abstractmethod
    def words(self, point: LanePositions, used: dict[Leaf, Access]) -> tuple[Lanes, Words]:
        """Return the vector instructions for the lanes of a point."""

    @abstractmethod
    def constant(self, leaf: Leaf, lanes: Lanes) -> str:
        """Return a constant in every lane."""

    # parameters

    def number(self, value: Num) -> Num:
        """Return a number of the program as a parameter."""
        if isinstance(value, int) or value.code is self.code:
            return value
        if value.text not in self.numbers:
            name = f"%n{len(self.numbers)}"
            mine = Int(self.code, name, value.multiple, value.upper)
            self.numbers[value.text] = (value, mine)
        return self.numbers[value.text][1]

    def pointer(self, cells: Elements, *, shadow: bool = False) -> str:
        """Return the base address of a view as a parameter."""
        space: Any = cells.memory  # Any: a Space or the Scratch
        if space is self.scratch:
            if not cells.address:
                return "%scratch"
            return self.code.let(f"getelementptr i8, ptr %scratch, i64 {cells.address}")
        if isinstance(space, ShadowSpace):
            space, shadow = space.of, True
        key = (space.number, text(cells.address), shadow)
        if key not in self.pointers:
            self.pointers[key] = (f"%p{len(self.pointers)}", cells)
        return self.pointers[key][0]

    def table(self, values: AnyArray) -> str:
        """Return a pointer to a table of compile-time numbers."""
        return f"%t{numbered(self.tables, values)}"

    def filling(self, dtype: DType, code: int, count: int) -> str:
        """Return a pointer to elements of one code."""
        return self.table(np.full(count, code, f"u{dtype.size}"))

    def slot(self, kind: str) -> str:
        """Return a local variable, which LLVM keeps in a register."""
        self.slots.append(f"  %s{len(self.slots)} = alloca {kind}")
        return f"%s{len(self.slots) - 1}"

    def access(
        self,
        cells: Elements,
        rows: AxisWindow,
        cols: AxisWindow,
        *,
        shadow: bool = False,
        repeat: Times = ONCE,
    ) -> Access:
        """Return the access of a window of a view."""
        down, first = self._stream(cells.map.rows, rows)
        across, second = self._stream(cells.map.cols, cols)
        down, across = map(_repeated, (down, across), repeat)
        offset = self.number(cells.origin) + first + second
        return Access(self.pointer(cells, shadow=shadow), cells.dtype, down, across, offset)

    def _stream(self, axis: Axis, span: AxisWindow) -> tuple[Stream, Num]:
        digits: Any = tuple((self.number(n), self.number(m)) for n, m in axis.digits)  # Any: Nums
        found = placed(digits, self.number(span.start), span.step)
        if found is None:
            raise NotNative("every n-th element of an axis whose boxes hold no whole steps")
        return found

    def uses(self, parts: Sequence[Traced], *, spread: bool = False) -> dict[Leaf, Access]:
        """Return an access for every leaf that is read from memory.

        `spread`: repeated elements fill lanes, else the loops are cut where the next one begins.
        """
        found: dict[Leaf, Access] = {}
        for part in parts:
            for leaf in leaves(part):
                access = None if leaf in found else self._leaf(leaf, spread)
                if access is not None:
                    found[leaf] = access
        return found

    def _leaf(self, leaf: Leaf, spread: bool) -> Access | None:
        source = leaf.source
        if isinstance(source, WindowRead):
            rows, cols, (down, across) = source.row_span, source.col_span, leaf.repeat
            lies = known(source.cells.map.cols.digits[-1][1], cols.step) and not leaf.shares_bytes
            alone = leaf.swap or leaf.cuts
            spread = spread and across in SPREAD and not alone and lies
            access = self.access(
                source.cells, rows, cols, repeat=(down, 1) if spread else leaf.repeat
            )
            if spread:
                access = _spread(access, across)
            if known(rows.count, 1):
                access.rows = _standing(access, access.rows)
            if known(cols.count, 1):
                access.cols = _standing(access, access.cols)
        elif isinstance(source, Known) and source.constant is None:
            access = self._line(source, max(leaf.repeat), spread=not leaf.cuts)
        elif isinstance(source, Positions):
            access = counters()[source.axis]
        else:
            return None
        if leaf.swap:
            access.rows, access.cols = access.cols, access.rows
        return access

    def _line(self, numbers: Known, repeat: int, *, spread: bool) -> Access:
        """Return the access of compile-time numbers; `repeat`: of each, along a line."""
        codes = numbers.array.codes
        values = np.ascontiguousarray(codes.reshape(-1))
        if values.nbytes >= COUNTED and repeat == 1 and _counts(numbers.dtype, values):
            rows, cols = (LINE, STILL) if codes.shape[1] == 1 else (STILL, LINE)
            return Access("", numbers.dtype, rows, cols, int(values[0]))
        pointer = self.table(values.astype(np.uint8) if numbers.dtype is BOOL else values)
        if 1 not in codes.shape:  # a matrix, of which each row is a line
            down, across = Stream(((1 << 40, codes.shape[1]),)), Stream(((codes.shape[1], 1),))
            return Access(pointer, numbers.dtype, down, _repeated(across, repeat))
        line = _repeated(Stream(((values.size, 1),)), repeat)
        rows, cols = (line, STILL) if codes.shape[1] == 1 else (STILL, line)
        return Access(pointer, numbers.dtype, rows, cols)

    def counts(self, window: WindowStore) -> tuple[Num, Num]:
        """Return the rows and columns of a window as parameters."""
        return self.number(window.rows.count), self.number(window.cols.count)

    def lanes(self, size: int) -> int:
        return max(4, self.host.width // size)


def _counts(dtype: DType, values: AnyArray) -> bool:
    """Return whether each integer is the one before and 1."""
    return dtype.is_int and not dtype.packed and bool((np.diff(values) == 1).all())


def _repeated(line: Stream, times: int) -> Stream:
    """Return a stream that visits each position `times` times in a row."""
    return Stream((*line.digits, (times, 0)), line.start * times) if times > 1 else line


def _spread(access: Access, times: int) -> Access:
    """Return an access whose positions count the repetitions of each column's element."""
    lines = (
        Stream(tuple((count, step * times) for count, step in line.digits), line.start)
        for line in (access.rows, access.cols)
    )
    rows, cols = lines
    cols = Stream((*cols.digits, (times, 1)), cols.start * times)
    return replace(access, rows=rows, cols=cols, offset=access.offset * times, each=times)


def _standing(access: Access, line: Stream) -> Stream:
    """Add the position of a single row or column to the offset; return a stream without steps."""
    start: Any = line.start  # Any: a Num
    access.offset = access.offset + Axis(line.digits).offset(start)
    return STILL
