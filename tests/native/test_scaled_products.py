"""Products with scales, at the ends of what f32 holds: factors are multiplied as f32 or as f64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto

TILE = (
    "!pto.tile_buf<loc={}, dtype={}, rows={}, cols={}, v_row={}, v_col={}, "
    "blayout={}, slayout={}, fractal={}, pad=0>"
)
K = N = 64
RIGHT = "row_major", "col_major", 512
SCALES = "row_major", "row_major", 32
SCALES_OF_B = "col_major", "col_major", 32
LEFT, ACC = ("col_major", "row_major", 512), ("col_major", "row_major", 1024)
OCTET, POWER = ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu


def product(rows: int) -> pto.Program:
    """One row by `tgemv.mx`, more of them by `tmatmul.mx`."""
    kinds = {
        "a": TILE.format("left", "f8e5m2", 64, K, rows, K, *LEFT),
        "p": TILE.format("scaleleft", "f8e8m0", 64, 2, 64, 2, *SCALES),
        "b": TILE.format("right", "f8e5m2", K, N, K, N, *RIGHT),
        "q": TILE.format("scaleright", "f8e8m0", 2, N, 2, N, *SCALES_OF_B),
    }
    out = TILE.format("acc", "f32", 64, N, rows, N, *ACC)
    given, types = ", ".join(f"%{n}: {t}" for n, t in kinds.items()), ", ".join(kinds.values())
    op = "tgemv.mx" if rows == 1 else "tmatmul.mx"
    return pto.loads(
        f"func.func @f({given}, %c: {out}) {{\n"
        f"  pto.{op} ins(%a, %p, %b, %q : {types}) outs(%c : {out})\n  return\n}}\n"
    )


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("codes", [(127, 127), (254, 0), (254, 254), (0, 127), (0, 0)])
def test_each_step_rounds_the_exact_sum(rows: int, codes: tuple[int, int]) -> None:
    random = np.random.default_rng(sum(codes) + rows)
    a, b = (random.integers(-123, 123, (n, 64)).astype(np.int8) for n in (rows, K))
    a, b = (x.view(np.uint8).view(OCTET) for x in (a, b))
    near = (
        (c + random.integers(0, 2, n) - c // 254).astype(np.uint8)
        for c, n in zip(codes, ((64, 2), (2, N)), strict=True)
    )
    p, q = (c.view(POWER) for c in near)
    c = np.zeros((rows, N), np.float32)
    found = product(rows).run(engine="native", a=a, p=p, b=b, q=q, c=c)["c"]
    with np.errstate(all="ignore"):
        left = a.astype(np.float64) * p[:rows].astype(np.float64).repeat(32, 1)
        right = b.astype(np.float64) * q.astype(np.float64).repeat(32, 0)
        wanted = np.zeros((rows, N), np.float32)
        for k in range(K):
            wanted = (wanted + np.outer(left[:, k], right[k])).astype(np.float32)
    np.testing.assert_array_equal(found, wanted)
