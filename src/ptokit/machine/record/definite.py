"""Definite initialisation: the bytes that are defined on every path.

The shadow of the reference engine records for each byte whether it is defined. A compiled program
keeps no shadow of a memory if every read is proven here, on a shadow of the bytes that are written
with defined values on every path; all other memories are `tracked`: the program keeps and checks
their shadow. A window whose extents are known at run time only is proven by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from ptokit.ir.module import Block, Op
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.machine.memory import WRITTEN, Codes, Elements, Memory
from ptokit.machine.record.code import Int, text
from ptokit.machine.record.expressions import AxisWindow, Recording, UndefineStore, WindowStore
from ptokit.machine.record.lanefacts import NOTHING, LaneState
from ptokit.machine.record.trace import Recorded, num, nums, space_of
from ptokit.values.layouts import known

Shadows = dict[str, Codes]
Place: TypeAlias = "tuple[str, object, int]"  # a memory, an address or None, and bytes
PlacedFact: TypeAlias = "tuple[str, int, int]"  # a memory, a window, by number, and its address
Line = tuple[str, str, int]  # start, count and step of an axis of a window, as text of the code
ONE: Line = "0", "1", 1


class RowBytes(NamedTuple):
    """The bytes that a window reaches over in each row; `pitch` bytes lie from row to row."""

    address: str
    rows: Line
    pitch: int
    first: int
    end: int
    step: int  # of the columns

    @classmethod
    def of(cls, cells: Elements, rows: Line, cols: AxisWindow) -> RowBytes | None:
        """Return the bytes of some rows and columns, if the columns are known and contiguous."""
        down, across, origin = cells.map.rows.digits, cells.map.cols.digits, num(cells.origin)
        span, size = exactly(cols), cells.dtype.size
        if not (len(down) == len(across) == 1 and known(across[0][1], 1) and span):
            return None
        pitch = num(down[0][1])
        if not (isinstance(origin, int) and isinstance(pitch, int)) or cells.dtype.packed:
            return None
        first, end = ((origin + n) * size for n in (span.start, span.stop))
        return cls(text(cells.address), rows, pitch * size, first, end, cols.step)

    def covers(self, other: RowBytes) -> bool:
        """Return whether the other window has the same rows, and lies inside this one in each."""
        inside = self.first <= other.first and other.end <= self.end
        return inside and self.step == 1 and self[:3] == other[:3]


class NamedWindow(NamedTuple):
    """A window whose place or extents are symbolic numbers; a single column counts as a row."""

    memory: str
    place: tuple[str, ...]  # the address and the index map
    rows: Line
    cols: Line
    lines: RowBytes | None = None

    @classmethod
    def of(cls, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> NamedWindow:
        """Return the name of a window of a view."""
        axes = [[text(n) for d in a.digits for n in d] for a in (cells.map.rows, cells.map.cols)]
        lines = [(text(line.start), text(line.count), line.step) for line in (rows, cols)]
        in_rows = RowBytes.of(cells, lines[0], cols)
        if lines[1] == ONE:
            axes.reverse()
            lines.reverse()
        if lines[0] == ONE:
            axes[0] = ["row"]
        start = map(text, (cells.address, cells.origin, cells.dtype.bits))
        place = (*start, *axes[0], "by", *axes[1])
        return cls(Initial.name_of(cells), place, lines[0], lines[1], in_rows)

    def covers(self, other: NamedWindow) -> bool:
        """Return whether the other window has the same rows, and lies inside this one in each."""
        if self.memory != other.memory or self.lines is None or other.lines is None:
            return False
        return self.lines.covers(other.lines)

    def apart(self, other: NamedWindow) -> bool:
        """Return whether the other window of the same elements starts where this one ends."""
        pairs = ((self.rows, other.rows), (self.cols, other.cols))
        behind = (
            mine[0] == "0" and mine[1] == theirs[0] and mine[2] == 1 for mine, theirs in pairs
        )
        return self.place == other.place and any(behind)


@dataclass(frozen=True)
class Proven:
    """The facts at a program point: defined bytes of memories, and defined windows by name.

    Each window has its bytes, or None: if they become undefined, the window is not proven any more.
    """

    shadows: Shadows
    windows: dict[NamedWindow, range | None]
    lanes: LaneState = NOTHING


class Loss(NamedTuple):
    """Elements that may have become undefined: some bytes of a memory; None: any of them."""

    memory: str
    bytes: range | None
    window: NamedWindow | None = None

    def meets(self, window: NamedWindow, bytes: range | None) -> bool:
        """Return whether a proven window, of these bytes, may have some of the elements."""
        if window.memory != self.memory or (self.window is not None and window.apart(self.window)):
            return False
        return meets(self.bytes, bytes)


def meets(one: range | None, other: range | None) -> bool:
    """Return whether ranges of bytes may overlap; None is an unknown one."""
    return one is None or other is None or (one.start < other.stop and other.start < one.stop)


@dataclass
class OpenLoop:
    """A loop whose body is compiled: the facts before it and those in its first iteration.

    `lost` is what its iterations make undefined, in the order of the text. `assumed` are facts that
    a later iteration takes over from the one before.
    """

    before: Proven
    first: Proven
    lost: list[Loss] = field(default_factory=list[Loss])
    assumed: list[Proven] = field(default_factory=list[Proven])


class Initial:
    """The shadows by memory name; `unproven` are the memories that must be tracked."""

    def __init__(
        self,
        start: Callable[[str], Codes | None],
        fresh: Callable[[Op], tuple[TileType | ConvTileType, object] | None],
        spoils: Callable[[Op], Iterable[Place]],
        refused: Collection[str] = (),
    ) -> None:
        """Store the callbacks of the compiler, and the memories of which nothing may be assumed.

        `fresh` gives the type and address of a tile that an op makes, `spoils` the places that an
        op makes undefined.
        """
        self.start, self.fresh, self.spoils = start, fresh, spoils
        self.refused: set[str] = {*refused}
        self.shadows: Shadows = {}
        self.windows: dict[NamedWindow, range | None] = {}  # with their bytes, if known
        self.unproven: set[str] = set()
        self.fallen: set[str] = set()  # memories that become undefined in loops: no proof holds
        self.entered: list[OpenLoop] = []
        # by memory: windows that need no further proof, with their bytes; see `effects`
        self.applied: dict[str, dict[PlacedFact, range | None]] = {}

    def shadow(self, name: str) -> Codes | None:
        """Return the shadow of a memory; None: all of it is defined."""
        if name not in self.shadows:
            first = self.start(name)
            if first is None:
                return None
            self.shadows[name] = first.copy()
        return self.shadows[name]

    def effects(self, recording: Recording, counts: tuple[str, ...] | None) -> bool:
        """Apply an instruction: its reads need proofs, its writes from proven values are defined.

        `counts`: the extents of its output, if the instruction does nothing for an empty output.
        Return whether all reads are proven. If so, and if nothing becomes undefined, the caller may
        add its windows to `applied`: they add nothing to the facts as long as they are there.
        """
        before = None if counts is None else self.copy()
        proven, unmarked = self._effects(recording)
        if before is not None:
            self.meet(before, self.copy())
        if proven:
            self._name(recording, unmarked if before is None else recording.stores, counts)
        return proven

    def _effects(self, recording: Recording) -> tuple[bool, list[WindowStore]]:
        """Apply an instruction that executes.

        Return whether all of its reads are proven, and the stores that shadows do not show.
        """
        unmarked: list[WindowStore] = []
        reads = [self.read(r.cells, r.row_span, r.col_span) for r in recording.reads]
        for store in recording.stores:
            shadow = self.shadow(self.name_of(store.cells))
            if shadow is None:
                continue
            space = space_of(store.cells)
            host = space.memory is not None and space.memory.host  # undefined elements become 0
            if isinstance(store, UndefineStore) or not (all(reads) or host):
                self.lose(store, shadow)
                continue
            rows, cols = exactly(store.rows), exactly(store.cols)
            if not (rows and cols and store.definite and self.mark(store, shadow, rows, cols)):
                unmarked.append(store)
        return all(reads), unmarked

    def mark(self, store: WindowStore, shadow: Codes, rows: range, cols: range) -> bool:
        """Mark the bytes of a store of defined elements; return whether the shadow shows them."""
        return mark(shadow, store.cells, rows, cols)

    def _name(
        self, recording: Recording, stores: list[WindowStore], counts: tuple[str, ...] | None
    ) -> None:
        """Prove written windows by name, those of some stores.

        `counts`: if one of them is 0, nothing is written; the window has to be empty then, too.
        """
        for number, store in enumerate(recording.stores):
            if store not in stores:
                continue
            window = NamedWindow.of(store.cells, store.rows, store.cols)
            extents = text(store.rows.count), text(store.cols.count)
            pairs = zip(counts or extents, extents, strict=True)
            if not store.definite or not all(c == e or _positive(c) for c, e in pairs):
                continue
            after = recording.stores[number + 1 :]
            lost = [s for s in after if isinstance(s, UndefineStore) and self._touches(s, window)]
            if not lost:
                self.windows[window] = reached(store.cells)

    @staticmethod
    def _touches(store: WindowStore, window: NamedWindow) -> bool:
        """Return whether a store of undefined elements may touch a window."""
        other = NamedWindow.of(store.cells, store.rows, store.cols)
        return other.memory == window.memory and not window.apart(other)

    def lose(self, store: WindowStore, shadow: Codes) -> None:
        """Mark the elements of a window as possibly undefined."""
        rows, cols = exactly(store.rows), exactly(store.cols)
        down, across = rows or around(store.rows), cols or around(store.cols)
        elements = over(shadow, store.cells)
        if (
            elements is None
            or down is None
            or across is None
            or not _within(elements, down, across)
        ):
            shadow[:] = 0
            self.applied.clear()
        else:
            elements.undefine(down, across)
        lost = NamedWindow.of(store.cells, store.rows, store.cols)
        self.forget_windows(lost.memory, reached(store.cells), lost)

    def forget_windows(
        self, name: str, bytes: range | None, lost: NamedWindow | None = None
    ) -> None:
        """Drop proofs of windows of a memory that may have some of these bytes."""
        loss = Loss(name, bytes, lost)
        facts = self.applied.get(name, {})
        for fact in [fact for fact, some in facts.items() if meets(bytes, some)]:
            del facts[fact]
        for loop in self.entered:
            loop.lost.append(loss)
        self.windows = {w: some for w, some in self.windows.items() if not loss.meets(w, some)}

    def read(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> bool:
        """Return whether a window is defined, and with it every possible place of the window."""
        name = self.name_of(cells)
        if self.shadow(name) is None:
            return True
        if name not in self.fallen and self.proven(cells, rows, cols):
            return True
        self.unproven.add(name)
        return False

    def proven(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> bool:
        """Return whether a window is defined, as far as it is known here."""
        elements, down, across = self._elements(cells), around(rows), around(cols)
        if (
            elements is not None
            and down is not None
            and across is not None
            and _within(elements, down, across)
            and elements.unwritten(down, across) is None
        ):
            return True
        window = NamedWindow.of(cells, rows, cols)
        if window in self.windows or any(w.covers(window) for w in self.windows):
            return True
        return self._everywhere(cells)

    def _everywhere(self, cells: Elements) -> bool:
        """Return whether all elements are defined at every address in the limits of a symbol."""
        shadow, address = self.shadow(self.name_of(cells)), num(cells.address)
        if shadow is None or not (isinstance(address, Int) and address.proven and settled(cells)):
            return False
        low, high = address.limits
        first = low + cells.dtype.nbytes(cells.origin)
        last = high + cells.dtype.nbytes(cells.origin + cells.map.span)
        return low >= 0 and last <= shadow.size and bool((shadow[first:last] == WRITTEN).all())

    def _elements(self, cells: Elements) -> Elements | None:
        """Return the same elements on the shadow, if their place is known."""
        shadow = self.shadow(self.name_of(cells))
        return None if shadow is None else over(shadow, cells)

    @staticmethod
    def name_of(cells: Elements) -> str:
        space = space_of(cells)
        return space.name

    def unknown(self, values: Iterator[object]) -> None:
        """Apply an instruction that the reference engine runs: it may change any shadow."""
        for value in values:
            if isinstance(value, Recorded):
                self.unproven.add(value.memory.name)
                self.forget_windows(value.memory.name, None)

    def forget(self, name: str, address: object, nbytes: int) -> None:
        """Make the content of a tile undefined, whose address may be unknown."""
        shadow = self.shadow(name)
        if shadow is not None and isinstance(address, int):
            shadow[address : address + nbytes] = 0
            self.forget_windows(name, range(address, address + nbytes))
        elif shadow is not None:
            shadow[:] = 0
            self.forget_windows(name, None)

    def enter_loop(self, *blocks: Block) -> None:
        """Enter a loop: keep the facts, except for tiles that each iteration makes anew."""
        self.applied.clear()
        loop = OpenLoop(self.copy(), self.copy())
        self.entered.append(loop)
        for op in (op for block in blocks for op in block.walk()):
            made = self.fresh(op) if isinstance(op, Op) and ALLOCATES in op.page.traits else None
            if made is not None:
                kind, address = made
                self.forget(SPACES[kind.loc], address, kind.nbytes)
            for place in self.spoils(op) if isinstance(op, Op) else ():
                self.forget(*place)
        loop.first = self.copy()

    def losses(self) -> int:
        """Return how often the innermost loop has made something undefined so far."""
        return len(self.entered[-1].lost) if self.entered else 0

    def assume_earlier(
        self, end: Proven, losses: int, fixed: Callable[[NamedWindow], bool]
    ) -> None:
        """Assume in a branch that the first iteration does not take what the other branch proved.

        `end` has the facts behind the other branch. If an iteration ends with what is assumed, the
        next one starts with it and keeps it up to this branch: all but the first `losses` come
        later. If not, `leave_loop` adds the memory to `refused`, and no proof counts. `fixed`: the
        numbers in a window are the same in each iteration.
        """
        loop = self.entered[-1]
        lost = loop.lost[:losses]
        windows = {
            w: some
            for w, some in end.windows.items()
            if w.memory not in self.refused and fixed(w) and not any(x.meets(w, some) for x in lost)
        }
        shadows: Shadows = {}
        for name, shadow in end.shadows.items():
            mine = None if name in self.refused else self.shadow(name)
            if mine is None:
                continue
            shadows[name] = more = shadow & ~mine
            for _, some, _ in (loss for loss in lost if loss.memory == name):
                more[slice(None) if some is None else slice(some.start, some.stop)] = 0
            mine |= more
        self.windows |= windows
        loop.assumed.append(Proven(shadows, windows))

    def leave_loop(self, *, runs: bool) -> None:
        """Leave a loop; unless it `runs` for certain, meet the facts before and after."""
        self.applied.clear()
        loop = self.entered.pop()
        for assumed in loop.assumed:
            self.refused |= self._less(assumed)
        less = self._less(loop.first)
        self.fallen |= less
        self.unproven |= less
        if not runs:
            self.meet(loop.before, self.copy())

    def _less(self, expected: Proven) -> set[str]:
        """Return the memories of which an iteration leaves less than what the next one expects."""
        less = {w.memory for w in expected.windows if w not in self.windows}
        shadows = expected.shadows.items()
        return less | {name for name, shadow in shadows if (shadow & ~self.shadows[name]).any()}

    def copy(self) -> Proven:
        shadows = {name: shadow.copy() for name, shadow in self.shadows.items()}
        return Proven(shadows, dict(self.windows))

    def restore(self, proven: Proven) -> None:
        self.applied.clear()
        self.shadows = {name: shadow.copy() for name, shadow in proven.shadows.items()}
        self.windows = dict(proven.windows)

    def meet(self, *ways: Proven) -> None:
        """Keep the facts that hold on every path."""
        self.applied.clear()
        names = {name for way in ways for name in way.shadows}
        result: Shadows = {}
        for name in names:
            first = self.start(name)
            found = [way.shadows.get(name, first) for way in ways]
            result[name] = np.bitwise_and.reduce([f for f in found if f is not None])
        self.shadows = result
        one, *others = (way.windows for way in ways)
        self.windows = {w: some for w, some in one.items() if all(w in other for other in others)}


def _positive(count: str) -> bool:
    """Return whether an extent is a number above 0, as text of the code."""
    return count.isdigit() and count != "0"


def reached(cells: Elements) -> range | None:
    """Return the bytes of all elements of a view, if they are known."""
    address = num(cells.address)
    if not (isinstance(address, int) and settled(cells)):
        return None
    start = address + cells.dtype.nbytes(cells.origin)
    return range(address, start + cells.dtype.nbytes(cells.map.span))


def settled(cells: Elements) -> bool:
    """Return whether only the address of an operand is symbolic, and offsets do not decrease."""
    digits = [n for a in (cells.map.rows, cells.map.cols) for d in nums(a) for n in d]
    return all(isinstance(n, int) and n >= 0 for n in (num(cells.origin), *digits))


def over(shadow: Codes, cells: Elements) -> Elements | None:
    """Return the same elements on a shadow of their memory, if their place is known."""
    space = space_of(cells)
    growing = space.memory is not None and space.memory.growable
    address = num(cells.address)
    if growing or not (isinstance(address, int) and settled(cells)):
        return None
    return over_bytes(shadow, cells)


def over_bytes(shadow: Codes, cells: Elements) -> Elements:
    """Return the same elements, whose place is known, on a shadow of their memory."""
    memory = Memory.__new__(Memory)
    memory.data = memory.shadow = shadow  # writing marks the shadow
    return Elements(memory, cells.address, cells.dtype, cells.map, cells.origin)


def mark(shadow: Codes, cells: Elements, rows: range, cols: range) -> bool:
    """Mark the bits of a window; False if its place is unknown or outside the memory."""
    elements = over(shadow, cells)
    if elements is None or not _within(elements, rows, cols):
        return False
    mark_window(elements, rows, cols)
    return True


def mark_window(shadow: Elements, rows: range, cols: range) -> None:
    """Mark the bits of a window in a shadow."""
    shadow.write(rows, cols, np.zeros((1, 1), shadow.dtype.storage))


def _within(elements: Elements, rows: range, cols: range) -> bool:
    """Return whether a window ends inside its memory; if not, the run reports it."""
    low, high = elements.reach(rows, cols)
    last = elements.address + elements.dtype.nbytes(high)
    return low >= 0 and elements.address >= 0 and last <= elements.memory.size


def exactly(span: AxisWindow) -> range | None:
    """Return the indices of a window, if they are known."""
    if isinstance(span.start, int) and isinstance(span.count, int):
        last = span.start + (span.count - 1) * span.step
        return range(span.start, last + 1, span.step)
    return None


def around(span: AxisWindow) -> range | None:
    """Return a range that contains a window: from first to last index, or the axis; or None."""
    window = exactly(span)
    if window is not None:
        return range(window.start, window.stop)
    return None if span.limit is None else range(span.limit)
