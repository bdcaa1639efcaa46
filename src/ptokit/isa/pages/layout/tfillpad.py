"""TFILLPAD and its two variants: fill the elements outside the valid region."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.windows import on_a2a3
from ptokit.values.pads import pad_bits

SAY_PAD = "add a pad value to the type of dst"


class FillPad(Instr, abstract=True, uses=(TARGET,), pipe={VEC: V, MAT: MTE2}, specials=NAN_MOVES):
    """dst = src where src is valid, dst's pad value in all the rest of dst's declared shape.

    The pad is part of dst's type. Valid regions do not change.
    """

    dst = Out(Tile, doc="the tile to fill, all of it; its type has the pad value")
    src = In(Tile, doc="the data; its valid region is what stays")
    written_over = ((dst, src),)
    keeps = (src, dst, dst.loc == MAT)  # chips write the pad alone
    example = {"src": PARTLY, "dst": VEC_F32.replace(">", ", pad=1>")}
    nulls = dst.pad.isin(PadValue.ZERO, PadValue.NULL)
    of_zeros = named("attribute", nulls, help="mat tiles fill with zero")
    alike = both(src.layout == dst.layout, src.rows == dst.rows, src.cols == dst.cols)
    one_type = "C++ fills mat tiles of one type only, pad too"
    in_place = named("shape", both(src.loc == MAT, alike), help=one_type)
    same_pad = named("attribute", src.pad == dst.pad, help=one_type)
    filled = (
        when(dst.loc != MAT, named("attribute", dst.pad != PadValue.NULL, help=SAY_PAD)),
        named("element-type", dst.size == src.size, dst.size.isin(1, 2, 4)),
        on_a2a3(src, dst),
    )
    in_l1 = (
        on(HARDWARE, dst.loc.isin(VEC, MAT), when(dst.loc == MAT, of_zeros, dst.layout == NZ)),
        on(HARDWARE, when(dst.loc == MAT, in_place, same_pad)),
    )
    equal = (filled, both(dst.rows == src.rows, dst.cols == src.cols))
    rows_only = on(HARDWARE, named("location", dst.loc == VEC, help="mat has no mode"))
    grown = "C++ has TFILLPAD_EXPAND for a larger dst, and only in vec"
    larger = (filled, both(dst.rows >= src.rows, dst.cols >= src.cols))
    inferred = (
        larger,
        in_l1,
        when(
            both(src.loc == VEC, dst.rows >= src.rows, dst.cols >= src.cols),
            warns(named("shape", both(dst.rows == src.rows, dst.cols == src.cols), help=grown)),
        ),
    )
    elided = {"dst": Like(src, src.rows, src.cols)}
    disputes = ("C15", "C36", "C48", "D14")

    def run(dst, src, target):
        rows, cols = src.valid
        x = src[:rows, :cols].bitcast(dst.dtype)
        pad = dst.constant(pad_bits(dst.pad, dst.dtype, target.finite_pads))
        dst[:rows, :cols] = x
        dst[:rows, cols:] = pad
        dst[rows:, :] = pad


class TFillPad(
    FillPad,
    inner_flags=(A2A3,),
    rules=FillPad.inferred,
    recorded={"normal": {}},
    asm=Asm(selected=("mode", "normal"), also=("TFILLPAD<TFillPadMode::Normal>(dst, src)",)),
):
    """dst = src where src is valid, the pad value elsewhere; in vec dst may be larger."""


class TFillPadInplace(
    FillPad,
    inner_flags=(A2A3,),
    name="tfillpad_inplace",
    rules=(FillPad.equal, FillPad.rows_only),
    recorded={"inplace": {}},
    recorded_op="tfillpad",
    asm=Asm(
        since=(("v0.57", "tfillpad"),),
        selected=("mode", "inplace"),
        also=("TFILLPAD<TFillPadMode::InPlace>(dst, src)",),
    ),
):
    """tfillpad where dst and src share their storage."""


class TFillPadExpand(
    FillPad,
    inner_flags=(A2A3,),
    name="tfillpad_expand",
    rules=(FillPad.larger, FillPad.rows_only),
    recorded={"expand": {}},
    recorded_op="tfillpad",
    asm=Asm(
        since=(("v0.57", "tfillpad"),),
        selected=("mode", "expand"),
        also=("TFILLPAD<TFillPadMode::Expand>(dst, src)",),
    ),
    example={"src": PARTLY, "dst": "!pto.tile_buf<vec, 32x64xf32, pad=3>"},
):
    """tfillpad into a dst whose declared shape may be larger."""
