"""Common rules of the window instructions: element types per path, bounds, the fix-pipe."""

from ptokit.isa.lang.page import *

FP8, FP4 = (f8e4m3, f8e5m2, hif8, f8e8m0), (f4e2m1x2, f4e1m2x2)
CUBE_A2A3 = (i8, f16, bf16, f32)
CUBE_A5 = (*CUBE_A2A3, *FP8, *FP4)
ON_A2A3 = (i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32)  # fp8, hif8, fp4: A5 only
WINDOW_A2A3 = (i8, u8, i16, u16, i32, u32, f16, bf16, f32)
WINDOW_A5 = (*CUBE_A5, i32)

# fix-pipe conversions out of the accumulator: (source, destinations)
CAST_A2A3 = ((f32, (f16, bf16)),)
CAST_A5 = ((f32, (f16, bf16, f32)), (i32, (i32,)))
QUANT_A2A3 = ((f32, (i8,)), (i32, (i8, u8, f16, i16)))
CAST_F16_SUMS = ((f16, (f16,)), (i32, (i32,)))
QUANT_F16_SUMS = ((f16, (i8, u8, i16, f16)), (i32, (i8, u8, i16, f16)))
QUANT_A5 = ((f32, (i8, u8, hif8, f16, bf16, f8e4m3, f32)), (i32, (i8, u8, f16, bf16)))

# the fields of a fix-pipe word of 64 bits, for the manual
PARAMETER_DOC = "fix-pipe word: bits 31:0 scale (f32), 35:32 shift - 1, 45:37 offset, 46 signed"
PARAMETERS_DOC = "a parameter for each column, as `quant` of textract has it"

SPLIT_MODES = (AccToVecMode.DUAL_SPLIT_M, AccToVecMode.DUAL_SPLIT_N)
BOXES = "start the window on a box of the layout"
LINES = "start the window on a 32-byte line"
NOT_SPLIT = "split modes cannot quantise"


def on_a2a3(*tiles: Operand) -> Rules:
    """Require element types that A2/A3 has."""
    return tuple(on(A2A3, tile.dtype.isin(*ON_A2A3)) for tile in tiles)


def inside(row: Operand, col: Operand, window: Operand, whole: Operand) -> Rules:
    """Require a window inside the whole's valid region, with indices of 16 bits."""
    move = "move the window, make its valid region smaller, or make the tile around it larger"
    return (
        named("window-out-of-bounds", row >= 0, col >= 0, help="offsets are at least 0"),
        named(
            "window-out-of-bounds",
            row + window.valid.rows <= whole.valid.rows,
            col + window.valid.cols <= whole.valid.cols,
            help=move,
        ),
        named("window-out-of-bounds", row <= 65535, col <= 65535, help="an index has 16 bits"),
    )


def on_boxes(row: Operand, col: Operand, src: Operand) -> Rules:
    """Require a window that starts on a box of an nz tile."""
    return named("offset-misaligned", row % 16 == 0, col % src.c0 == 0, help=BOXES)


def between_vec_a2a3(
    row: Operand, col: Operand, window: Operand, src: Operand, several: Expr
) -> Rules:
    """Require aligned windows of vector tiles on A2/A3; `several`: of several elements."""
    line = named("offset-misaligned", col * src.size % 32 == 0, help=LINES)
    boxes = on_boxes(row, col, src)
    parts = when(window.layout == ND, line), when(window.layout == NZ, boxes)
    return on(A2A3, *(when(several, part) for part in parts))


INTO_VEC = "the vector core that receives acc; split: each gets half of the rows (m) or columns (n)"
WORDS = "hardware reads 64-bit parameters from one unboxed row, one for each element"


def parameters(fp: Operand) -> Rules:
    """Require a row of parameters, or of factors: text has such tiles, their meaning is open."""
    row = both(fp.rows == 1, fp.layout == ND)
    return (
        fp.dtype.isin(u64, i64, f16, bf16, f32),
        when(fp.dtype.isin(u64, i64), row),
        warns(named("element-type", ~fp.dtype.isin(f16, bf16, f32), help=WORDS)),
    )


def inside_static(row: Operand, col: Operand, window: Operand, whole: Operand) -> Rules:
    """Require on hardware that the declared shape fits too, if the valid region does.

    A window of compact mode moves its valid region.
    """
    why = "hardware moves the whole declared shape, not only the valid region"
    rows = when(row + window.valid.rows <= whole.valid.rows, row + window.rows <= whole.rows)
    cols = when(col + window.valid.cols <= whole.valid.cols, col + window.cols <= whole.cols)
    whole_shape = when(window.compact == CompactMode.NULL, rows, cols)
    return named("window-out-of-bounds", on(HARDWARE, whole_shape), help=why)


def out_of_static(row: Operand, col: Operand, window: Operand, whole: Operand) -> Rules:
    """Require that the declared shape fits for windows of acc, as headers do; not chips (C7)."""
    return when(whole.loc == ACC, warns(inside_static(row, col, window, whole)))


