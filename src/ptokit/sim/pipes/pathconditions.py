"""Path conditions: what the ways taken so far say of the conditions that are still to come.

Abstract interpretation with intervals: each comparison that holds, or does not, narrows the range
of the difference of its sides. Equal values are found by value numbering.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from math import inf
from typing import NamedTuple, TypeAlias

from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import CORE
from ptokit.isa.model.types import ScalarType
from ptokit.isa.pages.arith import Predicate
from ptokit.sim.execute import moves

Intervals: TypeAlias = "tuple[tuple[float, float], ...]"  # of integers, both ends included
Ranges: TypeAlias = "dict[Hashable, Intervals]"
EVERY: Intervals = ((-inf, inf),)
ZERO: Intervals = ((0, 0),)
NONZERO: Intervals = ((-inf, -1), (1, inf))
CONSTANT = "constant"  # the shape of a number that the text gives


class Condition(NamedTuple):
    """It is true where a term lies in these intervals, and false in the others."""

    term: Hashable
    true: Intervals
    false: Intervals

    def leaves(self, way: bool) -> Intervals:
        return self.true if way else self.false


class PathCondition:
    """What is known on a path: the range of each term that a way was taken for."""

    def __init__(self, conditions: Mapping[Value, Condition], ranges: Ranges | None = None) -> None:
        self.conditions = conditions
        self.ranges = ranges or {}
        self.asked = set[Value]()  # since each was computed

    def _of(self, value: Value) -> Condition:
        return self.conditions.get(value) or Condition(value, NONZERO, ZERO)

    def decided(self, value: Value) -> bool | None:
        """What a condition is on this path; None where it may be either."""
        condition = self._of(value)
        known = self.ranges.get(condition.term)
        if known is None:
            return None
        ways = [way for way in (True, False) if _common(known, condition.leaves(way))]
        return ways[0] if len(ways) == 1 else None

    def assume(self, value: Value, way: bool) -> None:
        """The path goes on where a condition is so."""
        condition = self._of(value)
        known = self.ranges.get(condition.term, EVERY)
        self.ranges[condition.term] = _common(known, condition.leaves(way))
        self.asked.add(value)

    def with_way(self, value: Value, way: bool) -> PathCondition | None:
        """The same path and one way more; None where it does not exist."""
        if self.decided(value) is (not way):
            return None
        found = PathCondition(self.conditions, dict(self.ranges))
        found.assume(value, way)
        return found

    def computed_again(self, value: Value) -> None:
        """Its numbers may be others now: what was known of them is forgotten."""
        if value in self.asked:
            term = self._of(value).term
            self.ranges.pop(term, None)
            self.asked = {other for other in self.asked if self._of(other).term != term}


def conditions_of(func: Func) -> dict[Value, Condition]:
    """What the truth values of a function ask for."""
    found: dict[Value, Condition] = {}
    numbers, constants = dict[Hashable, int](), dict[int, int]()

    def number(key: Hashable) -> int:
        return numbers.setdefault(key, len(numbers))

    for op in _pure(func):
        result, sides = op.results[0], [number(value) for _, value in op.values()]
        alike = numbers[result] = number((op.page, *sides, repr(sorted(op.attrs.items()))))
        words = (op.attrs.get(attr.name, attr.default) for attr in op.page.attrs)
        predicate = next((word for word in words if isinstance(word, Predicate)), None)
        if op.page.asm.shape == CONSTANT and isinstance(op.attrs.get("value"), int):
            constants[alike] = op.page.run(op.attrs["value"], result.type)
        elif predicate is not None:
            found[result] = _comparison(predicate, sides[0], sides[1], constants)
        elif isinstance(result.type, ScalarType):
            found[result] = Condition(alike, NONZERO, ZERO)
    return found


def _pure(func: Func) -> Iterator[Op]:
    """The ops whose one result depends on their operands alone, or on the place in the launch."""
    ops = (op for op in func.body.walk() if isinstance(op, Op) and len(op.results) == 1)
    return (op for op in ops if {CORE}.issuperset(op.page.uses) and not (op.regions or moves(op)))


def _comparison(
    predicate: Predicate, left: int, right: int, constants: Mapping[int, int]
) -> Condition:
    """Where the difference of two sides lies; of one with a constant, where that side does."""
    signs = [sign for sign in (-1, 0, 1) if predicate.holds(sign, 0)]
    if left in constants or (right not in constants and right < left):
        left, right, signs = right, left, [-sign for sign in signs]
    bound = constants.get(right, 0)
    if right not in constants or (predicate.unsigned and bound < 0):
        term, bound = (predicate.unsigned, left, right), 0
    else:
        term = predicate.unsigned, left, None
    every = {-1: (-inf, bound - 1), 0: (bound, bound), 1: (bound + 1, inf)}
    true = tuple(every[sign] for sign in sorted(signs))
    return Condition(term, true, tuple(every[sign] for sign in every if sign not in signs))


def _common(some: Intervals, others: Intervals) -> Intervals:
    """What is in both."""
    every = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return tuple((low, high) for low, high in every if low <= high)
