"""TPACK: keep the low bits of each element."""

from ptokit.isa.lang.page import *

UNSIGNED = {1: u8, 2: u16, 4: u32}


class TPack(Instr, pipe=V, asm=Asm(cpp_on=NOWHERE), targets=(CPU, A5), disputes=("C27",)):
    """dst[i, j] = the low bits of src[i, j]: 4 bytes to 2 or 1, 2 bytes to 1.

    High bits are cut off; no value is rounded or saturated.
    """

    specials = "The low bits stay: what they mean as a float has nothing to do with what was there."
    dst = Out(Tile, doc="receives the low bits")
    src = In(Tile, doc="the wider elements")
    example = {"src": VEC_I32, "dst": "!pto.tile_buf<vec, 16x32xi16>"}
    rules = (
        named(
            "element-type",
            either(both(src.size == 4, dst.size.isin(1, 2)), both(src.size == 2, dst.size == 1)),
            help="pack 4 bytes to 2 or 1, or 2 bytes to 1",
        ),
        named("shape", dst.valid.rows == src.valid.rows, dst.valid.cols == src.valid.cols),
        on(
            HARDWARE, both(dst.loc == VEC, src.loc == VEC), both(dst.layout == ND, src.layout == ND)
        ),
    )

    def run(dst, src):
        bits = src[dst.valid].bitcast(UNSIGNED[src.dtype.size])
        dst[dst.valid] = bits.cast(UNSIGNED[dst.dtype.size]).bitcast(dst.dtype)
