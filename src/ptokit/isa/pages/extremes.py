"""Reductions: the positions of extremes in rows and columns."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.reduction import *

INDICES = (i32, u32)
ANY_INDEX = (i16, u16, i32, u32)
ARG_A5 = (i16, u16, i32, u32, f16, bf16, f32)
ARG_COL_A2A3 = (f16, f32, u16, u32)
ARG_COL_A5 = (i8, u8, *ARG_A5)
LINES = "a line of numbers, one of elements, and of 2 bytes without values one of indices"
NO_INDEX = (1 << 31) - 1


def extremes(src: Cells, word: str, axis: int) -> tuple[Array, Array]:
    """Return the extremes of columns (axis 0) or rows (1), and the first positions of each.

    The position is 0 if no element is equal: after a NaN in front.
    """
    x = src[src.valid]
    best, place = x.fold(word, axis), src.iota(*x.shape)[axis].cast(i32)
    found = x.equals(best).where(place, NO_INDEX).fold("min", axis)
    return best, found.equals(NO_INDEX).where(0, found)


def arg_types(dst: Operand, src: Operand, a2a3: DTypes, a5: DTypes) -> Rules:
    """Require element types of an extreme's index, and of the tile that is searched."""
    index = named("element-type", dst.dtype.isin(*INDICES), help="the index is i32 or u32")
    return (index, elements(src, cpu=NUMBERS, a2a3=a2a3, a5=a5))


