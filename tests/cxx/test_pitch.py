"""Transfer units ignore the stride of a view along its lines; the CPU simulator follows it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

from fuzz.scale import sampled

pytestmark = needs_compiler
N, STEP = 8, 3


@pytest.mark.parametrize(
    ("target", "layout"), sampled(product(["a5", "cpu", "a2a3"], ["ND", "DN"]), 3)
)
def test_chips_move_consecutive_elements_whatever_the_stride(target: str, layout: str) -> None:
    """No code of chips reads it (common/arch/memory/tload_common.hpp:99-128, a5/TLoad.hpp:92)."""
    a, c = np.arange(1, 65, dtype=np.float32), np.zeros(128, np.float32)
    start, step = {"a": a.copy(), "c": c.copy()}, STEP if target == "cpu" else 1
    ran = kernels("pitch", target).launch(f"lines<Layout::{layout}>", a, c)
    expected = np.zeros_like(c)
    expected[: N * step : step] = expected[64 : 64 + N] = a[: N * step : step]
    assert np.array_equal(c, expected)
    assert {d.slug for d in ran.warnings} == ({"line-pitch"} if target != "cpu" else set())
    assert np.array_equal(again(ran, start, target)["c"], expected)


@pytest.mark.parametrize("valid", [32, 48])
@pytest.mark.parametrize("target", sampled(["a5", "a2a3"], 2))
def test_chips_load_the_valid_rows_of_boxes(target: str, valid: int) -> None:
    """A burst of each column of boxes is as long as the tile is valid (tload_common.hpp:152)."""
    a, c = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    start = {"a": a.copy(), "c": c.copy()}
    ran = kernels("pitch", target).launch(f"boxes<{valid}>", a, c)
    expected = a.reshape(2, 64, 8).copy()
    expected[:, valid:] = -1
    assert np.array_equal(c, expected.ravel())
    assert {d.slug for d in ran.warnings} == {"shape"}
    assert np.array_equal(again(ran, start, target)["c"], expected.ravel())
