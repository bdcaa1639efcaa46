"""Launches of threads as loops over the threads, divided where threads wait for each other.

What a thread executes between two such places is the body of a loop. A value that is used behind
such a place is stored in an array with an element for each thread. Where threads diverge and then
wait, an array says which threads take part. Pages say in their hook `in_thread` what takes the
place of an instruction that depends on the thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from ptokit.forms.threadloops import LaunchEmission, ThreadLoops
from ptokit.forms.threadplan import Divided, Item, Segment, of_launch
from ptokit.ir.editing import refuse, renamed
from ptokit.ir.graph import inner_uses
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.environment import call
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.types import I1, I32, INDEX
from ptokit.isa.pages.lanes import threadnumbers as numbers


def without_threads(func: Func) -> Func:
    """Return the function with loops in place of launches."""
    return _WithoutThreads(func).finished()


class _WithoutThreads(LaunchEmission):
    """The loops of one function."""

    def _op(self, op: AnyOp) -> None:
        self.note(op)
        if isinstance(op, Op) and of_launch(op):
            self.at = op
            _LaunchLoops(self, op).run()
            self.at = None
        elif op.regions:
            self.ops.append(replace(op, regions=[self._block(r) for r in op.regions]))
        else:
            self.ops.append(op)


class _LaunchLoops(ThreadLoops):
    """The loops of one launch."""

    current: Segment | None = None

    def run(self) -> None:
        self._items(self.plan.items)

    # what lies between two places at which threads wait

    def _items(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Segment):
                self._segment(item)
            else:
                self._divided(item)

    def _segment(self, segment: Segment) -> None:
        if not segment.ops:
            return

        def body() -> None:
            self.current = segment
            uses = dict.fromkeys(v for op in segment.ops for _, _, v in inner_uses(op))
            for value in uses:
                if self.plan.home.get(value, segment) is not segment:
                    self._here(value)
            for op in segment.ops:
                self._op(op)
            for value in self.plan.kept:
                if self.plan.home.get(value) is segment:
                    self.put(self.array_of(value), self._here(value), value.type)
            self.current = None

        self.each(body)

    def _here(self, value: Value) -> Value:
        """Return what stands for a value in the thread at hand."""
        if value in self.now:
            return self.now[value]
        home = self.plan.home.get(value)
        if home is None or home is self.current:
            return value
        again = self.plan.again(value)
        if again is not None:
            made = [Value(self.make.names.name(v.name), v.type, v.span) for v in again.results]
            self._op(replace(again, results=made))
            self.now[value] = self.now.get(made[0], made[0])
        else:
            array = self.array_of(value)
            self.now[value] = self.make.value(self.got(array, self.number(), value.type))
        return self.now[value]

    def _op(self, op: AnyOp) -> None:
        self.make.note(op)
        if not isinstance(op, Op):
            self.make.ops.append(renamed(op, self.now))
            return
        uses = dict.fromkeys(v for _, v in op.values())
        here = {v: self._here(v) for v in uses}
        if op.page.in_thread is not None:
            self._replaced(op, here)
            return
        page = _by_thread(op.page)
        regions = [self._region(region) for region in op.regions]
        operands = {
            n: tuple(here[v] for v in b) if isinstance(b, tuple) else here[b]
            for n, b in op.operands.items()
        }
        self.make.ops.append(replace(op, page=page, operands=operands, regions=regions))

    def _region(self, block: Block) -> Block:
        make = self.make
        around, make.ops = make.ops, list[AnyOp]()
        for op in block.ops:
            self._op(op)
        made, make.ops = replace(block, ops=make.ops), around
        return made

    def _replaced(self, op: Op, here: dict[Value, Value]) -> None:
        """Replace an op by what its page says for a thread."""
        page, make = op.page, self.make
        before, make.at, self.executed = make.at, op, op
        values: dict[str, object] = {o.name: o.default for o in page.operands if not o.required}
        values |= {a.name: op.attrs.get(a.name, a.default) for a in page.attrs}
        values |= {name: here[value] for name, value in op.values()}
        values |= {name: value.type for name, value in op.named_results()}
        assert page.in_thread is not None
        found = call(page.in_thread, {**values, "make": self})
        for result in op.results:
            self.now[result] = make.value(found, result.type)
        make.at, self.executed = before, None

    # places at which threads wait inside of loops and branches

    def _moved(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Add the loop in which each thread stores values in arrays, all of them at once."""
        if not pairs:
            return

        def body() -> None:
            here = [self._here(value) for value, _ in pairs]
            for (value, array), held in zip(pairs, here, strict=True):
                self.put(array, held, value.type)

        self.each(body)

    def _marked(self, condition: Callable[[], Quantity]) -> Value:
        """Return an array of the threads that take part from now on, where `condition` holds."""
        array = self.array(I32)
        self._unmarked(array)
        self._remarked(array, condition)
        return array

    def _unmarked(self, array: Value) -> None:
        around, self.active = self.active, None
        self.each(lambda: self.put(array, self.make.constant(0, I32), I32))
        self.active = around

    def _remarked(self, array: Value, condition: Callable[[], Quantity]) -> None:
        self.each(lambda: self.put(array, numbers.flag(self, condition()), I32))

    def _divided(self, item: Divided) -> None:
        match item.op.page.asm.shape:
            case "if":
                self._branches(item)
            case "for":
                self._counted(item)
            case "while":
                self._repeated(item)
            case "executed" | "section":
                self._items(item.parts[0])
                self._results(item, 0)
            case _:
                message = f"{item.op.name}: threads wait for each other inside of it"
                raise refuse(message, item.op.span, "move the barrier out of it")

    def _results(self, item: Divided, number: int) -> None:
        """Store what a region passes on as results of the op."""
        passed = item.op.regions[number].passed
        ends = [self.array_of(r) for r in item.op.results]
        self._moved([*zip(passed, ends, strict=True)])

    def _branches(self, item: Divided) -> None:
        (_, condition), *_ = item.op.values()
        around = self.active
        for number, part in enumerate(item.parts):

            def holds(wanted: bool = number == 0) -> Quantity:
                held = self._here(condition)
                return held if wanted else numbers.without(self, held)

            self.active = around
            self.active = self._marked(holds)
            self._items(part)
            self._results(item, number)
        self.active = around

    def _counted(self, item: Divided) -> None:
        op, block = item.op, item.op.regions[0]
        lower, upper, step, passed = (o.name for o in op.page.ins()[:4])
        bounds = [op.bound(name)[0] for name in (lower, upper, step)]
        counter, *carried = block.args
        arrays = [self.array_of(v) for v in carried]
        self.arrays |= dict(zip(op.results, arrays, strict=True))
        self._moved([*zip(op.bound(passed), arrays, strict=True)])

        def body() -> None:
            self._items(item.parts[0])
            self._moved([*zip(block.passed, arrays, strict=True)])

        if all(map(self.plan.same_for_all, bounds)):
            del self.plan.home[counter]
            loop = Op(op.page, spans=op.spans)
            given = [self._once(bound) for bound in bounds]
            loop.operands = dict(zip((lower, upper, step), given, strict=True))

            def filled() -> Sequence[Quantity]:
                body()
                return ()

            loop.regions = [self.make.block(loop, filled, (counter,))]
            self.make.ops.append(loop)
            return
        around, count = self.active, self.array_of(counter)
        first, end, by = bounds
        self._moved([(first, count)])

        def more() -> Quantity:
            return numbers.below(self, self.got(count, self.number(), INDEX), self._here(end))

        def further() -> None:
            body()
            self.each(
                lambda: self.put(
                    count,
                    self.sum(self.got(count, self.number(), INDEX), self._here(by)),
                    INDEX,
                )
            )
            self._remarked(marks, more)

        marks = self.active = self._marked(more)
        self.go_on(lambda: self.any(marks), further)
        self.active = around

    def _once(self, value: Value) -> Value:
        """Return a value that is the same for all threads, outside of loops over threads."""
        again = self.plan.again(value)
        if value not in self.plan.home or again is None:
            return value
        made = Value(self.make.names.name(value.name), value.type, value.span)
        self.make.ops.append(replace(again, results=[made]))
        self.make.note(self.make.ops[-1])
        return made

    def _repeated(self, item: Divided) -> None:
        op, (first, second) = item.op, item.op.regions
        arrays = [self.array_of(v) for v in first.args]
        given = next((op.bound(o.name) for o in op.page.operands if o.many), ())
        self._moved([*zip(given, arrays, strict=True)])
        condition, *_ = first.outcome
        around, one = self.active, self.make.constant(1, I1)
        marks = self.active = self._marked(lambda: one)

        def goes_on() -> Quantity:
            self._items(item.parts[0])
            for names in (second.args, op.results):
                ends = [self.array_of(v) for v in names]
                self._moved([*zip(first.passed, ends, strict=True)])
            self._remarked(marks, lambda: self._here(condition))
            return self.any(marks)

        def further() -> None:
            self._items(item.parts[1])
            self._moved([*zip(second.passed, arrays, strict=True)])

        self.go_on(goes_on, further)
        self.active = around


@cache
def _by_thread(page: type[Instr]) -> type[Instr]:
    """Return the page of the instruction that a thread executes in place of the scalar unit."""
    if not page.by_thread:
        return page
    kinds = [o.kind for o in page.operands]
    found = (p for p in walk() if p.name == page.by_thread)
    return next((p for p in found if [o.kind for o in p.operands] == kinds), page)
