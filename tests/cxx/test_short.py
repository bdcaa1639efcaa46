"""The mode of the cube that multiplies f32 of fewer bits (common/pto_tile.hpp:1645-1664)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

from fuzz.scale import sampled

pytestmark = needs_compiler
M, K, N = 16, 32, 16
KEPT = {"a2a3": 11, "a5": 10}  # bits of the mantissa, as the header says


def rounded(x: Any, kept: int, *, even: bool) -> Any:  # Any: arrays
    """Numbers between 1 and 2 with so many bits: steps counted in whole numbers."""
    steps = (x.astype(np.float64) - 1) * 2**kept
    nearest = np.rint(steps) if even else np.floor(steps + 0.5)
    return 1 + nearest / 2**kept


@pytest.mark.parametrize("even", [0, 1])
@pytest.mark.parametrize("target", sampled(KEPT, 2))
def test_products_take_the_bits_that_the_chip_keeps(target: str, even: int) -> None:
    """One factor has ties and numbers around them, the other one picks each of them alone."""
    kept = KEPT[target]
    steps = np.arange(M * K).reshape(M, K) * 3 % 997
    a = (1 + steps / 2 ** (kept + 1)).astype(np.float32)
    b = np.eye(K, N, dtype=np.float32)
    c = np.zeros((2, M, N), np.float32)
    start = {"a": a.copy(), "b": b.copy(), "c": c.copy()}
    ran = kernels("short", target).launch("shortened", a, b, c, even)
    expected = np.stack([rounded(a, kept, even=bool(even))[:, :N], a[:, :N]]).astype(np.float32)
    assert (expected[0] != expected[1]).any()
    assert np.array_equal(c, expected)
    assert np.array_equal(again(ran, start, target)["c"].reshape(c.shape), expected)
    assert [d for d in (*ran.check(), *ran.races()) if d.is_error] == []
