"""Elementwise: tile with tile, tile with number, and one tile (spec 3.21, 3.23, 3.24)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import ClassVar

from ptokit.isa.formula.rules import CPU, Ruled, both, named, on
from ptokit.isa.lang.arrays import Array, Cells, Term
from ptokit.isa.lang.asm import Asm
from ptokit.isa.lang.instr import In, Instr, Like, Operand, Out
from ptokit.isa.model.dtypes import f16, f32, i8, i16, i32, u8, u16, u32
from ptokit.isa.model.types import Scalar, Tile
from ptokit.isa.model.words import BLayout, V
from ptokit.isa.pages.samples import VEC_I32
from ptokit.isa.pages.vectors import (
    FLOATS,
    NUMBERS,
    VEC_A2A3,
    VEC_A5,
    DTypes,
    elements,
    in_vec,
    one_type,
    row_major,
    same_region,
)
from ptokit.numerics.functions import (
    clear_sign,
    exp,
    flip_sign,
    log,
    reciprocal,
    reciprocal_root,
)

MUL_A5 = tuple(t for t in VEC_A5 if t not in (i8, u8))
RELU = (f16, f32, i32)
NEGATED = (i16, u16, i32, u32, *FLOATS)
DIVIDED = (i16, u16, i32, u32, f16, f32)
INTEGERS = tuple(t for t in NUMBERS if t.is_int)
SMALL = tuple(t for t in INTEGERS if t.size <= 4)


def pointwise(
    dst: Operand, *sources: Operand, a2a3: DTypes, a5: DTypes, cpu: DTypes = NUMBERS
) -> tuple[Ruled, ...]:
    """The rules of an elementwise instruction: one type, one region."""
    tiles = (dst, *sources)
    return (
        elements(dst, cpu=cpu, a2a3=a2a3, a5=a5),
        one_type(*tiles),
        same_region(*tiles),
        in_vec(*tiles),
        row_major(*tiles),
    )


class Binary(Instr, abstract=True, pipe=V, asm=Asm(uniform=True)):
    """dst = f(src0, src1), element by element."""

    f: ClassVar[Callable[[Array, Array], Array]]
    dst = Out(Tile, doc="receives the results; may be a source")
    src0 = In(Tile, doc="the left operands")
    src1 = In(Tile, doc="the right operands")

    elided = {"dst": Like(src0, src0.valid.rows, src0.valid.cols)}
    recorded = {"plain": {}}

    @classmethod
    def run(cls, dst: Cells, src0: Cells, src1: Cells) -> None:
        rows, cols = dst.valid
        dst[:rows, :cols] = cls.f(src0[:rows, :cols], src1[:rows, :cols])


TILES = (Binary.dst, Binary.src0, Binary.src1)


class TAdd(Binary, f=operator.add, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src0[i, j] + src1[i, j]; integers wrap."""


