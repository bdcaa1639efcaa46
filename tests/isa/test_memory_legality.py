"""Which loads and stores each target takes, a row for each case."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import ptokit as pto
from every import every
from naming import named
from oracles.formats import FORMATS, bits_of, typed
from oracles.storage import LAYOUTS
from tiles import made, parameter, shape_of, verdict, zeros


class Row(NamedTuple):
    """One line of a legality table: what, on which targets, with which tile and view."""

    targets: str
    slug: str  # empty: legal
    tile: str
    shape: tuple[int, ...]
    how: dict[str, Any]


def legal(targets: str, tile: str, *shape: int, **how: Any) -> Row:
    return Row(targets, "", tile, shape, how)


def illegal(targets: str, slug: str, tile: str, *shape: int, **how: Any) -> Row:
    return Row(targets, slug, tile, shape, how)


ALL = "cpu a2a3 a5"
PLAIN = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32"]
NARROW = ["f8e4m3", "f8e5m2", "hif8", "f8e8m0", "f4e2m1x2", "f4e1m2x2"]

LOADS = [
    # locations
    *(legal(ALL, f"{loc} f16 16x32", 16, 32) for loc in ("vec", "mat")),
    legal("cpu", "left f16 16x32 nz", 16, 32),
    *(illegal("a2a3 a5", "location", f"{loc} f16 16x32", 16, 32) for loc in ("bias", "scaling")),
    illegal("a2a3 a5", "location", "acc f32 16x32 nz", 16, 32),
    illegal("a2a3 a5", "location", "left f16 16x32 nz", 16, 32),
    # element types
    *(legal(ALL, f"vec {t} 4x32", 4, 32) for t in PLAIN),
    *(legal("cpu a5", f"vec {t} 4x64", 4, 64) for t in NARROW),
    *(illegal("a2a3", "element-type", f"vec {t} 4x64", 4, 64) for t in NARROW),
    *(illegal(ALL, "element-type", "vec f16 4x32", 4, 32, dtype=t) for t in ("f32", "i8", "i64")),
    *(legal(ALL, "vec f16 4x32", 4, 32, dtype=t) for t in ("i16", "bf16")),
    # layouts, vec: the same order on both sides
    legal(ALL, "vec f16 16x32", 16, 32, layout="nd"),
    legal(ALL, "vec f16 16x32 dn", 16, 32, layout="dn", stride=(1, 16)),
    legal(ALL, "vec f16 32x32 nz", 1, 2, 2, 16, 16, layout="nz"),
    *(legal("cpu", f"vec f16 32x32 {t}", 32, 32, layout="nd") for t in LAYOUTS[1:]),
    *(illegal("a2a3 a5", "layout", f"vec f16 32x32 {t}", 32, 32, layout="nd") for t in LAYOUTS[1:]),
    *(
        illegal("a2a3 a5", "layout", f"vec f16 32x32 {t}", 32, 32, layout="dn", stride=(1, 32))
        for t in ("nd", "nz", "zn")
    ),
    *(
        illegal("a2a3 a5", "layout", f"vec f16 32x32 {t}", 1, 2, 2, 16, 16, layout="nz")
        for t in ("nd", "dn", "zn")
    ),
    # layouts, mat
    legal(ALL, "mat f16 32x32", 32, 32, layout="nd"),
    legal(ALL, "mat f16 32x32 dn", 32, 32, layout="dn", stride=(1, 32)),
    legal(ALL, "mat f16 32x32 nz", 1, 2, 2, 16, 16, layout="nz"),
    legal(ALL, "mat f16 32x32 nz", 32, 32, layout="nd"),
    legal(ALL, "mat f16 32x32 zn", 32, 32, layout="dn", stride=(1, 32)),
    legal("cpu a5", "mat f16 32x32 nz", 32, 32, layout="dn", stride=(1, 32)),
    illegal("a2a3", "layout", "mat f16 32x32 nz", 32, 32, layout="dn", stride=(1, 32)),
    illegal("a2a3 a5", "layout", "mat f16 32x32 zn", 32, 32, layout="nd"),
    illegal("a2a3 a5", "layout", "mat f16 32x32 zz", 32, 32, layout="nd"),
    illegal("a2a3 a5", "layout", "mat f16 32x32 nz", 2, 16, 32, layout="nd"),  # n0 n1 n2 = 1
    illegal("a2a3 a5", "layout", "mat f16 32x32 nz/1024", 32, 32, layout="nd"),
    # MX scales
    legal("cpu a5", "mat f8e8m0 16x4 zz/32", 1, 1, 2, 16, 2, layout="mx_a_zz"),
    legal("cpu a5", "mat f8e8m0 16x4 zz/32", 1, 1, 16, 2, 2, layout="mx_a_nd"),
    legal("cpu a5", "mat f8e8m0 16x4 zz/32", 1, 1, 2, 16, 2, layout="mx_a_dn"),
    legal("cpu a5", "mat f8e8m0 4x16 nn/32", 1, 1, 2, 16, 2, layout="mx_b_nn"),
    legal("cpu a5", "mat f8e8m0 4x16 nn/32", 1, 1, 2, 16, 2, layout="mx_b_nd"),
    legal("cpu a5", "mat f8e8m0 4x16 nn/32", 1, 1, 16, 2, 2, layout="mx_b_dn"),
    illegal("a2a3 a5", "layout", "mat u8 16x32 nz", 1, 1, 16, 16, 2, layout="mx_a_zz"),
    illegal("a5", "layout", "mat f8e8m0 32x32 nn/32", 1, 2, 16, 16, 2, layout="mx_a_zz"),
    illegal("a5", "layout", "mat f8e8m0 32x32 zz/32", 1, 2, 16, 16, 2, layout="mx_b_nn"),
    illegal("a5", "element-type", "mat f16 16x4 zz/32", 1, 1, 2, 16, 2, layout="mx_a_zz"),
    illegal("a5", "shape", "mat f8e8m0 16x4 zz/32", 1, 1, 1, 16, 4, layout="mx_a_zz"),
    # shapes: the logical matrix is the valid region (D3)
    *(
        illegal("cpu a2a3", "shape", f"vec f16 32x32 valid {v}", 16, 32)
        for v in ("15x32", "16x31", "17x32")
    ),
    legal("a5", "vec f16 32x32 valid 15x31", 16, 32),  # of a larger view the part that is valid
    illegal("a5", "shape", "vec f16 32x32 valid 17x32", 16, 32),
    illegal(ALL, "shape", "vec f16 64x32", 2, 16, 32),
    legal(ALL, "vec f16 64x32 valid 32x32", 2, 16, 32),
    illegal("cpu a2a3", "shape", "vec f16 32x32 nz valid 31x32", 1, 2, 2, 16, 16, layout="nz"),
    # nz views have blocks of 16 x c0
    illegal(ALL, "layout", "vec f16 32x32 nz", 1, 2, 4, 8, 16, layout="nz"),
    illegal(ALL, "layout", "vec f16 32x32 nz", 1, 4, 2, 16, 8, layout="nz"),
    # 64-bit types
    illegal("a2a3", "layout", "vec i64 16x8 nz", 1, 2, 1, 16, 4, layout="nz"),
    # sizes
    legal("cpu a5", "vec i8 4096x32", 4096, 32),
    legal(ALL, "vec i8 4080x32", 4080, 32),
    illegal("a2a3", "shape", "vec i8 4096x32", 4096, 32),
    legal("cpu", "mat i8 16416x32", 16416, 32),
    illegal("a2a3", "shape", "mat i8 16416x32 valid 32x32", 32, 32),
    illegal("a2a3", "shape", "mat f16 4x32 valid 4x20", 4, 20),  # n4 s % 32
    illegal("a2a3", "shape", "mat f16 32x4 dn valid 20x4", 20, 4, layout="dn", stride=(1, 20)),
    legal("a2a3", "mat f16 16x32 nz valid 16x20", 16, 20, layout="nd"),
    illegal("a2a3", "shape", "mat i8 4096x32", 4096, 32),  # n3 < 4096 bursts
    legal("a2a3", "vec i8 4x32 valid 4x0", 1, 1, 1, 4, 0, layout="nd"),
]

STORES = [
    # locations
    *(legal("cpu a2a3", f"{loc} f16 16x32", 16, 32) for loc in ("vec", "mat")),
    legal("a5", "vec f16 16x32", 16, 32),
    illegal("a5", "location", "mat f16 16x32", 16, 32),
    legal(ALL, "acc f32 16x32 nz", 16, 32),
    *(illegal("a2a3 a5", "location", f"{loc} f16 16x32 nz", 16, 32) for loc in ("left", "bias")),
    # element types
    *(legal(ALL, f"vec {t} 4x32", 4, 32) for t in PLAIN),
    *(legal("cpu a5", f"vec {t} 4x64", 4, 64) for t in NARROW),
    *(illegal("a2a3", "element-type", f"vec {t} 4x64", 4, 64) for t in NARROW),
    *(illegal(ALL, "element-type", "vec f16 4x32", 4, 32, dtype=t) for t in ("f32", "i8")),
    # layouts of vec
    legal(ALL, "vec f16 16x32 dn", 16, 32, layout="dn", stride=(1, 16)),
    legal(ALL, "vec f16 32x32 nz", 1, 2, 2, 16, 16, layout="nz"),
    *(illegal("a2a3 a5", "layout", f"vec f16 32x32 {t}", 32, 32, layout="nd") for t in LAYOUTS[1:]),
    legal(ALL, "vec f16 32x32 dn valid 1x32", 1, 32, layout="nd"),
    legal(ALL, "vec f16 32x32 dn valid 32x1", 32, 1, layout="nd"),
    legal(ALL, "vec f16 32x32 valid 1x32", 1, 32, layout="dn", stride=(1, 1)),
    # shapes
    *(
        illegal(ALL, "shape", f"vec f16 32x32 valid {v}", 16, 32)
        for v in ("15x32", "16x31", "17x32")
    ),
    # acc: types without a parameter
    *(legal(ALL, "acc f32 16x32 nz", 16, 32, dtype=t) for t in ("f32", "f16", "bf16")),
    legal(ALL, "acc i32 16x32 nz", 16, 32),
    *(
        illegal("a2a3 a5", "element-type", "acc f32 16x32 nz", 16, 32, dtype=t)
        for t in ("i8", "i32")
    ),
    *(
        illegal("a2a3 a5", "element-type", "acc i32 16x32 nz", 16, 32, dtype=t)
        for t in ("i8", "f16")
    ),
    illegal("a2a3 a5", "element-type", "acc f16 16x32 nz", 16, 32),
    # acc: layouts
    illegal("a2a3", "layout", "acc f32 16x32 nz", 16, 32, layout="dn", stride=(1, 16)),
    legal("a5", "acc f32 16x32 nz", 16, 32, layout="dn", stride=(1, 16)),  # D20
    illegal("a2a3 a5", "layout", "acc f32 16x32 nd", 16, 32),
    # acc: sizes
    legal(ALL, "acc f32 16x4080 nz", 16, 4080),
    illegal("a2a3 a5", "shape", "acc f32 16x4096 nz valid 16x16", 16, 16),
    illegal("a2a3 a5", "shape", "acc f32 8208x16 nz", 8208, 16),
    illegal("a2a3 a5", "shape", "acc f32 16x32 nz valid 16x24", 1, 3, 1, 16, 8, layout="nz"),
    illegal(ALL, "layout", "acc f32 16x32 nz", 1, 2, 2, 8, 16, layout="nz"),
    illegal(ALL, "layout", "acc f32 16x32 nz", 1, 8, 1, 16, 4, layout="nz"),
    illegal("a2a3 a5", "shape", "acc i32 16x32 nz", 1, 4, 1, 16, 8, layout="nz"),
    legal("a2a3 a5", "acc f32 16x32 nz", 1, 2, 1, 16, 16, layout="nz", dtype="f16"),
    # relu and quantisation are for acc
    illegal("a2a3 a5", "attribute", "vec f16 16x32", 16, 32, relu="normal"),
    illegal("a2a3 a5", "attribute", "vec i8 16x32", 16, 32, quant=parameter(1)),
    legal(ALL, "acc f32 16x32 nz", 16, 32, relu="normal"),
    # atomic types
    *(
        legal(ALL, f"vec {t} 4x32", 4, 32, atomic="add")
        for t in ("f32", "f16", "bf16", "i32", "i16", "i8")
    ),
    *(
        illegal("a2a3 a5", "element-type", f"vec {t} 4x32", 4, 32, atomic="add")
        for t in ("u8", "u16", "u32", "i64", "u64")
    ),
    illegal("a5", "element-type", "vec f8e4m3 4x32", 4, 32, atomic="add"),
]

QUANT = {
    "a2a3": {"f32": ("i8", "u8"), "i32": ("i8", "u8", "f16")},
    "a5": {
        "f32": ("i8", "u8", "f16", "bf16", "hif8", "f8e4m3", "f32"),
        "i32": ("i8", "u8", "f16", "bf16"),
    },
}
RESULTS = ("i8", "u8", "i16", "f16", "bf16", "hif8", "f8e4m3", "f8e5m2", "f32", "i32")


def each(rows: list[Row]) -> list[tuple[str, Row]]:
    return [(target, row) for row in rows for target in row.targets.split()]


def view_of(row: Row, dtype: str) -> pto.Tensor:
    """An array that is large enough, as the view of the row."""
    how = {k: v for k, v in row.how.items() if k in ("dtype", "layout", "stride")}
    dtype = how.pop("dtype", dtype)
    count = max(int(np.prod(row.shape)), 1)
    array = (
        np.zeros((count + 1) // 2, np.uint8)
        if bits_of(dtype) == 4
        else typed(np.zeros(count), dtype)
    )
    return pto.tensor(array, dtype=dtype, shape=row.shape, **how)


def load(tile: pto.Tile, row: Row) -> None:
    pto.tload(tile, view_of(row, shape_of(row.tile).dtype))


def store(tile: pto.Tile, row: Row) -> None:
    more = {k: v for k, v in row.how.items() if k in ("relu", "quant", "atomic")}
    pto.tstore(view_of(row, shape_of(row.tile).dtype), tile, **more)


def test_legality_of_loads() -> None:
    for target, row in each(LOADS):
        with named(target, row), pto.target(target):
            tile = made(row.tile)
            verdict(target, row.slug, lambda tile=tile, row=row: load(tile, row))


def test_legality_of_stores() -> None:
    for target, row in each(STORES):
        with named(target, row), pto.target(target):
            tile = zeros(row.tile)
            verdict(target, row.slug, lambda tile=tile, row=row: store(tile, row))


@every("target", ["a2a3", "a5"])
@every("vector", [False, True])
def test_element_types_of_quantising_stores(target: str, vector: bool) -> None:
    for src, dst in itertools.product(("f32", "i32"), RESULTS):
        with named(src, dst), pto.target(target):
            check_quantising_store(target, vector, src, dst)


def check_quantising_store(target: str, vector: bool, src: str, dst: str) -> None:
    acc = made(f"acc {src} 16x16 nz", np.zeros((16, 16), FORMATS[src][1]))
    view = pto.tensor(np.zeros((16, 16), FORMATS[dst][1]), dtype=dst)
    fp = made("scaling u64 1x16", np.full((1, 16), parameter(1), np.uint64))

    def run() -> None:
        if vector:
            pto.tstore_fp(view, acc, fp)
        else:
            pto.tstore(view, acc, quant=parameter(1))

    slug = "" if dst in QUANT[target][src] else "element-type"
    verdict(target, slug, run)


FP, ACC = "scaling u64 1x16", "acc f32 16x16 nz"
PARAMETERS = [
    (ALL, "", FP),
    (ALL, "", "scaling i64 1x16"),
    (ALL, "", "scaling u64 1x32"),
    (ALL, "location", "vec u64 1x16"),
    (ALL, "", "scaling f32 1x16"),
    (ALL, "element-type", "scaling u32 1x16"),
    (ALL, "shape", "scaling u64 1x16 valid 1x15"),
]


def test_the_parameter_tile_of_a_store() -> None:
    for targets, slug, text in PARAMETERS:
        for target in targets.split():
            with named(target, text), pto.target(target):
                view = pto.tensor(np.zeros((16, 16), np.int8))
                verdict(target, slug, partial(pto.tstore_fp, view, zeros(ACC), zeros(text)))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_only_an_accumulator_goes_through_the_fix_pipe(target: str) -> None:
    with pto.target(target):
        view = pto.tensor(np.zeros((16, 16), np.int8))
        verdict(target, "location", partial(pto.tstore_fp, view, zeros("vec f32 16x16"), zeros(FP)))


@pytest.mark.parametrize("pad", ["max", "min"])
def test_64_bit_loads_pad_with_zero_on_a5(pad: str) -> None:
    array = np.zeros((2, 3), np.int64)
    with pto.target("a5"):
        tile = pto.tile("vec", "i64", 2, 4, valid=(2, 3), pad=pad)
        with pytest.raises(pto.PtoError):
            pto.tload(tile, pto.tensor(array))
        pto.tload(pto.tile("vec", "i64", 2, 4, valid=(2, 3), pad="zero"), pto.tensor(array))
