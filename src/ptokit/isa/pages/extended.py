"""Scalar arithmetic: full sums and products of integers, and a fused multiply-add."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.arith import below, in_type, unsigned
from ptokit.isa.pages.reals import Real
from ptokit.values import functions
from ptokit.values.scalars import bitwise, choice, truth, wrapped

HALVES = 32  # bits of a half of the longest integers
LOW = (1 << HALVES) - 1
SEVEN = "%a = arith.constant -7 : i32\n%b = arith.constant 3 : i32\n"
IN_FULL = Asm(dialect="arith", shape="in_full")
SUM = "const std::decay_t<decltype({lhs})> {result} = ({unsigned}){lhs} + ({unsigned}){rhs}; "
CARRY = "const bool {overflow} = ({unsigned}){result} < ({unsigned}){lhs};"
PRODUCT = "const {type} {low} = ({unsigned}){lhs} * ({unsigned}){rhs}; "
UPPER = "const {type} {high} = (WIDE)KIND{lhs} * KIND{rhs} >> 8 * sizeof({lhs});"


def upper(wide: str, kind: str) -> str:
    """Return C++ for the upper half, computed in numbers of twice the width."""
    return UPPER.replace("WIDE", wide).replace("KIND", kind)


class AddUIExtended(Instr, own="addui_extended", name="addui_extended", pipe=S):
    """result = lhs + rhs, and the carry of the sum of the unsigned numbers."""

    asm = IN_FULL.over(Asm(cpp_text=SUM + CARRY))
    example = f"{SEVEN}%n, %m = NAME %a, %b : i32, i1"
    result = Result(Scalar)
    overflow = Result(Scalar, scalar="i1")
    lhs = In(Scalar, whole=True)
    rhs = In(Scalar, whole=True)

    def run(lhs, rhs, result):
        found = in_type(lhs + rhs, result)
        return found, below(unsigned(found, result), unsigned(lhs, result))


def upper_half(a: int, b: int) -> int:
    """Return the upper 64 bits of the product of two unsigned numbers of 64 bits."""
    low_a, low_b = a & LOW, b & LOW
    high_a, high_b = bitwise("lshr", a, HALVES), bitwise("lshr", b, HALVES)
    first = bitwise("lshr", wrapped(low_a * low_b, 64), HALVES)
    left, right = wrapped(low_a * high_b, 64), wrapped(high_a * low_b, 64)
    middle = bitwise("lshr", first + (left & LOW) + (right & LOW), HALVES)
    upper = bitwise("lshr", left, HALVES) + bitwise("lshr", right, HALVES) + middle
    return wrapped(wrapped(high_a * high_b, 64) + upper, 64)


class MulExtended(Instr, abstract=True, pipe=S):
    """The lower and the upper half of a product."""

    example = f"{SEVEN}%n, %m = NAME %a, %b : i32"
    low = Result(Scalar)
    high = Result(Scalar)
    lhs = In(Scalar, whole=True)
    rhs = In(Scalar, whole=True)


class MulUIExtended(MulExtended, own="mul_extended unsigned", name="mului_extended"):
    """The product of unsigned numbers, of twice the width: its lower and its upper half."""

    asm = IN_FULL.over(Asm(cpp_text=PRODUCT + upper("unsigned __int128", "({unsigned})")))

    def run(lhs, rhs, low):
        product = wrapped(lhs * rhs, 64)
        if low.bits == 64:
            return product, upper_half(lhs, rhs)
        product = wrapped(unsigned(lhs, low) * unsigned(rhs, low), 64)
        return in_type(product, low), in_type(bitwise("lshr", product, low.bits), low)


class MulSIExtended(MulExtended, own="mul_extended signed", name="mulsi_extended"):
    """The product of signed numbers, of twice the width: its lower and its upper half."""

    asm = IN_FULL.over(Asm(cpp_text=PRODUCT + upper("__int128", "")))

    def run(lhs, rhs, low):
        product = wrapped(lhs * rhs, 64)
        if low.bits < 64:
            return in_type(product, low), in_type(bitwise("ashr", product, low.bits), low)
        less = choice(truth(lhs < 0), rhs, 0) + choice(truth(rhs < 0), lhs, 0)
        return product, wrapped(upper_half(lhs, rhs) - less, 64)


class Fma(Instr, own="fma ->", name="fma", pipe=S):
    """result = lhs * rhs + acc, rounded once."""

    asm = in_cpp("std::fma({lhs}, {rhs}, {acc})").over(Asm(dialect="math", shape="same"))
    example = "%a = arith.constant 1.5 : f32\n%n = NAME %a, %a, %a : f32"
    result = Result(Scalar)
    lhs = Real()
    rhs = Real()
    acc = Real()

    def run(lhs, rhs, acc):
        return functions.fused(lhs, rhs, acc)
