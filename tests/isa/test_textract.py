"""TEXTRACT and TEXTRACT_FP: what they move (3.7), what each target allows, the examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from by_hand import (
    FORMATS,
    LAYOUTS,
    Array,
    bits_of,
    codes_of,
    elements,
    lines,
    made,
    noise,
    offsets,
    parameter,
    poke,
    result,
    shape_of,
    slugs,
    storage_type,
    typed,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import ptokit as pto

ALL = "cpu a2a3 a5"
BOTH = "a2a3 a5"


# What moves: every element by the formula --------------------------------------------------------


class Side(NamedTuple):
    """A tile of the property test, with the words `tile` takes."""

    layout: str
    fractal: int
    rows: int
    cols: int
    valid: tuple[int, int]

    def make(self, loc: str, dtype: str) -> pto.Tile:
        return pto.tile(
            loc,
            dtype,
            self.rows,
            self.cols,
            layout=self.layout,
            fractal=self.fractal,
            valid=self.valid,
        )

    def places(self, dtype: str) -> Array:
        return offsets(self.layout, self.fractal, self.rows, self.cols, lines(dtype))


@st.composite
def sides(draw: st.DrawFn, dtype: str, least: tuple[int, int], most: tuple[int, int]) -> Side:
    """A legal tile whose valid region lies between `least` and `most`."""
    layout = draw(st.sampled_from(LAYOUTS))
    fractal = draw(st.sampled_from((512, 1024, 32))) if layout in LAYOUTS[2:] else 512
    c0 = lines(dtype)
    down, across = {
        "nd": (1, c0),
        "dn": (c0, 1),
        "nz": (16, c0),
        "zz": (16, c0),
        "zn": (c0, 16),
        "nn": (c0, 16),
    }[layout]
    if fractal == 1024:
        down, across = 16, 16
    if fractal == 32:
        down, across = (16, 2) if layout[1] == "z" else (2, 16)
    valid = draw(st.integers(least[0], most[0])), draw(st.integers(least[1], most[1]))
    rows, cols = (
        (max(-(-v // step), 1) + draw(st.integers(0, 1))) * step
        for v, step in zip(valid, (down, across), strict=True)
    )
    return Side(layout, fractal, rows, cols, valid)


@st.composite
def moves(draw: st.DrawFn, dtype: str) -> tuple[Side, Side, int, int]:
    """A destination, a source and an offset that is in bounds, aligned or not."""
    dst = draw(sides(dtype, (0, 0), (40, 70)))
    src = draw(sides(dtype, dst.valid, (dst.valid[0] + 40, dst.valid[1] + 40)))
    slack = [s - d for s, d in zip(src.valid, dst.valid, strict=True)]
    row, col = (draw(st.integers(0, n)) for n in slack)
    if draw(st.booleans()):
        row, col = row // 16 * 16, col // lines(dtype) * lines(dtype)
    return dst, src, row, col


@pytest.mark.parametrize("dtype", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_element_of_the_window_moves_bit_for_bit(dtype: str, data: st.DataObject) -> None:
    dst, src, row, col = data.draw(moves(dtype))
    seed, locs = data.draw(st.integers(0, 1 << 32)), st.sampled_from(["vec", "mat", "left"])
    whole, window = src.make(data.draw(locs), dtype), dst.make(data.draw(locs), dtype)
    raw, before = noise(whole, seed), noise(window, seed + 1)
    pto.textract(window, whole, row, col)
    wanted = elements(before, dtype).copy()
    codes = elements(raw, dtype)
    here, there = dst.places(dtype), src.places(dtype)
    for i in range(dst.valid[0]):
        wanted[here[i, : dst.valid[1]]] = codes[there[row + i, col : col + dst.valid[1]]]
    assert np.array_equal(elements(window.storage(), dtype), wanted)
    assert np.array_equal(whole.storage(), raw)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_window_that_leaves_the_valid_region_is_refused(data: st.DataObject) -> None:
    """Also where the declared shape would have room for it."""
    dst, src, row, col = data.draw(moves("f16"))
    over = st.integers(1, 70)
    if data.draw(st.booleans()):
        row = src.valid[0] - dst.valid[0] + data.draw(over)
    else:
        col = src.valid[1] - dst.valid[1] + data.draw(over)
    whole, window = src.make("mat", "f16"), dst.make("mat", "f16")
    noise(whole, 1)
    before = noise(window, 2)
    with pytest.raises(pto.PtoError) as problem:
        pto.textract(window, whole, row, col)
    assert slugs(problem) == {"window-out-of-bounds"}
    assert np.array_equal(window.storage(), before)


NANS = {
    "f32": [0x7F800001, 0x7FA12345, 0xFFC00001, 0xFF800001, 0x80000000],
    "f16": [0x7C01, 0x7D55, 0xFE01, 0xFC01, 0x8000],
    "bf16": [0x7F81, 0x7FA5, 0xFFC1, 0xFF81, 0x8000],
    "f8e5m2": [0x7D, 0x7F, 0xFD, 0xFE, 0x80],
    "f8e4m3": [0x7F, 0xFF, 0x80],
    "f8e8m0": [0xFF, 0x00],
    "hif8": [0x80, 0x6F, 0xEF],
}


@pytest.mark.parametrize("dtype", NANS)
@pytest.mark.parametrize("target", ALL.split())
def test_nan_payloads_survive(dtype: str, target: str) -> None:
    if target == "a2a3" and dtype.startswith(("f8", "hif8")):
        return
    text = f"vec {dtype} 1x64"
    codes = np.array(NANS[dtype] * 64)[:64].reshape(1, 64)
    dst = made(text)
    with pto.target(target):
        pto.textract(dst, made(text, typed(codes, dtype)))
    assert result(dst, text).tolist() == codes.tolist()


@pytest.mark.parametrize("dtype", ["f4e2m1x2", "f4e1m2x2", "i4"])
@pytest.mark.parametrize("start", range(4))
def test_nibbles_move_across_byte_borders(dtype: str, start: int) -> None:
    """Element n is in byte n // 2, the even one in the low nibble."""
    src, dst = made(f"vec {dtype} 1x32"), made(f"vec {dtype} 1x32 valid 1x5")
    poke(src, np.arange(16, dtype=np.uint8) * 16 + (15 - np.arange(16, dtype=np.uint8)))
    poke(dst, np.full(16, 0xAB, np.uint8))
    pto.textract(dst, src, 0, start)
    nibbles = [n for byte in range(16) for n in (15 - byte, byte)][start : start + 5]
    wanted = [*nibbles, *([0xB, 0xA] * 16)[5:]]
    got = [n for byte in dst.storage().tolist() for n in (byte & 15, byte >> 4)]
    assert got == wanted


