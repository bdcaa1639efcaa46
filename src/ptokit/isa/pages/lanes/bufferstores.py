"""Results of the cube in the buffers of vector cores: of one, or halves for both."""

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.cubebursts import within
from ptokit.isa.pages.lanes.fixpipestores import (
    CLAUSES,
    IntoBuffers,
    IntoLocalMemory,
    OutOfL0C,
    Storing,
    Writeback,
    limited,
)
from ptokit.isa.pages.lanes.lanefamilies import *

HALVES = ("split_m", "split_n")


class MatrixInBuffer(IntoLocalMemory, name="mte_l0c_ub", form="a matrix"):
    """Store a matrix of L0C in a vector buffer."""


class HalfInBuffer(OutOfL0C, name="mte_l0c_ub", form="a half"):
    """Store the rows and columns from `row` and `col` on of a matrix of L0C in a vector buffer."""

    dst = Out(Tile)
    row = Attr(int)
    col = Attr(int)

    def run(dst, src, row, col, saturation, nan, fixpipe):
        rows, cols = dst.valid
        part = src[row : row + rows, col : col + cols]
        dst[dst.valid] = limited(part, dst.dtype, saturation, nan, fixpipe)


class MteL0cUb(IntoBuffers, name="mte_l0c_ub"):
    """The m x n elements of an accumulator, converted, in the buffers of vector cores.

    As `mte_l0c_l1`. `dst_mode` says which vector core: 0, 1, or both: with `split_m` the first one
    takes the upper half of the rows, with `split_n` the left half of the columns, each from `dst`
    on.
    """

    src, dst = Writeback.src, Writeback.dst
    m, n, src_step, dst_step = Writeback.m, Writeback.n, Writeback.src_step, Writeback.dst_step
    core_number = In(Scalar, None, scalar="i64", doc="the vector core")
    halves = Attr(str, None)
    asm = Asm(clauses=(("dst_mode", ("core_number", "halves")), *CLAUSES))
    changed = (Writeback.quantisation, Writeback.relu, Writeback.walk, Writeback.count)
    rules = (
        Writeback.rules,
        within(dst, VEC),
        named(
            "operand-value",
            either(core_number == 0, core_number == 1),
            help="the vector cores of a block are 0 and 1",
        ),
        when(
            halves.given,
            named("attribute", halves.isin(*HALVES), help="use a vector core, split_m or split_n"),
            when(
                halves == "split_m", named("operand-value", m % 2 == 0, help="halves of the rows")
            ),
            when(halves == "split_n", named("operand-value", n % 32 == 0, help="halves of blocks")),
            *(
                named("attribute", ~one.given, help="halves are only converted: no other clauses")
                for one in changed
            ),
        ),
    )

    @classmethod
    def store(cls, make: Lowering, one: Storing) -> None:
        if one.given["halves"] is not None:
            cls.store_halves(make, one)
            return

        def whole(loc: Loc) -> None:
            dst = cls.place(make, one, loc)
            make.op(MatrixInBuffer, {**one.operands, "dst": dst}, one.attrs)

        core = one.given["core_number"]
        for number, loc in enumerate(BUFFERS):
            chosen = core if number else make.sum(1, make.times(core, -1))
            make.repeat(chosen, lambda _, loc=loc: whole(loc))

    @classmethod
    def store_halves(cls, make: Lowering, one: Storing) -> None:
        """Add the stores of both halves; the first one does not end the phase of the unit flag."""
        (m, n), by_rows = one.shape, one.given["halves"] == "split_m"
        half = (m // 2, n) if by_rows else (m, n // 2)
        modes = {name: one.attrs[name] for name in ("saturation", "nan", "phase")}
        early = Phase.PARTIAL if modes["phase"] is Phase.FINAL else modes["phase"]
        for second, loc in enumerate(BUFFERS):
            dst = cls.place(make, one._replace(shape=half), loc)
            row, col = (half[0] * second, 0) if by_rows else (0, half[1] * second)
            attrs = {**modes, "row": row, "col": col}
            if not second:
                attrs["phase"] = early
            make.op(HalfInBuffer, {"src": one.operands["src"], "dst": dst}, attrs)
