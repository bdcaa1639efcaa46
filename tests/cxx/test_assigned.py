"""Tiles whose place a kernel assigns as a pointer: it lies there until it is placed again."""

from __future__ import annotations

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

pytestmark = needs_compiler


@pytest.mark.parametrize("target", ["cpu", "a5"])
def test_a_pointer_that_is_assigned_places_a_tile(target: str) -> None:
    a, c = np.random.default_rng(5).random((8, 64), np.float32), np.zeros((8, 64), np.float32)
    ran = kernels("assigned", target).launch("assigned", a, c)
    assert np.array_equal(c, a + a)
    assert np.array_equal(again(ran, {"a": a, "c": c * 0}, target)["c"], c)
    assert [d for d in (*ran.check(), *ran.races()) if d.is_error] == []
