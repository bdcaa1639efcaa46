"""Scalar arithmetic: integers as Python has them, floats as NumPy rounds them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np

from oracles.registry import Numbers, say
from oracles.scalarcases import INTEGERS, WIDTHS, in_width, positive_divisor, real, within_width

Real: TypeAlias = Any  # Any: one of NumPy's or ml_dtypes' floats


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def selected(condition: int, yes: int, no: int) -> int:
    return yes if condition else no


def compared(a: int, b: int, predicate: str) -> int:
    """`cmpi` of the arith dialect; u: as unsigned numbers of 64 bits."""
    if predicate[0] == "U":
        a, b = a % (1 << 64), b % (1 << 64)
    name = predicate.lower() if predicate in ("EQ", "NE") else predicate[1:].lower()
    return int(getattr(operator, name)(a, b))


def on_unsigned(f: Callable[[int, int], int]) -> Callable[..., int]:
    """What a function gives on the bits as unsigned numbers."""

    def found(a: int, b: int, kind: str, to: str) -> int:
        every = 1 << WIDTHS[kind]
        return f(a % every, b % every)

    return found


SIGNED: dict[str, Callable[[int, int], int]] = {
    "AddI": lambda a, b: a + b,
    "SubI": lambda a, b: a - b,
    "MulI": lambda a, b: a * b,
    "MinSI": lambda a, b: min(a, b),
    "MaxSI": lambda a, b: max(a, b),
    "AndI": lambda a, b: a & b,
    "OrI": lambda a, b: a | b,
    "XOrI": lambda a, b: a ^ b,
}
DIVIDED: dict[str, Callable[[int, int], int]] = {
    "DivSI": toward_zero,
    "RemSI": lambda a, b: a - b * toward_zero(a, b),
    "CeilDivSI": lambda a, b: -(-a // b),
    "FloorDivSI": lambda a, b: a // b,
}
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "DivUI": lambda a, b: a // b,
    "RemUI": lambda a, b: a % b,
    "CeilDivUI": lambda a, b: -(-a // b),
}
for page, f in SIGNED.items():
    say(page, Numbers(f))
for page, f in DIVIDED.items():
    say(page, Numbers(f, legal=positive_divisor))
for page, f in UNSIGNED.items():
    say(page, Numbers(on_unsigned(f), by_type=True, legal=positive_divisor))
say("MinUI", Numbers(on_unsigned(min), by_type=True))
say("MaxUI", Numbers(on_unsigned(max), by_type=True))


def left(a: int, b: int) -> int:
    return a << b


def right(a: int, b: int) -> int:
    return a >> b


say("ShLI", Numbers(left, legal=within_width))
say("ShRSI", Numbers(right, legal=within_width))
say("ShRUI", Numbers(on_unsigned(right), by_type=True, legal=within_width))
say("AbsI", Numbers(abs))
say("NegI", Numbers(operator.neg))
say("CmpI", Numbers(compared))
say("Select", Numbers(selected, (*INTEGERS, ("f32", "f32"))))


def sum_in_full(a: int, b: int, kind: str, to: str) -> tuple[int, int]:
    """The sum of unsigned numbers, and the bit that the type has no room for."""
    every = 1 << WIDTHS[kind]
    carry, found = divmod(a % every + b % every, every)
    return found, carry


def product_in_full(signed: bool) -> Callable[..., tuple[int, int]]:
    """Both halves of a product, by Python's integers, which have no end."""

    def found(a: int, b: int, kind: str, to: str) -> tuple[int, int]:
        every = 1 << WIDTHS[kind]
        high, low = divmod(a * b if signed else a % every * (b % every), every)
        return low, high

    return found


WHOLE = tuple((kind, kind) for kind in ("i32", "i64", "index", "i8", "i16", "i1"))
say("AddUIExtended", Numbers(sum_in_full, WHOLE, by_type=True))
say("MulUIExtended", Numbers(product_in_full(signed=False), WHOLE, by_type=True))
say("MulSIExtended", Numbers(product_in_full(signed=True), WHOLE[:-1], by_type=True))

INDEX = (("index", "i64"), ("i64", "index"), ("i32", "index"), ("index", "i32"))
WIDER = (("i32", "i64"), ("i8", "i32"), ("i16", "i64"), ("i1", "i32"))


def sign_extended(value: int, kind: str, to: str) -> int:
    return -value if kind == "i1" else value


def zero_extended(value: int, kind: str, to: str) -> int:
    return value % (1 << WIDTHS[kind])


