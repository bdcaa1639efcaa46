"""Lowering of expressions into a form that loops can evaluate.

Transposes and repetitions move to the leaves, where they only change the walk of an operand. A
product, fold or compaction, which cannot be computed per element, becomes a temporary; so does a
read of elements that the instruction overwrites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ptokit.engines.kernels.loads import in_row_order
from ptokit.engines.kernels.overlap import MUST_ALIAS, NO_ALIAS, Overlap
from ptokit.engines.kernels.runs import RunPlaces, Runs
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import NotNative, text
from ptokit.machine.record.expressions import (
    Apply,
    AxisWindow,
    Known,
    Positions,
    ScatterStore,
    Taken,
    Traced,
    Whole,
    WindowRead,
    WindowStore,
)
from ptokit.machine.record.slices import slice_windows
from ptokit.values.layouts import Axis, IndexMap, known

IDEMPOTENT = ("max", "min", "and", "or")


Times: TypeAlias = tuple[int, int]  # repetitions of each row, and of each column
ONCE: Times = (1, 1)


class Leaf(Traced):
    """A leaf of a lowered expression: repeated, then transposed if `swap` is set.

    An axis of one element is not repeated, since it serves every index.
    """

    def __init__(self, source: Traced, swap: bool = False, repeat: Times = ONCE) -> None:
        down = 1 if known(source.rows, 1) else repeat[0]
        across = 1 if known(source.cols, 1) else repeat[1]
        rows, cols = source.rows * down, source.cols * across
        super().__init__(source.dtype, *((cols, rows) if swap else (rows, cols)))
        self.source, self.swap, self.repeat = source, swap, (down, across)
        self.cuts = False  # loops are cut where the next element begins

    @property
    def shares_bytes(self) -> bool:
        """Return whether two of its elements share a byte of memory."""
        source = self.source
        return isinstance(source, WindowRead) and source.cells.dtype.packed


class Gather(Traced):
    """A lowered `Taken`, with the index and the condition as expressions over the loops."""

    def __init__(self, taken: Taken, index: Traced, where: Traced | None, cells: Elements) -> None:
        super().__init__(taken.dtype, taken.rows, taken.cols)
        self.taken, self.index, self.where_, self.cells = taken, index, where, cells

    @property
    def parts(self) -> list[Traced]:
        """The expressions that say what is gathered."""
        return [self.index] if self.where_ is None else [self.index, self.where_]


class RunGather(Gather):
    """A gather of runs: `index` is where the run of each element begins; `column` counts columns.

    `fill` is the code of elements of runs that are not read.
    """

    def __init__(self, taken: Taken, places: RunPlaces, cells: Elements, fill: int) -> None:
        begins = Leaf(places.begins, repeat=(1, places.size))
        begins.cuts = True  # a run is one load
        super().__init__(taken, begins, None, cells)
        self.size, self.whole, self.fill = places.size, places.whole, fill
        self.column = Leaf(Positions(1, taken.cols))

    @property
    def parts(self) -> list[Traced]:
        return [self.index, self.column]


def leaves(node: Traced) -> list[Leaf]:
    """Return every leaf of a lowered expression."""
    if isinstance(node, Leaf):
        return [node]
    return [n for n in _nodes(node, inside=True) if isinstance(n, Leaf)]


def gathers(node: Traced) -> list[Gather]:
    """Return the gathers of a lowered expression, except those that compute indices."""
    if isinstance(node, Leaf):
        return []
    return [n for n in _nodes(node, inside=False) if isinstance(n, Gather)]


def _nodes(node: Traced, *, inside: bool) -> Iterator[Traced]:
    """Return the nodes of an expression, each once; with `inside`, also those of gathers."""
    found, left = dict[Traced, None](), [node]
    while left:
        node = left.pop()
        if node in found:
            continue
        found[node] = None
        if isinstance(node, Apply):
            left += reversed(node.args)
        elif isinstance(node, Gather) and inside:
            left += reversed(node.parts)
    return iter(found)


@dataclass
class Preparation:
    """The lowering of the stores of one instruction, in order.

    `written` are the stores of the instruction up to the current one. `made` are its temporaries,
    all computed before its first store.
    """

    related: Callable[[Elements, Elements], Overlap]
    temporary: Callable[[Traced], WindowRead]  # emits the loops that fill a temporary
    unpacked: Callable[[WindowRead], WindowRead]  # emits the loops that unpack a tile
    written: list[WindowStore]
    made: dict[Traced, WindowRead]
    runs: Runs

    def __post_init__(self) -> None:
        self.done: dict[tuple[Traced, bool, Times], Traced] = {}

    def stores(self, stores: Sequence[WindowStore]) -> list[WindowStore]:
        """Return the lowered stores, without empty and dead ones."""
        ready: list[WindowStore] = []
        stores = [s for s in stores if not (known(s.rows.count, 0) or known(s.cols.count, 0))]
        stores = [s for n, s in enumerate(stores) if not any(_kills(o, s) for o in stores[n + 1 :])]
        stores = [_uncovered(s, stores[n + 1 :]) for n, s in enumerate(stores)]
        for number, store in enumerate(stores):
            store = _unfolded(store)
            self.written, self.done = [*stores[:number], store], {}
            ready.append(store.mapped(self))
        return ready

    def __call__(self, node: Traced, swap: bool = False, repeat: Times = ONCE) -> Traced:
        """Return the lowered form of an expression in this orientation."""
        key = (node, swap, repeat)
        if key not in self.done:
            self.done[key] = self._prepared(node, swap, repeat)
        return self.done[key]

    def _prepared(self, node: Traced, swap: bool, repeat: Times) -> Traced:
        if isinstance(node, Apply) and repeat != ONCE:  # computed once, not once per copy
            return Leaf(self._temporary(node), swap, repeat)
        if isinstance(node, Apply):
            filled = None if swap else self._filled(node)
            if filled is not None:
                return filled
            args = [self(a, swap) for a in node.args]
            return Apply(node.word, args, node.parameters)
        if isinstance(node, Taken):
            if swap or repeat != ONCE:
                raise NotNative("a gather in another shape")
            if found := self._in_runs(node):
                return found
            where = None if node.where_ is None else self(node.where_)
            return Gather(node, self(node.index), where, self._table(node))
        if isinstance(node, Whole):
            down, across = repeat
            if node.word == "transpose":
                return self(node.first, not swap, (across, down))
            if node.word == "repeat":
                return self(node.first, swap, (down, across * node.parameters["count"]))
            alike = node.word == "reshape" and known(node.rows, 1) and known(node.first.rows, 1)
            if alike or (node.word == "window" and _begins(node)):
                return self(node.first, swap, repeat)
            if node.word == "window":
                return Leaf(self._part(node), swap, repeat)
            return Leaf(self._temporary(node), swap, repeat)
        if isinstance(node, WindowRead):
            read = self.unpacked(node)
            node = self._temporary(read) if self._overwritten(read, swap) else read
        return Leaf(node, swap, repeat)

    def _filled(self, node: Apply) -> RunGather | None:
        """Return a selection of gathered runs, or a constant where none is read, as one gather."""
        if node.word != "where":
            return None
        condition, taken, other = node.args
        code = other.constant if isinstance(other, Known) else None
        if code is None or not isinstance(taken, Taken) or taken.where_ is not condition:
            return None
        return self._in_runs(taken, code)

    def _in_runs(self, node: Taken, fill: int = 0) -> RunGather | None:
        if not in_row_order(node.cells.map, node.over):
            return None
        places = self.runs.places(node, self._temporary)
        return None if places is None else RunGather(node, places, self._table(node), fill)

    def _temporary(self, node: Traced) -> WindowRead:
        if node not in self.made:
            self.made[node] = self.temporary(node)
        return self.made[node]

    def _part(self, node: Whole) -> WindowRead:
        """Return a window of memory, or of a temporary."""
        whole = node.first
        if not isinstance(whole, WindowRead) or self._overwritten(whole, False):
            whole = self._temporary(whole)
        inner = slice_windows(node.first.shape, **node.parameters)
        return WindowRead(whole.cells, *map(_within, (whole.row_span, whole.col_span), inner))

    def _table(self, node: Taken) -> Elements:
        """Return the table of a gather; a copy if the instruction writes to the table."""
        if all(self.related(s.cells, node.cells) is NO_ALIAS for s in self.written):
            return node.cells
        rows, cols = node.over
        return self.temporary(
            WindowRead(node.cells, AxisWindow(0, rows), AxisWindow(0, cols))
        ).cells

    def _overwritten(self, node: WindowRead, swap: bool) -> bool:
        """Return whether a store of the instruction may change the elements before their read."""
        if not self.written:  # the instruction has stored nothing yet
            return False
        *before, store = self.written
        if any(self.related(s.cells, node.cells) is not NO_ALIAS for s in before):
            return True
        relation = self.related(store.cells, node.cells)
        swap = swap or isinstance(store, ScatterStore)
        pointwise = relation is MUST_ALIAS and not swap and _pointwise(store, node)
        return relation is not NO_ALIAS and not pointwise


def _begins(window: Whole) -> bool:
    """Return whether the window holds the first rows and columns of its operand."""
    whole = window.first.rows, window.first.cols
    inner = zip(slice_windows(whole, **window.parameters), whole, strict=True)
    return all(
        known(w.start, 0) and w.step == 1 and (known(n, 1) or not known(w.count, 1))
        for w, n in inner
    )


def _within(outer: AxisWindow, inner: AxisWindow) -> AxisWindow:
    """Return a window of a window."""
    start = outer.start + inner.start * outer.step
    return AxisWindow(start, inner.count, outer.step * inner.step, outer.limit)


def _pointwise(store: WindowStore, node: WindowRead) -> bool:
    """Return whether the store writes each element to the place where it was read."""
    mine, theirs = store.cells, node.cells
    windows = (mine.map, mine.origin, store.rows, store.cols)
    same = repr(windows) == repr((theirs.map, theirs.origin, node.row_span, node.col_span))
    return same and mine.dtype.bits == theirs.dtype.bits


def _kills(later: WindowStore, store: WindowStore) -> bool:
    """Return whether `later` overwrites every element that `store` writes."""
    cells, spans = later.cells, (later.rows, later.cols)
    whole = all(isinstance(s.count, int) and s.start == 0 and s.step == 1 for s in spans)
    if not whole or not later.definite or text(cells.origin) != text(store.cells.origin):
        return False
    same = cells.memory is store.cells.memory and text(cells.address) == text(store.cells.address)
    elements = later.rows.count * later.cols.count
    return same and cells.map.span == store.cells.map.span == elements


def _uncovered(store: WindowStore, later: Sequence[WindowStore]) -> WindowStore:
    """Return a fill without the first columns, if the next store writes those in all rows."""
    over = next(iter(later), None)
    if over is None or not (isinstance(store.value, Known) and store.definite and over.definite):
        return store
    cells, rows, cols = over.cells, over.rows, over.cols
    spans, limit = (store.rows, store.cols, rows, cols), cols.limit
    plain = all(isinstance(s.count, int) and s.start == 0 and s.step == 1 for s in spans)
    if not plain or not isinstance(limit, int):
        return store
    places = [(c.address, c.origin, c.dtype) for c in (store.cells, cells)]
    filled = store.rows.count * store.cols.count
    whole = filled == store.cells.map.span == cells.map.span == rows.count * limit
    same = store.cells.memory is cells.memory and repr(places[0]) == repr(places[1])
    if not (whole and same and cols.count < limit):
        return store
    left = replace(cols, start=cols.count, count=limit - cols.count)
    return replace(store, cells=cells, rows=rows, cols=left)


def _unfolded(store: WindowStore) -> WindowStore:
    """Return a store of a reshaped matrix into one line as a store of the matrix itself."""
    value, line = store.value, store.cells.map
    if not (isinstance(value, Whole) and value.word == "reshape" and store.definite):
        return store  # the digits of a view may be numbers that only the program knows
    (height, _), *more = line.rows.digits
    if height != 1 or more or len(line.cols.digits) != 1:
        return store
    x = value.first
    digits: Any = ((1 << 40, x.cols),)  # Any: a number, known or not
    where = IndexMap(Axis(digits), Axis(((1 << 40, 1),)))
    first: Any = store.cells.origin + store.cols.start  # Any: as above
    cells = Elements(store.cells.memory, store.cells.address, store.cells.dtype, where, first)
    return WindowStore(cells, AxisWindow(0, x.rows), AxisWindow(0, x.cols), x)


__all__ = [
    "IDEMPOTENT",
    "ONCE",
    "Gather",
    "Known",
    "Leaf",
    "Preparation",
    "Times",
    "gathers",
    "leaves",
]
