"""Numbers at the ends of 64 bits: both engines compute and report as integers without end would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from native.outcomes import ENGINES

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

MOST = (1 << 63) - 1
T = "!pto.tile_buf<vec, 16x16xf32>"
V = "!pto.tensor_view<?x?xf32>"
P = "!pto.partition_tensor_view<16x16xf32>"
X = np.arange(512, dtype=np.float32)


def said(text: str, **arrays: Any) -> dict[str, Any]:  # Any: arrays, or what was wrong
    """What both engines say or give, which is the same."""
    found: list[dict[str, Any]] = []
    for engine in ENGINES:
        try:
            out = pto.loads(text).run(engine=engine, **arrays)
            found.append({name: array.tolist() for name, array in out.items()})
        except pto.PtoError as problem:
            found.append({"slug": problem.diagnostics[0].slug, "text": str(problem)})
    assert found[0] == found[1]
    return found[0]


def moved(extents: str, strides: str, part: str, *, store: bool = False) -> str:
    """A move between a view of these extents and strides, or a part of it, and a tile."""
    numbers = {"n": 16, "c1": 1, "c0": 0, "big": 1 << 62, "odd": (1 << 64) // 15, "top": MOST}
    consts = "\n".join(f"  %{k} = arith.constant {v} : index" for k, v in numbers.items())
    source, kind = ("%p", P) if part else ("%v", V)
    view = f"%p = pto.partition_view %v, {part} : {V} -> {P}" if part else ""
    move = (
        f"pto.tstore ins(%t : {T}) outs({source} : {kind})"
        if store
        else f"pto.tload ins({source} : {kind}) outs(%t : {T})"
    )
    return f"""
func.func @f(%a: !pto.ptr<f32>, %t: {T}) {{
{consts}
  scf.for %i = 0 to 1 step 1 {{
    %v = pto.make_tensor_view %a, shape = [{extents}], strides = [{strides}] : {V}
    {view}
    {move}
  }}
  return
}}
"""


VIEWS = {
    "the last row is 2^64 away": ("%n, %n", "%odd, 1", ""),
    "rows meet modulo 2^64": ("%n, %n", "%big, 1", ""),
    "the offset wraps to 0": ("%big, %big", "%big, %big", "offsets = [%n, %n], sizes = [%n, %n]"),
    "the offset is the last": ("%top, %n", "%n, 1", "offsets = [%big, 0], sizes = [%n, %n]"),
}


@every("name", VIEWS)
@every("store", [False, True], ids=["load", "store"])
def test_views_beyond_64_bits_leave_their_array(name: str, store: bool) -> None:
    tile = np.ones((16, 16), np.float32)
    found = said(moved(*VIEWS[name], store=store), a=X, t=tile)
    assert found["slug"] == "global-out-of-bounds"


@every("stride", [1 << 26, 1 << 30, 1 << 40, 1 << 62])
def test_outputs_do_not_grow_without_bound(stride: int) -> None:
    text = moved("%n, %n", "%big, 1", "", store=True).replace(str(1 << 62), str(stride))
    found = said(text, t=np.ones((16, 16), np.float32))
    assert found["slug"] == "global-out-of-bounds"


def test_an_offset_that_moves_beyond_64_bits() -> None:
    """In the second iteration the start of the part is 2^61 * 2^61; modulo 2^64 that is 0."""
    text = f"""
func.func @f(%a: !pto.ptr<f32>, %t: {T}) {{
  %n = arith.constant 16 : index
  %big = arith.constant {1 << 61} : index
  %top = arith.constant {MOST} : index
  scf.for %i = 0 to 2 step 1 {{
    %m = arith.muli %i, %big : index
    %s = arith.ori %m, %n : index
    %v = pto.make_tensor_view %a, shape = [%top, %n], strides = [%s, 1] : {V}
    %p = pto.partition_view %v, offsets = [%m, 0], sizes = [%n, %n] : {V} -> {P}
    pto.tload ins(%p : {P}) outs(%t : {T})
  }}
  return
}}
"""
    found = said(text, a=X, t=np.ones((16, 16), np.float32))
    assert found["slug"] == "global-out-of-bounds"
    assert "with %i = 1" in found["text"]


def test_a_window_end_that_wraps() -> None:
    """row + rows wraps to a small number: it is far outside all the same."""
    text = f"""
func.func @f(%a: {T}, %b: {T}) {{
  %far = arith.constant {MOST} : index
  scf.for %i = 0 to 1 step 1 {{
    %row = arith.subi %far, %i : index
    pto.textract ins(%a, %row, 0 : {T}, index, index) outs(%b : {T})
  }}
  return
}}
"""
    tile = np.ones((16, 16), np.float32)
    assert said(text, a=tile, b=tile)["slug"] == "window-out-of-bounds"


def test_a_multiple_that_wraps_is_none() -> None:
    """24 * i is a multiple of 24 until it wraps; the rest then tells the truth."""
    big = (1 << 64) // 24 + 1  # 24 * big is 8 modulo 2^64
    text = f"""
func.func @f(%t: {T}) {{
  %big = arith.constant {big} : index
  %n = arith.constant 24 : index
  %last = arith.constant {big + 1} : index
  scf.for %i = %big to %last step 1 {{
    %m = arith.muli %i, %n : index
    %r = arith.remsi %m, %n : index
    %q = arith.cmpi eq, %r, 0 : index
    scf.if %q {{
      pto.tadds ins(%t, 1.0 : {T}, f32) outs(%t : {T})
    }}
  }}
  return
}}
"""
    assert said(text, t=np.zeros((16, 16), np.float32))["t"][0][0] == 0


def test_an_unknown_operation_gives_a_valid_row() -> None:
    text = """
scf.for %i = 0 to 1 step 1 {
  %r = arith.unknown 1, %i : index
  %t = pto.alloc_tile valid_row = %r : !pto.tile_buf<vec, 16x32xf32, valid=?x32>
}
"""
    assert said(text)["slug"] == "unknown-op"


OPEN = (
    "%dst = texp %src : !pto.tile_buf<vec, 16x32xf32, valid=16x?>"
    " -> !pto.tile_buf<vec, 16x32xf32, valid=16x20>"
)


def test_the_array_gives_the_valid_region() -> None:
    found = said(OPEN, src=np.zeros((16, 20), np.float32))
    assert np.array(found["dst"]).shape == (16, 20)


@every(
    ("arrays", "slug"),
    [
        ({}, "missing-argument"),
        ({"src": np.zeros(20, np.float32)}, "argument-type"),
        ({"src": np.zeros((15, 20), np.float32)}, "argument-type"),
        ({"src": np.zeros((16, 40), np.float32)}, "tile-shape"),
        ({"src": np.zeros((16, 21), np.float32)}, "shape"),
    ],
)
def test_arrays_that_give_no_valid_region(arrays: dict[str, Any], slug: str) -> None:
    assert said(OPEN, **arrays)["slug"] == slug


CONV = "%dst = textract %src[16, 0] : !pto.conv_tile<{}> -> !pto.tile_buf<right, 32x32xbf16, zn>"


@every(
    ("fields", "slug"),
    [
        ("fractal_z, 4x0xbf16", "tile-shape"),
        ("fractal_z, 0x2x16x16xbf16", "tile-shape"),
        ("nc1hwc0, 1x1x4x4x16xbf16, stride=[0, 1]", "attribute"),
    ],
)
def test_conv_tiles_count_from_1(fields: str, slug: str) -> None:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(CONV.format(fields))
    assert caught.value.diagnostics[0].slug == slug