def test_a_tile_may_extract_from_itself() -> None:
    """The window is read before it is written."""
    tile = made("vec f32 8x8", np.arange(64, dtype=np.float32).reshape(8, 8))
    part = made("vec f32 8x8 valid 4x4")
    part.elements = tile.elements
    part.memory.shadow[:] = 0xFF
    pto.textract(part, tile, 1, 1)
    old = np.arange(64).reshape(8, 8)
    new = old.copy()
    new[:4, :4] = old[1:5, 1:5]
    assert tile.numpy().tolist() == new.tolist()


def test_reading_what_was_never_written_is_reported() -> None:
    src = made("mat f16 32x32 nz valid 16x32", np.ones((16, 32), np.float16))
    whole = made("mat f16 32x32 nz")
    whole.bytes()[:] = src.storage()
    whole.memory.shadow[:] = src.memory.shadow
    pto.textract(made("mat f16 16x16 nz"), whole, 0, 16)
    with pytest.raises(pto.PtoError) as problem:
        pto.textract(made("mat f16 16x16 nz"), whole, 4, 16)
    assert slugs(problem) == {"uninitialised-read"}
    assert "(16, 16)" in (problem.value.diagnostics[0].seen or "")


# Legality: the tables of 3.7 ---------------------------------------------------------------------


class Row(NamedTuple):
    """One line of a table: `dst <- src` at an offset on some targets; an empty slug is legal."""

    targets: str
    slug: str
    dst: str
    src: str
    row: int
    col: int
    how: dict[str, Any]


def ok(targets: str, dst: str, src: str, row: int = 0, col: int = 0, **how: Any) -> Row:
    return Row(targets, "", dst, src, row, col, how)


def no(targets: str, slug: str, dst: str, src: str, row: int = 0, col: int = 0, **how: Any) -> Row:
    return Row(targets, slug, dst, src, row, col, how)


CUBE_A2A3 = ("i8", "f16", "bf16", "f32")
CUBE_A5 = (*CUBE_A2A3, "hif8", "f8e4m3", "f8e5m2", "f8e8m0", "f4e2m1x2", "f4e1m2x2")
VEC_A2A3 = ("i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32")
VEC_A5 = ("f16", "bf16", "f32", "i32", "i8", *CUBE_A5[4:])
PAIR_A2A3 = ("i8", "f16", "bf16", "f32", "i32")
# big enough for whole boxes of every element type, both ways
BIG, SMALL = "128x128", "64x64"


def by_type(targets: dict[str, tuple[str, ...]], dst: str, src: str, **how: Any) -> Iterator[Row]:
    """Legal for the types listed for a target, an element-type error for all others."""
    for target, types in targets.items():
        for dtype in FORMATS:
            d, s = dst.format(t=dtype), src.format(t=dtype)
            yield (
                ok(target, d, s, **how)
                if dtype in types
                else no(target, "element-type", d, s, **how)
            )


MAT_TO_LEFT = [
    *by_type({"a2a3": CUBE_A2A3}, f"left {{t}} {SMALL} zz", f"mat {{t}} {BIG} nz"),
    *by_type({"a2a3": CUBE_A2A3}, f"left {{t}} {SMALL} zz", f"mat {{t}} {BIG} zn"),
    *by_type({"a5": CUBE_A5}, f"left {{t}} {SMALL} nz", f"mat {{t}} {BIG} nz"),
    *by_type({"a5": CUBE_A5}, f"left {{t}} {SMALL} nz", f"mat {{t}} {BIG} zn"),
    # the source is zn or nz, the destination is the alias of the target
    *(
        no("a2a3", "layout", f"left f16 {SMALL} zz", f"mat f16 {BIG} {x}")
        for x in ("nd", "dn", "zz", "nn")
    ),
    *(
        no("a5", "layout", f"left f16 {SMALL} nz", f"mat f16 {BIG} {x}")
        for x in ("nd", "dn", "zz", "nn")
    ),
    *(
        no("a2a3", "layout", f"left f16 {SMALL} {x}", f"mat f16 {BIG} nz")
        for x in ("nd", "nz", "zn", "nn")
    ),
    *(
        no("a5", "layout", f"left f16 {SMALL} {x}", f"mat f16 {BIG} nz")
        for x in ("nd", "zz", "zn", "nn")
    ),
    # non-transposed: row % 16, col % c0
    ok("a2a3", f"left f16 {SMALL} zz", f"mat f16 {BIG} nz", 16, 48),
    ok("a5", f"left f16 {SMALL} nz", f"mat f16 {BIG} nz", 16, 48),
    ok("a2a3", f"left f32 {SMALL} zz", f"mat f32 {BIG} nz", 48, 8),
    ok("a5", f"left i8 {SMALL} nz", f"mat i8 {BIG} nz", 16, 32),
    ok("a5", f"left f4e2m1x2 {SMALL} nz", "mat f4e2m1x2 128x128 nz", 16, 64),
    no("a2a3", "offset-misaligned", f"left f16 {SMALL} zz", f"mat f16 {BIG} nz", 8, 0),
    no("a2a3", "offset-misaligned", f"left f16 {SMALL} zz", f"mat f16 {BIG} nz", 0, 8),
    no("a5", "offset-misaligned", f"left f16 {SMALL} nz", f"mat f16 {BIG} nz", 1, 0),
    no("a5", "offset-misaligned", f"left i8 {SMALL} nz", f"mat i8 {BIG} nz", 0, 16),
    no("a5", "offset-misaligned", f"left f32 {SMALL} nz", f"mat f32 {BIG} nz", 0, 4),
    no("a5", "offset-misaligned", f"left f4e2m1x2 {SMALL} nz", "mat f4e2m1x2 128x128 nz", 0, 32),
    # transposed: whole blocks of 16, 32 for 8-bit types
    ok("a2a3", f"left f16 {SMALL} zz", f"mat f16 {BIG} zn", 16, 48),
    ok("a5", f"left f32 {SMALL} nz", f"mat f32 {BIG} zn", 48, 16),
    ok("a5", f"left i8 {SMALL} nz", f"mat i8 {BIG} zn", 32, 64),
    no("a2a3", "offset-misaligned", f"left f16 {SMALL} zz", f"mat f16 {BIG} zn", 8, 0),
    no("a5", "offset-misaligned", f"left f32 {SMALL} nz", f"mat f32 {BIG} zn", 0, 8),
    no("a5", "offset-misaligned", f"left i8 {SMALL} nz", f"mat i8 {BIG} zn", 16, 0),
    no("a2a3", "offset-misaligned", f"left i8 {SMALL} zz", f"mat i8 {BIG} zn", 0, 16),
    no("a2a3", "shape", "left f32 16x16 zz", "mat f32 24x16 zn"),
    no("a2a3", "shape", "left f32 16x24 zz", "mat f32 32x32 zn"),
    no("a5", "shape", "left i8 32x32 nz", "mat i8 64x48 zn"),
    no("a5", "shape", "left i8 16x32 nz", "mat i8 64x64 zn"),
]

