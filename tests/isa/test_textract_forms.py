"""TEXTRACT: the fix-pipe form, two destinations, convolution weights."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from by_hand import made, noise, poke, shape_of, slugs
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import MODES, OUT, PAIR_A2A3, QUANT, VEC_A5, scales, verdict

import ptokit as pto
from fuzz.scale import scaled
from naming import named
from oracles.formats import FORMATS, Array, bits_of, storage_type, typed
from oracles.storage import elements, lines

ALL = "cpu a2a3 a5"
BOTH = "a2a3 a5"


# The fix-pipe form -------------------------------------------------------------------------------


def test_parameters_are_indexed_by_the_source_column() -> None:
    """A worked example: fp[c] = 0.5 (c + 1), col 16, values c - 10."""
    values = np.tile(np.arange(32, dtype=np.float32) - 10, (16, 1))
    acc, fp = made("acc f32 16x32 nz", values), made("scaling u64 1x32", scales(32))
    for target in ("cpu", "a5"):
        out = made("mat i8 16x32 nd valid 16x16")
        with pto.target(target):
            if target == "a5":  # the declared window must fit there
                acc = made("acc f32 16x48 nz valid 16x32", values)
            pto.textract_fp(out, acc, fp, 0, 16)
        assert out.numpy().tolist() == [[51, 63, 76, 90, 105, 121] + [127] * 10] * 16


@settings(max_examples=scaled(15))
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
    Fp(ALL, "", "scaling f32 1x64", 0),
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
    Fp("a5", "", FULL, 0, dst="vec i8 16x32 nd"),  # C++ asks for a mode: a warning
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


def test_legality_of_the_fix_pipe_form() -> None:
    for target, row in [(t, r) for r in FP_ROWS for t in r.targets.split()]:
        with named(target, row), pto.target(target):
            dst, src, fp = made(row.dst), made(row.src), made(row.fp)
            for tile in (src, fp):
                poke(tile, np.zeros_like(tile.storage()))
            extract = partial(pto.textract_fp, dst, src, fp, 0, row.col, **row.how)
            verdict(target, row.slug, extract)


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
