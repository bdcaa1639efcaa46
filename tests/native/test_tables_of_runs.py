"""Gathers of consecutive elements from tables whose storage has another order."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

TILE = (
    "!pto.tile_buf<loc=vec, dtype={}, rows=32, cols=32, v_row=32, v_col=32, "
    "blayout={}_major, slayout=none_box, fractal=512, pad=0>"
)


@pytest.mark.parametrize("order", ["row", "col"])
def test_a_table_may_lie_by_columns(order: str) -> None:
    given, made, table = (TILE.format(*k) for k in (("i8", "row"), ("f32", "row"), ("f32", order)))
    program = pto.loads(
        f"func.func @f(%x: {given}, %s: {table}, %o: {table}, %y: {made}) {{\n"
        f"  pto.tdequant ins(%x, %s, %o : {given}, {table}, {table}) outs(%y : {made})\n"
        "  return\n}\n"
    )
    x = np.arange(32 * 32).reshape(32, 32).astype(np.int8)
    s, o = (np.random.default_rng(n).standard_normal((32, 32), np.float32) for n in (1, 2))
    y = np.zeros((32, 32), np.float32)
    found = program.run(engine="native", x=x, s=s, o=o, y=y)["y"]
    np.testing.assert_array_equal(found, (x - o) * s)
