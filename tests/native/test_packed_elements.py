"""Elements of four bits: whole tiles, parts of tiles, and the elements around a part."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

TILE = (
    "!pto.tile_buf<loc=vec, dtype={}, rows=16, cols=64, v_row={}, v_col={}, "
    "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
)
PROGRAM = """
func.func @f(%x: {wide}, %part: {few}, %y: {wide}) {{
  %zero = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %zero : {packed}
  %u = pto.alloc_tile addr = %zero : {some}
  pto.tcvt ins(%x : {wide}) outs(%t : {packed})
  pto.tcvt ins(%part : {few}) outs(%u : {some})
  pto.tcvt ins(%t : {packed}) outs(%y : {wide})
  return
}}
"""


@pytest.mark.parametrize(("rows", "cols"), [(16, 64), (16, 62), (9, 33), (2, 3)])
def test_a_part_of_a_tile_leaves_the_other_elements(rows: int, cols: int) -> None:
    kinds = {
        "wide": TILE.format("f32", 16, 64),
        "few": TILE.format("f32", rows, cols),
        "packed": TILE.format("f4e1m2", 16, 64),
        "some": TILE.format("f4e1m2", rows, cols),
    }
    x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64) % 8 / 4
    part, y = np.full((rows, cols), -0.5, np.float32), np.zeros_like(x)
    program = pto.loads(PROGRAM.format(**kinds))
    run = program.run(engine="native", x=x, part=part, y=y)
    x[:rows, :cols] = part
    np.testing.assert_array_equal(run["y"], x)