class TSub(Binary, f=operator.sub, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src0[i, j] - src1[i, j]; integers wrap."""


class TMul(Binary, f=operator.mul, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=MUL_A5)):
    """dst[i, j] = src0[i, j] * src1[i, j]; integers wrap."""


class TMax(Binary, f=Array.maximum, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src1[i, j] where src0[i, j] < src1[i, j], else src0[i, j].

    So of equal values, zeros of either sign too, src0's is taken, and where one is NaN src0's.
    """

    disputes = ("E2",)


class Unary(Instr, abstract=True, pipe=V, asm=Asm(uniform=True)):
    """dst = f(src), element by element."""

    f: ClassVar[Callable[[Array], Array]]
    dst = Out(Tile, doc="receives the results; may be the source")
    src = In(Tile, doc="the operands")

    elided = {"dst": Like(src, src.valid.rows, src.valid.cols)}
    recorded = {"plain": {}}

    @classmethod
    def run(cls, dst: Cells, src: Cells) -> None:
        rows, cols = dst.valid
        dst[:rows, :cols] = cls.f(src[:rows, :cols])


PAIR = (Unary.dst, Unary.src)


class TExp(Unary, f=exp, rules=pointwise(*PAIR, cpu=FLOATS, a2a3=(f16, f32), a5=(f16, f32))):
    """dst[i, j] = e ** src[i, j], at most one unit in the last place from the rounded exact value.

    Every float was tried: of f16 two are off by one, of bf16 none, of f32 0.8 %. It overflows to
    infinity, underflows through denormals to 0, and NaN stays NaN.
    """


def relu(x: Array) -> Array:
    """`x` where it is not negative, else 0; NaN and -0 stay."""
    return x.maximum(0)


class TRelu(Unary, f=relu, rules=pointwise(*PAIR, a2a3=RELU, a5=RELU)):
    """dst[i, j] = max(src[i, j], 0); NaN and -0 stay."""

    disputes = ("E2",)


def without_sign(x: Array) -> Array:
    """Floats without their sign bit, NaN too; integers by arithmetic."""
    return clear_sign(x) if x.dtype.is_float else (x < 0).where(0 - x, x)


class TAbs(
    Unary,
    f=without_sign,
    rules=pointwise(*PAIR, a2a3=(f16, f32), a5=(i8, i16, i32, f16, f32)),
):
    """dst[i, j] = |src[i, j]|: of floats the sign bit is cleared; the least integer stays."""

    disputes = ("E15",)


def opposite(x: Array) -> Array:
    """Floats with the other sign bit, NaN too; integers by arithmetic."""
    return flip_sign(x) if x.dtype.is_float else 0 - x


class TNeg(Unary, f=opposite, rules=pointwise(*PAIR, a2a3=VEC_A2A3, a5=NEGATED)):
    """dst[i, j] = -src[i, j]: of floats the sign bit is flipped, of NaN too; integers wrap."""


def complement(x: Array) -> Array:
    """Every bit the other way."""
    return x ^ -1 if x.dtype.signed else x ^ ((1 << x.dtype.bits) - 1)


class TNot(Unary, f=complement, rules=pointwise(*PAIR, cpu=INTEGERS, a2a3=SMALL, a5=SMALL)):
    """dst[i, j] = src[i, j] with every bit inverted."""

    example = dict.fromkeys(("dst", "src"), VEC_I32)


class TLog(Unary, f=log, rules=pointwise(*PAIR, cpu=FLOATS, a2a3=(f16, f32), a5=(f16, f32))):
    """dst[i, j] = ln src[i, j], rounded once from f64; -infinity of 0, NaN of what is less.

    Of all f16 and bf16 and 10 million f32 none differs from the rounded exact value.
    """


class TSqrt(
    Unary, f=Array.sqrt, rules=pointwise(*PAIR, cpu=FLOATS, a2a3=(f16, f32), a5=(f16, f32))
):
    """dst[i, j] is the square root of src[i, j], correctly rounded; NaN of what is less than 0."""


class TRsqrt(
    Unary, f=reciprocal_root, rules=pointwise(*PAIR, cpu=FLOATS, a2a3=(f16, f32), a5=(f16, f32))
):
    """dst[i, j] = 1 / sqrt(src[i, j]), rounded once from f64; of 0 infinity, of less NaN."""


class TRecip(Unary, f=reciprocal, rules=pointwise(*PAIR, a2a3=VEC_A2A3, a5=DIVIDED)):
    """dst[i, j] = 1 / src[i, j]: floats correctly rounded; integers truncated, of 0 it is 0."""


class WithScalar(Instr, abstract=True, pipe=V, asm=Asm(uniform=True)):
    """dst = f(src, scalar), element by element."""

    f: ClassVar[Callable[[Array, Term], Array]]
    dst = Out(Tile, doc="receives the results; may be the source")
    src = In(Tile, doc="the left operands")
    scalar = In(Scalar, doc="the right operand of all; it takes the tile's element type")

    elided = {"dst": Like(src, src.valid.rows, src.valid.cols)}
    recorded = {"plain": {}}

    @classmethod
    def run(cls, dst: Cells, src: Cells, scalar: Term) -> None:
        rows, cols = dst.valid
        dst[:rows, :cols] = cls.f(src[:rows, :cols], scalar)


def with_scalar(a2a3: DTypes, a5: DTypes) -> tuple[Ruled, ...]:
    """The rules of a tile-scalar instruction; the CPU simulator too has them row-major only."""
    dst, src = WithScalar.dst, WithScalar.src
    rows = both(dst.blayout == BLayout.ROW_MAJOR, src.blayout == BLayout.ROW_MAJOR)
    return (pointwise(dst, src, a2a3=a2a3, a5=a5), on(CPU, named("layout", rows)))


class TAddS(WithScalar, f=operator.add, rules=with_scalar(VEC_A2A3, VEC_A5)):
    """dst[i, j] = src[i, j] + scalar; integers wrap."""
