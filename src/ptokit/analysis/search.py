"""A search for the first iteration that breaks a rule, without trying all iterations.

A loop is walked for all its iterations at once, with a range as its counter. If that does not prove
the open rules, the range is halved, down to single iterations in execution order. The number of
steps grows with the logarithm of the trip count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from ptokit.analysis.checker import CheckedRegion
from ptokit.analysis.intervalanalysis import (
    IntervalAnalysis,
    counter,
    undecided_rule,
    unknowns,
    widened,
)
from ptokit.analysis.known import Case
from ptokit.analysis.ranges import Fact, Range
from ptokit.analysis.violation import UNDEFINED, blamed, tolerated, tolerated_warning, violation
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.formula.formulas import UNKNOWN, Env
from ptokit.isa.formula.rules import Rule, doubtful
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.isa.model.targets import Target

STEPS = 10_000  # walked instructions before the rest is deferred to run time
TOO_LONG = f"too many iterations to enumerate in {STEPS} steps"


class Unproven(Exception):
    """Raised if a rule is not proved for a whole range."""


class Exhausted(Exception):
    """Raised if the steps are used up."""


class Iteration(NamedTuple):
    """An iteration: the name and value of the counter, and the iteration number from 0."""

    counter: str
    value: int
    iteration: int


class Search(IntervalAnalysis):
    """A search for iterations that break rules of `wanted`; `path` are the relevant ops."""

    def __init__(
        self,
        target: Target,
        numbers: Mapping[Value, Fact],
        func: Func,
        wanted: dict[Op, list[Rule]],
    ) -> None:
        super().__init__(target, numbers)
        self.wanted = wanted
        self.path = slice_of(func, wanted)
        self.exact = True  # a single iteration of each loop, executed on every path
        self.frames: list[Iteration] = []
        self.steps = 0

    def search(self, func: Func) -> None:
        """Fill `found` and `left`."""
        try:
            self.block(func.body)
        except (Exhausted, Unproven):
            rest = [(op, rule) for op, rules in self.wanted.items() for rule in rules]
            self.left += [undecided_rule(op, rule, TOO_LONG) for op, rule in rest]

    def block(self, block: Block) -> None:
        for op in self.path.get(block, ()):
            self.op(op)

    def op(self, op: AnyOp) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise Exhausted
        for result in op.results:
            self.facts.forget(result)
        super().op(op)

    def value(self, value: Value, part: bool = False, elsewhere: str | None = None) -> None:
        """Do nothing, since types were checked before."""

    def attributes(self, op: Op) -> None:
        """Do nothing, since attributes were checked before."""

    def doubts(self, op: Op, case: Case, env: Env) -> Iterator[tuple[Rule, object]]:
        return doubtful(tuple(self.wanted.get(op, ())), env)

    def judge(self, op: Op, rule: Rule, env: Env, outcome: object) -> None:
        if not self.exact:
            raise Unproven
        self.wanted[op].remove(rule)
        if outcome is False:
            goes_on = tolerated(rule, env)  # a varying extent belongs to a `?`
            found = (tolerated_warning if goes_on else violation)(
                op.page, rule, env, blamed(op, rule)
            )
            self.found.append(self._at(found))
            if goes_on:  # a later iteration may break the rule worse
                self.left.append(undecided_rule(op, rule, UNDEFINED))
        else:
            why = unknowns(op, rule, env) or "a number is not known statically"
            self.left.append(undecided_rule(op, rule, why))

    def loop(
        self, lower: Fact, upper: Fact, step: Fact, carried: tuple[Fact, ...], region: CheckedRegion
    ) -> tuple[Fact, ...]:
        if not (self.exact and isinstance(lower, int) and isinstance(upper, int)) or not (
            isinstance(step, int) and step > 0
        ):
            together = counter(lower, upper, step)
            return carried if together is None else self._together(together, carried, region)
        iterations = range(lower, upper, step)
        for first in range(0, -((lower - upper) // step), sys.maxsize):  # limit of `len`
            some = iterations[first : first + sys.maxsize]
            carried = self._iterations(some, range(first, first + len(some)), carried, region)
        return carried

    def _iterations(
        self, iterations: range, numbers: range, carried: tuple[Fact, ...], region: CheckedRegion
    ) -> tuple[Fact, ...]:
        """Run iterations in order; `numbers` are their numbers."""
        if len(iterations) == 0 or not self._matters(region.block):
            return carried
        if len(iterations) == 1:
            self.frames.append(Iteration(region.block.args[0].name, iterations[0], numbers[0]))
            carried = region(iterations[0], *carried)
            self.frames.pop()
            return carried
        if not any(isinstance(n, int | Range) for n in carried):
            try:
                return self._together(
                    Range(iterations[0], iterations[-1], iterations.step), carried, region
                )
            except Unproven:
                pass
        half = len(iterations) // 2
        carried = self._iterations(iterations[:half], numbers[:half], carried, region)
        return self._iterations(iterations[half:], numbers[half:], carried, region)

    def _together(
        self, iterations: Fact, carried: tuple[Fact, ...], region: CheckedRegion
    ) -> tuple[Fact, ...]:
        """Run all iterations at once."""
        around = widened(carried)
        self._loosely(region, iterations, *around)
        return around

    def _loosely(self, region: CheckedRegion, *numbers: Fact) -> tuple[Fact, ...]:
        """Run a region that stands for several executions, or that may not run."""
        before, self.exact = self.exact, False
        try:
            return region(*numbers)
        finally:
            self.exact = before

    def repeat(
        self, carried: tuple[Fact, ...], before: CheckedRegion, after: CheckedRegion
    ) -> tuple[Fact, ...]:
        passed = self._loosely(before, *(UNKNOWN for _ in carried))[1:]
        self._loosely(after, *(UNKNOWN for _ in passed))
        return tuple(UNKNOWN for _ in passed)

    def branch(self, condition: Fact, regions: tuple[CheckedRegion, ...]) -> tuple[Fact, ...]:
        if isinstance(condition, int):
            taken = regions[0] if condition else regions[1] if len(regions) > 1 else None
            return taken() if taken else ()
        for region in regions:
            self._loosely(region)
        return ()

    def _matters(self, block: Block) -> bool:
        """Return whether a block contains an open rule, or passes on a needed value."""
        ops = self.path.get(block, ())
        return any(
            self.wanted.get(op)
            or TERMINATOR in op.page.traits
            or any(map(self._matters, op.regions))
            for op in ops
        )

    def _at(self, found: Diagnostic) -> Diagnostic:
        """Add the iteration to the numbers in a diagnostic."""
        if not self.frames:
            return found
        values = ", ".join(f"%{f.counter} = {f.value}" for f in self.frames)
        which = f"{values}, iteration {self.frames[-1].iteration}"
        inner = " of the innermost loop" if len(self.frames) > 1 else ""
        return replace(found, seen=f"{found.seen} at {which}{inner}")


def slice_of(func: Func, wanted: Mapping[Op, object]) -> dict[Block, list[Op]]:
    """Return the ops that the operands of `wanted` depend on, and those around them, by block."""
    made: dict[Value, Op] = {}
    ends: dict[Value, list[Op]] = {}
    around: dict[Op, Op | None] = {}
    order = list(_placed(func.body, None, made, ends, around))
    needed, todo = set[Op](), list(wanted)
    while todo:
        op = todo.pop()
        if op in needed:
            continue
        needed.add(op)
        outer = around[op]
        todo += [outer] if outer else []
        for _, value in op.values():
            todo += [made[value]] if value in made else []
            todo += ends.get(value, ())
    path: dict[Block, list[Op]] = {}
    for block, op in order:
        if op in needed:
            path.setdefault(block, []).append(op)
    return path


def _placed(
    block: Block,
    outer: Op | None,
    made: dict[Value, Op],
    ends: dict[Value, list[Op]],
    around: dict[Op, Op | None],
) -> Iterator[tuple[Block, Op]]:
    """Yield every op with its block; collect definitions, terminators and enclosing ops."""
    for op in block.ops:
        if not isinstance(op, Op):
            continue
        around[op] = outer
        yield block, op
        made |= dict.fromkeys(op.results, op)
        passing = [r.terminator for r in op.regions if r.terminator]
        for value in (*op.results, *(a for r in op.regions for a in r.args)):
            if passing:
                ends[value] = passing
        for region in op.regions:
            yield from _placed(region, op, made, ends, around)