GEMV = [  # a single row, row-major, in lines of 512 bytes
    ok("a2a3", "left f16 1x256 zz", "mat f16 1x512 nd", 0, 256),
    ok("a5", "left f16 1x256 nz", "mat f16 1x512 nd", 0, 256),
    ok("a2a3", "left f32 1x128 zz", "mat f32 1x256 nd", 0, 128),
    ok("a5", "left i8 1x512 nz", "mat i8 1x1024 nd", 0, 512),
    no("a2a3", "offset-misaligned", "left f16 1x256 zz", "mat f16 1x512 nd", 0, 128),
    no("a5", "offset-misaligned", "left f32 1x128 nz", "mat f32 1x256 nd", 0, 64),
    no("a2a3", "shape", "left f16 1x256 zz", "mat f16 1x272 nd"),
    no("a5", "shape", "left f16 1x128 nz", "mat f16 1x512 nd"),
    no(BOTH, "layout", "right f16 16x16 zn valid 1x16", "mat f16 1x512 nd"),
]

MAT_TO_RIGHT = [
    *by_type({"a2a3": CUBE_A2A3, "a5": CUBE_A5}, f"right {{t}} {SMALL} zn", f"mat {{t}} {BIG} nz"),
    *by_type({"a2a3": CUBE_A2A3, "a5": CUBE_A5}, f"right {{t}} {SMALL} zn", f"mat {{t}} {BIG} zn"),
    *(
        no(BOTH, "layout", f"right f16 {SMALL} zn", f"mat f16 {BIG} {x}")
        for x in ("nd", "dn", "zz", "nn")
    ),
    *(
        no(BOTH, "layout", f"right f16 {SMALL} {x}", f"mat f16 {BIG} zn")
        for x in ("nd", "nz", "zz", "nn")
    ),
    # non-transposed: row % c0, col % 16
    ok(BOTH, f"right f16 {SMALL} zn", f"mat f16 {BIG} zn", 48, 16),
    ok(BOTH, f"right f32 {SMALL} zn", f"mat f32 {BIG} zn", 8, 48),
    ok(BOTH, f"right i8 {SMALL} zn", f"mat i8 {BIG} zn", 32, 16),
    no(BOTH, "offset-misaligned", f"right f32 {SMALL} zn", f"mat f32 {BIG} zn", 4, 0),
    no(BOTH, "offset-misaligned", f"right i8 {SMALL} zn", f"mat i8 {BIG} zn", 16, 0),
    no(BOTH, "offset-misaligned", f"right f16 {SMALL} zn", f"mat f16 {BIG} zn", 0, 8),
    # transposed
    ok(BOTH, f"right f32 {SMALL} zn", f"mat f32 {BIG} nz", 16, 48),
    ok(BOTH, f"right i8 {SMALL} zn", f"mat i8 {BIG} nz", 32, 64),
    no(BOTH, "offset-misaligned", f"right f32 {SMALL} zn", f"mat f32 {BIG} nz", 0, 8),
    no(BOTH, "offset-misaligned", f"right i8 {SMALL} zn", f"mat i8 {BIG} nz", 16, 0),
    no(BOTH, "shape", "right f32 16x16 zn", "mat f32 32x24 nz"),
    no(BOTH, "shape", "right i8 32x16 zn", "mat i8 64x64 nz"),
]

MAT_TO_SCALE = [
    ok("a5", "scale_left f8e8m0 32x4 zz/32", "mat f8e8m0 64x8 zz/32"),
    ok("a5", "scale_left f8e8m0 32x4 zz/32", "mat f8e8m0 64x8 zz/32", 16, 2),
    ok("a5", "scale_right f8e8m0 4x32 nn/32", "mat f8e8m0 8x64 nn/32"),
    ok("a5", "scale_right f8e8m0 4x32 nn/32", "mat f8e8m0 8x64 nn/32", 2, 16),
    *(
        no("a5", "layout", "scale_left f8e8m0 32x32 zz/32", f"mat f8e8m0 64x64 {x}")
        for x in ("nz", "nn", "nd")
    ),
    *(
        no("a5", "layout", "scale_right f8e8m0 32x32 nn/32", f"mat f8e8m0 64x64 {x}")
        for x in ("zn", "zz", "nd")
    ),
    no("a5", "layout", "scale_left f8e8m0 32x32 nn/32", "mat f8e8m0 64x64 zz/32"),
    no("a5", "layout", "scale_right f8e8m0 32x32 zz/32", "mat f8e8m0 64x64 nn/32"),
    no("a2a3", "location", "scale_left i8 32x4 zz/32", "mat i8 64x8 zz/32"),
    no("a2a3", "location", "scale_right i8 4x32 nn/32", "mat i8 8x64 nn/32"),
]

VEC_TO_MAT = [
    *by_type({"a5": VEC_A5}, f"mat {{t}} {SMALL}", f"vec {{t}} {BIG}"),
    ok("a5", f"mat f16 {SMALL} nz", f"vec f16 {BIG} nz", 16, 16),
    ok("a5", f"mat f16 {SMALL} nz", f"vec f16 {BIG} nd", 16, 16),
    no("a5", "layout", f"mat f16 {SMALL} dn", f"vec f16 {BIG} dn"),
    no("a2a3", "location", f"mat f16 {SMALL}", f"vec f16 {BIG}"),
]

VEC_TO_VEC = [
    *by_type({"a2a3": VEC_A2A3, "a5": VEC_A5}, f"vec {{t}} {SMALL}", f"vec {{t}} {BIG}"),
    *by_type({"a2a3": VEC_A2A3, "a5": VEC_A5}, f"vec {{t}} {SMALL} nz", f"vec {{t}} {BIG} nz"),
    *(
        no(BOTH, "layout", f"vec f16 {SMALL} {d}", f"vec f16 {BIG} {s}")
        for d in ("nd", "dn", "nz", "zn", "zz")
        for s in ("nd", "dn", "nz", "zn", "zz")
        if d != s or d not in ("nd", "nz")
    ),
    # nd on a2a3: lines of 32 bytes
    ok("a2a3", f"vec f16 {SMALL}", f"vec f16 {BIG}", 3, 16),
    ok("a2a3", f"vec i8 {SMALL}", f"vec i8 {BIG}", 1, 32),
    no("a2a3", "offset-misaligned", f"vec f16 {SMALL}", f"vec f16 {BIG}", 0, 8),
    no("a2a3", "offset-misaligned", f"vec f32 {SMALL}", f"vec f32 {BIG}", 0, 4),
    ok("a2a3", "vec f32 1x8 valid 1x1", "vec f32 16x16", 3, 5),  # one element is a scalar copy
    # nz on a2a3: boxes
    ok("a2a3", f"vec f16 {SMALL} nz", f"vec f16 {BIG} nz", 16, 48),
    no("a2a3", "offset-misaligned", f"vec f16 {SMALL} nz", f"vec f16 {BIG} nz", 8, 0),
    no("a2a3", "offset-misaligned", f"vec f16 {SMALL} nz", f"vec f16 {BIG} nz", 0, 8),
    # nd on a5: any offset; the declared window is no larger than the source
    ok("a5", f"vec f16 {SMALL}", f"vec f16 {BIG}", 3, 5),
    ok("a5", f"vec i8 {SMALL}", f"vec i8 {BIG}", 7, 1),
    no("a5", "shape", "vec f16 64x32 valid 8x8", "vec f16 32x32"),
    no("a5", "shape", "vec f16 32x64 valid 8x8", "vec f16 32x32"),
    # four-bit types on a5: whole 32-byte lines, 64 elements
    ok("a5", "vec f4e2m1x2 4x64", "vec f4e2m1x2 8x128", 3, 64),
    no("a5", "offset-misaligned", "vec f4e2m1x2 4x64", "vec f4e2m1x2 8x128", 3, 32),
    no("a5", "shape", "vec f4e2m1x2 4x64 valid 4x32", "vec f4e2m1x2 8x128"),
    no("a5", "shape", "vec f4e1m2x2 4x64", "vec f4e1m2x2 8x96"),
    # the window is bounded by valid regions, not by declared shapes
    ok(BOTH, "vec f16 16x64 valid 4x16", "vec f16 16x64", 12, 48),
    ok(BOTH, "vec f16 16x64 nz valid 16x16", "vec f16 32x64 nz", 16, 48),
]

