"""Broadcasts: one value for each row combined with every element of the row (spec 3.29)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import ClassVar

from ptokit.isa.formula.formulas import Expr
from ptokit.isa.formula.rules import A2A3, HARDWARE, Ruled, both, either, named, on, when
from ptokit.isa.lang.arrays import Array, Cells
from ptokit.isa.lang.instr import In, Instr, Like, Operand, Out, Scratch
from ptokit.isa.model.dtypes import f16, f32, i16, i32, u8, u16, u32
from ptokit.isa.model.layouts import DN, ND
from ptokit.isa.model.types import Tile
from ptokit.isa.model.words import V
from ptokit.isa.pages.vectors import VEC_A2A3, VEC_A5, DTypes, elements, in_vec, one_type

EXPAND_CPU = (f16, f32, i16, u16, i32, u32)
BLOCK = 32  # bytes that a row-major narrow operand has in each row
NARROW = "one operand is as wide as dst, the other has a dn column or 32 bytes in each row"


class RowExpand(Instr, abstract=True, pipe=V):
    """dst[i, j] = f(src0[i, j], src1[i]), or the other way round."""

    f: ClassVar[Callable[[Array, Array], Array]]
    dst = Out(Tile, doc="receives the results")
    src0 = In(Tile, doc="the left operands: as wide as dst, or narrow")
    src1 = In(Tile, doc="the right operands: narrow, or as wide as dst")
    tmp = Scratch(Tile, None, doc="of A2/A3; ignored on A5 and the CPU simulator")

    example = {"src1": "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"}
    elided = {"dst": Like(src0, src0.valid.rows, src0.valid.cols)}
    recorded = {"block": {}, "dn": {}, "dn_src0": {}}

    @classmethod
    def run(cls, dst: Cells, src0: Cells, src1: Cells) -> None:
        rows, cols = dst.valid
        left, right = spread(src0, src1, rows, cols), spread(src1, src0, rows, cols)
        dst[:rows, :cols] = cls.f(left, right)


def thin(src: Cells) -> bool:
    """Whether the declared shape alone says that an operand is a column or a block."""
    return src.layout is DN or src.cols * src.dtype.size == BLOCK


def spread(src: Cells, other: Cells, rows: int, cols: int) -> Array:
    """An operand as wide as dst: a column once, a block of 32 bytes again and again."""
    if src.layout is DN:
        return src[:rows, 0]
    count = BLOCK // src.dtype.size
    if not thin(src) and (thin(other) or src.valid.cols != count):
        return src[:rows, :cols]
    row, col = src.iota(rows, cols)
    return src.take(row * src.cols + col % count)


def expanding(cpu: DTypes, a2a3: DTypes, a5: DTypes) -> tuple[Ruled, ...]:
    """The rules of an expand along rows."""
    dst, src0, src1, tmp = RowExpand.dst, RowExpand.src0, RowExpand.src1, RowExpand.tmp
    rows = dst.valid.rows
    scratch = "256 bytes for each 8 rows, at most 7680"

    def full(src: Operand) -> Expr:
        return both(src.layout == ND, src.valid.cols == dst.valid.cols)

    def narrow(src: Operand) -> Expr:
        block = both(src.layout == ND, src.valid.cols * src.size == BLOCK)
        return either(both(src.layout == DN, src.valid.cols == 1), block)

    shapes = either(both(full(src0), narrow(src1)), both(narrow(src0), full(src1)))
    return (
        elements(dst, cpu=cpu, a2a3=a2a3, a5=a5),
        one_type(dst, src0, src1),
        named("shape", src0.valid.rows == rows, src1.valid.rows == rows),
        named("shape", shapes, help=NARROW),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst, src0, src1),
        on(
            HARDWARE,
            when(
                tmp.given,
                in_vec(tmp),
                named(
                    "layout",
                    either(src0.layout == DN, src1.layout == DN),
                    help="the form with tmp takes a dn column",
                ),
            ),
        ),
        on(
            A2A3,
            named(
                "shape",
                when(rows < 256, tmp.nbytes >= (rows + 7) // 8 * 256),
                when(rows >= 256, tmp.nbytes >= 7680),
                help=scratch,
            ),
        ),
    )


class TRowExpandMul(
    RowExpand, f=operator.mul, rules=expanding((*EXPAND_CPU, u8), VEC_A2A3, VEC_A5)
):
    """dst[i, j] = src0[i, j % n0] * src1[i, j % n1], n0 and n1 the operands' valid columns.

    One operand is as wide as dst; the other has a value for each row, or a block of 32 bytes that
    is used again and again along the row.
    """
