"""TLOAD and TSTORE against formulas for each element, and their rules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import ptokit as pto
from every import every
from fuzz.scale import sampled
from naming import named
from oracles.formats import FORMATS, Array, bits_of, storage_type, typed
from oracles.movement import ENDS
from oracles.storage import LAYOUTS, elements, global_offsets, lines, offsets
from ptokit.values.pads import CustomPad
from tiles import made, noise, parameter, result, shape_of, slugs

Five = tuple[int, int, int, int, int]

GLOBAL = (
    *("nd", "dn", "nz"),
    *(f"mx_{factor}" for factor in ("a_zz", "a_nd", "a_dn", "b_nn", "b_nd", "b_dn")),
)


class View(NamedTuple):
    """A global tensor as the tests see it."""

    layout: str
    shape: Five
    stride: Five
    offset: int

    @property
    def places(self) -> Array:
        """The element of the array that each (row, column) is."""
        return self.offset + global_offsets(self.layout, self.shape, self.stride)

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
        "mx_a_zz": (some(2), some(3), some(3), 16, 2),
        "mx_a_nd": (1, 1, some(20), some(5), 2),
        "mx_a_dn": (1, 1, some(5), some(20), 2),
        "mx_b_nn": (some(2), some(3), some(3), 16, 2),
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


# Loads and stores --------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", GLOBAL)
def test_views_of_each_layout_are_loaded_and_stored(layout: str) -> None:
    for dtype in FORMATS:
        with named(dtype):
            check_moves(layout, dtype)


def check_moves(layout: str, dtype: str) -> None:
    """With each tile layout, bit for bit; everything else of the tile and of the array stays."""
    shift = GLOBAL.index(layout) + [*FORMATS].index(dtype)
    rng = np.random.default_rng(100 * GLOBAL.index(layout) + [*FORMATS].index(dtype))
    for tile_layout in sampled(rotated(LAYOUTS, shift), 2):
        view = random_view(layout, lines(dtype), rng)
        rows, cols = view.places.shape
        array = buffer(view, dtype, rng)
        text = around("vec", dtype, tile_layout, rows, cols, rng)
        tile, window = made(text), shape_of(text).offsets[:rows, :cols]
        noise(tile, 1)
        held, wanted = codes(array, dtype), elements(tile.storage(), dtype).copy()
        wanted[window] = held[view.places]
        pto.tload(tile, tensor(array, view, dtype))
        assert np.array_equal(elements(tile.storage(), dtype), wanted), (view, text)
        assert np.array_equal(codes(array, dtype), held)
        noise(tile, 2)
        held[view.places] = result(tile, text)
        pto.tstore(tensor(array, view, dtype), tile)
        assert np.array_equal(codes(array, dtype), held), (view, text)


# Pads --------------------------------------------------------------------------------------------


@every("pad", ["null", "zero", "max", "min"])
def test_the_rest_of_the_tile_takes_the_pad(pad: str) -> None:
    for dtype, layout in itertools.product(FORMATS, ("nd", "nz")):
        if dtype != "i4":
            with named(dtype, layout):
                high, low = ENDS.get(dtype, (0, 0))
                check_pad(pad, {"max": high, "min": low}.get(pad, 0), dtype, layout)


def test_a_custom_pad_gives_its_low_bits() -> None:
    """D2: the bits, where the simulator writes 0."""
    for dtype in ("f32", "i32", "f16", "bf16", "i8"):
        with named(dtype):
            code = 0xBF80C0DE & (1 << bits_of(dtype)) - 1
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


def test_overflow_of_a_plain_store_is_infinity() -> None:
    """D17."""
    array = np.zeros((1, 2), np.float16)
    pto.tstore(
        pto.tensor(array), made("acc f32 16x16 nz valid 1x2", np.array([[1e6, -65520]], "f4"))
    )
    assert array.tolist() == [[np.inf, -np.inf]]


@every(("target", "c0"), [("a2a3", 16), ("a5", 16), ("a5", 8)])
def test_an_accumulator_goes_to_an_nz_view(target: str, c0: int) -> None:
    """Boxes of 8 columns are the channel split of f32."""
    values = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    array = np.zeros((1, 32 // c0, 1, 16, c0), np.float32)
    with pto.target(target):
        pto.tstore(pto.tensor(array, layout="nz"), made("acc f32 16x32 nz", values))
    assert np.array_equal(array[0, :, 0].transpose(1, 0, 2).reshape(16, 32), values)


# Atomic add --------------------------------------------------------------------------------------


@every("dtype", ["i8", "i16", "i32", "u8", "u16", "u32", "i64"])
def test_atomic_add_of_integers_wraps(dtype: str) -> None:
    kind = FORMATS[dtype][1]
    info = np.iinfo(kind)
    array = np.array([[info.max, 1, info.min, 5]], kind)
    src = made(f"vec {dtype} 1x32 valid 1x4", np.array([[1, 2, info.max, 0]], kind))
    pto.tstore(pto.tensor(array), src, atomic="add")
    assert array.tolist() == [[info.min, 3, info.max if info.min == 0 else -1, 5]]


@every("dtype", ["f32", "f16", "bf16"])
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


def test_a_view_past_the_end_is_reported() -> None:
    for size, view in OUTSIDE:
        for store in (False, True):
            with named(size, view, store):
                check_outside(size, view, store)


def check_outside(size: int, view: dict[str, Any], store: bool) -> None:
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


def test_a_view_before_the_start_is_refused() -> None:
    array, tile = np.arange(64, dtype=np.int8), made("vec i8 4x32 valid 4x16")
    views: list[dict[str, Any]] = [{"offset": -1}, {"stride": (-16, 1)}, {"stride": (16, -1)}]
    for view in views:
        with named(view), pytest.raises((pto.PtoError, ValueError)):
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
