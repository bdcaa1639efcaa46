"""Integer functions for bodies, for operations where Python would ask for the value.

A number is an int, or a symbol of an engine, which stands for a value known at run time only.
Symbols have `+ - * // %`, comparisons and the methods named here; only `min`, `max` and division
toward zero need these functions instead of Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ptokit.values.dtypes import DType

Integer: TypeAlias = Any  # Any: an int, or a symbol of an engine


def least(a: Integer, b: Integer) -> int:
    """Return the smaller of two numbers."""
    return min(a, b) if is_known(a, b) else _symbol(a, b).least(_other(a, b))


def most(a: Integer, b: Integer) -> int:
    """Return the larger of two numbers."""
    return max(a, b) if is_known(a, b) else _symbol(a, b).most(_other(a, b))


def quotient(a: Integer, b: Integer) -> int:
    """Return the quotient truncated toward zero; ZeroDivisionError for divisor 0."""
    if not is_known(a, b):
        return _symbol(a, b).quotient_of(a, b)
    if b == 0:
        raise ZeroDivisionError
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: Integer, b: Integer) -> int:
    """Return the remainder of `quotient`, with the sign of `a`.

    A symbol may have a method `remainder_of` that knows bounds of the remainder.
    """
    bounded = None if is_known(a, b) else getattr(_symbol(a, b), "remainder_of", None)
    return a - quotient(a, b) * b if bounded is None else bounded(a, b)


def choice(condition: Integer, yes: Integer, no: Integer, dtype: DType | None = None) -> Integer:
    """Return `yes` if the condition is 1, else `no`; `dtype` is their type if they are floats."""
    if isinstance(condition, int):
        return yes if condition else no
    return _symbol(condition, condition).choice(yes, no, dtype)


# Operations of processors on two 64-bit numbers; l and u: as unsigned numbers.
WORDS: dict[str, Callable[[int, int], int]] = {
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 63),
    "ashr": lambda a, b: a >> (b & 63),
    "lshr": lambda a, b: a % (1 << 64) >> (b & 63),
    "udiv": lambda a, b: a % (1 << 64) // (b % (1 << 64)),
    "urem": lambda a, b: a % (1 << 64) % (b % (1 << 64)),
}


def bitwise(word: str, a: Integer, b: Integer) -> int:
    """Return operation `word` of WORDS as a signed number; shifts are 0 to 63, divisors not 0."""
    if is_known(a, b):
        return wrapped(WORDS[word](a, b), 64)
    return _symbol(a, b).bitwise(word, a, b)


def wrapped(value: Integer, bits: int) -> int:
    """Return `value` as a signed integer of `bits` bits; one bit is 0 or 1."""
    if not isinstance(value, int):
        return _symbol(value, value).wrapped(bits)
    if bits == 1:
        return value & 1
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def truth(value: Integer) -> int:
    """Return a comparison as a number: 1 or 0."""
    return int(value) if isinstance(value, bool) else _symbol(value, value).number()


def is_known(*numbers: object) -> bool:
    """Return whether all numbers are ints, and none is a symbol."""
    return all(isinstance(n, int) for n in numbers)


def _symbol(a: object, b: object) -> Integer:
    return b if isinstance(a, int) else a


def _other(a: Integer, b: Integer) -> Integer:
    return a if isinstance(a, int) else b
