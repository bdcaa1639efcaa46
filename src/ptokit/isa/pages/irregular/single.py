"""TGETVAL, TSETVAL, TPREFETCH, TPRINT: single elements, hints and output."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.windows import ON_A2A3

FILLED = f"""\
%t = pto.alloc_tile : {VEC_F32}
%one = arith.constant 1.5 : f32
pto.texpands ins(%one : f32) outs(%t : {VEC_F32})
%n = arith.constant 3 : index
"""
TITLE = "TPRINT"


WHOLE = "whole bytes: no 4-bit elements"


def element_of(tile: Operand, offset: Operand) -> Rules:
    """Require an offset inside the tile's storage."""
    return (
        named("window-out-of-bounds", offset >= 0, offset < tile.numel, help="stay in bounds"),
        on(HARDWARE, tile.loc == VEC),
    )


class TGetVal(Instr, name="tgetval", traits=(BY_SCALAR, ONE_ELEMENT), pipe=S):
    """result = element `offset` of src's storage, whatever its layout.

    If the result has another type than the tile, it is converted as in C++: NaN becomes 0 in
    integers.
    """

    asm = Asm(shape="tile_element", cpp_text="{type} {result} = {src}.GetValue({offset});")
    example = f"{FILLED}%x = NAME ins(%t, %n : {VEC_F32}, index) outs : f32"
    result = Result(Scalar)
    src = In(Tile, doc="the tile")
    offset = In(Index, doc="which element of its storage")
    kind = TypeOf(result)
    one_type = "on hardware the number has the type of the tile's elements"
    rules = (
        *element_of(src, offset),
        on(CPU, named("element-type", src.dtype.bits >= 8, help=WHOLE)),
        on(HARDWARE, named("element-type", kind.name == src.dtype.name, help=one_type)),
    )
    recorded = {"plain": {"result": "val"}}

    def run(src, offset, result):
        found, to = src.flat()[0, offset], result.element
        same = to.bits == found.dtype.bits and to.is_float == found.dtype.is_float
        return found.bitcast(to) if same else found.cast(to)


class TSetVal(Instr, name="tsetval", pipe=S, specials=NAN_MOVES):
    """Element `offset` of dst's storage, whatever its layout, becomes `val` in its type."""

    asm = Asm(cpp_text="{dst}.SetValue({offset}, {val});")
    dst = Out(Tile, doc="the tile; its other elements stay")
    offset = In(Index, doc="which element of its storage")
    val = In(Scalar, doc="the number")
    example = f"{FILLED}NAME ins(%n, %one : index, f32) outs(%t : {VEC_F32})"
    rules = (
        *element_of(dst, offset),
        named("element-type", dst.dtype.bits >= 8, help=WHOLE),
    )
    recorded = {"plain": {"val": "value_bits"}}

    def run(dst, offset, val):
        dst.flat()[0, offset] = val


class TPrefetch(Instr, pipe=MTE2, specials=NAN_MOVES, disputes=("D16",)):
    """A hint that `src` will be loaded: dst keeps its content, defined or not."""

    dst = Out(Tile, doc="a tile of the size of the transfer")
    src = In(Global, doc="what will be loaded")

    example = in_view(f"""\
%t = pto.alloc_tile : {VEC_F32}
NAME ins(%view : {VIEW_F32}) outs(%t : {VEC_F32})
pto.tload ins(%view : {VIEW_F32}) outs(%t : {VEC_F32})
pto.tstore ins(%t : {VEC_F32}) outs(%view : {VIEW_F32})""")
    rules = (
        named("element-type", dst.dtype.size == src.dtype.size),
        on(A2A3, named("element-type", dst.dtype.isin(*ON_A2A3), src.dtype.isin(*ON_A2A3))),
        on(HARDWARE, named("location", dst.loc.isin(VEC, MAT))),
    )

    def run():
        """Do nothing that a program can observe."""


def print_format() -> Attr:
    return Attr(PrintFormat, PrintFormat.WIDTH8_PRECISION4, key="printFormat")


PRINTED = (i8, u8, i16, u16, i32, u32, f16, f32)
CHIPS_PRINT = "convert it: chips print f16, f32 and integers of at most 32 bits"
ROOM = "acc and mat are printed through tmp, room in global memory"


class TPrint(Instr, uses=(PRINTS,), form="tile", pipe=S, disputes=("X23",), recorded={"vec": {}}):
    """Print the valid region: a line `TPRINT ROWSxCOLS`, and a line for each row.

    Numbers are right-aligned in 8 or 10 places, floats with 4, 2 or 6 decimal places; NaN is nan.
    Elements outside the valid region are not printed.
    """

    verb = "print_tile"
    src = In(Tile, doc="the tile")
    tmp = Scratch(Global, None, doc="room in global memory, for tiles in acc and mat")
    format = print_format()

    rules = (
        on(CPU, named("element-type", src.dtype.bits >= 8, help="whole bytes: no 4-bit elements")),
        named("element-type", tmp.dtype == src.dtype),
        on(HARDWARE, named("element-type", src.dtype.isin(*PRINTED), help=CHIPS_PRINT)),
        on(HARDWARE, src.loc.isin(VEC, ACC, MAT)),
        on(HARDWARE, named("location", either(tmp.given, src.loc == VEC), help=ROOM)),
        on(A5, when(tmp.given, named("location", src.loc != MAT, help="A2/A3 prints mat"))),
    )

    def run(src, format, prints):
        prints.matrix(TITLE, src[src.valid], format)


class TPrintView(Instr, name="tprint", uses=(PRINTS,), form="view", pipe=S, disputes=("X23",)):
    """Print a global tensor view as a matrix."""

    asm = Asm(cpp_on=CHIPS)
    src = In(Global, doc="the view")
    format = print_format()
    example = in_view(f"NAME ins(%view : {VIEW_F32})")
    rules = named("element-type", src.dtype.bits >= 8, help="whole bytes: no 4-bit elements")

    def run(src, format, prints):
        prints.matrix(TITLE, src[: src.rows, : src.cols], format)
