"""Ranges of numbers: loop counters, and numbers computed from them.

A Range stands for the integers low, low + step, ..., high (strided intervals). The range of a
result holds every possible result, so a comparison that is True or False holds for all numbers;
otherwise it is MAYBE. Ranges implement the protocol of `isa.lang.scalars` for bodies and formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import gcd
from typing import Any, TypeAlias

from ptokit.isa.formula.formulas import UNKNOWN, Missing
from ptokit.values.scalars import WORDS, quotient, wrapped

Number: TypeAlias = "int | Range"
Fact: TypeAlias = "Number | float | Missing"  # static knowledge of a number


class Maybe:
    """A condition that may hold for some of the numbers and not for others."""

    def __and__(self, other: object) -> object:
        return False if other is False else self

    def __or__(self, other: object) -> object:
        return True if other is True else self

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Maybe:
        return self

    def __bool__(self) -> bool:
        raise AssertionError("a condition over a range was taken for a bool")

    def number(self) -> Number:
        return Range(0, 1)


MAYBE = Maybe()
Truth: TypeAlias = "bool | Maybe"


@dataclass(frozen=True, eq=False)
class Range:
    """At least two integers: low, low + step, ..., high."""

    low: int
    high: int
    step: int = 1

    def __add__(self, other: Number) -> Number:
        return between(self.low + low(other), self.high + high(other), gcd(self.step, step(other)))

    def __neg__(self) -> Number:
        return Range(-self.high, -self.low, self.step)

    def __sub__(self, other: Number) -> Number:
        return self + -other

    def __rsub__(self, other: Number) -> Number:
        return -self + other

    def __mul__(self, other: Number) -> Number:
        a, b, s, t = self.low, low(other), self.step, step(other)
        return _corners(self, other, lambda x, y: x * y, gcd(a * t, b * s, s * t))

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other: Number) -> Number:
        if isinstance(other, int) and self.low % other == 0 and self.step % other == 0:
            return _corners(self, other, lambda x, y: x // y, self.step // abs(other))
        return self._divided(other, lambda x, y: x // y)

    def __rfloordiv__(self, other: int) -> Number:
        return self._dividing(other, lambda x, y: x // y)

    def __mod__(self, other: Number) -> Number:
        if not isinstance(other, int):
            return EVERY
        if self.step % other == 0:
            return self.low % other
        if self.low // other == self.high // other:
            return between(self.low % other, self.high % other, self.step)
        g = gcd(self.step, other)
        return between(self.low % g, abs(other) - g + self.low % g, g) if other > 0 else EVERY

    def __rmod__(self, other: int) -> Number:
        return EVERY

    def _divided(self, by: Number, divide: Callable[[int, int], int]) -> Number:
        if isinstance(by, int) and by == 0:
            raise ZeroDivisionError
        return EVERY if low(by) <= 0 <= high(by) else _corners(self, by, divide, 1)

    def _dividing(self, other: int, divide: Callable[[int, int], int]) -> Number:
        return EVERY if self.low <= 0 <= self.high else _corners(other, self, divide, 1)

    def quotient_of(self, a: Number, b: Number) -> Number:
        """Return a / b truncated toward zero; this range is one of the two."""
        if isinstance(a, Range):
            return a._divided(b, quotient)
        return self._dividing(a, quotient)

    def remainder_of(self, a: Number, b: Number) -> Number:
        """Return the remainder of a / b truncated toward zero; this range is one of the two."""
        if not isinstance(b, int) or b == 0:
            return a - self.quotient_of(a, b) * b
        most = abs(b) - 1
        return between(max(min(low(a), 0), -most), min(max(high(a), 0), most))

    def __and__(self, other: Number) -> Number:
        ends = [high(n) for n in (self, other) if low(n) >= 0]  # bounds of the set bits
        return between(0, min(ends)) if ends else EVERY

    def __or__(self, other: Number) -> Number:
        if self.low < 0 or low(other) < 0:
            return EVERY
        bits = max(self.high, high(other)).bit_length()
        return between(max(self.low, low(other)), (1 << bits) - 1)

    __rand__, __ror__ = __and__, __or__

    def least(self, other: Number) -> Number:
        return between(min(self.low, low(other)), min(self.high, high(other)), _shared(self, other))

    def most(self, other: Number) -> Number:
        return between(max(self.low, low(other)), max(self.high, high(other)), _shared(self, other))

    def bitwise(self, word: str, a: Number, b: Number) -> Number:
        """Return a bitwise or unsigned operation on two numbers, of which this range is one."""
        if word == "urem" and isinstance(b, int) and b > 0 and low(a) < 0:
            return between(0, b - 1)
        if low(a) < 0 or low(b) < 0:
            return EVERY
        divided = {"udiv": lambda: a // b, "urem": lambda: a % b}.get(word)
        if divided is not None:
            return EVERY if low(b) == 0 else divided()
        if word == "xor":
            return between(0, (1 << max(high(a), high(b)).bit_length()) - 1)
        if high(b) > 63:
            return EVERY
        shift = WORDS[word]
        return wrapped(_corners(a, b, shift, 1), 64)

    def choice(self, yes: Fact, no: Fact, _: object = None) -> Fact:
        """Return a range with both alternatives."""
        return joined(yes, no)

    def wrapped(self, bits: int) -> Number:
        """Return the number as a signed integer of `bits` bits; one bit is 0 or 1."""
        half = 1 << (bits - 1)
        least, most = (0, 1) if bits == 1 else (-half, half - 1)
        return self if least <= self.low and self.high <= most else Range(least, most)

    def number(self) -> Number:
        return self

    def __lt__(self, other: Number) -> Truth:
        return _decided(self.high < low(other), self.low >= high(other))

    def __le__(self, other: Number) -> Truth:
        return _decided(self.high <= low(other), self.low > high(other))

    def __gt__(self, other: Number) -> Truth:
        return _decided(self.low > high(other), self.high <= low(other))

    def __ge__(self, other: Number) -> Truth:
        return _decided(self.low >= high(other), self.high < low(other))

    def __eq__(self, other: object) -> Any:  # Any: a Truth, where Python expects a bool
        if not isinstance(other, int | Range):
            return False
        apart = self.high < low(other) or self.low > high(other)
        return False if apart or (self.low - low(other)) % gcd(self.step, step(other)) else MAYBE

    def __ne__(self, other: object) -> Any:  # Any: as above
        same = self == other
        return MAYBE if same is MAYBE else not same

    __hash__ = object.__hash__


EVERY = Range(-(1 << 63), (1 << 63) - 1)


def between(low: int, high: int, step: int = 1) -> Number:
    """Return the range from `low` to `high` by `step`, or a single number."""
    return low if low == high else Range(low, high, step)


def low(number: Number) -> int:
    return number if isinstance(number, int) else number.low


def high(number: Number) -> int:
    return number if isinstance(number, int) else number.high


def step(number: Number) -> int:
    """Return the distance between neighbours; 0 for a single number, as `gcd` expects."""
    return 0 if isinstance(number, int) else number.step


def joined(a: Fact, b: Fact) -> Fact:
    """Return a range that contains both numbers."""
    if not (isinstance(a, int | Range) and isinstance(b, int | Range)):
        return UNKNOWN
    return between(min(low(a), low(b)), max(high(a), high(b)), _shared(a, b))


def counter_values(lower: Number, upper: Number, by: int) -> Number:
    """Return the values of a loop counter; the loop runs for some of the bounds."""
    last = high(upper) - 1
    if isinstance(lower, int):
        return between(lower, lower + (last - lower) // by * by, by)
    apart = gcd(lower.step, by)
    return between(lower.low, lower.low + (last - lower.low) // apart * apart, apart)


def _decided(yes: bool, no: bool) -> Truth:
    return True if yes else False if no else MAYBE


def _shared(a: Number, b: Number) -> int:
    """Return a step that leads from any number of either to any other."""
    return gcd(step(a), step(b), low(a) - low(b))


def _corners(a: Number, b: Number, f: Callable[[int, int], int], apart: int) -> Number:
    """Return the range of a function that is monotonic in both arguments."""
    ends = [f(x, y) for x, y in product((low(a), high(a)), (low(b), high(b)))]
    return between(min(ends), max(ends), apart)
