"""Loops and branches of a program; what goes round or comes out of them lives in the frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

from ptokit.ir import Block, Value
from ptokit.sim.kernels.code import Int, NotNative, Num, Truth
from ptokit.sim.kernels.handles import mapped, open_numbers

if TYPE_CHECKING:
    from ptokit.sim.native.module import Compiler


@dataclass
class Flow:
    """How a compiled program repeats and chooses."""

    compiler: Compiler

    def loop(
        self, lower: Num, upper: Num, step: Num, carried: tuple[Any, ...], region: Any
    ) -> tuple[Any, ...]:
        """A loop of the program; what it carries lives in the frame."""
        slots = [self._carry(value) for value in carried]
        counter = self.compiler.slot()
        self.compiler.store(counter, lower)
        head, body, done = (self.compiler.code.name(n) for n in ("head", "body", "done"))
        self.compiler.initial.enter_loop(region.block)
        self.compiler.code.jump(head)
        self.compiler.code.start(head)
        index = self.compiler.load(counter)
        if not isinstance(lower, int) and lower.text in self.compiler.code.by_block:
            self.compiler.code.by_block.add(index.text)
        self.compiler.code.branch(index < upper, body, done)
        self.compiler.code.start(body)
        if isinstance(lower, int) and isinstance(step, int):
            index = Int(self.compiler.code, index.text, gcd(lower, step))
        yielded = region(index, *[self._carried(v, s) for v, s in zip(carried, slots, strict=True)])
        for value, first, slot in zip(yielded, carried, slots, strict=True):
            self._put_carried(value, first, slot)
        self.compiler.store(counter, self.compiler.load(counter) + step)
        self.compiler.code.jump(head)
        self.compiler.code.start(done)
        known = all(isinstance(n, int) for n in (lower, upper))
        self.compiler.initial.leave_loop(surely=known and lower < upper)  # type: ignore[operator]
        return tuple(self._carried(v, s) for v, s in zip(carried, slots, strict=True))

    def branch(self, condition: Num, regions: Sequence[Any]) -> tuple[Any, ...]:
        """A branch of the program; what it gives lives in the frame."""
        if isinstance(condition, int):
            chosen = regions[0] if condition else regions[1] if len(regions) > 1 else None
            return chosen() if chosen else ()
        yes, no, after = (self.compiler.code.name(n) for n in ("yes", "no", "after"))
        test = condition != 0
        assert isinstance(test, Truth)
        self.compiler.code.branch(test, yes, no)
        slots: list[list[int]] | None = None
        given: tuple[Any, ...] = ()
        before = self.compiler.initial.copy()
        ends: list[Any] = []
        for label, region in zip((yes, no), (*regions, None)[:2], strict=True):
            self.compiler.code.start(label)
            self.compiler.initial.restore(before)
            values = region() if region else ()
            if slots is None:
                slots, given = [self._carry(v) for v in values], values
            else:
                for value, first, slot in zip(values, given, slots, strict=True):
                    self._put_carried(value, first, slot)
            self.compiler.code.jump(after)
            ends.append(self.compiler.initial.copy())
        self.compiler.initial.meet(*ends)
        self.compiler.code.start(after)
        return tuple(self._carried(v, s) for v, s in zip(given, slots or [], strict=True))

    def _carry(self, value: Any) -> list[int]:
        """Slots for the numbers of a value, filled."""
        numbers = open_numbers(value)
        slots = [self.compiler.slot() for _ in numbers]
        for slot, number in zip(slots, numbers, strict=True):
            self.compiler.store(slot, number)
        return slots

    def _put_carried(self, value: Any, first: Any, slots: list[int]) -> None:
        """Fill the slots again, with a value of the same kind as the first."""
        numbers = open_numbers(value)
        memories = {id(getattr(v, "memory", None)) for v in (value, first)}
        if len(numbers) != len(slots) or len(memories) > 1:
            raise NotNative("a value that changes its shape or its memory from turn to turn")
        for slot, number in zip(slots, numbers, strict=True):
            self.compiler.store(slot, number)

    def _carried(self, value: Any, slots: list[int]) -> Any:  # Any: as the value
        """The value with its numbers from the slots."""
        if isinstance(value, int | Int):
            return self.compiler.load(slots[0])
        places = iter(slots)

        def fresh(number: Num) -> Num:
            return self.compiler.load(next(places))

        return mapped(value, lambda n: n if isinstance(n, int) else fresh(n), place=fresh)


@dataclass
class Region:
    """A region as control pages call it."""

    compiler: Compiler
    block: Block
    env: dict[Value, Any]  # Any: handles and numbers

    def __call__(self, *args: Any) -> tuple[Any, ...]:  # Any: handles and numbers
        compiler, before = self.compiler, self.compiler.inside
        for arg, value in zip(self.block.args, args, strict=True):
            self.env[arg] = value
        compiler.inside = (*before, (self.block, args))
        try:
            return compiler.compile_block(self.block, self.env)
        finally:
            compiler.inside = before
