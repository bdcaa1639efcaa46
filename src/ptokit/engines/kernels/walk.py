"""Walks over a window: vectors along the storage of the destination, and transposed square blocks.

A `Walk` passes the position of each access in every iteration to `act`, which emits the
instructions. Square blocks are transposed if the storage of the source runs across that of the
destination.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TypeAlias

from ptokit.engines.kernels.lanes import Lanes, element
from ptokit.engines.kernels.loops import Irregular, Loop, Rectangle, Stream, nest, rectangles
from ptokit.engines.kernels.transposition import SHARED, Square
from ptokit.machine.record.code import Code, Iterations, NotNative, Num, text
from ptokit.values import dtypes as t
from ptokit.values.dtypes import DType
from ptokit.values.layouts import known

MOST_PARTS = 32  # with more parts, compute each address instead
COPIES = {4: 16, 2: 24}  # unrolled copies: the limit of their length in lines
STRAIGHT = 4  # vectors without a loop
HELD = 4  # vectors that a loop keeps in registers
CACHED = 128  # bytes that are read together: neighbouring lines of the cache
STILL = Stream(((1, 0),))
LINE = Stream(((1 << 40, 1),))
FAR = Stream(((1 << 40, 1 << 40),))


@dataclass(eq=False)
class Access:
    """An operand of a store: its first address, and its movement along both axes of the window.

    An empty `pointer` is a number that counts along one axis. `at` is set for an irregular access:
    two accesses that count its rows and columns, with the digits in its own streams. `each`:
    positions count so many repetitions of each element.
    """

    pointer: str
    dtype: DType
    rows: Stream
    cols: Stream
    offset: Num = 0
    at: tuple[Access, Access] | None = None
    each: int = 1


Act: TypeAlias = "Callable[[LanePositions], None]"


@dataclass
class LanePositions:
    """The lanes of one iteration: positions and lane strides in elements.

    `held` are operands that do not move in the innermost loop, by their number of lanes.
    """

    positions: dict[Access, Num]
    steps: dict[Access, Num]
    lanes: int
    transposed: dict[Access, str] = field(default_factory=dict[Access, str])
    held: dict[tuple[Access, int], str] = field(default_factory=dict[tuple[Access, int], str])

    @staticmethod
    def begin(
        accesses: Iterable[Access], part: Rectangle, inner: Loop | None, lanes: int
    ) -> LanePositions:
        """Return the first point of a part; `inner` is the loop in the lanes."""
        places = {a: a.offset for a in accesses if a.at is None}
        steps = [0] * len(places) if inner is None else inner.steps
        return LanePositions(places, dict(zip(places, steps, strict=True)), lanes).further(
            part.offsets
        )

    def further(self, by: Iterable[Num]) -> LanePositions:
        """Return the point with every access moved by a number of elements."""
        places = zip(self.positions.items(), by, strict=True)
        positions = {a: plus(p, more) for (a, p), more in places}
        return replace(self, positions=positions)

    def alone(self) -> Iterator[LanePositions]:
        """Yield a point for each lane: for words that would take vectors to pieces."""
        for number in range(self.lanes):
            moved = self.further(number * step for step in self.steps.values())
            yield replace(moved, lanes=1)

    def moved(self, loop: Loop, iterations: Num) -> LanePositions:
        """Return the point after more iterations of a loop."""
        if known(iterations, 0):
            return self
        return self.further(iterations * step for step in loop.steps)


def plus(a: Num, b: Num) -> Num:
    """Return a sum whose constant is added last: equal addresses get equal text."""
    (x, here), (y, there) = parted(a), parted(b)
    return x + y + (here + there)


def parted(number: Num) -> tuple[Num, int]:
    """Return a number without its constant summand, and that constant."""
    if isinstance(number, int):
        return 0, number
    if number.sum is None or not isinstance(number.sum[1], int):
        return number, 0
    return number.sum[0], number.sum[1]


@contextmanager
def nested(
    code: Code, loops: Iterable[Loop], points: list[LanePositions], what: str
) -> Generator[list[LanePositions]]:
    """Open nested loops; yield the points in each iteration."""
    with ExitStack() as stack:
        for loop in loops:
            if not known(loop.count, 1):
                index = stack.enter_context(code.loop(loop.count, what))
                points = [p.moved(loop, index) for p in points]
        yield points


def pieces(accesses: list[Access], rows: Num, cols: Num) -> tuple[list[Rectangle], list[Rectangle]]:
    """Return the parts of both axes; irregular accesses get counted positions."""
    while True:
        moving = [a for a in accesses if a.at is None]
        try:
            down = rectangles(rows, [a.rows for a in moving])
            return down, rectangles(cols, [a.cols for a in moving])
        except Irregular as found:
            accesses += count_places(moving[found.access])


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
    bulk: Callable[[Loop, LanePositions], bool] | None = None
    transpose: Callable[[Loop, Loop, LanePositions], bool] | None = None
    load: Callable[[Access, LanePositions], str] | None = None  # set: it may go before a loop
    ordered: bool = False  # row by row, each in increasing columns

    def run(self) -> None:
        for rows, cols in product(*self._parts()):
            self._part(nest(rows, cols, None if self.ordered else 0))

    def _parts(self) -> tuple[list[Rectangle], list[Rectangle]]:
        """Return the parts of both axes; if they are too many, irregular accesses are counted."""
        while True:
            down, across = pieces(self.accesses, self.rows, self.cols)
            if len(down) * len(across) <= (1 if self.ordered else MOST_PARTS):
                return down, across
            irregular = [a for a in self.accesses if a.at is None and a.pointer and _irregular(a)]
            if not irregular:
                raise NotNative("rows in order whose number only the running program knows")
            self.accesses += count_places(irregular[-1])

    def _part(self, part: Rectangle) -> None:
        loops, target = list(part.loops), self.accesses[0]
        wide = self.lanes > 1 and target.at is None and loops and known(loops[-1].steps[0], 1)
        inner = loops.pop() if wide else None
        point = LanePositions.begin(self.accesses, part, inner, self.lanes if wide else 1)
        across = None if inner is None or self.ordered else self._contiguous(loops, inner, point)
        if across is not None:
            loops = [x for x in loops if x is not across]  # `==` would ask about unknown counts
        walks: Iterable[tuple[list[Loop], list[LanePositions]]] = [(loops, [point])]
        if inner is not None and across is None and not self.ordered:
            walks = self._lines(loops, inner, point)

        def each(point: LanePositions) -> None:
            if inner is None:
                self.act(point)
            elif across is None:
                self._along(inner, point)
            else:
                self._transposed(inner, across, point)

        for around, points in walks:
            with nested(self.code, around[:-1], points, self.what) as points:
                self._repeated(around[-1:], points, each)

    def _repeated(self, loops: list[Loop], points: list[LanePositions], act: Act) -> None:
        """Emit a loop, if there is one; of few instructions several copies."""
        if not loops or not isinstance(loops[0].count, int) or known(loops[0].count, 1):
            with nested(self.code, loops, points, self.what) as points:
                for point in points:
                    act(point)
            return
        [loop] = loops
        iterations = Iterations(loop.count, 1)
        with self.code.iterations(iterations, self.what) as index:
            begin, block = len(self.code.lines), self.code.block
            points = [point.moved(loop, index) for point in points]
            for point in points:
                act(point)
            lines = len(self.code.lines) - begin
            straight = block == self.code.block
            able = (n for n, most in COPIES.items() if lines <= most and loop.count % n == 0)
            iterations.step = next(able, 1) if straight else 1
            for copy in range(1, iterations.step):
                for point in points:
                    act(point.moved(loop, copy))

    def _lines(
        self, loops: list[Loop], inner: Loop, point: LanePositions
    ) -> Iterator[tuple[list[Loop], list[LanePositions]]]:
        """Yield loops and points such that sources are read in whole lines of the cache.

        Where a source goes on along an outer loop at the end of `inner`, the next runs of a line
        come at once: later, the line may no longer be in the cache.
        """
        for number, (access, step) in enumerate(point.steps.items()):
            if not (number and access.pointer and isinstance(inner.count, int) and known(step, 1)):
                continue
            runs = CACHED // (inner.count * access.dtype.size)
            on = (n for n, x in enumerate(loops[:-1]) if known(x.steps[number], inner.count))
            place = next(on, None)
            if runs < 2 or place is None:
                continue
            loop = loops[place]
            runs = min(runs, loop.count) if isinstance(loop.count, int) else runs
            lines, rest = loop.count // runs, loop.count % runs
            steps = tuple(runs * by for by in loop.steps)
            points = [point.moved(loop, copy) for copy in range(runs)]
            yield [*loops[:place], Loop(lines, steps), *loops[place + 1 :]], points
            if not known(rest, 0):
                left = [*loops[:place], Loop(rest, loop.steps), *loops[place + 1 :]]
                yield left, [point.moved(loop, lines * runs)]
            return
        yield loops, [point]

    def _along(self, loop: Loop, point: LanePositions) -> None:
        """Emit the innermost loop, in vectors and smaller and smaller tails."""
        if self.bulk is not None and self.bulk(loop, point):
            return
        lanes, count = self.lanes, loop.count
        if not isinstance(count, int):
            whole, point = (count // lanes) * lanes, self._held(point)
            with self.code.loop(whole, f"{self.what}, {lanes} lanes", lanes) as index:
                self.act(point.moved(loop, index))
            tail = replace(point.moved(loop, whole), lanes=1)
            with self.code.loop(count - whole, f"{self.what}, what is left") as index:
                self.act(tail.moved(loop, index))
            return
        done = 0 if count < 2 * lanes else self._whole(loop, count, point)
        while done < count:
            if lanes <= count - done:
                self.act(replace(point.moved(loop, done), lanes=lanes))
                done += lanes
            else:
                lanes //= 2

    def _whole(self, loop: Loop, count: int, point: LanePositions) -> int:
        """Emit a loop over whole vectors unless they are few; return the elements done."""
        lanes, done = self.lanes, 0
        whole = count // lanes * lanes
        begin = len(self.code.lines)
        if whole <= STRAIGHT * lanes:
            self.act(point)
            if len(self.code.lines) - begin <= COPIES[2]:
                return lanes
            point, done = point.moved(loop, lanes), lanes
        iterations, point = Iterations(whole - done, lanes), self._held(point)
        with self.code.iterations(iterations, f"{self.what}, {lanes} lanes") as index:
            base = point.moved(loop, index)
            self.act(base)
            lines = len(self.code.lines) - begin
            copies = next((number for number, most in COPIES.items() if lines <= most), 1)
            for copy in range(1, copies):
                self.act(base.moved(loop, copy * lanes))
            iterations.step = copies * lanes
            iterations.count = (whole - done) // iterations.step * iterations.step
            whole = done + iterations.count
        return whole

    def _held(self, point: LanePositions) -> LanePositions:
        """Return the point after operands that do not move along the lanes were loaded."""
        if self.load is None:
            return point
        still = (a for a, step in point.steps.items() if a.pointer and known(step, 0))
        held = {(a, point.lanes): self.load(a, point) for a in islice(still, HELD)}
        return replace(point, held=held)

    def _contiguous(self, loops: Sequence[Loop], inner: Loop, point: LanePositions) -> Loop | None:
        """Return the loop along which operands that are strided along `inner` are contiguous."""
        for number, (access, step) in enumerate(point.steps.items()):
            near = isinstance(step, int) and 0 <= step <= 4
            if near or not access.pointer or access.each > 1:
                continue
            for loop in loops:
                if known(loop.steps[number], 1):
                    return loop
        return None

    def _transposed(self, inner: Loop, across: Loop, point: LanePositions) -> None:
        """Emit square blocks of both loops: rows are read whole and transposed in registers."""
        size = min(16, self.lanes)
        for count in (inner.count, across.count):
            while isinstance(count, int) and 1 < count < size:
                size //= 2
        whole, rest = _split(inner.count, size)
        blocks, first = Loop(whole, inner.steps), replace(point, lanes=size)
        done = self._by_lines(blocks, across, first) or self._moved(blocks, across, first)
        if not done and not known(whole, 0):
            with self.code.loop(whole, f"{self.what}, blocks", size) as index:
                self._column(across, replace(point.moved(inner, index), lanes=size))
        if not known(rest, 0):
            with nested(self.code, [across], [point.moved(inner, whole)], self.what) as [tail]:
                self._along(Loop(rest, inner.steps), tail)

    def _by_lines(self, inner: Loop, across: Loop, point: LanePositions) -> bool:
        """Emit small blocks by fours, so that lines of the cache are read and written whole."""
        size, twice = point.lanes, 2 * point.lanes
        counts = inner.count, across.count
        if size >= SHARED or any(not isinstance(n, int) or n % twice for n in counts):
            return False
        with ExitStack() as stack:
            for loop, count, step in (
                *((x, x.count, twice) for x in (inner, across)),
                *((x, twice, size) for x in (inner, across)),
            ):
                what = f"{self.what}, {step} x {step}"
                index = stack.enter_context(self.code.loop(count, what, step))
                point = point.moved(loop, index)
            for line in square_lines(self.code, point, across, called=True):
                self.act(line)
        return True

    def _moved(self, inner: Loop, across: Loop, point: LanePositions) -> bool:
        """Emit blocks that a shared function moves, and the columns beside them."""
        size = point.lanes
        whole, rest = _split(across.count, size)
        if size < SHARED or self.transpose is None or known(whole, 0) or known(inner.count, 0):
            return False
        if not self.transpose(inner, Loop(whole, across.steps), point):
            return False
        if not known(rest, 0):
            with self.code.loop(inner.count, f"{self.what}, what is left", size) as index:
                tail = point.moved(inner, index).moved(across, whole)
                with nested(self.code, [Loop(rest, across.steps)], [tail], self.what) as [tail]:
                    self.act(tail)
        return True

    def _column(self, across: Loop, point: LanePositions) -> None:
        size = point.lanes
        whole, rest = _split(across.count, size)
        if not known(whole, 0):
            self._squares(Loop(whole, across.steps), point)
        if not known(rest, 0):
            left = Loop(rest, across.steps)
            with nested(self.code, [left], [point.moved(across, whole)], self.what) as [tail]:
                self.act(tail)

    def _squares(self, across: Loop, point: LanePositions) -> None:
        """Emit blocks one after another along a loop."""
        size = point.lanes
        with self.code.loop(across.count, f"{self.what}, {size} x {size}", size) as index:
            for line in square_lines(self.code, point.moved(across, index), across, called=True):
                self.act(line)


def counters() -> tuple[Access, Access]:
    """Return two accesses that count the row and the column."""
    return Access("", t.i64, LINE, STILL), Access("", t.i64, STILL, LINE)


def count_places(access: Access) -> tuple[Access, Access]:
    """Make an access irregular: count its rows and columns to compute its address."""
    access.at = counters()
    return access.at


def _irregular(access: Access) -> bool:
    starts = known(access.rows.start, 0) and known(access.cols.start, 0)
    return not starts or len(access.cols.digits) > 1 or len(access.rows.digits) > 1


def strided(access: Access, step: Num) -> bool:
    """Return whether the lanes of an access are neither equal nor contiguous."""
    near = isinstance(step, int) and step in (0, 1)
    return bool(access.pointer) and not near and access.each == 1


def square_of(access: Access, size: int) -> Square:
    """Return the square block of an access."""
    return Square(element(access.dtype), 8 * access.dtype.size, size)


def square_lines(
    code: Code, point: LanePositions, across: Loop, *, called: bool = False
) -> Iterator[LanePositions]:
    """Yield the lines of a square block, after accesses contiguous across were transposed.

    `called`: use a shared function if the block is large.
    """
    vectors: dict[Access, list[str]] = {}
    for (access, step), other in zip(point.steps.items(), across.steps, strict=True):
        if strided(access, step) and known(other, 1):
            square = square_of(access, point.lanes)
            transpose = square.called if called and point.lanes >= SHARED else square.columns
            vectors[access] = transpose(code, address(code, access, point.positions[access]), step)
    for number in range(point.lanes):
        lines = {access: lines[number] for access, lines in vectors.items()}
        yield replace(point.moved(across, number), transposed=lines)


def load_line(code: Code, access: Access, position: Num, lanes: int) -> str:
    """Return contiguous elements."""
    kinds = Lanes(code, lanes).type(element(access.dtype))
    where = address(code, access, position)
    return code.let(f"load {kinds}, ptr {where}, align {access.dtype.size}")


def address(code: Code, access: Access, position: Num) -> str:
    kind = f"i{access.dtype.size * 8}"
    return code.let(f"getelementptr {kind}, ptr {access.pointer}, i64 {text(position)}")


def _split(count: Num, size: int) -> tuple[Num, Num]:
    """Return the largest multiple of `size` in a count, and the rest."""
    whole = (count // size) * size
    return whole, count - whole
