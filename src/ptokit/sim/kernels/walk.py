"""Walking a window: vectors along the destination's storage, blocks turned where the source's is
across it.

A `Walk` gives each access of a store its place in every iteration and asks `act` for the
instructions on some lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product

from ptokit.isa import dtypes as t
from ptokit.isa.dtypes import DType
from ptokit.sim.kernels.code import Code, NotNative, Num, known, text
from ptokit.sim.kernels.lanes import Lanes, element
from ptokit.sim.kernels.loops import Irregular, Loop, Rectangle, Stream, nest, rectangles

MOST_PARTS = 32  # more pieces of loops than this: compute each address instead
UNROLL = 4
STILL = Stream(((1, 0),))
LINE = Stream(((1 << 40, 1),))
FAR = Stream(((1 << 40, 1 << 40),))


@dataclass(eq=False)
class Access:
    """An operand of a store: where it begins, how it moves along both axes of the window.

    No `pointer`: a number that counts along one axis. `at`: irregular, and the two accesses that
    count its rows and columns; its own streams tell the digits then.
    """

    pointer: str
    dtype: DType
    rows: Stream
    cols: Stream
    offset: Num = 0
    at: tuple[Access, Access] | None = None


@dataclass
class Point:
    """Some lanes of one iteration: positions in elements, and how far lanes are apart."""

    positions: dict[Access, Num]
    steps: dict[Access, Num]
    lanes: int
    turned: dict[Access, str] = field(default_factory=dict[Access, str])


Act = Callable[[Point], None]


@dataclass
class Walk:
    """Loops over rows x cols; `accesses[0]` decides their order."""

    code: Code
    lanes: int
    rows: Num
    cols: Num
    accesses: list[Access]
    act: Act
    what: str
    bulk: Callable[[Loop, dict[Access, Num]], bool] | None = None
    ordered: bool = False  # row by row, each in increasing columns

    def run(self) -> None:
        down, across = self._parts()
        for rows, cols in product(down, across):
            self._part(nest(rows, cols, None if self.ordered else 0))

    def _parts(self) -> tuple[list[Rectangle], list[Rectangle]]:
        """The pieces of both axes; accesses that fit into no loops compute their addresses."""
        while True:
            try:
                down = rectangles(self.rows, [a.rows for a in self.moving])
                across = rectangles(self.cols, [a.cols for a in self.moving])
            except Irregular as found:
                self.accesses += count_places(self.moving[found.access])
                continue
            if len(down) * len(across) <= (1 if self.ordered else MOST_PARTS):
                return down, across
            crooked = [a for a in self.moving if a.pointer and _crooked(a)]
            if not crooked:
                raise NotNative("rows in order whose number only the running program knows")
            self.accesses += count_places(crooked[-1])

    @property
    def moving(self) -> list[Access]:
        return [a for a in self.accesses if a.at is None]

    def _part(self, part: Rectangle) -> None:
        moving = self.moving
        positions = {a: a.offset + o for a, o in zip(moving, part.offsets, strict=True)}
        loops = list(part.loops)
        target = self.accesses[0]
        wide = self.lanes > 1 and target.at is None and loops and known(loops[-1].steps[0], 1)
        inner = loops.pop() if wide else None
        across = None if inner is None or self.ordered else self._turning(loops, inner)
        if across is not None:
            loops = [x for x in loops if x is not across]  # `==` would ask about unknown counts
        with ExitStack() as stack:
            for loop in loops:
                positions = self._loop(stack, loop, positions)
            if inner is None:
                self.act(Point(positions, dict.fromkeys(moving, 0), 1))
            elif across is None:
                self._along(inner, positions)
            else:
                self._turned(inner, across, positions)

    def _loop(
        self, stack: ExitStack, loop: Loop, positions: dict[Access, Num]
    ) -> dict[Access, Num]:
        if isinstance(loop.count, int) and loop.count == 1:
            return positions
        index = stack.enter_context(self.code.loop(loop.count, self.what))
        return self._moved(positions, loop, index)

    def _moved(self, positions: dict[Access, Num], loop: Loop, by: Num) -> dict[Access, Num]:
        if isinstance(by, int) and by == 0:
            return positions
        steps = zip(self.moving, loop.steps, strict=True)
        return {
            a: positions[a] if known(step, 0) else positions[a] + by * step for a, step in steps
        }

    def _point(self, loop: Loop, positions: dict[Access, Num], by: Num, lanes: int) -> Point:
        steps = dict(zip(self.moving, loop.steps, strict=True))
        return Point(self._moved(positions, loop, by), steps, lanes)

    def _along(self, loop: Loop, positions: dict[Access, Num], lanes: int | None = None) -> None:
        """The innermost loop, in vectors and smaller and smaller tails."""
        if self.bulk is not None and self.bulk(loop, positions):
            return
        lanes, count = lanes or self.lanes, loop.count
        if not isinstance(count, int):
            whole = (count // lanes) * lanes
            with self.code.loop(whole, f"{self.what}, {lanes} lanes", lanes) as index:
                self.act(self._point(loop, positions, index, lanes))
            rest = self._moved(positions, loop, whole)
            with self.code.loop(count - whole, f"{self.what}, what is left") as index:
                self.act(self._point(loop, rest, index, 1))
            return
        done, chunk = 0, lanes * UNROLL
        if count >= 2 * chunk:
            done = count // chunk * chunk
            with self.code.loop(done, f"{self.what}, {UNROLL} x {lanes} lanes", chunk) as index:
                base = self._moved(positions, loop, index)
                for part in range(UNROLL):
                    self.act(self._point(loop, base, part * lanes, lanes))
        while done < count:
            if lanes <= count - done:
                self.act(self._point(loop, positions, done, lanes))
                done += lanes
            else:
                lanes //= 2

    def _turning(self, loops: Sequence[Loop], inner: Loop) -> Loop | None:
        """The loop along which operands that are strided along `inner` are contiguous."""
        for number, step in enumerate(inner.steps):
            if isinstance(step, int) and 0 <= step <= 4:
                continue
            if not self.moving[number].pointer:
                continue
            for loop in loops:
                if isinstance(loop.steps[number], int) and loop.steps[number] == 1:
                    return loop
        return None

    def _turned(self, inner: Loop, across: Loop, positions: dict[Access, Num]) -> None:
        """Blocks of both loops at once: rows of a block are read whole and turned in registers."""
        size = min(16, self.lanes)
        for count in (inner.count, across.count):
            while isinstance(count, int) and 1 < count < size:
                size //= 2
        whole, rest = _split(inner.count, size)
        with ExitStack() as stack:
            if not (isinstance(whole, int) and whole == 0):
                index = stack.enter_context(self.code.loop(whole, f"{self.what}, blocks", size))
                self._column(inner, across, self._moved(positions, inner, index), size)
        if not (isinstance(rest, int) and rest == 0):
            tail = self._moved(positions, inner, whole)
            with ExitStack() as stack:
                tail = self._loop(stack, across, tail)
                self._along(Loop(rest, inner.steps), tail)

    def _column(self, inner: Loop, across: Loop, positions: dict[Access, Num], size: int) -> None:
        whole, rest = _split(across.count, size)
        if not (isinstance(whole, int) and whole == 0):
            with self.code.loop(whole, f"{self.what}, {size} x {size}", size) as index:
                self._block(inner, across, self._moved(positions, across, index), size)
        if not (isinstance(rest, int) and rest == 0):
            tail = self._moved(positions, across, whole)
            with ExitStack() as stack:
                tail = self._loop(stack, Loop(rest, across.steps), tail)
                self.act(self._point(inner, tail, 0, size))

    def _block(self, inner: Loop, across: Loop, positions: dict[Access, Num], size: int) -> None:
        turned = turn(self.code, self.moving, inner, across, positions, size)
        for number in range(size):
            point = self._point(inner, self._moved(positions, across, number), 0, size)
            point.turned = {a: vectors[number] for a, vectors in turned.items()}
            self.act(point)


def counters() -> tuple[Access, Access]:
    """The numbers of the row and of the column."""
    return Access("", t.i64, LINE, STILL), Access("", t.i64, STILL, LINE)


def count_places(access: Access) -> tuple[Access, Access]:
    """Give up walking an access: count its rows and columns, its address will be computed."""
    access.at = counters()
    return access.at


def _crooked(access: Access) -> bool:
    starts = known(access.rows.start, 0) and known(access.cols.start, 0)
    return not starts or len(access.cols.digits) > 1 or len(access.rows.digits) > 1


def turn(
    code: Code,
    accesses: Sequence[Access],
    inner: Loop,
    across: Loop,
    positions: dict[Access, Num],
    size: int,
) -> dict[Access, list[str]]:
    """A size x size block of every access that is contiguous across: vectors along `inner`."""
    turned: dict[Access, list[str]] = {}
    for access, step, other in zip(accesses, inner.steps, across.steps, strict=True):
        still = isinstance(step, int) and step in (0, 1)
        if access.pointer and not still and known(other, 1):
            turned[access] = _turned(code, access, positions[access], step, size)
    return turned


def load_line(code: Code, access: Access, position: Num, lanes: int) -> str:
    """Contiguous elements."""
    kinds = Lanes(code, lanes).type(element(access.dtype))
    where = address(code, access, position)
    return code.let(f"load {kinds}, ptr {where}, align {access.dtype.size}")


def address(code: Code, access: Access, position: Num) -> str:
    kind = f"i{access.dtype.size * 8}"
    return code.let(f"getelementptr {kind}, ptr {access.pointer}, i64 {text(position)}")


def _turned(code: Code, access: Access, start: Num, step: Num, size: int) -> list[str]:
    """The columns of a square block whose rows are contiguous.

    Pieces of rows that lie `width` apart are loaded side by side: that saves the first stages of
    the exchange, and the others stay within 16 bytes, where processors are quick. Longer pieces
    take half the loads; their halves are exchanged first.
    """
    kind, width = element(access.dtype), min(size, 16 // access.dtype.size)
    apart = size // width
    piece = 2 * width if apart == 4 else width
    columns: list[str] = []
    for first in range(0, size, piece):
        lines: list[list[str]] = []
        for row in range(width):
            places = [start + (row + n * width) * step + first for n in range(apart)]
            pieces = [load_line(code, access, place, piece) for place in places]
            if piece == width:
                lines.append([_beside(code, kind, pieces, width)])
            else:
                a, b = (_beside(code, kind, pieces[n : n + 2], piece) for n in (0, 2))
                lines.append(_halves(Lanes(code, size), kind, a, b, width))
        for part in zip(*lines, strict=True):
            columns += _interleaved(Lanes(code, size), kind, list(part))
    return columns


def _halves(lanes: Lanes, kind: str, a: str, b: str, width: int) -> list[str]:
    """The even pieces of two vectors, and the odd ones."""
    kinds, found = lanes.type(kind), list[str]()
    for begin in (0, width):
        starts = range(begin, 2 * lanes.count, 2 * width)
        mask = ", ".join(f"i32 {s + n}" for s in starts for n in range(width))
        shuffle = f"shufflevector {kinds} {a}, {kinds} {b}, <{lanes.count} x i32> <{mask}>"
        found.append(lanes.code.let(shuffle))
    return found


def _beside(code: Code, kind: str, pieces: list[str], width: int) -> str:
    """Vectors one after another in a longer one."""
    while len(pieces) > 1:
        kinds, mask = f"<{width} x {kind}>", ", ".join(f"i32 {n}" for n in range(2 * width))
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        shuffle = "shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>"
        pieces = [code.let(shuffle.format(kinds, a, b, 2 * width, mask)) for a, b in pairs]
        width *= 2
    return pieces[0]


def _interleaved(lanes: Lanes, kind: str, rows: list[str]) -> list[str]:
    """Square blocks side by side, each transposed."""
    size, kinds = lanes.count, lanes.type(kind)
    width, half = len(rows), len(rows) // 2
    masks: list[str] = []
    for begin in (0, half):
        picks = (
            b + begin + n // 2 + size * (n % 2) for b in range(0, size, width) for n in range(width)
        )
        masks.append(", ".join(f"i32 {p}" for p in picks))
    for _ in range(width.bit_length() - 1):
        mixed: list[str] = []
        for a, b in zip(rows[:half], rows[half:], strict=True):
            for mask in masks:
                shuffle = f"shufflevector {kinds} {a}, {kinds} {b}, <{size} x i32> <{mask}>"
                mixed.append(lanes.code.let(shuffle))
        rows = mixed
    return rows


def _split(count: Num, size: int) -> tuple[Num, Num]:
    """The largest multiple of `size` in a count, and the rest."""
    whole = (count // size) * size
    return whole, count - whole
