"""What the window instructions share: element types per path, bounds, fix-pipe pairs (3.2, 3.7)."""

from __future__ import annotations

from ptokit.isa.dtypes import (
    bf16,
    f4e1m2x2,
    f4e2m1x2,
    f8e4m3,
    f8e5m2,
    f8e8m0,
    f16,
    f32,
    hif8,
    i8,
    i16,
    i32,
    u8,
    u16,
    u32,
)
from ptokit.isa.formulas import Expr
from ptokit.isa.lang import Operand
from ptokit.isa.rules import HARDWARE, Ruled, both, either, named, on, when
from ptokit.isa.words import AccToVecMode

FP8, FP4 = (f8e4m3, f8e5m2, hif8, f8e8m0), (f4e2m1x2, f4e1m2x2)
CUBE_A2A3 = (i8, f16, bf16, f32)
CUBE_A5 = (*CUBE_A2A3, *FP8, *FP4)
VEC_A2A3 = (i8, u8, i16, u16, i32, u32, f16, bf16, f32)
VEC_A5 = (*CUBE_A5, i32)

# fix-pipe conversions out of the accumulator: (source, destinations), table of 3.2
CAST_A2A3 = ((f32, (f16, bf16)),)
CAST_A5 = ((f32, (f16, bf16, f32)), (i32, (i32,)))
QUANT_A2A3 = ((f32, (i8,)), (i32, (i8, u8, f16, i16)))
QUANT_A5 = ((f32, (i8, u8, hif8, f16, bf16, f8e4m3, f32)), (i32, (i8, u8, f16, bf16)))

SPLIT_MODES = (AccToVecMode.DUAL_SPLIT_M, AccToVecMode.DUAL_SPLIT_N)
BOXES = "start the window on a box of the layout"
LINES = "start the window on a 32-byte line"


def pairs(dst: Operand, src: Operand, *table: tuple[object, tuple[object, ...]]) -> Expr:
    """The element types are one of these (source, destinations)."""
    return either(*(both(src.dtype.isin(s), dst.dtype.isin(*ds)) for s, ds in table))


def inside(row: Operand, col: Operand, window: Operand, whole: Operand) -> tuple[Ruled, ...]:
    """The rules every window obeys: inside the whole's valid region, indices of 16 bits."""
    move = "move the window, make its valid region smaller, or make the tile around it larger"
    return (
        named("window-out-of-bounds", row >= 0, col >= 0, help="offsets count from 0"),
        named(
            "window-out-of-bounds",
            row + window.valid.rows <= whole.valid.rows,
            col + window.valid.cols <= whole.valid.cols,
            help=move,
        ),
        named("window-out-of-bounds", row <= 65535, col <= 65535, help="an index has 16 bits"),
    )


def inside_static(row: Operand, col: Operand, window: Operand, whole: Operand) -> tuple[Ruled, ...]:
    """On hardware the declared shape must fit too."""
    return on(
        HARDWARE,
        named(
            "window-out-of-bounds",
            row + window.rows <= whole.rows,
            col + window.cols <= whole.cols,
            help="hardware moves the whole declared shape, not only the valid region",
        ),
    )


def whole_blocks(row: Operand, col: Operand, window: Operand, whole: Operand) -> tuple[Ruled, ...]:
    """A transposing move takes whole 16x16 blocks, 32x32 for 8-bit types."""
    return tuple(
        when(
            wide,
            both(whole.rows % n == 0, whole.cols % n == 0),
            both(window.rows % n == 0, window.cols % n == 0),
            named("offset-misaligned", row % n == 0, col % n == 0, help=f"use multiples of {n}"),
        )
        for wide, n in ((whole.size == 1, 32), (whole.size != 1, 16))
    )
