"""TEXTRACT and TEXTRACT_FP: copy a window out of a tile, from the accumulator through the fix-pipe.

The targets differ in layouts, element types and alignment; the meaning is the same everywhere.
"""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.unlikeextents import as_moved_windows
from ptokit.isa.pages.windows import *
from ptokit.values.fixpipe import narrowed
from ptokit.values.layouts import FRACTALS

BY_COLUMN = "fp is indexed by the source column: it needs a parameter for each of them"
NO_HEADER = "scaling memory is filled with whole parameters, from the first on"
GRANULES = "the fix-pipe fetches its parameters in granules of 128 bytes"


class Extract(Instr, inner_flags=(A2A3, A5), abstract=True, asm=Asm(brackets=("row", "col"))):
    """The operands of a window read: its corner (`row`, `col`) in `src` and the size of `dst`."""

    dst = Out(Tile, doc="receives the window; its valid region is the window's size")
    src = In(Tile, doc="the tile to extract from")
    row = In(Index, 0, cpp="indexRow", doc="first row of the window")
    col = In(Index, 0, cpp="indexCol", doc="first column of the window")
    relu = Attr(ReluPreMode, ReluPreMode.NO_RELU, key="reluPreMode")
    mode = Attr(AccToVecMode, None, key="accToVecMode", doc=INTO_VEC)
    elided = {"dst": Like(src, src.valid.rows - row, src.valid.cols - col)}


class TExtract(Extract, uses=(FIXPIPE,), asm=Asm(words=(("quant", LISTED_LAST),))):
    """Copy the window of `src` that starts at (`row`, `col`) into `dst`.

    dst[i, j] = src[row + i, col + j] for every (i, j) in dst's valid region. An accumulator source
    passes the fix-pipe: it may narrow, `quant` is the one quantisation parameter of all columns,
    `relu` clears negative values; without `quant` NaN and -0 too.
    """

    dst, src = Extract.dst, Extract.src
    quant = In(Scalar, None, scalar="u64", cpp="preQuantScalar", doc=PARAMETER_DOC)
    row, col = Extract.row, Extract.col
    relu, mode = Extract.relu, Extract.mode
    moved_types = staticmethod(as_moved_windows)
    example = {"src": L1.replace("64x64", "64x256"), "row": 0, "col": 64, "dst": L0A}
    straight = dst.slayout == src.slayout
    gemv = (src.rows == 1) & (src.blayout == BLayout.ROW_MAJOR)
    cube_source = named("layout", src.layout.isin(ZN, NZ), help="store the source as zn or nz")
    transposing = whole_blocks(row, col, dst, src)
    to_left = (
        when(~gemv, cube_source),
        of_left(dst),
        when(
            straight & ~gemv,
            by(
                COMPILED,
                both(src.rows % 16 == 0, src.cols % src.c0 == 0),
                both(dst.rows % 16 == 0, dst.cols % dst.c0 == 0),
            ),
            by(BOARDS, on_boxes(row, col, src)),
        ),
        when(~straight & ~gemv, transposing),
        when(
            gemv,
            both(src.cols * src.size % 512 == 0, dst.cols * dst.size % 512 == 0),
            named("offset-misaligned", col * src.size % 512 == 0, help="use whole 512-byte lines"),
        ),
    )
    to_right = (
        cube_source,
        dst.layout == ZN,
        when(
            straight,
            both(src.rows % src.c0 == 0, src.cols % 16 == 0),
            both(dst.rows % dst.c0 == 0, dst.cols % 16 == 0),
            by(BOARDS, named("offset-misaligned", row % src.c0 == 0, col % 16 == 0, help=BOXES)),
        ),
        when(~straight, transposing),
    )
    between_vec = (
        both(dst.layout.isin(ND, NZ), dst.layout == src.layout),
        on(A2A3, dst.dtype.isin(*WINDOW_A2A3)),
        on(A5, dst.dtype.isin(*WINDOW_A5)),
        between_vec_a2a3(row, col, dst, src, dst.valid.rows * dst.valid.cols != 1),
        on(
            A5,
            when(dst.layout == ND, dst.rows <= src.rows, dst.cols <= src.cols),
            when(
                both(dst.layout == ND, dst.dtype.isin(*FP4)),
                both(dst.cols % 64 == 0, src.cols % 64 == 0, dst.valid.cols % 64 == 0),
                named("offset-misaligned", col % 64 == 0, help=LINES),
            ),
        ),
    )
    first = named("offset-misaligned", both(row == 0, col == 0), help=NO_HEADER)
    into_l0 = at(KIRIN9030, (A5,), dst.dtype.isin(i8, u8, i16, u16, i32, f16))
    paths = (
        path(MAT, LEFT, MTE1, to_left, into_l0),
        path(MAT, RIGHT, MTE1, to_right, into_l0),
        path(MAT, SCALE_LEFT, MTE1, src.layout == ZZ, dst.layout == ZZ, on=A5),
        path(MAT, SCALE_RIGHT, MTE1, src.layout == NN, dst.layout == NN, on=A5),
        path(MAT, SCALING, FIX, cube_source, by(BOARDS, first), on=A5),
        path(
            *(VEC, MAT, MTE3, both(src.layout.isin(ND, NZ), dst.layout.isin(ND, NZ))),
            dst.dtype.isin(*WINDOW_A5),
            on=A5,
            event=FIX,  # dispute X122
        ),
        path(VEC, VEC, V, between_vec),
        *window_from_acc(dst, src, mode),
    )
    rules = (
        inside(row, col, dst, src),
        when(both(dst.loc != VEC, src.loc != ACC), inside_static(row, col, dst, src)),
        *out_of_static(row, col, dst, src),
        on(A2A3, when(src.loc == MAT, src.dtype.isin(*CUBE_A2A3))),
        on(A5, when(src.loc == MAT, src.dtype.isin(*CUBE_A5))),
        casting(dst, src, quant.given),
        fix_pipe(dst, src, relu, mode, quant.given, clearing=(ACC, MAT)),
    )
    recorded = {"plain": {}, "relu": {}, "scalar": {"quant": "pre_quant_scalar"}}
    disputes = (
        *("C3", "C6", "C7", "C8", "C9", "C10", "C11", "C28"),
        *("C34", "C44", "C45", "C46", "C47", "C51", "C54", "C55", "C58", "C62", "D28", "X122"),
    )

    def run(dst, src, quant, row, col, relu, fixpipe):
        rows, cols = dst.valid
        x = src[row : row + rows, col : col + cols]
        dst[:rows, :cols] = narrowed(x, dst.dtype, quant, relu, fixpipe)


