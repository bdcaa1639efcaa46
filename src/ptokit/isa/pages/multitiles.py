"""Multi-tiles: several tiles of one type that a program uses in turn."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.allocation import Allocation
from ptokit.isa.pages.windows import FP4, FP8

PAIR = f"!pto.multi_tile_buf<{VEC_F32}, count=2>"
PLANNED = "the assembler writes this itself: say addr = %a, or let it place them"
NOT_YET = "the assembler has no multi-tiles of fp8 and fp4"
IN_TURN = f"""\
%one = arith.constant 1 : index
%mb = pto.alloc_multi_tile : {PAIR}
%t = pto.multi_tile_get %mb[%one] : {PAIR} -> {VEC_F32}"""


class AllocMultiTile(Allocation, name="alloc_multi_tile"):
    """New tiles of one type that do not overlap: their content is undefined.

    They lie one after another from `addr` on, each aligned to 32 bytes. `valid_row` and `valid_col`
    apply to all of them.
    """

    asm = Asm(
        cpp_text="{type} {result}; for (auto &tile : {result}) "
        "tile = std::decay_t<decltype(tile)>{{[{valid_row}, ]{valid_col}}};"
        "[ for (int i = 0; i < {result}.size(); ++i) TASSIGN({result}.at(i), {addr} + "
        "i * {result}.at(i).Numel * sizeof(*{result}.at(i).data()));]"
    )
    result = Result(MultiTile)
    planned = Attr(tuple, None, key="pto.multi_buffer_addrs", cpp=False)
    example = IN_TURN
    rules = (
        *Allocation.rules,
        on(HARDWARE, named("attribute", ~planned.given, help=PLANNED)),
        named("operand-value", both(result.count >= 2, result.count <= 16), help="2 to 16 tiles"),
        named("tile-shape", result.compact != CompactMode.ROW_PLUS_ONE),
        on(HARDWARE, named("element-type", ~result.dtype.isin(*FP8, *FP4), help=NOT_YET)),
    )


class MultiTileGet(Instr, name="multi_tile_get", pipe=S):
    """Tile number `index` of a multi-tile: a handle, nothing is copied."""

    asm = Asm(
        shape="element",
        order=("src", "index"),
        brackets=("index",),
        cpp_text="auto &{dst} = {src}.at({index});",
    )
    dst = Result(Tile)
    src = In(MultiTile)
    index = In(Index, doc="which tile, counted from 0")
    example = IN_TURN
    rules = (
        named("operand-value", both(index >= 0, index < src.count), help="the index is at least 0"),
        named("location", dst.loc == src.loc),
        named("element-type", dst.dtype == src.dtype),
        named("layout", both(dst.layout == src.layout, dst.fractal == src.fractal)),
        named("shape", both(dst.rows == src.rows, dst.cols == src.cols), help="use one type"),
    )

    def type_of(src):
        return src.slot

    def run(src, dst, index):
        return src.member(dst, index)
