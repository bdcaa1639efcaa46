"""Reductions: sums and maxima along rows and columns (spec 3.27)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ptokit.isa.formula.formulas import Const, Expr
from ptokit.isa.formula.rules import A2A3, A5, CPU, HARDWARE, Ruled, both, either, named, on, when
from ptokit.isa.lang.arrays import Array, Cells
from ptokit.isa.lang.asm import Asm
from ptokit.isa.lang.instr import Attr, In, Instr, Like, Out, Scratch
from ptokit.isa.lang.scalars import least
from ptokit.isa.model.dtypes import DType, bf16, f16, f32, i8, i16, i32, i64, u8, u64
from ptokit.isa.model.layouts import DN, ND
from ptokit.isa.model.types import Tile
from ptokit.isa.model.words import V
from ptokit.isa.pages.samples import VEC_F32
from ptokit.isa.pages.vectors import NUMBERS, VEC_A2A3, VEC_A5, DTypes, in_vec, one_type, row_major
from ptokit.isa.pages.windows import pairs

SUM_A5 = (*VEC_A2A3, i64, u64)
MAX_A5 = (*SUM_A5, i8, u8)
WIDENING = ((f16, (f16, f32)), (bf16, (bf16, f32)), (f32, (f32,)))  # sums of the CPU simulator


class RowReduce(Instr, abstract=True, pipe=V):
    """dst[i, 0] = f(row i of src)."""

    f: ClassVar[Callable[[Array, DType], Array]]
    dst = Out(Tile, doc="one valid column: a result for each row")
    src = In(Tile, doc="the rows to reduce")
    tmp = Scratch(Tile, None, doc="of A2/A3; ignored on A5 and the CPU simulator")

    example = {"tmp": VEC_F32, "dst": "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"}
    elided = {"dst": Like(src, src.valid.rows, Const(1))}
    recorded = {"plain": {}}

    @classmethod
    def run(cls, dst: Cells, src: Cells) -> None:
        rows, cols = src.valid
        dst[:rows, 0] = cls.f(src[:rows, :cols], dst.dtype)


def by_row(cpu: Expr, a2a3: DTypes, a5: DTypes) -> tuple[Ruled, ...]:
    """The rules of a reduction along rows; `cpu`: the element types it takes there."""
    dst, src, tmp = RowReduce.dst, RowReduce.src, RowReduce.tmp
    column = either(dst.layout == ND, both(dst.layout == DN, dst.cols == 1))
    return (
        on(CPU, cpu),
        on(HARDWARE, one_type(dst, src)),
        on(A2A3, dst.dtype.isin(*a2a3)),
        on(A5, dst.dtype.isin(*a5)),
        named("shape", both(src.valid.rows >= 1, src.valid.cols >= 1), help="reduce something"),
        named("shape", dst.valid.rows == src.valid.rows, help="one result for each row"),
        named("shape", dst.valid.cols == 1, help="dst has one valid column"),
        on(CPU, named("shape", dst.rows == src.rows, help="declare as many rows as src has")),
        named("layout", column, help="dst is nd, or dn with one column"),
        in_vec(dst, src),
        on(HARDWARE, when(tmp.given, in_vec(tmp))),
        row_major(src),
    )


def total(x: Array, dtype: DType) -> Array:
    """Row sums: floats in f32 with one rounding at the end, integers modulo the result's type."""
    return x.cast(f32 if x.dtype.is_float else dtype).fold("add", 1, 0).cast(dtype)


def largest(x: Array, dtype: DType) -> Array:
    """The first of the largest elements of each row."""
    return x.fold("max", 1).cast(dtype)


SUM_CPU = pairs(RowReduce.dst, RowReduce.src, *WIDENING, (i16, (i16, i32)), (i32, (i32,)))
MAX_CPU = both(RowReduce.dst.dtype.isin(*NUMBERS), RowReduce.src.dtype.isin(*NUMBERS))


class TRowSum(RowReduce, f=total, rules=by_row(SUM_CPU, VEC_A2A3, SUM_A5)):
    """dst[i, 0] = src[i, 0] + src[i, 1] + ..., from left to right, beginning with 0.

    Floats are added in f32 and rounded once at the end; integers wrap in dst's type.
    """

    recorded = {"plain": {}, "f16_f32": {}, "bf16_f32": {}, "i16_i32": {}}
    disputes = ("E31", "E33")


class TRowMax(RowReduce, f=largest, rules=by_row(MAX_CPU, VEC_A2A3, MAX_A5)):
    """dst[i, 0] = the largest of src[i, 0], src[i, 1], ..., the first of equal ones.

    NaN in first place stays; later ones are skipped.
    """

    disputes = ("E2",)


class TColSum(Instr, pipe=V):
    """dst[0, j] = src[0, j] + src[1, j] + ..., from top to bottom, beginning with 0.

    Every step rounds to dst's element type; integers wrap. `is_binary` asks hardware to add in
    pairs; the order here does not change. A source without rows leaves `dst` as it is.
    """

    dst = Out(Tile, doc="one valid row: a result for each column")
    src = In(Tile, doc="the columns to add")
    tmp = Scratch(Tile, None, doc="of the binary order")
    is_binary = Attr(bool, False, key="isBinary")

    asm = Asm(cpp_text="TCOLSUM({dst}, {src}[, {tmp}, {is_binary}]);")
    example = {"dst": "!pto.tile_buf<vec, 1x32xf32>"}
    stored = both(dst.layout == ND, src.layout == ND)
    rules = (
        on(
            CPU,
            either(
                both(src.dtype == dst.dtype, src.dtype.isin(*NUMBERS)), pairs(dst, src, *WIDENING)
            ),
        ),
        on(HARDWARE, one_type(dst, src)),
        on(A2A3, dst.dtype.isin(*VEC_A2A3)),
        on(A5, dst.dtype.isin(*VEC_A5)),
        named("shape", dst.valid.rows == 1, help="dst has one valid row"),
        named("shape", dst.valid.cols == src.valid.cols, help="one result for each column"),
        named("layout", stored, help="store both row-major"),
        in_vec(dst, src),
        on(
            HARDWARE,
            named(
                "operand-count", either(~is_binary, tmp.given), help="the binary order needs tmp"
            ),
            when(
                tmp.given,
                in_vec(tmp),
                when(
                    is_binary,
                    one_type(src, tmp),
                    named("shape", tmp.cols >= src.valid.cols, tmp.rows >= src.valid.rows // 2),
                ),
            ),
        ),
    )
    elided = {"dst": Like(src, Const(1), src.valid.cols)}
    recorded = {"plain": {}, "tmp": {}, "f16_f32": {}, "bf16_f32": {}}
    disputes = ("E29", "E33")

    @staticmethod
    def run(dst: Cells, src: Cells) -> None:
        rows, cols = src.valid
        dst[: least(rows, 1), :cols] = src[:rows, :cols].cast(dst.dtype).fold("add", 0, 0)
