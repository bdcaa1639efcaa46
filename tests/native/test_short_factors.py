"""Products of f64 factors: in f32 where all are short, whatever the scales are the same bytes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto

LEFT = "!pto.tile_buf<left, 16x64xf8E4M3FN, valid=9x40, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 64x16xf8E4M3FN, valid=40x11, slayout=col_major>"
OF_LEFT = "!pto.tile_buf<scaleleft, 16x2xf8E8M0FNU, slayout=row_major, fractal=32>"
OF_RIGHT = (
    "!pto.tile_buf<scaleright, 2x16xf8E8M0FNU, blayout=col_major, slayout=col_major, fractal=32>"
)
SUMS = (
    "!pto.tile_buf<acc, 16x16xf32, valid=9x11, blayout=col_major, slayout=row_major, fractal=1024>"
)
PRODUCT = f"""\
func.func @f(%c: {SUMS}, %a: {LEFT}, %u: {OF_LEFT}, %b: {RIGHT}, %v: {OF_RIGHT}) {{
  pto.tmatmul.mx.acc ins(%c, %a, %u, %b, %v) outs(%c)
  return
}}
"""


@pytest.mark.parametrize("scales", [(100, 150), (0, 3), (252, 255), (126, 256)])
def test_both_engines_give_the_same_bytes(scales: tuple[int, int]) -> None:
    """Short factors; f32 denormals; what f32 cannot hold; NaN."""
    rng = np.random.default_rng(scales)
    codes = {"a": rng.integers(0, 256, (9, 40)), "b": rng.integers(0, 256, (40, 11))}
    given: dict[str, Any] = {  # Any: NumPy arrays
        n: (c % 127).astype(np.uint8).view(ml_dtypes.float8_e4m3fn) for n, c in codes.items()
    }
    for name, shape in (("u", (16, 2)), ("v", (2, 16))):
        drawn = rng.integers(*scales, shape).astype(np.uint8)
        given[name] = drawn.view(ml_dtypes.float8_e8m0fnu)
    given["c"] = rng.standard_normal((9, 11)).astype(np.float32)
    program = pto.loads(PRODUCT)
    both = [program.run(engine=engine, **given)["c"] for engine in ("reference", "native")]
    assert both[0].tobytes() == both[1].tobytes()
    assert np.isnan(both[0]).any() == (scales[1] > 255)
