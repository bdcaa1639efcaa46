"""TGET_SCALE_ADDR in Python: the scales of a tile are where everybody finds them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto


def scales(loc: str, data: Any = None) -> pto.Tile:  # Any: an array
    return pto.tile(loc, "f8e8m0", 16, 2, layout="zz", fractal=32, data=data)


@pytest.mark.parametrize("target", ["cpu", "a5"])
def test_two_handles_on_the_scales_of_a_tile_see_the_same_bytes(target: str) -> None:
    with pto.target(target):
        left = pto.tile_left("f8e4m3", 16, 64)
        here, there = scales("scaleleft"), scales("scaleleft")
        pto.tget_scale_addr(here, left)
        pto.tget_scale_addr(there, left)
        pto.tmov(here, scales("mat", np.full((16, 2), 4, ml_dtypes.float8_e8m0fnu)))
        assert there.numpy().astype(float).tolist() == [[4, 4]] * 16


def test_only_operands_of_products_have_scales() -> None:
    with pytest.raises(pto.PtoError, match=r"src.loc in \(left, right\)"):
        pto.tget_scale_addr(scales("scaleleft"), scales("mat"))
    with pytest.raises(TypeError, match="src must be a tile, got 3"):
        pto.tget_scale_addr(scales("scaleleft"), 3)  # type: ignore[arg-type]