class TExtractFp(
    Extract,
    uses=(FIXPIPE,),
    name="textract_fp",
    asm=Asm(name="textract.fp", since=(("v0.57", "textract"),), words=FP),
    recorded_op="textract",
):
    """Copy a window of the accumulator through the fix-pipe, one parameter for each source column.

    dst[i, j] = convert(src[row + i, col + j]; fp[0, col + j]): `col` indexes both the source and
    `fp`. The suffix means fix pipe.
    """

    specials = NAN_NARROWED
    example = {"src": L0C_64, "fp": PARAMETERS, "row": 0, "col": 16, "dst": L1_I8}
    dst, src = Extract.dst, Extract.src
    fp = In(Tile, loc=SCALING, doc=PARAMETERS_DOC)
    row, col = Extract.row, Extract.col
    relu, mode = Extract.relu, Extract.mode
    paths = window_from_acc(dst, src, mode)
    rules = (
        inside(row, col, dst, src),
        when(both(dst.loc != VEC, src.loc != ACC), inside_static(row, col, dst, src)),
        *out_of_static(row, col, dst, src),
        parameters(fp),
        named("window-out-of-bounds", col + dst.valid.cols <= fp.valid.cols, help=BY_COLUMN),
        on(HARDWARE, named("offset-misaligned", col % 16 == 0, help=GRANULES)),
        quantising(dst, src),
        quantising_modes(dst, src, mode),
    )
    recorded = {"fp": {}}
    disputes = ("C2", "C4", "C23", "C42", "C49", "C55", "C58", "D28")

    def run(dst, src, fp, row, col, relu, fixpipe):
        rows, cols = dst.valid
        x, params = src[row : row + rows, col : col + cols], fp[0, col : col + cols]
        dst[:rows, :cols] = narrowed(x, dst.dtype, params, relu, fixpipe, by_column=True)


