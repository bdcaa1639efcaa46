"""Scalar arithmetic: the `arith` dialect on index and integer values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import ClassVar

from ptokit.isa.lang.asm import Asm
from ptokit.isa.lang.instr import Attr, In, Instr, Result
from ptokit.isa.lang.scalars import choice, least, most, quotient, truth, wrapped
from ptokit.isa.model.types import Scalar, ScalarType
from ptokit.isa.model.words import S, Word

WIDTH_OF_INDEX = 64


def extent(operation: str) -> str:
    """An example: `operation` computes a valid extent, %n, from %a and %b."""
    tile = "!pto.tile_buf<vec, 16x32xf32, valid=?x32>"
    numbers = "%a = arith.constant 7 : index\n%b = arith.constant 2 : index\n"
    return f"{numbers}{operation}\n%t = pto.alloc_tile valid_row = %n : {tile}"


LESSER = extent("%less = arith.cmpi slt, %b, %a : index\n%n = arith.select %less, %a, %b : index")


def in_type(value: int, kind: ScalarType) -> int:
    """`value` as a signed integer of the type's width; i1 is 0 or 1."""
    if kind.name == "i1":
        return wrapped(value, 1)
    return wrapped(value, WIDTH_OF_INDEX if kind.dtype is None else kind.dtype.bits)


class Constant(Instr, name="constant", pipe=S):
    """A number known before the program runs.

    An integer of 64 bits stands for the signed number of the same bits.
    """

    asm = Asm(dialect="arith", shape="constant", cpp_text="constexpr {type} {result} = {value};")
    example = "%a = NAME 7 : index"
    result = Result(Scalar)
    value = Attr(int, 0)

    @staticmethod
    def run(value: float, result: ScalarType) -> float:
        return value if isinstance(value, float) else in_type(value, result)


class BinaryScalar(Instr, abstract=True, asm=Asm(dialect="arith", shape="same"), pipe=S):
    """result = lhs f rhs on values of one type, in two's complement: what overflows wraps.

    `index` has 64 bits. Every intermediate result of `f` but the last must fit, or be a sum or
    product: those may wrap on their way.
    """

    example = extent("%n = NAME %a, %b : index")
    f: ClassVar[Callable[[int, int], int]]
    result = Result(Scalar)
    lhs = In(Scalar, whole=True)
    rhs = In(Scalar, whole=True)

    @classmethod
    def run(cls, lhs: int, rhs: int, result: ScalarType) -> int:
        return in_type(cls.f(lhs, rhs), result)


def infix(operator: str) -> Asm:
    """C++ writes an operator between the operands."""
    return Asm(cpp_text=f"const {{type}} {{result}} = {{lhs}} {operator} {{rhs}};")


def bit_and(a: int, b: int) -> int:
    return a & b


def bit_or(a: int, b: int) -> int:
    return a | b


def quotient_up(a: int, b: int) -> int:
    """Division that rounds up."""
    whole = quotient(a, b)
    rest = a - whole * b
    return whole + truth((rest > 0) & (b > 0) | (rest < 0) & (b < 0))


def remainder(a: int, b: int) -> int:
    """The remainder that goes with `quotient`: the sign of the dividend."""
    return a - quotient(a, b) * b


class AddI(BinaryScalar, f=operator.add, asm=infix("+")):
    """result = lhs + rhs. What overflows the type wraps, as in MLIR; index has 64 bits."""


class SubI(BinaryScalar, f=operator.sub, asm=infix("-")):
    """result = lhs - rhs. What overflows the type wraps, as in MLIR; index has 64 bits."""


class MulI(BinaryScalar, f=operator.mul, asm=infix("*")):
    """result = lhs * rhs. What overflows the type wraps, as in MLIR; index has 64 bits."""


class DivSI(BinaryScalar, f=quotient, asm=infix("/")):
    """result = lhs / rhs, truncated toward zero.

    Division by 0 is an error. The least value divided by -1 wraps: it stays what it is.
    """


class RemSI(BinaryScalar, f=remainder, asm=infix("%")):
    """result = lhs % rhs, with the sign of lhs. A remainder of division by 0 is an error."""


class CeilDivSI(BinaryScalar, f=quotient_up):
    """result = lhs / rhs, rounded up. Division by 0 is an error; overflow wraps as in divsi."""


class MinSI(BinaryScalar, f=least):
    """The smaller of two signed values."""


class MaxSI(BinaryScalar, f=most):
    """The larger of two signed values."""


class AndI(BinaryScalar, f=bit_and, asm=infix("&")):
    """Bitwise and."""


class OrI(BinaryScalar, f=bit_or, asm=infix("|")):
    """Bitwise or."""


class Predicate(Word, mlir="cmpi_predicate"):
    """How `cmpi` compares; u: unsigned."""

    EQ = "eq", "eq"
    NE = "ne", "ne"
    SLT = "slt", "slt"
    SLE = "sle", "sle"
    SGT = "sgt", "sgt"
    SGE = "sge", "sge"
    ULT = "ult", "ult"
    ULE = "ule", "ule"
    UGT = "ugt", "ugt"
    UGE = "uge", "uge"


HALF = 1 << 63
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


class CmpI(Instr, name="cmpi", asm=Asm(dialect="arith", shape="compare"), pipe=S):
    """result (i1) = lhs compared with rhs."""

    example = LESSER
    result = Result(Scalar)
    lhs = In(Scalar, whole=True)
    rhs = In(Scalar, whole=True)
    predicate = Attr(Predicate, Predicate.EQ)

    @staticmethod
    def run(lhs: int, rhs: int, predicate: Predicate) -> int:
        word = predicate.text
        if word.startswith("u"):  # half of all numbers on: then signed order is unsigned order
            lhs, rhs = wrapped(lhs + HALF, 64), wrapped(rhs + HALF, 64)
        return truth(COMPARE[word[-2:]](lhs, rhs))


class Select(Instr, name="select", asm=Asm(dialect="arith", shape="select"), pipe=S):
    """result = yes where condition is 1, else no."""

    example = LESSER
    result = Result(Scalar)
    condition = In(Scalar, whole=True)
    yes = In(Scalar)
    no = In(Scalar)

    @staticmethod
    def run(condition: int, yes: int, no: int) -> int:
        return choice(condition, yes, no)


class Cast(Instr, abstract=True, pipe=S):
    """The same number in another type."""

    asm = Asm(dialect="arith", shape="cast", cpp_text="const {type} {result} = ({type}){value};")
    result = Result(Scalar)
    value = In(Scalar, whole=True)

    @staticmethod
    def run(value: int, result: ScalarType) -> int:
        return in_type(value, result)


class IndexCast(Cast, name="index_cast"):
    """An integer as index, or an index as integer."""

    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to index"


class ExtSI(Cast):
    """A wider signed integer of the same value."""

    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to i64"


class TruncI(Cast):
    """The low bits."""

    example = "%a = arith.constant 7 : i64\n%n = NAME %a : i64 to i32"