say("Constant", Numbers(int))
say("IndexCast", Numbers(int, INDEX))
say("UnrealizedConversionCast", Numbers(int, (("i32", "ui32"), ("i64", "index"))))
say("ExtSI", Numbers(sign_extended, WIDER, by_type=True))
say("IndexCastUI", Numbers(zero_extended, INDEX, by_type=True))
say("ExtUI", Numbers(zero_extended, WIDER, by_type=True))
say("TruncI", Numbers(int, (("i64", "i32"), ("i64", "i8"), ("i32", "i16"))))


# floats


def rounded(f: Callable[..., Any]) -> Callable[..., Real]:
    """Computed in f64 and rounded once to the operands' type."""

    def found(*values: Real) -> Real:
        kind = {"float32": "f32", "float16": "f16"}.get(values[0].dtype.name, "bf16")
        return real(f(*(np.float64(v) for v in values)), kind)

    return found


def extreme(sign: float, ignoring: bool) -> Callable[[float, float], float]:
    """The smaller (1) or larger (-1) of two; zeros by their signs."""

    def found(a: float, b: float) -> float:
        if np.isnan(a) or np.isnan(b):
            return (b if np.isnan(a) else a) if ignoring else np.nan
        first = min((a, b), key=lambda x: (sign * x, sign * np.copysign(1, x)))
        return float(first)

    return found


def fused(a: Real, b: Real, c: Real) -> Real:
    """By rational numbers, then rounded once; NaN, infinities and zeros as f64 has them."""
    kind = {"float32": "f32", "float16": "f16"}.get(a.dtype.name, "bf16")
    x, y, z = (np.float64(v) for v in (a, b, c))
    plain = x * y + z
    if not np.isfinite(plain) or plain == 0:
        return real(plain, kind)
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    return rounded_float(exact, kind, "", "")


def half_away(x: Real) -> Real:
    return np.copysign(np.floor(np.abs(x) + 0.5), x) if np.abs(x) < 2**40 else x


BINARY: dict[str, Callable[..., Any]] = {
    "AddF": operator.add,
    "SubF": operator.sub,
    "MulF": operator.mul,
    "DivF": np.divide,
    "RemF": np.fmod,
    "MinimumF": extreme(1, ignoring=False),
    "MaximumF": extreme(-1, ignoring=False),
    "MinNumF": extreme(1, ignoring=True),
    "MaxNumF": extreme(-1, ignoring=True),
    "Sqrt": np.sqrt,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Trunc": np.trunc,
    "RoundEven": np.rint,
    "Round": half_away,
}


def inverse_root(x: Real) -> Real:
    return 1 / np.sqrt(x)


def power(a: Real, b: Real) -> Real:
    """C's; NumPy takes the root of -0 and of -infinity for the power 1/2."""
    return abs(a) if b == 0.5 and a in (0, -np.inf) else np.power(a, b)


NEAR: dict[str, Callable[..., Any]] = {
    "PowF": power,
    "Exp": np.exp,
    "Log": np.log,
    "Rsqrt": inverse_root,
}
for page, f in BINARY.items():
    say(page, Numbers(rounded(f)))
for page, f in NEAR.items():
    say(page, Numbers(rounded(f), ulp=1))
say("Fma", Numbers(fused))
say("NegF", Numbers(operator.neg))
say("AbsF", Numbers(abs))


def float_compared(a: Real, b: Real, predicate: str) -> int:
    """LLVM's table of `fcmp`."""
    either = bool(np.isnan(a) or np.isnan(b))
    if predicate in ("TRUE", "FALSE", "ORD", "UNO"):
        return int({"TRUE": True, "FALSE": False, "ORD": not either, "UNO": either}[predicate])
    holds = bool(getattr(operator, predicate[1:].lower())(a, b))
    return int(holds or either) if predicate[0] == "U" else int(holds and not either)


def widened(value: Real, kind: str, to: str) -> Real:
    return real(np.float64(value), to)


def narrowed(value: Real, kind: str, to: str, way: str, end: str) -> Real:
    """A float in a narrower type: which of its neighbours, by rational numbers."""
    wide = np.float64(value)
    if np.isnan(wide):
        return real(0 if end == "sat" else np.nan, to)
    if np.isinf(wide):
        return real(np.copysign(largest(to), wide), to) if end == "sat" else real(wide, to)
    if wide == 0:
        return real(wide, to)
    return rounded_float(Fraction(float(wide)), to, way, end)


def largest(to: str) -> Real:
    """The largest finite number of a type."""
    return np.float64(FINITE[to])