CAST = {
    "a2a3": {("f32", "f16"), ("f32", "bf16")},
    "a5": {("f32", "f16"), ("f32", "bf16"), ("f32", "f32"), ("i32", "i32")},
}
QUANT = {
    "a2a3": {("f32", "i8"), *(("i32", t) for t in ("i8", "u8", "f16", "i16"))},
    "a5": {
        *(("f32", t) for t in ("i8", "u8", "hif8", "f16", "bf16", "f8e4m3", "f32")),
        *(("i32", t) for t in ("i8", "u8", "f16", "bf16")),
    },
}
OUT = ("i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32", "hif8", "f8e4m3", "f8e5m2")
ONE = parameter(1)


def acc_pairs(target: str, dst: str) -> Iterator[Row]:
    for src in ("f32", "i32"):
        for t in OUT:
            for legal, how in ((CAST, {}), (CAST, {"relu": "normal"}), (QUANT, {"quant": ONE})):
                d, s = f"{dst.split()[0]} {t} 32x32 {dst.split()[1]}", f"acc {src} 64x64 nz"
                if (src, t) in legal[target]:
                    yield ok(target, d, s, 0, 32, **how)
                else:
                    yield no(target, "element-type", d, s, 0, 32, **how)


MODES = ("single_mode_vec0", "single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n")
ACC_TO_MAT = [
    *acc_pairs("a2a3", "mat nz"),
    *acc_pairs("a5", "mat nz"),
    *acc_pairs("a5", "mat nd"),
    ok(BOTH, "mat f16 16x16 nz", "acc f32 32x32 nz", 16, 16),
    ok(BOTH, "mat f16 16x16 nz", "acc f32 32x32 nz", 5, 3),
    no("a2a3", "layout", "mat f16 32x32 nd", "acc f32 64x64 nz"),
    *(no(BOTH, "layout", f"mat f16 32x32 {x}", "acc f32 64x64 nz") for x in ("dn", "zn", "zz")),
    no("a2a3", "layout", "mat f16 32x32 nz/1024", "acc f32 64x64 nz"),
    ok("a5", "mat f32 32x32 nz/1024", "acc f32 64x64 nz"),
    *(no(BOTH, "layout", "mat f16 32x32 nz", f"acc f32 64x64 {x}") for x in ("nd", "zn")),
    no(BOTH, "element-type", "mat f16 32x32 nz", "acc f16 64x64 nz"),
    *(no(BOTH, "attribute", "mat f16 32x32 nz", "acc f32 64x64 nz", mode=m) for m in MODES),
]
ACC_TO_VEC = [
    *acc_pairs("a5", "vec nz"),
    no("a2a3", "location", "vec f16 32x32 nz", "acc f32 64x64 nz"),
    *(ok("a5", "vec f16 32x32 nd", "acc f32 64x64 nz", mode=m) for m in MODES),
    *(ok("a5", "vec f16 32x32 nz", "acc f32 64x64 nz", mode=m, relu="normal") for m in MODES),
    *(ok("a5", "vec i8 32x32 nd", "acc f32 64x64 nz", mode=m, quant=ONE) for m in MODES[:2]),
    *(
        no("a5", "attribute", "vec i8 32x32 nd", "acc f32 64x64 nz", mode=m, quant=ONE)
        for m in MODES[2:]
    ),
    no("a5", "layout", "vec f16 32x32 nd", "acc f32 64x64 nz"),  # row-major needs a mode
    no("a5", "layout", "vec i8 32x32 nd", "acc f32 64x64 nz", quant=ONE),
    no("a5", "layout", "vec f16 32x32 dn", "acc f32 64x64 nz", mode=MODES[0]),
    ok("a5", "vec f32 32x64 nd valid 8x32", "acc f32 64x64 nz", mode=MODES[3]),
    ok("a5", "vec f16 32x64 nd valid 8x24", "acc f32 64x64 nz", mode=MODES[3]),
    no("a5", "shape", "vec f32 32x64 nd valid 8x24", "acc f32 64x64 nz", mode=MODES[3]),
    ok("a5", "vec f32 32x64 nd valid 8x24", "acc f32 64x64 nz", mode=MODES[2]),
]

ELSEWHERE = [
    *(
        no(BOTH, "location", f"{d} f16 32x32 {x}", f"{s} f16 64x64 {y}")
        for d, x, s, y in (
            ("mat", "nz", "mat", "nz"),
            ("vec", "nz", "mat", "nz"),
            ("left", "nz", "vec", "nz"),
            ("right", "zn", "left", "nz"),
            ("acc", "nz", "mat", "nz"),
            ("bias", "nd", "mat", "nd"),
            ("scaling", "nd", "mat", "nd"),
            ("left", "nz", "acc", "nz"),
        )
    ),
    ok("cpu", "mat f16 31x16 valid 31x16", "mat f16 64x64 nz", 1, 3),
    ok("cpu", "left f16 32x32 nz", "bias f16 64x64", 5, 9),
    ok("cpu", "scaling f32 32x32", "right f32 64x64 nn", 5, 9),
    # element types change only on the way out of the accumulator (C6)
    *(
        no(ALL, "element-type", "vec f32 8x16", f"vec {t} 8x32")
        for t in ("f16", "i32", "bf16", "u32")
    ),
    no("cpu a2a3", "element-type", "left f32 16x16 zz", "mat f16 64x64 nz"),
    ok("cpu", "vec f16 32x32", "acc f32 64x64 nz", 1, 3),
    # the fix-pipe parameter is for the accumulator
    no(BOTH, "attribute", "vec i8 32x32", "vec i8 64x64", quant=ONE),
    no("a2a3", "attribute", "left f16 32x32 zz", "mat f16 64x64 nz", quant=ONE),
    no("a5", "attribute", "left f16 32x32 nz", "mat f16 64x64 nz", quant=ONE),
]

