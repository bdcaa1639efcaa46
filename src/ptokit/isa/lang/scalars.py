"""Numbers that bodies compute with where Python's own words would ask for the value.

A number is an int, or what an executor gives for one it knows only when the program runs. Such a
number has `+ - * // %`, comparisons and the methods named here; only `min`, `max` and division
toward zero need these functions instead of Python's.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Number: TypeAlias = Any  # Any: an int, or what an executor gives for one


def least(a: Number, b: Number) -> int:
    """The smaller of two numbers."""
    return min(a, b) if _known(a, b) else _symbol(a, b).least(_other(a, b))


def most(a: Number, b: Number) -> int:
    """The larger of two numbers."""
    return max(a, b) if _known(a, b) else _symbol(a, b).most(_other(a, b))


def quotient(a: Number, b: Number) -> int:
    """Division that truncates toward zero."""
    if not _known(a, b):
        return _symbol(a, b).quotient_of(a, b)
    if b == 0:
        raise ZeroDivisionError
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def choice(condition: Number, yes: int, no: int) -> int:
    """`yes` where the condition is 1, else `no`."""
    if isinstance(condition, int):
        return yes if condition else no
    return _symbol(condition, condition).choice(yes, no)


def wrapped(value: Number, bits: int) -> int:
    """`value` as a signed integer of so many bits; one bit is 0 or 1."""
    if not isinstance(value, int):
        return _symbol(value, value).wrapped(bits)
    if bits == 1:
        return value & 1
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def truth(value: Number) -> int:
    """A comparison as a number: 1 or 0."""
    return int(value) if isinstance(value, bool) else _symbol(value, value).number()


def _known(*numbers: object) -> bool:
    return all(isinstance(n, int) for n in numbers)


def _symbol(a: object, b: object) -> Any:  # Any: the executor's number
    return b if isinstance(a, int) else a


def _other(a: Number, b: Number) -> Number:
    return a if isinstance(a, int) else b
