"""Ranges of f32 expressions: the least and the greatest number, and whether NaN is possible.

Conversions clamp numbers and replace NaNs. After that no comparison with a wider limit holds, and
no NaN has to be made canonical.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nextafter

import numpy as np

from ptokit.machine.record.expressions import Apply, Known, Traced
from ptokit.values import dtypes as t

ORDERS = {"lt": (0, 1), "le": (0, 1), "gt": (1, 0), "ge": (1, 0)}  # the smaller, the larger


@dataclass(frozen=True)
class FloatRange:
    """Numbers from `low` to `high`, and NaN if `nan`."""

    low: float
    high: float
    nan: bool

    def joined(self, other: FloatRange) -> FloatRange:
        """Return the range that holds both."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        return FloatRange(low, high, self.nan or other.nan)

    def between(self, low: float, high: float, *, nan: bool) -> FloatRange:
        """Return the part of the range that lies within limits."""
        return FloatRange(max(self.low, low), min(self.high, high), nan)


ANY = FloatRange(-inf, inf, nan=True)


class FloatRanges:
    """The ranges of the nodes of lowered expressions, each found once."""

    def __init__(self) -> None:
        self.found: dict[Traced, FloatRange] = {}

    def of(self, node: Traced) -> FloatRange:
        """Return the range of an expression; ANY for a type other than f32."""
        if node.dtype != t.f32:
            return ANY
        if node not in self.found:
            self.found[node] = self._of(node)
        return self.found[node]

    def never(self, condition: Traced) -> bool:
        """Return whether a condition holds for no element."""
        if not isinstance(condition, Apply):
            return False
        if condition.word == "isnan":
            x = condition.args[0]
            return x.dtype == t.f32 and not self.of(x).nan
        if condition.word not in ORDERS or condition.args[0].dtype != t.f32:
            return False
        small, large = (self.of(condition.args[n]) for n in ORDERS[condition.word])
        equal = condition.word in ("le", "ge")
        return small.low > large.high if equal else small.low >= large.high

    def _of(self, node: Traced) -> FloatRange:
        if not isinstance(node, Apply):
            return _constant(getattr(node, "source", node))
        if node.word == "where":
            return self._where(*node.args)
        if node.word in ("max", "min"):
            return self._chosen(node.word, *map(self.of, node.args))
        if node.word == "rint":
            x = self.of(node.args[0])
            return FloatRange(float(np.floor(x.low)), float(np.ceil(x.high)), x.nan)
        if node.word == "cast" and node.args[0].dtype.is_int:
            bits, signed = node.args[0].dtype.bits, node.args[0].dtype.signed
            return _rounded(-(2.0**bits) * signed, 2.0**bits, nan=False)
        if node.word in ("add", "sub", "mul"):
            return _arithmetic(node.word, *map(self.of, node.args))
        return ANY

    def _where(self, condition: Traced, yes: Traced, no: Traced) -> FloatRange:
        """Return the range of a selection; the condition narrows its own operands."""
        kept, left = self.of(yes), self.of(no)
        if self.never(condition):
            return left
        if isinstance(condition, Apply) and condition.word == "isnan":
            alone = no is condition.args[0]
            left = left.between(-inf, inf, nan=left.nan and not alone)
        elif isinstance(condition, Apply) and condition.word in ORDERS:
            small, large = (condition.args[n] for n in ORDERS[condition.word])
            least, most = self.of(small), self.of(large)
            if yes is small:
                kept = kept.between(-inf, most.high, nan=False)
            elif yes is large:
                kept = kept.between(least.low, inf, nan=False)
            if no is small and not most.nan:
                left = left.between(most.low, inf, nan=left.nan)
            elif no is large and not least.nan:
                left = left.between(-inf, least.high, nan=left.nan)
        return kept.joined(left)

    def _chosen(self, word: str, x: FloatRange, y: FloatRange) -> FloatRange:
        """Return the range of a maximum or a minimum: the first operand if either is NaN."""
        if y.nan:
            return FloatRange(min(x.low, y.low), max(x.high, y.high), x.nan)
        choose = max if word == "max" else min
        return FloatRange(choose(x.low, y.low), choose(x.high, y.high), x.nan)


def _constant(source: Traced) -> FloatRange:
    """Return the range of numbers that are known at compile time."""
    if not isinstance(source, Known):
        return ANY
    numbers = source.array.values
    if np.isnan(numbers).any():
        return ANY
    return FloatRange(float(numbers.min()), float(numbers.max()), nan=False)


def _arithmetic(word: str, x: FloatRange, y: FloatRange) -> FloatRange:
    """Return the range of a sum, a difference or a product."""
    if word == "sub":
        word, y = "add", FloatRange(-y.high, -y.low, y.nan)
    if word == "add":
        low, high = x.low + y.low, x.high + y.high
    else:
        ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
        low, high = min(ends), max(ends)
    limits = (x.low, x.high, y.low, y.high)
    if x.nan or y.nan or any(map(isnan, (low, high))) or inf in map(abs, limits):
        return ANY
    return _rounded(low, high, nan=False)


def _rounded(low: float, high: float, *, nan: bool) -> FloatRange:
    """Return the range after numbers round to f32: rounding keeps their order."""
    with np.errstate(over="ignore"):
        ends = np.float32(nextafter(low, -inf)), np.float32(nextafter(high, inf))
    return FloatRange(float(ends[0]), float(ends[1]), nan)
