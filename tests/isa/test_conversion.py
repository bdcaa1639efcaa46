"""Conversions: rounding, saturation, the pairs of element types each target takes, scratch."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from naming import named
from oracles.formats import FORMATS
from tiles import made, slugs, verdict, zeros

convert: Any = pto.tcvt  # with modes as plain strings
HALVES = np.array([[-2.5, -1.5, -0.5, 0.5, 1.2, 1.5, 2.5, -1.2]], np.float32)
MODES = {
    "none": [-2, -1, 0, 0, 1, 1, 2, -1],
    "rint": [-2, -2, 0, 0, 1, 2, 2, -1],
    "round": [-3, -2, -1, 1, 1, 2, 3, -1],
    "floor": [-3, -2, -1, 0, 1, 1, 2, -2],
    "ceil": [-2, -1, 0, 1, 2, 2, 3, -1],
    "trunc": [-2, -1, 0, 0, 1, 1, 2, -1],
    "odd": [-3, -1, -1, 1, 1, 1, 3, -1],
}


@every("mode", list(MODES))
def test_rounding_to_whole_numbers(mode: str) -> None:
    whole, floats = made("vec i32 1x8"), made("vec f32 1x8")
    convert(whole, made("vec f32 1x8", HALVES), rmode=mode)
    assert whole.numpy().tolist() == [MODES[mode]]
    convert(floats, made("vec f32 1x8", HALVES), rmode=mode)
    like_rint = "rint" if mode == "none" else mode
    assert floats.numpy().tolist() == [MODES[like_rint]]


WIDE = [[300, -1, 70000, -40000, np.nan, np.inf, -np.inf, 100]]
INT_MAX, INT_MIN = 2**31 - 1, -(2**31)


# f32 to a type: saturated, wrapped, and what the default is
SATURATED: dict[str, tuple[list[float], list[float], str]] = {
    "i8": ([127, -1, 127, -128, 0, 127, -128, 100], [44, -1, 112, -64, 0, 0, 0, 100], "on"),
    "u8": ([255, 0, 255, 0, 0, 255, 0, 100], [44, 255, 112, 192, 0, 0, 0, 100], "on"),
    "i16": (
        [300, -1, 32767, -32768, 0, 32767, -32768, 100],
        [300, -1, 4464, 25536, 0, 0, 0, 100],
        "off",
    ),
    "i32": (
        [300, -1, 70000, -40000, 0, INT_MAX, INT_MIN, 100],
        [300, -1, 70000, -40000, 0, 0, 0, 100],
        "on",
    ),
    "f16": (
        [300, -1, 65504, -40000, 0, 65504, -65504, 100],
        [300, -1, np.inf, -40000, np.nan, np.inf, -np.inf, 100],
        "on",
    ),
}


@every("dst", SATURATED)
def test_saturation_and_its_defaults(dst: str) -> None:
    on, off, default = SATURATED[dst]
    wanted: dict[str | None, list[float]] = {"on": on, "off": off}
    for mode in ("on", "off", None):
        out = made(f"vec {dst} 1x32 valid 1x8")
        convert(out, made("vec f32 1x8", np.array(WIDE, np.float32)), sat_mode=mode)
        assert np.array_equal(out.numpy()[0], wanted[mode or default], equal_nan=dst == "f16")


def test_integers_wrap_unless_asked() -> None:
    data = np.array([[70000, -70000, 5, 32768, -32769, 0, 1, -1]], np.int32)
    for mode, wanted in ((None, data.astype(np.int16)), ("on", data.clip(-32768, 32767))):
        narrow = made("vec i16 1x16 valid 1x8")
        convert(narrow, made("vec i32 1x8", data), sat_mode=mode)
        assert np.array_equal(narrow.numpy(), wanted)


PAIRS = {
    "a2a3": {
        "f32": "f16 f32 bf16 i16 i32 i64",
        "f16": "f32 i32 i16 i8 u8 i4",
        "bf16": "f32 i32",
        "i16": "f16 f32",
        "i32": "f32 i16 i64 f16",
        "i64": "f32 i32",
        "u8": "f16",
        "i8": "f16",
        "i4": "f16",
    },
    "a5": {
        "f32": "f32 f16 bf16 i16 i32 i64 f8e4m3 f8e5m2 hif8",
        "f16": "f32 i32 i16 i8 u8 hif8",
        "bf16": "f32 i32 f16 f4e2m1x2 f4e1m2x2",
        "i16": "u8 f16 f32 u32 i32",
        "i32": "f32 i16 u16 i64 u8",
        "i64": "f32 i32",
        "u8": "f16 u16",
        "i8": "f16 i16 i32",
        "u32": "u8 u16 i16",
        "f8e4m3": "f32",
        "f8e5m2": "f32",
        "hif8": "f32",
        "f4e2m1x2": "bf16",
        "f4e1m2x2": "bf16",
    },
}


@pytest.mark.parametrize("target", PAIRS)
def test_pairs_of_types(target: str) -> None:
    for source, dtype in itertools.product(FORMATS, FORMATS):
        with named(source, dtype), pto.target(target):
            slug = "" if dtype in PAIRS[target].get(source, "").split() else "element-type"
            tiles = zeros(f"vec {dtype} 2x64"), zeros(f"vec {source} 2x64")
            verdict(target, slug, partial(pto.tcvt, *tiles))


@every(
    ("src", "dst", "shape", "nbytes"),
    [
        ("f32", "i16", (4, 128), 512),  # whole lines of 64 elements
        ("f32", "i16", (300, 72), 32 * (254 * 9 + 1)),  # at most 255 rows
        ("f32", "i16", (4, 80), 32 * (3 * 10 + 2)),
        ("f16", "i16", (4, 48), 32 * 6),
        ("f16", "i16", (4, 640), 256),
        ("f16", "i8", (4, 32), 128 + 32 * 2),
        ("f16", "i8", (4, 640), 256),
    ],
)
def test_scratch_of_a2a3_conversions(
    src: str, dst: str, shape: tuple[int, int], nbytes: int
) -> None:
    rows, cols = shape
    wide = -(-cols // 32) * 32 if dst == "i8" else -(-cols // 16) * 16
    extent = f"{rows}x{wide} valid {rows}x{cols}"
    stride = cols if src == "f32" else wide
    x = zeros(f"vec {src} {rows}x{stride} valid {rows}x{cols}")
    fits, small = (made(f"vec i8 1x{n}") for n in (nbytes, nbytes - 32))
    with pto.target("a2a3"):
        pto.tcvt(zeros(f"vec {dst} {extent}"), x, tmp=fits)
        pto.tcvt(zeros(f"vec {dst} {extent}"), x, tmp=small, sat_mode="on")
        with pytest.raises(pto.PtoError) as problem:
            pto.tcvt(zeros(f"vec {dst} {extent}"), x, tmp=small)
    assert slugs(problem) == {"shape"}


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("source", ["f32", "f16"])
def test_hif8_saturates_only_where_it_is_told_to(source: str, engine: str) -> None:
    """Infinities and NaN of the format are what golden data of A5 have for conversions to it."""
    text = """\
func.func @f(%x: !pto.tile_buf<vec, 1x32x{0}>, %y: !pto.tile_buf<vec, 1x32x!pto.hif8>) {{
  pto.tcvt ins(%x{1} : !pto.tile_buf<vec, 1x32x{0}>) outs(%y : !pto.tile_buf<vec, 1x32x!pto.hif8>)
  return
}}
"""
    x = np.zeros((1, 32), {"f32": "f4", "f16": "f2"}[source])
    x[0, :4] = np.nan, np.inf, -np.inf, 65504
    stays, told = [np.nan, np.inf, -np.inf], " {sat_mode = #pto<saturation_mode ON>}"
    for attribute, wanted in (("", stays), (told, [0, 32768, -32768])):
        program, y = pto.loads(text.format(source, attribute)), np.zeros((1, 32), np.float32)
        found = program.run(target="a5", engine=engine, x=x, y=y)["y"]
        np.testing.assert_array_equal(found[0, :3], wanted)