FINITE = {
    "f16": 65504.0,
    "bf16": float.fromhex("0x1.fep127"),
    "f32": float.fromhex("0x1.fffffep127"),
}


def rounded_float(exact: Fraction, to: str, way: str, end: str) -> Real:
    """A number that is not 0 as a float of the type."""
    negative = exact < 0
    low, high, power = neighbours(abs(exact), to)
    top = Fraction(FINITE[to])
    if low == high:
        chosen = low
    else:
        middle = (low + high) / 2
        even = low if int(low / power) % 2 == 0 else high
        nearest = low if abs(exact) < middle else high if abs(exact) > middle else even
        chosen = {
            "downward": high if negative else low,
            "upward": low if negative else high,
            "toward_zero": low,
            "to_nearest_away": high if abs(exact) >= middle else low,
            "to_odd": high if even == low else low,
        }.get(way, nearest)
    if abs(exact) > top and way in ("toward_zero", "to_odd"):
        chosen = top
    if chosen > top:
        directed = {"downward": not negative, "upward": negative}.get(way, False)
        chosen = top if directed or end == "sat" else None
    found = np.inf if chosen is None else np.float64(float(chosen))
    return real(-found if negative else found, to)


def neighbours(size: Fraction, to: str) -> tuple[Fraction, Fraction, Fraction]:
    """The multiples of the last bit's power of two at or around a positive number; that power."""
    digits, least = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149)}[to]
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - digits
    while size >= Fraction(2) ** (exponent + digits):
        exponent += 1
    power = Fraction(2) ** max(exponent, least)
    low = size // power * power
    return low, low if low == size else low + power, power


def from_signed(value: int, kind: str, to: str, way: str, end: str) -> Real:
    number = -value if kind == "i1" else value
    return rounded_float(Fraction(number), to, way, end) if number else real(0.0, to)


def from_unsigned(value: int, kind: str, to: str, way: str, end: str) -> Real:
    number = value % (1 << WIDTHS[kind])
    return rounded_float(Fraction(number), to, way, end) if number else real(0.0, to)


def whole(value: Fraction, way: str) -> int:
    """A number as an integer; a half goes to the even one, or away from 0."""
    if way == "to_odd":
        return floor(value) if value.denominator == 1 or floor(value) % 2 else ceil(value)
    if way == "to_nearest_away":
        return floor(abs(value) + Fraction(1, 2)) * (1 if value > 0 else -1)
    kinds = {"downward": floor, "upward": ceil, "to_nearest_even": round}
    return kinds.get(way, int)(value)


def clipped(low: int, high: int, value: Real, way: str) -> int:
    """An integer of a range, 0 of NaN."""
    wide = np.float64(value)
    if not np.isfinite(wide):
        return 0 if np.isnan(wide) else low if wide < 0 else high
    return min(max(whole(Fraction(float(wide)), way), low), high)


def to_signed(value: Real, kind: str, to: str, way: str, end: str) -> int:
    half = 1 << (WIDTHS[to] - 1)
    return clipped(-half, half - 1, value, way)


def to_unsigned(value: Real, kind: str, to: str, way: str, end: str) -> int:
    return in_width(clipped(0, (1 << WIDTHS[to]) - 1, value, way), to)


def same_bits(value: Any, kind: str, to: str) -> Any:
    """The bits of a number as another type."""
    wanted = {"i32": np.int32, "i16": np.int16, "f32": np.float32, "f16": np.float16}
    return np.asarray([value], wanted[kind]).view(wanted[to])[0]


PAIRS = tuple((i, f) for i in ("i32", "i64", "i8") for f in ("f32", "f16", "bf16"))
BACK = tuple((f, i) for i, f in PAIRS)
say("CmpF", Numbers(float_compared))
say("ExtF", Numbers(widened, (("f16", "f32"), ("bf16", "f32")), by_type=True))
say("TruncF", Numbers(narrowed, (("f32", "f16"), ("f32", "bf16")), by_type=True))
say("FromSigned", Numbers(from_signed, (*PAIRS, ("i1", "f32")), by_type=True))
say("FromUnsigned", Numbers(from_unsigned, (*PAIRS, ("i1", "f32")), by_type=True))
say("ToSigned", Numbers(to_signed, BACK, by_type=True, ends=("", "sat")))
say("ToUnsigned", Numbers(to_unsigned, BACK, by_type=True, ends=("", "sat")))
SAME = (("f32", "i32"), ("i32", "f32"), ("f16", "i16"), ("i16", "f16"))
say("Bitcast", Numbers(same_bits, SAME, by_type=True))
