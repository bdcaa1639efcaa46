"""Loops and branches of a compiled program, with loop-carried values and branch results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptokit.engines.native.firstiteration import FirstIteration, numbers_of_iterations
from ptokit.engines.native.frame import LEFT, TICK, Purpose
from ptokit.engines.native.mainfunction import MainFunction
from ptokit.ir.module import AnyOp, Block, Op, Value
from ptokit.isa.model.types import ScalarType, Type
from ptokit.machine.arguments import Env
from ptokit.machine.record.code import (
    Coded,
    Int,
    NotNative,
    Num,
    Truth,
    coded,
    form_of,
    limits_of,
    text,
)
from ptokit.machine.record.definite import Proven
from ptokit.machine.record.handles import mapped, numbers


@dataclass
class CompiledFlow:
    """The control flow operations of a compiled program."""

    main: MainFunction
    op: Op

    def loop(
        self, lower: Num, upper: Num, step: Num, carried: tuple[object, ...], region: CompiledRegion
    ) -> tuple[object, ...]:
        """Emit a counting loop.

        The remaining distance is compared with the step, so 2^63 is not passed.
        """
        main, code, initial = self.main, self.main.code, self.main.initial
        types = (arg.type for arg in region.block.args)
        pairs = zip((lower, *carried), types, strict=True)
        counter, *held = (Carried(main, value, kind) for value, kind in pairs)
        body, again, done = (code.name(n) for n in ("body", "again", "done"))
        first = None
        if isinstance(lower, int):
            first = FirstIteration(main.facts, region.block, lower, code.names)
        initial.enter_loop(region.block)
        code.branch(counter.now() < upper, body, done)
        code.start(body)
        index = counter.now()
        if not isinstance(lower, int) and lower.text in code.by_block:
            code.by_block.add(index.text)
        index = self._counter(index, lower, upper, step)
        arguments = (index, *[one.now() for one in held])
        if isinstance(lower, int) and isinstance(upper, int) and isinstance(step, int):
            turns = range(lower, upper, step)
            arguments = self._followed(turns, carried, region.block, arguments)
        with main.repeating(first), iteration(main, self.op, region.block, arguments):
            passed = region(*arguments)
        for one, value in zip(held, passed, strict=True):
            one.put(value)
        rest = code.let(f"sub i64 {text(upper)}, {index.text}")  # unsigned, below 2^64
        code.branch(code.let(f"icmp ult i64 {text(step)}, {rest}"), again, done)
        code.start(again)
        counter.put(Int(code, code.let(f"add i64 {index.text}, {text(step)}")))
        code.jump(body)
        code.start(done)
        known = all(isinstance(n, int) for n in (lower, upper))
        initial.leave_loop(runs=known and lower < upper)  # type: ignore[operator]  # `known`: both are ints
        return tuple(one.now() for one in held)

    def _followed(
        self, turns: range, carried: Sequence[object], block: Block, arguments: tuple[Any, ...]
    ) -> tuple[Any, ...]:  # Any: numbers and handles
        """Return the arguments of a body, with limits where their numbers are known."""
        if not carried and not reads(block, block.args[0]):
            return arguments
        found = numbers_of_iterations(self.main.facts, block, turns, carried)
        texts: dict[str, NDArray[np.int64]] = {}
        made: list[Any] = []  # Any: as above
        for value, now in zip(block.args, arguments, strict=True):
            numbers = found.get(value)
            if numbers is not None and value is not block.args[0]:
                now = Int(now.code, now.text, limits=(int(numbers.min()), int(numbers.max())))
            made.append(now)
            texts |= {} if numbers is None else {now.text: numbers}
        if texts:
            self.main.initial.lanes.iterates(len(turns), texts)
        return tuple(made)

    def _counter(self, now: Int, lower: Num, upper: Num, step: Num) -> Int:
        """Return the counter of a loop with what its bounds say of it."""
        code, last, multiple = self.main.code, limits_of(upper)[1] - 1, 1
        if isinstance(lower, int) and isinstance(step, int):
            multiple = gcd(lower, step)
            if isinstance(upper, int):
                last -= (upper - 1 - lower) % step
        first = limits_of(lower)[0]
        if limits_of(step)[0] < 1:
            return now
        code.bounds.counter(now.text, form_of(upper))
        return Int(code, now.text, multiple, limits=(first, max(first, last)))

    def repeat(
        self, carried: tuple[object, ...], before: CompiledRegion, after: CompiledRegion
    ) -> tuple[object, ...]:
        """Emit a loop that ends when `before` returns false."""
        main, code, initial = self.main, self.main.code, self.main.initial
        pairs = zip(carried, before.block.args, strict=True)
        held = [Carried(main, value, arg.type) for value, arg in pairs]
        head, body, done = (code.name(n) for n in ("head", "body", "done"))
        initial.enter_loop(before.block, after.block)
        code.jump(head)
        code.start(head)
        with main.repeating(None):
            condition, *passed = before(*(one.now() for one in held))
        checked = initial.copy()
        test: Any = condition != 0  # Any: a Truth or a bool
        code.branch(test if isinstance(test, Truth) else str(test).lower(), body, done)
        code.start(body)
        with main.repeating(None), iteration(main, self.op, after.block, tuple(passed)):
            again = after(*passed)
        for one, value in zip(held, again, strict=True):
            one.put(value)
        code.jump(head)
        code.start(done)
        initial.leave_loop(runs=True)
        initial.restore(checked)
        return tuple(passed)

    def branch(self, condition: Num, regions: Sequence[CompiledRegion]) -> tuple[object, ...]:
        """Emit a branch."""
        if isinstance(condition, int):
            chosen = regions[0] if condition else regions[1] if len(regions) > 1 else None
            return chosen() if chosen else ()
        main, code, initial = self.main, self.main.code, self.main.initial
        yes, no, after = (code.name(n) for n in ("yes", "no", "after"))
        test: Any = condition != 0  # Any: a Truth or a bool
        assert isinstance(test, Truth)
        code.branch(test, yes, no)
        _, asked = next(self.op.values())
        held: list[Carried] | None = None
        before, losses = initial.copy(), initial.losses()
        ends: list[Proven] = []
        for label, region in zip((yes, no), (*regions, None)[:2], strict=True):
            code.start(label)
            initial.restore(before)
            if ends and main.opening is not None and main.opening.takes(asked):
                initial.assume_earlier(ends[0], losses, main.opening.fixed)
            values = region() if region else ()
            if held is None:
                kinds = (result.type for result in self.op.results)
                held = [Carried(self.main, v, k) for v, k in zip(values, kinds, strict=True)]
            else:
                for one, value in zip(held, values, strict=True):
                    one.put(value)
            code.jump(after)
            ends.append(initial.copy())
        initial.meet(*ends)
        code.start(after)
        return tuple(one.now() for one in held or ())


def reads(block: Block, value: Value) -> bool:
    """Return whether an op of a block reads a value."""
    return any(v is value for op in block.walk() if isinstance(op, Op) for _, v in op.values())


class Carried:
    """A value whose numbers change at run time: each number has a variable."""

    def __init__(self, main: MainFunction, value: object, kind: Type) -> None:  # of either
        self.main, self.kind = main, kind
        value = self.first = self._coded(value)
        self.numbers = numbers(value)
        self.places = [main.variable() for _, changes in self.numbers if changes]
        self.put(value)

    def _coded(self, value: Any) -> object:  # Any: as above
        """Return a float as its code."""
        dtype = self.kind.dtype if isinstance(self.kind, ScalarType) else None
        return coded(value, dtype) if dtype is not None and dtype.is_float else value

    def put(self, value: object) -> None:
        """Store a value that differs from the first one in run-time numbers only."""
        value = self._coded(value)
        memories = {id(getattr(v, "memory", None)) for v in (value, self.first)}
        found = numbers(value)
        pairs = list(zip(self.numbers, found, strict=False))
        same = all(changes or text(old) == text(new) for (old, changes), (new, _) in pairs)
        if len(memories) > 1 or len(found) != len(self.numbers) or not same:
            raise NotNative("a value that changes its shape or its memory between iterations")
        left = iter(self.places)
        for (_, changes), (new, _) in pairs:
            if changes:
                self.main.store(next(left), new)

    def now(self) -> Any:  # Any: as above
        """Return the value with its current numbers."""
        if isinstance(self.first, int | Int):
            return self.main.load(self.places[0])
        if isinstance(self.first, Coded):
            return Coded(self.main.load(self.places[0]), self.first.dtype)
        left = iter(self.places)

        def fresh(_: Num) -> Num:
            return self.main.load(next(left))

        return mapped(self.first, lambda n: n if isinstance(n, int) else fresh(n), place=fresh)


@dataclass
class CompiledRegion:
    """A region, callable from the bodies of control flow pages."""

    main: MainFunction
    block: Block
    env: Env
    compile: Callable[[Block, Env], tuple[object, ...]]
    all: Sequence[Block]  # the regions of the op

    def __call__(self, *args: object) -> tuple[object, ...]:
        with self.main.keeping_extents(self.all, self.env), self.main.within(self.block, args):
            for arg, value in zip(self.block.args, args, strict=True):
                self.env[arg] = value = copy(value) if arg.resized else value
                self.main.resizable(arg, value)
            return self.compile(self.block, self.env)


def compiled_regions(
    main: Any,  # Any: the generator, which stands above this file
    op: Op,
    env: Env,
) -> tuple[CompiledRegion, ...]:
    """Return the regions of an op, each compiled when it is called."""
    regions, compiled = op.regions, main.compile_block
    return tuple(CompiledRegion(main, r, env, compiled, regions) for r in regions)


# places where a run can be ended: see `session` and `machine.limits`


@contextmanager
def iteration(
    main: MainFunction, op: Op, block: Block, args: tuple[object, ...]
) -> Generator[None]:
    """Emit one iteration of `op`, where the run can be ended; an idle one counts as an op."""
    with main.within(block, args):
        look(main, op)
    left = main.load(main.place(LEFT)) if main.limited else None
    yield
    if left is not None:
        unused = main.load(main.place(LEFT)) == left
        with main.within(block, args), main.code.when(unused):
            spend(main, op)


def look(main: MainFunction, op: AnyOp) -> None:
    """Call back if a tick asks for it."""
    tick = main.code.let(f"load volatile i64, ptr {main.place(TICK)}")
    with main.code.when(main.code.let(f"icmp ne i64 {tick}, 0")):
        main.request(op, Purpose.LOOK)


def spend(main: MainFunction, op: Op) -> None:
    """Decrement the remaining instructions if they are limited; end the run before `op` at 0."""
    if main.limited:
        with main.code.when(main.add(LEFT, -1) < 0):
            main.request(op, Purpose.LIMIT)
