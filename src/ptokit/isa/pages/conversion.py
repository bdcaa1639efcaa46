"""Conversion: TCVT converts the elements of a tile to another type."""

from typing import TypeAlias

from ptokit.isa.lang.page import *
from ptokit.isa.pages.windows import FP4, FP8
from ptokit.values.formats import keeps_nan

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
Pairs: TypeAlias = "tuple[tuple[DType, tuple[DType, ...]], ...]"
SMALL = (*FP8, *FP4)
LARGER = "make tmp larger: it holds lines of 32 bytes"
# pairs that do not saturate by default
UNSATURATED = (
    *((f16, u8), (f16, i8), (f16, i16), (f32, i16), (i64, i32), (i32, i16)),
    *((f32, hif8), (f16, hif8)),
)


BY_WORDS = ((f16, i8), (f16, i16), (f32, i16))
DECLARED = "declare as many rows and columns of dst as of src"
PADDED = "C++ takes lines padded on their own, the assembler wants equal ones"


def among(table: Pairs, small: bool) -> Pairs:
    """Return the pairs that have a small float, or that have none."""
    found = tuple(
        (source, tuple(t for t in types if (source in SMALL or t in SMALL) is small))
        for source, types in table
    )
    return tuple((source, types) for source, types in found if types)


def whole_lines(tile: Operand) -> Expr:
    """Return the valid columns rounded up to whole lines of 32 bytes."""
    return (tile.valid.cols + tile.c0 - 1) // tile.c0 * tile.c0


def saturates(source: DType, target: DType, mode: SaturationMode | None) -> bool:
    """Return whether values out of range become the nearest value in range."""
    return (source, target) not in UNSATURATED if mode is None else mode is SaturationMode.ON


def table() -> Iterator[str]:
    """Yield the pairs that saturate without `sat_mode`, by target and source."""
    yield "Without sat_mode (cpu: as a2a3 and a5, pairs that they lack saturate)"
    for target, listed in ((A2A3, A2A3_PAIRS), (A5, A5_PAIRS)):
        for source, types in listed:
            by_policy = dict[str, list[str]]()
            for dtype in types:
                on = saturates(source, dtype, None)
                nan = dtype.is_float and keeps_nan(source, dtype, on)
                how = f"{'saturates' if on else 'does not'}, NaN {'stays' if nan else 'is 0'}"
                how = how if source.nan else how.partition(",")[0]
                by_policy.setdefault(how, []).append(dtype.name)
            parts = (f"{how}: {' '.join(names)}" for how, names in by_policy.items())
            yield f"{target:<6}{source.name:<9}{'; '.join(parts)}"


class TCvt(
    Instr,
    verb="cast",
    pipe=V,
    specials="\n".join(table()),
    uses=(TARGET,),
    disputes=("C65", "E16", "E17", "E22", "E23", "E24", "E58", "X117"),
):
    """dst[i, j] = src[i, j] in dst's element type, rounded by `rmode`.

    With `sat_mode` on, a value out of range becomes the nearest value in range, and NaN becomes 0
    in integers and in floats of a smaller range than src's; in other floats NaN and infinities stay
    (f16 to f32). With it off, integers keep the low bits (NaN and infinities give 0), floats become
    infinite (f8e4m3 and f8e8m0: NaN), and NaN stays. 4-bit floats have neither infinity nor NaN, so
    they always saturate; A5 stores whole bytes of them: the rest of each row, and an odd last
    element, is 0. On A2/A3 f32 and f16 become i16, and f16 i8, through the nearest i32: there
    infinity is -1. The table has the behaviour without `sat_mode`. f32 to f32 rounds to whole
    numbers and keeps NaN and infinities.
    """

    dst = Out(Tile, doc="receives the converted elements")
    src = In(Tile, doc="the elements to convert")
    tmp = Scratch(
        Tile, None, idle=(A5,), doc="of A2/A3, for f32 to i16 and f16 to i16 and i8 without sat"
    )
    rmode = Attr(RoundMode, RoundMode.RINT)
    sat_mode = Attr(SaturationMode, None, newer="satmode")

    apart, written_over = (Apart((dst, src), targets=()),), ((dst, src),)

    asm = Asm(
        attrs_inside=" ",
        cpp_text="TCVT({dst}, {src}[, {tmp}], RoundMode::{rmode}[, SaturationMode::{sat_mode}]);",
    )
    example = {"rmode": RoundMode.FLOOR, "dst": VEC_I32}
    rows, cols = dst.valid.rows, dst.valid.cols
    wraps = either(~sat_mode.given, sat_mode == SaturationMode.OFF)
    # the lines of 8 elements that the last columns of up to 255 rows touch
    lines = ((rows - 1) * src.cols // 8 + (cols % 64 + 7) // 8) * 32
    most_lines = (src.cols * 254 // 8 + (cols % 64 + 7) // 8) * 32
    narrows = pairs(dst, src, (f32, (i16,)), (f16, (i16, i8)))
    room = (
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
    )
    one_width = dst.dtype.packed == src.dtype.packed
    rows_alike, cols_alike = dst.rows == src.rows, dst.cols == src.cols
    padded = both(rows_alike, dst.cols == whole_lines(dst), src.cols == whole_lines(src))
    shapes = (
        named("shape", either(both(rows_alike, cols_alike), padded), help=DECLARED),
        when(padded, warns(named("shape", cols_alike, help=PADDED))),
    )
    # the assembler checks pairs with small floats only; C++ checks all pairs
    small = either(dst.dtype.isin(*SMALL), src.dtype.isin(*SMALL))
    rules = (
        over_region(dst, src),
        on(HARDWARE, when(one_width, shapes)),
        in_vec(dst, src),
        row_major(dst, src),
        on(A2A3, named("element-type", ~small)),
        on(A2A3, when(~small, by(COMPILED, pairs(dst, src, *A2A3_PAIRS)))),
        on(A5, when(small, pairs(dst, src, *among(A5_PAIRS, small=True)))),
        on(A5, when(~small, by(COMPILED, pairs(dst, src, *among(A5_PAIRS, small=False))))),
        at(NO_WIDE_CASTS, (A5,), both(~src.dtype.isin(i64, u64), ~dst.dtype.isin(i64, u64))),
        on(HARDWARE, when(tmp.given, in_vec(tmp))),
        on(A2A3, when(wraps, named("shape", *room, help=LARGER))),
        when(
            both(sat_mode == SaturationMode.OFF, narrows),
            named_scratch(tmp, (A2A3,)),
        ),
    )
    options = {"rmode": "round_mode", "sat_mode": "saturation"}
    recorded = dict.fromkeys((f"{a}_{b}" for a in DTYPES for b in DTYPES), options)

    def run(dst, src, rmode, sat_mode, target):
        rows, cols = dst.valid
        if target.chip and dst.dtype in FP4:
            cols = cols // 2 * 2
            dst[:rows, : dst.cols] = dst.constant(0)
        x, how = src[:rows, :cols], Rounding[rmode.name]
        if dst.dtype == f32 and src.dtype == f32:
            y = x.rint(how)
        else:
            wraps = not saturates(src.dtype, dst.dtype, sat_mode)
            if target.words_first and wraps and (src.dtype, dst.dtype) in BY_WORDS:
                x = x.cast(i32, how, saturate=True)
            y = x.cast(dst.dtype, how, not wraps)
        dst[:rows, :cols] = y
