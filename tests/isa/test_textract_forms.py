"""TEXTRACT: what its form with parameters, with two destinations and of weights takes."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from tables import ALL, BOTH, MODES, OUT, PAIR_A2A3, QUANT, VEC_A5

import ptokit as pto
from naming import named
from oracles.formats import FORMATS, typed
from tiles import made, verdict, zeros

# The fix-pipe form -------------------------------------------------------------------------------


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
    Fp(BOTH, "offset-misaligned", FULL, 17),
    Fp(ALL, "", "scaling f32 1x64", 0),
    Fp(ALL, "element-type", "scaling u32 1x64", 0),
    Fp(ALL, "window-out-of-bounds", "scaling u64 1x16", 16),
    Fp(ALL, "window-out-of-bounds", "scaling u64 1x64 valid 1x31", 16),
    Fp(BOTH, "location", FULL, 0, src="vec f32 16x64"),
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
            dst, src, fp = (zeros(text) for text in (row.dst, row.src, row.fp))
            extract = partial(pto.textract_fp, dst, src, fp, 0, row.col, **row.how)
            verdict(target, row.slug, extract)


# Two destinations --------------------------------------------------------------------------------


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


def test_legality_of_two_destinations() -> None:
    for targets, slug, one, two, src in PAIRS:
        for target in targets.split():
            with named(target, one, two, src), pto.target(target):
                a, b, whole = (zeros(f"vec {text}") for text in (one, two, src))
                verdict(target, slug, partial(pto.textract, a, b, whole, 0, 0, 0, 0))


def test_bounds_of_two_destinations() -> None:
    one, two, src = (zeros(f"vec f16 {text}") for text in ("32x32 nz", "32x32 nz", "64x64"))
    for at in ((-1, 0, 0, 0), (0, 0, 33, 0), (0, 65536, 0, 0), (0, 0, 0, 33)):
        with named(at):
            verdict("cpu", "window-out-of-bounds", partial(pto.textract, one, two, src, *at))


def test_two_destinations_are_vector_tiles() -> None:
    for one, two in (("mat", "vec"), ("vec", "mat")):
        tiles = (zeros(f"{loc} f16 32x32 nz") for loc in (one, two))
        call = partial(pto.textract, *tiles, zeros("vec f16 64x64"), 0, 0, 0, 0)
        verdict("cpu", "location", call)


# Convolution weights -----------------------------------------------------------------------------


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


def test_legality_of_the_convolution_form() -> None:
    for target, row in [(t, r) for r in CONV_ROWS for t in r.targets.split()]:
        with named(target, row), pto.target(target):
            data = typed(np.zeros(row.shape), row.dtype)
            src = pto.conv_tile(row.dtype, row.shape, layout=row.layout, data=data)
            verdict(target, row.slug, partial(pto.textract, made(row.dst), src, row.row, row.col))
