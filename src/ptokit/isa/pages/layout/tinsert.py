"""TINSERT and TINSERT_FP: write a tile into a window of a larger one."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.unlikeextents import as_inserted, as_shared
from ptokit.isa.pages.windows import *
from ptokit.values.fixpipe import narrowed

SCALES = "insert whole rows of boxes: chips move them as lines of a plain tile"


class Insert(Instr, abstract=True, specials=NAN_NARROWED, asm=Asm(brackets=("row", "col"))):
    """The operands of a window write: src's valid region goes to (`row`, `col`) of `dst`."""

    dst = InOut(Tile, doc="the tile written into; what lies outside the window stays")
    src = In(Tile, doc="the tile to insert; its valid region is the window's size")
    lies_over = ((dst, src),)  # a part of dst may be inserted at its own position
    row = In(Index, 0, cpp="indexRow", doc="first row of the window in dst")
    col = In(Index, 0, cpp="indexCol", doc="first column of the window in dst")
    relu = Attr(ReluPreMode, ReluPreMode.NO_RELU, key="reluPreMode")
    mode = Attr(AccToVecMode, None, key="accToVecMode", doc=INTO_VEC)

    moved_types = staticmethod(as_shared)
    in_acc = when(
        src.loc == ACC, on(A2A3, named("window-out-of-bounds", row + src.rows <= dst.rows))
    )


class TInsert(
    Insert,
    inner_flags=(A5,),
    uses=(FIXPIPE,),
    asm=Asm(words=PRE_QUANT),
    disputes=("C22", "C23", "C44", "C47", "C58", "C59", "C66", "D28", "X122"),
):
    """Write the valid region of `src` into the window of `dst` that starts at (`row`, `col`).

    dst[row + i, col + j] = src[i, j]; everything else in `dst` keeps its value. An accumulator
    source passes the fix-pipe, as in textract. SPLIT2 and SPLIT4 issue the same transfer in parts.
    """

    moved_types = staticmethod(as_inserted)
    dst, src = Insert.dst, Insert.src
    quant = In(Scalar, None, scalar="u64", cpp="preQuantScalar", doc=PARAMETER_DOC)
    row, col = Insert.row, Insert.col
    relu, mode = Insert.relu, Insert.mode
    split = Attr(TInsertMode, None, key="tinsertMode")
    example = {"row": 0, "col": 32, "dst": WIDE}
    paths = (
        path(
            *(VEC, VEC, V, both(dst.layout.isin(ND, NZ), dst.layout == src.layout)),
            on(A2A3, dst.dtype.isin(*WINDOW_A2A3)),
            on(A5, dst.dtype.isin(*WINDOW_A5)),
            between_vec_a2a3(row, col, src, src, src.valid.rows * src.valid.cols != 1),
            on(
                A5,
                when(src.layout == ND, both(src.rows <= dst.rows, src.cols <= dst.cols)),
                when(src.layout == NZ, src.cols <= dst.cols),
            ),
        ),
        path(
            *(VEC, MAT, MTE3, dst.dtype.isin(*WINDOW_A5)),
            either(
                both(src.layout.isin(ND, NZ, ZN), dst.layout.isin(ND, NZ, ZN)),
                both(src.layout == ZZ, dst.layout == ZZ),
            ),
            when(
                src.layout == ZZ,
                named("shape", src.valid.cols == dst.cols, src.valid.rows % 16 == 0, help=SCALES),
                named("offset-misaligned", both(row % 16 == 0, col == 0), help=SCALES),
            ),
            when(
                dst.layout == ZN,
                src.valid.rows % src.c0 == 0,
                named("offset-misaligned", row % src.c0 == 0, help=BOXES),
            ),
            on=A5,
            event=FIX,  # dispute X122
        ),
        *window_from_acc(dst, src, mode),
    )
    of_nz = both(src.layout == NZ, dst.layout == NZ)
    into_nz = either(~split.given, both(src.loc == VEC, dst.loc == MAT, of_nz))
    rules = (
        inside(row, col, src, dst),
        Insert.in_acc,
        casting(dst, src, quant.given),
        fix_pipe(dst, src, relu, mode, quant.given),
        on(A2A3, named("attribute", ~split.given, help="split inserts exist on A5 only")),
        on(A5, named("attribute", into_nz, help="split inserts go from vec to mat, both nz")),
    )
    recorded = {"plain": {}, "scalar": {"quant": "pre_quant_scalar"}}

    def run(dst, src, quant, row, col, relu, fixpipe):
        rows, cols = src.valid
        y = narrowed(src[:rows, :cols], dst.dtype, quant, relu, fixpipe)
        dst[row : row + rows, col : col + cols] = y


class TInsertFp(
    Insert,
    inner_flags=(A5,),
    uses=(FIXPIPE,),
    name="tinsert_fp",
    asm=Asm(since=(("v0.57", "tinsert"),), words=FP),
    recorded_op="tinsert",
):
    """Insert an accumulator tile through the fix-pipe, one parameter for each of its columns.

    dst[row + i, col + j] = convert(src[i, j]; fp[0, j]): unlike textract_fp, `col` does not index
    `fp`.
    """

    dst, src = Insert.dst, Insert.src
    fp = In(Tile, loc=SCALING, doc=PARAMETERS_DOC)
    row, col = Insert.row, Insert.col
    relu, mode = Insert.relu, Insert.mode
    example = {"src": L0C, "fp": PARAMETERS, "row": 0, "col": 0, "dst": L1_I8}
    paths = window_from_acc(dst, src, mode)
    rules = (
        inside(row, col, src, dst),
        Insert.in_acc,
        parameters(fp),
        named("shape", fp.valid.cols >= src.valid.cols, help="give one for each column"),
        quantising(dst, src),
        quantising_modes(dst, src, mode),
    )
    recorded = {"fp": {}}
    disputes = ("C2", "C23", "C49", "C58", "D28")

    def run(dst, src, fp, row, col, relu, fixpipe):
        rows, cols = src.valid
        y = narrowed(src[:rows, :cols], dst.dtype, fp[0, :cols], relu, fixpipe, by_column=True)
        dst[row : row + rows, col : col + cols] = y
