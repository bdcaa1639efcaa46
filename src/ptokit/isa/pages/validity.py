"""Tile handles: valid regions, read and changed, and other types for the same bytes."""

from ptokit.isa.lang.page import *

OPEN = "!pto.tile_buf<vec, 16x32xf32, valid=?x?>"
RESIZED = f"""\
%r = arith.constant 4 : index
%c = arith.constant 8 : index
%t = pto.alloc_tile valid_row = %c valid_col = %r : {OPEN}
pto.set_validshape %t, %r, %c : {OPEN}
%rows, %cols = pto.get_validshape %t : {OPEN}"""


class SetValidShape(Instr, name="set_validshape", verb="resize", traits=(HANDLE,), pipe=S):
    """From here on the valid region of this handle is `rows` x `cols`. No element changes.

    Other handles on the same bytes keep theirs. With 0 rows or columns instructions do nothing.
    """

    asm = Asm(typed=("tile",), cpp_text="{tile}.SetValidShape({rows}, {cols});")
    tile = In(Tile)
    rows = In(Index, counts="rows")
    cols = In(Index, counts="cols")
    example = RESIZED
    fewer = "the valid region is the upper left part of the tile"
    rules = (
        named("dynamic-valid", both(tile.dynamic_rows, tile.dynamic_cols), help="write valid=?x?"),
        named("tile-shape", both(rows >= 0, rows <= tile.rows), help=fewer),
        named("tile-shape", both(cols >= 0, cols <= tile.cols), help=fewer),
    )

    def run(tile, rows, cols):
        tile.resize(rows, cols)


class GetValidShape(Instr, name="get_validshape", pipe=S):
    """The rows and columns of the valid region."""

    asm = Asm(
        untyped=True,
        cpp_text="auto {rows} = {src}.GetValidRow(), {cols} = {src}.GetValidCol();",
    )
    rows = Result(Scalar, scalar="index")
    cols = Result(Scalar, scalar="index")
    src = In(Tile)
    example = RESIZED

    def run(src):
        return src.valid.rows, src.valid.cols


class Extent(Instr, abstract=True, pipe=S):
    """An extent of the valid region."""

    result = Result(Scalar, scalar="index")
    src = In(Tile)
    example = f"%t = pto.alloc_tile : {VEC_F32}\n%n = NAME %t : {VEC_F32}"


class TileValidRows(
    Extent, name="tile_valid_rows", asm=Asm(cpp_text="const {type} {result} = {src}.GetValidRow();")
):
    """The rows of the valid region."""

    def run(src):
        return src.valid.rows


class TileValidCols(
    Extent, name="tile_valid_cols", asm=Asm(cpp_text="const {type} {result} = {src}.GetValidCol();")
):
    """The columns of the valid region."""

    def run(src):
        return src.valid.cols


class SameBytes(Instr, abstract=True, traits=(ALIASES,), pipe=S, specials=NAN_MOVES):
    """`dst` becomes another handle on the bytes of `src`, row by row as they lie."""

    asm = Asm(cpp_text="TASSIGN({dst}, (uint64_t){src}.data());")

    dst = Out(Tile, doc="the new handle")
    src = In(Tile, doc="the tile whose bytes it names")
    rules = (
        named("location", dst.loc == src.loc, help="keep the memory of the tile"),
        named("shape", both(dst.rows == src.rows, dst.cols == src.cols), help="keep rows and cols"),
        named("layout", both(dst.layout == src.layout, dst.fractal == src.fractal)),
    )
    elided = {"dst": like(src, whole=True)}

    def run(dst, src):
        dst.alias(src)


class TAlias(SameBytes):
    """`dst` becomes another handle on the bytes of `src`: a write through one changes both."""

    dst, src = SameBytes.dst, SameBytes.src
    rules = (*SameBytes.rules, named("element-type", dst.dtype == src.dtype))


STAYS = "keep the valid region; treshape changes it"


class TileBitcast(SameBytes, name="bitcast"):
    """`dst` becomes a handle on the bytes of `src` with another element type of the same width."""

    dst, src = SameBytes.dst, SameBytes.src
    example = {"dst": VEC_F32.replace("f32", "i32")}
    rules = (
        *SameBytes.rules,
        on(CPU, named("element-type", dst.dtype.bits == src.dtype.bits, help="keep the width")),
        on(
            HARDWARE,
            named("element-type", dst.dtype.bits <= src.dtype.bits, help="use no wider elements"),
            named("element-type", dst.dtype != src.dtype, help="use another element type"),
            when(~src.dynamic_rows, named("shape", dst.valid.rows == src.valid.rows, help=STAYS)),
            when(~src.dynamic_cols, named("shape", dst.valid.cols == src.valid.cols, help=STAYS)),
            named("layout", dst.pad == src.pad, dst.compact == src.compact, help="keep both"),
        ),
    )