TABLES = {
    "mat-left": MAT_TO_LEFT,
    "gemv": GEMV,
    "mat-right": MAT_TO_RIGHT,
    "mat-scale": MAT_TO_SCALE,
    "vec-mat": VEC_TO_MAT,
    "vec-vec": VEC_TO_VEC,
    "acc-mat": ACC_TO_MAT,
    "acc-vec": ACC_TO_VEC,
    "elsewhere": ELSEWHERE,
}
CASES = [
    (t, name, row) for name, rows in TABLES.items() for row in rows for t in row.targets.split()
]


def c0_of(dtype: str, target: str) -> int:
    """C37: a line of A5 holds 64 elements of four bits."""
    return 64 if bits_of(dtype) == 4 and target == "a5" else lines(dtype)


def places(text: str, target: str) -> Array:
    s = shape_of(text)
    return offsets(s.layout, s.fractal, s.rows, s.cols, c0_of(s.dtype, target))


def verdict(target: str, slug: str, run: Callable[[], None]) -> bool:
    """Whether it ran; a refusal must have the expected slug and name the target only."""
    if not slug:
        run()
        return True
    with pytest.raises(pto.PtoError) as problem:
        run()
    assert slug in slugs(problem), problem.value
    assert all(d.targets == (target,) for d in problem.value.diagnostics)
    assert all(d.rule and d.seen for d in problem.value.diagnostics)
    return False


def numbers(tile: pto.Tile, text: str, target: str) -> Array:
    """Fill a tile with small whole numbers, distinct along rows and columns; return its codes."""
    s = shape_of(text)
    r, c = np.indices((s.rows, s.cols))
    values = (r * 5 + c) % 7 if bits_of(s.dtype) > 4 else (r * 5 + c) % 8
    codes = (
        values
        if bits_of(s.dtype) == 4 or s.dtype == "f8e8m0"
        else codes_of(values.astype("f4"), s.dtype)
    )
    flat: Array = np.zeros(s.rows * s.cols, storage_type(s.dtype))
    flat[places(text, target)] = codes
    raw = flat[0::2] | flat[1::2] << 4 if bits_of(s.dtype) == 4 else flat.view(np.uint8)
    poke(tile, raw)
    return values if s.loc == "acc" else codes


@pytest.mark.parametrize(("target", "table", "row"), CASES, ids=str)
def test_legality(target: str, table: str, row: Row) -> None:
    with pto.target(target):
        dst, src = made(row.dst), made(row.src)
        cells = numbers(src, row.src, target)
        ran = verdict(target, row.slug, lambda: pto.textract(dst, src, row.row, row.col, **row.how))
    if ran:
        s = shape_of(row.dst)
        rows, cols = s.valid
        window = cells[row.row : row.row + rows, row.col : row.col + cols]
        if s.dtype == "i16" and "quant" in row.how:
            window = window >> 1  # the shift modes, N = 0
        got = elements(dst.storage(), s.dtype)[places(row.dst, target)][:rows, :cols]
        wanted = (
            codes_of(window.astype("f4"), s.dtype) if shape_of(row.src).loc == "acc" else window
        )
        assert np.array_equal(got, wanted)


# Bounds ------------------------------------------------------------------------------------------

BOUNDS = [
    # valid regions, on every target
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64", 33, 0),
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64", 0, 48),
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64 valid 31x64"),
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64 valid 64x31"),
    ok(ALL, "vec f16 32x32 valid 31x16", "vec f16 64x64 valid 31x32", 0, 16),
    ok(ALL, "vec f16 32x32", "vec f16 64x64", 32, 32),
    ok(ALL, "vec f16 32x32 valid 0x0", "vec f16 64x64 valid 0x0"),
    # the declared shape too on hardware, but not from vec to vec
    ok("cpu", "left f16 64x64 nz valid 16x16", "mat f16 64x64 nz", 16, 16),
    no("a2a3", "window-out-of-bounds", "left f16 64x64 zz valid 16x16", "mat f16 64x64 nz", 16, 0),
    no("a5", "window-out-of-bounds", "left f16 64x64 nz valid 16x16", "mat f16 64x64 nz", 0, 16),
    no("a5", "window-out-of-bounds", "left f16 128x64 nz valid 16x16", "mat f16 64x64 nz"),
    no(BOTH, "window-out-of-bounds", "mat f16 32x64 nz valid 16x16", "acc f32 64x64 nz", 0, 16),
    no("a5", "window-out-of-bounds", "vec f16 64x32 nz valid 16x16", "acc f32 64x64 nz", 16, 0),
    # 16-bit indices that count from 0
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64", -1, 0),
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64", 0, -16),
    no(ALL, "window-out-of-bounds", "vec i8 1x32", "vec i8 1x65600", 0, 65568),
    ok("a5", "vec i8 1x32", "vec i8 1x65600", 0, 65535),
    ok(ALL, "vec i8 1x32", "vec i8 1x65600", 0, 65504),
    no(ALL, "window-out-of-bounds", "vec i8 1x32", "vec i8 1x65600", 0, 65536),
    no(ALL, "window-out-of-bounds", "vec i8 1x32", "vec i8 65600x32", 65536, 0),
]


@pytest.mark.parametrize(
    ("target", "row"), [(t, row) for row in BOUNDS for t in row.targets.split()], ids=str
)
def test_bounds(target: str, row: Row) -> None:
    test_legality(target, "bounds", row)


def test_a_refusal_says_the_numbers() -> None:
    with pytest.raises(pto.PtoError) as problem:
        pto.textract(made("vec f16 32x32"), made("vec f16 64x64"), 4, 33)
    (found,) = problem.value.diagnostics
    assert found.rule == "col + dst.valid.cols <= src.valid.cols"
    assert found.seen == "col + dst.valid.cols is 65 (33 + 32) and src.valid.cols is 64"
    assert found.span is not None
    assert "pto.textract(made(" in found.span.source.text[found.span.start : found.span.end]


def test_offsets_default_to_zero() -> None:
    src = made("vec f32 4x8", np.arange(32, dtype=np.float32).reshape(4, 8))
    dst = made("vec f32 2x8")
    pto.textract(dst, src)
    assert dst.numpy().tolist() == src.numpy()[:2].tolist()


# The fix-pipe form -------------------------------------------------------------------------------


def scales(count: int, start: int = 0) -> Array:
    return np.array([[parameter(0.5 * (c + 1)) for c in range(start, start + count)]], np.uint64)