def whole_blocks(row: Operand, col: Operand, window: Operand, whole: Operand) -> Rules:
    """Require whole 16x16 blocks, 32x32 for 8-bit types, of a transposing move."""
    return tuple(
        when(
            wide,
            both(whole.rows % n == 0, whole.cols % n == 0),
            both(window.rows % n == 0, window.cols % n == 0),
            named("offset-misaligned", row % n == 0, col % n == 0, help=f"use multiples of {n}"),
        )
        for wide, n in ((whole.size == 1, 32), (whole.size != 1, 16))
    )


def casts(dst: Operand, src: Operand) -> Rules:
    """Require element types out of the accumulator without a parameter."""
    return (
        on(A2A3, pairs(dst, src, *CAST_A2A3)),
        without(F16_SUMS, (A5,), pairs(dst, src, *CAST_A5)),
        at(F16_SUMS, (A5,), pairs(dst, src, *CAST_F16_SUMS)),
    )


def quantises(dst: Operand, src: Operand) -> Rules:
    """Require element types out of the accumulator with a parameter."""
    return (
        on(A2A3, pairs(dst, src, *QUANT_A2A3)),
        without(F16_SUMS, (A5,), pairs(dst, src, *QUANT_A5)),
        at(KIRIN9030, (A5,), pairs(dst, src, *QUANT_F16_SUMS)),
        at(KIRINX90, (A5,), pairs(dst, src, *QUANT_F16_SUMS, (i32, (i32,)))),
    )


def from_acc(
    dst: Operand,
    src: Operand,
    *,
    layouts: tuple[Layout, ...],
    into_vec: Ruled = (),
) -> tuple[Path, ...]:
    """Return the two paths out of the accumulator: to L1, and on A5 to the vector cores' buffer."""
    lines = dst.cols * dst.size % 32 == 0
    return (
        path(
            *(ACC, MAT, FIX, src.layout == NZ),
            on(A2A3, dst.layout == NZ, dst.fractal == 512),
            on(A5, dst.layout.isin(*layouts), lines),
        ),
        path(
            *(ACC, VEC, FIX, src.layout == NZ, dst.layout.isin(*layouts), lines),
            into_vec,
            on=A5,
        ),
    )


def window_from_acc(dst: Operand, src: Operand, mode: Attr) -> tuple[Path, ...]:
    """Return the same two paths for a window."""
    why = "the assembler leaves out which vector core, C++ asks for it: give accToVecMode"
    chosen = by(HEADERS, warns(named("layout", either(dst.layout == NZ, mode.given), help=why)))
    return from_acc(dst, src, layouts=(NZ, ND), into_vec=chosen)


def casting(dst: Operand, src: Operand, given: Expr) -> Rules:
    """Require element types out of the accumulator, without a parameter and with one if `given`."""
    return (
        when(both(src.loc == ACC, ~given), casts(dst, src)),
        when(both(src.loc == ACC, given), quantises(dst, src)),
        when(src.loc != ACC, dst.dtype == src.dtype),
    )


def fix_pipe(
    dst: Operand,
    src: Operand,
    relu: Attr,
    mode: Attr,
    quantised: Expr,
    clearing: tuple[Loc, ...] = (ACC,),
) -> Rules:
    """Require sources for relu (`clearing`), quantisation and vector-core modes (hardware)."""
    return (
        on(
            HARDWARE,
            named(
                "attribute",
                either(relu == ReluPreMode.NO_RELU, src.loc.isin(*clearing)),
                either(~quantised, src.loc == ACC),
                help="quantisation needs a source in acc; so does relu, except in an extract",
            ),
        ),
        acc_to_vec(dst, src, mode),
        on(
            A5,
            when(mode.isin(*SPLIT_MODES), named("attribute", ~quantised, help=NOT_SPLIT)),
            when(both(mode == AccToVecMode.DUAL_SPLIT_N, dst.size == 4), dst.valid.cols % 32 == 0),
        ),
    )


def quantising(dst: Operand, src: Operand) -> Rules:
    """Require element types of an instruction with a parameter; hardware takes only acc."""
    return (
        when(src.loc == ACC, quantises(dst, src)),
        on(CPU, when(src.loc != ACC, dst.dtype == src.dtype)),
    )


def quantising_modes(dst: Operand, src: Operand, mode: Attr) -> Rules:
    """Require vector-core modes of an instruction that always has a parameter."""
    whole = named("attribute", ~mode.isin(*SPLIT_MODES), help=NOT_SPLIT)
    return (acc_to_vec(dst, src, mode), on(A5, whole))


def acc_to_vec(dst: Operand, src: Operand, mode: Attr) -> Rules:
    """Require a move from the cube to a vector core for the vector-core mode (hardware)."""
    used = both(src.loc.isin(ACC, MAT), dst.loc == VEC)
    why = "the mode is for what the cube moves to vec"
    return on(HARDWARE, named("attribute", either(~mode.given, used), help=why))