class TExtractPair(Instr, name="textract", form="two destinations", pipe=V, specials=NAN_NARROWED):
    """Copy two windows of one row-major vector tile into two NZ tiles."""

    example = {
        **{"dst0": VEC_NZ, "dst1": VEC_NZ, "src": WIDE},
        **{"row0": 0, "col0": 0, "row1": 0, "col1": 32},
    }

    dst0 = Out(Tile, loc=VEC, doc="receives the window at (row0, col0)")
    dst1 = Out(Tile, loc=VEC, doc="receives the window at (row1, col1)")
    src = In(Tile, loc=VEC, doc="the tile to extract from")
    row0 = In(Index, cpp="indexRow0")
    col0 = In(Index, cpp="indexCol0")
    row1 = In(Index, cpp="indexRow1")
    col1 = In(Index, cpp="indexCol1")
    asm = Asm(brackets=("row0", "col0", "row1", "col1"), cpp_on=CHIPS)
    plain = CompactMode.NULL
    compact = both(dst0.compact == plain, dst1.compact == plain)
    rules = (
        inside(row0, col0, dst0, src),
        inside(row1, col1, dst1, src),
        both(dst0.dtype == src.dtype, dst1.dtype == src.dtype),
        both(src.layout == ND, dst0.layout == NZ, dst1.layout == NZ),
        on(HARDWARE, both(dst0.cols % dst0.c0 == 0, dst1.cols % dst1.c0 == 0)),
        on(A2A3, src.dtype.isin(*CUBE_A2A3, i32)),
        on(A2A3, named("layout", compact, help="no NZ+1")),
        on(A5, src.dtype.isin(*WINDOW_A5)),
    )

    def run(dst0, dst1, src, row0, col0, row1, col1):
        (rows, cols), (height, width) = dst0.valid, dst1.valid
        first = src[row0 : row0 + rows, col0 : col0 + cols]
        second = src[row1 : row1 + height, col1 : col1 + width]
        dst0[:rows, :cols] = first
        dst1[:height, :width] = second


def rounded(count: int, block: int) -> int:
    """Return a count rounded up to whole blocks."""
    return -(-count // block) * block


class TExtractConv(Instr, name="textract", form="convolution weights", pipe=MTE1):
    """Copy a window of the K x N weight matrix of a FRACTAL_Z tile into a Right tile.

    Whole blocks move: the extents are rounded up to c0 rows and 16 columns.
    """

    specials = NAN_MOVES
    dst = Out(Tile, loc=RIGHT, doc="receives the window")
    src = In(Conv, doc="weights in FRACTAL_Z or FRACTAL_Z_3D layout")
    row = In(Index, 0, cpp="indexRow", doc="first k of the window")
    col = In(Index, 0, cpp="indexCol", doc="first n of the window")
    asm = Asm(brackets=("row", "col"), also=("TMOV(dst, src)",))

    example = {
        "dst": L0B.replace("64x64", "32x32"),
        "src": "!pto.conv_tile<fractal_z, 4x3x16x16xf16>",
        "row": 16,
        "col": 0,
    }
    fits = (row + dst.valid.rows <= src.matrix.rows, col + dst.valid.cols <= src.matrix.cols)
    rules = (
        src.layout.isin(*FRACTALS),
        named("element-type", dst.dtype.size == src.dtype.size),
        dst.layout == ZN,
        when(src.rank == 4, named("shape", both(src.inner.rows == 16, src.inner.cols == src.c0))),
        named("window-out-of-bounds", row >= 0, col >= 0, help="offsets are at least 0"),
        named("window-out-of-bounds", *fits, help="move the window or make it smaller"),
        on(HARDWARE, named("offset-misaligned", row % src.c0 == 0, col % 16 == 0, help=BOXES)),
    )

    def run(dst, src, row, col):
        rows = least(rounded(dst.valid.rows, src.c0), least(dst.rows, src.rows - row))
        cols = least(rounded(dst.valid.cols, 16), least(dst.cols, src.cols - col))
        window = src[row : row + rows, col : col + cols]
        dst[:rows, :cols] = window.bitcast(dst.dtype)