def test_parameters_are_indexed_by_the_source_column() -> None:
    """The run of 3.7: fp[c] = 0.5 (c + 1), col 16, values c - 10."""
    values = np.tile(np.arange(32, dtype=np.float32) - 10, (16, 1))
    acc, fp = made("acc f32 16x32 nz", values), made("scaling u64 1x32", scales(32))
    for target in ("cpu", "a5"):
        out = made("mat i8 16x32 nd valid 16x16")
        with pto.target(target):
            if target == "a5":  # the declared window must fit there
                acc = made("acc f32 16x48 nz valid 16x32", values)
            pto.textract_fp(out, acc, fp, 0, 16)
        assert out.numpy().tolist() == [[51, 63, 76, 90, 105, 121] + [127] * 10] * 16


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 15),
    st.integers(0, 31),
    st.integers(1, 16),
    st.integers(1, 32),
    st.integers(0, 99),
)
def test_every_column_has_its_own_parameter(
    row: int, col: int, rows: int, cols: int, seed: int
) -> None:
    rows, cols = min(rows, 16 - row), min(cols, 32 - col)
    values = np.random.default_rng(seed).integers(-40, 40, (16, 32)).astype(np.int32)
    out = made(f"vec i8 16x32 valid {rows}x{cols}")
    pto.textract_fp(
        out, made("acc i32 16x32 nz", values), made("scaling u64 1x32", scales(32)), row, col
    )
    for i in range(rows):
        for j in range(cols):  # multiples of a half are exact: Python rounds half to even too
            wanted = round(int(values[row + i, col + j]) * (col + j + 1) / 2)
            assert out.numpy()[i, j] == min(max(wanted, -128), 127)


def test_relu_of_the_fix_pipe_form() -> None:
    values = np.tile(np.arange(32, dtype=np.float32) - 10, (16, 1))
    out = made("vec i8 16x32 valid 16x16")
    fp = made("scaling u64 1x32", scales(32))
    pto.textract_fp(out, made("acc f32 16x32 nz", values), fp, 0, 4, relu="normal")
    assert out.numpy()[0].tolist() == [max(0, round((c - 10) * (c + 1) / 2)) for c in range(4, 20)]


class Fp(NamedTuple):
    """A line about the fix-pipe form."""

    targets: str
    slug: str
    fp: str
    col: int
    dst: str = "mat i8 16x32 nz valid 16x16"
    src: str = "acc f32 16x64 nz"
    how: dict[str, Any] = {}  # noqa: RUF012 - never changed


FULL = "scaling u64 1x64"
FP_ROWS = [
    Fp(ALL, "", FULL, 0),
    Fp(ALL, "", FULL, 16),
    Fp(ALL, "", "scaling i64 1x64", 32),
    Fp(ALL, "", "scaling u64 1x32", 16),
    Fp("cpu", "", FULL, 8),
    Fp(BOTH, "offset-misaligned", FULL, 8),
    Fp(BOTH, "offset-misaligned", FULL, 17),
    Fp(ALL, "location", "vec u64 1x64", 0),
    Fp(ALL, "location", "bias u64 1x64", 0),
    Fp(ALL, "element-type", "scaling f32 1x64", 0),
    Fp(ALL, "element-type", "scaling u32 1x64", 0),
    Fp(ALL, "window-out-of-bounds", "scaling u64 1x16", 16),
    Fp(ALL, "window-out-of-bounds", "scaling u64 1x64 valid 1x31", 16),
    Fp(ALL, "window-out-of-bounds", FULL, 49),
    Fp(ALL, "window-out-of-bounds", FULL, -1),
    Fp(BOTH, "window-out-of-bounds", FULL, 48),  # declared 32 columns
    Fp(BOTH, "location", FULL, 0, src="vec f32 16x64"),
    Fp(BOTH, "location", FULL, 0, src="mat f32 16x64 nz"),
    Fp("a2a3", "location", FULL, 0, dst="vec i8 16x32 nz"),
    Fp("a5", "", FULL, 0, dst="vec i8 16x32 nz"),
    Fp("a5", "layout", FULL, 0, dst="vec i8 16x32 nd"),
    *(Fp("a5", "", FULL, 0, dst="vec i8 16x32 nd", how={"mode": m}) for m in MODES[:2]),
    *(Fp("a5", "attribute", FULL, 0, dst="vec i8 16x32 nd", how={"mode": m}) for m in MODES[2:]),
    Fp("a2a3", "layout", FULL, 0, dst="mat i8 16x32 nd"),
    Fp("a5", "", FULL, 0, dst="mat i8 16x32 nd"),
    *(
        Fp(
            target,
            "" if (src, dst) in QUANT[target] else "element-type",
            FULL,
            0,
            dst=f"mat {dst} 16x32 nz",
            src=f"acc {src} 16x64 nz",
        )
        for target in ("a2a3", "a5")
        for src in ("f32", "i32")
        for dst in OUT
    ),
]


@pytest.mark.parametrize(
    ("target", "row"), [(t, row) for row in FP_ROWS for t in row.targets.split()], ids=str
)
def test_legality_of_the_fix_pipe_form(target: str, row: Fp) -> None:
    with pto.target(target):
        dst, src, fp = made(row.dst), made(row.src), made(row.fp)
        for tile in (src, fp):
            poke(tile, np.zeros_like(tile.storage()))
        verdict(target, row.slug, lambda: pto.textract_fp(dst, src, fp, 0, row.col, **row.how))


def test_the_parameter_tile_is_required() -> None:
    """C4."""
    bare: Any = pto.textract_fp
    with pytest.raises(TypeError):
        bare(made("mat i8 16x32 nz"), made("acc f32 16x64 nz"), 0, 0)


# Two destinations --------------------------------------------------------------------------------


