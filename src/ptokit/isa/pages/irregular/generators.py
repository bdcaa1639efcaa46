"""TCI and TTRI: tiles of consecutive numbers, and triangles of ones (spec C1.4, C1.5)."""

from __future__ import annotations

from ptokit.isa.formula.rules import both, named
from ptokit.isa.lang.arrays import Cells, Term
from ptokit.isa.lang.asm import Asm
from ptokit.isa.lang.instr import Attr, In, Instr, Out
from ptokit.isa.model.dtypes import bf16, f16, f32, i8, i16, i32, i64, u8, u16, u32, u64
from ptokit.isa.model.layouts import ND
from ptokit.isa.model.types import Index, Scalar, Tile
from ptokit.isa.model.words import S, V
from ptokit.isa.pages.vectors import elements, in_vec

COUNTED = (i16, u16, i32, u32)
TRIANGLES = (*COUNTED, f16, f32)


class TCI(Instr, pipe=S, asm=Asm(attrs_inside=True)):
    """dst[0, k] = start + k, or start - k where `descending`, for the valid columns; it wraps."""

    dst = Out(Tile, doc="one row that receives the numbers")
    start = In(Scalar, whole=True, doc="the first number")
    descending = Attr(bool, False)

    example = """\
%s = arith.constant 5 : i32
NAME ins(%s : i32) outs(%dst : !pto.tile_buf<vec, 1x32xi32>)"""
    rules = (
        named("element-type", dst.dtype.isin(*COUNTED), help="integers of 16 and 32 bits"),
        named("shape", dst.rows == 1, help="dst is one row"),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst),
    )
    recorded = {"plain": {}}

    @staticmethod
    def run(dst: Cells, start: Term, descending: bool) -> None:
        rows, cols = dst.valid
        steps = dst.iota(rows, cols)[1].cast(dst.dtype)
        dst[:rows, :cols] = (0 - steps if descending else steps) + start


class TTri(Instr, pipe=V, asm=Asm(attrs_inside=True)):
    """dst[i, j] = 1 in the lower triangle, j <= i + diagonal, and 0 elsewhere.

    With `upper` 1 it is the upper one: 0 where j < i + diagonal, and 1 elsewhere.
    """

    specials = "It writes 0 and 1 only."
    dst = Out(Tile, doc="receives ones and zeros in its valid region")
    diagonal = In(Index, doc="how far the diagonal is to the right of the main one")
    upper = Attr(int, 0, key="upperOrLower")

    example = {"diagonal": 1}
    rules = (
        elements(
            dst,
            cpu=(*TRIANGLES, bf16),
            a2a3=TRIANGLES,
            a5=(*TRIANGLES, bf16, i8, u8, i64, u64),
        ),
        named("attribute", both(upper >= 0, upper <= 1), help="0: lower, 1: upper"),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst),
    )
    recorded = {"lower": {}, "upper": {}}
    disputes = ("X3",)

    @staticmethod
    def run(dst: Cells, diagonal: int, upper: int) -> None:
        rows, cols = dst.valid
        row, col = dst.iota(rows, cols)
        one, zero = dst.constant(0) + 1, dst.constant(0)
        edge = row + diagonal
        ones = (col < edge).where(zero, one) if upper else (col <= edge).where(one, zero)
        dst[:rows, :cols] = ones
