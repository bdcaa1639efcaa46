"""Limits of 64-bit numbers: what sums, products and comparisons of numbers between them give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Limits: TypeAlias = tuple[int, int]  # the least and the greatest possible value

EXTREMES: Limits = (-(1 << 63), (1 << 63) - 1)  # of 64 bits


def in_64_bits(number: int) -> bool:
    return EXTREMES[0] <= number <= EXTREMES[1]


def exactly(word: str, a: Limits, b: Limits) -> Limits:
    """Return the limits of an unbounded sum (`add`), difference (`sub`) or product (`mul`)."""
    if word == "add":
        return a[0] + b[0], a[1] + b[1]
    if word == "sub":
        return a[0] - b[1], a[1] - b[0]
    ends = [one * other for one in a for other in b]
    return min(ends), max(ends)


def decided(word: str, a: Limits, b: Limits) -> bool | None:
    """Return the answer of a comparison if it is the same for all numbers, else None."""
    below, above = a[1] < b[0], a[0] > b[1]
    not_above, not_below = a[1] <= b[0], a[0] >= b[1]
    holds, fails = {
        "slt": (below, not_below),
        "sle": (not_above, above),
        "sgt": (above, not_above),
        "sge": (not_below, below),
        "eq": (a[0] == a[1] == b[0] == b[1], below or above),
        "ne": (below or above, a[0] == a[1] == b[0] == b[1]),
    }[word]
    return True if holds else False if fails else None


def pairwise(pick: Callable[[int, int], int], a: Limits, b: Limits) -> Limits:
    """Return the limits of the smaller (`min`) or the larger (`max`) of two numbers."""
    return pick(a[0], b[0]), pick(a[1], b[1])


def around(a: Limits, b: Limits) -> Limits:
    """Return the limits of one of two numbers."""
    return min(a[0], b[0]), max(a[1], b[1])