def least_columns(src: Operand) -> Expr:
    """Return the columns of A2/A3's scratch for extremes: lines of values and of indices."""
    repeats = (src.valid.cols * src.size + 255) // 256
    line = Const(32) // src.size
    return ((repeats * 2 + line - 1) // line + (repeats + line - 1) // line) * line


def working(tmp: Operand, src: Operand, parts: Expr) -> Rules:
    """Require `parts` lines of A2/A3's scratch, as wide as src or as a register of 256 bytes."""
    line = (src.valid.cols * src.size + 31) // 32 * 32
    room = either(tmp.nbytes >= parts * 256, tmp.nbytes >= parts * line)
    return on(A2A3, when(tmp.given, named("shape", room, help=LINES)))


def of_extremes(tmp: Operand, src: Operand) -> Rules:
    """Require A2/A3's scratch for an extreme's index: src's region, or large enough."""
    like_src = both(tmp.valid.rows == src.valid.rows, tmp.valid.cols == src.valid.cols)
    enough = tmp.valid.cols >= least_columns(src)
    return on(
        A2A3,
        when(tmp.given, named("shape", either(like_src, enough), help="2 values per register")),
    )


def of_extremes_of_rows(tmp: Operand, src: Operand) -> Rules:
    """Require A2/A3's scratch along rows, where rows of one register need two columns."""
    like_src = both(tmp.valid.rows == src.valid.rows, tmp.valid.cols == src.valid.cols)
    column = both(tmp.layout == DN, tmp.cols == 1, tmp.valid.rows >= src.valid.rows * 2)
    two = both(tmp.layout == ND, tmp.valid.rows >= src.valid.rows, tmp.valid.cols >= 2)
    lines = both(tmp.rows == src.rows, tmp.valid.cols >= least_columns(src))
    short = src.valid.cols * src.size <= 256
    return on(
        A2A3,
        when(
            tmp.given,
            when(short, named("shape", either(like_src, column, two), help="two for each row")),
            when(~short, named("shape", either(like_src, lines), help="2 values per register")),
        ),
    )


def found_in_rows(tmp: Operand, src: Operand) -> Rules:
    """Require A2/A3's scratch for value and index: two elements per row, or lines per row."""
    short = src.valid.cols * src.size <= 256
    rows = either(tmp.rows >= src.valid.rows, tmp.rows >= src.rows)
    lines = both(rows, tmp.cols >= least_columns(src))
    pairs = tmp.nbytes >= src.valid.rows * src.size * 2
    two = when(short, named("shape", pairs, help="two for each row"))
    several = when(~short, named("shape", lines, help="2 values per register"))
    return on(A2A3, when(tmp.given, two, several))


def not_empty(src: Operand) -> Rules:
    """Require an element to search: types do not show it, and idle vector cores may have none."""
    some = named("shape", src.filled == Const(True), help="the searched extent is at least 1")
    return on(HARDWARE, by(ASSEMBLER, some))


class RowArg(RowReduce, abstract=True, specials=NAN_IN_FRONT, disputes=("E2", "E39")):
    """dst[i, 0] = the column of the extreme of row i."""

    word: ClassVar[str]
    dst, src, tmp = RowReduce.dst, RowReduce.src, RowReduce.tmp
    example = {"tmp": VEC_F32, "dst": COUNT}
    elided = {"dst": Like(src, src.valid.rows, Const(1), dtype=lambda _: i32)}
    rules = (
        arg_types(dst, src, VEC_A2A3, ARG_A5),
        *(one_of_each_row(dst), of_rows(), not_empty(src)),
        of_extremes_of_rows(tmp, src),
    )
    recorded = {"idx": {}}

    def run(cls, dst, src):
        _, column = extremes(src, cls.word, axis=1)
        dst[first_column(src)] = column.cast(dst.dtype)


class TRowArgMax(RowArg, word="max", form="index"):
    """dst[i, 0] = the column of the largest element of row i, the first of equal ones."""


class TRowArgMin(RowArg, word="min", form="index"):
    """dst[i, 0] = the column of the smallest element of row i, the first of equal ones."""


def value_types(val: Operand, idx: Operand, src: Operand, a2a3: DTypes, a5: DTypes) -> Rules:
    """Require element types of an extreme's value and index; chips are stricter."""
    return (
        one_type(val, src),
        named("element-type", idx.dtype.isin(*ANY_INDEX), help="the index is an integer"),
        elements(src, cpu=NUMBERS, a2a3=a2a3, a5=a5),
        on(HARDWARE, when(src.size == 4, named("element-type", idx.size == 4))),
    )


class RowArgValue(
    Instr,
    inner_flags=(A2A3,),
    abstract=True,
    pipe=V,
    specials=NAN_IN_FRONT,
    recorded={"val_idx": {}},
):
    """dst_val[i, 0] = the extreme of row i, dst_idx[i, 0] = its column."""

    word: ClassVar[str]
    dst_val = Out(Tile, cpp="dstVal", doc="one valid column: the extreme of each row")
    dst_idx = Out(Tile, cpp="dstIdx", doc="one valid column: where it is")
    src, tmp = RowReduce.src, RowReduce.tmp
    example = {"tmp": VEC_F32, "dst_val": OF_A_ROW, "dst_idx": COUNT}
    elided = {
        "dst_val": Like(src, src.valid.rows, Const(1)),
        "dst_idx": Like(src, src.valid.rows, Const(1), dtype=lambda _: i32),
    }
    rules = (
        value_types(dst_val, dst_idx, src, VEC_A2A3, ARG_A5),
        *(one_of_each_row(dst_val), one_of_each_row(dst_idx), of_rows()),
        found_in_rows(tmp, src),
    )
    disputes = ("E2", "E20", "E39")

    def run(cls, dst_val, dst_idx, src):
        best, column = extremes(src, cls.word, axis=1)
        dst_val[first_column(src)] = best
        dst_idx[first_column(src)] = column.cast(dst_idx.dtype)


class TRowArgMaxValue(RowArgValue, name="trowargmax", word="max", form="value and index"):
    """dst_val[i, 0] = the largest element of row i, dst_idx[i, 0] = its column, the first."""


class TRowArgMinValue(RowArgValue, name="trowargmin", word="min", form="value and index"):
    """dst_val[i, 0] = the smallest element of row i, dst_idx[i, 0] = its column, the first."""


def of_columns(src: Operand, tmp: Operand, *outs: Operand) -> Rules:
    """Return the rules for the tiles of an extreme's index along columns."""
    return (
        tuple(one_of_each_column(dst, src) for dst in outs),
        named("layout", both(*(dst.layout == ND for dst in outs)), help="store dst row-major"),
        on(HARDWARE, named("layout", src.layout.isin(ND, DN))),
        on(HARDWARE, when(tmp.given, in_vec(tmp))),
        on(A2A3, when(tmp.given, one_type(src, tmp))),
        *(of_extremes(tmp, src), not_empty(src)),
        named_scratch(tmp, (A2A3,)),
    )


class ColArg(Instr, abstract=True, pipe=V, specials=NAN_IN_FRONT, disputes=("E2", "E39")):
    """dst[0, j] = the row of the extreme of column j."""

    word: ClassVar[str]
    dst = Out(Tile, doc="one valid row: an index for each column")
    src = In(Tile, doc="the columns to look through")
    tmp = scratch_of_a2a3()
    example = {"tmp": VEC_F32, "dst": OF_A_COLUMN.replace("f32", "i32")}
    elided = {"dst": Like(src, Const(1), src.valid.cols, dtype=lambda _: i32)}
    rules = (
        arg_types(dst, src, ARG_COL_A2A3, ARG_COL_A5),
        of_columns(src, tmp, dst),
        working(tmp, src, Const(4) - src.size // 2),
    )
    recorded = {"idx": {}}

    def run(cls, dst, src):
        _, row = extremes(src, cls.word, axis=0)
        dst[first_row(src)] = row.cast(dst.dtype)


class TColArgMax(ColArg, word="max", form="index"):
    """dst[0, j] = the row of the largest element of column j, the first of equal ones."""


class TColArgMin(ColArg, word="min", form="index"):
    """dst[0, j] = the row of the smallest element of column j, the first of equal ones."""


class ColArgValue(
    Instr, abstract=True, pipe=V, specials=NAN_IN_FRONT, disputes=("E2", "E20", "E39")
):
    """dst_val[0, j] = the extreme of column j, dst_idx[0, j] = its row."""

    word: ClassVar[str]
    dst_val = Out(Tile, cpp="dstVal", doc="one valid row: the extreme of each column")
    dst_idx = Out(Tile, cpp="dstIdx", doc="one valid row: where it is")
    src, tmp = ColArg.src, ColArg.tmp
    example = {"tmp": VEC_F32, "dst_val": OF_A_COLUMN, "dst_idx": OF_A_COLUMN.replace("f32", "i32")}
    elided = {
        "dst_val": Like(src, Const(1), src.valid.cols),
        "dst_idx": Like(src, Const(1), src.valid.cols, dtype=lambda _: i32),
    }
    rules = (
        value_types(dst_val, dst_idx, src, ARG_COL_A2A3, ARG_A5),
        on(HARDWARE, when(src.size == 2, named("element-type", dst_idx.size == 2))),
        of_columns(src, tmp, dst_val, dst_idx),
        working(tmp, src, Const(2)),
    )
    recorded = {"val_idx": {}}

    def run(cls, dst_val, dst_idx, src):
        best, row = extremes(src, cls.word, axis=0)
        dst_val[first_row(src)] = best
        dst_idx[first_row(src)] = row.cast(dst_idx.dtype)


class TColArgMaxValue(ColArgValue, name="tcolargmax", word="max", form="value and index"):
    """dst_val[0, j] = the largest element of column j, dst_idx[0, j] = its row, the first."""


class TColArgMinValue(ColArgValue, name="tcolargmin", word="min", form="value and index"):
    """dst_val[0, j] = the smallest element of column j, dst_idx[0, j] = its row, the first."""
