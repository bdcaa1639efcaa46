"""TIMG2COL: unroll the patches of a feature map into the rows of a matrix."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.registers import A_MANUAL, FmatrixMode, fits_registers, unrolling

FIELDS = "hardware keeps a position in 16 bits"
NARROW = "TIMG2COL takes no 8-bit floats"


class TImg2Col(Instr, pipe=MTE1, specials=NAN_MOVES, disputes=("C38",), recorded={"nc1hwc0": {}}):
    """Row m of `dst` is the patch of `src` under the filter's m-th position.

    Positions count across, then down, then over the images. Along a row the channel within a block
    is innermost, then the filter's column and row, then the channel block. Positions and channels
    outside the map have the map's pad value. `pos_m` and `pos_k` select the part that dst holds.
    Hardware takes the map's parameters from a bank of registers. A manual mode requires SETFMATRIX,
    SET_IMG2COL_PADDING and SET_IMG2COL_RPT before, for the same map; an auto mode sets the
    registers.
    """

    dst = Out(Tile, loc=LEFT, doc="receives rows pos_m.. and columns pos_k.. of the matrix")
    src = In(Conv, doc="the feature map, with its filter, stride, dilation and padding")
    pos_m = In(Index, 0, cpp="posM", doc="first row of the matrix")
    pos_k = In(Index, 0, cpp="posK", doc="first column of the matrix")
    mode = Attr(FmatrixMode, A_MANUAL, key="fmatrixMode", in_values=FmatrixMode.A_AUTO)

    example = {
        "src": "!pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>",
        "dst": L0A.replace("64x64", "16x16"),
        "mode": FmatrixMode.A_AUTO,
    }
    rules = (
        fits_registers(src),
        named("shape", src.extents.c0 == src.c0),
        dst.dtype == src.dtype,
        on(HARDWARE, src.loc == MAT),
        on(CPU, named("element-type", ~dst.dtype.isin(f8e4m3, f8e5m2, hif8), help=NARROW)),
        named("operand-value", both(pos_m >= 0, pos_k >= 0), help="positions are at least 0"),
        on(HARDWARE, named("operand-value", both(pos_m < 1 << 16, pos_k < 1 << 16), help=FIELDS)),
        named("shape", both(src.steps.rows >= 1, src.steps.cols >= 1), help="the filter must fit"),
        of_left(dst),
        on(A2A3, dst.dtype.isin(i8, f16, bf16, f32)),
        on(A5, dst.dtype.isin(i8, u8, i16, u16, i32, u32, f16, bf16, f32)),
    )

    def needs(src, mode):
        """Return the registers that hardware reads, with their required values."""
        return unrolling(src, mode) if mode.manual else {}

    def run(dst, src, pos_m, pos_k):
        rows, cols = dst.valid
        row, col = dst.iota(rows, cols)
        across, down, image = digits(row + pos_m, src.steps.cols, src.steps.rows)
        inner, x, y, block = digits(col + pos_k, src.c0, src.filter[1], src.filter[0])
        left, _, top, _ = src.padding
        h = down * src.stride[0] + y * src.dilation[0] - top
        w = across * src.stride[1] + x * src.dilation[1] - left
        inside = (h >= 0) & (h < src.height) & (w >= 0) & (w < src.width)
        inside = inside & (image < src.images) & (block < src.channels)
        pixel = ((image * src.channels + block) * src.height + h) * src.width + w
        found = src.flat().take(pixel * src.c0 + inner, where=inside)
        dst[:rows, :cols] = inside.where(found, src.pad_value)
