"""Loops over the threads of a launch, and what pages ask about the thread at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptokit.forms.threadplan import LaunchPlan
from ptokit.ir.editing import number_of, shaped
from ptokit.ir.emission import FuncEmission
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.types import I32, INDEX, ScalarType, Type
from ptokit.isa.pages.lanes import threadnumbers as numbers
from ptokit.isa.pages.lanes.threadnumbers import WARP
from ptokit.isa.pages.sections import MOST_THREADS


class LaunchEmission(FuncEmission):
    """The instructions of a function with loops in place of its launches."""

    def __init__(self, func: Func) -> None:
        super().__init__(func, INDEX)
        self.slots: dict[tuple[int, Type], Value] = {}

    def note(self, op: AnyOp) -> None:
        """Note the number that an op defines."""
        if isinstance(number := number_of(op), int):
            self.numbers[op.results[0]] = number

    def at_start(self, make: Callable[[], Quantity]) -> Value:
        """Return what `make` adds at the start of the function."""
        around, self.ops = self.ops, self.first
        made = self.value(make())
        self.ops = around
        return made


class ThreadLoops:
    """The loops of one launch; it is the `Thread` of hooks of pages."""

    def __init__(self, make: LaunchEmission, op: Op) -> None:
        self.make, self.launch = make, op
        self.sum, self.times, self.less, self.over = make.sum, make.times, make.less, make.over
        self.left_after, self.known, self.op, self.constant = (
            make.left_after,
            make.known,
            make.op,
            make.constant,
        )
        self.repeat, self.fold = make.repeat, make.fold
        self.extents = [self._extent(name) for name in ("x", "y", "z")]
        x, y, z = self.extents
        self.count = self.times(self.times(x, y), z)
        self.most = self.known(self.count) or MOST_THREADS
        self.plan = LaunchPlan(op)
        self.arrays: dict[Value, Value] = {}
        self.active: Value | None = None  # the array of threads that take part, 1 or 0
        self.places: Sequence[Quantity] = ()  # of the thread at hand along the axes
        self.now: dict[Value, Value] = {}  # values of the thread at hand
        self.around: list[AnyOp] = []  # the ops before the loop over threads
        self.executed: Op | None = None

    def _extent(self, name: str) -> Quantity:
        bound = self.launch.bound(name)
        if not bound:
            return self.launch.attrs[name]
        known = self.known(bound[0])
        return numbers.cast(self, bound[0], INDEX) if known is None else known

    # loops over threads

    def each(self, body: Callable[[], None]) -> None:
        """Add the loop in which each thread that takes part executes what `body` adds."""
        before = self.places, self.now, self.around
        self.now, self.around = {}, self.make.ops
        x, y, z = self.extents

        def of_thread() -> None:
            if self.active is None:
                body()
                return
            takes_part = self.got(self.active, self.number(), I32)
            self.only_if(numbers.is_set(self, takes_part), body)

        def along_x(k: Quantity, j: Quantity, i: Quantity) -> None:
            self.places = (i, j, k)
            of_thread()

        self.repeat(
            z, lambda k: self.repeat(y, lambda j: self.repeat(x, lambda i: along_x(k, j, i)))
        )
        self.places, self.now, self.around = before

    def only_if(self, condition: Quantity, body: Callable[[], None]) -> None:
        page = shaped("if")

        def filled() -> Sequence[Quantity]:
            body()
            return ()

        op = Op(page, {page.ins()[0].name: self.make.value(condition)})
        op.regions = [self.make.block(op, filled)]
        self.make.ops.append(op)

    def go_on(self, before: Callable[[], Quantity], after: Callable[[], None]) -> None:
        """Add a loop that goes on while the condition that `before` gives holds."""
        page, ends = shaped("while"), shaped("condition")
        op = Op(page)
        make = self.make
        around, make.ops = make.ops, list[AnyOp]()
        condition = make.value(before())
        make.ops.append(Op(ends, {ends.operands[0].name: condition}))
        first, make.ops = Block(ops=make.ops), around

        def filled() -> Sequence[Quantity]:
            after()
            return ()

        op.regions = [first, make.block(op, filled)]
        make.ops.append(op)

    def array(self, kind: Type) -> Value:
        """Return a new array with an element for each thread."""
        assert isinstance(kind, ScalarType), kind
        return self.make.at_start(lambda: numbers.declared(self, kind, self.most))

    def array_of(self, value: Value) -> Value:
        if value not in self.arrays:
            self.arrays[value] = self.array(value.type)
        return self.arrays[value]

    def got(self, array: Quantity, at: Quantity, kind: Type) -> Quantity:
        assert isinstance(kind, ScalarType)
        return numbers.got(self, array, at, kind)

    def put(self, array: Quantity, value: Quantity, kind: Type) -> None:
        assert isinstance(kind, ScalarType)
        numbers.put(self, array, self.number(), value, kind)

    def any(self, array: Value) -> Quantity:
        """Return whether any thread is marked."""

        def more(at: Quantity, held: Sequence[Quantity]) -> Sequence[Quantity]:
            return (numbers.bits(self, held[0], self.got(array, at, I32)),)

        last = self.fold(self.count, (self.make.constant(0, I32),), more)[0]
        return numbers.is_set(self, last)

    # `Thread`

    def place(self, axis: int) -> Quantity:
        return self.places[axis]

    def extent(self, axis: int) -> Quantity:
        return self.extents[axis]

    def number(self) -> Quantity:
        x, y, _ = self.extents
        i, j, k = self.places
        return self.sum(i, self.times(self.sum(j, self.times(k, y)), x))

    def lane(self) -> Quantity:
        return numbers.rest(self, self.number(), WARP)

    def takes_part(self, thread: Quantity) -> Quantity:
        """Return, as i1, whether a thread of the launch takes part in this instruction."""
        inside = numbers.both(
            self,
            numbers.below(self, self.less(0, 1), thread),
            numbers.below(self, thread, self.count),
        )
        if self.active is None:
            return inside
        at = numbers.chosen(self, inside, thread, self.number(), INDEX)
        marked = numbers.is_set(self, self.got(self.active, at, I32))
        return numbers.both(self, inside, marked)

    def of(self, operand: str, thread: Quantity) -> Quantity:
        assert self.executed
        value = self.executed.bound(operand)[0]
        if value not in self.plan.home:
            return value
        return self.got(self.array_of(value), thread, value.type)

    def over_lanes(
        self,
        operand: str,
        start: Quantity,
        step: Callable[[Quantity, Quantity, Quantity], Quantity],
    ) -> Quantity:
        assert self.executed
        make, kind = self.make, self.make.value(start).type
        warps = -(-self.most // WARP)
        assert isinstance(kind, ScalarType)
        found = make.at_start(lambda: numbers.declared(self, kind, warps))
        inner, make.ops = make.ops, self.around

        def of_warp(warp: Quantity) -> None:
            base = self.times(warp, WARP)

            def more(lane: Quantity, held: Sequence[Quantity]) -> Sequence[Quantity]:
                thread = self.sum(base, lane)
                value = self.of(operand, thread)
                further = step(held[0], value, lane)
                if self.active is None:
                    return (further,)
                marked = numbers.is_set(self, self.got(self.active, thread, I32))
                return (numbers.chosen(self, marked, further, held[0], kind),)

            lanes = self._least(WARP, self.less(self.count, base))
            last = self.fold(lanes, (start,), more)[0]
            numbers.put(self, found, warp, last, kind)

        self.repeat(self.over(self.sum(self.count, WARP - 1), WARP), of_warp)
        make.ops = inner
        return self.got(found, self.over(self.number(), WARP), kind)

    def _least(self, one: int, other: Quantity) -> Quantity:
        known = self.known(self.count)
        if known is not None and known % WARP == 0:
            return one
        return one if other is None else numbers.least_of(self, one, other)

    def kind_of(self, operand: str) -> ScalarType:
        assert self.executed
        kind = self.executed.bound(operand)[0].type
        assert isinstance(kind, ScalarType)
        return kind

    def kept(self, number: int, kind: ScalarType) -> Quantity:
        slots = self.make.slots
        if (number, kind) not in slots:
            slots[number, kind] = self.make.at_start(
                lambda: numbers.declared(self, kind, MOST_THREADS)
            )
        return slots[number, kind]
