"""Transposes whose extents are no multiples of the blocks that are transposed in registers."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

TILE = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows={}, cols={}, v_row={}, v_col={}, "
    "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
)


@pytest.mark.parametrize(("rows", "cols"), [(20, 32), (23, 16), (9, 24), (17, 20)])
def test_a_transpose_ends_within_a_block(rows: int, cols: int) -> None:
    given, made = TILE.format(24, 32, rows, cols), TILE.format(32, 24, cols, rows)
    program = pto.loads(
        f"func.func @f(%x: {given}, %y: {made}) {{\n"
        f"  pto.ttrans ins(%x, %x : {given}, {given}) outs(%y : {made})\n"
        "  return\n}\n"
    )
    x = np.arange(rows * cols, dtype=np.float32).reshape(rows, cols)
    y = np.zeros((cols, rows), np.float32)
    np.testing.assert_array_equal(program.run(engine="native", x=x, y=y)["y"], x.T)
