"""Products that fill their accumulator in part: what else is stored, and at which pitch."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import in_turn
from ptokit.launch.executable import Run

L1 = "!pto.tile_buf<mat, {}, valid={}, blayout=col_major, slayout=row_major>"
A, B = L1.format("32x16xf16", "?x16"), L1.format("16x32xf16", "16x24")
LEFT = "!pto.tile_buf<left, 32x16xf16, valid=?x16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 16x32xf16, valid=16x24, slayout=col_major>"
SUMS = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
BOX = SUMS.replace("acc, 32x32xf32", "acc, 32x32xf32, valid={}x32")
PROGRAM = f"""
func.func @f(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>, %m: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %va = pto.make_tensor_view %a, shape = [%m, %c16], strides = [%c16, %c1]
    : !pto.tensor_view<?x?xf16>
  %pa = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%m, %c16]
    : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<?x16xf16>
  %vb = pto.make_tensor_view %b, shape = [%c16, %c24], strides = [%c24, %c1]
    : !pto.tensor_view<?x?xf16>
  %pb = pto.partition_view %vb, offsets = [%c0, %c0], sizes = [%c16, %c24]
    : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<16x24xf16>
  %vc = pto.make_tensor_view %c, shape = [%c32, %c32], strides = [%c32, %c1]
    : !pto.tensor_view<?x?xf32>
  %pc = pto.partition_view %vc, offsets = [%c0, %c0], sizes = [ROWS, %c32]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x32xf32>
  %ma = pto.alloc_tile valid_row = %m : {A}
  %mb = pto.alloc_tile : {B}
  %l = pto.alloc_tile valid_row = %m : {LEFT}
  %r = pto.alloc_tile : {RIGHT}
  %s = pto.alloc_tile : SUMS
  pto.tload ins(%pa : !pto.partition_tensor_view<?x16xf16>) outs(%ma : {A})
  pto.tload ins(%pb : !pto.partition_tensor_view<16x24xf16>) outs(%mb : {B})
  pto.tmov ins(%ma : {A}) outs(%l : {LEFT})
  pto.tmov ins(%mb : {B}) outs(%r : {RIGHT})
  pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%s : SUMS)
  pto.tmatmul.acc ins(%s, %l, %r : SUMS, {LEFT}, {RIGHT}) outs(%s : SUMS)
  pto.tstore ins(%s : SUMS) outs(%pc : !pto.partition_tensor_view<?x32xf32>)
  return
}}"""


def stored(rows: int, m: int, sums: str = BOX, **how: Any) -> Run:
    """Runs a product of m rows and 24 columns, of which so many rows and 32 columns are stored."""
    text = PROGRAM.replace("SUMS", sums.format(rows)).replace("ROWS", f"%c{rows}")
    a, b = np.ones((m, 16), np.float16), np.full((16, 24), 2, np.float16)
    c = np.full((32, 32), 7, np.float32)
    return pto.loads(text).execute({"a": a, "b": b, "c": c, "m": m}, blocks=3, **how)


@pytest.mark.parametrize(("rows", "m"), [(16, 8), (16, 16), (32, 17), (32, 32)])
def test_the_rest_of_the_boxes_may_be_stored(rows: int, m: int, engine: str) -> None:
    wanted = np.full((32, 32), 7, np.float32)
    wanted[:rows] = 0
    wanted[:m, :24] = 64
    found = stored(rows, m, engine=engine).outputs["c"]
    assert np.array_equal(np.asarray(found).reshape(32, 32), wanted)


def test_what_no_product_has_is_counted(engine: str) -> None:
    """X95: 8 columns of the last boxes, and a row of boxes; of three blocks."""
    (found,) = (w for w in stored(32, 16, engine=engine).warnings if w.slug == "undefined-store")
    assert f"{3 * (16 * 8 + 16 * 32)} elements, first (0, 24)" in str(found.seen)


PITCHES = [*product([0, 1], [8, 16, 17, 32])]


@pytest.mark.parametrize(("of", "target"), in_turn(PITCHES, ["a5", "cpu"]))
def test_a_run_warns_of_block_columns_at_another_pitch(
    of: tuple[int, int], target: str, engine: str
) -> None:
    """Their rows are told by a, and read by the tile's 32 or, if it is compact, its 16 valid."""
    compact, m = of
    sums = BOX.replace("fractal=1024", f"fractal=1024, compact={compact}")
    found = stored(16, m, sums, engine=engine, target=target).warnings
    right = (m <= 16) if compact else (m > 16)
    found = [w for w in found if w.slug != "undefined-store"]
    assert {w.slug for w in found} == (set() if right or target == "cpu" else {"box-pitch"})
    assert len(found) in (0, 2), "each product is named once, whatever the number of blocks"
