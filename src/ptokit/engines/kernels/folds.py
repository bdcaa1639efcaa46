"""Folds: reductions along one axis in ascending index; the lanes hold the other axis."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ptokit.engines.kernels.functionbase import FunctionBase
from ptokit.engines.kernels.lanes import Lanes, Words, element, float_constant
from ptokit.engines.kernels.loops import Loop, Rectangle, nest
from ptokit.engines.kernels.lowering import IDEMPOTENT, Leaf
from ptokit.engines.kernels.transposition import SHARED, Square, written
from ptokit.engines.kernels.walk import (
    STILL,
    Access,
    LanePositions,
    address,
    count_places,
    nested,
    pieces,
    square_lines,
    square_of,
    strided,
)
from ptokit.machine.evaluation import scalar
from ptokit.machine.record.code import Code, Num
from ptokit.machine.record.expressions import Apply, Traced, WindowStore
from ptokit.values import dtypes as t
from ptokit.values.layouts import known

GROUPS = 4  # independent accumulators, which hide the latency of additions
TRANSPOSED = 2  # accumulators for transposed operands, which take many instructions
LONG = 128  # elements; longer folds unroll several blocks


class Fold:
    """A sequential fold along one axis; the lanes of several accumulators hold the other axis."""

    def __init__(
        self,
        function: FunctionBase,
        out: WindowStore,
        x: Traced,
        axis: int,
        word: str,
        start: float | None,
    ) -> None:
        self.function, self.code, self.x = function, function.code, x
        self.axis, self.word, self.start = axis, word, start
        self.dtype, self.what = out.cells.dtype, f"fold {word}"
        self.used = function.uses([x])
        self.target = function.access(out.cells, out.rows, out.cols)
        if axis == 1:
            self.target.cols = STILL
        else:
            self.target.rows = STILL

    def run(self) -> None:
        """Emit the loops that fill one group of accumulators after another and store them."""
        accesses = [self.target, *self.used.values()]
        if len(self.used) > 1:  # different boxes would be visited out of order
            for access in self.used.values():
                along = access.rows if self.axis == 0 else access.cols
                accesses += [] if known(along.start, 0) else count_places(access)
        rows, cols = self.function.number(self.x.rows), self.function.number(self.x.cols)
        if self.function.whole and (self.axis, rows) == (1, 1) and self._of_register(cols):
            self._across_lanes(accesses, cols)
            return
        parts = pieces(accesses, rows, cols)
        kept, folded = parts[::-1] if self.axis == 0 else parts
        lanes = self.function.lanes_of([self.x])
        for part in kept:
            part = nest(part, Rectangle((), (0,) * len(part.offsets)))
            loops = list(part.loops)
            inner = loops.pop() if loops and known(loops[-1].steps[0], 1) else None
            point = LanePositions.begin(accesses, part, inner, 1 if inner is None else lanes)
            with nested(self.code, loops, [point], self.what) as [point]:
                if inner is None:
                    self._reduce([point], folded)
                else:
                    self._chunks(inner, point, folded)

    def _of_register(self, cols: Num) -> bool:
        """Return whether the fold is one of a register whose lanes may be combined in pairs."""
        power = isinstance(cols, int) and cols & (cols - 1) == 0
        plain = self.start is None and self.word in IDEMPOTENT and not self.dtype.packed
        return plain and power and all(access.at is None for access in self.used.values())

    def _across_lanes(self, accesses: list[Access], count: Num) -> None:
        """Fold the lanes of a register: neighbours, then the results of neighbours.

        That gives what the order of the lanes gives, once NaNs, which lose against all but the
        first lane, are that lane.
        """
        down, across = pieces(accesses, 1, count)
        [part] = [nest(row, col) for row in down for col in across]
        [inner] = part.loops
        assert isinstance(count, int)
        point = LanePositions.begin(accesses, part, inner, count)
        lanes, words = self.function.words(point, self.used)
        kind, value = element(self.dtype), words.value(self.x)
        if self.dtype.is_float:
            nan = words.value(Apply("isnan", (self.x,), {}))
            first = lanes.shuffle(kind, value, "poison", [0] * count)
            value = lanes.select(nan, kind, first, value)
        while lanes.count > 1:
            half = Lanes(self.code, lanes.count // 2)
            value = self._combined_pairs(lanes, half, value)
            lanes = half
        where = address(self.code, self.target, point.positions[self.target])
        self.code.do(f"store {kind} {value}, ptr {where}, align {self.dtype.size}")

    def _combined_pairs(self, lanes: Lanes, half: Lanes, value: str) -> str:
        """Return the even lanes combined with the odd ones."""
        kind, parts = element(self.dtype), [Traced(self.dtype, 2, 2) for _ in range(2)]
        words = Words(half, partial(self._leaf, half, ""), self.used)
        for first, part in enumerate(parts):
            picks = [2 * n + first for n in range(half.count)]
            alone = half.count == 1
            side = (
                lanes.one(kind, value, first)
                if alone
                else lanes.shuffle(kind, value, "poison", picks)
            )
            words.done[part] = side
        return words.value(Apply(self.word, parts, {}))

    def _chunks(self, inner: Loop, point: LanePositions, folded: list[Rectangle]) -> None:
        """Fold several vectors at once, then smaller and smaller ones."""
        count, lanes = inner.count, point.lanes
        if not isinstance(count, int):
            whole = count // lanes * lanes
            for begin, end, step in ((0, whole, lanes), (whole, count, 1)):
                with self.code.loop(end - begin, f"{self.what}, {step} lanes", step) as index:
                    here = point.moved(inner, begin + index)
                    self._reduce([replace(here, lanes=step)], folded)
            return
        most = TRANSPOSED if any(self._across(part.loops[-1], point) for part in folded) else GROUPS
        done, many = 0, lanes * most
        if count >= (many if most == TRANSPOSED else 2 * many):
            done = count // many * many
            with self.code.loop(done, f"{self.what}, {most} x {lanes} lanes", many) as index:
                base = point.moved(inner, index)
                self._reduce([base.moved(inner, n * lanes) for n in range(most)], folded)
        while done < count:
            ends = range(done + lanes, count + 1, lanes)[:most]
            groups = [replace(point.moved(inner, n - lanes), lanes=lanes) for n in ends]
            if groups:
                self._reduce(groups, folded)
                done += len(groups) * lanes
            else:
                lanes //= 2

    def _reduce(self, groups: list[LanePositions], folded: list[Rectangle]) -> None:
        """Fold all elements of the axis into one accumulator for each group of lanes."""
        lanes = Lanes(self.code, groups[0].lanes)
        kinds = lanes.type(element(self.dtype))
        slots = [self.function.slot(kinds) for _ in groups]
        for slot, point in zip(slots, groups, strict=True):
            first = self._first(lanes, point.further(folded[0].offsets))
            self.code.do(f"store {kinds} {first}, ptr {slot}")
        for part in folded:
            self._fold_part(part, [point.further(part.offsets) for point in groups], slots)
        for slot, point in zip(slots, groups, strict=True):
            total = self.code.let(f"load {kinds}, ptr {slot}")
            if self.dtype == t.f32:
                total = lanes.canonical(total) if self.word in ("add", "sub", "mul") else total
            where = address(self.code, self.target, point.positions[self.target])
            self.code.do(f"store {kinds} {total}, ptr {where}, align {self.dtype.size}")

    def _first(self, lanes: Lanes, point: LanePositions) -> str:
        if self.start is None:  # the first element; folding it once more changes nothing
            return self._first_elements(lanes, point)
        if self.dtype == t.f32:
            return lanes.splat("float", float_constant(float(self.start)))
        return lanes.splat(
            element(self.dtype), str(int(scalar(self.start, self.dtype).codes[0, 0]))
        )

    def _first_elements(self, lanes: Lanes, point: LanePositions) -> str:
        """Return the first elements; a shared function loads them if they are many lines."""
        access = next(iter(self.used.values()), None)
        step = None if access is None else point.steps.get(access)
        leaf = isinstance(self.x, Leaf) and lanes.count >= SHARED and step is not None
        if access is None or step is None or not leaf or not strided(access, step):
            return self.function.words(point, self.used)[1].value(self.x)
        where = address(self.code, access, point.positions[access])
        return square_of(access, lanes.count).first(self.code, where, step)

    def _fold_part(self, part: Rectangle, groups: list[LanePositions], slots: list[str]) -> None:
        *loops, inner = part.loops
        if not self._across(inner, groups[0]):
            with nested(self.code, part.loops, groups, self.what) as points:
                self._steps(points, slots)
            return
        with nested(self.code, loops, groups, self.what) as points:
            self._blocks(inner, points, slots)

    def _across(self, inner: Loop, point: LanePositions) -> bool:
        """Return whether operands are strided across the lanes and contiguous along the fold."""
        pairs = zip(point.steps.items(), inner.steps, strict=True)
        steps = [s for (access, step), s in pairs if strided(access, step)]
        return point.lanes >= 4 and bool(steps) and all(known(s, 1) for s in steps)

    def _blocks(self, inner: Loop, groups: list[LanePositions], slots: list[str]) -> None:
        lanes, count = groups[0].lanes, inner.count
        whole = count // lanes * lanes
        alone = len(groups) == 1 or (isinstance(whole, int) and whole < LONG)
        called = isinstance(self.x, Leaf) and lanes >= SHARED and alone
        if not known(whole, 0):
            with self.code.loop(whole, f"{self.what}, blocks", lanes) as index:
                for point, slot in zip(groups, slots, strict=True):
                    place = point.moved(inner, index)
                    if called:
                        self._call(place, slot)
                        continue
                    for line in square_lines(self.code, place, inner):
                        self._step(line, slot)
        if isinstance(count, int) and isinstance(whole, int):
            for number in range(whole, count):
                self._steps([point.moved(inner, number) for point in groups], slots)
            return
        with self.code.loop(count - whole, f"{self.what}, what is left") as index:
            self._steps([point.moved(inner, whole + index) for point in groups], slots)

    def _call(self, point: LanePositions, slot: str) -> None:
        """Fold a block by a call of a shared function, which keeps the text short."""
        [access] = self.used.values()
        square, name = square_of(access, point.lanes), f"folded_{self.word}_{self.dtype.name}"
        if name not in self.code.kernels:
            self.code.kernels[name] = self._function(name, square)
        where = address(self.code, access, point.positions[access])
        block = f"ptr {where}, i64 {square.distance(point.steps[access])}"
        kinds = square.kinds
        old = self.code.let(f"load {kinds}, ptr {slot}")
        call = f"call {self.code.many}{kinds} @{name}({block}, {kinds} {old})"
        self.code.do(f"store {kinds} {self.code.let(call)}, ptr {slot}")

    def _function(self, name: str, square: Square) -> str:
        """Return a function that folds all columns of a block into an accumulator."""
        code, kinds, total = Code(), square.kinds, "%total"
        lanes = Lanes(code, square.size)
        for column in written(code, square, "%block", "%step"):
            words = Words(lanes, partial(self._leaf, lanes, column), self.used)
            total = self._combined(lanes, words, total)
        head = f"define internal {self.code.many}{kinds} @{name}(ptr %block, i64 %step, "
        head += f"{kinds} %total) noinline nounwind {{"
        return "\n".join([head, "entry:", *code.lines, f"  ret {kinds} {total}", "}", ""])

    def _leaf(self, lanes: Lanes, column: str, node: Traced) -> str:
        leaf = node if isinstance(node, Leaf) else Leaf(node)
        return column if leaf in self.used else self.function.constant(leaf, lanes)

    def _steps(self, groups: list[LanePositions], slots: list[str]) -> None:
        for point, slot in zip(groups, slots, strict=True):
            self._step(point, slot)

    def _step(self, point: LanePositions, slot: str) -> None:
        """Emit acc = acc.word(x)."""
        lanes, words = self.function.words(point, self.used)
        kinds = lanes.type(element(self.dtype))
        old = self.code.let(f"load {kinds}, ptr {slot}")
        new = self._combined(lanes, words, old)
        self.code.do(f"store {kinds} {new}, ptr {slot}")

    def _combined(self, lanes: Lanes, words: Words, old: str) -> str:
        if self.dtype == t.f32 and self.word in ("add", "mul"):  # a NaN stays: canonical at the end
            return lanes.op(f"f{self.word}", "float", old, words.raw(self.x))
        total = Traced(self.dtype, 2, 2)
        words.done[total] = old
        return words.value(Apply(self.word, (total, self.x), {}))
