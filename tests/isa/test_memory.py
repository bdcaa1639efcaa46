"""TLOAD and TSTORE against formulas for each element, and their rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from by_hand import made, noise, parameter, result, shape_of, slugs
from hypothesis import given, settings
from hypothesis import strategies as st

import ptokit as pto
from fuzz.scale import sampled, scaled
from naming import named
from oracles.formats import FORMATS, Array, bits_of, codes_of, storage_type, typed
from oracles.storage import LAYOUTS, elements, lines, offsets
from ptokit.values.pads import CustomPad

Five = tuple[int, int, int, int, int]

# each layout: (extents, row, column) -> the five indices
INDICES: dict[str, Callable[[Five, int, int], Five]] = {
    "nd": lambda n, r, c: (
        r // (n[1] * n[2] * n[3]),
        r // (n[2] * n[3]) % n[1],
        r // n[3] % n[2],
        r % n[3],
        c,
    ),
    "dn": lambda n, r, c: (
        c // (n[1] * n[2] * n[4]),
        c // (n[2] * n[4]) % n[1],
        c // n[4] % n[2],
        r,
        c % n[4],
    ),
    "nz": lambda n, r, c: (c // n[4] // n[1], c // n[4] % n[1], r // n[3], r % n[3], c % n[4]),
    "mx_a_zz": lambda n, r, c: (0, r // 16, c // 2, r % 16, c % 2),
    "mx_a_nd": lambda n, r, c: (0, 0, r, c // 2, c % 2),
    "mx_a_dn": lambda n, r, c: (0, 0, c // 2, r, c % 2),
    "mx_b_nn": lambda n, r, c: (0, c // 16, r // 2, c % 16, r % 2),
    "mx_b_nd": lambda n, r, c: (0, 0, r // 2, c, r % 2),
    "mx_b_dn": lambda n, r, c: (0, 0, c, r // 2, r % 2),
}
# extents -> rows and columns of the matrix
MATRIX: dict[str, Callable[[Five], tuple[int, int]]] = {
    "nd": lambda n: (n[0] * n[1] * n[2] * n[3], n[4]),
    "dn": lambda n: (n[3], n[0] * n[1] * n[2] * n[4]),
    "nz": lambda n: (n[2] * n[3], n[0] * n[1] * n[4]),
    "mx_a_zz": lambda n: (n[1] * 16, n[2] * 2),
    "mx_a_nd": lambda n: (n[2], n[3] * 2),
    "mx_a_dn": lambda n: (n[3], n[2] * 2),
    "mx_b_nn": lambda n: (n[2] * 2, n[1] * 16),
    "mx_b_nd": lambda n: (n[2] * 2, n[3]),
    "mx_b_dn": lambda n: (n[3] * 2, n[2]),
}
GLOBAL = tuple(INDICES)


class View(NamedTuple):
    """A global tensor as the tests see it."""

    layout: str
    shape: Five
    stride: Five
    offset: int

    @property
    def matrix(self) -> tuple[int, int]:
        return MATRIX[self.layout](self.shape)

    @property
    def places(self) -> Array:
        """The element of the array that each (row, column) is."""
        rows, cols = self.matrix
        place = INDICES[self.layout]
        return np.array(
            [
                [
                    self.offset
                    + sum(i * m for i, m in zip(place(self.shape, r, c), self.stride, strict=True))
                    for c in range(cols)
                ]
                for r in range(rows)
            ]
        )

    @property
    def length(self) -> int:
        return int(self.places.max()) + 1


def random_view(layout: str, c0: int, rng: np.random.Generator) -> View:
    """Random extents, the axes in random order in memory, gaps between and inside them.

    Boxes are without gaps, and their columns and batches follow in order.
    """

    def some(high: int) -> int:
        return int(rng.integers(1, high + 1))

    shape: Five = {
        "nd": (some(2), some(3), some(3), some(4), some(9)),
        "dn": (some(2), some(3), some(2), some(9), some(4)),
        "nz": (some(2), some(3), some(3), 16, c0),
        "mx_a_zz": (1, some(3), some(3), 16, 2),
        "mx_a_nd": (1, 1, some(20), some(5), 2),
        "mx_a_dn": (1, 1, some(5), some(20), 2),
        "mx_b_nn": (1, some(3), some(3), 16, 2),
        "mx_b_nd": (1, 1, some(5), some(20), 2),
        "mx_b_dn": (1, 1, some(20), some(5), 2),
    }[layout]
    boxes = layout == "nz"
    stride = [0] * 5
    step: int = 1 if boxes else int(rng.integers(1, 3))
    for axis in reversed(range(5)) if boxes else [int(n) for n in rng.permutation(5)]:
        stride[axis] = step
        gap = (2 * c0 if axis < 3 else 0) if boxes else 1
        step = step * shape[axis] + gap * int(rng.integers(0, 4))
    n0, n1, n2, n3, n4 = stride
    return View(layout, shape, (n0, n1, n2, n3, n4), int(rng.integers(0, 6)))


def around(
    loc: str, dtype: str, layout: str, rows: int, cols: int, rng: np.random.Generator
) -> str:
    """A tile of this layout that holds rows x cols as its valid region, with some to spare."""
    c0 = lines(dtype)
    down, across = {
        "nd": (1, c0),
        "dn": (c0, 1),
        "nz": (16, c0),
        "zz": (16, c0),
        "zn": (c0, 16),
        "nn": (c0, 16),
    }[layout]
    high = (-(-rows // down) + int(rng.integers(0, 2))) * down
    wide = (-(-cols // across) + int(rng.integers(0, 2))) * across
    return f"{loc} {dtype} {high}x{wide} {layout} valid {rows}x{cols}"


def buffer(view: View, dtype: str, rng: np.random.Generator) -> Array:
    """Random codes, a few more than the view reaches; four-bit elements two in a byte."""
    count = view.length + int(rng.integers(0, 5))
    if bits_of(dtype) == 4:
        return rng.integers(0, 256, (count + 1) // 2, dtype=np.uint8)
    raw = rng.integers(0, 256, count * bits_of(dtype) // 8, dtype=np.uint8)
    return typed(raw.view(storage_type(dtype)), dtype)


def tensor(array: Array, view: View, dtype: str) -> pto.Tensor:
    return pto.tensor(
        array,
        dtype=dtype,
        shape=view.shape,
        stride=view.stride,
        offset=view.offset,
        layout=view.layout,
    )


def codes(array: Array, dtype: str) -> Array:
    return elements(array.view(np.uint8), dtype).copy()


def rotated(layouts: Sequence[str], shift: int) -> list[str]:
    """The layouts from another one on, so that a sample of them differs from case to case."""
    first = shift % len(layouts)
    return [*layouts[first:], *layouts[:first]]


# Loads -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", GLOBAL)
def test_a_load_moves_the_matrix_of_its_layout(layout: str) -> None:
    for dtype in FORMATS:
        with named(dtype):
            check_load(layout, dtype)


def check_load(layout: str, dtype: str) -> None:
    """Into every tile layout, bit for bit; with a null pad everything else of the tile stays."""
    shift = GLOBAL.index(layout) + [*FORMATS].index(dtype)
    rng = np.random.default_rng(100 * GLOBAL.index(layout) + [*FORMATS].index(dtype))
    for tile_layout in sampled(rotated(LAYOUTS, shift), 2):
        view = random_view(layout, lines(dtype), rng)
        rows, cols = view.matrix
        array = buffer(view, dtype, rng)
        before = array.copy()
        text = around("vec", dtype, tile_layout, rows, cols, rng)
        dst = made(text)
        noise(dst, 1)
        wanted = elements(dst.storage(), dtype).copy()
        pto.tload(dst, tensor(array, view, dtype))
        wanted[shape_of(text).offsets[:rows, :cols]] = codes(array, dtype)[view.places]
        assert np.array_equal(elements(dst.storage(), dtype), wanted), (view, text)
        assert array.tobytes() == before.tobytes()


@settings(max_examples=scaled(37))
@given(st.sampled_from(GLOBAL), st.sampled_from([*FORMATS]), st.integers(0, 1 << 32))
def test_a_store_writes_the_matrix_and_nothing_else(layout: str, dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    view = random_view(layout, lines(dtype), rng)
    rows, cols = view.matrix
    array = buffer(view, dtype, rng)
    text = around("vec", dtype, str(rng.choice(LAYOUTS)), rows, cols, rng)
    src = made(text)
    raw = noise(src, seed)
    wanted = codes(array, dtype)
    wanted[view.places] = result(src, text)
    pto.tstore(tensor(array, view, dtype), src)
    assert np.array_equal(codes(array, dtype), wanted), (view, text)
    assert np.array_equal(src.storage(), raw)


@settings(max_examples=scaled(15))
@given(st.sampled_from(GLOBAL), st.sampled_from([*FORMATS]), st.integers(0, 1 << 32))
def test_what_is_stored_is_loaded(layout: str, dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    view = random_view(layout, lines(dtype), rng)
    array = buffer(view, dtype, rng)
    texts = [around("mat", dtype, str(rng.choice(LAYOUTS)), *view.matrix, rng) for _ in range(2)]
    first, second = (made(text) for text in texts)
    noise(first, seed)
    pto.tstore(tensor(array, view, dtype), first)
    pto.tload(second, tensor(array, view, dtype))
    assert np.array_equal(result(first, texts[0]), result(second, texts[1]))


def test_a_load_of_equal_size_may_change_the_type() -> None:
    array = np.array([[0x7FA12345, 0x80000000]], np.uint32)
    dst = made("vec f32 1x8 valid 1x2")
    pto.tload(dst, pto.tensor(array))
    assert result(dst, "vec f32 1x8 valid 1x2").tolist() == array.tolist()


def test_a_row_may_be_read_several_times() -> None:
    dst = made("vec f32 4x8")
    array = np.arange(8, dtype=np.float32)
    pto.tload(dst, pto.tensor(array, shape=(4, 8), stride=(0, 1)))
    assert dst.numpy().tolist() == [array.tolist()] * 4


def test_views_of_fewer_dimensions() -> None:
    array = np.arange(48, dtype=np.int32)
    for shape in ((48,), (6, 8), (2, 3, 8), (1, 2, 3, 8), (2, 1, 3, 1, 8)):
        rows = 48 // shape[-1]
        dst = made(f"vec i32 {rows}x{shape[-1]}")
        pto.tload(dst, pto.tensor(array.reshape(shape).copy()))
        assert dst.numpy().tolist() == array.reshape(rows, -1).tolist()


# Pads --------------------------------------------------------------------------------------------

INF = {"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}
SIGNED, UNSIGNED = ("i8", "i16", "i32"), ("u8", "u16", "u32")


def pad_code(pad: str, dtype: str) -> int:
    """The pads of hardware."""
    bits = bits_of(dtype)
    if pad in ("null", "zero"):
        return 0
    if dtype in INF:
        return INF[dtype] + (1 << bits - 1) * (pad == "min")
    if dtype in SIGNED:
        return (1 << bits - 1) - (pad == "max")
    if dtype in UNSIGNED:
        return ((1 << bits) - 1) * (pad == "max")
    return 0


@pytest.mark.parametrize("pad", ["null", "zero", "max", "min"])
def test_the_rest_of_the_tile_takes_the_pad(pad: str) -> None:
    for dtype, layout in itertools.product(FORMATS, ("nd", "nz")):
        if dtype != "i4":
            with named(dtype, layout):
                check_pad(pad, pad_code(pad, dtype), dtype, layout)


@pytest.mark.parametrize(
    ("dtype", "code"),
    [("f32", 0xBF80C0DE), ("i32", 0xBF80C0DE), ("f16", 0xC0DE), ("bf16", 0xC0DE), ("i8", 0xDE)],
)
def test_a_custom_pad_gives_its_low_bits(dtype: str, code: int) -> None:
    """D2: the bits, where the simulator writes 0."""
    check_pad(CustomPad(0xBF80C0DE), code, dtype, "nd")


def check_pad(pad: str | CustomPad, code: int, dtype: str, layout: str) -> None:
    c0 = lines(dtype)
    dst = pto.tile("vec", dtype, 16, 2 * c0, layout=layout, valid=(5, c0 + 3), pad=pad)
    noise(dst, 7)
    array = np.ones(5 * (c0 + 3), storage_type(dtype))
    held = elements(dst.storage(), dtype).copy()
    if bits_of(dtype) == 4:
        array = np.full((array.size + 1) // 2, 0x11, np.uint8)
    pto.tload(dst, pto.tensor(typed(array, dtype) if bits_of(dtype) > 4 else array,
                              dtype=dtype, shape=(5, c0 + 3)))  # fmt: skip
    where = offsets(layout, 512, 16, 2 * c0, c0)
    wanted = np.full(where.size, code, np.uint64) if pad != "null" else held.astype(np.uint64)
    wanted[where[:5, : c0 + 3]] = 1
    assert np.array_equal(elements(dst.storage(), dtype), wanted)


# Stores that convert -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("relu", [False, True])
@settings(max_examples=scaled(8))
@given(data=st.data())
def test_an_accumulator_narrows(dtype: str, relu: bool, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.floats(width=32), min_size=6, max_size=6))
    values = np.array(cells, np.float32).reshape(2, 3)
    array = np.zeros((2, 3), FORMATS[dtype][1])
    acc = made("acc f32 16x16 nz valid 2x3", values)
    pto.tstore(pto.tensor(array), acc, relu="normal" if relu else "none")
    wanted = codes_of(np.where(values > 0, values, np.float32(0)) if relu else values, dtype)
    wanted = wanted.view(FORMATS[dtype][1])
    nan = np.isnan(wanted.astype(np.float32))
    assert np.array_equal(nan, np.isnan(array.astype(np.float32)))
    assert np.array_equal(array[~nan].tobytes(), wanted[~nan].tobytes())


def test_overflow_of_a_plain_store_is_infinity() -> None:
    """D17."""
    array = np.zeros((1, 2), np.float16)
    pto.tstore(
        pto.tensor(array), made("acc f32 16x16 nz valid 1x2", np.array([[1e6, -65520]], "f4"))
    )
    assert array.tolist() == [[np.inf, -np.inf]]


def test_a_store_through_parameters_takes_one_for_each_column() -> None:
    """D4: by column, for nz accumulators too."""
    values = np.full((5, 16), 8, np.float32)
    params = np.array([[parameter(c + 1) for c in range(16)]], np.uint64)
    array = np.zeros((5, 16), np.int8)
    acc = made("acc f32 16x16 nz valid 5x16", values)
    pto.tstore_fp(pto.tensor(array), acc, made("scaling u64 1x16", params))
    assert array.tolist() == [[min(8 * (c + 1), 127) for c in range(16)]] * 5


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_an_accumulator_goes_to_an_nz_view(target: str) -> None:
    values = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    array = np.zeros((1, 2, 1, 16, 16), np.float32)
    with pto.target(target):
        pto.tstore(pto.tensor(array, layout="nz"), made("acc f32 16x32 nz", values))
    assert np.array_equal(array[0, :, 0].transpose(1, 0, 2).reshape(16, 32), values)


def test_channel_split() -> None:
    """n4 = 8 for f32."""
    values = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    array = np.zeros((1, 4, 1, 16, 8), np.float32)
    with pto.target("a5"):
        pto.tstore(pto.tensor(array, layout="nz"), made("acc f32 16x32 nz", values))
    assert np.array_equal(array[0, :, 0].transpose(1, 0, 2).reshape(16, 32), values)


# Atomic add --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "u8", "u16", "u32", "i64"])
def test_atomic_add_of_integers_wraps(dtype: str) -> None:
    kind = FORMATS[dtype][1]
    info = np.iinfo(kind)
    array = np.array([[info.max, 1, info.min, 5]], kind)
    src = made(f"vec {dtype} 1x32 valid 1x4", np.array([[1, 2, info.max, 0]], kind))
    pto.tstore(pto.tensor(array), src, atomic="add")
    assert array.tolist() == [[info.min, 3, info.max if info.min == 0 else -1, 5]]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_atomic_add_of_floats_rounds_after_each_add(dtype: str) -> None:
    kind = np.dtype(FORMATS[dtype][1])
    one = 2.0 ** {"f32": 24, "f16": 11, "bf16": 8}[dtype]
    array = np.array([[one, one, -0.0, np.inf]], np.float32).astype(kind)
    src = made(
        f"vec {dtype} 1x16 valid 1x4", np.array([[1, 2, -0.0, -np.inf]], np.float32).astype(kind)
    )
    for _ in range(2):
        pto.tstore(pto.tensor(array), src, atomic="add")
    got = array.astype(np.float64)[0]
    assert got[:2].tolist() == [one, one + 4]
    assert got[2] == 0
    assert np.signbit(got[2])
    assert np.isnan(got[3])


@settings(max_examples=scaled(10))
@given(st.sampled_from(["f32", "f16", "bf16"]), st.integers(0, 1 << 32))
def test_atomic_add_is_the_rounded_sum(dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    view = random_view("nd", lines(dtype), rng)
    kind = FORMATS[dtype][1]
    array = np.zeros(view.length + 3, kind)
    array[:] = rng.normal(size=array.shape).astype(np.float32).astype(kind)
    before = array.astype(np.float64)
    values = rng.normal(size=view.matrix).astype(np.float32).astype(kind)
    text = around("vec", dtype, "nd", *view.matrix, rng)
    pto.tstore(tensor(array, view, dtype), made(text, values), atomic="add")
    total = before[view.places] + values.astype(np.float64)  # exact or rounded below f32's half ulp
    wanted = before.astype(kind)
    wanted[view.places] = total.astype(np.float32).astype(kind)
    assert array.tobytes() == wanted.tobytes()


def test_atomic_add_of_a_quantised_accumulator() -> None:
    array = np.array([[100, -3]], np.int8)
    acc = made("acc f32 16x16 nz valid 1x2", np.array([[10, 10]], np.float32))
    pto.tstore(pto.tensor(array), acc, quant=parameter(2), atomic="add", relu="normal")
    assert array.tolist() == [[120, 17]]


# Views outside their array -----------------------------------------------------------------------

OUTSIDE: list[tuple[int, dict[str, Any]]] = [
    (64, {"shape": (4, 17)}),
    (64, {"shape": (5, 16)}),
    (64, {"shape": (4, 16), "offset": 1}),
    (64, {"shape": (4, 16), "stride": (17, 1)}),
    (64, {"shape": (4, 16), "stride": (32, 2)}),
    (1, {"shape": (4, 16)}),
]


@pytest.mark.parametrize(("size", "view"), OUTSIDE, ids=str)
@pytest.mark.parametrize("store", [False, True])
def test_a_view_past_the_end_is_reported(size: int, view: dict[str, Any], store: bool) -> None:
    array = np.full(size, 7, np.int8)
    rows, cols = view["shape"]
    tile = made(f"vec i8 {rows}x32 valid {rows}x{cols}")
    raw = noise(tile, 3)
    outside = pto.tensor(array, **view)
    with pytest.raises(pto.PtoError) as problem:
        pto.tstore(outside, tile) if store else pto.tload(tile, outside)
    assert slugs(problem) == {"global-out-of-bounds"}
    assert str(size) in (problem.value.diagnostics[0].seen or "")
    assert np.all(array == 7)
    assert np.array_equal(tile.storage(), raw), "a refused instruction changes nothing"


@pytest.mark.parametrize(
    "view", [{"offset": -1}, {"stride": (-16, 1)}, {"stride": (16, -1)}], ids=str
)
def test_a_view_before_the_start_is_refused(view: dict[str, Any]) -> None:
    array = np.arange(64, dtype=np.int8)
    tile = made("vec i8 4x32 valid 4x16")
    with pytest.raises((pto.PtoError, ValueError)):
        pto.tload(tile, pto.tensor(array, shape=(4, 16), **view))


def test_a_view_that_ends_with_its_array_is_inside() -> None:
    array = np.arange(50, dtype=np.int8)
    tile = made("vec i8 4x32 valid 4x5")
    pto.tload(tile, pto.tensor(array, shape=(4, 5), stride=(15, 1)))
    assert tile.numpy()[3].tolist() == [45, 46, 47, 48, 49]


def test_a_padded_tile_has_values_everywhere() -> None:
    for pad in ("zero", "null"):
        tile = pto.tile("vec", "f32", 4, 8, valid=(2, 3), pad=pad)
        pto.tload(tile, pto.tensor(np.ones((2, 3), np.float32)))
        assert tile.handle.memory.shadow.all() == (pad == "zero")
        assert np.count_nonzero(tile.handle.memory.shadow) == (128 if pad == "zero" else 24)
