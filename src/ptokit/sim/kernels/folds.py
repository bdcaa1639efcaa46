"""Folds: sums and maxima along one axis, in increasing index; the other axis lies in the lanes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from ptokit.isa import dtypes as t
from ptokit.sim.kernels.code import Num, known
from ptokit.sim.kernels.lanes import Lanes, Words, element, float_text
from ptokit.sim.kernels.loops import Irregular, Loop, Rectangle, nest, rectangles
from ptokit.sim.kernels.trace import Apply, Store, Traced
from ptokit.sim.kernels.walk import STILL, Access, Point, address, count_places, turn

if TYPE_CHECKING:
    from ptokit.sim.kernels.emit import Function

GROUPS = 4  # accumulators that wait for each other's additions
TURNED = 2  # of operands that are turned: each takes many instructions


class Fold:
    """A sequential fold along one axis; the other lies in the lanes, in several accumulators."""

    def __init__(
        self, function: Function, out: Store, x: Traced, axis: int, word: str, start: float | None
    ) -> None:
        self.function, self.code, self.x = function, function.code, x
        self.axis, self.word, self.start = axis, word, start
        self.dtype = out.cells.dtype
        self.used = function.uses([x])
        target = function.access(out.cells, out.rows, out.cols)
        self.accesses = [target, *self.used.values()]
        kept, folded = (x.cols, x.rows) if axis == 0 else (x.rows, x.cols)
        self.kept, self.folded = function.number(kept), function.number(folded)
        if axis == 1:
            target.cols = STILL
        else:
            target.rows = STILL
        self.most = function.lanes_of([x])

    def run(self) -> None:
        kept, folded = self._parts()
        self.moving = [a for a in self.accesses if a.at is None]
        for part in kept:
            empty = Rectangle((), (0,) * len(self.moving))
            part = nest(part, empty)
            positions = {a: a.offset + o for a, o in zip(self.moving, part.offsets, strict=True)}
            self._part(list(part.loops), positions, folded)

    def _parts(self) -> tuple[list[Rectangle], list[Rectangle]]:
        kept_of, folded_of = ("cols", "rows") if self.axis == 0 else ("rows", "cols")
        while True:
            moving = [a for a in self.accesses if a.at is None]
            if len(moving) > 2:  # different boxes would be visited out of order
                for access in moving[1:]:
                    start = getattr(access, folded_of).start
                    if not (isinstance(start, int) and start == 0):
                        self.accesses += count_places(access)
                moving = [a for a in self.accesses if a.at is None]
            try:
                kept = rectangles(self.kept, [getattr(a, kept_of) for a in moving])
                return kept, rectangles(self.folded, [getattr(a, folded_of) for a in moving])
            except Irregular as found:
                self.accesses += count_places(moving[found.access])

    def _part(
        self, loops: list[Loop], positions: dict[Access, Num], folded: list[Rectangle]
    ) -> None:
        inner = loops.pop() if loops and known(loops[-1].steps[0], 1) else None
        with ExitStack() as stack:
            for loop in loops:
                positions = self._loop(stack, loop, positions)
            if inner is None:
                self._reduce([positions], {a: 0 for a in self.moving}, 1, folded)
            else:
                self._chunks(inner, positions, folded)

    def _loop(
        self, stack: ExitStack, loop: Loop, positions: dict[Access, Num]
    ) -> dict[Access, Num]:
        if isinstance(loop.count, int) and loop.count == 1:
            return positions
        index = stack.enter_context(self.code.loop(loop.count, f"fold {self.word}"))
        return self._moved(positions, loop, index)

    def _moved(self, positions: dict[Access, Num], loop: Loop, by: Num) -> dict[Access, Num]:
        if isinstance(by, int) and by == 0:
            return positions
        return {a: positions[a] + by * s for a, s in zip(self.moving, loop.steps, strict=True)}

    def _chunks(self, inner: Loop, positions: dict[Access, Num], folded: list[Rectangle]) -> None:
        steps = dict(zip(self.moving, inner.steps, strict=True))
        lanes = self.most
        if not isinstance(inner.count, int):
            with self.code.loop(inner.count, f"fold {self.word}") as index:
                self._reduce([self._moved(positions, inner, index)], steps, 1, folded)
            return
        done = 0
        turned = any(self._turns(part.loops[-1], steps, lanes) for part in folded if part.loops)
        most = TURNED if turned else GROUPS
        many = lanes * most
        if inner.count // many > 1:
            done = inner.count // many * many
            with self.code.loop(done, f"fold {self.word}, {most} x {lanes} lanes", many) as index:
                base = self._moved(positions, inner, index)
                groups = [self._moved(base, inner, n * lanes) for n in range(most)]
                self._reduce(groups, steps, lanes, folded)
        while done < inner.count:
            count = (inner.count - done) // lanes
            if count:
                groups = [self._moved(positions, inner, done + n * lanes) for n in range(count)]
                self._reduce(groups[:most], steps, lanes, folded)
                done += min(count, most) * lanes
            else:
                lanes //= 2

    def _reduce(
        self,
        groups: list[dict[Access, Num]],
        steps: dict[Access, Num],
        lanes: int,
        folded: list[Rectangle],
    ) -> None:
        """All elements of the folded axis into one accumulator for each group of lanes."""
        vector = Lanes(self.code, lanes)
        kinds = vector.type(element(self.dtype))
        slots = [self.function.slot(kinds) for _ in groups]
        for slot, positions in zip(slots, groups, strict=True):
            first = Point(
                {a: p + o for (a, p), o in zip(positions.items(), folded[0].offsets, strict=True)},
                steps,
                lanes,
            )
            self.code.do(f"store {kinds} {self._first(vector, first)}, ptr {slot}")
        for part in folded:
            places = [
                {a: p + o for (a, p), o in zip(g.items(), part.offsets, strict=True)}
                for g in groups
            ]
            self._fold_part(list(part.loops), places, steps, lanes, slots)
        for slot, positions in zip(slots, groups, strict=True):
            total = self.code.let(f"load {kinds}, ptr {slot}")
            if self.dtype == t.f32:
                total = vector.quiet(total) if self.word in ("add", "sub", "mul") else total
            target = self.accesses[0]
            where = address(self.code, target, positions[target])
            self.code.do(f"store {kinds} {total}, ptr {where}, align {self.dtype.size}")

    def _first(self, lanes: Lanes, point: Point) -> str:
        if self.start is None:  # the first element; folding it once more changes nothing
            return self.function.words(point, self.used)[1].value(self.x)
        if self.dtype == t.f32:
            return lanes.splat("float", float_text(float(self.start)))
        assert self.start == 0, "narrow floats start at zero"
        return lanes.splat(element(self.dtype), "0")

    def _fold_part(
        self,
        loops: list[Loop],
        groups: list[dict[Access, Num]],
        steps: dict[Access, Num],
        lanes: int,
        slots: list[str],
    ) -> None:
        inner = loops.pop() if loops else None
        with ExitStack() as stack:
            for loop in loops:
                if not (isinstance(loop.count, int) and loop.count == 1):
                    index = stack.enter_context(self.code.loop(loop.count, f"fold {self.word}"))
                    groups = [self._moved(g, loop, index) for g in groups]
            if inner is None:
                self._steps(groups, steps, lanes, slots)
            elif self._turns(inner, steps, lanes):
                self._blocks(inner, groups, steps, lanes, slots)
            else:
                with self.code.loop(inner.count, f"fold {self.word}") as index:
                    self._steps([self._moved(g, inner, index) for g in groups], steps, lanes, slots)

    def _turns(self, inner: Loop, steps: dict[Access, Num], lanes: int) -> bool:
        """Whether operands lie across the lanes, contiguous along the fold."""
        strided = [
            s
            for a, s in zip(self.moving, inner.steps, strict=True)
            if a.pointer and not (isinstance(steps[a], int) and steps[a] in (0, 1))
        ]
        one = all(isinstance(s, int) and s == 1 for s in strided)
        return bool(strided) and one and lanes >= 4 and isinstance(inner.count, int)

    def _blocks(
        self,
        inner: Loop,
        groups: list[dict[Access, Num]],
        steps: dict[Access, Num],
        lanes: int,
        slots: list[str],
    ) -> None:
        assert isinstance(inner.count, int)
        lanewise = Loop(lanes, tuple(steps[a] for a in self.moving))
        whole = inner.count // lanes * lanes
        if whole:
            with self.code.loop(whole, f"fold {self.word}, blocks", lanes) as index:
                for group, slot in zip(groups, slots, strict=True):
                    base = self._moved(group, inner, index)
                    turned = turn(self.code, self.moving, lanewise, inner, base, lanes)
                    for number in range(lanes):
                        place = self._moved(base, inner, number)
                        point = Point(place, steps, lanes)
                        point.turned = {a: vectors[number] for a, vectors in turned.items()}
                        self._step(point, slot)
        for number in range(whole, inner.count):
            self._steps([self._moved(g, inner, number) for g in groups], steps, lanes, slots)

    def _steps(
        self,
        groups: list[dict[Access, Num]],
        steps: dict[Access, Num],
        lanes: int,
        slots: list[str],
    ) -> None:
        for group, slot in zip(groups, slots, strict=True):
            self._step(Point(group, steps, lanes), slot)

    def _step(self, point: Point, slot: str) -> None:
        """acc = acc.word(x)."""
        lanes, words = self.function.words(point, self.used)
        kinds = lanes.type(element(self.dtype))
        old = self.code.let(f"load {kinds}, ptr {slot}")
        new = self._combined(lanes, words, old)
        self.code.do(f"store {kinds} {new}, ptr {slot}")

    def _combined(self, lanes: Lanes, words: Words, old: str) -> str:
        if self.dtype == t.f32 and self.word == "add":  # a NaN stays one: made quiet at the end
            return lanes.op("fadd", "float", old, words.value(self.x))
        total = Traced(self.dtype, 2, 2)
        words.done[total] = old
        return words.value(Apply(self.word, (total, self.x), {}))