def plain(text: str, codes: Array) -> Array:
    """An array whose bytes are the nz storage of a matrix: boxes 16 x c0, column of boxes first."""
    s = shape_of(text)
    c0 = lines(s.dtype)
    return codes.reshape(s.rows // 16, 16, s.cols // c0, c0).transpose(2, 0, 1, 3).reshape(-1)


@pytest.mark.parametrize("target", ALL.split())
@pytest.mark.parametrize("dtype", VEC_A5)
def test_two_windows_of_a_row_major_tile(target: str, dtype: str) -> None:
    if bits_of(dtype) == 4 or (target == "a2a3" and dtype not in PAIR_A2A3):
        return
    codes = np.random.default_rng(4).integers(0, 128, (64, 128)).astype(storage_type(dtype))
    first, second = f"vec {dtype} 32x32 nz", f"vec {dtype} 16x64 nz"
    with pto.target(target):
        src = made(f"vec {dtype} 64x128", typed(codes, dtype))
        one, two = made(first), made(second)
        pto.textract(one, two, src, 3, 5, 40, 64)
    assert np.array_equal(elements(one.storage(), dtype), plain(first, codes[3:35, 5:37]))
    assert np.array_equal(elements(two.storage(), dtype), plain(second, codes[40:56, 64:128]))


def test_two_windows_of_one_shape_and_valid_regions_of_their_own() -> None:
    values = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    src = made("vec f32 64x64", values)
    one, two = made("vec f32 16x16 nz valid 3x5"), made("vec f32 32x32 nz valid 20x7")
    pto.textract(one, two, src, 61, 59, 44, 57)
    assert one.numpy().tolist() == values[61:64, 59:64].tolist()
    assert two.numpy().tolist() == values[44:64, 57:64].tolist()


PAIRS = [
    *((t, "" if d in types else "element-type", f"{d} 64x64 nz", f"{d} 64x64 nz", f"{d} 128x128")
      for t, types in (("a2a3", PAIR_A2A3), ("a5", VEC_A5)) for d in FORMATS),
    (ALL, "", "f16 32x32 nz", "f16 16x64 nz", "f16 64x64"),
    (ALL, "layout", "f16 32x32 nd", "f16 32x32 nz", "f16 64x64"),
    (ALL, "layout", "f16 32x32 nz", "f16 32x32 zn", "f16 64x64"),
    (ALL, "layout", "f16 32x32 nz", "f16 32x32 nz", "f16 64x64 nz"),
    (ALL, "layout", "f16 32x32 nz", "f16 32x32 nz", "f16 64x64 dn"),
    (ALL, "element-type", "f16 32x32 nz", "bf16 32x32 nz", "f16 64x64"),
    (ALL, "element-type", "f32 32x32 nz", "f16 32x32 nz", "f16 64x64"),
    (ALL, "window-out-of-bounds", "f16 64x32 nz", "f16 32x32 nz", "f16 32x64"),
    (ALL, "window-out-of-bounds", "f16 32x32 nz", "f16 32x64 nz", "f16 64x32"),
    ("a5", "", "f16 33x32 nz valid 32x32 +1", "f16 32x32 nz", "f16 64x64"),
    ("a2a3", "layout", "f16 33x32 nz valid 32x32 +1", "f16 32x32 nz", "f16 64x64"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "slug", "one", "two", "src"), [(t, *rest) for ts, *rest in PAIRS for t in ts.split()]
)
def test_legality_of_two_destinations(target: str, slug: str, one: str, two: str, src: str) -> None:
    with pto.target(target):
        a, b, whole = made(f"vec {one}"), made(f"vec {two}"), made(f"vec {src}")
        poke(whole, np.zeros_like(whole.storage()))
        verdict(target, slug, lambda: pto.textract(a, b, whole, 0, 0, 0, 0))


@pytest.mark.parametrize(
    "at", [(-1, 0, 0, 0), (0, 0, 33, 0), (0, 65536, 0, 0), (0, 0, 0, 33)], ids=str
)
def test_bounds_of_two_destinations(at: tuple[int, int, int, int]) -> None:
    src = made("vec f16 64x64", np.zeros((64, 64), np.float16))
    with pytest.raises(pto.PtoError) as problem:
        pto.textract(made("vec f16 32x32 nz"), made("vec f16 32x32 nz"), src, *at)
    assert slugs(problem) == {"window-out-of-bounds"}


def test_two_destinations_are_vector_tiles() -> None:
    src = made("vec f16 64x64", np.zeros((64, 64), np.float16))
    for one, two in (("mat", "vec"), ("vec", "mat")):
        with pytest.raises(pto.PtoError) as problem:
            pto.textract(made(f"{one} f16 32x32 nz"), made(f"{two} f16 32x32 nz"), src, 0, 0, 0, 0)
        assert slugs(problem) == {"location"}


# Convolution weights -----------------------------------------------------------------------------


def weights(dtype: str, shape: tuple[int, ...], seed: int = 1) -> tuple[Array, Array]:
    """Codes of a FRACTAL_Z tile and the K x N matrix they are."""
    codes = np.random.default_rng(seed).integers(0, 128, shape).astype(storage_type(dtype))
    c0 = shape[-1]
    if len(shape) == 4:  # C1HW, N1, 16, C0
        matrix = codes.transpose(0, 3, 1, 2).reshape(shape[0] * c0, -1)
    else:  # C1, H, W, N, C0
        matrix = codes.transpose(0, 1, 2, 4, 3).reshape(-1, shape[3])
    return codes, matrix


CONV = [
    ("f16", (6, 3, 16, 16)),
    ("i8", (4, 3, 16, 32)),
    ("f32", (9, 3, 16, 8)),
    ("bf16", (2, 3, 2, 48, 16)),
]


@pytest.mark.parametrize(("dtype", "shape"), CONV, ids=str)
@pytest.mark.parametrize("target", ALL.split())
@pytest.mark.parametrize("whole", [True, False])
def test_a_window_of_the_weight_matrix(
    target: str, dtype: str, shape: tuple[int, ...], whole: bool
) -> None:
    codes, matrix = weights(dtype, shape)
    c0 = shape[-1]
    rows, cols = 2 * c0, 32
    valid = f"{rows}x{cols}" if whole else f"{rows - c0 // 2}x{cols - 11}"
    text = f"right {dtype} {rows}x{cols} zn valid {valid}"
    with pto.target(target):
        src = pto.conv_tile(dtype, shape, data=typed(codes, dtype))
        dst = made(text)
        before = noise(dst, 9)
        pto.textract(dst, src, c0, 16)
    # extents round up to whole blocks: all of dst is written, its spare part too
    window = matrix[c0 : c0 + rows, 16 : 16 + cols]
    got = elements(dst.storage(), dtype)[shape_of(text).offsets]
    assert np.array_equal(got, window)
    assert before.size == dst.storage().size


def test_only_whole_blocks_that_the_window_touches_move() -> None:
    codes, matrix = weights("f16", (6, 3, 16, 16))
    text = "right f16 64x48 zn valid 17x5"
    dst = made(text)
    before = elements(noise(dst, 9), "f16").copy()[shape_of(text).offsets]
    pto.textract(dst, pto.conv_tile("f16", (6, 3, 16, 16), data=typed(codes, "f16")))
    got = elements(dst.storage(), "f16")[shape_of(text).offsets]
    assert np.array_equal(got[:32, :16], matrix[:32, :16])
    before[:32, :16] = matrix[:32, :16]
    assert np.array_equal(got, before)


class Conv(NamedTuple):
    """A line about the convolution form."""

    targets: str
    slug: str
    dst: str
    dtype: str
    shape: tuple[int, ...]
    layout: str = "fractal_z"
    row: int = 0
    col: int = 0


FOUR = (6, 3, 16, 16)
CONV_ROWS = [
    Conv(ALL, "", "right f16 32x32 zn", "f16", FOUR),
    Conv(ALL, "", "right f16 32x32 zn", "f16", (2, 3, 1, 48, 16), "fractal_z_3d"),
    Conv(ALL, "", "right bf16 32x32 zn", "f16", FOUR),  # equal sizes
    Conv(ALL, "element-type", "right f32 32x32 zn", "f16", FOUR),
    Conv(ALL, "location", "left f16 32x32 zn", "f16", FOUR),
    Conv(ALL, "layout", "right f16 32x32 nz", "f16", FOUR),
    Conv(ALL, "layout", "right f16 32x32 zn", "f16", (1, 2, 4, 4, 16), "nc1hwc0"),
    Conv(ALL, "shape", "right f16 16x16 zn", "f16", (6, 3, 32, 16)),
    Conv(ALL, "shape", "right f16 16x16 zn", "f16", (6, 3, 16, 32)),
    Conv(ALL, "", "right f16 32x32 zn", "f16", FOUR, row=64, col=16),
    Conv(ALL, "window-out-of-bounds", "right f16 32x32 zn", "f16", FOUR, row=80),
    Conv(ALL, "window-out-of-bounds", "right f16 32x32 zn", "f16", FOUR, col=32),
    Conv(ALL, "window-out-of-bounds", "right f16 32x32 zn", "f16", FOUR, row=-16),
    Conv(ALL, "window-out-of-bounds", "right f16 32x32 zn", "f16", FOUR, col=65536),
]


@pytest.mark.parametrize(
    ("target", "row"), [(t, row) for row in CONV_ROWS for t in row.targets.split()], ids=str
)
def test_legality_of_the_convolution_form(target: str, row: Conv) -> None:
    with pto.target(target):
        data = typed(np.zeros(row.shape), row.dtype)
        src = pto.conv_tile(row.dtype, row.shape, layout=row.layout, data=data)
        dst = made(row.dst)
        verdict(target, row.slug, lambda: pto.textract(dst, src, row.row, row.col))


# The examples of the two manual pages ------------------------------------------------------------


def left(dtype: pto.DType, rows: int, cols: int) -> pto.Tile:
    return pto.tile_left(dtype, rows, cols)


@pytest.mark.parametrize("target", ALL.split())
def test_pattern_1_the_left_block_of_a_matrix(target: str) -> None:
    values = np.random.default_rng(0).normal(size=(64, 256)).astype(np.float32)
    with pto.target(target):
        mat = pto.tile("mat", pto.f32, 64, 256, layout="zn", data=values)
        block = left(pto.f32, 64, 64)
        pto.textract(block, mat, 0, 0)
    assert np.array_equal(block.numpy(), values[:, :64])
    assert str(block.layout) == ("zz" if target == "a2a3" else "nz")


@pytest.mark.parametrize("target", BOTH.split())
def test_pattern_2_as_printed_is_refused(target: str) -> None:
    """C11: the source has no boxes."""
    with pto.target(target):
        mat = pto.tile("mat", pto.f16, 32, 128, data=np.zeros((32, 128)))
        with pytest.raises(pto.PtoError) as problem:
            pto.textract(left(pto.f16, 32, 32), mat, 0, 0)
    assert slugs(problem) == {"layout"}


@pytest.mark.parametrize("target", ALL.split())
@pytest.mark.parametrize("layout", ["nz", "zn"])
def test_pattern_2_corrected_slides_a_window(target: str, layout: str) -> None:
    values = np.random.default_rng(1).normal(size=(32, 128)).astype(np.float16)
    with pto.target(target):
        mat = pto.tile("mat", pto.f16, 32, 128, layout=layout, data=values)
        window = left(pto.f16, 32, 32)
        for col in (0, 32, 64, 96):
            pto.textract(window, mat, 0, col)
            assert np.array_equal(window.numpy(), values[:, col : col + 32])


@pytest.mark.parametrize("target", ALL.split())
def test_overlapping_windows_need_not_divide_the_source(target: str) -> None:
    """C3."""
    values = np.random.default_rng(2).normal(size=(48, 80)).astype(np.float16)
    with pto.target(target):
        mat = pto.tile("mat", pto.f16, 48, 80, layout="nz", data=values)
        window = left(pto.f16, 32, 32)
        for row, col in ((0, 0), (16, 16), (0, 48), (16, 32)):
            pto.textract(window, mat, row, col)
            assert np.array_equal(window.numpy(), values[row : row + 32, col : col + 32])


@pytest.mark.parametrize("target", ALL.split())
def test_pattern_3_as_printed_is_refused(target: str) -> None:
    """C11: a box of int8 has 32 columns."""
    with pto.target(target), pytest.raises(pto.PtoError) as problem:
        pto.tile("mat", pto.i8, 16, 16, layout="nz")
    assert slugs(problem) == {"tile-shape"}


@pytest.mark.parametrize("target", ALL.split())
def test_pattern_3_corrected_quantises_channels_16_to_31(target: str) -> None:
    values = np.random.default_rng(3).integers(-9, 10, (32, 64)).astype(np.float32)
    with pto.target(target):
        acc = made("acc f32 32x64 nz", values)
        mat = pto.tile("mat", pto.i8, 16, 32, layout="nz", valid=(16, 16))
        fp = pto.tile("scaling", pto.u64, 1, 64, data=scales(64))
        pto.textract_fp(mat, acc, fp, 0, 16)
    wanted = [[round(float(values[i, c]) * (c + 1) / 2) for c in range(16, 32)] for i in range(16)]
    assert mat.numpy().tolist() == [[min(max(x, -128), 127) for x in line] for line in wanted]


@pytest.mark.parametrize("target", ALL.split())
def test_the_auto_and_manual_examples(target: str) -> None:
    values = np.random.default_rng(4).normal(size=(16, 16)).astype(np.float32)
    with pto.target(target):
        src = pto.tile("mat", pto.f32, 16, 16, layout="zn", data=values)
        dst = left(pto.f32, 16, 16)
        pto.textract(dst, src, 0, 0)
    assert np.array_equal(dst.numpy(), values)


@pytest.mark.parametrize("target", ALL.split())
def test_variant_2_relu_out_of_the_accumulator(target: str) -> None:
    values = np.array([[-1.5, 2.5, -0.0, np.nan] * 4] * 16, np.float32)
    with pto.target(target):
        dst = made("mat f16 16x16 nz")
        pto.textract(dst, made("acc f32 16x16 nz", values), relu="normal")
    assert dst.numpy().view(np.uint16)[0, :4].tolist() == [0, 0x4100, 0, 0]


@pytest.mark.parametrize("target", ALL.split())
def test_variant_3_one_parameter_for_all_columns(target: str) -> None:
    values = np.tile(np.arange(64, dtype=np.float32), (16, 1))
    with pto.target(target):
        dst = made("mat i8 16x32 nz")
        pto.textract(dst, made("acc f32 16x64 nz", values), 0, 32, quant=parameter(0.5, 1))
    assert dst.numpy()[0].tolist() == [round(c / 2 + 1) for c in range(32, 64)]
