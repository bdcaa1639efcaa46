"""TEXTRACT: every element it moves by the formula, and the examples of its manual pages."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from by_hand import made, noise, parameter, poke, result, slugs
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tables import scales

import ptokit as pto
from fuzz.scale import scaled
from oracles.formats import FORMATS, Array, typed
from oracles.storage import LAYOUTS, elements, lines, offsets

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
@settings(max_examples=scaled(15))
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


@settings(max_examples=scaled(37))
@given(data=st.data())
def test_a_window_that_leaves_the_valid_region_is_refused(data: st.DataObject) -> None:
    """Also where the declared shape would have room for it."""
    dst, src, row, col = data.draw(moves("f16"))
    assume(0 not in dst.valid or 0 not in src.valid)  # of nothing no window leaves anything
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
    part.handle.elements = tile.handle.elements
    part.handle.memory.shadow[:] = 0xFF
    pto.textract(part, tile, 1, 1)
    old = np.arange(64).reshape(8, 8)
    new = old.copy()
    new[:4, :4] = old[1:5, 1:5]
    assert tile.numpy().tolist() == new.tolist()


def test_what_was_never_written_has_no_value_in_the_window() -> None:
    src = made("mat f16 32x32 nz valid 16x32", np.ones((16, 32), np.float16))
    whole = made("mat f16 32x32 nz")
    whole.handle.bytes()[:] = src.storage()
    whole.handle.memory.shadow[:] = src.handle.memory.shadow
    pto.textract(made("mat f16 16x16 nz"), whole, 0, 16)
    part = made("mat f16 16x16 nz")
    pto.textract(part, whole, 4, 16)
    assert part.written().all(axis=1).tolist() == [row < 12 for row in range(16)]
    assert part.written().any(axis=1).tolist() == [row < 12 for row in range(16)]


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
    assert str(block.type.layout) == ("zz" if target == "a2a3" else "nz")


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
