"""Path conditions: the ranges of values that follow from the branches taken so far.

Abstract interpretation with intervals: a comparison with a known outcome narrows the range of the
difference of its sides. Equal values are found by value numbering. If a number is unknown, a dry
run chooses trip counts, branches and the contents of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from math import inf
from typing import NamedTuple, TypeAlias

from ptokit.analysis.known import Facts
from ptokit.analysis.ranges import EVERY, Number, Range, high, low
from ptokit.engines.reference.interpreter import InterpretedFlow, RegionBody
from ptokit.explore.limits import EXTENTS, INDICES, MOST_HELD
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import CORE
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import ScalarType
from ptokit.isa.pages.arith import Predicate
from ptokit.machine.execute import moves, whole_number


@dataclass(frozen=True)
class PathChoice:
    """The choices of a dry run for unknown numbers: trip counts, branches, memory contents.

    `found` is the number read from memory; arrays with names in `indices`, which lead to parts of
    other arrays, hold `index` instead. `given` has the numbers of known arrays. With a `period`,
    loops keep `period` to twice as many first and last iterations, and the skipped number is a
    multiple of `period`. With a `seed`, each branch is random each time that its condition is
    computed. Branches on conditions in `against` go the other way than `way`.
    """

    iterations: int = 1
    way: bool = True
    found: int = 0
    indices: tuple[str, ...] = ()
    index: int = 0
    period: int | None = None
    seed: int | None = None
    against: frozenset[str] = frozenset()
    given: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)

    def read_of(self, name: str) -> int:
        """Return the numbers that an array of this name holds."""
        return self.given.get(name, self.index if name in self.indices else self.found)


ALONE = PathChoice()


@dataclass
class HeldNumbers:
    """Array contents with which a run was legal, so that later runs need no search.

    `too_long`: a whole run exceeded the limit, so further samples start with shortened loops.
    """

    known: PathChoice | None = None
    left: int = MOST_HELD
    too_long: bool = False

    def choices(self, choice: PathChoice, sources: Sequence[str]) -> Iterator[PathChoice]:
        """Yield choices in which some arrays hold extents and others indices.

        After a legal run, only its division into extents and indices is used.
        """
        if self.known is not None:
            kept = replace(choice, indices=self.known.indices, index=self.known.index)
            yield from (replace(kept, found=found) for found in EXTENTS)
            return
        some = chain.from_iterable(combinations(sources, n) for n in range(1, len(sources)))
        for indices, found, index in product(some, EXTENTS, INDICES):
            if self.left == 0 or not choice.iterations:
                return
            self.left -= 1
            yield replace(choice, found=found, indices=indices, index=index)


@dataclass
class ChosenFlow(InterpretedFlow):
    """Control flow on unknown numbers, by chosen trip counts and branches."""

    choice: PathChoice
    way: Callable[[], bool]

    def loop(
        self, lower: int, upper: int, step: int, carried: tuple[object, ...], region: RegionBody
    ) -> tuple[object, ...]:
        end = lower + self.choice.iterations * step
        return super().loop(lower, end, step, carried, region)

    def repeat(
        self, carried: tuple[object, ...], before: RegionBody, after: RegionBody
    ) -> tuple[object, ...]:
        for _ in range(self.choice.iterations):
            _, *passed = before(*carried)
            carried = after(*passed, repeats=True)
        return tuple(before(*carried)[1:])

    def branch(self, condition: int, regions: tuple[RegionBody, ...]) -> tuple[object, ...]:
        return super().branch(self.way(), regions)


@dataclass
class ShortenedFlow(InterpretedFlow):
    """Loops with known bounds that skip most of their iterations."""

    period: int

    def loop(
        self, lower: int, upper: int, step: int, carried: tuple[object, ...], region: RegionBody
    ) -> tuple[object, ...]:
        count = max(-(-(upper - lower) // step), 0)
        left_out = max(count // self.period - 1, 0) * self.period
        first = lower + (count - left_out) // 2 * step
        for induction in chain(
            range(lower, first, step), range(first + left_out * step, upper, step)
        ):
            carried = region(induction, *carried, repeats=True)
        return carried


Intervals: TypeAlias = "tuple[tuple[float, float], ...]"  # of integers, both ends included
Ranges: TypeAlias = "dict[Hashable, Intervals]"
ANY: Intervals = ((-inf, inf),)
ZERO: Intervals = ((0, 0),)
NONZERO: Intervals = ((-inf, -1), (1, inf))
OF_BLOCKS = Range(0, 1 << 16)  # the block number, and the number of blocks


class Condition(NamedTuple):
    """A condition that is true if a term is in one set of intervals and false in another.

    `within`: the intervals of the term on every path.
    """

    term: Hashable
    true: Intervals
    false: Intervals
    within: Intervals = ANY

    def leaves(self, way: bool) -> Intervals:
        return self.true if way else self.false


class PathCondition:
    """The knowledge on a path: the range of each term that a branch has tested."""

    def __init__(self, conditions: Mapping[Value, Condition], ranges: Ranges | None = None) -> None:
        self.conditions = conditions
        self.ranges = ranges or {}
        self.asked = set[Value]()  # conditions tested since they were computed

    def _of(self, value: Value) -> Condition:
        return self.conditions.get(value) or Condition(value, NONZERO, ZERO)

    def decided(self, value: Value) -> bool | None:
        """Return the value of a condition on this path; None if both are possible."""
        condition = self._of(value)
        known = self.ranges.get(condition.term, condition.within)
        ways = [way for way in (True, False) if _common(known, condition.leaves(way))]
        return ways[0] if len(ways) == 1 else None

    def assume(self, value: Value, way: bool) -> None:
        """Restrict the path to those on which the condition has this value."""
        condition = self._of(value)
        known = self.ranges.get(condition.term, condition.within)
        self.ranges[condition.term] = _common(known, condition.leaves(way))
        self.asked.add(value)

    def with_way(self, value: Value, way: bool) -> PathCondition | None:
        """Return the path with one more condition; None if that path is infeasible."""
        if self.decided(value) is (not way):
            return None
        found = PathCondition(self.conditions, dict(self.ranges))
        found.assume(value, way)
        return found

    def computed_again(self, value: Value) -> None:
        """Forget the range of a condition that has been computed again."""
        if value in self.asked:
            term = self._of(value).term
            self.ranges.pop(term, None)
            self.asked = {other for other in self.asked if self._of(other).term != term}


def conditions_of(func: Func, target: Target) -> dict[Value, Condition]:
    """Return the condition behind each truth value of a function."""
    found: dict[Value, Condition] = {}
    numbers, facts = dict[Hashable, int](), Facts(target)
    known = dict[int, Number]()

    def number(key: Hashable) -> int:
        return numbers.setdefault(key, len(numbers))

    for op in _pure(func):
        result, sides = op.results[0], [number(value) for _, value in op.values()]
        alike = numbers[result] = number((op.page, *sides, repr(sorted(op.attrs.items()))))
        words = (op.attrs.get(attr.name, attr.default) for attr in op.page.attrs)
        predicate = next((word for word in words if isinstance(word, Predicate)), None)
        if isinstance(of := _range(op, facts), int | Range):
            known[alike] = of
        if predicate is not None:
            found[result] = _comparison(predicate, sides[0], sides[1], known)
        elif isinstance(result.type, ScalarType):
            found[result] = Condition(alike, NONZERO, ZERO, _ends(known.get(alike, EVERY)))
    return found


def _range(op: Op, facts: Facts) -> object:
    """Return the possible results of an op for any operands; None if unknown."""
    if CORE in op.page.uses:
        return OF_BLOCKS
    if not (op.page.folds and whole_number(op.results[0])):
        return None
    facts.numbers |= {
        v: EVERY for _, v in op.values() if whole_number(v) and v not in facts.numbers
    }
    facts.learn(op, facts.environment(op))
    return facts.numbers.get(op.results[0])


def _pure(func: Func) -> Iterator[Op]:
    """Yield the single-result ops that depend on their operands or the place in the launch only."""
    ops = (op for op in func.ops if isinstance(op, Op) and len(op.results) == 1)
    return (op for op in ops if {CORE}.issuperset(op.page.uses) and not (op.regions or moves(op)))


def _comparison(
    predicate: Predicate, left: int, right: int, known: Mapping[int, Number]
) -> Condition:
    """Return the condition on the difference of two sides, or on one side and a constant."""
    constants = {side: n for side in (left, right) if isinstance(n := known.get(side), int)}
    signs = [sign for sign in (-1, 0, 1) if predicate.holds(sign, 0)]
    if left in constants or (right not in constants and right < left):
        left, right, signs = right, left, [-sign for sign in signs]
    bound = constants.get(right, 0)
    if right not in constants or (predicate.unsigned and bound < 0):
        term, bound = (predicate.unsigned, left, right), 0
    else:
        term = predicate.unsigned, left, None
    lies = known.get(left, EVERY) - (known.get(right, EVERY) if term[2] is not None else 0)
    every = {-1: (-inf, bound - 1), 0: (bound, bound), 1: (bound + 1, inf)}
    true = tuple(every[sign] for sign in sorted(signs))
    false = tuple(every[sign] for sign in every if sign not in signs)
    return Condition(
        term, true, false, ANY if predicate.unsigned and low(lies) < 0 else _ends(lies)
    )


def _ends(number: Number) -> Intervals:
    """Return a number or a range as an interval."""
    whole = low(number) <= low(EVERY) and high(EVERY) <= high(number)
    return ANY if whole else ((low(number), high(number)),)


def _common(some: Intervals, others: Intervals) -> Intervals:
    """Return the intersection of two unions of intervals."""
    every = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return tuple((low, high) for low, high in every if low <= high)
