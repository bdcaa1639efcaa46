"""Conversion: TCVT makes the elements of a tile another type (spec 3.25)."""

from __future__ import annotations

from ptokit.isa.formula.rules import A2A3, A5, HARDWARE, both, either, named, on, when
from ptokit.isa.lang.arrays import Cells
from ptokit.isa.lang.asm import Asm
from ptokit.isa.lang.instr import Attr, In, Instr, Out, Scratch
from ptokit.isa.model.dtypes import (
    DTYPES,
    DType,
    bf16,
    f8e4m3,
    f8e5m2,
    f16,
    f32,
    hif8,
    i4,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
)
from ptokit.isa.model.types import Tile
from ptokit.isa.model.words import Rounding, RoundMode, SaturationMode, V
from ptokit.isa.pages.samples import VEC_I32
from ptokit.isa.pages.vectors import in_vec, row_major, same_region
from ptokit.isa.pages.windows import FP4, pairs

# (source, destinations)
A2A3_PAIRS = (
    (f32, (f16, f32, bf16, i16, i32, i64)),
    (f16, (f32, i32, i16, i8, u8, i4)),
    (bf16, (f32, i32)),
    (i16, (f16, f32)),
    (i32, (f32, i16, i64, f16)),
    (i64, (f32, i32)),
    (u8, (f16,)),
    (i8, (f16,)),
    (i4, (f16,)),
)
A5_PAIRS = (
    (f32, (f32, f16, bf16, i16, i32, i64, f8e4m3, f8e5m2, hif8)),
    (f16, (f32, i32, i16, i8, u8, hif8)),
    (bf16, (f32, i32, f16, *FP4)),
    (i16, (u8, f16, f32, u32, i32)),
    (i32, (f32, i16, u16, i64, u8)),
    (i64, (f32, i32)),
    (u8, (f16, u16)),
    (i8, (f16, i16, i32)),
    (u32, (u8, u16, i16)),
    *((t, (f32,)) for t in (f8e4m3, f8e5m2, hif8)),
    *((t, (bf16,)) for t in FP4),
)
# what does not saturate unless asked to
WRAPPING = ((f16, u8), (f16, i8), (f16, i16), (f32, i16), (i64, i32), (i32, i16))


def saturates(source: DType, target: DType, mode: SaturationMode | None) -> bool:
    """Whether values out of range become the nearest in range."""
    return (source, target) not in WRAPPING if mode is None else mode is SaturationMode.ON


class TCvt(Instr, pipe=V):
    """dst[i, j] = src[i, j] in dst's element type, rounded by `rmode`.

    With `sat_mode` on, what is out of range becomes the nearest value in range and NaN becomes 0;
    off, integers keep the low bits (NaN and infinities give 0) and floats become infinite. Without
    it, it is off for f16 to u8, i8 and i16, f32 to i16, i64 to i32 and i32 to i16, else on. f32 to
    f32 rounds to whole numbers.
    """

    dst = Out(Tile, doc="receives the converted elements")
    src = In(Tile, doc="the elements to convert")
    tmp = Scratch(Tile, None, doc="of A2/A3, for f32 to i16 and f16 to i16 and i8 without sat")
    rmode = Attr(RoundMode, RoundMode.RINT)
    sat_mode = Attr(SaturationMode, None)

    asm = Asm(
        attrs_inside=True,
        cpp_text="TCVT({dst}, {src}[, {tmp}], RoundMode::{rmode}[, SaturationMode::{sat_mode}]);",
    )
    example = {"rmode": RoundMode.FLOOR, "dst": VEC_I32}
    rows, cols = dst.valid.rows, dst.valid.cols
    wraps = either(~sat_mode.given, sat_mode == SaturationMode.OFF)
    # the lines of 8 elements that the last columns of up to 255 rows touch
    lines = ((rows - 1) * src.cols // 8 + (cols % 64 + 7) // 8) * 32
    most_lines = (src.cols * 254 // 8 + (cols % 64 + 7) // 8) * 32
    rules = (
        same_region(dst, src),
        in_vec(dst, src),
        row_major(dst, src),
        on(A2A3, pairs(dst, src, *A2A3_PAIRS)),
        on(A5, pairs(dst, src, *A5_PAIRS)),
        on(HARDWARE, when(tmp.given, in_vec(tmp))),
        on(
            A2A3,
            named(
                "shape",
                when(
                    wraps,
                    when(
                        both(src.dtype == f32, dst.dtype == i16),
                        either(tmp.nbytes >= cols // 64 * 256, tmp.nbytes >= 255 * 256),
                        when(cols % 64 != 0, either(tmp.nbytes >= lines, tmp.nbytes >= most_lines)),
                    ),
                    when(
                        both(src.dtype == f16, dst.dtype == i16),
                        either(tmp.nbytes >= (cols + 7) // 8 * 32, tmp.nbytes >= 256),
                    ),
                    when(
                        both(src.dtype == f16, dst.dtype == i8),
                        either(tmp.nbytes >= (cols + 15) // 16 * 32 + 128, tmp.nbytes >= 256),
                    ),
                ),
                help="make tmp larger: it holds lines of 32 bytes",
            ),
        ),
    )
    recorded = {
        f"{a}_{b}": {"rmode": "round_mode", "sat_mode": "saturation"}
        for a in DTYPES
        for b in DTYPES
    }
    disputes = ("E16", "E17", "E22", "E23", "E24")

    @staticmethod
    def run(dst: Cells, src: Cells, rmode: RoundMode, sat_mode: SaturationMode | None) -> None:
        rows, cols = src.valid
        x, how = src[:rows, :cols], Rounding[rmode.name]
        if dst.dtype == f32 and src.dtype == f32:
            y = x.rint(how)
        else:
            y = x.cast(dst.dtype, how, saturates(src.dtype, dst.dtype, sat_mode))
        dst[:rows, :cols] = y
